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
	n      int
	edges  []arc
	label  []string
	attr   []float64
	dim    int
	filled []bool // attribute rows that are set
	coord  []float64
	id     string
	target string
	origin *origin
	loops  int   // dropped: they do not change a Laplacian
	merge  bool  // an edge may be given with different weights and labels
	given  Given // of the graph that was built last
	err    error
}

// arc is an edge in the direction in which it was given.
type arc struct {
	Edge
	reversed bool
}

// Given tells how the edges of a graph were given.
type Given struct {
	Loops    int // self-loops, which were left out
	Parallel int // edges that were given before, in the same direction
	Weights  int // edges that were given with different weights; they have the mean
	Labels   int // edges that were given with different labels, which were joined
	// Directed says that some edges were given in one direction only and others in both.
	Directed bool
}

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
	case u == v:
		b.loops++
		return
	}
	if wrong != "" {
		b.fail(fmt.Errorf("edge %d (%d, %d): %s", len(b.edges)+b.loops, u, v, wrong))
		return
	}
	b.edges = append(b.edges, arc{Edge{min(u, v), max(u, v), w, label}, u > v})
}

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

// Build returns the graph, or the first error. An edge may be given more than once, in
// either direction, with the same weight and label. The builder may be used again
// afterwards; the graph does not change.
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
	edges, given, err := distinct(b.edges, b.n, b.merge)
	if err != nil {
		return nil, err
	}
	b.given = given
	b.given.Loops = b.loops
	if 2*len(edges) > math.MaxInt32 {
		return nil, errors.New("more than 1073741823 edges")
	}
	g := &Graph{id: b.id, target: b.target, origin: b.origin, dim: b.dim,
		label: slices.Clone(b.label), attr: slices.Clone(b.attr), coord: slices.Clone(b.coord)}
	g.off = make([]int32, b.n+1)
	unit, labeled := true, false
	for _, e := range edges {
		g.off[e.U+1]++
		g.off[e.V+1]++
		unit = unit && e.Weight == 1
		labeled = labeled || e.Label != ""
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

// distinct returns the edges between n vertices, sorted by (U, V), without repetitions.
func distinct(es []arc, n int, merge bool) ([]Edge, Given, error) {
	var given Given
	out := make([]Edge, 0, len(es))
	single, both := false, false
	for order := ascending(es, n); len(order) > 0; {
		first, k := &es[order[0]], 1
		for k < len(order) && es[order[k]].U == first.U && es[order[k]].V == first.V {
			k++
		}
		out = append(out, first.Edge)
		if k == 1 {
			single, order = true, order[1:]
			continue
		}
		parallel, err := join(&out[len(out)-1], es, order[:k], merge, &given)
		if err != nil {
			return nil, given, err
		}
		given.Parallel += parallel
		single, both = single || k == parallel+1, both || k > parallel+1
		order = order[k:]
	}
	given.Directed = single && both
	return out, given, nil
}

// join makes e, which was given in some arcs, an edge with what all of them say. It returns how many
// of them repeat another one.
func join(e *Edge, es []arc, some []int32, merge bool, given *Given) (parallel int, err error) {
	sum, same, labels := 0.0, true, false
	seen := [2]int{} // forwards, backwards
	for _, i := range some {
		a := &es[i]
		if !merge && a.Weight != e.Weight {
			return 0, fmt.Errorf("edge (%d, %d) is given twice, with weights %v and %v", e.U, e.V, e.Weight, a.Weight)
		}
		if !merge && a.Label != e.Label {
			return 0, fmt.Errorf("edge (%d, %d) is given twice, with labels %q and %q", e.U, e.V, e.Label, a.Label)
		}
		sum, same = sum+a.Weight, same && a.Weight == e.Weight
		labels = labels || a.Label != e.Label
		if a.reversed {
			seen[1]++
		} else {
			seen[0]++
		}
	}
	if !same {
		given.Weights++
		e.Weight = sum / float64(len(some))
	}
	if labels {
		given.Labels++
		var all []string
		for _, i := range some {
			all = append(all, es[i].Label)
		}
		slices.Sort(all)
		e.Label = strings.Join(slices.Compact(all), "|")
	}
	return max(0, seen[0]-1) + max(0, seen[1]-1), nil
}
