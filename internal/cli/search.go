package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

type searchCmd struct {
	From  string `arg:"" help:"What to search: a dataset, a store (mlg transform), or a model file (its training graphs)." name:"from"`
	Query string `arg:"" help:"Graphs to search for: a file, a SMILES, or the identifier of a searched graph." optional:""`
	Like  string `help:"Take the searched graph with this identifier or number as query, and leave it out of the results." placeholder:"ID" group:"Search"`
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
	s, err := c.kept(g)
	if s == nil && err == nil {
		s, err = c.open(g, c.From, anyNumber)
	}
	if err != nil {
		return err
	}
	defer s.close()
	queries, names, self, err := c.queries(g, s)
	if err != nil {
		return err
	}
	start := time.Now()
	hits, err := s.search(g.ctx, queries, c.Count, self)
	if err != nil {
		return err
	}
	took := time.Since(start)
	list := make([]found, len(names))
	for i, name := range names {
		list[i] = found{name, []foundResult{}}
		for rank, n := range hits[i] {
			list[i].Results = append(list[i].Results, foundResult{rank + 1, n})
		}
	}
	if err := output(g, c.Out, func(w io.Writer) error { return c.print(g, w, list) }); err != nil {
		return err
	}
	what := fmt.Sprintf("%s among %s in %s by", agree(len(names), "query", "queries"), agree(s.size(), "graph", "graphs"), round(took))
	g.note("%s %s", what, table.Wrap(kernelText(s.Model), len(what)+1, 2))
	g.note("compared: %s", s.Compared())
	return nil
}

// queries returns the graphs to search for with their names. For one of the searched graphs it returns its position
// instead, else −1.
func (c *searchCmd) queries(g *globals, s *source) (queries []*graph.Graph, names []string, self int, err error) {
	var unread error
	if c.Like == "" {
		if queries, unread = readGraphs(g, c.Query, s.read); unread == nil {
			for i, q := range queries {
				names = append(names, graphName(q, i))
			}
			return queries, names, -1, nil
		}
	}
	ids := s.IDs
	if s.store != nil {
		if ids, _, err = s.store.Texts(0, s.store.Len()); err != nil {
			return nil, nil, -1, err
		}
	}
	if c.Like == "" && !slices.Contains(ids, c.Query) {
		return nil, nil, -1, unread
	}
	if self, err = position(ids, c.From, cmp.Or(c.Like, c.Query)); err != nil {
		return nil, nil, -1, err
	}
	return nil, ids[self : self+1], self, nil
}

// size returns the number of graphs that are searched.
func (s *source) size() int {
	if s.store != nil {
		return s.store.Len()
	}
	return s.Examples()
}

// search returns the k most similar graphs of each query, or of the searched graph at a position without itself.
func (s *source) search(ctx context.Context, queries []*graph.Graph, k, self int) (out [][]model.Neighbour, err error) {
	k = min(k, s.size())
	switch {
	case s.store != nil:
		out, err = s.searchStore(ctx, queries, k+1, self)
	case self >= 0:
		var train kernel.Features
		if train, err = s.Kernel.Train(ctx); err == nil {
			if out, err = s.SearchFeatures(ctx, kernel.Range(train, self, self+1), k+1); err == nil {
				s.Mark(out[0], s.Graphs[self])
			}
		}
	default:
		out, err = s.Search(ctx, queries, k+1)
	}
	for i, list := range out {
		list = slices.DeleteFunc(list, func(n model.Neighbour) bool { return n.Index == self })
		out[i] = list[:min(k, len(list))]
	}
	return out, err
}

func (s *source) searchStore(ctx context.Context, queries []*graph.Graph, k, self int) (out [][]model.Neighbour, err error) {
	var a kernel.Features
	if self >= 0 {
		a, err = s.store.Features(self, self+1)
	} else {
		a, err = s.Kernel.Transform(ctx, queries)
	}
	if err != nil {
		return nil, err
	}
	hits, err := s.store.Search(ctx, a, min(k, s.store.Len()))
	for _, row := range hits {
		list := []model.Neighbour{}
		for _, h := range row {
			id, target, err := s.store.Texts(h.Index, h.Index+1)
			if err != nil {
				return nil, err
			}
			list = append(list, model.Neighbour{ID: id[0], Index: h.Index, Target: target[0], Similarity: h.Similarity})
		}
		out = append(out, list)
	}
	return out, err
}

func (c *searchCmd) print(g *globals, w io.Writer, list []found) error {
	if g.JSON {
		return printLines(w, list)
	}
	t := csv.NewWriter(w)
	if c.CSV {
		g.forPrograms()
		t.Write([]string{"query", "rank", "id", "target", "similarity", "same"})
	}
	for i, f := range list {
		if !c.CSV {
			fmt.Fprintf(w, "%s%s\n", strings.Repeat("\n", min(i, 1)), table.ClipMiddle(f.Query, 78))
		}
		for _, r := range f.Results {
			if c.CSV {
				t.Write([]string{f.Query, strconv.Itoa(r.Rank), r.ID, r.Target, number(r.Similarity), string(r.Same)})
			} else {
				line := fmt.Sprintf("%4d  %.4f  %-34s %s", r.Rank, r.Similarity, table.ClipMiddle(r.ID, 34), table.Clip(r.Target, 30))
				if r.Same != dataset.Different {
					line = strings.TrimRight(line, " ") + "  " + string(r.Same)
				}
				fmt.Fprintln(w, strings.TrimRight(line, " "))
			}
		}
	}
	t.Flush()
	return t.Error()
}

// number writes a number of a CSV file so that it is read back to the same bits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
