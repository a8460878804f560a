package cli

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/work"
)

type embedCmd struct {
	Input     string         `arg:"" help:"Model, store or dataset."`
	Data      string         `arg:"" optional:"" help:"With a model: the dataset to embed, or - for standard input."`
	Dim       int            `help:"Dimension of the vectors." name:"dimension" default:"256" least:"1"`
	Pivots    nystrom.Pivots `help:"How landmark graphs are chosen: random (in proportion to what is not represented yet) or greedy (the worst represented)." default:"random" enum:"random,greedy"`
	PivotSeed uint64         `help:"Seed of --pivots random." default:"0"`
	Out       string         `help:"File to write: .npy." short:"o" required:"" placeholder:"FILE" ends:".npy"`
	sampleFlags
}

// Run writes the vectors of graphs.
func (c *embedCmd) Run(g *globals) error {
	in, err := c.open(g)
	if err != nil {
		return err
	}
	train, err := in.Kernel.Train(g.work())
	if err != nil {
		return err
	}
	if err := c.fits(train.Len()); err != nil {
		return err
	}
	e, _, err := nystrom.Fit(g.work(), in.Kernel, train, nystrom.Options{Dim: c.Dim, Pivots: c.Pivots, Seed: c.PivotSeed})
	if err != nil {
		return err
	}
	found, err := c.write(g, e, in)
	if err != nil {
		return err
	}
	if e.Dim() < c.Dim {
		g.note("the model has %s, which span no more than %d dimensions", agree(len(e.Residual), "graph", "graphs"), e.Dim())
	}
	what := in.Compared()
	g.note("compared: %s", what)
	g.note("residual of a graph: %.3g on average, at most %.3g; error of a kernel value: %.3g (root mean square), at most %.3g over %d pairs",
		found.MeanResidual, found.MaxResidual, found.RMSError, found.MaxError, found.Pairs)
	return g.result(map[string]any{
		"kernel": in.Kernel.String(), "compared": what, "graphs": found.Graphs, "dim": e.Dim(), "errors": found, "file": c.Out,
	}, "%s: %d vectors of dimension %d for %s", c.Out, found.Graphs, e.Dim(), kernelText(in.Model))
}

// fits refuses vectors of so many dimensions that choosing landmarks among n graphs takes more memory than there is: for
// the vectors of all of them, which are copied as they grow, for a triangle, and for the graphs of two batches.
func (c *embedCmd) fits(n int) error {
	dim := float64(min(c.Dim, n))
	return work.CheckMemory(fmt.Sprintf("%d vectors of dimension %.0f", n, dim), 8*dim*(1.5*float64(n)+dim/2+2*embedGraphs), 0,
		"take a smaller --dimension or --sample")
}

// embedGraphs is the number of graphs that are embedded at a time.
const embedGraphs = 2048

// batch is the features of some graphs.
type batch struct {
	features kernel.Features
	matrixfile.Axis
}

// embedInput is what is embedded.
type embedInput struct {
	*model.Model
	batches iter.Seq2[batch, error]
	total   int // graphs, 0 where that is not known
}

// open decides what the arguments mean.
func (c *embedCmd) open(g *globals) (*embedInput, error) {
	switch {
	case store.Is(c.Input):
		if c.Data != "" {
			return nil, usageError(c.Input + " is a store and has its own graphs: leave out DATA")
		}
		return embedStore(c.Input)
	case model.Is(c.Input):
		if c.Data == "" {
			return nil, usageError(c.Input + " is a model: name the dataset to embed")
		}
		m, err := readModel(c.Input)
		if err != nil {
			return nil, err
		}
		return embedStream(g, m, c.like(m), c.Data, 0)
	case c.Data != "":
		return nil, usageError(c.Input + " is not a model: the first of two arguments must be a model file")
	case c.Input == "-":
		return nil, usageError("standard input can be read only once, but fitting and embedding both read it: fit a model first, with mlg fit")
	}
	m, total, err := c.fitSample(g, c.Input)
	if err != nil {
		return nil, err
	}
	return embedStream(g.quietly(), m, c.dataFlags.options(), c.Input, total) // warnings have been printed
}

func embedStore(path string) (*embedInput, error) {
	s, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	return &embedInput{s.Model(), func(yield func(batch, error) bool) {
		defer s.Close()
		for at := 0; at < s.Len(); at += embedGraphs {
			end := min(at+embedGraphs, s.Len())
			a, err := s.Features(at, end)
			ids, targets, textErr := s.Texts(at, end)
			if !yield(batch{a, matrixfile.Axis{IDs: ids, Targets: targets}}, cmp.Or(err, textErr)) {
				return
			}
		}
	}, s.Len()}, nil
}

func embedStream(g *globals, m *model.Model, o dataset.Options, path string, total int) (*embedInput, error) {
	data, err := openData(path, o)
	if err != nil {
		return nil, err
	}
	return &embedInput{m, func(yield func(batch, error) bool) {
		n := 0
		for graphs, err := range blocks(each(g, data), embedGraphs, math.MaxInt, (*graph.Graph).N) {
			var b batch
			if err == nil {
				b.features, err = m.Kernel.Transform(g.ctx, graphs)
			}
			for _, x := range graphs {
				b.IDs, b.Targets = append(b.IDs, graphName(x, n)), append(b.Targets, x.Target())
				n++
			}
			if !yield(b, err) {
				return
			}
		}
	}, total}, nil
}

// write writes the vectors and, beside them, identifiers and targets.
func (c *embedCmd) write(g *globals, e *nystrom.Embedding, in *embedInput) (found nystrom.Residuals, err error) {
	monitor := e.NewMonitor(c.SampleSeed)
	g.bar.show("embedding", 0, int64(in.total), "graphs")
	err = g.write(c.Out, func() error {
		return matrixfile.WriteRows(g.ctx, c.Out, e.Dim(), func(write func([]float64) error) (axis matrixfile.Axis, err error) {
			for b, err := range in.batches {
				if err != nil {
					return axis, err
				}
				vectors, err := e.Transform(g.ctx, b.features)
				if err != nil {
					return axis, err
				}
				if err := monitor.Add(g.ctx, b.features, vectors); err != nil {
					return axis, err
				}
				if err := write(vectors); err != nil {
					return axis, err
				}
				axis.IDs, axis.Targets = append(axis.IDs, b.IDs...), append(axis.Targets, b.Targets...)
				g.bar.show("embedding", int64(len(axis.IDs)), int64(in.total), "graphs")
			}
			if len(axis.IDs) == 0 {
				return axis, errors.New("no graphs to embed")
			}
			found, err = monitor.Residuals(g.ctx)
			return axis, err
		})
	})
	return found, err
}
