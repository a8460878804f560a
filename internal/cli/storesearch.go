package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/mlgkernel/mlg/store"
)

// inStore searches a store. Graphs are read as those of its model were.
func (c *searchCmd) inStore(g *globals) error {
	switch {
	case c.named(&c.kernelFlags) != "":
		return usageError(c.named(&c.kernelFlags) + ": a store has its kernel; the flag is for searching in a dataset")
	case c.Like != "":
		return usageError("--like: a store does not keep its graphs: give the graph itself as query")
	}
	s, err := store.Open(c.From)
	if err != nil {
		return err
	}
	defer s.Close()
	graphs, err := readGraphs(g, c.Query, c.like(s.Model()))
	if err != nil {
		return err
	}
	records, err := s.Space().Transform(g.ctx, graphs)
	if err != nil {
		return err
	}
	start := time.Now()
	hits, err := s.Search(g.ctx, records, c.Count)
	if err != nil {
		return err
	}
	took := time.Since(start)
	list := make([]found, len(graphs))
	for i, x := range graphs {
		list[i] = found{graphName(x, i), []foundResult{}}
		for rank, h := range hits[i] {
			id, target, err := s.Texts(h.Index, h.Index+1)
			if err != nil {
				return err
			}
			list[i].Results = append(list[i].Results, foundResult{rank + 1, id[0], h.Index, target[0], h.Similarity})
		}
	}
	if err := output(g, c.Out, func(w io.Writer) error { return c.writer(g, w)(list) }); err != nil {
		return err
	}
	what := fmt.Sprintf("%s among %d graphs in %s by", agree(len(graphs), "query", "queries"), s.Len(), round(took))
	g.note("%s %s", what, breakLines(s.Space().String(), len(what)+1, 2))
	return nil
}
