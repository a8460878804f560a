package cli

import (
	"fmt"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/store"
)

type gramCmd struct {
	dataFlags
	kernelFlag
	kernelFlags
	Data    string `arg:"" help:"Dataset; with --shard it may be a store, whose model is then the kernel."`
	Against string `help:"Compute the matrix between these graphs (rows) and DATA (columns)." placeholder:"TEST"`
	Out     string `help:"File to write: .npy, .csv or .libsvm. Needed unless --shard is given." short:"o" placeholder:"FILE"`
	shardFlags
}

// Run computes and writes a kernel matrix.
func (c *gramCmd) Run(g *globals) error {
	if c.Shard != "" || c.Tiles != "" {
		return c.shard(g)
	}
	if store.Is(c.Data) {
		return usageError(c.Data + " is a store; its matrix is computed in shards: mlg gram STORE --shard 1/1 --tiles DIR, then mlg merge DIR")
	}
	if c.Out == "" {
		return usageError("missing flags: --out=FILE")
	}
	start := time.Now()
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	bar := newBar(g)
	defer bar.done()
	k, err := c.kernel(g, c.Kernel, ds.Graphs, bar)
	if err != nil {
		return err
	}
	fitted, err := k.Fit(g.ctx, ds.Graphs)
	if err != nil {
		return err
	}
	var m *mlg.Matrix
	rows := dataset.AxisOf(ds)
	var cols *dataset.Axis
	if c.Against == "" {
		m, err = fitted.Gram(g.ctx)
	} else {
		test, readErr := c.read(g, c.Against)
		if readErr != nil {
			return readErr
		}
		all := rows
		rows, cols = dataset.AxisOf(test), &all
		m, err = fitted.Cross(g.ctx, test.Graphs)
	}
	if err != nil {
		return err
	}
	took := time.Since(start)
	if err := dataset.WriteGram(g.ctx, c.Out, m, rows, cols); err != nil {
		return err
	}
	bar.done()
	if g.JSON {
		return printJSON(g.stdout, map[string]any{"kernel": k.String(), "rows": m.Rows, "columns": m.Cols, "seconds": took.Seconds(), "file": c.Out})
	}
	g.note("%s: %d×%d values of %s in %s", c.Out, m.Rows, m.Cols, k, round(took))
	return nil
}

// round shortens a duration to three digits.
func round(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	case d < 100*time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
