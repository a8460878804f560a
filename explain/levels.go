package explain

import (
	"context"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// LevelsOf returns the kernels of the levels of a kernel, and at last the kernel itself where it combines them. One without
// levels is the only one, called similarity.
func LevelsOf(k kernel.Kernel) []kernel.Level {
	var levels []kernel.Level
	if x, ok := k.(kernel.Levelled); ok {
		levels = x.Levels()
	}
	if len(levels) == 0 {
		return []kernel.Level{{Name: "similarity", Kernel: k}}
	}
	if top := levels[len(levels)-1].Kernel; top.String() != k.String() { // the kernel combines levels
		levels = append(levels, kernel.Level{Name: "all levels", Kernel: k})
	}
	return levels
}

// AtLevel returns the similarity of two graphs by the kernel of a level. The kernel is fitted to the two alone.
func AtLevel(ctx context.Context, l kernel.Level, g, h *graph.Graph) (float64, error) {
	values, err := kernel.NewCollection([]*graph.Graph{g, h}).Gram(ctx, l.Kernel)
	if err != nil {
		return 0, err
	}
	return values.At(0, 1), nil
}

// LevelsBetween compares two graphs at every level of a kernel that has some, as LevelsOf has them. Vertices of at most a
// number are matched, by an exact multiscale kernel.
func LevelsBetween(ctx context.Context, k kernel.Kernel, g, h *graph.Graph, most int) ([]Level, error) {
	levels := LevelsOf(k)
	if len(levels) == 1 {
		return nil, nil
	}
	var out []Level
	for l, level := range levels {
		x := Level{Name: level.Name, Matching: Matching{Level: l, Pairs: []Pair{}}}
		var err error
		if x.K, err = AtLevel(ctx, level, g, h); err != nil {
			return nil, err
		}
		if radii, ok := exactRadii(k); ok && l <= len(radii) {
			if l > 0 {
				x.Radius = radii[l-1]
			}
			if max(g.N(), h.N()) <= most {
				m, err := MatchExact(ctx, g, h, k, l)
				if err != nil {
					return nil, err
				}
				x.Matching = *m
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// exactRadii returns the radii of an exact multiscale kernel, which may have a form.
func exactRadii(k kernel.Kernel) ([]int, bool) {
	sum := kernel.SumOf(k)
	if len(sum.Terms) != 1 || len(sum.Terms[0].Factors) != 1 {
		return nil, false
	}
	x, ok := sum.Terms[0].Factors[0].Kernel.(mlg.Kernel)
	return x.Radii, ok && x.Exact
}
