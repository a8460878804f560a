package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mlgkernel/mlg/store"
)

type storeSearchCmd struct {
	streamFlags
	Store string `arg:"" help:"Store, as transform writes it." type:"path"`
	Query string `arg:"" help:"Graphs to search for: a file, or a SMILES."`
	Count int    `help:"Number of graphs to find." short:"k" name:"count" default:"10"`
}

// storeFound is what is similar to one query.
type storeFound struct {
	Query   string        `json:"query"`
	Results []storeResult `json:"results"`
}

type storeResult struct {
	Rank       int     `json:"rank"`
	ID         string  `json:"id"`
	Index      int     `json:"index"` // position in the store, from 0
	Target     string  `json:"target,omitempty"`
	Similarity float64 `json:"similarity"`
}

// Run searches a store.
func (c *storeSearchCmd) Run(g *globals) error {
	if c.Count < 1 {
		return usageError("-k: want at least 1")
	}
	s, err := store.Open(c.Store, g.workers())
	if err != nil {
		return err
	}
	defer s.Close()
	flags, err := c.as(s.Model())
	if err != nil {
		return err
	}
	graphs, err := flags.queries(g, c.Query)
	if err != nil {
		return err
	}
	records, err := s.Space().Transform(g.ctx, graphs)
	if err != nil {
		return err
	}
	start := time.Now()
	hits, err := s.Search(g.ctx, records, c.Count, g.workers())
	if err != nil {
		return err
	}
	took := time.Since(start)
	e := json.NewEncoder(g.stdout)
	for i, x := range graphs {
		f := storeFound{x.ID(), []storeResult{}}
		if f.Query == "" {
			f.Query = fmt.Sprint(i + 1)
		}
		for r, h := range hits[i] {
			id, target, err := s.Text(h.Index)
			if err != nil {
				return err
			}
			f.Results = append(f.Results, storeResult{r + 1, id, h.Index, target, h.Similarity})
		}
		if g.JSON {
			if err := e.Encode(&f); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(g.stdout)
		}
		fmt.Fprintf(g.stdout, "%s\n", f.Query)
		for _, r := range f.Results {
			if _, err := fmt.Fprintf(g.stdout, "%4d  %.4f  %-34s %s\n", r.Rank, r.Similarity, r.ID, r.Target); err != nil {
				return err
			}
		}
	}
	what := "queries"
	if len(graphs) == 1 {
		what = "query"
	}
	g.note("%d %s among %d graphs in %s by %s", len(graphs), what, s.Len(), round(took), s.Space())
	return nil
}
