package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/asmtest"
)

func TestMultiplyBits(t *testing.T) {
	asmtest.Both(t, &vector, func(t *testing.T) {
		for p := 1; p <= 70; p++ {
			rng := rand.New(rand.NewPCG(10, uint64(p)))
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 11} {
				n := rng.IntN(40)
				a, b := normals(rng, rows*n), normals(rng, n*p)
				if rows == 11 && n > 0 {
					a[rng.IntN(len(a))], a[rng.IntN(len(a))] = math.Inf(-1), 0x1p-1074
					b[rng.IntN(len(b))], b[rng.IntN(len(b))] = math.NaN(), math.MaxFloat64
				}
				got, want := make([]float64, rows*p), make([]float64, rows*p)
				for i := range got {
					got[i] = 77
				}
				Multiply(got, a, b, rows, n, p)
				for r := range rows {
					for c := range p {
						for m := range n {
							want[r*p+c] = math.FMA(a[r*n+m], b[m*p+c], want[r*p+c])
						}
					}
				}
				if !slices.EqualFunc(got, want, func(x, y float64) bool { return x == y || x != x && y != y }) {
					t.Fatalf("product of %d×%d and %d×%d: %v, want %v", rows, n, n, p, got, want)
				}
			}
		}
	})
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(){
		"product":  func() { Multiply(make([]float64, 4), make([]float64, 4), make([]float64, 3), 2, 2, 2) },
		"cholesky": func() { Cholesky(make([]float64, 3), 2) },
		"solve":    func() { SolveCholesky(make([]float64, 4), 2, make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "dense: ") {
					t.Errorf("%s: recovered %v, want a panic of dense", name, r)
				}
			}()
			f()
		}()
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func BenchmarkMultiply(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{256, 100, 10}, {256, 300, 16}, {256, 600, 32}} {
		rows, n, p := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", rows, n, p), func(b *testing.B) {
			dst, x, y := make([]float64, rows*p), normals(rng, rows*n), normals(rng, n*p)
			best := time.Duration(1 << 62)
			for b.Loop() {
				t := time.Now()
				Multiply(dst, x, y, rows, n, p)
				best = min(best, time.Since(t))
			}
			b.ReportMetric(float64(rows*n*p)/float64(best.Nanoseconds()), "best-FMA/ns")
		})
	}
}
