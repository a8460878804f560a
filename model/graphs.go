package model

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// What a stored graph has besides edges.
const (
	hasLabels = 1 << iota
	hasEdgeLabels
	hasWeights
	hasAttributes
	hasCoordinates
	allParts = 1<<iota - 1
)

// graphs adds the sections of the training graphs (docs/model-format.md): structure
// as variable-length integers, labels by their numbers in a table, and real numbers.
func (s *sections) graphs(graphs []*graph.Graph) {
	var shape, numbers []byte
	var labels []string
	number := map[string]int{}
	put := func(n int) { shape = binary.AppendUvarint(shape, uint64(n)) }
	label := func(text string) {
		n, ok := number[text]
		if !ok {
			n = len(labels)
			number[text] = n
			labels = append(labels, text)
		}
		put(n)
	}
	put(len(graphs))
	for _, g := range graphs {
		parts := 0
		set := func(on bool, part int) {
			if on {
				parts |= part
			}
		}
		coordinates := false
		if g.N() > 0 {
			_, _, coordinates = g.Coordinates(0)
		}
		set(g.HasLabels(), hasLabels)
		set(g.HasEdgeLabels(), hasEdgeLabels)
		set(g.Weighted(), hasWeights)
		set(g.AttributeDim() > 0, hasAttributes)
		set(coordinates, hasCoordinates)
		put(g.N())
		put(parts)
		if g.AttributeDim() > 0 {
			put(g.AttributeDim())
		}
		for v := range g.N() {
			if g.HasLabels() {
				label(g.Label(v))
			}
			near := g.Neighbors(v)
			first := 0 // of the neighbours behind v
			for first < len(near) && int(near[first]) < v {
				first++
			}
			put(len(near) - first)
			last := v
			for i := first; i < len(near); i++ {
				put(int(near[i]) - last - 1)
				last = int(near[i])
				if g.HasEdgeLabels() {
					label(g.EdgeLabel(v, i))
				}
				if g.Weighted() {
					numbers = appendFloats(numbers, g.Weights(v)[i:i+1])
				}
			}
			numbers = appendFloats(numbers, g.Attributes(v))
			if coordinates {
				x, y, _ := g.Coordinates(v)
				numbers = appendFloats(numbers, []float64{x, y})
			}
		}
	}
	s.add("train/graphs", shape)
	s.strings("train/graphs/labels", labels)
	s.add("train/graphs/numbers", numbers)
}

// graphs reads the training graphs, which get the identifiers and targets of the model.
func (d *decoder) graphs(ids, targets []string) []*graph.Graph {
	r := graphReader{bytes: d.section("train/graphs"), labels: d.strings("train/graphs/labels"), numbers: d.floats("train/graphs/numbers")}
	if d.err != nil {
		return nil
	}
	n := r.count(len(r.bytes)) // a graph takes two bytes or more
	if r.err == nil && n != len(ids) {
		d.fail("section train/graphs has %d graphs, want %d, one for each identifier", n, len(ids))
		return nil
	}
	// Where each graph begins is found one after the other; building them can be shared.
	starts := make([]graphReader, 0, len(ids))
	for i := 0; i < n && r.err == nil; i++ {
		start := r
		r.graph(nil)
		if r.err != nil {
			d.fail("section train/graphs: graph %d: %w", i, r.err)
			return nil
		}
		starts = append(starts, start)
	}
	switch {
	case r.err != nil:
		d.fail("section train/graphs: %w", r.err)
	case len(r.bytes) > 0 || len(r.numbers) > 0:
		d.fail("section train/graphs: %d bytes and %d numbers behind the last graph", len(r.bytes), len(r.numbers))
	}
	if d.err != nil {
		return nil
	}
	out := make([]*graph.Graph, n)
	err := kernel.Each(context.Background(), n, 64, func(_, i int) error {
		var b *graph.Builder
		starts[i].graph(&b)
		b.SetID(ids[i])
		if targets != nil {
			b.SetTarget(targets[i])
		}
		var err error
		if out[i], err = b.Build(); err != nil {
			return fmt.Errorf("graph %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		d.fail("section train/graphs: %w", err)
		return nil
	}
	return out
}

// graphReader reads graphs one after the other. It is a small value: a copy remembers a
// place.
type graphReader struct {
	bytes   []byte
	labels  []string
	numbers []float64
	err     error
}

// count reads a number that may be at most limit.
func (r *graphReader) count(limit int) int {
	if r.err != nil {
		return 0
	}
	x, n := binary.Uvarint(r.bytes)
	switch {
	case n <= 0:
		r.err = fmt.Errorf("an integer is cut off or too long")
		return 0
	case limit < 0 || x > uint64(limit):
		r.err = fmt.Errorf("number %d, want at most %d", x, limit)
		return 0
	}
	r.bytes = r.bytes[n:]
	return int(x)
}

func (r *graphReader) label() string {
	i := r.count(len(r.labels) - 1)
	if r.err != nil {
		return ""
	}
	return r.labels[i]
}

// next returns the next n numbers.
func (r *graphReader) next(n int) []float64 {
	if r.err != nil {
		return nil
	}
	if n > len(r.numbers) {
		r.err = fmt.Errorf("%d numbers wanted, %d left", n, len(r.numbers))
		return nil
	}
	out := r.numbers[:n:n]
	r.numbers = r.numbers[n:]
	return out
}

// graph reads a graph into a new builder, or over it when into is nil. Every vertex and
// every edge takes at least a byte, so that memory stays in proportion.
func (r *graphReader) graph(into **graph.Builder) {
	n := r.count(min(len(r.bytes), graph.MaxVertices))
	parts := r.count(allParts)
	dim := 0
	if parts&hasAttributes != 0 {
		if dim = r.count(len(r.numbers)); dim == 0 && r.err == nil {
			r.err = fmt.Errorf("attributes of dimension 0")
		}
	}
	var b *graph.Builder
	if into != nil {
		*into = graph.NewBuilder(n)
		b = *into
	}
	for v := 0; v < n && r.err == nil; v++ {
		if parts&hasLabels != 0 {
			if l := r.label(); b != nil {
				b.SetLabel(v, l)
			}
		}
		near := r.count(n - 1 - v)
		for last := v; near > 0 && r.err == nil; near-- {
			w := last + 1 + r.count(n-2-last)
			last = w
			label, weight := "", 1.0
			if parts&hasEdgeLabels != 0 {
				label = r.label()
			}
			if parts&hasWeights != 0 {
				if x := r.next(1); x != nil {
					weight = x[0]
				}
			}
			if b == nil {
				continue
			}
			b.AddLabeledEdge(v, w, weight, label)
		}
		row := r.next(dim)
		if b != nil && dim > 0 {
			b.SetAttributes(v, row)
		}
		if parts&hasCoordinates != 0 {
			if at := r.next(2); b != nil && at != nil {
				b.SetCoordinates(v, at[0], at[1])
			}
		}
	}
}
