//go:build (amd64 || arm64) && !noasm

package learn

import (
	"math"
	"runtime"

	"golang.org/x/sys/cpu"
)

// vector tells whether the processor has the instructions that the assembly uses.
var vector = runtime.GOARCH == "arm64" || cpu.X86.HasAVX2 && cpu.X86.HasFMA

func asmStep(f, a, b, up []float64, t float64) (m float64, i, done int) {
	low := [8]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	var at [8]int64
	if done = len(f) &^ 7; !vector || done == 0 {
		return low[0], 0, 0
	}
	stepEights(&f[0], &a[0], &b[0], &up[0], done, t, &low[0], &at[0])
	l := 0
	for k := range low {
		if low[k] < low[l] || low[k] == low[l] && at[k] < at[l] {
			l = k
		}
	}
	return low[l], int(at[l]), done
}

func asmPartner(f, dn, a, diag []float64, m, aii, least float64) (gap, best float64, j, done int) {
	if done = len(f) &^ 7; !vector || done == 0 {
		return 0, 0, -1, 0
	}
	var gain, gaps [8]float64
	at := [8]int64{-1, -1, -1, -1, -1, -1, -1, -1}
	partnerEights(&f[0], &dn[0], &a[0], &diag[0], done, m, aii, least, &gain[0], &at[0], &gaps[0])
	l := 0
	for k := range gain {
		gap = max(gap, gaps[k])
		if gain[k] > gain[l] || gain[k] == gain[l] && at[k] < at[l] {
			l = k
		}
	}
	return gap, gain[l], int(at[l]), done
}
