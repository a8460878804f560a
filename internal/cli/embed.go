package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/matrix"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/store"
)

type embedCmd struct {
	Input     string         `arg:"" help:"Model, store or dataset."`
	Data      string         `arg:"" optional:"" help:"With a model: the dataset to embed, or - for standard input."`
	Dim       int            `help:"Dimension of the vectors." default:"256"`
	Pivots    nystrom.Pivots `help:"Choice of landmark graphs among those of the model: random (in proportion to what is not represented yet), greedy (the worst represented)." default:"random" enum:"random,greedy"`
	PivotSeed uint64         `help:"Seed of --pivots random." default:"0"`
	Out       string         `help:"File to write: .npy." short:"o" required:"" placeholder:"FILE"`
	sampleFlags
}

// Run writes the vectors of graphs.
func (c *embedCmd) Run(g *globals) error {
	if c.Dim < 1 {
		return usageError(fmt.Sprintf("--dim %d: want at least 1", c.Dim))
	}
	if err := checkFile("-o", c.Out, ".npy"); err != nil {
		return err
	}
	in, err := c.open(g)
	if err != nil {
		return err
	}
	e, err := nystrom.Fit(g.work(), in.space, nystrom.Options{Dim: c.Dim, Pivots: c.Pivots, Seed: c.PivotSeed})
	if err != nil {
		return err
	}
	found, err := c.write(g, e, in)
	if err != nil {
		return err
	}
	if e.Dim() < c.Dim {
		g.note("the %d graphs of the model span no more than %d dimensions", in.space.Train().Len(), e.Dim())
	}
	g.note("residual of a graph: %.3g in the mean, at most %.3g; error of a kernel value: %.3g (root mean square), at most %.3g over %d pairs",
		found.MeanResidual, found.MaxResidual, found.RMSError, found.MaxError, found.Pairs)
	return g.result(map[string]any{"kernel": in.space.String(), "graphs": found.Graphs, "dim": e.Dim(), "errors": found, "file": c.Out},
		"%s: %d vectors of dimension %d for %s", c.Out, found.Graphs, e.Dim(), in.space)
}

// embedBatch is the number of graphs that are embedded at a time.
const embedBatch = 8192

// embedInput is what is embedded.
type embedInput struct {
	space *store.Space
	// each calls add with the records of some graphs after the other, their identifiers and targets.
	each func(add func(records []float64, ids, targets []string) error) error
}

// open finds out what the arguments are.
func (c *embedCmd) open(g *globals) (*embedInput, error) {
	switch {
	case store.Is(c.Input):
		if c.Data != "" {
			return nil, usageError(c.Input + " is a store, which has its graphs in it: leave out DATA")
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
		return embedStream(g, m, c.like(m), c.Data)
	case c.Data != "":
		return nil, usageError(c.Input + " is not a model, which the first of two arguments must be")
	case c.Input == "-":
		return nil, usageError("standard input can be read once only, and is needed to fit and to embed: fit a model first")
	}
	m, _, err := c.fitSample(g, c.Input)
	if err != nil {
		return nil, err
	}
	return embedStream(g.quietly(), m, c.dataFlags.options(), c.Input) // warnings have been printed
}

func embedStore(path string) (*embedInput, error) {
	s, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	return &embedInput{s.Space(), func(add func([]float64, []string, []string) error) error {
		defer s.Close()
		for at := 0; at < s.Len(); at += embedBatch {
			end := min(at+embedBatch, s.Len())
			records, err := s.Records(at, end)
			if err != nil {
				return err
			}
			ids, targets, err := s.Texts(at, end)
			if err != nil {
				return err
			}
			if err := add(records, ids, targets); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func embedStream(g *globals, m *model.Model, o dataset.Options, path string) (*embedInput, error) {
	space, err := store.NewSpace(m)
	if err != nil {
		return nil, err
	}
	data, err := openData(path, o)
	if err != nil {
		return nil, err
	}
	return &embedInput{space, func(add func([]float64, []string, []string) error) error {
		var graphs []*graph.Graph
		var ids, targets []string
		n := 0
		flush := func() error {
			records, err := space.Transform(g.ctx, graphs)
			if err == nil {
				err = add(records, ids, targets)
			}
			graphs, ids, targets = nil, nil, nil
			return err
		}
		for x, err := range each(g, data) {
			if err != nil {
				return err
			}
			graphs, ids, targets = append(graphs, x), append(ids, graphName(x, n)), append(targets, x.Target())
			if n++; len(graphs) == embedBatch {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if len(graphs) == 0 {
			return nil
		}
		return flush()
	}}, nil
}

// write writes the vectors and, beside them, identifiers and targets.
func (c *embedCmd) write(g *globals, e *nystrom.Embedding, in *embedInput) (found nystrom.Errors, err error) {
	f, err := matrix.CreateRows(c.Out, e.Dim())
	if err != nil {
		return found, err
	}
	defer func() {
		if err != nil {
			f.Discard()
		}
	}()
	monitor := e.NewMonitor(c.SampleSeed)
	var axis matrix.Axis
	err = in.each(func(records []float64, ids, targets []string) error {
		vectors, err := e.Transform(g.ctx, records)
		if err != nil {
			return err
		}
		monitor.Add(records, vectors)
		axis.IDs, axis.Targets = append(axis.IDs, ids...), append(axis.Targets, targets...)
		g.bar.show("embedding", int64(len(axis.IDs)), 0, "graphs")
		return f.Write(vectors)
	})
	if err != nil {
		return found, err
	}
	if len(axis.IDs) == 0 {
		return found, errors.New("no graphs to embed")
	}
	if found, err = monitor.Errors(); err != nil {
		return found, err
	}
	if err := output(g, idsFile(c.Out), axis.WriteCSV); err != nil {
		return found, err
	}
	return found, f.Commit()
}

// idsFile returns the name of the file of identifiers beside a .npy file.
func idsFile(path string) string { return strings.TrimSuffix(path, ".npy") + ".ids.csv" }
