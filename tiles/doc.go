// Package tiles computes a Gram matrix in pieces, on one machine or many, and puts it together.
//
// A Plan cuts the matrix of n graphs into squares of one side; the tiles are those on and
// above the diagonal, named by their blocks of rows and columns:
//
//	0/0 0/1 0/2
//	    1/1 1/2        blocks of graphs 0, 1, 2
//	        2/2
//
// A tile depends on two blocks of records (package store) and nothing else, so that it can be
// computed anywhere, any number of times, with the same bits. A file of tiles is a container
// (docs/reference/store-format.md) with the plan, which says of what model and collection it is, and any
// tiles of it. So a damaged tile is told from a good one, and a file of another model, plan or
// collection from one that belongs here.
//
// Work writes the file of a shard, every n-th tile. Killed at any moment, it goes on behind the
// last good tile. Merge writes the matrix.
//
// Where there is no file system to go on with, as in a pipeline, use Compute, Plan.EncodeTile and
// Plan.Holds.
package tiles
