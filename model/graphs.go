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

// graphs reads the training graphs, which get the identifiers and targets of the model.
func (d *decoder) graphs(ids, targets []string) []*graph.Graph {
	data := d.compressed("train/graphs")
	if d.err != nil {
		return nil
	}
	b, err := graph.Decode(data)
	if err != nil {
		d.fail("section train/graphs: %w", err)
		return nil
	}
	if b.Len() != len(ids) {
		d.fail("section train/graphs has %d graphs, want %d, one for each identifier", b.Len(), len(ids))
		return nil
	}
	out := make([]*graph.Graph, b.Len())
	err = work.Each(context.Background(), len(out), 64, func(_, i int) error {
		g, err := b.Graph(i)
		if err != nil {
			return err
		}
		target := ""
		if targets != nil {
			target = targets[i]
		}
		out[i] = g.With(ids[i], target)
		return nil
	})
	if err != nil {
		d.fail("section train/graphs: %w", err)
		return nil
	}
	return out
}
