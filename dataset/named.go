package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// data are values by key, of a vertex, an edge or a graph.
type data map[string]string

// with returns d with more on top, without changing either.
func (d data) with(more data) data {
	if len(more) == 0 {
		return d
	}
	if len(d) == 0 {
		return more
	}
	out := data{}
	maps.Copy(out, d)
	maps.Copy(out, more)
	return out
}

// find returns the value of the first of the keys that exists, without regard to case.
func (d data) find(keys []string) (string, bool) {
	for _, k := range keys {
		if v, ok := d[k]; ok {
			return v, true
		}
		best := "" // of several spellings the first by alphabet
		for have := range d {
			if strings.EqualFold(have, k) && (best == "" || have < best) {
				best = have
			}
		}
		if best != "" {
			return d[best], true
		}
	}
	return "", false
}

// named collects a graph whose vertices have names and whose vertices and edges have
// data, as in GraphML and DOT.
type named struct {
	id       string
	data     data // of the graph
	index    map[string]int
	name     []string // by vertex
	node     []data   // by vertex
	edges    []namedEdge
	directed bool // some edge is
	lim      Limits
}

type namedEdge struct {
	u, v     int
	data     data
	directed bool
	line     int
}

func newNamed(lim Limits) *named {
	return &named{index: map[string]int{}, data: data{}, lim: lim}
}

// vertex returns the number of the vertex of the given name, which is new when needed.
func (n *named) vertex(name string) (int, error) {
	if v, ok := n.index[name]; ok {
		return v, nil
	}
	if len(n.node) >= n.lim.Vertices {
		return 0, fmt.Errorf("more than %d vertices, which is the limit", n.lim.Vertices)
	}
	v := len(n.node)
	n.index[name] = v
	n.name = append(n.name, name)
	n.node = append(n.node, nil)
	return v, nil
}

func (n *named) edge(u, v int, d data, directed bool, line int) error {
	if len(n.edges) >= n.lim.Edges {
		return fmt.Errorf("more than %d edges, which is the limit", n.lim.Edges)
	}
	n.directed = n.directed || directed
	n.edges = append(n.edges, namedEdge{u, v, d, directed, line})
	return nil
}

// build makes the graph, with the numbers of the vertices that the format has. An error in a
// line is a *lineError.
func (n *named) build(s *stream, numbers func(*graph.Builder) error) (*graph.Graph, error) {
	b := graph.NewBuilder(len(n.node))
	in := interner{}
	for v, d := range n.node {
		if t, ok := d.find(nodeLabelNames); ok {
			b.SetLabel(v, in.text([]byte(t)))
		}
	}
	nameVertices(b, n.name)
	if n.directed {
		b.SetDirected()
	}
	for _, e := range n.edges {
		w := 1.0
		if t, ok := e.data.find(edgeWeightNames); ok {
			var err error
			if w, err = decimal([]byte(strings.TrimSpace(t))); err != nil || !positive(w) {
				return nil, &lineError{e.line, fmt.Errorf("edge weight %s, want a positive, finite number", quote([]byte(t)))}
			}
		}
		label, _ := e.data.find(edgeLabelNames)
		u, v := e.u, e.v
		if !e.directed { // the order of the ends means nothing
			u, v = min(u, v), max(u, v)
		}
		b.AddLabeledEdge(u, v, w, in.text([]byte(label)))
		if n.directed && !e.directed && u != v {
			b.AddLabeledEdge(v, u, w, in.text([]byte(label)))
		}
	}
	s.beside = Fields{Names: slices.Sorted(maps.Keys(n.data)), SMILES: -1}
	for _, name := range s.beside.Names {
		s.beside.Values = append(s.beside.Values, n.data[name])
	}
	target, ok := n.data.find(wanted(s.opts.TargetColumn, targetNames))
	if !ok && s.opts.TargetColumn != "" {
		return nil, fmt.Errorf("graph %q has no data %q", n.id, s.opts.TargetColumn)
	}
	b.SetTarget(target)
	b.SetID(n.id)
	if id, ok := n.data.find(wanted(s.opts.IDColumn, idNames)); ok && (n.id == "" || s.opts.IDColumn != "") {
		b.SetID(id)
	}
	if err := numbers(b); err != nil {
		return nil, err
	}
	g, err := b.Build()
	if err == nil {
		err = corrections(b.Given(), s.opts, s.warn, func(v int) string { return n.name[v] })
	}
	return g, err
}

// nameVertices gives the vertices their names, unless these are their numbers, perhaps with a letter before
// them as GraphML has it: n0, n1, ….
func nameVertices(b *graph.Builder, names []string) {
	for v, name := range names {
		if strings.TrimPrefix(name, "n") != strconv.Itoa(v) {
			for v, name := range names {
				b.SetName(v, name)
			}
			return
		}
	}
}
