package cli

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
)

// setLevel compares two datasets at one level.
type setLevel struct {
	level
	Between float64 `json:"between"` // mean similarity of a graph of A and one of B
	WithinA float64 `json:"within_a"`
	WithinB float64 `json:"within_b"`
	// Distance of the means of A and B in the feature space of the kernel, between 0 and √2.
	Distance float64 `json:"distance"`
}

type setPair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
}

// datasets compares two collections of graphs by the low-rank kernel.
func (c *compareCmd) datasets(g *globals, a, b []*graph.Graph) error {
	if c.Match {
		return usageError("--match is for two graphs; --first takes the first of each dataset")
	}
	all := slices.Concat(a, b)
	o, err := c.multiscale(g, c.Kernel, all)
	if err != nil {
		return err
	}
	ctx := c.work(g)
	var levels []setLevel
	var top *kernel.Matrix
	for _, l := range levelsOf(o) {
		m, err := l.kernel.Fit(ctx, all)
		if err != nil {
			return err
		}
		if top, err = m.Gram(ctx); err != nil {
			return err
		}
		x := compareSets(top, len(a))
		x.level = l
		levels = append(levels, x)
	}
	pairs := make([]setPair, len(a))
	for i := range a {
		at := kernel.Largest(top.Row(i)[len(a):], 1)[0]
		pairs[i] = setPair{graphName(a[i], i), graphName(b[at.Index], at.Index), at.Similarity}
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"base": o.Base, "a": len(a), "b": len(b), "levels": levels, "nearest": pairs})
	}
	return output(g, "", func(w io.Writer) error {
		how := "low rank"
		if o.Exact {
			how = "exact"
		}
		fmt.Fprintf(w, "%d and %d graphs, base kernel %s, %s\n", len(a), len(b), o.Base, how)
		fmt.Fprintf(w, "%-24s %9s %9s %9s %9s\n", "mean similarity", "A and B", "within A", "within B", "distance")
		for _, x := range levels {
			fmt.Fprintf(w, "%-24s %9.4f %9.4f %9.4f %9.4f\n", x.level, x.Between, x.WithinA, x.WithinB, x.Distance)
		}
		const most = 10
		fmt.Fprintf(w, "\nmost similar graph of B at level %d\n", len(o.Radii))
		for _, p := range pairs[:min(most, len(pairs))] {
			fmt.Fprintf(w, "  %-32s %-32s %.4f\n", table.Clip(p.A, 32), table.Clip(p.B, 32), p.Similarity)
		}
		if len(pairs) > most {
			fmt.Fprintf(w, "  … and %d more (--json has all)\n", len(pairs)-most)
		}
		return nil
	})
}

// compareSets compares the first n objects of a kernel matrix with the others.
func compareSets(k *kernel.Matrix, n int) setLevel {
	mean := func(from, to, from2, to2 int) float64 {
		sum := 0.0
		for i := from; i < to; i++ {
			for j := from2; j < to2; j++ {
				sum += k.At(i, j)
			}
		}
		return sum / float64((to-from)*(to2-from2))
	}
	x := setLevel{Between: mean(0, n, n, k.Rows), WithinA: mean(0, n, 0, n), WithinB: mean(n, k.Rows, n, k.Rows)}
	x.Distance = math.Sqrt(max(0, x.WithinA+x.WithinB-2*x.Between))
	return x
}
