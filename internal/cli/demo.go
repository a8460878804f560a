package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
)

type demoCmd struct{}

// Run compares the built-in molecules with each other.
func (demoCmd) Run(g *globals) error {
	ds, err := dataset.Read(g.ctx, "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		return err
	}
	s := dataset.Info(ds)
	fmt.Fprintf(g.stdout, "builtin:drugs: %d drug molecules in %d classes, %.0f atoms on average.\n\n", s.Graphs, s.Classes, s.MeanVertices)

	o := mlg.DefaultOptions()
	o.Workers = g.workers()
	wl := baseline.DefaultWL()
	hist := baseline.DefaultHistogram()
	wl.Workers, hist.Workers = g.workers(), g.workers()
	fmt.Fprintf(g.stdout, "Class of the most similar other molecule, right for\n")
	var multiscale *mlg.Matrix
	for _, k := range []struct {
		name   string
		kernel mlg.Kernel
	}{{"multiscale Laplacian", mlg.NewKernel(o)}, {"Weisfeiler-Lehman", wl}, {"label counts", hist}} {
		start := time.Now()
		fitted, err := k.kernel.Fit(g.ctx, ds.Graphs)
		if err != nil {
			return err
		}
		gram, err := fitted.Gram(g.ctx)
		if err != nil {
			return err
		}
		took := time.Since(start)
		if multiscale == nil {
			multiscale = gram
		}
		right := 0
		for i := range ds.Graphs {
			if ds.Graphs[nearest(gram, i, 1)[0]].Target() == ds.Graphs[i].Target() {
				right++
			}
		}
		fmt.Fprintf(g.stdout, "  %-22s %5.1f %%   (Gram matrix in %s)\n", k.name, 100*float64(right)/float64(len(ds.Graphs)), round(took))
	}

	query := slices.IndexFunc(ds.IDs(), func(id string) bool { return id == "morphine" })
	if query < 0 {
		query = 0
	}
	fmt.Fprintf(g.stdout, "\nMost similar to %s (%s):\n", ds.Graphs[query].ID(), ds.Graphs[query].Target())
	for _, i := range nearest(multiscale, query, 5) {
		fmt.Fprintf(g.stdout, "  %.3f  %-24s %s\n", multiscale.At(query, i), ds.Graphs[i].ID(), ds.Graphs[i].Target())
	}
	fmt.Fprintf(g.stdout, "\nTry next:\n  mlg info builtin:drugs\n  mlg compare 'CC(=O)Oc1ccccc1C(=O)O' 'OC(=O)c1ccccc1O'\n  mlg gram builtin:drugs -o gram.npy\n")
	return nil
}

// nearest returns the k columns with the largest values of row i, other than i itself.
func nearest(m *mlg.Matrix, i, k int) []int {
	order := make([]int, 0, m.Cols)
	for j := range m.Cols {
		if j != i {
			order = append(order, j)
		}
	}
	row := m.Row(i)
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case row[a] > row[b]:
			return -1
		case row[a] < row[b]:
			return 1
		}
		return 0
	})
	return order[:min(k, len(order))]
}
