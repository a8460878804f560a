// Package tiles computes a Gram matrix in pieces, on one machine or many, and puts it together.
//
// A Plan cuts the matrix of n graphs into squares of one side; the tiles are those on and
// above the diagonal, numbered row by row:
//
//	0 1 2
//	  3 4        blocks of graphs 0, 1, 2
//	    5
//
// A tile depends on two blocks of records (package store) and nothing else, so that it can be
// computed anywhere, any number of times, with the same bits. Its encoded form names the
// model, the plan and the digests of its blocks, and has a checksum over every byte, so that
// a damaged tile is told from a good one and a tile of another model, plan or collection from
// one that belongs here.
//
// On a file system, a folder has one file for each tile and a manifest. Work fills a part of
// it: tiles that are there and good are left alone, damaged ones are computed again, foreign
// ones are an error. A file has its name only when it is whole, so that a killed process
// loses no more than the tiles that it was computing. Merge writes the matrix.
//
// Where there is no such folder, as in a pipeline, use Compute, Tile.Encode and Decode.
package tiles
