package spd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// lowRankCase is a set of matrices B, and matrices A both as rows and in full.
type lowRankCase struct {
	p     int
	gamma float64
	q     []float64
	a     []Thin
	full  *Batch // the matrices A
	b     *Batch
}

// newLowRankCase has n matrices B and A of up to most rows. Of three A the second shares rows with
// the first, and the third is part of the second, in another order.
func newLowRankCase(t testing.TB, rng *rand.Rand, n, p, most int, gamma float64) *lowRankCase {
	t.Helper()
	c := &lowRankCase{p: p, gamma: gamma, full: NewBatch(n, p), b: NewBatch(n, p)}
	for i := range n {
		if err := c.b.Set(i, randomSPD(rng, p, rng.IntN(most+1), gamma, 1)); err != nil {
			t.Fatal(err)
		}
		m := 1 + rng.IntN(most)
		a := Thin{At: i, X: randomSPD(rng, m, m, 0.3, 1)}
		if i%3 == 1 {
			a.Rows = append(a.Rows, c.a[i-1].Rows...)
		}
		if i%3 == 2 {
			last := c.a[i-1]
			a.Rows, a.X = slices.Clone(last.Rows), nil
			slices.Reverse(a.Rows)
			m = min(m, len(a.Rows))
			for r := range m {
				for e := range r + 1 {
					a.X = append(a.X, last.X[Index(len(a.Rows)-1-e, len(a.Rows)-1-r)])
				}
			}
		}
		for len(a.Rows) < m {
			a.Rows = append(a.Rows, int32(len(c.q)/p))
			for range p {
				c.q = append(c.q, rng.NormFloat64()/math.Sqrt(float64(p)))
			}
		}
		a.Rows = a.Rows[:m]
		c.a = append(c.a, a)
		// X = CCᵀ, so QᵀX⁻¹Q = YᵀY for Y = C⁻¹Q.
		y := make([]float64, m*p)
		l := make([]float64, Size(m))
		for r := range m {
			copy(y[r*p:], c.q[int(a.Rows[r])*p:][:p])
			for e := range r + 1 {
				x := a.X[Index(r, e)]
				for k := range e {
					x -= l[Index(r, k)] * l[Index(e, k)]
				}
				if e < r {
					l[Index(r, e)] = x / l[Index(e, e)]
					for j := range p {
						y[r*p+j] -= l[Index(r, e)] * y[e*p+j]
					}
					continue
				}
				l[Index(r, r)] = math.Sqrt(x)
				for j := range p {
					y[r*p+j] /= l[Index(r, r)]
				}
			}
		}
		s := make([]float64, Size(p))
		AddGram(s, y, m, p)
		for j := range p {
			s[Index(j, j)] += gamma
		}
		if err := c.full.Set(i, s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// The kernel by rows is that by matrices.
func TestFactorsCross(t *testing.T) {
	for _, p := range []int{1, 2, 7, 16, 32, 33, 64} {
		for _, gamma := range []float64{0.01, 0.1, 3} {
			t.Run(fmt.Sprintf("p=%d/gamma=%v", p, gamma), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(p), 5))
				const n = 101
				c := newLowRankCase(t, rng, n, p, 12, gamma)
				want, got := make([]float64, n*n), make([]float64, n*n)
				Cross(want, n, c.full, 0, n, c.b, 0, n)
				Factor(c.b, gamma).Cross(got, n, c.q, c.a)
				for i := range want {
					// Condition numbers are about 1e4 at most.
					if d := math.Abs(got[i] - want[i]); !(d <= 1e-11*want[i]) {
						t.Fatalf("kernel %d, %d: %v by rows, %v by matrices", i/n, i%n, got[i], want[i])
					}
				}
			})
		}
	}
}

// A value depends on its two matrices and γ alone, to the bit, and on no set of instructions.
func TestFactorsBits(t *testing.T) {
	const n, p, gamma = 75, 32, 0.1
	rng := rand.New(rand.NewPCG(1, 2))
	c := newLowRankCase(t, rng, n, p, 20, gamma)
	var want []float64
	eachSIMD(t, func(t *testing.T) {
		got := make([]float64, n*n)
		f := Factor(c.b, gamma)
		f.Cross(got, n, c.q, c.a)
		if want == nil {
			want = slices.Clone(got)
		}
		one := make([]float64, n)
		for i := range n {
			var q []float64
			a := Thin{X: c.a[i].X}
			for r, k := range c.a[i].Rows {
				q = append(q, c.q[int(k)*p:][:p]...)
				a.Rows = append(a.Rows, int32(r))
			}
			f.Cross(one, n, q, []Thin{a})
			for j := range n {
				if one[j] != want[i*n+j] || got[i*n+j] != want[i*n+j] {
					t.Fatalf("kernel %d, %d: %v alone, %v in a set, want %v", i, j, one[j], got[i*n+j], want[i*n+j])
				}
			}
		}
		// Other matrices beside B, in another order.
		b := NewBatch(n, p)
		for j := range n {
			if err := b.Set(j, c.b.At(n-1-j, nil)); err != nil {
				t.Fatal(err)
			}
		}
		Factor(b, gamma).Cross(got, n, c.q, c.a)
		for i := range got {
			if v := want[i/n*n+n-1-i%n]; got[i] != v {
				t.Fatalf("kernel %d, %d: %v in another order, want %v", i/n, n-1-i%n, got[i], v)
			}
		}
	})
}

