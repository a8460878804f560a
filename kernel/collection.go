package kernel

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/work"
)

// Collection is graphs with the kernels that are fitted to them, each distinct factor once:
// factors are the same where their texts are. Its methods may be called concurrently.
type Collection struct {
	graphs []*graph.Graph // nil where only new ones are asked about

	training *prepared // the same graphs
	from     *origin   // where kernels are fitted, nil for here

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
	if c.from != nil {
		return c.from.in.Standardization()
	}
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
	changed := map[*graph.Graph]*graph.Graph{} // where rows share parts, each once
	if f.Of != "" {
		var err error
		if graphs, err = partsOf(graphs, f.Of); err != nil {
			return nil, err
		}
	}
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
		clear(changed)
		for i, g := range graphs {
			if f.Of == "" {
				graphs[i] = change(g)
				continue
			}
			if changed[g] == nil {
				changed[g] = change(g)
			}
			graphs[i] = changed[g]
		}
	}
	if f.Undirected {
		each((*graph.Graph).Undirected)
	}
	if f.Stereo {
		each(chem.Stereo())
	}
	if f.Incident {
		each((*graph.Graph).Incident)
	}
	switch {
	case f.Directed:
		each((*graph.Graph).SubdivideArcs)
	case f.Subdivide:
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
	all, err := c.Joint(k)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Joint returns several kernels as sums over one list of factors, those that any of them has. So the features
// of graphs under one are those under all of them, and a sum computes the values of its own factors alone.
func (c *Collection) Joint(kernels ...Kernel) ([]*FittedSum, error) {
	out := make([]*FittedSum, len(kernels))
	for i, k := range kernels {
		if err := k.Validate(); err != nil {
			return nil, err
		}
		sum, err := SumOf(k).Expand(c.graphs)
		if err == nil {
			err = sum.Validate() // products of weights may be 0 or infinite
		}
		if err != nil {
			return nil, err
		}
		out[i] = &FittedSum{Asked: k, Sum: sum, In: c}
	}
	c.join(out)
	return out, nil
}

// Alone returns several kernels as Joint does, over a collection in which nothing else is fitted. They are fitted
// where they were not.
func (c *Collection) Alone(ctx context.Context, kernels ...Kernel) ([]*FittedSum, error) {
	if _, err := c.FitAll(ctx, kernels...); err != nil {
		return nil, err
	}
	alone := NewCollection(c.graphs)
	c.mu.Lock()
	alone.standard = c.standard
	c.mu.Unlock()
	out, err := alone.Joint(kernels...)
	if err != nil {
		return nil, err
	}
	for _, f := range out[0].Factors {
		f.fitted = c.factor(f.Factor).Known()
	}
	return out, nil
}

// Fit is Sum with every kernel fitted now.
func (c *Collection) Fit(ctx context.Context, k Kernel) (*FittedSum, error) {
	all, err := c.FitAll(ctx, k)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// FitAll is Fit for several kernels, which share what they find out about the graphs.
func (c *Collection) FitAll(ctx context.Context, kernels ...Kernel) ([]*FittedSum, error) {
	out := make([]*FittedSum, len(kernels))
	factors := 0
	for i, k := range kernels {
		var err error
		if out[i], err = c.Sum(k); err != nil {
			return nil, err
		}
		factors += len(out[i].Factors)
	}
	inner, outer := withShared(ctx, &shared{}), work.Quiet(ctx) // the stages of one kernel tell how far it has come
	if len(kernels) > 1 {
		inner, outer = work.Quiet(inner), ctx
	}
	at := 0
	for _, sum := range out {
		for _, f := range sum.Factors {
			at++
			work.NewMeter(outer, fmt.Sprintf("kernel %d/%d", at, factors), 0) // one may take much longer than another
			if _, err := f.Fitted(inner); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Distinct returns the number of distinct factors of kernels.
func Distinct(kernels ...Kernel) int {
	c := NewCollection(nil)
	for _, k := range kernels {
		c.Sum(k) // fitting it says what is wrong
	}
	return len(c.factors)
}

// Gram returns the kernel matrix of the collection's graphs.
func (c *Collection) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	s, err := c.Fit(ctx, k)
	if err != nil {
		return nil, err
	}
	return s.Gram(ctx)
}

// Derived returns a collection of graphs with the kernels that are fitted to those of c. Its graphs are
// those of c and then more, or of these the ones at some positions, nil for all. With keep, or where a
// map is Whole, the matrix of a factor is computed once, and kept. Sums and products, and parts of all of them, then
// are made of these. The graphs of such a collection can be compared with each other alone.
func (c *Collection) Derived(more []*graph.Graph, at []int, keep bool) *Collection {
	out := NewCollection(slices.Concat(c.graphs, more))
	if at != nil {
		some := make([]*graph.Graph, len(at))
		for k, i := range at {
			some[k] = out.graphs[i]
		}
		out = NewCollection(some)
	}
	out.from = &origin{c, c.prepare(more), at, keep}
	return out
}

// origin is the collection to which the kernels of another are fitted.
type origin struct {
	in   *Collection
	more *prepared // graphs that are not among those of in
	at   []int     // the graphs of the other collection, by their positions; nil for all
	keep bool
}

// fitted returns a factor as it was fitted, with the features of the graphs of the other collection.
func (o *origin) fitted(ctx context.Context, f Factor) (*Fitted, error) {
	base, err := o.in.factor(f).Fitted(ctx)
	if err != nil {
		return nil, err
	}
	out := *base
	graphs, err := o.more.in(f.Form)
	if err != nil {
		return nil, err
	}
	if len(graphs) > 0 {
		more, err := base.Transform(ctx, graphs)
		if err != nil {
			return nil, err
		}
		out.Train = base.Join(base.Train, more)
	}
	if o.at != nil {
		out.Train = out.Train.Select(o.at)
	}
	if _, whole := base.Map.(Whole); !o.keep && !whole {
		return &out, nil
	}
	gram, err := out.Gram(ctx)
	if err != nil {
		return nil, err
	}
	return Precomputed{f.Kernel, gram}.Fit(ctx, nil)
}
