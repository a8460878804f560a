// Package store keeps graphs as the matrices S that a model makes of them, which is all that
// the model's kernel looks at.
//
// A Space is such a model. It turns a graph into a record: the packed lower triangles of S,
// one for each kernel of the model and each level that enters it, one after the other. With
// rank 10 and the top level only that is 55 numbers, 440 bytes. Records of any origin, from
// memory, a file or another machine, make a Block, and two blocks are compared with the
// bits that the model itself gives.
//
// A store file has the model and the matrices of a collection, with identifiers and checksums
// (docs/reference/store-format.md). It is written in one pass and memory-mapped to be read, so that a
// collection may be larger than the memory; Search goes through it chunk by chunk.
package store
