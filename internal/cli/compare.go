package cli

import (
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

type compareCmd struct {
	A       string `arg:"" help:"A SMILES or a dataset."`
	B       string `arg:"" help:"Another. Two datasets with several graphs are compared as a whole."`
	First   bool   `help:"Compare the first graphs of datasets." group:"Comparison"`
	Match   bool   `help:"Match the vertices of two graphs." group:"Comparison"`
	Level   int    `help:"With --match: level at which vertices are compared; by default the top." default:"-1" group:"Comparison"`
	Picture string `help:"With --match: draw both graphs with the numbers of the pairs, to a .svg or .png file." name:"draw" placeholder:"FILE" group:"Comparison"`
	dataFlags
	multiscaleFlag
	kernelFlags
}

// level is one at which graphs are compared: by the kernel without the levels above it.
type level struct {
	Level  int `json:"level"`
	Radius int `json:"radius"`
	kernel mlg.Kernel
}

func levelsOf(k mlg.Kernel) []level {
	out := make([]level, len(k.Radii)+1)
	for l := range out {
		x := level{Level: l, kernel: k}
		if l > 0 {
			x.Radius = k.Radii[l-1]
		}
		x.kernel.Radii, x.kernel.Combine = k.Radii[:l], mlg.Top
		out[l] = x
	}
	return out
}

func (l level) String() string {
	what := "vertices alone"
	if l.Level > 0 {
		what = fmt.Sprintf("radius %d", l.Radius)
	}
	return fmt.Sprintf("level %d  %-14s", l.Level, what)
}

// Run prints the similarity of two graphs at every level, by the definition, or of two
// datasets.
func (c *compareCmd) Run(g *globals) error {
	if (c.Level >= 0 || c.Picture != "") && !c.Match {
		return usageError("--level and --draw are for --match")
	}
	if err := checkPicture("--draw", c.Picture); err != nil {
		return err
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
	return c.pair(g, one[0], other[0])
}

// pair compares two graphs.
func (c *compareCmd) pair(g *globals, a, b *graph.Graph) error {
	graphs := []*graph.Graph{a, b}
	c.exact = true
	o, err := c.multiscale(g, c.Kernel, graphs)
	if err != nil {
		return err
	}
	type similarity struct {
		level
		Similarity float64 `json:"similarity"`
	}
	var levels []similarity
	for _, l := range levelsOf(o) {
		e, err := mlg.NewExact(g.ctx, graphs, l.kernel)
		if err != nil {
			return err
		}
		k, err := e.Kernel(0, 1)
		if err != nil {
			return err
		}
		levels = append(levels, similarity{l, k})
	}
	out := map[string]any{"base": o.Base, "levels": levels}
	var match *matched
	if c.Match {
		if match, err = c.match(g, a, b, o); err != nil {
			return err
		}
		out["matching"] = match
	}
	if g.JSON {
		return printJSON(g.stdout, out)
	}
	fmt.Fprintf(g.stdout, "%d and %d vertices, %d and %d edges, base kernel %s\n", a.N(), b.N(), a.M(), b.M(), o.Base)
	for _, x := range levels {
		fmt.Fprintf(g.stdout, "%s  %.4f\n", x.level, x.Similarity)
	}
	if match != nil {
		match.print(g.stdout)
	}
	return nil
}
