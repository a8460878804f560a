package kernel

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

// Collection is graphs with the kernels that are fitted to them, each distinct factor once:
// factors are the same where their texts are. Its methods may be called concurrently.
type Collection struct {
	graphs []*graph.Graph

	mu       sync.Mutex
	standard *Standardization
	prepared map[form][]*graph.Graph
	factors  map[string]*FittedFactor
	grams    map[string]*Matrix // kept for those who expect them
	expected map[string]int     // by text: how often Gram will still be asked for it
}

// form is what is done to graphs before a kernel sees them.
type form struct{ standardize, subdivide bool }

// NewCollection returns a collection of graphs to which nothing is fitted.
func NewCollection(graphs []*graph.Graph) *Collection {
	return &Collection{graphs: graphs, prepared: map[form][]*graph.Graph{{}: graphs}, factors: map[string]*FittedFactor{},
		grams: map[string]*Matrix{}, expected: map[string]int{}}
}

// Graphs returns the graphs, which may be nil where only new ones are asked about.
func (c *Collection) Graphs() []*graph.Graph { return c.graphs }

// Standardization returns what the collection's attributes are standardised with, measured when
// it is first asked for.
func (c *Collection) Standardization() (*Standardization, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.standardization()
}

func (c *Collection) standardization() (*Standardization, error) {
	if c.standard == nil {
		var err error
		if c.standard, err = Standardize(c.graphs); err != nil {
			return nil, err
		}
	}
	return c.standard, nil
}

// prepare brings graphs into a form.
func (c *Collection) prepare(f form, graphs []*graph.Graph) ([]*graph.Graph, error) {
	if f.standardize {
		s, err := c.Standardization()
		if err != nil {
			return nil, err
		}
		if graphs, err = s.Apply(graphs); err != nil {
			return nil, err
		}
	}
	if !f.subdivide {
		return graphs, nil
	}
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		out[i] = g.Subdivide()
	}
	return out, nil
}

// training returns the collection's graphs in a form, made once.
func (c *Collection) training(f form) ([]*graph.Graph, error) {
	c.mu.Lock()
	graphs, ok := c.prepared[f]
	c.mu.Unlock()
	if ok {
		return graphs, nil
	}
	graphs, err := c.prepare(f, c.graphs)
	if err == nil {
		c.mu.Lock()
		c.prepared[f] = graphs
		c.mu.Unlock()
	}
	return graphs, err
}

