package spd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// randomSPD returns γI + YᵀY for a random Y with the given number of rows, but at most 12.
func randomSPD(rng *rand.Rand, p, rows int, gamma, scale float64) []float64 {
	rows = min(rows, 12)
	y := make([]float64, rows*p)
	for i := range y {
		y[i] = rng.NormFloat64() * scale
	}
	s := make([]float64, Size(p))
	for i := range p {
		for j := range i + 1 {
			for r := range rows {
				s[Index(i, j)] += y[r*p+i] * y[r*p+j]
			}
		}
		s[Index(i, i)] += gamma
	}
	return s
}

func randomBatch(t testing.TB, rng *rand.Rand, n, p int) *Batch {
	t.Helper()
	return batchOf(t, rng, n, p, kinds[0].next)
}

func batchOf(t testing.TB, rng *rand.Rand, n, p int, next func(*rand.Rand, int) []float64) *Batch {
	t.Helper()
	b := NewBatch(n, p)
	for i := range n {
		if err := b.Set(i, next(rng, p)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// logDet returns log|S| by the plain code; ok is false, and it is NaN, if S is not positive
// definite.
func logDet(packed []float64, p int) (l float64, ok bool) {
	det, bad := ldl(append([]float64(nil), packed...), p, leastNormal, make([]float64, 2*p))
	if bad >= 0 {
		return math.NaN(), false
	}
	return logOf(det.mant, 2*det.expo), true
}

// logDets sets dst to the logarithms of the determinants of tiles.
func logDets(dst, tiles []float64, p int) {
	expo := make([]int64, len(dst))
	Dets(dst, expo, tiles, p)
	for i, m := range dst {
		dst[i] = logOf(m, 2*expo[i])
	}
}

// textbook returns log|S| by the Cholesky factorisation S = CCᵀ as textbooks write it, one
// logarithm to a pivot.
func textbook(s []float64, p int) float64 {
	c := make([]float64, len(s))
	sum := 0.0
	for i := range p {
		for j := range i + 1 {
			v := s[Index(i, j)]
			for k := range j {
				v -= c[Index(i, k)] * c[Index(j, k)]
			}
			if i == j {
				c[Index(i, i)] = math.Sqrt(v)
				sum += 2 * math.Log(c[Index(i, i)])
			} else {
				c[Index(i, j)] = v / c[Index(j, j)]
			}
		}
	}
	return sum
}

// exactDet returns |S| by elimination with 600 bits.
func exactDet(s []float64, p int) *big.Float {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }
	a := make([]*big.Float, len(s))
	for i, x := range s {
		a[i] = num(x)
	}
	det := num(1)
	for c := range p {
		d := a[Index(c, c)]
		det.Mul(det, d)
		for r := c + 1; r < p; r++ {
			f := num(0).Quo(a[Index(r, c)], d)
			for k := c + 1; k <= r; k++ {
				a[Index(r, k)].Sub(a[Index(r, k)], num(0).Mul(f, a[Index(k, c)]))
			}
		}
	}
	return det
}

// logBig returns log x for any exponent.
func logBig(x *big.Float) float64 {
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

func TestLogDetByHand(t *testing.T) {
	for _, c := range []struct {
		s    []float64
		p    int
		want float64 // the determinant
	}{
		{[]float64{5}, 1, 5},
		{[]float64{2, 1, 2}, 2, 3},                    // 2·2 − 1·1
		{[]float64{2, -1, 2, 0, -1, 2}, 3, 4},         // path Laplacian with ends tied: n+1
		{[]float64{4, 0, 9, 0, 0, 16}, 3, 4 * 9 * 16}, // diagonal
		{[]float64{0x1p1000, 0, 0x1p-1000}, 2, 1},     // no overflow on the way
	} {
		got, ok := logDet(c.s, c.p)
		if want := math.Log(c.want); !ok || math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) {
			t.Errorf("logDet(%v) = %g, %v, want log %g = %g", c.s, got, ok, c.want, want)
		}
	}
	for _, s := range [][]float64{
		{1, 2, 1}, {0, 0, 1}, {0x1p-1060, 0, 1}, {-1, 0, 1}, {1, math.NaN(), 1}, {math.Inf(1), 0, 1}, {1, math.Inf(-1), 1},
	} {
		if got, ok := logDet(s, 2); ok || !math.IsNaN(got) {
			t.Errorf("logDet(%v) = %g, %v, want NaN, false", s, got, ok)
		}
	}
}

func TestLogCrossByHand(t *testing.T) {
	// Variances 1 and 4: k² = √(1·4)/(½·5) = 0.8; 1 and 9: 0.6. Of diagonal matrices it is the
	// product.
	for _, c := range []struct {
		p    int
		a, b []float64
		want float64 // k²
	}{{1, []float64{1}, []float64{4}, 0.8}, {2, []float64{1, 0, 1}, []float64{4, 0, 9}, 0.8 * 0.6}} {
		b, got := NewBatch(2, c.p), make([]float64, 1)
		for i, s := range [][]float64{c.a, c.b} {
			if err := b.Set(i, s); err != nil {
				t.Fatal(err)
			}
		}
		LogCross(got, 1, b, 0, 1, b, 1, 2)
		if want := math.Log(c.want) / 2; math.Abs(got[0]-want) > 0x1p-52 { // a rounding error of k
			t.Errorf("log k(%v, %v) = %g, want %g", c.a, c.b, got[0], want)
		}
	}
}

// The error of a determinant is that of a relative change of the entries by a few p·2⁻⁵³,
// which log|S| magnifies by at most p·κ, κ the condition number. For S = γI + YᵀY with few
// rows in Y, κ is at most trace/γ.
func TestLogDetAgainstExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, p := range []int{1, 2, 3, 5, 10, 17, 33, 64} {
		for _, gamma := range []float64{1e-8, 1e-4, 0.1, 1e4} {
			for range 3 {
				s := randomSPD(rng, p, 1+rng.IntN(2*p), gamma, 1)
				trace := 0.0
				for i := range p {
					trace += s[Index(i, i)]
				}
				tol := 1e-15 + float64(p)*0x1p-52*trace/gamma
				want := logBig(exactDet(s, p))
				got, ok := logDet(s, p)
				if !ok || math.Abs(got-want) > tol*max(1, math.Abs(want)) {
					t.Errorf("p=%d γ=%g: log det %.17g, want %.17g ± %g", p, gamma, got, want, tol)
				}
			}
		}
	}
}

// orders are those with code of their own, and some of the others.
func orders() []int {
	var ps []int
	for p := 1; p <= 64; p++ {
		if p <= 20 || !testing.Short() || runtime.GOARCH == "amd64" { // emulation is slow
			ps = append(ps, p)
		}
	}
	return append(ps, 65, 70, 97)
}

// kind is a source of matrices of order p.
type kind struct {
	name string
	next func(rng *rand.Rand, p int) []float64
}

var kinds = []kind{
	{"ordinary", func(rng *rand.Rand, p int) []float64 { return randomSPD(rng, p, 1+rng.IntN(2*p), 0.1, 1) }},
	{"singular", func(rng *rand.Rand, p int) []float64 { return randomSPD(rng, p, 1+rng.IntN(p), 1e-8, 1) }},
	{"large", func(rng *rand.Rand, p int) []float64 { return randomSPD(rng, p, p, 1e4, 1e4) }},
	{"small", func(rng *rand.Rand, p int) []float64 { return randomSPD(rng, p, p, 1e-8, 1e-4) }},
	{"mixed", func(rng *rand.Rand, p int) []float64 {
		f := math.Pow(10, 16*rng.Float64()-8)
		return randomSPD(rng, p, p, f*0.1, math.Sqrt(f))
	}},
}

// Every set of instructions gives the bits of the plain code, and that agrees with the
// textbook.
func TestCrossBits(t *testing.T) {
	graphtest.Slow(t)
	const rows = 2
	for _, p := range orders() {
		cols := max(19, 57-p)
		rng := rand.New(rand.NewPCG(3, uint64(p)))
		for _, kind := range kinds {
			a, b := batchOf(t, rng, rows, p, kind.next), batchOf(t, rng, cols, p, kind.next)
			want, wantLog := make([]float64, rows*cols), make([]float64, rows*cols)
			restore := setPlain()
			Cross(want, cols, a, 0, rows, b, 0, cols)
			LogCross(wantLog, cols, a, 0, rows, b, 0, cols)
			restore()
			eachSIMD(t, func(t *testing.T) {
				got, gotLog := make([]float64, rows*cols), make([]float64, rows*cols)
				Cross(got, cols, a, 0, rows, b, 0, cols)
				LogCross(gotLog, cols, a, 0, rows, b, 0, cols)
				same(t, fmt.Sprintf("p=%d %s: k", p, kind.name), got, want)
				same(t, fmt.Sprintf("p=%d %s: log k", p, kind.name), gotLog, wantLog)
			})
			if kind.name == "singular" {
				continue // the tolerance below would have to grow with the condition number
			}
			sa := a.At(0, nil)
			for j := range cols {
				sb, mean := b.At(j, nil), make([]float64, Size(p))
				for e := range mean {
					mean[e] = (sa[e] + sb[e]) / 2
				}
				l := textbook(sa, p)/4 + textbook(sb, p)/4 - textbook(mean, p)/2
				if got := wantLog[j]; math.Abs(got-l) > 1e-11*max(1, math.Abs(l)) {
					t.Errorf("p=%d %s: log k(0,%d) = %.17g, textbook %.17g", p, kind.name, j, got, l)
				}
				if got, e := want[j], math.Exp(wantLog[j]); math.Abs(got-e) > 1e-12*e+0x1p-1074 {
					t.Errorf("p=%d %s: k(0,%d) = %.17g, exp of the logarithm %.17g", p, kind.name, j, got, e)
				}
			}
		}
	}
}

// same fails unless two slices have the same bits and no NaN.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) || math.IsNaN(want[i]) {
			t.Fatalf("%s: value %d is %.17g, want %.17g", what, i, got[i], want[i])
		}
	}
}

