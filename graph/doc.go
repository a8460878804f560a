// Package graph holds the weighted graphs that the kernels compare, undirected or directed.
//
// A [Graph] is immutable and stored in compressed sparse row form. Vertices are
// numbered 0 … N()-1. Edges have positive, finite weights (1 unless stated). There are
// no self-loops and no parallel edges. A directed graph has arcs besides, self-loops among them; its
// edges are what is left of them without directions. A graph may carry a discrete label for each vertex, a
// row of real attributes for each vertex, a label for each edge, drawing coordinates, an
// identifier and a target (a class or a number, kept as the text that was read).
//
// Labels are strings, so that they mean the same in every file and every process.
//
// A [Builder] makes graphs and validates its input. A [Scratch] computes neighbourhoods (balls of a
// hop radius) and canonical quotients of induced subgraphs. It reuses its buffers, so loops over
// vertices do not allocate.
package graph
