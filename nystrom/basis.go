package nystrom

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/work"
)

// Pivots is a way to choose the next landmark.
type Pivots string

const (
	// Random draws a candidate with a probability proportional to its residual (Chen, Epperly,
	// Tropp, Webber 2022). It represents most graphs better than Greedy does, at the price of
	// a few outliers.
	Random Pivots = "random"
	// Greedy takes the candidate with the largest residual, the first of equals.
	Greedy Pivots = "greedy"
)

// Options say how landmarks are chosen.
type Options struct {
	Dim int `want:"at least 1"` // most landmarks
	// Tolerance ends the choice when no residual exceeds this share of the largest k(G,G). What
	// dim·2⁻⁵² of it do not exceed is rounding error, and ends it in any case.
	Tolerance float64
	Pivots    Pivots `want:"one of random greedy"`
	Seed      uint64 // of Random
}

// basis is landmarks among candidates, and what turns kernel values with them into coordinates.
type basis struct {
	Landmarks []int     // positions among the candidates, in the order in which they were chosen
	Residual  []float64 // of the candidates, k(G,G) − |φ(G)|²
	factor    []float64 // L, the lower triangle by rows
}

// Dim returns the dimension of the vectors.
func (b *basis) Dim() int { return len(b.Landmarks) }

// choose chooses landmarks among candidates. self has k(G,G) of each; row sets dst to the kernel
// of candidate p with each. It returns the vectors of the candidates too, a row each.
//
// With n candidates it takes O(n dim²) time besides dim rows, and n·dim numbers of memory.
// Results do not depend on the number of goroutines.
func choose(ctx context.Context, self []float64, row func(p int, dst []float64) error, o Options) (*basis, *kernel.Matrix, error) {
	n, dim := len(self), min(o.Dim, len(self))
	if err := param.Check("nystrom", o); err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, errors.New("no graphs to choose landmarks from")
	}
	b := &basis{Residual: slices.Clone(self)}
	least := max(o.Tolerance, float64(dim)*0x1p-52) * slices.Max(self)
	random := rand.New(rand.NewPCG(o.Seed, 0x7069766f7473)) // "pivots"
	x := kernel.NewMatrix(n, min(dim, 64))
	k := make([]float64, n)
	// A landmark takes a row of kernel values, which are as many operations as perhaps 500 products, and products
	// with all before it.
	const values = 500
	left := dim*values + dim*(dim-1)/2
	meter := work.NewMeter(ctx, "landmarks", left)
	for b.Dim() < dim {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		p := nearest.Largest(b.Residual, 1)[0].Index
		if !(b.Residual[p] > least) {
			break
		}
		if o.Pivots == Random {
			p = b.draw(random, least)
		}
		if err := row(p, k); err != nil {
			return nil, nil, err
		}
		j := b.Dim()
		if j == x.Cols {
			x = widen(x, min(2*j, dim))
		}
		l := append(slices.Clone(x.Row(p)[:j]), math.Sqrt(b.Residual[p]))
		err := strips(ctx, n, func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				x.Set(i, j, k[i])
			}
			coordinate(x.Data[lo*x.Cols:hi*x.Cols], x.Cols, j, l)
			for i := lo; i < hi; i++ {
				b.Residual[i] -= x.At(i, j) * x.At(i, j)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		for _, q := range b.Landmarks { // what is left of landmarks is rounding
			x.Set(q, j, 0)
		}
		x.Set(p, j, l[j])
		b.Residual[p] = 0
		b.Landmarks, b.factor = append(b.Landmarks, p), append(b.factor, l...)
		meter.Add(values + j)
		left -= values + j
	}
	meter.Add(left)
	return b, widen(x, b.Dim()), nil
}

// draw returns a candidate with a probability proportional to its residual. It draws only from
// candidates with a residual above least. There must be one.
func (b *basis) draw(random *rand.Rand, least float64) int {
	sum := 0.0
	for _, r := range b.Residual {
		if r > least {
			sum += r
		}
	}
	at, last := random.Float64()*sum, -1
	for i, r := range b.Residual {
		if r > least {
			last = i
			if at -= r; at < 0 {
				break
			}
		}
	}
	return last
}

// widen returns a matrix with more or fewer columns.
func widen(m *kernel.Matrix, cols int) *kernel.Matrix {
	if cols == m.Cols {
		return m
	}
	out := kernel.NewMatrix(m.Rows, cols)
	for i := range m.Rows {
		copy(out.Row(i), m.Row(i))
	}
	return out
}

// strips calls f for ranges of 0 … n-1 from the goroutines of the context.
func strips(ctx context.Context, n int, f func(lo, hi int) error) error {
	const strip = 256
	return work.Each(ctx, (n+strip-1)/strip, 1, func(_, i int) error { return f(i*strip, min((i+1)*strip, n)) })
}

// solve replaces rows of kernel values with the landmarks by vectors. A vector depends on its row
// alone, to the bit. It takes O(dim²) time for each and runs in the calling goroutine.
func (b *basis) solve(rows []float64) {
	const some = 4 // rows that stay in the cache while the factor passes
	d := b.Dim()
	for len(rows) > 0 {
		x := rows[:min(some*d, len(rows))]
		l := b.factor
		for j := range d {
			coordinate(x, d, j, l[:j+1])
			l = l[j+1:]
		}
		rows = rows[len(x):]
	}
}

// coordinate replaces number j of each row of x, the kernel with landmark j, by coordinate j,
//
//	x_j ← (x_j − Σ_{m<j} l_m x_m) / l_j,
//
// four rows at a time so that their sums are independent.
func coordinate(x []float64, cols, j int, l []float64) {
	f := l[j]
	l = l[:j]
	for ; len(x) >= 4*cols; x = x[4*cols:] {
		x0, x1, x2, x3 := x[:j+1], x[cols:][:j+1], x[2*cols:][:j+1], x[3*cols:][:j+1]
		s0, s1, s2, s3 := x0[j], x1[j], x2[j], x3[j]
		a0, a1, a2, a3 := x0[:len(l)], x1[:len(l)], x2[:len(l)], x3[:len(l)]
		for m, v := range l {
			s0 -= v * a0[m]
			s1 -= v * a1[m]
			s2 -= v * a2[m]
			s3 -= v * a3[m]
		}
		x0[j], x1[j], x2[j], x3[j] = s0/f, s1/f, s2/f, s3/f
	}
	for ; len(x) > 0; x = x[cols:] {
		s := x[j]
		for m, v := range l {
			s -= v * x[m]
		}
		x[j] = s / f
	}
}
