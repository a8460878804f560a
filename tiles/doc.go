// Package tiles computes a Gram matrix in pieces, on one machine or many, and puts it together.
//
// A Layout cuts the matrix of n graphs into squares of one side. The tiles are those on and
// above the diagonal, named by their blocks of rows and columns:
//
//	0/0 0/1 0/2
//	    1/1 1/2        blocks of graphs 0, 1, 2
//	        2/2
//
// A tile depends on the features of two blocks (kernel.Features) and nothing else. So it can be
// computed anywhere, any number of times, with the same bits. A file of tiles is a container
// (docs/reference/store-format.md) with any tiles of a plan, and with the plan, which names the model
// and the collection. So Merge tells a damaged tile from a good one, and a file of another model, plan
// or collection from one that belongs here.
//
// Work writes the file of a shard, every n-th tile. If it is killed at any moment, the next call goes
// on behind the last good tile. Merge writes the matrix.
//
// Where there is no file system to go on with, as in a pipeline, use Compute, Layout.EncodeTile and
// Layout.Holds.
package tiles
