package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/model"
)

type searchCmd struct {
	From  string `arg:"" help:"Model file, whose training graphs are searched, store (mlg transform), or dataset." name:"from"`
	Query string `arg:"" help:"Graphs to search for: a file, a SMILES, or, unless FROM is a store, an identifier of the searched graphs." optional:""`
	Like  string `help:"Search for the graph with this identifier or number among the searched ones, which is left out; not in a store." placeholder:"ID" group:"Search"`
	Count int    `help:"Number of graphs to find." short:"k" name:"count" default:"10" least:"1" group:"Search"`
	CSV   bool   `help:"Print a table as CSV." name:"csv" group:"Search"`
	Out   string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" ends:"" group:"Search"`
	sourceFlags
}

// found is what is similar to one query.
type found struct {
	Query   string        `json:"query"`
	Results []foundResult `json:"results"`
}

type foundResult struct {
	Rank int `json:"rank"`
	model.Neighbour
}

// Run searches for the most similar graphs. It looks at every one.
func (c *searchCmd) Run(g *globals) error {
	if (c.Query == "") == (c.Like == "") {
		return usageError("want either a query or --like ID")
	}
	s, err := c.open(g, c.From)
	if err != nil {
		return err
	}
	defer s.close()
	queries, self, err := c.queries(g, s)
	if err != nil {
		return err
	}
	start := time.Now()
	hits, err := s.search(g.ctx, queries, c.Count, self)
	if err != nil {
		return err
	}
	took := time.Since(start)
	list := make([]found, len(queries))
	for i, q := range queries {
		list[i] = found{graphName(q, i), []foundResult{}}
		for rank, n := range hits[i] {
			list[i].Results = append(list[i].Results, foundResult{rank + 1, n})
		}
	}
	if err := output(g, c.Out, func(w io.Writer) error { return c.print(g, w, list) }); err != nil {
		return err
	}
	what := fmt.Sprintf("%s among %d graphs in %s by", agree(len(queries), "query", "queries"), s.size(), round(took))
	g.note("%s %s", what, table.Wrap(kernelText(s.Model), len(what)+1, 2))
	g.note("compared: %s", s.Compared())
	return nil
}

// queries returns the graphs to search for, and the position of the one among the searched
// graphs that is not to be found, −1 for none.
func (c *searchCmd) queries(g *globals, s *source) (queries []*graph.Graph, self int, err error) {
	if c.Like == "" {
		queries, err = readGraphs(g, c.Query, s.read)
		if err == nil || s.Graphs == nil || !slices.Contains(s.IDs, c.Query) {
			return queries, -1, err
		}
		c.Like = c.Query
	}
	if s.store != nil || s.Graphs == nil {
		return nil, -1, fmt.Errorf("%s does not keep its graphs: give the graph itself as query", c.From)
	}
	at, err := position(s.IDs, c.From, c.Like)
	if err != nil {
		return nil, -1, err
	}
	return []*graph.Graph{s.Graphs[at].With(s.IDs[at], "")}, at, nil
}

// size returns the number of graphs that are searched.
func (s *source) size() int {
	if s.store != nil {
		return s.store.Len()
	}
	return s.Examples()
}

// search returns the k most similar graphs of each query, without the one at a position.
func (s *source) search(ctx context.Context, queries []*graph.Graph, k, self int) (out [][]model.Neighbour, err error) {
	k = min(k, s.size())
	if s.store == nil {
		if out, err = s.Search(ctx, queries, k+1); err != nil {
			return nil, err
		}
		for i, list := range out {
			list = slices.DeleteFunc(list, func(n model.Neighbour) bool { return n.Index == self })
			out[i] = list[:min(k, len(list))]
		}
		return out, nil
	}
	records, err := s.store.Space().Transform(ctx, queries)
	if err != nil {
		return nil, err
	}
	hits, err := s.store.Search(ctx, records, k)
	if err != nil {
		return nil, err
	}
	out = make([][]model.Neighbour, len(queries))
	for i := range out {
		for _, h := range hits[i] {
			id, target, err := s.store.Texts(h.Index, h.Index+1)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], model.Neighbour{ID: id[0], Index: h.Index, Target: target[0], Similarity: h.Similarity})
		}
	}
	return out, nil
}

func (c *searchCmd) print(g *globals, w io.Writer, list []found) error {
	if g.JSON {
		return printLines(w, list)
	}
	t := csv.NewWriter(w)
	if c.CSV {
		t.Write([]string{"query", "rank", "id", "target", "similarity"})
	}
	for i, f := range list {
		if !c.CSV {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat("\n", min(i, 1)), table.Clip(f.Query, 78))
		}
		for _, r := range f.Results {
			if c.CSV {
				t.Write([]string{f.Query, strconv.Itoa(r.Rank), r.ID, r.Target, number(r.Similarity)})
			} else {
				fmt.Fprintf(w, "%4d  %.4f  %-34s %s\n", r.Rank, r.Similarity, table.Clip(r.ID, 34), table.Clip(r.Target, 30))
			}
		}
	}
	t.Flush()
	return t.Error()
}

// number writes a number of a CSV file so that it is read back to the same bits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
