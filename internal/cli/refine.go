package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

type refineCmd struct {
	placeFlags
	Model string `arg:"" help:"Model file, trained on a sample of the data."`
	Data  string `arg:"" optional:"" help:"All graphs, with targets, the sample among them. Without it, the sums of all shards in --sums."`
	Shard string `help:"Add up only shard i of n, 1 ≤ i ≤ n, into a file in --sums." placeholder:"I/N" group:"Shards"`
	Sums  string `help:"Folder of the sums of shards. Those that are there are kept." type:"path" placeholder:"DIR" group:"Shards"`
	Out   string `help:"Model file to write." short:"o" placeholder:"FILE" ends:""`

	records int // of the data
}

// sumsExtension ends the names of files of sums.
const sumsExtension = ".sums"

// refineGraphs is the number of graphs that are added at a time.
const refineGraphs = 1024

// Run learns the coefficients of a model from all graphs.
func (c *refineCmd) Run(g *globals) error {
	switch {
	case c.Shard != "" && (c.Sums == "" || c.Data == ""):
		return usageError("--shard needs DATA and --sums, the folder for the sums")
	case c.Shard != "" && c.Out != "":
		return usageError("--shard cannot be used with --out: when all shards are there, mlg refine MODEL --sums DIR -o FILE joins them")
	case c.Shard == "" && c.Out == "":
		return usageError("want --out FILE, or --shard I/N with --sums DIR")
	case c.Data == "" && c.Sums == "":
		return usageError("want DATA, or --sums with the folder of the sums of all shards")
	case c.Data != "" && c.Shard == "" && c.Sums != "":
		return usageError("--sums with DATA needs --shard I/N")
	case strings.HasSuffix(c.Out, ".gz"):
		return usageError(c.Out + ": model files are not compressed, want a name without .gz")
	}
	m, err := readModel(c.Model)
	if err != nil {
		return err
	}
	if err := g.allowSums(m.Examples(), c.copies()); err != nil {
		return err
	}
	r, err := model.NewRefiner(g.work(), m)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	if c.Shard != "" {
		return c.shard(g, r)
	}
	var s *model.Sums
	if c.Data == "" {
		s, err = c.join(g, r)
	} else {
		s, err = c.add(g, r, 1, 1)
	}
	if err != nil {
		return err
	}
	return c.learn(g, r, s)
}

// refineRow is a graph that is added, with what had been read when it was.
type refineRow struct {
	*graph.Graph
	records int
	share   float64 // of the file, 0 where it is not known
}

// rows gives the graphs of a shard. It goes over the records of other shards without making graphs of them, where it can.
func (c *refineCmd) rows(g *globals, d *dataset.Reader, shard, shards int) iter.Seq2[refineRow, error] {
	return func(yield func(refineRow, error) bool) {
		for n := 1; ; n++ {
			var x *graph.Graph
			var err error
			own := n%shards == shard%shards
			if own {
				x, err = d.Try()
			} else {
				err = d.Pass()
			}
			if errors.Is(err, io.EOF) {
				c.records = n - 1
				return
			}
			if err == nil {
				err = g.ctx.Err()
			}
			if err != nil {
				yield(refineRow{}, err)
				return
			}
			if x == nil {
				continue
			}
			id := cmp.Or(x.ID(), strconv.Itoa(n))
			if !yield(refineRow{x.With(id, x.Target()), n, d.Share()}, nil) {
				return
			}
		}
	}
}

// add adds up the graphs of a shard. Some are read while those before them are added.
func (c *refineCmd) add(g *globals, r *model.Refiner, shard, shards int) (*model.Sums, error) {
	s, err := r.Sums(g.work())
	if err != nil {
		return nil, err
	}
	d, err := openData(c.Data, c.like(r.Model))
	if err != nil {
		return nil, err
	}
	defer closeData(g, d)
	told := false
	read := blocks(c.rows(g, d, shard, shards), refineGraphs, blockVertices, func(x refineRow) int { return x.N() })
	for block, err := range ahead(g.ctx, false, read, func(_ context.Context, block []refineRow) []refineRow { return block }) {
		if err != nil {
			return nil, err
		}
		graphs := make([]*graph.Graph, len(block))
		for i, x := range block {
			graphs[i] = x.Graph
		}
		start := time.Now()
		if err := r.Add(g.work(), s, graphs); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Data, err)
		}
		last, all := block[len(block)-1], 0
		if last.share > 0 {
			all = int(float64(last.records) / last.share)
		}
		if !told && (all == 0 || all > last.records) {
			told = true
			g.announceSums(r.Model.Examples(), c.copies(), len(graphs), all/shards, time.Since(start), c.Shard == "")
		}
		g.bar.show("added", int64(last.records), int64(all), "graphs")
	}
	s.Shard, s.Shards, s.Records = shard, shards, c.records
	if s.Examples() == 0 && s.Untargeted > 0 {
		return nil, fmt.Errorf("%s: no graph has a target; --target names their column", c.Data)
	}
	if s.Examples() == 0 && shards == 1 {
		return nil, noGraphs(c.Data, d.Skipped())
	}
	return s, nil
}

// copies returns how often sums are in memory beside those that are added up.
func (c *refineCmd) copies() int {
	if c.Sums != "" { // read or written
		return 1
	}
	return 0
}

