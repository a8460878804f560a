package cli

import (
	"fmt"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/store"
)

type transformCmd struct {
	placeFlags
	Model string `arg:"" help:"Model file of mlg fit." type:"path"`
	Data  string `arg:"" help:"Dataset, or - for standard input."`
	Out   string `help:"Store to write: .mlgs." short:"o" required:"" placeholder:"FILE" ends:""`
}

// Run transforms graphs one chunk after the other.
func (c *transformCmd) Run(g *globals) error {
	m, err := readModel(c.Model)
	if err != nil {
		return err
	}
	data, err := openData(c.Data, c.like(m))
	if err != nil {
		return err
	}
	defer closeData(g, data)
	w, err := store.Write(g.work(), c.Out, m, data.Next)
	if err != nil {
		g.kept.set("%s kept in %s; the same command goes on from there", agree(w.Graphs, "graph is", "graphs are"), c.Out+file.Partial)
		return err
	}
	bytes := fileSize(c.Out)
	resumed := ""
	if w.Resumed > 0 {
		resumed = fmt.Sprintf(", %d of them from an interrupted run,", w.Resumed)
	}
	return g.result(map[string]any{"graphs": w.Graphs, "resumed": w.Resumed, "bytes": bytes, "file": c.Out},
		"%s: %s%s in %s,", c.Out, agree(w.Graphs, "graph", "graphs"), resumed, count(float64(bytes), "B"))
}
