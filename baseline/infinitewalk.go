package baseline

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Series says how an InfiniteWalk weighs walks of i steps.
type Series int

const (
	Geometric   Series = iota // λ^i
	Exponential               // λ^i / i!
)

// InfiniteWalk is the random walk kernel over walks of any length,
//
//	k(G, G') = Σ_{i≥0} λ^i 1ᵀA×^i 1 = 1ᵀ(I − λA×)⁻¹1        (Geometric)
//	k(G, G') = Σ_{i≥0} λ^i/i! 1ᵀA×^i 1 = 1ᵀexp(λA×)1        (Exponential)
//
// where A× is the adjacency matrix of the direct product of G and G' on the pairs of
// vertices with equal labels. Weights play no part. Without labels (Unlabeled)
// 1ᵀA×^i 1 is the product of the numbers of walks of i steps of the two graphs.
//
// All terms are positive. The series ends when a bound of the rest, from upper bounds σ of
// the largest eigenvalues of the two adjacency matrices, is under 2⁻⁵⁴ of the sum. The
// geometric series needs λσσ' < 1; where that fails for two graphs, Fit and Cross return an
// error. A pair takes O(1) time per term without labels, after O(m) per term and graph,
// and otherwise O(n n' + m n' + n m') per two terms at most.
type InfiniteWalk struct {
	Series    Series
	Lambda    float64 // λ, positive
	Labels    Source  // Attributes is not possible
	Normalize bool
	Workers   int
}

// DefaultInfiniteWalk returns the normalised geometric kernel with λ = 0.01.
func DefaultInfiniteWalk() InfiniteWalk {
	return InfiniteWalk{Lambda: 0.01, Normalize: true, Workers: runtime.GOMAXPROCS(0)}
}

func (k InfiniteWalk) name() string {
	if k.Series == Exponential {
		return "exponential walk"
	}
	return "geometric walk"
}

// Validate names the first field with a bad value.
func (k InfiniteWalk) Validate() error {
	if k.Series != Geometric && k.Series != Exponential {
		return fmt.Errorf("infinite walk: Series is %d, want Geometric or Exponential", k.Series)
	}
	if !(k.Lambda > 0) || math.IsInf(k.Lambda, 1) {
		return fmt.Errorf("%s: Lambda is %v, want a positive, finite number", k.name(), k.Lambda)
	}
	if err := k.Labels.validate(k.name(), false); err != nil {
		return err
	}
	return validateWorkers(k.name(), k.Workers)
}

// String names the kernel and its parameters, as in "rw-geometric lambda=0.01".
func (k InfiniteWalk) String() string {
	s := "rw-geometric"
	if k.Series == Exponential {
		s = "rw-exponential"
	}
	return fmt.Sprintf("%s lambda=%g%s", s, k.Lambda, k.Labels.suffix())
}

// infiniteFitted is a fitted InfiniteWalk.
type infiniteFitted struct {
	kernel  InfiniteWalk
	source  Source
	labels  labelDict
	graphs  []*walkGraph
	sigma   []float64 // upper bounds of the largest eigenvalues
	self    []float64
	largest int // graph with the largest of sigma, -1 without graphs
}

// Fit prepares the training graphs and checks that the series converges for all pairs.
func (k InfiniteWalk) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	fail := func(err error) (mlg.Fitted, error) { return nil, fmt.Errorf("%s: %w", k.name(), err) }
	source, err := k.Labels.resolve(graphs)
	if err != nil {
		return fail(err)
	}
	f := &infiniteFitted{kernel: k, source: source, labels: labelDict{}, largest: -1}
	label := f.labels.fit(source, graphs)
	f.graphs, f.sigma, err = k.prepare(ctx, graphs, func(i int) []uint32 { return label[i] })
	if err != nil {
		return fail(err)
	}
	for i, s := range f.sigma {
		if f.largest < 0 || s > f.sigma[f.largest] {
			f.largest = i
		}
	}
	if f.largest >= 0 {
		if err := k.converges(f.sigma[f.largest], f.sigma[f.largest]); err != nil {
			return fail(graphError(f.largest, err))
		}
	}
	if f.self, err = f.selfSimilarities(ctx, f.graphs, f.sigma); err != nil {
		return fail(err)
	}
	return f, nil
}

