package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// PlainWalk is the random walk kernel without labels, in which edge weights count,
//
//	k(G, G') = Σ_{i=0..P} μ_i m_i(G) m_i(G'),   m_i(G) = 1ᵀA^i 1,   μ_i = λ^i or λ^i/i!,
//
// where A is the weighted adjacency matrix: the sum over pairs of walks of i steps of the
// products of the weights along both. P = 0 stands for walks of any length; then the
// geometric series needs λρρ' < 1 for the largest eigenvalues ρ, ρ' of any two graphs, and
// Fit and Cross return an error where that fails. RandomWalk and InfiniteWalk are the
// kernels with labels.
//
// A graph takes O(m) time per step, a pair O(1) per step. The infinite series ends as that
// of InfiniteWalk does.
type PlainWalk struct {
	Series    Series
	Lambda    float64 // λ, positive
	P         int     // most steps, 0 for walks of any length
	Normalize bool
	Workers   int
}

// DefaultPlainWalk returns the normalised geometric kernel over walks of any length with
// λ = 0.01.
func DefaultPlainWalk() PlainWalk {
	return PlainWalk{Lambda: 0.01, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

// maxPlainSteps bounds P; with more steps counts leave float64.
const maxPlainSteps = 1000

// Validate names the first field with a bad value.
func (k PlainWalk) Validate() error {
	if k.Series < Geometric || k.Series > Exponential {
		return fmt.Errorf("plain walk: Series is %d, want Geometric or Exponential", k.Series)
	}
	if !(k.Lambda > 0) || math.IsInf(k.Lambda, 1) {
		return fmt.Errorf("plain walk: Lambda is %v, want a positive, finite number", k.Lambda)
	}
	if k.P < 0 || k.P > maxPlainSteps {
		return fmt.Errorf("plain walk: P is %d, want 0 (walks of any length) to %d", k.P, maxPlainSteps)
	}
	return validateWorkers("plain walk", k.Workers)
}

// String names the kernel and its parameters, as in "rw-plain geometric lambda=0.01 p=3".
func (k PlainWalk) String() string {
	name := "geometric"
	if k.Series == Exponential {
		name = "exponential"
	}
	s := fmt.Sprintf("rw-plain %s lambda=%g", name, k.Lambda)
	if k.P > 0 {
		s += fmt.Sprintf(" p=%d", k.P)
	}
	return s
}

// plainGraph is a graph with the bound σ of its largest eigenvalue by which its moments are
// scaled, and with its moments m_i/σ^i as far as they are needed.
type plainGraph struct {
	g       *graph.Graph
	sigma   float64
	moments []float64
}

type plainFitted struct {
	kernel PlainWalk
	graphs []plainGraph
	self   []float64
}

// Fit bounds the eigenvalues of the training graphs and checks that the series converges.
func (k PlainWalk) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	f := &plainFitted{kernel: k}
	var err error
	if f.graphs, f.self, err = k.prepare(ctx, graphs, 0); err != nil {
		return nil, fmt.Errorf("plain walk: %w", err)
	}
	return f, nil
}

// prepare returns the graphs with the moments that a comparison with any graph whose
// eigenvalue bound is up to sigma needs, and their self-similarities.
func (k PlainWalk) prepare(ctx context.Context, graphs []*graph.Graph, sigma float64) ([]plainGraph, []float64, error) {
	out := make([]plainGraph, len(graphs))
	self := make([]float64, len(graphs))
	err := parallel(ctx, k.Workers, len(graphs), 16, func(_, i int) error {
		out[i] = plainGraph{g: graphs[i], sigma: weightedBound(graphs[i])}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range out {
		s := out[i].sigma
		if err := k.converges(s, max(s, sigma)); err != nil {
			return nil, nil, graphError(i, err)
		}
	}
	largest := sigma
	for i := range out {
		largest = max(largest, out[i].sigma)
	}
	terms := k.P + 1
	if k.P == 0 {
		terms = k.terms(k.Lambda * (largest * largest))
	}
	err = parallel(ctx, k.Workers, len(graphs), 16, func(_, i int) error {
		if err := out[i].extend(ctx, terms); err != nil {
			return graphError(i, err)
		}
		if self[i] = k.value(&out[i], &out[i]); math.IsInf(self[i], 1) {
			return graphError(i, errors.New("the kernel of the graph with itself leaves float64; want a smaller Lambda or P"))
		}
		return nil
	})
	return out, self, err
}

func (k PlainWalk) converges(s, t float64) error {
	if k.P > 0 {
		return nil
	}
	return InfiniteWalk{Series: k.Series, Lambda: k.Lambda}.converges(s, t)
}

func (k PlainWalk) terms(r float64) int {
	return InfiniteWalk{Series: k.Series}.terms(r)
}

// weightedBound is walkGraph.eigenvalueBound for the weighted adjacency matrix. The matrix
// is first scaled by its largest row sum, so that weights far from 1 do no harm.
func weightedBound(g *graph.Graph) float64 {
	if g.M() == 0 {
		return 0
	}
	scale := 0.0
	for v := range g.N() {
		scale = max(scale, rowSum(g, v, nil))
	}
	const steps = 60
	x := make([]float64, g.N())
	y := make([]float64, g.N())
	for v := range x {
		x[v] = 1
	}
	best := math.Inf(1)
	for range steps {
		bound, largest := 0.0, 0.0
		for v := range y {
			y[v] = x[v] + rowSum(g, v, x)/scale
			bound = max(bound, y[v]/x[v])
			largest = max(largest, y[v])
		}
		best = min(best, bound-1)
		for v := range y {
			y[v] = max(y[v]/largest, 1e-200)
		}
		x, y = y, x
	}
	return best * scale * (1 + 1e-12)
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

// extend computes the moments up to the given number of terms.
func (p *plainGraph) extend(ctx context.Context, terms int) error {
	x := make([]float64, p.g.N())
	z := make([]float64, p.g.N())
	for v := range x {
		x[v] = 1
	}
	p.moments = p.moments[:0]
	for len(p.moments) < terms {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.moments = append(p.moments, dot(x, x))
		for v := range z {
			s := rowSum(p.g, v, x)
			if s > 0 {
				s /= p.sigma
			}
			z[v] = s
		}
		p.moments = append(p.moments, dot(x, z))
		x, z = z, x
	}
	return nil
}

// value returns the kernel of two graphs whose moments are known.
func (k PlainWalk) value(a, b *plainGraph) float64 {
	s := series{kind: k.Series, r: k.Lambda * (a.sigma * b.sigma), factor: 1}
	last := len(a.moments) - 1
	if k.P > 0 {
		last = k.P
	}
	for i := 0; i <= last; i++ {
		if more := s.add(i, a.moments[i]*b.moments[i]); !more && k.P == 0 {
			break
		}
	}
	return s.sum
}

// Gram returns the kernel matrix of the training graphs.
func (f *plainFitted) Gram(ctx context.Context) (*mlg.Matrix, error) {
	m := mlg.NewMatrix(len(f.graphs), len(f.graphs))
	err := pairGram(ctx, f.kernel.Workers, m, always, func(_, i, j int) (float64, error) {
		return f.kernel.value(&f.graphs[i], &f.graphs[j]), nil
	})
	if err != nil {
		return nil, err
	}
	if f.kernel.Normalize {
		normalizeAll(m, f.self, f.self)
	}
	return m, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *plainFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	k := f.kernel
	fail := func(err error) (*mlg.Matrix, error) { return nil, fmt.Errorf("plain walk: %w", err) }
	sigma := 0.0
	for i := range f.graphs {
		sigma = max(sigma, f.graphs[i].sigma)
	}
	rows, self, err := k.prepare(ctx, graphs, sigma)
	if err != nil {
		return fail(err)
	}
	cols := f.graphs
	if terms := lengthOf(rows); terms > lengthOf(cols) { // a new graph needs more terms
		cols = make([]plainGraph, len(f.graphs))
		err := parallel(ctx, k.Workers, len(cols), 16, func(_, i int) error {
			cols[i] = plainGraph{g: f.graphs[i].g, sigma: f.graphs[i].sigma}
			return cols[i].extend(ctx, terms)
		})
		if err != nil {
			return fail(err)
		}
	}
	m := mlg.NewMatrix(len(rows), len(cols))
	err = pairCross(ctx, k.Workers, m, always, func(_, i, j int) (float64, error) {
		return k.value(&rows[i], &cols[j]), nil
	})
	if err != nil {
		return fail(err)
	}
	if k.Normalize {
		normalizeAll(m, self, f.self)
	}
	return m, nil
}

func lengthOf(gs []plainGraph) int {
	if len(gs) == 0 {
		return 0
	}
	return len(gs[0].moments)
}
