package model

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/work"
)

// graphs adds the section of the training graphs. Their identifiers and targets have sections of
// their own.
func (s *sections) graphs(graphs []*graph.Graph) {
	bare := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		bare[i] = g.With("", "")
	}
	s.compressed("train/graphs", graph.Encode(bare))
}

// graphs reads the training graphs, without identifiers and targets.
func (d *decoder) graphs(n int) []*graph.Graph {
	data := d.compressed("train/graphs")
	if d.err != nil {
		return nil
	}
	b, err := graph.Decode(data)
	if err != nil {
		d.fail("section train/graphs: %w", err)
		return nil
	}
	if b.Len() != n {
		d.fail("section train/graphs has %d graphs, want %d, one for each identifier", b.Len(), n)
		return nil
	}
	out := make([]*graph.Graph, n)
	err = work.Each(context.Background(), n, 64, func(_, i int) (err error) {
		out[i], err = b.Graph(i)
		return err
	})
	if err != nil {
		d.fail("section train/graphs: %w", err)
		return nil
	}
	return out
}