// prepare sorts the vertices of all graphs by label and bounds their eigenvalues.
func (k InfiniteWalk) prepare(ctx context.Context, graphs []*graph.Graph, label func(i int) []uint32) ([]*walkGraph, []float64, error) {
	out := make([]*walkGraph, len(graphs))
	sigma := make([]float64, len(graphs))
	err := parallel(ctx, k.Workers, len(graphs), 16, func(_, i int) error {
		out[i] = newWalkGraph(graphs[i], label(i))
		sigma[i] = out[i].eigenvalueBound()
		return nil
	})
	return out, sigma, err
}

// maxExponent bounds λσσ' of the exponential series: e^maxExponent times the numbers of
// vertices stays finite.
const maxExponent = 600

func (k InfiniteWalk) converges(s, t float64) error {
	limit := 1.0
	if k.Series == Exponential {
		limit = maxExponent
	}
	if !(k.Lambda*s*t < limit) {
		return fmt.Errorf("the series needs a Lambda under %.4g for adjacency matrices with eigenvalues of up to %.4g and %.4g, it is %g", limit/(s*t), s, t, k.Lambda)
	}
	return nil
}

// series is the state of a sum Σ_i c_i value_i with c_i = r^i or r^i/i!, for values of
// the form 1ᵀB^i 1 with a symmetric B of norm at most 1.
type series struct {
	kind   Series
	r      float64
	sum    float64
	factor float64 // c of the next term
}

// add adds the term of i steps and reports whether more are needed. For even i and all j,
// value_{i+j} ≤ value_i, which bounds the rest by a geometric series.
func (s *series) add(i int, value float64) bool {
	s.sum += float64(s.factor * value)
	if i%2 == 0 {
		q := s.r
		if s.kind == Exponential {
			q /= float64(i + 1)
		}
		if q < 1 && s.factor*value*q/(1-q) <= s.sum*0x1p-54 {
			return false
		}
	}
	s.factor *= s.r
	if s.kind == Exponential {
		s.factor /= float64(i + 1)
	}
	return true
}

// terms returns a number of terms that is enough for all sums with r or less.
func (k InfiniteWalk) terms(r float64) int {
	s := series{kind: k.Series, r: r, factor: 1}
	i := 0
	for ; i == 0 || s.rest(i) > 0x1p-54; i++ {
		s.factor *= r
		if k.Series == Exponential {
			s.factor /= float64(i + 1)
		}
	}
	return i + 3
}

// rest bounds the sum of the terms after i, relative to the first term.
func (s *series) rest(i int) float64 {
	q := s.r
	if s.kind == Exponential {
		q /= float64(i + 1)
	}
	if q >= 1 {
		return math.Inf(1)
	}
	return s.factor * q / (1 - q)
}

// moments returns 1ᵀ(A/σ)^i 1 for i < terms.
func (w *walkGraph) moments(ctx context.Context, sigma float64, terms int) ([]float64, error) {
	x := make([]float64, w.n())
	z := make([]float64, w.n())
	for v := range x {
		x[v] = 1
	}
	var out []float64
	for len(out) < terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, dot(x, x))
		for v := range z {
			s := 0.0
			for _, u := range w.neighbors(v) {
				s += x[u]
			}
			if s > 0 {
				s /= sigma
			}
			z[v] = s
		}
		out = append(out, dot(x, z))
		x, z = z, x
	}
	return out, nil
}

// selfSimilarities returns k(G, G) for all graphs.
func (f *infiniteFitted) selfSimilarities(ctx context.Context, graphs []*walkGraph, sigma []float64) ([]float64, error) {
	k := f.kernel
	out := make([]float64, len(graphs))
	p := make([]product, k.Workers)
	err := parallel(ctx, k.Workers, len(graphs), 1, func(w, i int) error {
		g, s := graphs[i], sigma[i]
		var err error
		if f.source == Unlabeled {
			var m []float64
			if m, err = g.moments(ctx, s, k.terms(k.Lambda*s*s)); err == nil {
				out[i] = k.sumMoments(m, m, s, s)
			}
		} else {
			out[i], err = k.sumProduct(ctx, &p[w], g, g, s, s)
		}
		return graphError(i, err)
	})
	return out, err
}