// The kernel itself against exact determinants.
func TestCrossAgainstExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, p := range []int{2, 5, 10, 16, 31} {
		a, b := randomBatch(t, rng, 2, p), randomBatch(t, rng, 9, p)
		dst := make([]float64, 18)
		Cross(dst, 9, a, 0, 2, b, 0, 9)
		for i := range 2 {
			for j := range 9 {
				sa, sb := a.At(i, nil), b.At(j, nil)
				mean := make([]float64, len(sa))
				for e := range mean {
					mean[e] = (sa[e] + sb[e]) / 2 // inexact by half an ulp
				}
				q := new(big.Float).SetPrec(600).Mul(exactDet(sa, p), exactDet(sb, p))
				m := exactDet(mean, p)
				q.Quo(q, new(big.Float).SetPrec(600).Mul(m, m))
				q.Sqrt(q).Sqrt(q)
				want, _ := q.Float64()
				if got := dst[i*9+j]; math.Abs(got-want) > 1e-12*want {
					t.Errorf("p=%d: k(%d,%d) = %.17g, want %.17g", p, i, j, got, want)
				}
			}
		}
	}
}

// A rectangle's values do not depend on how it is cut, and nothing beside it is written.
func TestCrossSplits(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		for _, p := range []int{2, 7, 10, 12, 16, 33} {
			rng := rand.New(rand.NewPCG(5, uint64(p)))
			const na, nb = 21, 83
			a, b := randomBatch(t, rng, na, p), randomBatch(t, rng, nb, p)
			all := make([]float64, na*nb)
			Cross(all, nb, a, 0, na, b, 0, nb)
			for range 30 {
				i0, j0 := rng.IntN(na+1), rng.IntN(nb+1)
				i1, j1 := i0+rng.IntN(na+1-i0), j0+rng.IntN(nb+1-j0)
				stride := j1 - j0 + rng.IntN(3)
				dst := make([]float64, na*(nb+3))
				for i := range dst {
					dst[i] = -1
				}
				Cross(dst, stride, a, i0, i1, b, j0, j1)
				for k, got := range dst {
					want := -1.0
					if stride > 0 && k/stride < i1-i0 && k%stride < j1-j0 {
						want = all[(i0+k/stride)*nb+j0+k%stride]
					}
					if got != want {
						t.Fatalf("p=%d [%d,%d)×[%d,%d) stride %d: place %d is %g, want %g", p, i0, i1, j0, j1, stride, k, got, want)
					}
				}
			}
		}
	})
}

