package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The unrolled loops against their formulas, for every length of tail.
func TestScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	random := func(n int, infinite bool) []float64 {
		v := make([]float64, n)
		for k := range v {
			v[k] = math.Round(8*rng.NormFloat64()) / 4 // equal values occur, sums are exact
			if infinite {
				v[k] = []float64{0, 0.25, math.Inf(1)}[rng.IntN(3)]
			}
		}
		return v
	}
	for round := range 2000 {
		n := round % 13
		f, a, b, diag := random(n, false), random(n, false), random(n, false), random(n, false)
		up, dn := random(n, true), random(n, true)
		t0 := 0.5

		want, wantM, wantI := slices.Clone(f), math.Inf(1), 0
		for k := range want {
			want[k] += t0 * (a[k] - b[k])
			if v := want[k] + up[k]; v < wantM {
				wantM, wantI = v, k
			}
		}
		m, i := step(f, a, b, up, t0)
		if m != wantM || i != wantI || !slices.Equal(f, want) {
			t.Fatalf("n = %d: step gives %g at %d, want %g at %d", n, m, i, wantM, wantI)
		}

		m, aii := -0.75, 1.5
		wantGap, wantJ, best := 0.0, -1, 0.0
		for k := range f {
			d := f[k] - dn[k] - m
			wantGap = max(wantGap, d)
			if gain := d * d / max(aii+diag[k]-2*a[k], tau); d > 0 && gain > best {
				best, wantJ = gain, k
			}
		}
		gap, j := partner(f, dn, a, diag, m, aii)
		if gap != wantGap || j < 0 != (wantJ < 0) {
			t.Fatalf("n = %d: partner gives gap %g and %d, want %g and %d", n, gap, j, wantGap, wantJ)
		}
		if j >= 0 { // quotients that are equal but for rounding may change places
			d := f[j] - dn[j] - m
			if gain := d * d / max(aii+diag[j]-2*a[j], tau); gain < best*(1-1e-15) {
				t.Fatalf("n = %d: partner gives gain %g, want %g", n, gain, best)
			}
		}

		rows, w := make([][]float64, n%7), random(n%7, false)
		index := rng.Perm(n)
		for r := range rows {
			rows[r] = random(n, false)
		}
		for _, index := range [][]int{nil, index} {
			want := slices.Clone(f)
			got := slices.Clone(f)
			for k := range want {
				c := k
				if index != nil {
					c = index[k]
				}
				for r := range rows {
					want[k] += w[r] * rows[r][c]
				}
			}
			addRows(got, w, rows, index)
			if !slices.Equal(got, want) { // exact: few binary digits
				t.Fatalf("n = %d, index %v: addRows gives %v, want %v", n, index, got, want)
			}
		}
	}
}