// sumMoments returns the kernel of two graphs without labels, given their moments.
func (k InfiniteWalk) sumMoments(a, b []float64, s, t float64) float64 {
	sum := series{kind: k.Series, r: k.Lambda * (s * t), factor: 1}
	for i := 0; sum.add(i, a[i]*b[i]); i++ {
	}
	return sum.sum
}

// sumProduct returns the kernel of two graphs with labels.
func (k InfiniteWalk) sumProduct(ctx context.Context, p *product, a, b *walkGraph, s, t float64) (float64, error) {
	scale := s * t
	if scale == 0 { // one of them has no edge
		scale = 1
	}
	sum := series{kind: k.Series, r: k.Lambda * (s * t), factor: 1}
	err := p.walks(ctx, a, b, scale, sum.add)
	return sum.sum, err
}

// values returns the function that gives the kernel of row i and column j.
func (f *infiniteFitted) values(ctx context.Context, rows []*walkGraph, rowSigma []float64) (func(w, i, j int) (float64, error), error) {
	k := f.kernel
	if f.source != Unlabeled {
		p := make([]product, k.Workers)
		return func(w, i, j int) (float64, error) {
			return k.sumProduct(ctx, &p[w], rows[i], f.graphs[j], rowSigma[i], f.sigma[j])
		}, nil
	}
	largest := 0.0
	for _, s := range rowSigma {
		largest = max(largest, s)
	}
	terms := 1
	if f.largest >= 0 {
		terms = k.terms(k.Lambda * (largest * f.sigma[f.largest]))
	}
	all := func(graphs []*walkGraph, sigma []float64) ([][]float64, error) {
		out := make([][]float64, len(graphs))
		err := parallel(ctx, k.Workers, len(graphs), 16, func(_, i int) error {
			var err error
			out[i], err = graphs[i].moments(ctx, sigma[i], terms)
			return err
		})
		return out, err
	}
	a, err := all(rows, rowSigma)
	if err != nil {
		return nil, err
	}
	b, err := all(f.graphs, f.sigma)
	return func(_, i, j int) (float64, error) {
		return k.sumMoments(a[i], b[j], rowSigma[i], f.sigma[j]), nil
	}, err
}

func always(_, _ int) bool { return true }

// Gram returns the kernel matrix of the training graphs.
func (f *infiniteFitted) Gram(ctx context.Context) (*mlg.Matrix, error) {
	m := mlg.NewMatrix(len(f.graphs), len(f.graphs))
	value, err := f.values(ctx, f.graphs, f.sigma)
	if err != nil {
		return nil, err
	}
	if err := pairGram(ctx, f.kernel.Workers, m, always, value); err != nil {
		return nil, err
	}
	if f.kernel.Normalize {
		normalizeAll(m, f.self, f.self)
	}
	return m, nil
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *infiniteFitted) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	k := f.kernel
	fail := func(err error) (*mlg.Matrix, error) { return nil, fmt.Errorf("%s: %w", k.name(), err) }
	source, err := resolveNew(k.Labels, f.source, graphs)
	if err != nil {
		return fail(err)
	}
	rows, sigma, err := k.prepare(ctx, graphs, func(i int) []uint32 { return f.labels.of(source, graphs[i]) })
	if err != nil {
		return fail(err)
	}
	for i, s := range sigma {
		err := k.converges(s, s)
		if err == nil && f.largest >= 0 {
			err = k.converges(s, f.sigma[f.largest])
		}
		if err != nil {
			return fail(graphError(i, err))
		}
	}
	self, err := f.selfSimilarities(ctx, rows, sigma)
	if err != nil {
		return fail(err)
	}
	m := mlg.NewMatrix(len(rows), len(f.graphs))
	value, err := f.values(ctx, rows, sigma)
	if err != nil {
		return fail(err)
	}
	if err := pairCross(ctx, k.Workers, m, always, value); err != nil {
		return fail(err)
	}
	if k.Normalize {
		normalizeAll(m, self, f.self)
	}
	return m, nil
}
