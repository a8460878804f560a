package graph

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A batch is graphs as one block of bytes: an array for each property, over all graphs in turn.
//
//	graphs, strings                             int64    how many there are
//	n, m                                        int64    by graph: vertices, edges
//	attributes, coordinates, kinds              int64    by graph: numbers for a vertex; for a vertex
//	                                                     (0 or 2); 1 for edges with weights, plus 2
//	                                                     for edges that are arcs, plus 4 for vertices
//	                                                     with names, plus 8 for rows of a table
//	attributes, coordinates, weights            float64  those numbers
//	edges                                       int32    both ends of each, vertices of the graph from 0
//	labels, edge labels                         int32    by vertex, by edge: number of a string, −1 for none
//	identifiers, targets, SMILES strings        int32    by graph: the same
//	names                                       int32    by vertex, of graphs that have them: the same
//	parts                                       int32    by row: how many it has
//	names, texts, SMILES strings, vertices      int32    by part of a row: the same; vertices of a structure,
//	                                                     −1 for a category and −2 for a number, which
//	                                                     alone have a text
//	lengths                                     int32    by string, in bytes
//	text                                        bytes    of the strings
//
// Numbers are little-endian. Model files and the Python package have graphs in this form.

// Kinds of graphs.
const (
	edgesWeighted = 1
	edgesDirected = 2
	verticesNamed = 4
	tableRow      = 8
)

// Encode returns graphs as a batch.
func Encode(graphs []*Graph) []byte {
	var (
		n, m, dims, places, kinds                                       []int64
		attributes, coordinates, weights                                []float64
		edges, labels, edgeLabels, ids, targets, smiles, names, lengths []int32
		rows, parts                                                     []int32
		text                                                            []byte
	)
	numbers := map[string]int32{}
	number := func(has bool, s string) int32 {
		if !has {
			return -1
		}
		i, ok := numbers[s]
		if !ok {
			i = int32(len(numbers))
			numbers[s] = i
			lengths = append(lengths, int32(len(s)))
			text = append(text, s...)
		}
		return i
	}
	for _, g := range graphs {
		perVertex, kind, given := int64(0), int64(0), g.Edges()
		if g.coord != nil {
			perVertex = 2
		}
		if g.Weighted() {
			kind |= edgesWeighted
		}
		if g.directed {
			kind |= edgesDirected
			given = g.Arcs()
		}
		if g.name != nil {
			kind |= verticesNamed
		}
		if g.parts != nil {
			kind |= tableRow
			rows = append(rows, int32(len(g.parts)))
		}
		for _, p := range g.parts {
			parts = append(parts, p.numbers(number)...)
		}
		before := len(edges)
		for e := range given {
			edges = append(edges, int32(e.U), int32(e.V))
			edgeLabels = append(edgeLabels, number(g.HasEdgeLabels(), e.Label))
			if g.Weighted() {
				weights = append(weights, e.Weight)
			}
		}
		n, m, dims = append(n, int64(g.N())), append(m, int64(len(edges)-before)/2), append(dims, int64(g.dim))
		places, kinds = append(places, perVertex), append(kinds, kind)
		attributes, coordinates = append(attributes, g.attr...), append(coordinates, g.coord...)
		for v := range g.N() {
			labels = append(labels, number(g.HasLabels(), g.Label(v)))
			if g.name != nil {
				names = append(names, number(true, g.name[v]))
			}
		}
		ids, targets = append(ids, number(g.id != "", g.id)), append(targets, number(g.target != "", g.target))
		smiles = append(smiles, number(g.origin != nil && g.parts == nil, g.SMILES()))
	}
	var out []byte
	for _, array := range []any{[]int64{int64(len(graphs)), int64(len(lengths))}, n, m, dims, places, kinds,
		attributes, coordinates, weights, edges, labels, edgeLabels, ids, targets, smiles, names, rows, parts, lengths, text} {
		var err error
		if out, err = binary.Append(out, binary.LittleEndian, array); err != nil {
			panic(err) // none of these types has one
		}
	}
	return out
}

