//go:build race

package graphtest

// Race says that the race detector watches, which makes tests about ten times slower.
const Race = true
