package worker

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
)

// A batch of graphs is one array for each property, over all graphs in turn:
//
//	n, m, dim     int64    by graph: vertices, edges, attributes per vertex
//	flags         int64    by graph
//	attributes    float64  n·dim by graph
//	weights       float64  m, of graphs with the flag hasWeights
//	coordinates   float64  2n, of graphs with the flag hasCoordinates
//	edges         int32    2m, vertices of the graph from 0
//	labels        int32    n, of graphs with the flag hasLabels: numbers of strings
//	edge_labels   int32    m, of graphs with the flag hasEdgeLabels: numbers of strings
//	ids, targets  int32    by graph: number of a string, −1 for none
//	lengths       int32    by string, in bytes
//	text          uint8    the strings, UTF-8
const (
	hasWeights = 1 << iota
	hasCoordinates
	hasLabels
	hasEdgeLabels
)

// maxVertices bounds the vertices of a batch. Vertices without labels take no room in it.
const maxVertices = 1 << 28

// batchLayout says how long the arrays of a batch are.
type batchLayout struct {
	Graphs  int64 `json:"graphs"`
	Strings int64 `json:"strings"`
}

// batchReader takes arrays off the front of a body.
type batchReader struct {
	b   []byte
	err error
}

func (r *batchReader) take(name string, n, size int64) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > int64(len(r.b))/size {
		r.err = fmt.Errorf("graphs: array %s has %d entries, more than the %d bytes that follow hold", name, n, len(r.b))
		return nil
	}
	out := r.b[:n*size]
	r.b = r.b[n*size:]
	return out
}