// Batch is graphs that Decode has found in bytes.
type Batch struct {
	starts                                          []start // by graph, and behind the last
	attributes, coordinates, weights                []float64
	edges, labels, edgeLabels, ids, targets, smiles []int32
	names, parts                                    []int32
	strings                                         []string
}

// start says where the entries of a graph begin in the arrays of a batch.
type start struct {
	vertices, edges, attributes, coordinates, weights, names, parts int

	kind int64 // of the graph before
}

// Decode finds the graphs of a batch. It trusts nothing: every array must have the length that it
// should have. Every graph, vertex, edge and string takes room in the bytes, so memory stays in
// proportion to them. Decode does not keep the bytes.
func Decode(data []byte) (*Batch, error) {
	r := &arrayReader{data: data}
	count := take[int64](r, "numbers of graphs and strings", 2)
	if r.err != nil {
		return nil, r.err
	}
	var shape [5][]int64
	for i := range shape {
		shape[i] = take[int64](r, "shapes of graphs", count[0])
	}
	if r.err != nil {
		return nil, r.err
	}
	b := &Batch{starts: make([]start, 1, count[0]+1)}
	for i := range int(count[0]) {
		next, err := b.starts[i].after(len(data), shape[0][i], shape[1][i], shape[2][i], shape[3][i], shape[4][i])
		if err != nil {
			return nil, fmt.Errorf("graph %d: %w", i, err)
		}
		b.starts = append(b.starts, next)
	}
	end := b.starts[count[0]]
	b.attributes = take[float64](r, "attributes", int64(end.attributes))
	b.coordinates = take[float64](r, "coordinates", int64(end.coordinates))
	b.weights = take[float64](r, "weights", int64(end.weights))
	b.edges = take[int32](r, "ends of edges", 2*int64(end.edges))
	b.labels = take[int32](r, "labels", int64(end.vertices))
	b.edgeLabels = take[int32](r, "edge labels", int64(end.edges))
	b.ids = take[int32](r, "identifiers", count[0])
	b.targets = take[int32](r, "targets", count[0])
	b.smiles = take[int32](r, "SMILES strings", count[0])
	b.names = take[int32](r, "names", int64(end.names))
	b.takeParts(r)
	for _, n := range take[int32](r, "lengths of strings", count[1]) {
		b.strings = append(b.strings, string(take[uint8](r, "bytes of a string", int64(n))))
	}
	if r.err == nil && len(r.data) > 0 {
		r.err = fmt.Errorf("%d bytes after the last string", len(r.data))
	}
	for _, numbers := range [][]int32{b.labels, b.edgeLabels, b.ids, b.targets, b.smiles, b.names, b.partTexts()} {
		if r.err != nil || len(numbers) == 0 {
			continue
		}
		if lo, hi := slices.Min(numbers), slices.Max(numbers); lo < -1 || int(hi) >= len(b.strings) {
			r.err = fmt.Errorf("numbers of strings from %d to %d, want -1 to %d", lo, hi, len(b.strings)-1)
		}
	}
	return b, r.err
}

// arrayReader takes arrays off the front of bytes.
type arrayReader struct {
	data []byte
	err  error
}

func take[T int64 | float64 | int32 | uint8](r *arrayReader, what string, n int64) []T {
	size := int64(binary.Size(T(0)))
	if r.err == nil && (n < 0 || n > int64(len(r.data))/size) {
		r.err = fmt.Errorf("%d %s, but only %d bytes are left", n, what, len(r.data))
	}
	if r.err != nil {
		return nil
	}
	out := make([]T, n)
	if _, r.err = binary.Decode(r.data, binary.LittleEndian, out); r.err == nil {
		r.data = r.data[n*size:]
	}
	return out
}

