// Package graph holds the undirected, weighted graphs that the kernels compare.
//
// A [Graph] is immutable and stored in compressed sparse row form. Vertices are
// numbered 0 … N()-1. Edges have positive, finite weights (1 unless stated); there are
// no self-loops and no parallel edges. A graph may carry a discrete label per vertex, a
// row of real attributes per vertex, a label per edge, drawing coordinates, an
// identifier and a target (a class or a number, kept as the text it was read as).
//
// Labels are strings, so that they mean the same in every file and every process.
//
// Graphs are made by a [Builder], which validates its input. Neighbourhoods (balls of a
// hop radius) and canonical quotients of induced subgraphs are computed with a
// [Scratch], whose buffers are reused, so that loops over vertices do not allocate.
package graph
