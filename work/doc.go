// Package work says how computations are carried out: with how many goroutines, on which device, in how
// much memory, and who is told how far they have come. None of it changes a result. It travels in the
// context.
package work