// after returns the start of the graph behind one of the given shape. No sum overflows: each stays
// within the bytes of the batch.
func (s start) after(bytes int, n, m, attributes, coordinates, kind int64) (start, error) {
	room := int64(bytes)
	switch {
	case n < 0 || n > room-int64(s.vertices) || n > MaxVertices:
		return s, fmt.Errorf("%d vertices, more than the batch has", n)
	case m < 0 || m > room-int64(s.edges):
		return s, fmt.Errorf("%d edges, more than the batch has", m)
	case attributes < 0 || attributes > (room-int64(s.attributes))/max(n, 1):
		return s, fmt.Errorf("%d attributes of %d vertices, more than the batch has", attributes, n)
	case coordinates != 0 && coordinates != 2 || kind&^(edgesWeighted|edgesDirected|verticesNamed|tableRow) != 0:
		return s, fmt.Errorf("%d coordinates of a vertex and a graph of kind %d, want 0 or 2 and 0 to 15", coordinates, kind)
	}
	s.vertices += int(n)
	s.edges += int(m)
	s.attributes += int(n * attributes)
	s.coordinates += int(n * coordinates)
	s.weights += int(m * (kind & edgesWeighted))
	if s.kind = kind; kind&verticesNamed != 0 {
		s.names += int(n)
	}
	return s, nil
}

// Len returns the number of graphs.
func (b *Batch) Len() int { return len(b.starts) - 1 }

// text returns the string of a number.
func (b *Batch) text(number int32) string {
	if number < 0 {
		return ""
	}
	return b.strings[number]
}

// Graph builds graph i. It may be called concurrently.
func (b *Batch) Graph(i int) (*Graph, error) {
	g, err := b.builder(i).graph(i)
	if err == nil {
		err = b.addParts(g, i)
	}
	return g, err
}

// Merged is Graph for edges that may be given several times. It tells how. If some are given in both
// directions and others in one, the graph is directed.
func (b *Batch) Merged(i int) (*Graph, Given, error) {
	build := b.builder(i)
	g, err := build.graph(i)
	given := build.given
	if err == nil && given.Mixed() {
		build.SetDirected()
		g, err = build.graph(i)
	}
	if err == nil {
		err = b.addParts(g, i)
	}
	return g, given, err
}

// graph builds graph i of a batch.
func (b *Builder) graph(i int) (*Graph, error) {
	g, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("graph %d: %w", i, err)
	}
	return g, nil
}

// builder returns what builds graph i.
func (b *Batch) builder(i int) *Builder {
	from, to := b.starts[i], b.starts[i+1]
	n := to.vertices - from.vertices
	build := NewBuilder(n)
	build.SetID(b.text(b.ids[i]))
	build.SetTarget(b.text(b.targets[i]))
	build.SetSMILES(b.text(b.smiles[i]))
	attributes, coordinates := b.attributes[from.attributes:to.attributes], b.coordinates[from.coordinates:to.coordinates]
	for v := range n {
		if label := b.labels[from.vertices+v]; label >= 0 {
			build.SetLabel(v, b.strings[label])
		}
		if to.kind&verticesNamed != 0 {
			build.SetName(v, b.text(b.names[from.names+v]))
		}
		if dim := len(attributes) / n; dim > 0 {
			build.SetAttributes(v, attributes[v*dim:(v+1)*dim])
		}
		if len(coordinates) > 0 {
			build.SetCoordinates(v, coordinates[2*v], coordinates[2*v+1])
		}
	}
	if to.kind&edgesDirected != 0 {
		build.SetDirected()
	}
	weights := b.weights[from.weights:to.weights]
	build.edges = make([]arc, 0, to.edges-from.edges)
	for e := from.edges; e < to.edges; e++ {
		weight := 1.0
		if len(weights) > 0 {
			weight = weights[e-from.edges]
		}
		build.AddLabeledEdge(int(b.edges[2*e]), int(b.edges[2*e+1]), weight, b.text(b.edgeLabels[e]))
	}
	return build
}
