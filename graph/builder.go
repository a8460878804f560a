package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxVertices is the largest number of vertices of a graph.
const MaxVertices = math.MaxInt32 - 1

// Builder collects the parts of a graph and validates them. The zero value is a builder
// of the empty graph; NewBuilder makes others. The first error is kept and returned by
// Build; after it the other methods do nothing.
type Builder struct {
	n     int
	edges []arc
	// directed says that edges are arcs.
	directed bool
	label    []string
	name     []string
	attr     []float64
	dim      int
	filled   []bool // attribute rows that are set
	coord    []float64
	id       string
	target   string
	origin   *origin
	given    Given // of the graph that was built last
	err      error
}

// arc is an edge in the direction in which it was given.
type arc struct {
	Edge
	reversed bool
}

// Given tells how the edges of a graph were given, where this differs from how the graph has them.
type Given struct {
	Loops    int  // self-loops of an undirected graph, which were left out
	Parallel int  // edges that were given before in the same direction, and became one
	First    Edge // the first of them
	// Of edges that an undirected graph was given in both directions:
	Weights  int // different weights, which became their mean
	Labels   int // different labels, which became a set
	OneWay   int // edges of an undirected graph that were given in one direction only
	BothWays int // and in both
}

// Mixed reports whether an undirected graph was given some edges in both directions and others in one.
func (g Given) Mixed() bool { return g.OneWay > 0 && g.BothWays > 0 }

// NewBuilder returns a builder of a graph with n vertices.
func NewBuilder(n int) *Builder {
	b := &Builder{n: n}
	if n < 0 || n > MaxVertices {
		b.n = 0
		b.err = fmt.Errorf("%d vertices, want 0 to %d", n, MaxVertices)
	}
	return b
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *Builder) vertex(what string, v int) bool {
	if v < 0 || v >= b.n {
		b.fail(fmt.Errorf("%s: vertex %d out of range [0, %d)", what, v, b.n))
		return false
	}
	return b.err == nil
}

// SetDirected makes the graph directed: an edge is an arc from its first end to the second.
func (b *Builder) SetDirected() { b.directed = true }

// AddEdge adds the edge between u and v with weight 1 and no label.
func (b *Builder) AddEdge(u, v int) { b.AddLabeledEdge(u, v, 1, "") }

// AddWeightedEdge adds an edge with a weight.
func (b *Builder) AddWeightedEdge(u, v int, w float64) { b.AddLabeledEdge(u, v, w, "") }

// AddLabeledEdge adds an edge with a weight and a label, "" for none.
func (b *Builder) AddLabeledEdge(u, v int, w float64, label string) {
	if b.err != nil {
		return
	}
	wrong := ""
	switch {
	case u < 0 || u >= b.n:
		wrong = fmt.Sprintf("vertex %d out of range [0, %d)", u, b.n)
	case v < 0 || v >= b.n:
		wrong = fmt.Sprintf("vertex %d out of range [0, %d)", v, b.n)
	case !(w > 0) || math.IsInf(w, 1):
		wrong = fmt.Sprintf("weight %v, want a positive, finite number", w)
	}
	if wrong != "" {
		b.fail(fmt.Errorf("edge %d (%d, %d): %s", len(b.edges), u, v, wrong))
		return
	}
	b.edges = append(b.edges, arc{Edge{min(u, v), max(u, v), w, label}, u > v})
}

// Given tells how the edges of the graph that was built last were given.
func (b *Builder) Given() Given { return b.given }

// SetLabel gives vertex v a discrete label. Vertices without one get "".
func (b *Builder) SetLabel(v int, label string) {
	if !b.vertex("label", v) {
		return
	}
	if b.label == nil {
		b.label = make([]string, b.n)
	}
	b.label[v] = label
}

// SetName gives vertex v a name for people. Vertices without one get "".
func (b *Builder) SetName(v int, name string) {
	if !b.vertex("name", v) {
		return
	}
	if b.name == nil {
		b.name = make([]string, b.n)
	}
	b.name[v] = name
}

