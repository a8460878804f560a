package classic

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Series says how a PlainWalk weighs walks of i steps.
type Series string

const (
	Geometric   Series = "geometric"   // λ^i
	Exponential Series = "exponential" // λ^i / i!
)

// next returns μ_{i+1} from μ_i.
func (s Series) next(mu, lambda float64, i int) float64 {
	mu *= lambda
	if s == Exponential {
		mu /= float64(i + 1)
	}
	return mu
}

// limit returns the number under which λ times the largest eigenvalue must be for walks of any length.
func (s Series) limit() float64 {
	if s == Exponential {
		return maxExponent
	}
	return 1
}

// terms returns how many terms of Σ_i q^i, or q^i/i!, are enough. The others add less than 2⁻⁵⁴ of
// the first, because they are less than a geometric series.
func (s Series) terms(q float64) int {
	for i, term := 1, 1.0; ; i++ {
		ratio := q
		if s == Exponential {
			ratio /= float64(i)
		}
		term *= ratio
		if ratio < 1 && term/(1-ratio) <= 0x1p-54 {
			return i
		}
	}
}

// PlainWalk is the random walk kernel without labels, in which edge weights count,
//
//	k(G, G') = Σ_{i=0..P} μ_i m_i(G) m_i(G'),   m_i(G) = 1ᵀA^i 1,   μ_i = λ^i or λ^i/i!,
//
// where A is the weighted adjacency matrix: the sum over pairs of walks of i steps of the
// products of the weights along both. P = 0 stands for walks of any length; then the
// geometric series needs λρ² < 1 for the largest eigenvalue ρ of every graph, and Fit and
// Cross return an error where that fails. With Damped such a graph has λ = 0.9/ρ² in its
// features. RandomWalk is the kernel with labels.
//
// The features of a graph are √μ_i m_i. Those of walks of any length end where a bound of
// what the rest adds to the kernel with any graph is under 2⁻⁵⁴ of its value. A feature takes
// O(m) time.
type PlainWalk struct {
	Series    Series  `json:"series" want:"one of geometric exponential" help:"Weights of walks of i steps: geometric, λ^i, or exponential, λ^i/i!."`
	Lambda    float64 `json:"lambda" want:"positive" help:"Weight of a step."`
	P         int     `json:"p" want:"0 to 1000" help:"Most steps; 0 for walks of any length."`
	Damped    bool    `json:"damped" help:"Use a smaller weight of a step for graphs whose series over walks of any length diverges. Without it such graphs are an error."`
	Normalize bool    `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultPlainWalk returns the normalised geometric kernel over walks of any length with
// λ = 0.01.
func DefaultPlainWalk() PlainWalk {
	return PlainWalk{Series: Geometric, Lambda: 0.01, Normalize: true}
}

// Name implements kernel.Kernel.
func (k PlainWalk) Name() string { return "rw-plain" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k PlainWalk) String() string  { return kernel.Text(k) }
func (k PlainWalk) Validate() error { return kernel.Check(k) }
func (k PlainWalk) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k PlainWalk) Decode(data []byte) (kernel.Map, error)        { return decode(k, data) }
func (k PlainWalk) Resolve([]*graph.Graph) (kernel.Kernel, error) { return k, nil }

// Converging returns k with Lambda = 0.9/ρ² if the series over walks of any length does not
// converge. ρ is the largest eigenvalue of the adjacency matrices of the graphs. ρ is exact for
// graphs of up to 512 vertices; above that it is the largest sum of a row.
func (k PlainWalk) Converging(graphs []*graph.Graph) PlainWalk {
	if k.Series != Geometric || k.P > 0 {
		return k
	}
	const exact = 512
	largest := 0.0
	for _, g := range graphs {
		bound := largestRowSum(g)
		if bound > largest && g.N() <= exact {
			a := mat.NewSymDense(g.N(), nil)
			for e := range g.Edges() {
				a.SetSym(e.U, e.V, e.Weight)
			}
			var eigen mat.EigenSym
			if eigen.Factorize(a, false) {
				bound = eigen.Values(nil)[g.N()-1]
			}
		}
		largest = max(largest, bound)
	}
	if k.Lambda*largest*largest >= 1 {
		k.Lambda = damping / (largest * largest)
	}
	return k
}

// Diverging returns the number of graphs for which the series over walks of any length may not
// converge.
func (k PlainWalk) Diverging(graphs []*graph.Graph) int {
	n := 0
	for _, g := range graphs {
		if sigma := eigenvalueBound(g); k.P == 0 && !(k.Lambda*sigma*sigma < k.Series.limit()) {
			n++
		}
	}
	return n
}

func (k PlainWalk) recipe() recipe {
	return recipe{labels: Unlabeled, normalize: k.Normalize, count: k.count}
}

// count gives a graph the features √μ_i m_i = √c_i m_i/σ^i, where σ bounds the largest
// eigenvalue, so that m_i/σ^i is at most the number of vertices, and c_i = (λσ²)^i or
// (λσ²)^i/i!.
func (k PlainWalk) count() countFunc {
	var x, z []float64
	return func(ctx context.Context, g *coloured, out *vector) error {
		sigma := eigenvalueBound(g.Graph)
		lambda, terms, err := k.terms(sigma)
		if err != nil || g.N() == 0 {
			return err
		}
		multiply := func(z, x []float64) error { // by A/σ
			for v := range z {
				if z[v] = rowSum(g.Graph, v, x); z[v] > 0 {
					z[v] /= sigma
				}
			}
			return ctx.Err()
		}
		c := 1.0
		return moments(terms, resized(&x, g.N()), resized(&z, g.N()), multiply, func(i int, m float64) {
			out.add(uint64(i), c*m)
			c *= sigma * math.Sqrt(lambda)
			if k.Series == Exponential {
				c /= math.Sqrt(float64(i + 1))
			}
		})
	}
}

// moments calls f with 1ᵀA^i 1 for i = 0 … n-1, where multiply sets z = Ax. x and z are buffers. With
// x_i = A^i 1 it is x_j·x_j for i = 2j and x_j·x_j+1 for i = 2j+1.
func moments(n int, x, z []float64, multiply func(z, x []float64) error, f func(i int, m float64)) error {
	for v := range x {
		x[v] = 1
	}
	for i := range n {
		if i%2 == 1 {
			f(i, dense.DotInOrder(x, z))
			x, z = z, x
			continue
		}
		f(i, dense.DotInOrder(x, x))
		if i+1 < n {
			if err := multiply(z, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxExponent bounds λσ² of the exponential series: e^maxExponent times the numbers of
// vertices stays finite.
const maxExponent = 600

// damping is the share of its limit that λ times the largest eigenvalue gets where it is too large.
const damping = 0.9

// terms returns λ and the number of features of a graph whose largest eigenvalue is at most σ. For
// walks of any length λσ² is under a limit L, 1 or maxExponent, for all graphs. A term of the
// kernel with any other graph is then at most q^i or q^i/i! of the first, with q² = λσ²L.
func (k PlainWalk) terms(sigma float64) (lambda float64, n int, err error) {
	if k.P > 0 {
		return k.Lambda, k.P + 1, nil
	}
	limit := k.Series.limit()
	switch {
	case k.Lambda*sigma*sigma < limit:
	case k.Damped:
		k.Lambda = damping * limit / (sigma * sigma)
	default:
		return 0, 0, fmt.Errorf("lambda = %g, want less than %.4g for an adjacency matrix with eigenvalues up to %.4g", k.Lambda, limit/(sigma*sigma), sigma)
	}
	return k.Lambda, k.Series.terms(math.Sqrt(k.Lambda*limit) * sigma), nil
}

// eigenvalueBound returns an upper bound of the largest eigenvalue ρ of the weighted
// adjacency matrix A of a graph, scaled by its largest row sum, so that weights far from 1 do no harm.
func eigenvalueBound(g *graph.Graph) float64 {
	if g.M() == 0 {
		return 0
	}
	scale := largestRowSum(g)
	bound, _ := collatz(make([]float64, g.N()), make([]float64, g.N()), func(y, x []float64) error {
		for v := range y {
			y[v] = rowSum(g, v, x) / scale
		}
		return nil
	})
	return bound * scale * (1 + 1e-12) // rounding in the sums
}

// collatz returns an upper bound of the largest eigenvalue ρ of a matrix A without negative
// entries, where multiply sets y = Ax. x and y are buffers. For every positive vector x (Collatz,
// Wielandt)
//
//	ρ + 1 ≤ max_v ((A + I) x)_v / x_v,
//
// with x = (A + I)^i 1, which makes the bound tighter with i.
func collatz(x, y []float64, multiply func(y, x []float64) error) (float64, error) {
	const steps = 60
	for v := range x {
		x[v] = 1
	}
	best := math.Inf(1)
	for range steps {
		if err := multiply(y, x); err != nil {
			return 0, err
		}
		bound, largest := 0.0, 0.0
		for v := range y {
			y[v] = x[v] + y[v]
			bound = max(bound, y[v]/x[v])
			largest = max(largest, y[v])
		}
		best = min(best, bound-1)
		for v := range y { // a vertex far below the largest stays positive
			y[v] = max(y[v]/largest, 1e-200)
		}
		x, y = y, x
	}
	return best, nil
}

func largestRowSum(g *graph.Graph) float64 {
	largest := 0.0
	for v := range g.N() {
		largest = max(largest, rowSum(g, v, nil))
	}
	return largest
}

// rowSum returns (A x)_v, or (A 1)_v without x.
func rowSum(g *graph.Graph, v int, x []float64) float64 {
	sum := 0.0
	w := g.Weights(v)
	for i, u := range g.Neighbors(v) {
		t := 1.0
		if w != nil {
			t = w[i]
		}
		if x != nil {
			t *= x[u]
		}
		sum += t
	}
	return sum
}
