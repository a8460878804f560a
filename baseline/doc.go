// Package baseline holds the graph kernels that the MLG kernel is compared with: the
// Weisfeiler-Lehman family, shortest paths, graphlets, random walks, label histograms and others.
//
// Every kernel is a struct of exported parameters that implements kernel.Kernel. Start from
// its Default function, change fields, and call Fit, which validates them. The zero value
// of a struct is not valid. A fitted kernel also has a method
//
//	Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error)
//
// with the kernels of graphs with themselves, before normalisation.
//
// A kernel is a dot product of feature vectors. Its file holds its parameters and a function that
// turns a graph into features; features.go does the rest for all of them. A few compare graphs pair
// by pair instead (pairwise.go). Kernels with a base kernel make graphs of graphs, on which they add
// it up (levels.go).
//
// # Labels
//
// The kernels on discrete labels take them from the graphs ([Labels]), use the number of
// neighbours of a vertex, written in decimal, where the graphs have no labels ([Auto]),
// or give every vertex the same label ([Unlabeled]). Fit decides between labels and degrees
// once for all graphs; a collection of which only some graphs have labels is an error, and
// so is one that has attributes only, except where a kernel takes [Attributes].
//
// # New graphs
//
// A fitted kernel keeps its dictionary of colours, labels, paths or walks. What a new graph
// has and no training graph had matches nothing in training, and counts in the new
// graph's similarity with itself, by which a normalised kernel divides. New graphs change
// nothing in the fitted kernel, whose methods may be called concurrently.
//
// # Values
//
// Most features are counts, and dot products of counts are exact below 2⁵³. The terms of a
// kernel value are added in an order that the training graphs fix, so that results have
// the same bits for any number of workers, and Cross on the training graphs equals Gram.
// Normalised kernels are
//
//	K_ij / √(K_ii K_jj),
//
// and where a graph has no feature at all (K_ii = 0) 1 for two such graphs and 0 for one.
// A normalised value that rounding lifts above 1 is 1.
package baseline
