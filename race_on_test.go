//go:build race

package mlg

// raceFactor is by how much large test graphs shrink under the race detector, which makes
// them slow and finds nothing more in them.
const raceFactor = 20
