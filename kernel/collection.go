package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

// Collection is graphs with the kernels that are fitted to them, each distinct factor once:
// factors are the same where their texts are. Its methods may be called concurrently.
type Collection struct {
	graphs []*graph.Graph // nil where only new ones are asked about

	training *prepared // the same graphs

	mu       sync.Mutex
	standard *Standardization
	factors  map[string]*FittedFactor
}

// NewCollection returns a collection of graphs to which nothing is fitted.
func NewCollection(graphs []*graph.Graph) *Collection {
	c := &Collection{graphs: graphs, factors: map[string]*FittedFactor{}}
	c.training = c.prepare(graphs)
	return c
}

// Standardization returns what the collection's attributes are standardised with, measured when
// it is first asked for.
func (c *Collection) Standardization() (*Standardization, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.standard == nil {
		var err error
		if c.standard, err = Standardize(c.graphs); err != nil {
			return nil, err
		}
	}
	return c.standard, nil
}

// Adopt takes a standardisation that was measured before, as a file has it.
func (c *Collection) Adopt(s *Standardization) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.standard = s
}

// prepared is graphs in the forms that kernels want, each made when it is first needed.
type prepared struct {
	standard func() (*Standardization, error)

	mu   sync.Mutex
	made map[form][]*graph.Graph
}

// form is what is done to graphs before a kernel sees them.
type form struct{ standardize, subdivide bool }

// prepare returns graphs to be compared with those of the collection.
func (c *Collection) prepare(graphs []*graph.Graph) *prepared {
	return &prepared{standard: c.Standardization, made: map[form][]*graph.Graph{{}: graphs}}
}

// in returns the graphs in a form.
func (p *prepared) in(f form) ([]*graph.Graph, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if graphs, ok := p.made[f]; ok {
		return graphs, nil
	}
	graphs := p.made[form{}]
	if f.standardize {
		s, err := p.standard()
		if err != nil {
			return nil, err
		}
		if graphs, err = s.Apply(graphs); err != nil {
			return nil, err
		}
	}
	if f.subdivide {
		graphs = slices.Clone(graphs)
		for i, g := range graphs {
			graphs[i] = g.Subdivide()
		}
	}
	p.made[f] = graphs
	return graphs, nil
}

// factor returns the entry of a factor.
func (c *Collection) factor(f Factor) *FittedFactor {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := f.String()
	if c.factors[key] == nil {
		c.factors[key] = &FittedFactor{Factor: f, in: c}
	}
	return c.factors[key]
}

// Sum returns a kernel as a sum over the collection. Kernels are fitted when they are first
// needed.
func (c *Collection) Sum(k Kernel) (*FittedSum, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	sum, err := SumOf(k).Expand()
	if err == nil {
		err = sum.Validate() // products of weights may be 0 or infinite
	}
	if err != nil {
		return nil, err
	}
	s := &FittedSum{Sum: sum, In: c, expression: newExpression()}
	s.terms = s.addTerms(sum)
	for _, n := range s.nodes {
		s.Factors = append(s.Factors, c.factor(n.Factor))
	}
	return s, nil
}

