package learn

import (
	"context"
	"errors"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// lowRank is a Nyström approximation K ≈ FFᵀ in single precision: with C the columns of K of m
// landmarks and K_mm = LLᵀ their rows,
//
//	F = C L⁻ᵀ.
//
// It makes the preconditioner of systems with a diagonal D of scales and a ridge λ, whose inverse is
// by Woodbury's identity
//
//	P = D F Fᵀ D + λI,   P⁻¹v = (v − D F (λI + FᵀD²F)⁻¹ FᵀDv)/λ.
type lowRank struct {
	grid      // F
	landmarks int
}

// newLowRank computes F for landmarks at equal distances, n·m² operations.
func newLowRank(ctx context.Context, t *Triangle, landmarks int) (*lowRank, error) {
	n, m := t.rows, landmarks
	at := spaced(n, m)
	l, err := factorLandmarks(ctx, t, at)
	if err != nil {
		return nil, err
	}
	f := &lowRank{newGrid(n, m), m}
	meter := work.NewMeter(ctx, "landmarks", tileCount(n))
	return f, work.Each(ctx, tileCount(n), 1, func(_, strip int) error {
		defer meter.Add(1)
		first := strip * tileSide
		rows := min(tileSide, n-first)
		c := make([]float64, rows*m)
		for i := range rows {
			t.gatherRow(first+i, at, c[i*m:][:m])
		}
		dense.SolveRows(l, m, c, rows)
		for i := range rows {
			for j, v := range c[i*m:][:m] {
				tile, _ := f.tile(strip, j/tileSide)
				tile[i*tileSide+j%tileSide] = float32(v)
			}
		}
		return nil
	})
}

// gatherRow copies the entries of row i in the given columns.
func (t *Triangle) gatherRow(i int, columns []int, dst []float64) {
	for k, j := range columns {
		dst[k] = t.at(i, j)
	}
}

// factorLandmarks returns L with K_mm + εI = LLᵀ. Single precision changes K_mm by a matrix whose norm
// is at most 2⁻²⁴ of the Frobenius norm of K_mm. So with that ε a positive semi-definite kernel has a
// factor. Double precision needs far less. ε is doubled where the kernel is indefinite.
func factorLandmarks(ctx context.Context, t *Triangle, at []int) ([]float64, error) {
	m := len(at)
	k := make([]float64, m*m)
	norm := 0.0
	for a, i := range at {
		t.gatherRow(i, at, k[a*m:][:m])
		norm = math.Hypot(norm, math.Sqrt(dense.Dot(k[a*m:][:m], k[a*m:][:m])))
	}
	if norm == 0 {
		norm = 1 // any factor serves
	}
	l := make([]float64, m*m)
	for epsilon := 0x1p-24 * norm; ; epsilon *= 2 {
		copy(l, k)
		for i := range m {
			l[i*m+i] += epsilon
		}
		if _, ok := dense.CholeskyParallel(ctx, l, m, work.Workers(ctx)); ok {
			return l, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if math.IsInf(epsilon, 1) {
			return nil, errors.New("learn: the kernel values of landmarks are too large")
		}
	}
}

// grams returns the lower triangle of FᵀWF over each group of examples, with their weights, nil for
// ones, on the diagonal of W. It takes n·m² operations for all groups together.
func (f *lowRank) grams(ctx context.Context, groups [][]int, weights Weights) ([]*kernel.Matrix, error) {
	m := f.landmarks
	out := make([]*kernel.Matrix, len(groups))
	for g := range out {
		out[g] = kernel.NewMatrix(m, m)
	}
	strips := (m + stripRows - 1) / stripRows
	return out, work.Each(ctx, len(groups)*strips, 1, func(_, task int) error {
		// Rows first … last−1 of one matrix, of whose columns those up to last are needed. Tasks with
		// more columns come first.
		group, first := groups[task%len(groups)], (strips-1-task/len(groups))*stripRows
		var p products
		p.reset(first, min(first+stripRows, m))
		for ; len(group) > 0; group = group[min(tileSide, len(group)):] {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := func(k int, dst []float64) float64 {
				i := group[k]
				for c := 0; c < len(dst); c += tileSide {
					tile, _ := f.tile(i/tileSide, c/tileSide)
					widen(dst[c:min(c+tileSide, len(dst))], tile[i%tileSide*tileSide:])
				}
				return weights.Of(i)
			}
			p.multiply(min(tileSide, len(group)), row, func(j, c int, values []float64) {
				dense.Axpy(out[task%len(groups)].Row(j)[c:][:len(values)], 1, values)
			})
		}
		return nil
	})
}

// decompositions returns that of λI + FᵀD²F up to λ for each training set, which is some groups.
func decompositions(ctx context.Context, grams []*kernel.Matrix, sets [][]int) ([]*decomposition, error) {
	out := make([]*decomposition, len(sets))
	return out, work.Each(ctx, len(sets), 1, func(_, s int) (err error) {
		sum := kernel.NewMatrix(grams[0].Rows, grams[0].Cols)
		for _, g := range sets[s] {
			for i, v := range grams[g].Data {
				sum.Data[i] += v
			}
		}
		out[s], err = decompose(ctx, Full(sum))
		return err
	})
}
