//go:build !race

package graphtest

// Race says that the race detector watches.
const Race = false