func TestCrossSymmetricAndUnit(t *testing.T) {
	graphtest.Slow(t)
	eachSIMD(t, func(t *testing.T) {
		for _, p := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 18, 23, 32, 45, 64, 67} {
			rng := rand.New(rand.NewPCG(6, uint64(p)))
			for _, kind := range kinds {
				const n = 19
				a := batchOf(t, rng, n, p, kind.next)
				b := NewBatch(n+5, p) // the same matrices in other places
				for i := range n + 5 {
					if err := b.Set(i, a.At(i*7%n, nil)); err != nil {
						t.Fatal(err)
					}
				}
				ab, ba := make([]float64, n*(n+5)), make([]float64, n*(n+5))
				Cross(ab, n+5, a, 0, n, b, 0, n+5)
				Cross(ba, n, b, 0, n+5, a, 0, n)
				logs := make([]float64, n*(n+5))
				LogCross(logs, n+5, a, 0, n, b, 0, n+5)
				for i := range n {
					for j := range n + 5 {
						k := ab[i*(n+5)+j]
						if k != ba[j*n+i] {
							t.Fatalf("p=%d %s: k(%d,%d) = %g, transposed %g", p, kind.name, i, j, k, ba[j*n+i])
						}
						if equal := i == j*7%n; equal && (k != 1 || logs[i*(n+5)+j] != 0) || !(0 <= k && k <= 1) {
							t.Fatalf("p=%d %s: k(%d,%d) = %.17g, log %g", p, kind.name, i, j, k, logs[i*(n+5)+j])
						}
					}
				}
			}
		}
	})
}

