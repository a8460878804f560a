package learn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

// pairProblem is what step and partner read. Numbers have few digits, so that equal ones occur, and
// some are infinite or not numbers.
type pairProblem struct{ f, a, b, up, dn, diag []float64 }

func newPairProblem(rng *rand.Rand, n int, nan bool) pairProblem {
	random := func(special ...float64) []float64 {
		v := make([]float64, n)
		for k := range v {
			v[k] = math.Round(8*rng.NormFloat64()) / 4
			if len(special) > 0 {
				v[k] = special[rng.IntN(len(special))]
			}
			if nan && rng.IntN(9) == 0 {
				v[k] = math.NaN()
			}
		}
		return v
	}
	return pairProblem{random(), random(), random(), random(0, 0.25, math.Inf(1)), random(0, 0.25, math.Inf(1)), random()}
}

func TestStepPartnerBits(t *testing.T) {
	asmtest.Both(t, &vector, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(41, 42))
		for round := range 4000 {
			n := round % 37
			x := newPairProblem(rng, n, round%3 == 0)
			t0 := 0.375

			f, wantM, wantI := slices.Clone(x.f), math.Inf(1), 0
			for k := range f {
				f[k] += float64(t0 * (x.a[k] - x.b[k]))
				if v := f[k] + x.up[k]; v < wantM {
					wantM, wantI = v, k
				}
			}
			if m, i := step(x.f, x.a, x.b, x.up, t0); m != wantM || i != wantI {
				t.Fatalf("n = %d: step gives %g at %d, want %g at %d", n, m, i, wantM, wantI)
			}
			if !slices.EqualFunc(x.f, f, func(x, y float64) bool { return x == y || x != x && y != y }) {
				t.Fatalf("n = %d: step gives the gradient %v, want %v", n, x.f, f)
			}

			m, aii, least := -0.75, 1.5, 1e-12
			wantGap, wantJ, best := 0.0, -1, 0.0
			for k := range f {
				d := f[k] - x.dn[k] - m
				if d > 0 {
					wantGap = max(wantGap, d)
				}
				if gain := d * d / max(aii+x.diag[k]-2*x.a[k], least); d > 0 && gain > best {
					best, wantJ = gain, k
				}
			}
			if gap, j := partner(x.f, x.dn, x.a, x.diag, m, aii, least); gap != wantGap || j != wantJ {
				t.Fatalf("n = %d: partner gives gap %g and %d, want %g and %d", n, gap, j, wantGap, wantJ)
			}
		}
	})
}

func BenchmarkStepPartner(b *testing.B) {
	const n = 4096
	x := newPairProblem(rand.New(rand.NewPCG(1, 2)), n, false)
	for k := range n {
		x.f[k] = rand.Float64()
		x.up[k], x.dn[k], x.diag[k] = 0, 0, 1
		x.a[k], x.b[k] = rand.Float64(), rand.Float64()
	}
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			step(x.f, x.a, x.b, x.up, 1e-9)
		}
	})
	b.Run("partner", func(b *testing.B) {
		for b.Loop() {
			partner(x.f, x.dn, x.a, x.diag, 0.5, 1, 1e-12)
		}
	})
}
