package explain

import (
	"context"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/svm"
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

// DecisionShares distributes the value of a function of a learner that was trained on the kernel
// matrix of the training graphs of m over the vertices of G.
func DecisionShares(ctx context.Context, m *mlg.Model, g *graph.Graph, f svm.Function) (*Shares, error) {
	support, err := supportOf(&f, m.Train().Len())
	if err != nil {
		return nil, err
	}
	return shares(ctx, m, g, m.Train(), func(logK []float64) (float64, []float64) {
		value, slopes := f.Bias, make([]float64, len(logK))
		for s, i := range support {
			term := f.Coefficients[s] * math.Exp(logK[i])
			slopes[i] += term
			value += term
		}
		return value, slopes
	})
}

// The integral is taken by Clenshaw-Curtis rules in x with σ = x², which puts more points
// where σ is small: there S leaves γI. The points of a rule are among those of the next,
// which has twice as many intervals. The error of these rules for analytic functions is
// about squared from one to the next, so that shares which change by less than ruleChange
// of the sum of their magnitudes have errors of the order of shareError, as Gap must have
// too, which is known.
const (
	firstIntervals = 16
	maxIntervals   = 256
	shareError     = 1e-6
	ruleChange     = 1e-3
)

// shares integrates f, which returns its value and ∂f/∂log k_i.
func shares(ctx context.Context, m *mlg.Model, g *graph.Graph, others *mlg.Covariances, f func(logK []float64) (float64, []float64)) (*Shares, error) {
	at := func(factor float64) (value float64, a *mlg.Attribution, err error) {
		a, err = m.Attribute(ctx, g, factor, others, func(logK []float64) []float64 {
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
	// Values of ∂f/∂x by point of the finest rule, level that enters and vertex. They are 0 at
	// x = 0: S is even in σ.
	points := make([][][]float64, maxIntervals+1)
	var last []float64
	var out *Shares
	for n := firstIntervals; n <= maxIntervals; n *= 2 {
		step := maxIntervals / n
		for j := 1; j <= n; j++ {
			if points[j*step] != nil {
				continue
			}
			x := (1 - math.Cos(math.Pi*float64(j)/float64(n))) / 2
			_, a, err := at(x * x)
			if err != nil {
				return nil, err
			}
			// ∂f/∂s dσ = ∂f/∂log s dσ/σ, and dσ/σ = 2dx/x.
			for _, part := range a.Through {
				for v := range part {
					part[v] *= 2 / x
				}
			}
			points[j*step] = a.Through
		}
		out = &Shares{Value: value, Baseline: baseline, Vertices: make([]float64, g.N())}
		for c, l := range a.Levels {
			sum := make([]float64, g.N())
			for j := 1; j <= n; j++ {
				w := weight(j, n)
				for v, d := range points[j*step][c] {
					sum[v] += w * d
				}
			}
			out.Through = append(out.Through, Level{l, sum, sumOf(sum)})
			out.Sum += sumOf(sum)
			addTo(out.Vertices, sum)
		}
		out.Gap = out.Sum - (value - baseline)
		size, change := 0.0, 0.0
		for v, x := range out.Vertices {
			size += math.Abs(x)
			if last != nil {
				change = max(change, math.Abs(x-last[v]))
			}
		}
		if last != nil && change <= ruleChange*size && math.Abs(out.Gap) <= shareError*size {
			break
		}
		last = out.Vertices
	}
	return out, nil
}

// weight returns the weight of the point (1 − cos(jπ/n))/2 in the Clenshaw-Curtis rule on
// [0, 1] with an even number n of intervals: the integral of the polynomial that is 1 there and
// 0 at the other points.
func weight(j, n int) float64 {
	s := 1.0
	for k := 1; k <= n/2; k++ {
		b := 2.0
		if k == n/2 {
			b = 1
		}
		s -= b / float64(4*k*k-1) * math.Cos(2*math.Pi*float64(k*j)/float64(n))
	}
	if j == 0 || j == n {
		s /= 2
	}
	return s / float64(n)
}
