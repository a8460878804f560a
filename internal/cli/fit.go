package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// sampleFlags say which kernel is fitted to which graphs.
type sampleFlags struct {
	Sample     int    `help:"Number of graphs, drawn at random, that the kernel is fitted to. 0 means all." default:"10000" least:"0" placeholder:"N"`
	SampleSeed uint64 `help:"Seed of that draw." default:"0"`
	dataFlags
	kernelFlag
}

type fitCmd struct {
	Data string `arg:"" help:"Dataset, or - for standard input."`
	Out  string `help:"Model file to write." short:"o" required:"" placeholder:"FILE" ends:""`
	sampleFlags
}

// Run fits a kernel to a sample of graphs and writes a model without a learner.
func (c *fitCmd) Run(g *globals) error {
	m, total, err := c.fitSample(g, c.Data)
	if err != nil {
		return err
	}
	n, k, what := m.Examples(), kernelText(m), m.Compared()
	m.Created = map[string]string{"data": c.Data, "graphs": fmt.Sprint(total), "sample": fmt.Sprint(n), "sample-seed": fmt.Sprint(c.SampleSeed)}
	if err := g.write(c.Out, func() error { return model.Write(g.ctx, c.Out, m) }); err != nil {
		return err
	}
	g.note("compared: %s", what)
	return g.result(map[string]any{"kernel": k, "compared": what, "graphs": total, "sample": n, "file": c.Out},
		"%s: %s fitted to %d of %d graphs", c.Out, k, n, total)
}

// fitSample fits the kernel to a sample of the graphs of a dataset, and returns how many there are.
func (f *sampleFlags) fitSample(g *globals, path string) (m *model.Model, total int, err error) {
	graphs, total, err := f.draw(g, path)
	if err != nil {
		return nil, 0, err
	}
	if m, err = f.fit(g, graphs); err != nil {
		return nil, 0, err
	}
	read := f.dataFlags.options()
	m.ReadBy(read)
	return m, total, nil
}

// draw returns a sample of the graphs of a dataset in their order, each with an identifier, and
// how many there are. Every set of f.Sample graphs has the same probability; one pass, and
// memory for the sample only.
func (f *sampleFlags) draw(g *globals, path string) (graphs []*graph.Graph, total int, err error) {
	data, err := openData(path, f.dataFlags.options())
	if err != nil {
		return nil, 0, err
	}
	r := rand.New(rand.NewPCG(f.SampleSeed, 0x6d6c672d666974)) // "mlg-fit"
	type drawn struct {
		at int
		g  *graph.Graph
	}
	var sample []drawn
	for x, err := range each(g, data) {
		if err != nil {
			return nil, 0, err
		}
		x = x.With(graphName(x, total), x.Target())
		if f.Sample == 0 || len(sample) < f.Sample {
			sample = append(sample, drawn{total, x})
		} else if i := r.IntN(total + 1); i < f.Sample {
			sample[i] = drawn{total, x}
		}
		if total%1024 == 0 {
			g.bar.show("reading", int64(total), 0, "graphs")
		}
		total++
	}
	if total == 0 {
		return nil, 0, fmt.Errorf("%s: no graphs", path)
	}
	slices.SortFunc(sample, func(a, b drawn) int { return a.at - b.at })
	for _, d := range sample {
		graphs = append(graphs, d.g)
	}
	ds := &dataset.Dataset{Name: data.Name(), Graphs: graphs, Keyed: data.Keyed(), AttributeKeys: data.AttributeKeys(), Columns: &dataset.Columns{Roles: data.Roles()}}
	if ds.FillLabels(); ds.Filled > 0 {
		g.note("%s: %s", ds.Name, ds.Warnings[0])
	}
	f.settle(g, ds)
	return ds.Graphs, total, nil
}

// fit returns a kernel fitted to graphs as a model without a learner.
func (f *kernelFlag) fit(g *globals, graphs []*graph.Graph) (*model.Model, error) {
	k, err := f.text().kernel()
	if err != nil {
		return nil, err
	}
	g.resolved(k, graphs)
	return model.New(g.work(), graphs, k)
}

// kernelText names the kernel of a model for people.
func kernelText(m *model.Model) string {
	if n := len(kernel.SumOf(m.Kernel.Asked).Terms); n > 2 {
		return fmt.Sprintf("a sum of %d kernels", n)
	}
	return m.Kernel.String()
}
