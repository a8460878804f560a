// Package store keeps what a model makes of graphs, their features, on disk.
//
// A store file has a model and the features of a collection under the model's kernel, with identifiers
// and checksums (docs/reference/store-format.md). It is written in one pass and memory-mapped to be
// read, so a collection may be larger than the memory. Search goes through it chunk by chunk. The
// matrices of low-rank kernels are used in the mapped file. Other features are decoded when they are
// needed. Those of a few chunks stay.
package store
