package explain

import (
	"context"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Shares distributes what the features of its vertices make of a graph, f(G) − f(G₀), where
// G₀ is G with all base features 0, over the vertices: the share of v is the integral of
// its contribution while the features of all vertices grow from nothing to what they are,
//
//	∫₀¹ ∂f/∂s_v (σ, …, σ) dσ.
//
// Shares add up. Unlike contributions they do not vanish where f is largest.
type Shares struct {
	Value    float64 `json:"value"`    // f(G)
	Baseline float64 `json:"baseline"` // f(G₀)
	// Vertices has the share of each vertex.
	Vertices []float64 `json:"vertices"`
	Sum      float64   `json:"sum"`
	// Through splits Vertices by the levels whose kernels enter f.
	Through []Level `json:"through"`
	// Gap is Sum − (Value − Baseline), the error of the numerical integration.
	Gap float64 `json:"gap"`
}

// SimilarityShares distributes log k(G, H) over the vertices of G, H being as it is.
func SimilarityShares(ctx context.Context, m *mlg.Model, g, h *graph.Graph) (*Shares, error) {
	c, err := m.Transform(ctx, []*graph.Graph{h})
	if err != nil {
		return nil, err
	}
	return shares(ctx, m, g, c, func(logK []float64) (float64, []float64) { return logK[0], []float64{1} })
}

// DecisionShares distributes the value of a learner over the vertices of G.
func DecisionShares(ctx context.Context, m *mlg.Model, g *graph.Graph, f Function) (*Shares, error) {
	if err := f.check(m); err != nil {
		return nil, err
	}
	return shares(ctx, m, g, m.Train(), func(logK []float64) (float64, []float64) {
		value, _, slopes := f.evaluate(logK)
		return value, slopes
	})
}

// The integral is taken by Gauss-Legendre rules in x with σ = x², which puts more points
// where σ is small: there S leaves γI. Rules with twice as many points follow until no share
// changes by more than shareError of the sum of their magnitudes, or maxPoints is reached.
const (
	firstPoints = 16
	maxPoints   = 256
	shareError  = 1e-6
)

// shares integrates f, which returns its value and ∂f/∂log k_i.
func shares(ctx context.Context, m *mlg.Model, g *graph.Graph, others *mlg.Covariances, f func(logK []float64) (float64, []float64)) (*Shares, error) {
	at := func(factor float64) (value float64, a *mlg.Attribution, err error) {
		a, err = m.AttributeAt(ctx, g, factor, others, func(logK []float64) []float64 {
			var slopes []float64
			value, slopes = f(logK)
			return slopes
		})
		return value, a, err
	}
	value, a, err := at(1)
	if err != nil {
		return nil, err
	}
	baseline, _, err := at(0)
	if err != nil {
		return nil, err
	}
	var last, sum [][]float64 // by level that enters and vertex
	for points := firstPoints; points <= maxPoints; points *= 2 {
		last, sum = sum, make([][]float64, len(a.Levels))
		for c := range sum {
			sum[c] = make([]float64, g.N())
		}
		x, w := make([]float64, points), make([]float64, points)
		quad.Legendre{}.FixedLocations(x, w, 0, 1)
		for i := range x {
			_, a, err := at(x[i] * x[i])
			if err != nil {
				return nil, err
			}
			// ∂f/∂s dσ = ∂f/∂log s dσ/σ, and dσ/σ = 2dx/x.
			for c, part := range a.Through {
				for v, d := range part {
					sum[c][v] += w[i] * 2 / x[i] * d
				}
			}
		}
		if last != nil && settled(sum, last) {
			break
		}
	}
	out := &Shares{Value: value, Baseline: baseline, Vertices: make([]float64, g.N())}
	for c, l := range a.Levels {
		level := newLevel(l, sum[c])
		out.Through = append(out.Through, level)
		out.Sum += level.Sum
		for v, x := range sum[c] {
			out.Vertices[v] += x
		}
	}
	out.Gap = out.Sum - (value - baseline)
	return out, nil
}

// settled reports whether the shares of two rules agree.
func settled(sum, last [][]float64) bool {
	size, change := 0.0, 0.0
	for c := range sum {
		for v, x := range sum[c] {
			size += math.Abs(x)
			change = max(change, math.Abs(x-last[c][v]))
		}
	}
	return change <= shareError*size
}