// shard writes the sums of a shard, unless they are there.
func (c *refineCmd) shard(g *globals, r *model.Refiner) error {
	i, n, err := parseShard(c.Shard)
	if err != nil {
		return err
	}
	path := filepath.Join(c.Sums, fmt.Sprintf("shard-%d-of-%d%s", i, n, sumsExtension))
	empty, err := r.Sums(g.work())
	if err != nil {
		return err
	}
	kept := true
	s, err := model.ReadSums(path)
	if err != nil || empty.Join(s) != nil || s.Shard != i || s.Shards != n {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			g.note("%v; computed again", err)
		}
		kept = false
		if s, err = c.add(g, r, i, n); err != nil {
			return err
		}
		if err := os.MkdirAll(c.Sums, 0o777); err != nil {
			return err
		}
		if err := g.write(path, func() error { return model.WriteSums(g.ctx, path, s) }); err != nil {
			return err
		}
	}
	how := "added up"
	if kept {
		how = "kept"
	}
	return g.result(map[string]any{"file": path, "shard": i, "shards": n, "graphs": s.Examples(), "untargeted": s.Untargeted, "kept": kept},
		"%s: sums of %s, %s", path, agree(s.Examples(), "graph", "graphs"), how)
}

// join joins the sums of all shards.
func (c *refineCmd) join(g *globals, r *model.Refiner) (*model.Sums, error) {
	paths, err := filepath.Glob(filepath.Join(c.Sums, "*"+sumsExtension))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no sums; mlg refine MODEL DATA --shard I/N --sums %s writes them", c.Sums, c.Sums)
	}
	total, err := r.Sums(g.work())
	if err != nil {
		return nil, err
	}
	var there []bool
	for k, path := range paths {
		s, err := model.ReadSums(path)
		if err != nil {
			return nil, err
		}
		if there == nil {
			total.Shards, total.Records, there = s.Shards, s.Records, make([]bool, s.Shards)
		}
		switch {
		case s.Shards != total.Shards || s.Shards == 0:
			return nil, fmt.Errorf("%s is shard %d of %d, and %s one of %d; delete those that do not belong here", path, s.Shard, s.Shards, paths[0], total.Shards)
		case s.Records != total.Records:
			return nil, fmt.Errorf("%s is of data with %d records, and %s of data with %d", path, s.Records, paths[0], total.Records)
		case there[s.Shard-1]:
			return nil, fmt.Errorf("%s: shard %d of %d is there twice", path, s.Shard, s.Shards)
		}
		there[s.Shard-1] = true
		if err := total.Join(s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		g.bar.show("joined", int64(k+1), int64(len(paths)), "shards")
	}
	if missing := slices.Index(there, false); missing >= 0 {
		return nil, fmt.Errorf("%s: shard %d of %d is missing", c.Sums, missing+1, len(there))
	}
	return total, nil
}

// learn learns from sums, writes the model and says how good it may be.
func (c *refineCmd) learn(g *globals, r *model.Refiner, s *model.Sums) error {
	m, p, err := r.Learn(g.work(), s, model.DefaultLearnOptions())
	if err != nil {
		return err
	}
	if err := g.write(c.Out, func() error { return model.Write(g.ctx, c.Out, m) }); err != nil {
		return err
	}
	took := time.Since(g.start)
	x := refined{
		File: c.Out, Data: cmp.Or(c.Data, c.Sums), Graphs: s.Examples(), Untargeted: s.Untargeted, Centres: m.Examples(), Classes: p.Classes,
		Ridge: p.Parameter, Edge: p.Edge, Estimate: p.Estimate, Baseline: baselineScore(p), Bytes: fileSize(c.Out), Seconds: took.Seconds(),
	}
	if l := m.Learner.Process; l != nil {
		x.process = &process{l.Noise(), l.ReplicateNoise, l.Replicates, l.Wider, l.Clipped, p.Calibration()}
	}
	if g.JSON {
		return printJSON(g.stdout, x)
	}
	fmt.Fprintln(g.stdout, dataText(x.Data+": ", x.Graphs, x.Classes))
	if s.Untargeted > 0 {
		fmt.Fprintf(g.stdout, "  %s left out\n", agree(s.Untargeted, "graph without a target was", "graphs without a target were"))
	}
	fmt.Fprintf(g.stdout, "%d centres, ridge %g\n", x.Centres, x.Ridge)
	text := trained{Classes: x.Classes, Estimate: x.Estimate, Baseline: x.Baseline, process: x.process}
	text.printEstimate(g.stdout, p)
	if p.Classes == nil {
		text.printCalibration(g.stdout)
	}
	_, err = fmt.Fprintf(g.stdout, "\n%s: %s, %s\n", c.Out, count(float64(x.Bytes), "B"), round(took))
	return err
}

// refined is the command's report on a model.
type refined struct {
	File       string          `json:"file"`
	Data       string          `json:"data"` // or the folder of sums
	Graphs     int             `json:"graphs"`
	Untargeted int             `json:"untargeted"`
	Centres    int             `json:"centres"`
	Classes    []string        `json:"classes,omitempty"`
	Ridge      float64         `json:"ridge"`
	Edge       bool            `json:"edge,omitempty"` // the ridge is the smallest or largest of its grid
	Estimate   choose.Estimate `json:"estimate"`
	*process
	Baseline float64 `json:"baseline"` // that of the largest class, or the deviation of the values
	Bytes    int64   `json:"bytes"`
	Seconds  float64 `json:"seconds"`
}
