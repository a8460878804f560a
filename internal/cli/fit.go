package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

type fitCmd struct {
	dataFlags
	kernelFlags
	Kernel     string `help:"mlg or flg." default:"mlg" enum:"mlg,flg"`
	Data       string `arg:"" help:"Dataset, or - for standard input."`
	Out        string `help:"Model file to write." short:"o" required:"" placeholder:"FILE"`
	Sample     int    `help:"Fit to this many graphs of DATA, drawn at random; 0 means all." default:"10000" placeholder:"N"`
	SampleSeed uint64 `help:"Seed of the draw of graphs." default:"0"`
}

// Run fits a kernel to a sample of graphs and writes a model without a learner.
func (c *fitCmd) Run(g *globals) error {
	if c.given()["exact"] == "true" {
		return usageError("--exact: the exact kernel has no model; mlg gram --exact computes its matrix")
	}
	if c.Sample < 0 {
		return usageError(fmt.Sprintf("--sample %d: want a number of graphs, or 0 for all", c.Sample))
	}
	start := time.Now()
	bar := newBar(g)
	defer bar.done()
	graphs, total, err := c.draw(g, bar)
	if err != nil {
		return err
	}
	m, err := c.fit(g, c.Kernel, graphs, bar)
	if err != nil {
		return err
	}
	m.Graphs = nil // a low-rank kernel does not need them
	k := kernelText(m)
	read := c.dataFlags.options()
	m.Reader = &read
	m.Created = map[string]string{"data": c.Data, "graphs": fmt.Sprint(total), "sample": fmt.Sprint(len(graphs)), "sample-seed": fmt.Sprint(c.SampleSeed)}
	if err := model.Write(g.ctx, c.Out, m); err != nil {
		return err
	}
	bar.done()
	took := time.Since(start)
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"kernel": k, "graphs": total, "sample": len(graphs), "seconds": took.Seconds(), "file": c.Out})
	}
	g.note("%s: %s fitted to %d of %d graphs in %s", c.Out, k, len(graphs), total, round(took))
	return nil
}

// draw returns a sample of the graphs of DATA in their order, each with an identifier, and
// how many there are. Every set of c.Sample graphs has the same probability; one pass, and
// memory for the sample only.
func (c *fitCmd) draw(g *globals, bar *bar) (graphs []*graph.Graph, total int, err error) {
	data, err := openData(c.Data, c.dataFlags.options())
	if err != nil {
		return nil, 0, err
	}
	defer closeData(g, data)
	r := rand.New(rand.NewPCG(c.SampleSeed, 0x6d6c672d666974)) // "mlg-fit"
	type drawn struct {
		at int
		g  *graph.Graph
	}
	var sample []drawn
	for ; ; total++ {
		if err := g.ctx.Err(); err != nil {
			return nil, 0, err
		}
		x, err := data.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if x.ID() == "" {
			x = x.With(fmt.Sprint(total+1), x.Target())
		}
		if c.Sample == 0 || len(sample) < c.Sample {
			sample = append(sample, drawn{total, x})
		} else if i := r.IntN(total + 1); i < c.Sample {
			sample[i] = drawn{total, x}
		}
		if total%1024 == 0 {
			bar.show("reading", int64(total), 0, "graphs")
		}
	}
	if total == 0 {
		return nil, 0, fmt.Errorf("%s: no graphs", c.Data)
	}
	slices.SortFunc(sample, func(a, b drawn) int { return a.at - b.at })
	for _, d := range sample {
		graphs = append(graphs, d.g)
	}
	return graphs, total, nil
}

// fit returns a kernel fitted to graphs as a model without a learner.
func (f *kernelFlags) fit(g *globals, name string, graphs []*graph.Graph, bar *bar) (*model.Model, error) {
	k, err := f.kernel(g, name, graphs)
	if err != nil {
		return nil, err
	}
	return model.New(f.work(g, bar), graphs, k)
}

// kernelText names the kernel of a model for people.
func kernelText(m *model.Model) string {
	if n := len(m.Kernel.Sum.Terms); n > 1 {
		return fmt.Sprintf("a sum of %d kernels", n)
	}
	return m.Kernel.Sum.String()
}
