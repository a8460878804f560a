package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/work"
)

// FittedFactor is a factor in a collection.
type FittedFactor struct {
	Factor
	in *Collection

	mu     sync.Mutex
	fitted *Fitted
}

// Fitted returns the kernel fitted to the collection's graphs, which is done once.
func (f *FittedFactor) Fitted(ctx context.Context) (*Fitted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fitted != nil {
		return f.fitted, nil
	}
	fitted, err := f.fit(ctx)
	if err != nil {
		return nil, err
	}
	f.fitted = fitted
	return fitted, nil
}

// fit fits the kernel, or takes it from where it is fitted.
func (f *FittedFactor) fit(ctx context.Context) (*Fitted, error) {
	if f.in.from != nil {
		return f.in.from.fitted(ctx, f.Factor)
	}
	if f.in.graphs == nil {
		return nil, fmt.Errorf("%s: no graphs to fit it to", f)
	}
	graphs, err := f.Training()
	if err != nil {
		return nil, err
	}
	fit := f.InForm().Fit
	if f.Of != "" {
		fit = func(ctx context.Context, graphs []*graph.Graph) (*Fitted, error) {
			return fitRows(ctx, f.InForm(), graphs)
		}
	}
	fitted, err := fit(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return fitted, nil
}

// Known returns what Fitted returned before, nil if nothing is fitted yet.
func (f *FittedFactor) Known() *Fitted {
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

// transform returns the features of graphs.
func (f *FittedFactor) transform(ctx context.Context, p *prepared) (Features, error) {
	graphs, err := p.in(f.Form)
	if err != nil {
		return nil, err
	}
	fitted, err := f.Fitted(ctx)
	if err != nil {
		return nil, err
	}
	return fitted.Transform(ctx, graphs)
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

// FittedSum is a sum over a collection. It is a Map.
type FittedSum struct {
	Asked   Kernel          // what it is of
	Sum     Sum             // that, written out for the collection
	Factors []*FittedFactor // the distinct ones
	In      *Collection

	terms []term
	uses  []int // by factor: in terms

	mu    sync.Mutex
	train *sumFeatures // of the collection's graphs; nil until they are asked for
}

var _ Map = (*FittedSum)(nil)

// sumFeatures are the features of graphs under a sum, by factor.
type sumFeatures struct{ of []Features }

// Train returns the features of the collection's graphs, which are computed once.
func (s *FittedSum) Train(ctx context.Context) (Features, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.train != nil {
		return s.train, nil
	}
	ctx = withShared(ctx, &shared{})
	out := &sumFeatures{}
	for _, f := range s.Factors {
		fitted, err := f.Fitted(ctx)
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, fitted.Train)
	}
	s.train = out
	return out, nil
}

// Factor returns what features have of a factor, by its position in Factors.
func (s *FittedSum) Factor(a Features, factor int) Features { return a.(*sumFeatures).of[factor] }

// fewGraphs is the largest number of graphs that are transformed factor by factor, one worker for
// each. So few graphs would not keep the workers busy.
const fewGraphs = 64

// Transform implements Map.
func (s *FittedSum) Transform(ctx context.Context, graphs []*graph.Graph) (Features, error) {
	p := s.In.prepare(graphs)
	ctx = withShared(ctx, &shared{})
	out := &sumFeatures{make([]Features, len(s.Factors))}
	outer, inner := work.WithWorkers(ctx, 1), ctx
	if len(graphs) <= fewGraphs {
		outer, inner = ctx, outer
	}
	return out, work.Each(outer, len(out.of), 1, func(_, i int) (err error) {
		out.of[i], err = s.Factors[i].transform(inner, p)
		return err
	})
}

// Fill implements Map.
func (s *FittedSum) Fill(ctx context.Context, dst []float64, stride int, b Block) error {
	x, y := b.A.(*sumFeatures), b.B.(*sumFeatures)
	height, width := b.I1-b.I0, b.J1-b.J0
	fill := func(i int, dst []float64, stride int) error {
		fitted, err := s.Factors[i].Fitted(ctx)
		if err != nil {
			return err
		}
		part := b
		part.A, part.B = x.of[i], y.of[i]
		return fitted.Fill(ctx, dst, stride, part)
	}
	if s.Sum.single() {
		return fill(s.terms[0].factors[0], dst, stride)
	}
	to := dst
	if stride != width {
		to = nil
	} else {
		to = dst[:height*width]
	}
	to, err := s.Combine(work.WithWorkers(ctx, 1), to, func(i int) ([]float64, error) {
		values := make([]float64, height*width)
		if err := fill(i, values, width); err != nil {
			return nil, err
		}
		if b.Square() {
			return values, unitDiagonal(&Matrix{height, width, values}, s.Factors[i].Factor)
		}
		return values, nil
	})
	if err == nil && stride != width {
		for i := range height {
			copy(dst[i*stride:][:width], to[i*width:])
		}
	}
	return err
}

// Join implements Map.
func (s *FittedSum) Join(parts ...Features) Features {
	out := &sumFeatures{}
	for i, f := range s.Factors {
		var of []Features
		for _, p := range parts {
			of = append(of, p.(*sumFeatures).of[i])
		}
		out.of = append(out.of, f.Known().Join(of...))
	}
	return out
}

// Len implements Features.
func (x *sumFeatures) Len() int { return x.of[0].Len() }

// Select implements Features.
func (x *sumFeatures) Select(at []int) Features {
	out := &sumFeatures{make([]Features, len(x.of))}
	for i, f := range x.of {
		out.of[i] = f.Select(at)
	}
	return out
}

// InPlace reports whether the features of every factor are used in place; see the function InPlace.
func (x *sumFeatures) InPlace() bool {
	return !slices.ContainsFunc(x.of, func(of Features) bool { return !InPlace(of) })
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

// Gram returns the kernel matrix of the collection's graphs.
func (s *FittedSum) Gram(ctx context.Context) (*Matrix, error) {
	train, err := s.Train(ctx)
	if err != nil {
		return nil, err
	}
	return Between(ctx, s, train, train)
}

// Cross returns the kernel matrix between graphs (rows) and those of the collection.
func (s *FittedSum) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	train, err := s.Train(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return Between(ctx, s, a, train)
}

// Compare returns the kernel of two graphs, which may be new.
func (s *FittedSum) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	two, err := s.Transform(ctx, []*graph.Graph{g, h})
	if err != nil {
		return 0, err
	}
	k := make([]float64, 1)
	err = s.Fill(ctx, k, 1, Block{two, 0, 1, two, 1, 2})
	return k[0], err
}

// String writes the kernel as it was asked for.
func (s *FittedSum) String() string { return s.Asked.String() }

// Positions returns the factors of a term, by their positions in Factors.
func (s *FittedSum) Positions(term int) []int { return s.terms[term].factors }

// Has reports whether the sum itself has a factor, by its position in Factors, or another of the same collection that
// shares them.
func (s *FittedSum) Has(factor int) bool { return s.uses[factor] > 0 }

// Self returns the kernel of a graph with itself, the sum of the weights, if all factors are
// normalised.
func (s *FittedSum) Self() float64 {
	sum := 0.0
	for _, t := range s.Sum.Terms {
		sum += t.Weight
	}
	return sum
}
