package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mlgkernel/mlg/graph"
)

// FittedFactor is a factor in a collection.
type FittedFactor struct {
	Factor
	in *Collection

	mu     sync.Mutex
	fitted Fitted
	gram   *Matrix // nil unless it is kept
}

// Fitted returns the kernel fitted to the collection's graphs, which is done once.
func (f *FittedFactor) Fitted(ctx context.Context) (Fitted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fitted != nil {
		return f.fitted, nil
	}
	if f.in.graphs == nil {
		return nil, fmt.Errorf("%s: no graphs to fit it to", f)
	}
	graphs, err := f.Training()
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

// Training returns the collection's graphs as the factor's kernel wants them.
func (f *FittedFactor) Training() ([]*graph.Graph, error) { return f.in.training.in(f.Form) }

// Prepare returns graphs as the factor's kernel wants them.
func (f *FittedFactor) Prepare(graphs []*graph.Graph) ([]*graph.Graph, error) {
	return f.in.prepare(graphs).in(f.Form)
}

// Gram returns the kernel matrix of the collection's graphs, which must not be changed.
func (f *FittedFactor) Gram(ctx context.Context) (*Matrix, error) {
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	known := f.gram
	f.mu.Unlock()
	if known != nil {
		return known, nil
	}
	m, err := fitted.Gram(ctx)
	if err == nil && f.in.keeps(m) {
		f.mu.Lock()
		f.gram = m
		f.mu.Unlock()
	}
	return m, err
}

// keeps reports whether a matrix is the one that is kept.
func (f *FittedFactor) keeps(m *Matrix) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gram == m
}

// gramOf returns the kernel matrix of some of the collection's graphs, all where there are none.
func (f *FittedFactor) gramOf(ctx context.Context, graphs []int) (*Matrix, error) {
	if graphs == nil {
		return f.Gram(ctx)
	}
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	if s, ok := fitted.(Sampler); ok {
		return s.GramOf(ctx, graphs)
	}
	m, err := f.Gram(ctx)
	if err != nil {
		return nil, err
	}
	return m.Select(graphs, graphs), nil
}

// Cross returns the kernel matrix between graphs (rows) and those of the collection.
func (f *FittedFactor) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	return f.cross(ctx, f.in.prepare(graphs))
}

func (f *FittedFactor) cross(ctx context.Context, p *prepared) (*Matrix, error) {
	graphs, err := p.in(f.Form)
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
	graphs, err := f.Training()
	if err != nil {
		return nil, err
	}
	k, err := r.Resolve(graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return k, nil
}

// Compare returns the kernel of two graphs, fitted to the collection. The graphs may be new. A
// Resolver, and a kernel that cannot compare new graphs, sees only the two graphs.
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
	terms    []term
	compared atomic.Bool // Cross was called
}

// Gram implements Fitted.
func (s *FittedSum) Gram(ctx context.Context) (*Matrix, error) {
	ctx = withShared(ctx, &shared{})
	return s.matrix(ctx, func(i int) (*Matrix, error) {
		m, err := s.Factors[i].Gram(ctx)
		if err == nil && !s.Sum.single() {
			err = unitDiagonal(m, s.Factors[i].Factor)
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

// fewRows is the largest number of graphs that are compared factor by factor, one worker for each.
// So few rows of a matrix would not keep the workers busy. The first time there is more to do: a model
// that was read from a file computes what it needs of its training graphs.
const fewRows = 64

// Cross implements Fitted.
func (s *FittedSum) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	p := s.In.prepare(graphs)
	ctx = withShared(ctx, &shared{})
	if first := !s.compared.Swap(true); first || len(graphs) > fewRows {
		return s.matrix(ctx, func(i int) (*Matrix, error) { return s.Factors[i].cross(ctx, p) })
	}
	of := make([]*Matrix, len(s.Factors))
	one := WithWorkers(ctx, 1)
	err := Each(ctx, len(of), 1, func(_, i int) (err error) {
		of[i], err = s.Factors[i].cross(one, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.matrix(ctx, func(i int) (*Matrix, error) { return of[i], nil })
}

// matrix combines the matrices of the factors. Where there is one, and nobody else has its matrix,
// that is the result, without a copy.
func (s *FittedSum) matrix(ctx context.Context, of func(factor int) (*Matrix, error)) (*Matrix, error) {
	var out Matrix
	var err error
	if s.Sum.single() {
		if m, err := of(0); err != nil || !s.Factors[0].keeps(m) {
			return m, err
		}
	}
	out.Data, err = s.Combine(ctx, nil, func(i int) ([]float64, error) {
		m, err := of(i)
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

// Combine computes Σ_t weight_t · Π_j values_tj entry by entry. values returns those of a factor,
// by its position in Factors. It is called once for each factor, when its values are first needed,
// and they are dropped after their last use. The result goes to dst or, where that is nil, to a new
// slice.
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

// Diagonal returns the kernel of each of some graphs, which need not be of the collection, with itself.
func (s *FittedSum) Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	if k := self(s.Sum); !math.IsNaN(k) {
		return slices.Repeat([]float64{k}, len(graphs)), nil
	}
	out := make([]float64, len(graphs))
	return out, Each(ctx, len(graphs), 1, func(_, i int) (err error) {
		out[i], err = s.Compare(ctx, graphs[i], graphs[i])
		return err
	})
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
