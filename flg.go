package mlg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

const epsilon = 0x1p-52

// LG returns the Laplacian graph kernel of two graphs with the same vertices, matched by
// their numbers: the Bhattacharyya kernel
//
//	k(G₁,G₂) = |(½S₁⁻¹ + ½S₂⁻¹)⁻¹|^½ / (|S₁|^¼ |S₂|^¼),  S = L⁻¹ + γI,  L = D − A + ηI
//
// (docs/explanation/math.md, eq. 1). γ may be 0. It takes O(n³) time.
func LG(g, h *graph.Graph, eta, gamma float64) (float64, error) {
	if g.N() != h.N() {
		return 0, fmt.Errorf("the LG kernel needs graphs of one size, these have %d and %d vertices; the FLG kernel has no such limit", g.N(), h.N())
	}
	n := g.N()
	one := kernel.NewMatrix(n, n)
	for i := range n {
		one.Set(i, i, 1)
	}
	return FLG(g, one, h, one, eta, gamma)
}

// FLG returns the feature space Laplacian graph kernel of two graphs whose vertices have
// the given explicit features: row v of fg belongs to vertex v of g. With U the matrix of
// features as columns,
//
//	S = U L⁻¹ Uᵀ + γI,
//
// then eq. (1) of docs/explanation/math.md. γ may be 0 when both S have full rank.
//
// It is computed from singular values: with C Cᵀ = L and Y = C⁻¹Uᵀ, |S| = Π (γ + σ_i(Y)²),
// whose relative error is at most about ε/√(γη). It takes O(n³ + n m²) time.
func FLG(g *graph.Graph, fg *kernel.Matrix, h *graph.Graph, fh *kernel.Matrix, eta, gamma float64) (float64, error) {
	if err := checkFLG(eta, gamma); err != nil {
		return 0, err
	}
	if fg.Rows != g.N() || fh.Rows != h.N() {
		return 0, fmt.Errorf("features of %d and %d vertices, want %d and %d as in the graphs", fg.Rows, fh.Rows, g.N(), h.N())
	}
	if fg.Cols != fh.Cols {
		return 0, fmt.Errorf("features of %d and %d dimensions, want the same number", fg.Cols, fh.Cols)
	}
	if err := work.CheckMatrices(1, g.N()+h.N(), max(g.N(), h.N()), "compare smaller graphs"); err != nil {
		return 0, err
	}
	y := slices.Concat(fg.Data, fh.Data)
	sums := slices.Repeat([]float64{eta}, g.N()+h.N())
	logK, err := logFLG(g.Laplacian(eta, nil), h.Laplacian(eta, nil), sums[:g.N()], sums[g.N():], y, fg.Cols, gamma)
	return expKernel(logK), err
}

func checkFLG(eta, gamma float64) error {
	if !(eta > 0) || math.IsInf(eta, 1) {
		return fmt.Errorf("eta = %v, want a positive, finite number", eta)
	}
	if !(gamma >= 0) || math.IsInf(gamma, 1) {
		return fmt.Errorf("gamma = %v, want a finite number that is not negative", gamma)
	}
	return nil
}

// logFLG returns log k of two graphs with the regularised Laplacians lg and lh, whose rows have the
// given sums. y has m features of each of their vertices. All are overwritten.
func logFLG(lg, lh, sumsG, sumsH, y []float64, m int, gamma float64) (float64, error) {
	one := func(l, sums, y []float64) (float64, error) {
		n := len(sums)
		if _, ok := factorLaplacian(l, sums, n); !ok {
			return 0, errOverflow
		}
		dense.ForwardSolve(l, n, y, m)
		return logCovariance(y, n, m, gamma)
	}
	split, n := len(sumsG), len(sumsG)+len(sumsH)
	first, err := one(lg, sumsG, y[:split*m])
	if err != nil {
		return 0, err
	}
	second, err := one(lh, sumsH, y[split*m:])
	if err != nil {
		return 0, err
	}
	for i := range y {
		y[i] *= math.Sqrt2 / 2
	}
	both, err := logCovariance(y, n, m, gamma)
	return first/4 + second/4 - both/2, err
}

// expKernel returns exp(logK), where rounding may have lifted logK above 0.
func expKernel(logK float64) float64 { return math.Exp(math.Min(logK, 0)) }

// logCovariance returns log|YᵀY + γI| for the row-major n×m matrix Y.
func logCovariance(y []float64, n, m int, gamma float64) (float64, error) {
	sv, ok := dense.SingularValues(y, n, m)
	if !ok {
		return 0, errors.New("the singular values of the features did not converge")
	}
	rank := 0
	var sum float64
	for _, s := range sv {
		// Below this a singular value is rounding error (LAPACK's bound, max(n,m)·ε·σ₁).
		if s > float64(max(n, m))*epsilon*sv[0] {
			rank++
		}
		sum += math.Log(gamma + s*s)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) && gamma > 0 {
		return 0, errPrecision
	}
	if gamma == 0 {
		if rank < m {
			return 0, fmt.Errorf("gamma = 0, want a positive number: the covariance has rank %d of %d", rank, m)
		}
		return sum, nil
	}
	return sum + float64(m-len(sv))*math.Log(gamma), nil
}