// Fit is Sum with every kernel fitted now.
func (c *Collection) Fit(ctx context.Context, k Kernel) (*FittedSum, error) {
	s, err := c.Sum(k)
	if err != nil {
		return nil, err
	}
	for _, f := range s.Factors {
		if _, err := f.Fitted(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Gram returns the kernel matrix of the collection's graphs.
func (c *Collection) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	return c.Grams(k).Gram(ctx, k)
}

// Grams are the kernel matrices of some kernels, to be asked for one by one. What they have in
// common is computed once, and kept as long as it is needed.
type Grams struct {
	In *Collection

	mu     sync.Mutex
	n      int         // rows and columns
	wanted map[int]int // by node: how often Gram will still be asked for it
	evaluation
}

// Grams returns the matrices of kernels, each of which will be asked for once, or dropped.
func (c *Collection) Grams(kernels ...Kernel) *Grams {
	e, wanted := newExpression(), map[int]int{}
	for _, k := range kernels {
		wanted[e.add(Factor{Kernel: k})]++
	}
	return &Grams{In: c, wanted: wanted, evaluation: e.evaluate(nil)}
}

// take returns the node of a kernel that is still wanted, once less.
func (g *Grams) take(k Kernel) (node int, ok bool) {
	node, ok = g.at[Factor{Kernel: k}.simple().String()]
	if !ok || g.wanted[node] == 0 {
		return 0, false
	}
	g.wanted[node]--
	return node, true
}

// Gram returns the kernel matrix of the collection's graphs, which must not be changed. One that is
// not expected, or not again, is computed on its own.
func (g *Grams) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	node, ok := g.take(k)
	if !ok {
		return g.In.Gram(ctx, k)
	}
	g.single = func(i int) ([]float64, error) {
		m, err := g.In.factor(g.nodes[i].Factor).Gram(ctx)
		if err == nil && g.nodes[i].part {
			err = unitDiagonal(m, g.nodes[i].Factor)
		}
		if err != nil {
			return nil, err
		}
		g.n = m.Rows
		return m.Data, nil
	}
	values, err := g.value(ctx, node)
	if err != nil {
		return nil, err
	}
	return &Matrix{g.n, g.n, values}, nil
}

// Drop says that a kernel will not be asked for.
func (g *Grams) Drop(k Kernel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if node, ok := g.take(k); ok {
		g.drop(node)
	}
}

// FittedFactor is a factor in a collection.
type FittedFactor struct {
	Factor
	in *Collection

	mu     sync.Mutex
	fitted Fitted
}

// Fitted returns the kernel fitted to the collection's graphs, which is done once.
func (f *FittedFactor) Fitted(ctx context.Context) (Fitted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fitted != nil {
		return f.fitted, nil
	}
	if f.in.graphs == nil {
		return nil, fmt.Errorf("%s: there are no graphs to fit it to", f)
	}
	graphs, err := f.in.training.in(f.form())
	if err != nil {
		return nil, err
	}
	fitted, err := f.Kernel.Fit(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	f.fitted = fitted
	return fitted, nil
}

// Adopt takes a kernel that was fitted before, as a file has it.
func (f *FittedFactor) Adopt(fitted Fitted) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fitted = fitted
}

// Known returns what Fitted returned before, nil if nothing is fitted yet.
func (f *FittedFactor) Known() Fitted {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fitted
}

func (f *FittedFactor) form() form { return form{f.Standardize, f.Subdivide} }

// Prepare returns graphs as the factor's kernel wants them.
func (f *FittedFactor) Prepare(graphs []*graph.Graph) ([]*graph.Graph, error) {
	return f.in.prepare(graphs).in(f.form())
}

// Gram returns the kernel matrix of the collection's graphs.
func (f *FittedFactor) Gram(ctx context.Context) (*Matrix, error) {
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	return fitted.Gram(ctx)
}

// Cross returns the kernel matrix between graphs (rows) and those of the collection.
func (f *FittedFactor) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	return f.cross(ctx, f.in.prepare(graphs))
}

func (f *FittedFactor) cross(ctx context.Context, p *prepared) (*Matrix, error) {
	graphs, err := p.in(f.form())
	if err != nil {
		return nil, err
	}
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	return fitted.Cross(ctx, graphs)
}

// Resolved returns the factor's kernel with what the collection's graphs decide; see Resolver.
func (f *FittedFactor) Resolved() (Kernel, error) {
	r, ok := f.Kernel.(Resolver)
	if !ok || f.in.graphs == nil {
		return f.Kernel, nil
	}
	graphs, err := f.in.training.in(f.form())
	if err != nil {
		return nil, err
	}
	k, err := r.Resolve(graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return k, nil
}

// Compare returns the kernel of two graphs, neither of which need be of the collection, as it is
// fitted to the collection. A Resolver, and a kernel that cannot compare new graphs, sees the two alone.
func (f *FittedFactor) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	two, err := f.Prepare([]*graph.Graph{g, h})
	if err != nil {
		return 0, err
	}
	if _, ok := f.Kernel.(Resolver); !ok {
		fitted, err := f.Fitted(ctx)
		if err != nil {
			return 0, err
		}
		if c, ok := fitted.(Comparer); ok {
			return c.Compare(ctx, two[0], two[1])
		}
	}
	k, err := f.Resolved()
	if err != nil {
		return 0, err
	}
	fitted, err := k.Fit(ctx, two)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f, err)
	}
	m, err := fitted.Gram(ctx)
	if err != nil {
		return 0, err
	}
	return m.At(0, 1), nil
}