// Scaled identities have a kernel in closed form, which leaves the range of float64.
func TestCrossUnderflowBits(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		for _, p := range []int{1, 2, 3, 10, 16, 43, 64, 80} {
			b := NewBatch(24, p)
			scale := func(i int) float64 { return math.Ldexp(1, 10*i-115) }
			for i := range 24 {
				s := make([]float64, Size(p))
				for r := range p {
					s[Index(r, r)] = scale(i)
				}
				if err := b.Set(i, s); err != nil {
					t.Fatal(err)
				}
			}
			ks, logs := make([]float64, 24*24), make([]float64, 24*24)
			Cross(ks, 24, b, 0, 24, b, 0, 24)
			LogCross(logs, 24, b, 0, 24, b, 0, 24)
			subnormal := 0
			for i := range 24 {
				for j := range 24 {
					// k = ((2√(xy)/(x+y))^½)^p, here with x ≤ y and √(x/y) exact.
					q := math.Ldexp(1, -5*max(i-j, j-i))
					want := float64(p) / 2 * (math.Log(2*q) - math.Log1p(q*q))
					k, l := ks[i*24+j], logs[i*24+j]
					if math.Abs(l-want) > 4e-16*float64(p)*max(1, math.Abs(want)) {
						t.Errorf("p=%d: log k(%d,%d) = %.17g, want %.17g", p, i, j, l, want)
					}
					if w := math.Exp(want); math.Abs(k-w) > 1e-12*w+0x1p-1074 {
						t.Errorf("p=%d: k(%d,%d) = %g, want %g", p, i, j, k, w)
					}
					if k > 0 && k < 0x1p-1022 {
						subnormal++
					}
				}
			}
			if p == 43 && subnormal == 0 {
				t.Error("no subnormal value in the test")
			}
		}
	})
}

