// Package suggest says what to measure next: which graphs of a pool are worth it, by what a model predicts of
// them and by what it does not know.
//
//	Goal                what is wanted: large, small or certain values, a range, a class, or knowledge
//	Acquisition         expected improvement and other functions of what is predicted for a graph
//	Pick                a batch from the joint posterior of candidates: gains of graphs that were picked count once
//	From                the best batch of a pool of any size, in constant memory
//	Replay              what would have been found in a table, against random and greedy choice
//
// Everything depends only on its arguments: the same model, pool, options and seed give the same bits for any
// number of goroutines.
package suggest