func int64At(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
func int32At(b []byte, i int) int32 { return int32(binary.LittleEndian.Uint32(b[4*i:])) }
func float64At(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
}

// notes tell what was changed in graphs to make them simple and undirected.
type notes struct {
	Loops int `json:"loops"` // self-loops that were left out
	// Directed is the number of graphs with edges in both directions and others in one only,
	// which look like directed graphs.
	Directed int `json:"directed"`
}

// column is what is left of an array.
type column []byte

func (c *column) int64() int64 {
	x := int64At(*c, 0)
	*c = (*c)[8:]
	return x
}

func (c *column) int32() int32 {
	x := int32At(*c, 0)
	*c = (*c)[4:]
	return x
}

func (c *column) float64() float64 { return math.Float64frombits(uint64(c.int64())) }

// arrays has the arrays of a batch, of which the graphs that were built are taken off.
type arrays struct {
	n, m, dim, flags                        column
	attributes, weights, coordinates        column
	edges, labels, edgeLabels, ids, targets column
	strings                                 []string
}

// newArrays divides a body into arrays.
func newArrays(l batchLayout, body []byte) (*arrays, error) {
	r := &batchReader{b: body}
	b := &arrays{n: r.take("n", l.Graphs, 8), m: r.take("m", l.Graphs, 8), dim: r.take("dim", l.Graphs, 8), flags: r.take("flags", l.Graphs, 8)}
	if r.err != nil {
		return nil, r.err
	}
	var attributes, weights, coordinates, edges, labels, edgeLabels int64
	room, vertices := int64(len(r.b)), int64(0)
	for i := range int(l.Graphs) {
		n, m, d, f := int64At(b.n, i), int64At(b.m, i), int64At(b.dim, i), int64At(b.flags, i)
		vertices += max(0, n)
		switch {
		case n < 0 || n > maxVertices || vertices > maxVertices:
			return nil, fmt.Errorf("graph %d: %d vertices (%d with the graphs before), want 0 to %d", i, n, vertices, maxVertices)
		case m < 0 || m > room:
			return nil, fmt.Errorf("graph %d: %d edges, more than the arrays hold", i, m)
		case d < 0 || n > 0 && d > room/n:
			return nil, fmt.Errorf("graph %d: %d attributes of %d vertices, more than the arrays hold", i, d, n)
		case f < 0 || f >= 2*hasEdgeLabels:
			return nil, fmt.Errorf("graph %d: flags %d are not known", i, f)
		}
		attributes += n * d
		edges += m
		weights += m * (f / hasWeights & 1)
		coordinates += 2 * n * (f / hasCoordinates & 1)
		labels += n * (f / hasLabels & 1)
		edgeLabels += m * (f / hasEdgeLabels & 1)
	}
	b.attributes, b.weights, b.coordinates = r.take("attributes", attributes, 8), r.take("weights", weights, 8), r.take("coordinates", coordinates, 8)
	b.edges, b.labels, b.edgeLabels = r.take("edges", 2*edges, 4), r.take("labels", labels, 4), r.take("edge_labels", edgeLabels, 4)
	b.ids, b.targets = r.take("ids", l.Graphs, 4), r.take("targets", l.Graphs, 4)
	b.strings = r.strings(l.Strings)
	return b, r.err
}

// text takes the number of a string off a column and returns the string.
func (b *arrays) text(c *column) (string, error) {
	code := c.int32()
	if code < 0 || int(code) >= len(b.strings) {
		return "", fmt.Errorf("label number %d, want 0 to %d", code, len(b.strings)-1)
	}
	return b.strings[code], nil
}

// optional is text where a negative number means none.
func (b *arrays) optional(c *column) (string, error) {
	if int32At(*c, 0) < 0 {
		c.int32()
		return "", nil
	}
	return b.text(c)
}

// next builds the next graph.
func (b *arrays) next(note *notes) (*graph.Graph, error) {
	n, m, f := int(b.n.int64()), int(b.m.int64()), b.flags.int64()
	row := make([]float64, min(n, 1)*int(b.dim.int64()))
	to := graph.NewBuilder(n)
	for v := range n {
		if f&hasLabels != 0 {
			s, err := b.text(&b.labels)
			if err != nil {
				return nil, fmt.Errorf("vertex %d: %w", v, err)
			}
			to.SetLabel(v, s)
		}
		for j := range row {
			row[j] = b.attributes.float64()
		}
		if len(row) > 0 {
			to.SetAttributes(v, row)
		}
		if f&hasCoordinates != 0 {
			x, y := b.coordinates.float64(), b.coordinates.float64()
			to.SetCoordinates(v, x, y)
		}
	}
	for e := range m {
		u, v, w := int(b.edges.int32()), int(b.edges.int32()), 1.0
		if f&hasWeights != 0 {
			w = b.weights.float64()
		}
		if f&hasEdgeLabels == 0 {
			to.AddWeightedEdge(u, v, w)
			continue
		}
		s, err := b.text(&b.edgeLabels)
		if err != nil {
			return nil, fmt.Errorf("edge %d: %w", e, err)
		}
		to.AddLabeledEdge(u, v, w, s)
	}
	id, err := b.optional(&b.ids)
	if err != nil {
		return nil, fmt.Errorf("identifier: %w", err)
	}
	target, err := b.optional(&b.targets)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	to.SetID(id)
	to.SetTarget(target)
	g, err := to.Build()
	if err != nil {
		return nil, err
	}
	note.Loops += to.SelfLoops()
	if given := m - to.SelfLoops(); given > g.M() && given < 2*g.M() {
		note.Directed++
	}
	return g, nil
}

// decodeGraphs returns the graphs of a batch. Errors name the graph and what is wrong in it.
func decodeGraphs(l batchLayout, body []byte) ([]*graph.Graph, notes, error) {
	var note notes
	b, err := newArrays(l, body)
	if err != nil {
		return nil, note, err
	}
	out := make([]*graph.Graph, l.Graphs)
	for i := range out {
		if out[i], err = b.next(&note); err != nil {
			return nil, note, fmt.Errorf("graph %d: %w", i, err)
		}
	}
	return out, note, nil
}

// strings takes the lengths and the text of strings.
func (r *batchReader) strings(count int64) []string {
	lengths := r.take("lengths", count, 4)
	if r.err != nil {
		return nil
	}
	out := make([]string, count)
	for i := range out {
		n := int32At(lengths, i)
		out[i] = string(r.take("text", int64(n), 1))
	}
	return out
}

// encodeGraphs writes graphs into an answer as the arrays of a batch.
func encodeGraphs(a *answer, graphs []*graph.Graph) {
	var (
		n, m, dim, flags                       []int64
		attr, wt, xy                           []float64
		ends, lab, elab, ids, targets, lengths []int32
		text                                   []byte
	)
	codes := map[string]int32{}
	code := func(s string) int32 {
		c, ok := codes[s]
		if !ok {
			c = int32(len(codes))
			codes[s] = c
			lengths = append(lengths, int32(len(s)))
			text = append(text, s...)
		}
		return c
	}
	optional := func(s string) int32 {
		if s == "" {
			return -1
		}
		return code(s)
	}
	for _, g := range graphs {
		f := int64(0)
		for v := range g.N() {
			if g.HasLabels() {
				f |= hasLabels
				lab = append(lab, code(g.Label(v)))
			}
			attr = append(attr, g.Attributes(v)...)
			if x, y, ok := g.Coordinates(v); ok {
				f |= hasCoordinates
				xy = append(xy, x, y)
			}
		}
		for e := range g.Edges() {
			ends = append(ends, int32(e.U), int32(e.V))
			if g.Weighted() {
				f |= hasWeights
				wt = append(wt, e.Weight)
			}
			if g.HasEdgeLabels() {
				f |= hasEdgeLabels
				elab = append(elab, code(e.Label))
			}
		}
		n, m, dim, flags = append(n, int64(g.N())), append(m, int64(g.M())), append(dim, int64(g.AttributeDim())), append(flags, f)
		ids, targets = append(ids, optional(g.ID())), append(targets, optional(g.Target()))
	}
	a.put("n", []int{len(n)}, n)
	a.put("m", []int{len(m)}, m)
	a.put("dim", []int{len(dim)}, dim)
	a.put("flags", []int{len(flags)}, flags)
	a.put("attributes", []int{len(attr)}, attr)
	a.put("weights", []int{len(wt)}, wt)
	a.put("coordinates", []int{len(xy)}, xy)
	a.put("edges", []int{len(ends)}, ends)
	a.put("labels", []int{len(lab)}, lab)
	a.put("edge_labels", []int{len(elab)}, elab)
	a.put("ids", []int{len(ids)}, ids)
	a.put("targets", []int{len(targets)}, targets)
	a.put("lengths", []int{len(lengths)}, lengths)
	a.put("text", []int{len(text)}, text)
}