// SetAttributes gives vertex v a row of real attributes, which is copied. Every vertex
// needs a row, all of the same length, with finite entries.
func (b *Builder) SetAttributes(v int, row []float64) {
	if !b.vertex("attributes", v) {
		return
	}
	if len(row) == 0 {
		b.fail(fmt.Errorf("attributes of vertex %d: empty row", v))
		return
	}
	if b.dim == 0 {
		b.dim = len(row)
		b.attr = make([]float64, b.n*b.dim)
		b.filled = make([]bool, b.n)
	}
	if len(row) != b.dim {
		b.fail(fmt.Errorf("attributes of vertex %d: a row of length %d, want %d as in the rows before", v, len(row), b.dim))
		return
	}
	for i, x := range row {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b.fail(fmt.Errorf("attributes of vertex %d: number %d is %v, want a finite number", v, i, x))
			return
		}
	}
	copy(b.attr[v*b.dim:], row)
	b.filled[v] = true
}

// SetCoordinates gives vertex v a position for drawing.
func (b *Builder) SetCoordinates(v int, x, y float64) {
	if !b.vertex("coordinates", v) {
		return
	}
	if b.coord == nil {
		b.coord = make([]float64, 2*b.n)
	}
	b.coord[2*v], b.coord[2*v+1] = x, y
}

// SetID sets the identifier of the graph.
func (b *Builder) SetID(id string) { b.id = id }

// SetTarget sets the class or value to be learned.
func (b *Builder) SetTarget(target string) { b.target = target }

// Build returns the graph, or the first error. The builder may be used again afterwards; the graph does
// not change.
//
// Edges that are given several times are one edge:
//
//   - Parallel edges, which have the same direction, become one. Its weight is the sum of theirs, if some
//     edge of the graph has another weight than 1, else 1. Its label is the set of their labels, sorted,
//     as in "calls|reads".
//   - In an undirected graph, an edge may be given in both directions. It has the mean of both weights, and
//     the set of both labels. Self-loops are left out.
//   - In a directed graph these are two arcs, and self-loops are arcs.
//
// Given tells how often this was so.
func (b *Builder) Build() (*Graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	for v, ok := range b.filled {
		if !ok {
			return nil, fmt.Errorf("vertex %d has no attributes, other vertices have %d", v, b.dim)
		}
	}
	if len(b.edges) > math.MaxInt32 {
		return nil, fmt.Errorf("%d edges, counting each as often as it is given; want at most %d", len(b.edges), math.MaxInt32)
	}
	edges, arcs := b.distinct()
	for _, e := range slices.Concat(edges, arcs) {
		if math.IsInf(e.Weight, 1) {
			return nil, fmt.Errorf("edge (%d, %d): the weights of parallel edges add up to more than %g", e.U, e.V, math.MaxFloat64)
		}
	}
	if 2*len(edges) > math.MaxInt32 {
		return nil, errors.New("more than 1073741823 edges")
	}
	g := &Graph{id: b.id, target: b.target, origin: b.origin, dim: b.dim, directed: b.directed, arcs: arcs,
		label: slices.Clone(b.label), name: slices.Clone(b.name), attr: slices.Clone(b.attr), coord: slices.Clone(b.coord)}
	g.off = make([]int32, b.n+1)
	unit, labeled := true, false
	for _, some := range [][]Edge{edges, arcs} {
		for _, e := range some {
			unit = unit && e.Weight == 1
			labeled = labeled || e.Label != ""
		}
	}
	for _, e := range edges {
		g.off[e.U+1]++
		g.off[e.V+1]++
	}
	for v := range b.n {
		g.off[v+1] += g.off[v]
	}
	g.adj = make([]int32, 2*len(edges))
	if !unit {
		g.weight = make([]float64, len(g.adj))
	}
	if labeled {
		g.edge = make([]int32, len(g.adj))
		g.edgeLabel = make([]string, len(edges))
	}
	next := make([]int32, b.n)
	copy(next, g.off)
	put := func(u, v, i int, w float64) {
		at := next[u]
		next[u]++
		g.adj[at] = int32(v)
		if !unit {
			g.weight[at] = w
		}
		if labeled {
			g.edge[at] = int32(i)
		}
	}
	// Edges are sorted by (U, V): writing first the lower neighbours of every vertex and
	// then the higher ones leaves each row ascending.
	for i, e := range edges {
		put(e.V, e.U, i, e.Weight)
	}
	for i, e := range edges {
		put(e.U, e.V, i, e.Weight)
		if labeled {
			g.edgeLabel[i] = e.Label
		}
	}
	return g, nil
}

