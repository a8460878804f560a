package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/mlgkernel/mlg/store"
)

type storeSearchCmd struct {
	streamFlags
	Store string `arg:"" help:"Store, as transform writes it." type:"path"`
	Query string `arg:"" help:"Graphs to look for: a dataset, or a SMILES."`
	K     int    `help:"Most similar graphs to print." short:"k" default:"10"`
}

// Run searches a store.
func (c *storeSearchCmd) Run(g *globals) error {
	return searchStore(g, &c.streamFlags, c.Store, c.Query, c.K)
}

// storeHit is a graph that a search of a store has found.
type storeHit struct {
	Rank       int     `json:"rank"`
	ID         string  `json:"id"`
	Target     string  `json:"target,omitempty"`
	Similarity float64 `json:"similarity"`
	Index      int     `json:"index"` // in the store, from 0
}

// searchStore prints the k most similar graphs of a store for each of the graphs that query
// names. The graphs are read as those of the store's model were.
func searchStore(g *globals, f *streamFlags, path, query string, k int) error {
	if k < 1 {
		return usageError(fmt.Sprintf("-k %d: want at least 1", k))
	}
	s, err := store.Open(path, g.workers())
	if err != nil {
		return err
	}
	defer s.Close()
	flags, err := f.as(s.Model())
	if err != nil {
		return err
	}
	graphs, err := flags.queries(g, query)
	if err != nil {
		return err
	}
	records, err := s.Space().Transform(g.ctx, graphs)
	if err != nil {
		return err
	}
	start := time.Now()
	hits, err := s.Search(g.ctx, records, k, g.workers())
	if err != nil {
		return err
	}
	took := time.Since(start)

	type result struct {
		Query   string     `json:"query"`
		Nearest []storeHit `json:"nearest"`
	}
	results := make([]result, len(graphs))
	for i := range graphs {
		results[i] = result{graphs[i].ID(), []storeHit{}}
		if results[i].Query == "" {
			results[i].Query = fmt.Sprint(i + 1)
		}
		for r, h := range hits[i] {
			id, target, err := s.Text(h.Index)
			if err != nil {
				return err
			}
			results[i].Nearest = append(results[i].Nearest, storeHit{r + 1, id, target, h.Similarity, h.Index})
		}
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"graphs": s.Len(), "search_seconds": took.Seconds(), "results": results})
	}
	w := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "query\trank\tsimilarity\tid\ttarget")
	for _, r := range results {
		for _, h := range r.Nearest {
			fmt.Fprintf(w, "%s\t%d\t%.6f\t%s\t%s\n", r.Query, h.Rank, h.Similarity, h.ID, h.Target)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	g.note("%d graphs searched for %d in %s", s.Len(), len(graphs), round(took))
	return nil
}
