// Package store keeps graphs as the matrices S that a model makes of them. The model's kernel looks
// at nothing else.
//
// A Space is such a model. It turns a graph into a record: the packed lower triangles of S,
// one for each kernel of the model and each level that enters it, one after the other. With
// rank 10 and the top level only, a record has 55 numbers, 440 bytes. Records of any origin (memory, a
// file, another machine) make a Block. Two blocks are compared with the bits that the model itself
// gives.
//
// A store file has the model and the matrices of a collection, with identifiers and checksums
// (docs/reference/store-format.md). It is written in one pass and memory-mapped to be read, so a
// collection may be larger than the memory. Search goes through it chunk by chunk.
package store