// ascending returns the numbers of arcs between n vertices, sorted by (U, V). Equal ones keep their
// order. It counts, and takes O(n + m) time.
func ascending(es []arc, n int) []int32 {
	from, to := make([]int32, len(es)), make([]int32, len(es))
	for i := range from {
		from[i] = int32(i)
	}
	start := make([]int32, n+1)
	for _, end := range []func(a *arc) int{func(a *arc) int { return a.V }, func(a *arc) int { return a.U }} {
		clear(start)
		for i := range es {
			start[end(&es[i])+1]++
		}
		for v := range n {
			start[v+1] += start[v]
		}
		for _, i := range from {
			v := end(&es[i])
			to[start[v]] = i
			start[v]++
		}
		from, to = to, from
	}
	return from
}

// distinct returns the edges of the graph, sorted by (U, V), without repetitions, and the arcs of a directed
// one. It counts what was given otherwise.
func (b *Builder) distinct() (edges, arcs []Edge) {
	b.given = Given{}
	weighted := slices.ContainsFunc(b.edges, func(a arc) bool { return a.Weight != 1 })
	edges = make([]Edge, 0, len(b.edges))
	for order := ascending(b.edges, b.n); len(order) > 0; {
		first, k := &b.edges[order[0]], 1
		for k < len(order) && b.edges[order[k]].U == first.U && b.edges[order[k]].V == first.V {
			k++
		}
		there, forth := b.parallel(order[:k], false, weighted)
		back, backward := b.parallel(order[:k], true, weighted)
		order = order[k:]
		loop := first.U == first.V
		switch {
		case b.directed && forth:
			arcs = append(arcs, there)
		case loop:
			b.given.Loops += k
		}
		if b.directed && backward {
			arcs = append(arcs, Edge{back.V, back.U, back.Weight, back.Label})
		}
		switch {
		case loop:
		case forth && backward:
			edges = append(edges, b.edge(there, back))
		case forth:
			edges = append(edges, there)
		default:
			edges = append(edges, back)
		}
		if forth != backward && !loop && !b.directed {
			b.given.OneWay++
		}
	}
	slices.SortFunc(arcs, compareEnds)
	return edges, arcs
}

// parallel makes one edge of those of some that have a direction. It reports whether there are any.
func (b *Builder) parallel(some []int32, reversed, weighted bool) (out Edge, any bool) {
	var labels []string // where there are several
	for _, i := range some {
		a := &b.edges[i]
		switch {
		case a.reversed != reversed:
			continue
		case !any:
			out, any = a.Edge, true
			continue
		}
		if a.U != a.V || b.directed {
			if b.given.Parallel++; b.given.Parallel == 1 {
				b.given.First = a.Edge
				if reversed {
					b.given.First.U, b.given.First.V = a.V, a.U
				}
			}
		}
		if weighted {
			out.Weight += a.Weight
		}
		if a.Label != out.Label {
			labels = append(labels, a.Label)
		}
	}
	if len(labels) > 0 {
		out.Label = labelSet(append(labels, out.Label))
	}
	return out, any
}

// edge makes an edge of what was given in its two directions.
func (b *Builder) edge(there, back Edge) Edge {
	e := there
	if b.directed {
		e.Weight, e.Label = mean(there.Weight, back.Weight), labelSet([]string{there.Label, back.Label})
		return e
	}
	b.given.BothWays++
	if there.Weight != back.Weight {
		b.given.Weights++
		e.Weight = mean(there.Weight, back.Weight)
	}
	if there.Label != back.Label {
		b.given.Labels++
		e.Label = labelSet([]string{there.Label, back.Label})
	}
	return e
}

// labelSet writes the set of some labels.
func labelSet(labels []string) string {
	if !slices.ContainsFunc(labels, func(label string) bool { return label != labels[0] }) {
		return labels[0]
	}
	var all []string
	for _, label := range labels {
		if label != "" {
			all = append(all, strings.Split(label, "|")...)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "|")
}
