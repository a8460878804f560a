//go:build !noasm

package graphtest

const assembly = true
