package learn

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// holdOut returns what regressions that addRidges made predict for each example from the other folds. For
// the examples of a fold f and
//
//	A = (K+λW⁻¹)⁻¹ − uuᵀ/Σu,   β = Az,
//
// it is z_f − A_ff⁻¹β_f. The variance of example i by which b is not known is v_i²/(Σu + vᵀu_f),
// v = A_ff⁻¹u_f. A fold of one example is left out as addRidges does. It takes n|f|² operations for each
// fold.
func (l *Learner) holdOut(ctx context.Context, f inverse, u []float64, targets [][]float64, folds []int) (*kernel.Matrix, []float64, error) {
	members, _, err := foldSets(folds, l.Examples)
	if err != nil {
		return nil, nil, err
	}
	values, bias := kernel.NewMatrix(l.Examples, len(targets)), make([]float64, l.Examples)
	sum := total(u)
	return values, bias, work.Each(ctx, len(members), 1, func(_, k int) error {
		at := members[k]
		m, n := f.block(at), len(at)
		for a, i := range at {
			for b, j := range at {
				m[a*n+b] -= u[i] * u[j] / sum
			}
		}
		if _, ok := dense.Cholesky(m, n); !ok {
			return fmt.Errorf("learn: fold of %d examples left out: %w", n, ErrDefinite)
		}
		for t, z := range targets {
			residuals := make([]float64, n)
			for a, i := range at {
				residuals[a] = l.Functions[t].Coefficients[i]
			}
			dense.SolveCholesky(m, n, residuals)
			for a, i := range at {
				values.Set(i, t, z[i]-residuals[a])
			}
		}
		v, along := make([]float64, n), sum
		gather(v, u, at)
		dense.SolveCholesky(m, n, v)
		for a, i := range at {
			along += v[a] * u[i]
		}
		for a, i := range at {
			bias[i] = v[a] * v[a] / along
		}
		return nil
	})
}

// inverseBlock returns rows and columns of (LLᵀ)⁻¹ for L⁻¹ with zeros above its diagonal.
func inverseBlock(inverse []float64, n int, at []int) []float64 {
	m := len(at)
	columns, rows := make([]float64, n*m), make([]float64, m*n)
	for k := range n {
		row := inverse[k*n:][:n]
		for a, i := range at {
			columns[k*m+a], rows[a*n+k] = row[i], row[i]
		}
	}
	out := make([]float64, m*m)
	dense.Multiply(out, rows, columns, m, n, m)
	return out
}
