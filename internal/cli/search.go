package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

type searchCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	From  string `arg:"" help:"Model file, whose training graphs are searched, store (mlg transform), or dataset." name:"from"`
	Query string `arg:"" help:"Graphs to search for: a file, an identifier of the searched graphs, or a SMILES." optional:""`
	Like  string `help:"Search for the graph with this identifier or number among the searched ones, which is left out." placeholder:"ID" group:"Search"`
	Count int    `help:"Number of graphs to find." short:"k" name:"count" default:"10" group:"Search"`
	CSV   bool   `help:"Print a table as CSV." name:"csv" group:"Search"`
	Out   string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" group:"Search"`
}

// library is a collection of graphs to search in.
type library struct {
	ids, targets []string
	graphs       []*graph.Graph // nil where a model does not keep them
	kernel       string
	read         reading
	cross        func(graphs []*graph.Graph) (*mlg.Matrix, error)
}

// found is what is similar to one query.
type found struct {
	Query   string        `json:"query"`
	Results []foundResult `json:"results"`
}

type foundResult struct {
	Rank       int     `json:"rank"`
	ID         string  `json:"id"`
	Index      int     `json:"index"` // position among the searched graphs, from 0
	Target     string  `json:"target,omitempty"`
	Similarity float64 `json:"similarity"`
}

