package cli

import (
	"iter"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// together are the graphs whose covariance is asked for.
type together struct {
	graphs []*graph.Graph
	matrixfile.Axis
}

// read reads all graphs before the first is predicted: they must fit into memory with their covariance.
func (t *together) read(in iter.Seq2[row, error]) (iter.Seq2[row, error], error) {
	fits := func(n int) error { return work.CheckMatrices(2, n, n, "ask for the covariance of fewer graphs") }
	var all []row
	for x, err := range in {
		if all = append(all, x); err == nil && x.Graph != nil {
			t.graphs = append(t.graphs, x.Graph)
			t.IDs, t.Targets = append(t.IDs, x.id), append(t.Targets, x.targets[0])
			if n := len(t.graphs); n&(n-1) == 0 { // graphs that come without end, too
				err = fits(n)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return func(yield func(row, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
	}, fits(len(t.graphs))
}

// write writes the covariance of measured values.
func (t *together) write(g *globals, m *model.Model, path string) error {
	a, err := m.Kernel.Transform(g.ctx, t.graphs)
	if err != nil {
		return err
	}
	p, err := m.Posterior(g.ctx, t.graphs, a)
	if err != nil {
		return err
	}
	c := p.Measured()
	if err := g.write(path, func() error { return matrixfile.Write(g.ctx, path, c, t.Axis, nil) }); err != nil {
		return err
	}
	g.note("wrote %s", path)
	return nil
}
