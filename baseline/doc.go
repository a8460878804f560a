// Package baseline holds the graph kernels that the MLG kernel is compared with: the
// Weisfeiler-Lehman family, shortest paths, graphlets, random walks, label histograms and others.
// docs/reference/baselines.md defines each of them.
//
// Every kernel is a struct of exported parameters that implements kernel.Kernel. Start from
// its Default function, change fields, and call Fit, which validates them. The zero value
// of a struct is not valid. A fitted kernel also has a method
//
//	Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error)
//
// that returns the kernel of each graph with itself, before normalisation.
//
// A kernel is a dot product of feature vectors. Its file holds its parameters and a function that
// turns a graph into features; features.go does the rest for all of them. A few kernels compare
// graphs pair by pair instead (pairwise.go). Kernels with a base kernel make several graphs of one
// graph, and add up the base kernel over them (levels.go).
//
// # Labels
//
// Kernels on discrete labels take them from the graphs ([Labels]), or give every vertex the same
// label ([Unlabeled]). With [Auto], graphs without labels get the number of neighbours of each
// vertex, in decimal, as labels ([Degrees]). Fit decides this once for all graphs. A collection in
// which only some graphs have labels is an error.
//
// # New graphs
//
// A fitted kernel keeps its dictionary of colours, labels, paths or walks. A feature that no
// training graph has matches nothing in training. It still counts in the new graph's similarity
// with itself, by which a normalised kernel divides. New graphs change nothing in the fitted
// kernel, whose methods may be called concurrently.
//
// # Values
//
// Most features are counts, and dot products of counts are exact below 2⁵³. The training graphs fix
// the order in which the terms of a value are added. So results have the same bits for any number
// of workers, and Cross on the training graphs equals Gram. Normalised kernels are
//
//	K_ij / √(K_ii K_jj).
//
// Where graphs have no feature at all (K_ii = 0), the value is 1 for two such graphs and 0 for one.
// A normalised value that rounding lifts above 1 is 1.
package baseline
