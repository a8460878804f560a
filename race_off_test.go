//go:build !race

package mlg

const raceFactor = 1
