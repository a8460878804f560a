package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

type transformCmd struct {
	placeFlags
	Model string `arg:"" help:"Model file, as fit writes it." type:"path"`
	Data  string `arg:"" help:"Dataset, or - for standard input."`
	Out   string `help:"Store to write: .mlgs." short:"o" required:"" placeholder:"FILE"`
}

// Run transforms graphs one chunk after the other.
func (c *transformCmd) Run(g *globals) error {
	start := time.Now()
	m, err := model.Read(c.Model)
	if err != nil {
		return err
	}
	data, err := openData(c.Data, c.like(m))
	if err != nil {
		return err
	}
	defer closeData(g, data)
	bar := newBar(g)
	defer bar.done()
	w, err := store.Write(g.work(bar), c.Out, m, data.Next)
	bar.done()
	if errors.Is(err, context.Canceled) {
		return keptError{err, fmt.Sprintf("%d graphs are kept in %s.part, a second run goes on from there", w.Graphs, c.Out)}
	}
	if err != nil {
		return err
	}
	took := time.Since(start)
	st, err := os.Stat(c.Out)
	if err != nil {
		return err
	}
	if g.JSON {
		return printJSON(g.stdout, map[string]any{
			"graphs": w.Graphs, "resumed": w.Resumed, "bytes": st.Size(), "seconds": took.Seconds(), "file": c.Out,
		})
	}
	resumed := ""
	if w.Resumed > 0 {
		resumed = fmt.Sprintf(", %d of them from an interrupted run,", w.Resumed)
	}
	g.note("%s: %d graphs%s in %sB, in %s", c.Out, w.Graphs, resumed, count(st.Size(), ""), round(took))
	return nil
}
