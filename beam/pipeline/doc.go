// Package pipeline computes Gram matrices, embeddings and predictions of large collections of graphs on
// Apache Beam, and so on the engines that run Beam's pipelines.
//
//	files ─► parts ─► graphs ─► features ─► blocks ─┬─► tiles of the Gram matrix
//	                                                ├─► embeddings
//	                                                └─► predictions
//
// A part is a range of bytes of a file whose lines are graphs, or a whole file. A worker reads
// the graphs of a part and computes their features by a model, whatever its kernel. Graphs are
// numbered in the order of the inputs, when the numbers of graphs in all parts are known. Graphs with
// consecutive numbers make a block. A tile depends on two blocks (package tiles).
//
// Nothing that is written depends on the runner, on how it divides the work or on how often it
// repeats a piece of it: the features of a graph depend on the model and the graph alone, a tile on
// its features. Outputs have fixed names, contents that are the same to the bit, and checksums; they
// appear whole or not at all. So a piece of work may be repeated, in the same run after a
// failure or in a later one, where it finds its tile done.
package pipeline