// FittedSum is a sum over a collection.
type FittedSum struct {
	Sum     Sum             // written out
	Factors []*FittedFactor // the distinct ones, which are the nodes of the expression
	In      *Collection

	expression
	terms []term
}

// Gram implements Fitted.
func (s *FittedSum) Gram(ctx context.Context) (*Matrix, error) {
	return s.matrix(ctx, func(f *FittedFactor) (*Matrix, error) {
		m, err := f.Gram(ctx)
		if err == nil && !s.Sum.single() {
			err = unitDiagonal(m, f.Factor)
		}
		return m, err
	})
}

// unitDiagonal returns an error unless a Gram matrix has ones on its diagonal. Normalised kernels of
// this module have them exactly; the tolerance admits others that round.
func unitDiagonal(m *Matrix, of Factor) error {
	for i := range m.Rows {
		if !(math.Abs(m.At(i, i)-1) <= normalTolerance) {
			return fmt.Errorf("%s: the kernel of graph %d with itself is %v: only normalised kernels can be combined", of, i, m.At(i, i))
		}
	}
	return nil
}

// Cross implements Fitted.
func (s *FittedSum) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	p := s.In.prepare(graphs)
	return s.matrix(ctx, func(f *FittedFactor) (*Matrix, error) { return f.cross(ctx, p) })
}

// matrix combines the matrices of the factors.
func (s *FittedSum) matrix(ctx context.Context, of func(f *FittedFactor) (*Matrix, error)) (*Matrix, error) {
	var out Matrix
	var err error
	out.Data, err = s.Combine(ctx, nil, func(i int) ([]float64, error) {
		m, err := of(s.Factors[i])
		if err != nil {
			return nil, err
		}
		out.Rows, out.Cols = m.Rows, m.Cols
		return m.Data, nil
	})
	return &out, err
}

// Compare implements Comparer.
func (s *FittedSum) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	k := make([]float64, 1)
	_, err := s.Combine(ctx, k, func(i int) ([]float64, error) {
		v, err := s.Factors[i].Compare(ctx, g, h)
		return []float64{v}, err
	})
	return k[0], err
}

// Combine computes Σ_t weight_t · Π_j values_tj entry by entry. values returns those of a
// factor, by its position in Factors; it is called once for each, when they are first needed,
// and they are let go after their last use. The result goes to dst, or, where that is nil, to a
// new slice.
func (s *FittedSum) Combine(ctx context.Context, dst []float64, values func(factor int) ([]float64, error)) ([]float64, error) {
	e := s.evaluate(values)
	return e.sum(ctx, s.terms, dst)
}

// Positions returns the factors of a term, by their positions in Factors.
func (s *FittedSum) Positions(term int) []int { return s.terms[term].nodes }

// Self returns the kernel of a graph with itself, the sum of the weights, if all factors are
// normalised.
func (s *FittedSum) Self() float64 {
	sum := 0.0
	for _, t := range s.Sum.Terms {
		sum += t.Weight
	}
	return sum
}

// Alone returns the sum over a collection in which nothing else is fitted.
func (s *FittedSum) Alone() (*FittedSum, error) {
	c := NewCollection(s.In.graphs)
	s.In.mu.Lock()
	c.standard = s.In.standard
	s.In.mu.Unlock()
	out, err := c.Sum(s.Sum)
	if err != nil {
		return nil, err
	}
	for i, f := range out.Factors {
		f.fitted = s.Factors[i].Known()
	}
	return out, nil
}
