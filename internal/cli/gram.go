package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/work"
)

// axisOf returns identifiers and targets of a dataset.
func axisOf(d *dataset.Dataset) matrixfile.Axis {
	return matrixfile.Axis{IDs: d.IDs(), Targets: d.Targets()}
}

type gramCmd struct {
	Data     string `arg:"" help:"Dataset. With --shard also a store, which has its own kernel."`
	Against  string `help:"Compute the matrix between these graphs (rows) and DATA (columns)." placeholder:"TEST"`
	Out      string `help:"File to write: .npy, .csv or .libsvm." short:"o" placeholder:"FILE" ends:".npy .csv .libsvm"`
	Picture  string `help:"Draw the matrix as a heat map: .svg or .png." placeholder:"FILE" ends:".svg .png"`
	Map      string `help:"Draw a map of the graphs by kernel PCA: .svg or .png." placeholder:"FILE" ends:".svg .png"`
	Spectrum string `help:"Draw the eigenvalues at the landmarks of mlg or flg: .svg or .png." placeholder:"FILE" ends:".svg .png"`
	shardFlags
	sourceFlags
}

// check refuses what cannot be done before any work.
func (c *gramCmd) check(k kernel.Kernel) error {
	lowRank := len(multiscale(k)) > 0 && !exact(k)
	switch {
	case c.Out == "" && c.Picture == "" && c.Map == "" && c.Spectrum == "":
		return usageError("gram: nothing to write: want --out FILE, or one of --picture, --map, --spectrum")
	case c.Against != "" && (c.Picture != "" || c.Map != ""):
		return usageError("gram: --picture and --map need a square matrix: leave out --against")
	case c.Spectrum != "" && !lowRank:
		return usageError("gram: --spectrum needs the kernel mlg or flg, and not an exact one")
	}
	return nil
}

// matrices returns the number of matrices of all values that are in memory at a time: none where blocks are written as they
// are computed.
func (c *gramCmd) matrices() int {
	st, err := os.Stat(c.Out)
	device := err == nil && !st.Mode().IsRegular()
	switch {
	case c.Picture != "":
		return 3 // with the distances, and those of groups
	case c.Map != "":
		return 2 // with the centred one
	case strings.ToLower(filepath.Ext(c.Out)) == ".npy" && !device && c.Against == "":
		return 0
	}
	return 1
}

// Run computes and writes a kernel matrix.
func (c *gramCmd) Run(g *globals) error {
	if c.Shard != "" || c.Tiles != "" {
		return c.tiles(g)
	}
	if store.Is(c.Data) {
		return usageError(c.Data + " is a store; compute its matrix in tiles: mlg gram STORE --tiles DIR -o FILE.npy")
	}
	k, err := c.text().kernel()
	if err != nil {
		return err
	}
	if err := c.check(k); err != nil {
		return err
	}
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	rows := ds
	if c.Against != "" {
		if rows, err = c.read(g, c.Against); err != nil {
			return err
		}
	}
	instead := fewer
	if c.Against == "" {
		instead = "write .npy without pictures, which is done block by block, or " + fewer
	}
	if err := work.CheckMatrices(c.matrices(), len(rows.Graphs), len(ds.Graphs), instead); err != nil {
		return err
	}
	g.resolved(k, ds.Graphs)
	g.bar.show("fit", 0, 0, "")
	ctx := g.work()
	fitted, err := kernel.Fit(ctx, k, ds.Graphs)
	if err != nil {
		return err
	}
	m, err := c.blocks(g, ctx, fitted, ds)
	if err != nil {
		return err
	}
	if m == nil {
		if m, err = c.whole(g, ctx, fitted, ds, rows); err != nil {
			return err
		}
	}
	what := c.compared(k, ds.Graphs)
	g.note("compared: %s", what)
	r := map[string]any{"kernel": k.String(), "compared": what, "rows": m.Rows, "columns": m.Cols}
	for name, path := range map[string]string{"file": c.Out, "picture": c.Picture, "map": c.Map, "spectrum": c.Spectrum} {
		if path != "" {
			r[name] = path
		}
	}
	if err := g.result(r, "%s%d×%d values of %s", strings.TrimPrefix(c.Out+": ", ": "), m.Rows, m.Cols, k); err != nil {
		return err
	}
	return c.draw(g, ds, k, fitted, m)
}

// blocks writes the Gram matrix block by block, if nothing else needs it whole, and returns a matrix
// without values.
func (c *gramCmd) blocks(g *globals, ctx context.Context, fitted *kernel.Fitted, ds *dataset.Dataset) (*kernel.Matrix, error) {
	if c.matrices() > 0 {
		return nil, nil
	}
	n := len(ds.Graphs)
	g.bar.square = n
	return &kernel.Matrix{Rows: n, Cols: n}, g.write(c.Out, func() error {
		return matrixfile.WriteBlocks(ctx, c.Out, axisOf(ds), fitted.Map, fitted.Train)
	})
}

// whole computes and writes a matrix that is in memory as a whole.
func (c *gramCmd) whole(g *globals, ctx context.Context, fitted *kernel.Fitted, ds, rows *dataset.Dataset) (m *kernel.Matrix, err error) {
	if c.Against != "" {
		m, err = fitted.Cross(ctx, rows.Graphs)
	} else {
		g.bar.square = len(ds.Graphs)
		m, err = fitted.Gram(ctx)
	}
	if err != nil {
		return nil, err
	}
	g.bar.show("write", 0, 0, "")
	if c.Out != "" {
		var cols *matrixfile.Axis
		if c.Against != "" {
			all := axisOf(ds)
			cols = &all
		}
		err = g.write(c.Out, func() error { return matrixfile.Write(g.ctx, c.Out, m, axisOf(rows), cols) })
	}
	return m, err
}

// draw writes the pictures that were asked for.
func (c *gramCmd) draw(g *globals, ds *dataset.Dataset, k kernel.Kernel, f *kernel.Fitted, m *kernel.Matrix) error {
	title, classes := ds.Name+": "+k.String(), classesOf(ds)
	low, _ := f.Map.(*mlg.LowRank)
	if sum, ok := f.Map.(*kernel.FittedSum); ok { // of the graphs as they are, and of those whose edges are vertices
		low = model.LowRank(sum.Factors[0])
	}
	for _, x := range []struct {
		path string
		draw func() (*draw.Picture, error)
	}{
		{c.Picture, func() (*draw.Picture, error) {
			return draw.HeatMap(g.ctx, title, m, classes, draw.Size{Width: 800, Height: 640})
		}},
		{c.Map, func() (*draw.Picture, error) {
			return draw.Map(g.ctx, title, m, classes, draw.Size{Width: 800, Height: 560})
		}},
		{c.Spectrum, func() (*draw.Picture, error) { return spectrum(title, low) }},
	} {
		if err := savePicture(g, x.path, pngScale, x.draw); err != nil {
			return err
		}
	}
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
