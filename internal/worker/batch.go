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

// decodeGraphs returns the graphs of a batch. Errors name the graph and what is wrong in it.
func decodeGraphs(l batchLayout, body []byte) ([]*graph.Graph, notes, error) {
	var note notes
	r := &batchReader{b: body}
	n, m, dim, flags := r.take("n", l.Graphs, 8), r.take("m", l.Graphs, 8), r.take("dim", l.Graphs, 8), r.take("flags", l.Graphs, 8)
	if r.err != nil {
		return nil, note, r.err
	}
	var sum struct{ attr, wt, xy, edge, lab, elab int64 }
	room := int64(len(r.b))
	vertices := int64(0)
	for i := range int(l.Graphs) {
		vn, en, d, f := int64At(n, i), int64At(m, i), int64At(dim, i), int64At(flags, i)
		vertices += max(0, vn)
		switch {
		case vn < 0 || vn > maxVertices || vertices > maxVertices:
			return nil, note, fmt.Errorf("graph %d: %d vertices (%d with the graphs before), want 0 to %d", i, vn, vertices, maxVertices)
		case en < 0 || en > room:
			return nil, note, fmt.Errorf("graph %d: %d edges, more than the arrays hold", i, en)
		case d < 0 || vn > 0 && d > room/vn:
			return nil, note, fmt.Errorf("graph %d: %d attributes of %d vertices, more than the arrays hold", i, d, vn)
		case f < 0 || f >= 2*hasEdgeLabels:
			return nil, note, fmt.Errorf("graph %d: flags %d are not known", i, f)
		}
		sum.attr += vn * d
		sum.edge += en
		sum.wt += en * (f / hasWeights & 1)
		sum.xy += 2 * vn * (f / hasCoordinates & 1)
		sum.lab += vn * (f / hasLabels & 1)
		sum.elab += en * (f / hasEdgeLabels & 1)
	}
	attr, wt, xy := r.take("attributes", sum.attr, 8), r.take("weights", sum.wt, 8), r.take("coordinates", sum.xy, 8)
	ends, lab, elab := r.take("edges", 2*sum.edge, 4), r.take("labels", sum.lab, 4), r.take("edge_labels", sum.elab, 4)
	ids, targets := r.take("ids", l.Graphs, 4), r.take("targets", l.Graphs, 4)
	strings := r.strings(l.Strings)
	if r.err != nil {
		return nil, note, r.err
	}
	text := func(code int32) (string, error) {
		if code < 0 || int64(code) >= l.Strings {
			return "", fmt.Errorf("label number %d, want 0 to %d", code, l.Strings-1)
		}
		return strings[code], nil
	}
	out := make([]*graph.Graph, l.Graphs)
	var at struct{ attr, wt, xy, end, lab, elab int }
	for i := range out {
		vn, en, d, f := int(int64At(n, i)), int(int64At(m, i)), int(int64At(dim, i)), int64At(flags, i)
		b := graph.NewBuilder(vn)
		var row []float64
		if vn > 0 {
			row = make([]float64, d)
		}
		for v := range vn {
			if f&hasLabels != 0 {
				s, err := text(int32At(lab, at.lab))
				if err != nil {
					return nil, note, fmt.Errorf("graph %d: vertex %d: %w", i, v, err)
				}
				b.SetLabel(v, s)
				at.lab++
			}
			if d > 0 {
				for j := range row {
					row[j] = float64At(attr, at.attr)
					at.attr++
				}
				b.SetAttributes(v, row)
			}
			if f&hasCoordinates != 0 {
				b.SetCoordinates(v, float64At(xy, at.xy), float64At(xy, at.xy+1))
				at.xy += 2
			}
		}
		for e := range en {
			u, v := int(int32At(ends, at.end)), int(int32At(ends, at.end+1))
			at.end += 2
			w := 1.0
			if f&hasWeights != 0 {
				w = float64At(wt, at.wt)
				at.wt++
			}
			if f&hasEdgeLabels == 0 {
				b.AddWeightedEdge(u, v, w)
				continue
			}
			s, err := text(int32At(elab, at.elab))
			if err != nil {
				return nil, note, fmt.Errorf("graph %d: edge %d: %w", i, e, err)
			}
			at.elab++
			b.AddLabeledEdge(u, v, w, s)
		}
		for k, codes := range [][]byte{ids, targets} {
			if c := int32At(codes, i); c >= 0 {
				s, err := text(c)
				if err != nil {
					return nil, note, fmt.Errorf("graph %d: identifier or target: %w", i, err)
				}
				if k == 0 {
					b.SetID(s)
				} else {
					b.SetTarget(s)
				}
			}
		}
		gr, err := b.Build()
		if err != nil {
			return nil, note, fmt.Errorf("graph %d: %w", i, err)
		}
		note.Loops += b.SelfLoops()
		if given := en - b.SelfLoops(); given > gr.M() && given < 2*gr.M() {
			note.Directed++
		}
		out[i] = gr
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
