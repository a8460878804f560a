package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/matrix"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/store"
)

type embedCmd struct {
	dataFlags
	kernelFlags
	Kernel     string         `help:"Without a model: mlg or flg." default:"mlg" enum:"mlg,flg"`
	Input      string         `arg:"" help:"Model, store or dataset."`
	Data       string         `arg:"" optional:"" help:"With a model: the dataset to embed, or - for standard input."`
	Dim        int            `help:"Dimension of the vectors." default:"256"`
	Pivots     nystrom.Pivots `help:"Choice of landmark graphs among those of the model: random (in proportion to what is not represented yet), greedy (the worst represented)." default:"random" enum:"random,greedy"`
	PivotSeed  uint64         `help:"Seed of --pivots random." default:"0"`
	Out        string         `help:"File to write: .npy." short:"o" required:"" placeholder:"FILE"`
	Sample     int            `help:"Without a model: fit to this many graphs, drawn at random; 0 means all." default:"10000" placeholder:"N"`
	SampleSeed uint64         `help:"Seed of the draw of graphs." default:"0"`
}

// Run writes the vectors of graphs.
func (c *embedCmd) Run(g *globals) error {
	start := time.Now()
	if c.Dim < 1 {
		return usageError(fmt.Sprintf("--dim %d: want at least 1", c.Dim))
	}
	if filepath.Ext(c.Out) != ".npy" {
		return usageError(c.Out + ": vectors are written to a .npy file")
	}
	bar := newBar(g)
	defer bar.done()
	in, err := c.open(g, bar)
	if err != nil {
		return err
	}
	defer in.close()
	e, err := nystrom.Fit(g.work(bar), in.space, nystrom.Options{Dim: c.Dim, Pivots: c.Pivots, Seed: c.PivotSeed})
	if err != nil {
		return err
	}
	found, err := c.write(g, e, in, bar)
	if err != nil {
		return err
	}
	bar.done()
	took := time.Since(start)
	if g.JSON {
		return printJSON(g.stdout, map[string]any{
			"kernel": in.space.String(), "graphs": found.Graphs, "dim": e.Dim(), "errors": found, "seconds": took.Seconds(), "file": c.Out,
		})
	}
	if e.Dim() < c.Dim {
		g.note("the %d graphs of the model span no more than %d dimensions", in.space.Train().Len(), e.Dim())
	}
	g.note("%s: %d vectors of dimension %d for %s in %s", c.Out, found.Graphs, e.Dim(), in.space, round(took))
	g.note("residual of a graph: %.3g in the mean, at most %.3g; error of a kernel value: %.3g (root mean square), at most %.3g over %d pairs",
		found.MeanResidual, found.MaxResidual, found.RMSError, found.MaxError, found.Pairs)
	return nil
}

// embedInput gives the records to embed, some at a time.
type embedInput struct {
	space *store.Space
	// next returns records with their identifiers and targets, and io.EOF after the last.
	next  func() (records []float64, ids, targets []string, err error)
	close func()
}

// open finds out what the arguments are.
func (c *embedCmd) open(g *globals, bar *bar) (*embedInput, error) {
	switch {
	case store.Is(c.Input):
		if c.Data != "" {
			return nil, usageError(c.Input + " is a store, which has its graphs in it: leave out DATA")
		}
		return openStore(g, c.Input)
	case model.Is(c.Input):
		if c.Data == "" {
			return nil, usageError(c.Input + " is a model: name the dataset to embed")
		}
		m, err := model.Read(c.Input)
		if err != nil {
			return nil, err
		}
		return openStream(g, m, c.like(m), c.Data)
	case c.Data != "":
		return nil, usageError(c.Input + " is not a model, which the first of two arguments must be")
	case c.Input == "-":
		return nil, usageError("standard input can be read once only, and is needed to fit and to embed: fit a model first")
	case c.given()["exact"] == "true":
		return nil, usageError("--exact: the exact kernel has no model, and so no vectors")
	}
	fit := fitCmd{dataFlags: c.dataFlags, Data: c.Input, Sample: c.Sample, SampleSeed: c.SampleSeed}
	graphs, _, err := fit.draw(g, bar)
	if err != nil {
		return nil, err
	}
	m, err := c.fit(g, c.Kernel, graphs, bar)
	if err != nil {
		return nil, err
	}
	quiet := *g
	quiet.Quiet = true // warnings have been printed
	return openStream(&quiet, m, c.dataFlags.options(), c.Input)
}

// embedBatch is the number of graphs that are embedded at a time.
const embedBatch = 8192

func openStore(g *globals, path string) (*embedInput, error) {
	s, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	at := 0
	next := func() ([]float64, []string, []string, error) {
		if at == s.Len() {
			return nil, nil, nil, io.EOF
		}
		hi := min(at+embedBatch, s.Len())
		records, err := s.Records(at, hi)
		if err != nil {
			return nil, nil, nil, err
		}
		ids, targets, err := s.Texts(at, hi)
		at = hi
		return records, ids, targets, err
	}
	return &embedInput{s.Space(), next, func() { s.Close() }}, nil
}

func openStream(g *globals, m *model.Model, o dataset.Options, path string) (*embedInput, error) {
	space, err := store.NewSpace(m)
	if err != nil {
		return nil, err
	}
	data, err := openData(path, o)
	if err != nil {
		return nil, err
	}
	n := 0
	next := func() ([]float64, []string, []string, error) {
		var graphs []*graph.Graph
		var ids, targets []string
		for len(graphs) < embedBatch {
			x, err := data.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, nil, nil, err
			}
			n++
			id := x.ID()
			if id == "" {
				id = fmt.Sprint(n)
			}
			graphs, ids, targets = append(graphs, x), append(ids, id), append(targets, x.Target())
		}
		if len(graphs) == 0 {
			return nil, nil, nil, io.EOF
		}
		records, err := space.Transform(g.ctx, graphs)
		return records, ids, targets, err
	}
	return &embedInput{space, next, func() { closeData(g, data) }}, nil
}

// write writes the vectors and, beside them, identifiers and targets.
func (c *embedCmd) write(g *globals, e *nystrom.Embedding, in *embedInput, bar *bar) (found nystrom.Errors, err error) {
	f, err := matrix.CreateRows(c.Out, e.Dim())
	if err != nil {
		return found, err
	}
	monitor := e.NewMonitor(c.SampleSeed)
	var axis matrix.Axis
	err = func() error {
		for {
			records, ids, targets, err := in.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			vectors, err := e.Transform(g.ctx, records)
			if err != nil {
				return err
			}
			monitor.Add(records, vectors)
			axis.IDs, axis.Targets = append(axis.IDs, ids...), append(axis.Targets, targets...)
			if err := f.Write(vectors); err != nil {
				return err
			}
			bar.show("embedding", int64(len(axis.IDs)), 0, "graphs")
		}
	}()
	if err == nil {
		found, err = monitor.Errors()
	}
	if err == nil && found.Graphs == 0 {
		err = errors.New("no graphs to embed")
	}
	if err != nil {
		f.Discard()
		return found, err
	}
	if err := g.write(idsFile(c.Out), func() error { return file.Write(g.ctx, idsFile(c.Out), axis.WriteCSV) }); err != nil {
		f.Discard()
		return found, err
	}
	return found, f.Commit()
}

// idsFile returns the name of the file of identifiers beside a .npy file.
func idsFile(path string) string { return strings.TrimSuffix(path, ".npy") + ".ids.csv" }
