package cli

import (
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

type compareCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	A string `arg:"" help:"A SMILES, or a dataset whose first graph is taken."`
	B string `arg:"" help:"Another."`
}

// Run prints the similarity of two graphs at every level, by the definition.
func (c *compareCmd) Run(g *globals) error {
	a, err := c.graph(g, c.A)
	if err != nil {
		return err
	}
	b, err := c.graph(g, c.B)
	if err != nil {
		return err
	}
	if c.Kernel != "mlg" && c.Kernel != "flg" {
		return usageError("compare needs --kernel mlg or flg")
	}
	graphs := []*graph.Graph{a, b}
	o, err := c.kernelFlags.options(g, c.Kernel, graphs)
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
		k, err := e.Kernel(0, 1)
		if err != nil {
			return err
		}
		x := level{Level: l, Similarity: k}
		if l > 0 {
			x.Radius = o.Radii[l-1]
		}
		levels = append(levels, x)
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"base": o.Base.String(), "levels": levels})
	}
	fmt.Fprintf(g.stdout, "%d and %d vertices, %d and %d edges, base kernel %s\n", a.N(), b.N(), a.M(), b.M(), o.Base)
	for _, x := range levels {
		what := "vertices alone"
		if x.Level > 0 {
			what = fmt.Sprintf("radius %d", x.Radius)
		}
		fmt.Fprintf(g.stdout, "level %d  %-14s  %.4f\n", x.Level, what, x.Similarity)
	}
	return nil
}

// graph returns the first graph of a dataset or the molecule that a SMILES describes.
func (c *compareCmd) graph(g *globals, s string) (*graph.Graph, error) {
	o, err := c.dataFlags.options()
	if err != nil {
		return nil, err
	}
	ds, readErr := dataset.Read(g.ctx, s, o)
	if readErr == nil {
		if len(ds.Graphs) == 0 {
			return nil, fmt.Errorf("%s: no graphs", s)
		}
		return ds.Graphs[0], nil
	}
	if m, err := dataset.ParseSMILES(s, o); err == nil {
		return m, nil
	}
	return nil, readErr
}
