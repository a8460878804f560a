// Package classic has the graph kernels of the literature beside the multiscale one: the
// Weisfeiler-Lehman family, shortest paths, graphlets, random walks, label histograms and others.
// docs/reference/classic.md defines each of them.
//
// Every kernel is a struct of exported parameters that implements kernel.Kernel. Start from
// its Default function, change fields, and call Fit, which validates them. The zero value
// of a struct is not valid. The map of a fitted kernel also has a method
//
//	Diagonal(a kernel.Features) []float64
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
// # Features
//
// Colours, paths, trees and other features are named by 64-bit hashes of their content. The features
// of a graph depend on the graph and on what Fit decides about labels. They do not depend on the
// training graphs. So any two graphs can be compared, and features can be stored, joined and
// exchanged between processes. Two features with the same hash count as one. Among 10⁷ different
// features some two have the same hash with a probability of 3·10⁻⁶.
//
// # Values
//
// Most features are counts, and dot products of counts are exact below 2⁵³. Other terms are added in
// the order of their hashes. So a value has the same bits in every collection, in every block, and
// for any number of workers. Normalised kernels are
//
//	K_ij / √(K_ii K_jj).
//
// Where graphs have no feature at all (K_ii = 0), the value is 1 for two such graphs and 0 for one.
// A normalised value that rounding lifts above 1 is 1.
package classic
