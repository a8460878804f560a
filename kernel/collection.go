package kernel

import (
	"context"
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

// Standardization returns the means and deviations that standardise the collection's attributes. It
// computes them at the first call.
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
	made map[Form][]*graph.Graph
}

// prepare returns graphs to be compared with those of the collection.
func (c *Collection) prepare(graphs []*graph.Graph) *prepared {
	return &prepared{standard: c.Standardization, made: map[Form][]*graph.Graph{{}: graphs}}
}

// in returns the graphs in a form.
func (p *prepared) in(f Form) ([]*graph.Graph, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if graphs, ok := p.made[f]; ok {
		return graphs, nil
	}
	graphs := p.made[Form{}]
	if f.Standardize {
		s, err := p.standard()
		if err != nil {
			return nil, err
		}
		if graphs, err = s.Apply(graphs); err != nil {
			return nil, err
		}
	}
	each := func(change func(*graph.Graph) *graph.Graph) {
		graphs = slices.Clone(graphs)
		for i, g := range graphs {
			graphs[i] = change(g)
		}
	}
	if f.Incident {
		each((*graph.Graph).Incident)
	}
	if f.Subdivide {
		each((*graph.Graph).Subdivide)
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
	ctx = withShared(ctx, &shared{})
	for _, f := range s.Factors {
		if _, err := f.Fitted(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Gram returns the kernel matrix of the collection's graphs.
func (c *Collection) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	return c.Grams(nil, k).Gram(ctx, k)
}

// Grams gives the matrices of some kernels one by one. Shared work is done once, and kept as long
// as it is needed.
type Grams struct {
	In *Collection
	// Of has the graphs of the collection whose matrices they are, nil for all.
	Of []int

	mu     sync.Mutex
	shared shared
	n      int         // rows and columns
	wanted map[int]int // by node: how often Gram will still be asked for it
	evaluation
}

// Grams returns the matrices of kernels on some of the graphs, nil for all. Each kernel will be asked for
// once, or dropped. Kernels are fitted to all graphs.
func (c *Collection) Grams(of []int, kernels ...Kernel) *Grams {
	e, wanted := newExpression(), map[int]int{}
	for _, k := range kernels {
		wanted[e.add(Factor{Kernel: k})]++
	}
	return &Grams{In: c, Of: of, wanted: wanted, evaluation: e.evaluate(nil)}
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

// Gram returns the matrix of a kernel, which must not be changed. One that is not expected, or not
// again, is computed on its own.
func (g *Grams) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	node, ok := g.take(k)
	if !ok {
		return g.In.Grams(g.Of, k).Gram(ctx, k)
	}
	ctx = withShared(ctx, &g.shared)
	g.single = func(i int) ([]float64, error) {
		m, err := g.In.factor(g.nodes[i].Factor).gram(ctx, g.Of)
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