// Run searches for the most similar graphs. It looks at every one.
func (c *searchCmd) Run(g *globals, k *kong.Context) error {
	switch {
	case c.CSV && g.JSON:
		return usageError("--csv and --json exclude each other")
	case c.Count < 1:
		return usageError("-k: want at least 1")
	case (c.Query == "") == (c.Like == ""):
		return usageError("want either a query or --like ID")
	}
	if store.Is(c.From) {
		return c.inStore(g, given(k, "MLG and FLG", "Other kernels"))
	}
	lib, err := c.library(g, given(k, "MLG and FLG", "Other kernels"))
	if err != nil {
		return err
	}
	queries, self, err := c.queries(g, lib)
	if err != nil {
		return err
	}
	took := time.Duration(0)
	err = output(g, c.Out, func(w io.Writer) error {
		write := c.writer(g, w)
		rows := max(1, min(blockGraphs, blockValues/max(1, len(lib.ids))))
		for at := 0; at < len(queries); at += rows {
			block := queries[at:min(at+rows, len(queries))]
			start := time.Now()
			cross, err := lib.cross(block)
			if err != nil {
				return err
			}
			out := make([]found, len(block))
			for i, q := range block {
				out[i] = lib.best(graphName(q, at+i), cross.Row(i), c.Count, self)
			}
			took += time.Since(start)
			if err := write(out); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s among %d graphs in %s by", agree(len(queries), "query", "queries"), len(lib.ids), round(took))
	g.note("%s %s", what, breakLines(lib.kernel, len(what)+1, 2))
	return nil
}

// library reads what is searched.
func (c *searchCmd) library(g *globals, flags []string) (*library, error) {
	if looksLikeModel(c.From) {
		if len(flags) > 0 {
			return nil, usageError(flags[0] + ": a model has its kernel; the flag is for searching in a dataset")
		}
		m, err := readModel(g, c.From)
		if err != nil {
			return nil, err
		}
		in := c.input()
		r, err := in.reading(m)
		if err != nil {
			return nil, err
		}
		lib := &library{ids: m.IDs, targets: m.Targets, graphs: m.Graphs, read: r, kernel: m.Kernels[0].String()}
		if n := len(m.Kernels); n > 1 {
			lib.kernel = fmt.Sprintf("a sum of %d kernels", n)
		}
		lib.cross = func(graphs []*graph.Graph) (*mlg.Matrix, error) { return m.Cross(g.ctx, graphs) }
		return lib, nil
	}
	ds, err := c.read(g, c.From)
	if err != nil {
		return nil, err
	}
	o, err := c.dataFlags.options()
	if err != nil {
		return nil, err
	}
	o.Format = dataset.Auto // that of the query may be another
	weight, err := dataset.ParseEdgeWeight(c.EdgeWeight)
	if err != nil {
		return nil, usageError(err.Error())
	}
	bar := newBar(g)
	defer bar.done()
	kernel, err := c.kernel(g, c.Kernel, ds.Graphs, bar)
	if err != nil {
		return nil, err
	}
	fitted, err := kernel.Fit(g.ctx, ds.Graphs)
	if err != nil {
		return nil, err
	}
	lib := &library{ids: ds.IDs(), targets: ds.Targets(), graphs: ds.Graphs, read: reading{o, weight}, kernel: kernel.String()}
	lib.cross = func(graphs []*graph.Graph) (*mlg.Matrix, error) { return fitted.Cross(g.ctx, graphs) }
	return lib, nil
}

// queries returns the graphs to search for, and the position of the one among the searched
// graphs that is not to be found, −1 for none.
func (c *searchCmd) queries(g *globals, lib *library) (queries []*graph.Graph, self int, err error) {
	byID := func(id string) int { return slices.Index(lib.ids, id) }
	if c.Like != "" {
		at := byID(c.Like)
		if n, err := strconv.Atoi(c.Like); at < 0 && err == nil && n >= 1 && n <= len(lib.ids) {
			at = n - 1
		}
		if at < 0 {
			return nil, -1, fmt.Errorf("%s has no graph with the identifier %q, and it is no number from 1 to %d", c.From, c.Like, len(lib.ids))
		}
		if lib.graphs == nil {
			return nil, -1, fmt.Errorf("%s does not keep its training graphs: give the graph itself as query", c.From)
		}
		return []*graph.Graph{lib.graphs[at].With(lib.ids[at], "")}, at, nil
	}
	queries, err = lib.read.graphs(g, c.Query)
	if at := byID(c.Query); err != nil && at >= 0 && lib.graphs != nil {
		return []*graph.Graph{lib.graphs[at].With(c.Query, "")}, at, nil
	}
	return queries, -1, err
}

// best returns the graphs with the largest values of a row.
func (l *library) best(query string, row []float64, k, self int) found {
	out := found{Query: query, Results: []foundResult{}}
	if self >= 0 {
		k++
	}
	for _, i := range model.Top(row, k) {
		if i == self || self >= 0 && len(out.Results) == k-1 {
			continue
		}
		r := foundResult{Rank: len(out.Results) + 1, ID: l.ids[i], Index: i, Similarity: row[i]}
		if l.targets != nil {
			r.Target = l.targets[i]
		}
		out.Results = append(out.Results, r)
	}
	return out
}

func (c *searchCmd) writer(g *globals, w io.Writer) func([]found) error {
	switch {
	case g.JSON:
		e := json.NewEncoder(w)
		return func(list []found) error {
			for i := range list {
				if err := e.Encode(&list[i]); err != nil {
					return err
				}
			}
			return nil
		}
	case c.CSV:
		t := csv.NewWriter(w)
		t.Write([]string{"query", "rank", "id", "target", "similarity"})
		return func(list []found) error {
			for _, f := range list {
				for _, r := range f.Results {
					t.Write([]string{f.Query, strconv.Itoa(r.Rank), r.ID, r.Target, strconv.FormatFloat(r.Similarity, 'g', -1, 64)})
				}
			}
			t.Flush()
			return t.Error()
		}
	}
	first := true
	return func(list []found) error {
		for _, f := range list {
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			if _, err := fmt.Fprintf(w, "%s\n", clip(f.Query, 78)); err != nil {
				return err
			}
			for _, r := range f.Results {
				if _, err := fmt.Fprintf(w, "%4d  %.4f  %-34s %s\n", r.Rank, r.Similarity, clip(r.ID, 34), clip(r.Target, 30)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