// Adopt takes what was fitted before, as a file has it: the standardisation, which may be nil,
// and kernels.
func (c *Collection) Adopt(s *Standardization, factors []Factor, fitted []Fitted) {
	c.standard = s
	for i, f := range factors {
		c.factor(f).fitted = fitted[i]
	}
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
	s := &FittedSum{Sum: sum, In: c}
	at := map[string]int{}
	for _, t := range sum.Terms {
		var factors []int
		for _, f := range t.Factors {
			key := f.String()
			i, ok := at[key]
			if !ok {
				i = len(s.Factors)
				at[key] = i
				s.Factors = append(s.Factors, c.factor(f))
			}
			factors = append(factors, i)
		}
		s.terms = append(s.terms, factors)
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

// Expect says that Gram will be asked for each of the kernels once more, so that what they have
// in common is kept as long as it is needed, and computed once.
func (c *Collection) Expect(kernels ...Kernel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range kernels {
		c.expect(Factor{Kernel: k})
	}
}

func (c *Collection) expect(f Factor) {
	f = f.simple()
	key := f.String()
	if c.expected[key]++; c.expected[key] > 1 {
		return // what it is made of is asked for once
	}
	if s, ok := f.Kernel.(Sum); ok {
		for _, t := range s.Terms {
			for _, part := range t.Factors {
				c.expect(part)
			}
		}
	}
}

// simple returns the one factor of a sum that is nothing else.
func (f Factor) simple() Factor {
	for {
		s, ok := f.Kernel.(Sum)
		if !ok || len(s.Terms) != 1 || len(s.Terms[0].Factors) != 1 || s.Terms[0].Weight != 1 {
			return f
		}
		f = s.Terms[0].Factors[0]
	}
}

// Gram returns the kernel matrix of the collection's graphs, which must not be changed. It is
// an error to combine kernels whose values are not normalised.
func (c *Collection) Gram(ctx context.Context, k Kernel) (*Matrix, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	return c.gram(ctx, Factor{Kernel: k})
}

func (c *Collection) gram(ctx context.Context, f Factor) (*Matrix, error) {
	f = f.simple()
	key := f.String()
	c.mu.Lock()
	m := c.grams[key]
	c.expected[key]--
	last := c.expected[key] <= 0
	if last {
		delete(c.grams, key)
		delete(c.expected, key)
	}
	c.mu.Unlock()
	if m != nil {
		return m, ctx.Err()
	}
	var err error
	if s, ok := f.Kernel.(Sum); ok {
		m, err = c.sumGram(ctx, s)
	} else {
		m, err = c.factor(f).Gram(ctx)
	}
	if err == nil && !last {
		c.mu.Lock()
		if c.expected[key] > 0 { // still, for others may have asked meanwhile
			c.grams[key] = m
		}
		c.mu.Unlock()
	}
	return m, err
}

// sumGram combines the matrices of the parts of a sum.
func (c *Collection) sumGram(ctx context.Context, s Sum) (*Matrix, error) {
	out := NewMatrix(len(c.graphs), len(c.graphs))
	for i, t := range s.Terms {
		a := accumulator{dst: out.Data, weight: t.Weight, first: i == 0, factors: len(t.Factors)}
		for _, f := range t.Factors {
			m, err := c.gram(ctx, f)
			if err == nil {
				err = UnitDiagonal(m, f.String())
			}
			if err == nil {
				err = a.multiply(ctx, m.Data)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// UnitDiagonal returns an error unless a Gram matrix has ones on its diagonal. Normalised
// kernels in this module have them exactly; the tolerance admits others that round.
func UnitDiagonal(m *Matrix, name string) error {
	const tolerance = 1e-9
	for i := range m.Rows {
		if !(math.Abs(m.At(i, i)-1) <= tolerance) {
			return fmt.Errorf("%s: the kernel of graph %d with itself is %v: only normalised kernels can be combined", name, i, m.At(i, i))
		}
	}
	return nil
}

// accumulator adds a weighted product of values, which come factor by factor, to dst.
type accumulator struct {
	dst     []float64
	weight  float64
	first   bool // dst is set, not added to
	factors int  // that are still to come
	product []float64
	begun   bool
}

// multiply takes the values of the next factor.
func (a *accumulator) multiply(ctx context.Context, values []float64) error {
	a.factors--
	last := a.factors == 0
	if !a.begun && !last && a.product == nil {
		if a.product = a.dst; !a.first {
			a.product = make([]float64, len(a.dst))
		}
	}
	const chunk = 1 << 16
	err := Each(ctx, (len(values)+chunk-1)/chunk, 1, func(_, k int) error {
		lo, hi := k*chunk, min((k+1)*chunk, len(values))
		v, dst := values[lo:hi], a.dst[lo:hi]
		switch {
		case !last && !a.begun:
			copy(a.product[lo:hi], v)
		case !last:
			multiplyInto(a.product[lo:hi], v)
		default:
			for i, x := range v {
				if a.begun {
					x *= a.product[lo+i]
				}
				x *= a.weight
				if a.first {
					dst[i] = x
				} else {
					dst[i] += x
				}
			}
		}
		return nil
	})
	a.begun = true
	return err
}

func multiplyInto(dst, x []float64) {
	for i, v := range x {
		dst[i] *= v
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
	graphs, err := f.in.training(f.form())
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

// Known returns what Fitted returned before, nil if nothing is fitted yet.
func (f *FittedFactor) Known() Fitted {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fitted
}

func (f *FittedFactor) form() form { return form{f.Standardize, f.Subdivide} }

// Prepare returns graphs as the factor's kernel wants them.
func (f *FittedFactor) Prepare(graphs []*graph.Graph) ([]*graph.Graph, error) {
	return f.in.prepare(f.form(), graphs)
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
	prepared, err := f.Prepare(graphs)
	if err != nil {
		return nil, err
	}
	return f.cross(ctx, prepared)
}

func (f *FittedFactor) cross(ctx context.Context, prepared []*graph.Graph) (*Matrix, error) {
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	return fitted.Cross(ctx, prepared)
}

// Resolved returns the factor's kernel with what the collection's graphs decide; see Resolver.
func (f *FittedFactor) Resolved() (Kernel, error) {
	r, ok := f.Kernel.(Resolver)
	if !ok || f.in.graphs == nil {
		return f.Kernel, nil
	}
	graphs, err := f.in.training(f.form())
	if err != nil {
		return nil, err
	}
	k, err := r.Resolve(graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return k, nil
}

// Compare returns the kernel of two graphs, neither of which need be of the collection. A
// kernel that is no Comparer counts what two graphs have whatever others there are, but for what
// the collection decides (Resolver).
func (f *FittedFactor) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	two, err := f.Prepare([]*graph.Graph{g, h})
	if err != nil {
		return 0, err
	}
	if c, ok := f.Known().(Comparer); ok {
		return c.Compare(ctx, two[0], two[1])
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
	Factors []*FittedFactor // the distinct ones
	In      *Collection

	terms [][]int // by term: positions of its factors
}

// Gram implements Fitted.
func (s *FittedSum) Gram(ctx context.Context) (*Matrix, error) {
	return s.matrix(ctx, func(f *FittedFactor) (*Matrix, error) { return f.Gram(ctx) })
}

// Cross implements Fitted.
func (s *FittedSum) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	prepared := map[form][]*graph.Graph{}
	return s.matrix(ctx, func(f *FittedFactor) (*Matrix, error) {
		if prepared[f.form()] == nil {
			var err error
			if prepared[f.form()], err = f.Prepare(graphs); err != nil {
				return nil, err
			}
		}
		return f.cross(ctx, prepared[f.form()])
	})
}

// matrix combines the matrices of the factors.
func (s *FittedSum) matrix(ctx context.Context, of func(f *FittedFactor) (*Matrix, error)) (*Matrix, error) {
	var out *Matrix
	err := s.Combine(ctx, func(i int) ([]float64, error) {
		m, err := of(s.Factors[i])
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = &Matrix{Rows: m.Rows, Cols: m.Cols}
		}
		return m.Data, nil
	}, func(n int) []float64 {
		out.Data = make([]float64, n)
		return out.Data
	})
	return out, err
}

// Compare implements Comparer.
func (s *FittedSum) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	k := make([]float64, 1)
	err := s.Combine(ctx, func(i int) ([]float64, error) {
		v, err := s.Factors[i].Compare(ctx, g, h)
		return []float64{v}, err
	}, func(int) []float64 { return k })
	return k[0], err
}

// Combine computes Σ_t weight_t · Π_j values_tj entry by entry. values returns those of a
// factor, by its position in Factors; it is called once for each, when they are first needed,
// and they are let go after their last use. dst is called once with their number and returns
// where the result goes.
func (s *FittedSum) Combine(ctx context.Context, values func(factor int) ([]float64, error), dst func(n int) []float64) error {
	left := make([]int, len(s.Factors)) // uses to come
	for _, t := range s.terms {
		for _, f := range t {
			left[f]++
		}
	}
	known := make([][]float64, len(s.Factors))
	var out []float64
	for i, t := range s.terms {
		var a accumulator
		for j, f := range t {
			v := known[f]
			if v == nil {
				var err error
				if v, err = values(f); err != nil {
					return err
				}
			}
			known[f] = v
			if left[f]--; left[f] == 0 {
				known[f] = nil
			}
			if out == nil {
				out = dst(len(v))
			}
			if j == 0 {
				a = accumulator{dst: out, weight: s.Sum.Terms[i].Weight, first: i == 0, factors: len(t)}
			}
			if err := a.multiply(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// Positions returns the factors of a term, by their positions in Factors.
func (s *FittedSum) Positions(term int) []int { return s.terms[term] }

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
func (s *FittedSum) Alone() *FittedSum {
	c := NewCollection(s.In.graphs)
	c.standard = s.In.standard
	out := *s
	out.In, out.Factors = c, nil
	for _, f := range s.Factors {
		own := c.factor(f.Factor)
		own.fitted = f.Known()
		out.Factors = append(out.Factors, own)
	}
	return &out
}
