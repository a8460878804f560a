package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// Standardized gives a kernel graphs whose vertex attributes are (x − m)/s, with mean m and
// standard deviation s of every attribute over the vertices of the training graphs. New
// graphs get the same m and s. An attribute that is constant in training is only shifted.
func Standardized(k mlg.Kernel) mlg.Kernel { return &standardized{k} }

type standardized struct{ inner mlg.Kernel }

func (k *standardized) String() string             { return k.inner.String() + " standardized" }
func (k *standardized) PositiveSemidefinite() bool { return semidefinite(k.inner) }

func (k *standardized) Fit(ctx context.Context, graphs []*graph.Graph) (mlg.Fitted, error) {
	s, err := Standardize(graphs)
	if err != nil {
		return nil, err
	}
	scaled, err := s.Apply(graphs)
	if err != nil {
		return nil, err
	}
	inner, err := k.inner.Fit(ctx, scaled)
	if err != nil {
		return nil, err
	}
	return &fittedStandardized{inner, s}, nil
}

type fittedStandardized struct {
	mlg.Fitted
	standard *Standardization
}

func (f *fittedStandardized) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	scaled, err := f.standard.Apply(graphs)
	if err != nil {
		return nil, err
	}
	return f.Fitted.Cross(ctx, scaled)
}

// Standardization shifts and scales vertex attributes, (x − Mean)/Scale.
type Standardization struct{ Mean, Scale []float64 }

// Standardize measures mean and standard deviation of every attribute over the vertices of
// graphs, in two passes. A constant attribute has scale 1.
func Standardize(graphs []*graph.Graph) (*Standardization, error) {
	n := 0
	rows := func(visit func(row []float64)) {
		for _, g := range graphs {
			for v := range g.N() {
				visit(g.Attributes(v))
			}
		}
	}
	dim := 0
	for _, g := range graphs {
		dim = max(dim, g.AttributeDim())
		n += g.N()
	}
	for i, g := range graphs {
		if g.N() > 0 && (g.AttributeDim() != dim || dim == 0) {
			return nil, fmt.Errorf("graph %d (%s) has %d attributes per vertex, want %d: attributes cannot be standardised", i, g.ID(), g.AttributeDim(), max(1, dim))
		}
	}
	s := &Standardization{make([]float64, dim), make([]float64, dim)}
	rows(func(row []float64) {
		for d, x := range row {
			s.Mean[d] += x / float64(n)
		}
	})
	rows(func(row []float64) {
		for d, x := range row {
			s.Scale[d] += (x - s.Mean[d]) * (x - s.Mean[d]) / float64(n)
		}
	})
	for d, variance := range s.Scale {
		// A variance that rounding of the mean alone explains counts as none.
		const rounding = 1e-14
		s.Scale[d] = math.Sqrt(variance)
		if s.Scale[d] <= rounding*math.Abs(s.Mean[d]) {
			s.Scale[d] = 1
		}
	}
	return s, nil
}

// Apply returns the graphs with standardised attributes.
func (s *Standardization) Apply(graphs []*graph.Graph) ([]*graph.Graph, error) {
	out := make([]*graph.Graph, len(graphs))
	row := make([]float64, len(s.Mean))
	for i, g := range graphs {
		if g.N() > 0 && g.AttributeDim() != len(s.Mean) {
			return nil, fmt.Errorf("graph %d (%s) has %d attributes per vertex, want %d", i, g.ID(), g.AttributeDim(), len(s.Mean))
		}
		b := graph.NewBuilder(g.N())
		b.SetID(g.ID())
		for v := range g.N() {
			for d, x := range g.Attributes(v) {
				row[d] = (x - s.Mean[d]) / s.Scale[d]
			}
			b.SetAttributes(v, row)
			if g.HasLabels() {
				b.SetLabel(v, g.Label(v))
			}
		}
		for e := range g.Edges() {
			if g.HasEdgeLabels() {
				b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
			} else {
				b.AddWeightedEdge(e.U, e.V, e.Weight)
			}
		}
		var err error
		if out[i], err = b.Build(); err != nil {
			return nil, fmt.Errorf("graph %d (%s): %w", i, g.ID(), err)
		}
	}
	return out, nil
}

// Validate returns an error unless there is a finite mean and a positive scale for each of
// one or more attributes.
func (s *Standardization) Validate() error {
	if len(s.Mean) == 0 || len(s.Mean) != len(s.Scale) {
		return fmt.Errorf("%d means and %d deviations of attributes, want the same number of one or more", len(s.Mean), len(s.Scale))
	}
	for d, m := range s.Mean {
		if x := s.Scale[d]; math.IsNaN(m) || math.IsInf(m, 0) || !(x > 0) || math.IsInf(x, 1) {
			return fmt.Errorf("attribute %d: mean %v and deviation %v, want a finite and a positive number", d, m, x)
		}
	}
	return nil
}

// StandardScores returns (x − mean)/scale, scale being the standard deviation, or 1 if that
// is 0: the units in which Run and Choose learn values.
func StandardScores(x []float64) (z []float64, mean, scale float64) { return standardize(x) }