// Factor finds the rank, and a matrix X that is not positive definite gives NaN.
func TestFactorsRank(t *testing.T) {
	const n, p, gamma = 16, 24, 0.1
	rng := rand.New(rand.NewPCG(3, 2))
	b := NewBatch(n, p)
	for i := range n {
		if err := b.Set(i, randomSPD(rng, p, 1+i/8*6, gamma, 1)); err != nil {
			t.Fatal(err)
		}
	}
	f := Factor(b, gamma)
	if f.ranks[0] != 1 || f.ranks[1] != 7 {
		t.Errorf("ranks %v, want 1 and 7", f.ranks)
	}
	k := make([]float64, n)
	f.Cross(k, n, make([]float64, p), []Thin{{Rows: []int32{0}, X: []float64{-1}}})
	for _, v := range k {
		if !math.IsNaN(v) {
			t.Fatalf("kernel %v with a matrix that is not positive definite, want NaN", v)
		}
	}
	if !f.Cheaper(3) || f.Cheaper(24) {
		t.Errorf("cheaper with 3 rows %v, with 24 %v; want true and false", f.Cheaper(3), f.Cheaper(24))
	}
}

// A device gets what Cross computes first, and all matrices of Factors.
func TestFactorsForDevices(t *testing.T) {
	const n, p, gamma = 75, 32, 0.1
	c := newLowRankCase(t, rand.New(rand.NewPCG(4, 2)), n, p, 20, gamma)
	c.a[7].X[0] = -1
	f := Factor(c.b, gamma)
	var s lowWork
	s.prepare(c.a, c.q, f)
	packed, e, x := make([]float64, len(s.where)), make([]float64, n), make([]int64, n)
	f.Prepare(packed, e, x, c.q, c.a)
	for k, at := range s.where {
		if packed[k] != s.g[at/(8*Lanes)] {
			t.Fatalf("entry %d is %v, want %v", k, packed[k], s.g[at/(8*Lanes)])
		}
	}
	for i, r := range s.roots {
		if (e[i] != r.e || x[i] != r.x) && !(i == 7 && math.IsNaN(e[i])) {
			t.Errorf("root %d is %v·2^%d, want %v·2^%d", i, e[i], x[i], r.e, r.x)
		}
	}
	at := 0
	for _, g := range f.Groups() {
		for i, tile := range g.Tiles {
			if int(tile.Rank) != f.ranks[at/Lanes+i] || int(tile.Column)+Lanes*int(tile.Rank) > g.Columns {
				t.Errorf("tile %d: %+v of %d columns, want rank %d", at/Lanes+i, tile, g.Columns, f.ranks[at/Lanes+i])
			}
		}
		for i := range g.E {
			if want := f.roots.at(at + i); g.E[i] != want.e || g.X[i] != want.x {
				t.Errorf("root %d is not that of the matrix", at+i)
			}
		}
		at += len(g.E)
	}
	if at < f.Len() || f.Len() != n || f.Order() != p {
		t.Errorf("%d roots of %d matrices of order %d", at, f.Len(), f.Order())
	}
}

// BenchmarkFactorsCross compares as the fit of a kernel does: 64 matrices that share 80 rows, with
// 600.
func BenchmarkFactorsCross(b *testing.B) {
	const n, p, gamma = 600, 32, 0.1
	for _, m := range []int{3, 6, 9, 12} {
		b.Run(fmt.Sprintf("rows=%d", m), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(3, 2))
			marks := NewBatch(n, p)
			for i := range n {
				if err := marks.Set(i, randomSPD(rng, p, m, gamma, 1)); err != nil {
					b.Fatal(err)
				}
			}
			f := Factor(marks, gamma)
			q := make([]float64, 80*p)
			for i := range q {
				q[i] = rng.NormFloat64()
			}
			a := make([]Thin, 64)
			for i := range a {
				a[i].At, a[i].X = i, randomSPD(rng, m, m, 0.3, 1)
				for range m {
					a[i].Rows = append(a[i].Rows, int32(rng.IntN(80)))
				}
			}
			dst := make([]float64, len(a)*n)
			for b.Loop() {
				f.Cross(dst, n, q, a)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(a)*n), "ns/pair")
		})
	}
}
