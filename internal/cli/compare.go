package cli

import (
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

type compareCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	A       string `arg:"" help:"A SMILES or a dataset."`
	B       string `arg:"" help:"Another. Two datasets with several graphs are compared as a whole."`
	First   bool   `help:"Compare the first graphs of datasets." group:"Comparison"`
	Match   bool   `help:"Match the vertices of two graphs." group:"Comparison"`
	Level   int    `help:"With --match: level at which vertices are compared; by default the top." default:"-1" group:"Comparison"`
	Picture string `help:"With --match: draw both graphs with the numbers of the pairs, to a .svg or .png file." name:"draw" placeholder:"FILE" group:"Comparison"`
}

// Run prints the similarity of two graphs at every level, by the definition, or of two
// datasets.
func (c *compareCmd) Run(g *globals) error {
	if (c.Level >= 0 || c.Picture != "") && !c.Match {
		return usageError("--level and --draw are for --match")
	}
	one, err := readGraphs(g, c.A, c.dataFlags.options())
	if err != nil {
		return err
	}
	other, err := readGraphs(g, c.B, c.dataFlags.options())
	if err != nil {
		return err
	}
	if !c.First && (len(one) > 1 || len(other) > 1) {
		return c.datasets(g, one, other)
	}
	a, b := one[0], other[0]
	graphs := []*graph.Graph{a, b}
	o, err := c.multiscale(g, c.Kernel, graphs)
	if err != nil {
		return err
	}
	type level struct {
		Level      int     `json:"level"`
		Radius     int     `json:"radius"`
		Similarity float64 `json:"similarity"`
	}
	var levels []level
	for l := range len(o.Radii) + 1 {
		p := o
		p.Radii, p.Combine = o.Radii[:l], mlg.Top
		e, err := mlg.NewExact(g.ctx, graphs, p)
		if err != nil {
			return err
		}
		k, err := e.Gram(g.ctx)
		if err != nil {
			return err
		}
		x := level{Level: l, Similarity: k.At(0, 1)}
		if l > 0 {
			x.Radius = o.Radii[l-1]
		}
		levels = append(levels, x)
	}
	var match *matched
	if c.Match {
		if match, err = c.match(g, a, b, o); err != nil {
			return err
		}
	}
	if g.JSON {
		out := map[string]any{"base": o.Base, "levels": levels}
		if match != nil {
			out["matching"] = match
		}
		return printJSON(g.stdout, out)
	}
	fmt.Fprintf(g.stdout, "%d and %d vertices, %d and %d edges, base kernel %s\n", a.N(), b.N(), a.M(), b.M(), o.Base)
	for _, x := range levels {
		what := "vertices alone"
		if x.Level > 0 {
			what = fmt.Sprintf("radius %d", x.Radius)
		}
		fmt.Fprintf(g.stdout, "level %d  %-14s  %.4f\n", x.Level, what, x.Similarity)
	}
	if match != nil {
		match.print(g.stdout)
	}
	return nil
}
