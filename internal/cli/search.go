package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
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
func (c *searchCmd) Run(g *globals) error {
	switch {
	case c.CSV && g.JSON:
		return usageError("--csv and --json exclude each other")
	case c.Count < 1:
		return usageError("-k: want at least 1")
	case (c.Query == "") == (c.Like == ""):
		return usageError("want either a query or --like ID")
	}
	if store.Is(c.From) {
		return c.inStore(g)
	}
	m, read, err := c.library(g)
	if err != nil {
		return err
	}
	queries, self, err := c.queries(g, m, read)
	if err != nil {
		return err
	}
	took := time.Duration(0)
	err = output(g, c.Out, func(w io.Writer) error {
		write := c.writer(g, w)
		rows := max(1, min(blockGraphs, blockValues/max(1, len(m.IDs))))
		for at := 0; at < len(queries); at += rows {
			block := queries[at:min(at+rows, len(queries))]
			start := time.Now()
			cross, err := m.Kernel.Cross(g.ctx, block)
			if err != nil {
				return err
			}
			out := make([]found, len(block))
			for i, q := range block {
				out[i] = best(m, graphName(q, at+i), cross.Row(i), c.Count, self)
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
	what := fmt.Sprintf("%s among %d graphs in %s by", agree(len(queries), "query", "queries"), len(m.IDs), round(took))
	g.note("%s %s", what, breakLines(kernelText(m), len(what)+1, 2))
	return nil
}

// library returns what is searched as a model, which need not have a learner, and how queries are
// read.
func (c *searchCmd) library(g *globals) (m *model.Model, read dataset.Options, err error) {
	if model.Is(c.From) {
		if flag := c.named(&c.kernelFlags); flag != "" {
			return nil, read, usageError(flag + ": a model has its kernel; the flag is for searching in a dataset")
		}
		if m, err = readModel(g, c.From); err != nil {
			return nil, read, err
		}
		return m, c.like(m), nil
	}
	ds, err := c.read(g, c.From)
	if err != nil {
		return nil, read, err
	}
	read = c.dataFlags.options()
	read.Format = dataset.Auto // that of the query may be another
	bar := newBar(g)
	defer bar.done()
	m, err = c.fit(g, c.Kernel, ds.Graphs, bar)
	return m, read, err
}

// queries returns the graphs to search for, and the position of the one among the searched
// graphs that is not to be found, −1 for none.
func (c *searchCmd) queries(g *globals, m *model.Model, read dataset.Options) (queries []*graph.Graph, self int, err error) {
	byID := func(id string) int { return slices.Index(m.IDs, id) }
	if c.Like != "" {
		at := byID(c.Like)
		if n, err := strconv.Atoi(c.Like); at < 0 && err == nil && n >= 1 && n <= len(m.IDs) {
			at = n - 1
		}
		if at < 0 {
			return nil, -1, fmt.Errorf("%s has no graph with the identifier %q, and it is no number from 1 to %d", c.From, c.Like, len(m.IDs))
		}
		if m.Graphs == nil {
			return nil, -1, fmt.Errorf("%s does not keep its training graphs: give the graph itself as query", c.From)
		}
		return []*graph.Graph{m.Graphs[at].With(m.IDs[at], "")}, at, nil
	}
	queries, err = readGraphs(g, c.Query, read)
	if at := byID(c.Query); err != nil && at >= 0 && m.Graphs != nil {
		return []*graph.Graph{m.Graphs[at].With(c.Query, "")}, at, nil
	}
	return queries, -1, err
}

// best returns the graphs with the largest values of a row.
func best(m *model.Model, query string, row []float64, k, self int) found {
	out := found{Query: query, Results: []foundResult{}}
	if self >= 0 {
		k++
	}
	for _, h := range kernel.Largest(row, k) {
		if h.Index == self || self >= 0 && len(out.Results) == k-1 {
			continue
		}
		r := foundResult{Rank: len(out.Results) + 1, ID: m.IDs[h.Index], Index: h.Index, Similarity: h.Similarity}
		if m.Targets != nil {
			r.Target = m.Targets[h.Index]
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
