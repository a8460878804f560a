package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// Standardization shifts and scales vertex attributes, (x − Mean)/Scale.
type Standardization struct{ Mean, Scale []float64 }

// Standardize measures mean and standard deviation of every attribute over the vertices of
// graphs, in two passes. A constant attribute has scale 1.
func Standardize(graphs []*graph.Graph) (*Standardization, error) {
	n, dim := 0, 0
	for _, g := range graphs {
		dim = max(dim, g.AttributeDim())
		n += g.N()
	}
	for i, g := range graphs {
		if g.N() > 0 && (g.AttributeDim() != dim || dim == 0) {
			return nil, AboutGraph(graphs, i, fmt.Errorf("number of attributes per vertex is %d, want %d: attributes cannot be standardised", g.AttributeDim(), max(1, dim)))
		}
	}
	rows := func(visit func(row []float64)) {
		for _, g := range graphs {
			for v := range g.N() {
				visit(g.Attributes(v))
			}
		}
	}
	s := &Standardization{make([]float64, dim), make([]float64, dim)}
	constant := slices.Repeat([]bool{true}, dim)
	var first []float64
	rows(func(row []float64) {
		if first == nil {
			first = slices.Clone(row)
		}
		for d, x := range row {
			s.Mean[d] += x / float64(n)
			constant[d] = constant[d] && x == first[d]
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
		if constant[d] {
			s.Mean[d], s.Scale[d] = first[d], 1
		} else if s.Scale[d] <= rounding*math.Abs(s.Mean[d]) {
			s.Scale[d] = 1
		}
		if math.IsInf(s.Mean[d], 0) || math.IsInf(s.Scale[d], 0) {
			return nil, fmt.Errorf("attribute %d is too large to be standardised", d)
		}
	}
	return s, nil
}

// Apply returns the graphs with standardised attributes.
func (s *Standardization) Apply(graphs []*graph.Graph) ([]*graph.Graph, error) {
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		if g.N() > 0 && g.AttributeDim() != len(s.Mean) {
			err := fmt.Errorf("number of attributes per vertex is %d, want %d as in training", g.AttributeDim(), len(s.Mean))
			if g.AttributeDim() == 0 {
				err = &graph.Missing{What: "attributes", Err: err}
			}
			return nil, AboutGraph(graphs, i, err)
		}
		var err error
		if out[i], err = g.MapAttributes(func(d int, x float64) float64 { return (x - s.Mean[d]) / s.Scale[d] }); err != nil {
			return nil, AboutGraph(graphs, i, err)
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
