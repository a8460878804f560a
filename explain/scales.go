package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// Scales is the multiscale kernel of a sum whose levels and vertices can be compared.
type Scales struct {
	*kernel.FittedFactor
	parts []part // the same levels on all forms of graphs, if the sum has no others
	whole bool   // they are all of the sum
}

// part is a product with its weight in a sum: the kernel on some form of graphs, and kernels without levels.
type part struct {
	factors []*kernel.FittedFactor
	weight  float64
}

// ErrNoScales is the error of sums without a multiscale kernel.
var ErrNoScales = errors.New("the kernel is not a multiscale kernel, so there are no scales to show")

// ScalesOf returns the multiscale kernel in the product of the largest weight that has one, nil
// for none. One on graphs whose edges are vertices counts only where there is no other.
func ScalesOf(sum *kernel.FittedSum) *Scales {
	var best *kernel.FittedFactor
	weight := 0.0
	for t, term := range sum.Sum.Terms {
		for _, i := range sum.Positions(t) {
			f := sum.Factors[i]
			if model.LowRank(f) == nil || best != nil && f.Subdivide && !best.Subdivide {
				continue
			}
			if best == nil || best.Subdivide && !f.Subdivide || term.Weight > weight {
				best, weight = f, term.Weight
			}
		}
	}
	if best == nil {
		return nil
	}
	out := &Scales{FittedFactor: best}
	for t, term := range sum.Sum.Terms {
		p, times := part{weight: term.Weight}, 0
		for _, i := range sum.Positions(t) {
			f := sum.Factors[i]
			if levelsText(f) == levelsText(best) {
				times++
			} else if m := model.LowRank(f); m == nil || len(m.Kernel().Radii) > 0 {
				times = -len(sum.Factors) // another kernel
			}
			p.factors = append(p.factors, f)
		}
		if times != 1 {
			return &Scales{best, []part{{[]*kernel.FittedFactor{best}, 1}}, false}
		}
		out.parts = append(out.parts, p)
	}
	out.whole = true
	return out
}

// levelsText is the text of a factor's kernel without what it looks at. Kernels with the same have levels that belong together.
func levelsText(f *kernel.FittedFactor) string {
	k, ok := f.Kernel.(mlg.Kernel)
	if !ok {
		return f.Kernel.String()
	}
	k.Base, k.Bonds = "", mlg.No
	return k.String()
}

// Part returns the text of the multiscale kernel where the sum has other kernels too, else "".
func (s *Scales) Part() string {
	if s.whole {
		return ""
	}
	return s.Kernel.String()
}

// Model returns the kernel as it was fitted.
func (s *Scales) Model() *mlg.LowRank { return model.LowRank(s.FittedFactor) }

// Radii returns the radii of the levels in edges of the graphs. Level 0, of single vertices, has radius 0; no
// scales have this one alone.
func (s *Scales) Radii() []int {
	out := []int{0}
	if s == nil {
		return out
	}
	for _, r := range s.Model().Kernel().Radii {
		switch {
		case s.Directed:
			r /= kernel.ArcLength
		case s.Subdivide:
			r /= 2 // an edge is two
		}
		out = append(out, r)
	}
	return out
}

// Level is the similarity of two graphs at one level, with their vertices matched.
type Level struct {
	Matching
	Name   string  `json:"name" help:"what is compared at the level, where that is not told by its radius; otherwise empty"`
	Radius int     `json:"radius" help:"0 at level 0"`
	K      float64 `json:"k"`
}

// Levels compares two graphs at every level by the features of their vertices, with those of bonds and stereochemistry
// where there are any.
func (s *Scales) Levels(ctx context.Context, g, h *graph.Graph) (out []Level, err error) {
	radii := s.Radii()
	k := make([]float64, len(radii))
	var levels []mlg.Vertices
	for _, p := range s.parts {
		product := slices.Repeat([]float64{p.weight}, len(k))
		for _, f := range p.factors {
			vertices, values, err := levelKernels(ctx, f, g, h)
			if err != nil {
				return nil, err
			}
			if f == s.FittedFactor {
				levels = vertices
			}
			for l := range product {
				product[l] *= values[min(l, len(values)-1)] // without levels it is the same at all
			}
		}
		for l, x := range product {
			k[l] += x
		}
	}
	for l, v := range levels {
		matched, err := matchFeatures(ctx, first(v.Of(0), g.N()), first(v.Of(1), h.N()), l)
		if err != nil {
			return nil, err
		}
		out = append(out, Level{*matched, "", radii[l], k[l]})
	}
	return out, nil
}

// levelKernels returns the vertices of two graphs at the levels of a multiscale kernel, and k_ℓ, the FLG kernel
// of their features.
func levelKernels(ctx context.Context, f *kernel.FittedFactor, g, h *graph.Graph) (levels []mlg.Vertices, k []float64, err error) {
	both, err := f.Prepare([]*graph.Graph{g, h})
	if err != nil {
		return nil, nil, err
	}
	m := model.LowRank(f)
	if levels, err = m.Vertices(ctx, both); err != nil {
		return nil, nil, err
	}
	for l, v := range levels {
		x, err := mlg.FLG(both[0], v.Of(0), both[1], v.Of(1), m.Kernel().Eta, m.Kernel().Gamma)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("level %d: %w", l, err)
		}
		k = append(k, x)
	}
	return levels, k, nil
}

// first returns the first rows of a matrix. If edges became vertices, these are the rows of the
// original vertices.
func first(x *kernel.Matrix, rows int) *kernel.Matrix {
	return &kernel.Matrix{Rows: rows, Cols: x.Cols, Data: x.Data[:rows*x.Cols]}
}
