//go:build !(amd64 || arm64) || noasm

package learn

import "math"

// vector tells whether there is assembly.
var vector bool

func asmStep(f, a, b, up []float64, t float64) (m float64, i, done int) { return math.Inf(1), 0, 0 }

func asmPartner(f, dn, a, diag []float64, m, aii, least float64) (gap, best float64, j, done int) {
	return 0, 0, -1, 0
}