// The last step from three determinants to a kernel value, against 200 bits. Rounding errors: two
// of the fourth roots, which the corrections cancel but for two of the products that they are made
// of; and those of e·e, r·ee and the sum.
func TestValueAgainstExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	num := func(d determinant) *big.Float {
		x := new(big.Float).SetPrec(200).SetFloat64(d.mant)
		return x.SetMantExp(x, 2*int(d.expo))
	}
	worst := 0.0
	for range 20000 {
		det := func() determinant {
			return determinant{mant: 0.5 + 1.5*rng.Float64(), expo: int64(rng.IntN(200) - 100)}
		}
		p := 1 + rng.IntN(20)
		da, db, ds := det(), det(), det()
		a, b := quarterOf(da, p), quarterOf(db, p)
		y, q := value(ds, a, b)
		if y2, q2 := value(ds, b, a); y2 != y || q2 != q {
			t.Fatalf("value is not symmetric: %v·2^%d and %v·2^%d", y, q, y2, q2)
		}
		got := new(big.Float).SetPrec(200).SetFloat64(y)
		got.SetMantExp(got, int(q))
		// k⁴ = |2A||2B| / |A+B|²
		want := new(big.Float).SetPrec(200).Mul(num(da), num(db))
		want.SetMantExp(want, 2*p)
		want.Quo(want, num(ds)).Quo(want, num(ds))
		want.Sqrt(want).Sqrt(want)
		diff, _ := got.Quo(got, want).Sub(got, big.NewFloat(1)).Float64()
		worst = max(worst, math.Abs(diff))

		da.expo = int64(rng.IntN(2000) - 1000)
		a = quarterOf(da, p)
		m, e := split(math.Ldexp(da.mant, p)) // |2A|
		if y, q := value(determinant{m, e + da.expo}, a, a); y != math.Ldexp(1, int(-q)) {
			t.Fatalf("kernel of a matrix of determinant %g·4^%d with itself is %.17g·2^%d", da.mant, da.expo, y, q)
		}
	}
	if worst > 5*0x1p-53 {
		t.Errorf("relative error %.3g·2^-53, want at most 5", worst*0x1p53)
	}
	t.Logf("largest relative error: %.3g·2^-53", worst*0x1p53)
}

// Sums that rounding may make singular give the same bits, or NaN, by all instructions.
func TestCrossNearlySingularBits(t *testing.T) {
	for p := 1; p <= 18; p++ {
		rng := rand.New(rand.NewPCG(13, uint64(p)))
		const n = 48
		b := NewBatch(n, p)
		for i := 0; i < n; {
			// The ridge is around the least that Set accepts.
			s := randomSPD(rng, p, 1+rng.IntN(2), math.Ldexp(1, -rng.IntN(54)), math.Ldexp(1, rng.IntN(8)))
			if b.Set(i, s) == nil {
				i++
			}
		}
		want := make([]float64, n*n)
		restore := setPlain()
		Cross(want, n, b, 0, n, b, 0, n)
		restore()
		eachSIMD(t, func(t *testing.T) {
			got := make([]float64, n*n)
			Cross(got, n, b, 0, n, b, 0, n)
			for i := range got {
				if got[i] != want[i] && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
					t.Fatalf("p=%d: k(%d,%d) = %g, want %g", p, i/n, i%n, got[i], want[i])
				}
				if i/n == i%n && got[i] != 1 {
					t.Fatalf("p=%d: k(%d,%d) = %g, want 1", p, i/n, i%n, got[i])
				}
			}
		})
	}
}
