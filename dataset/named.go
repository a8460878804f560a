package dataset

import (
	"cmp"
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
	key, ok := d.key(keys)
	return d[key], ok
}

// key returns the first of the keys that exists, as the data spell it.
func (d data) key(keys []string) (string, bool) {
	for _, k := range keys {
		if _, ok := d[k]; ok {
			return k, true
		}
		best := "" // of several spellings the first by alphabet
		for have := range d {
			if strings.EqualFold(have, k) && (best == "" || have < best) {
				best = have
			}
		}
		if best != "" {
			return best, true
		}
	}
	return "", false
}

// named collects a graph whose vertices have names and whose vertices and edges have data, as in
// GraphML and DOT.
type named struct {
	id       string
	data     data // of the graph
	index    map[string]int
	name     []string // by vertex
	node     []data   // by vertex; nil for one that edges alone name
	edges    []namedEdge
	directed bool // some edge is
	lim      Limits
	opts     Options // of this graph

	labels     []string // keys of vertices that may be the label, in their order
	weights    []string // keys of edges that may be the weight
	numbers    keyKinds // of vertices
	title      []string // names for people, where those of the format are numbers; nil for none
	drawn      keySet   // keys of vertices that say how to draw, which are no data
	edgesDrawn keySet   // and of edges
	lines      []int    // of the vertices

	// Edges that become vertices; see Options.EdgeAttributes.
	rows     [][]float64  // by edge: its numbers; nil where edges stay edges
	width    int          // numbers of an edge
	compared keySet       // their keys
	labelled bool         // vertices have labels
	places   [][2]float64 // of the vertices, nil where they have none, nil where they are not known
}

// keyKinds says which keys a format declares to be numbers or texts. Values tell of the others.
type keyKinds map[string]bool // whether it is a number

// keySet is a set of keys in lower case.
type keySet map[string]bool

func keysOf(list string) keySet {
	out := keySet{}
	for key := range strings.FieldsSeq(list) {
		out[key] = true
	}
	return out
}

type namedEdge struct {
	u, v     int
	data     data
	directed bool
	line     int
}

func newNamed(lim Limits) *named {
	return &named{index: map[string]int{}, data: data{}, lim: lim, labels: nodeLabelNames, weights: edgeWeightNames, numbers: keyKinds{}}
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

// whole returns an error if an edge leads to a vertex that the file does not have.
func (n *named) whole() error {
	for _, e := range n.edges {
		for _, v := range []int{e.u, e.v} {
			if n.node[v] == nil {
				return &lineError{e.line, fmt.Errorf("edge to node %q, which does not exist", n.name[v])}
			}
		}
	}
	return nil
}

// newVertex adds a vertex of a line with its data. It is an error if it has some already.
func (n *named) newVertex(name string, d data, line int) error {
	v, err := n.vertex(name)
	switch {
	case err != nil:
		return &lineError{line, err}
	case n.node[v] != nil:
		return &lineError{line, fmt.Errorf("second node with the name %q", name)}
	case d == nil:
		d = data{}
	}
	n.node[v] = d
	for len(n.lines) <= v {
		n.lines = append(n.lines, 0)
	}
	n.lines[v] = line
	return nil
}

// build makes the graph. An error in a line is a *lineError.
func (n *named) build(s *stream) (*graph.Graph, error) {
	n.opts = n.inherit(s)
	if err := n.edgeNumbers(n.opts); err != nil {
		return nil, err
	}
	b := graph.NewBuilder(len(n.node) + len(n.rows))
	in := interner{}
	used := keySet{} // keys that are labels of vertices
	labels := chosenKeys(n.opts.NodeLabel, n.labels)
	if err := missingKey(n.opts.NodeLabel, "node", n.node); err != nil {
		return nil, n.wrong(err)
	}
	for v, d := range n.node {
		if key, ok := d.key(labels); ok {
			b.SetLabel(v, in.text([]byte(d[key])))
			used[key] = true
		}
	}
	nameVertices(b, n.name)
	if n.title != nil {
		nameVertices(b, n.title)
	}
	n.labelled = len(used) > 0
	if n.directed {
		b.SetDirected()
	}
	s.named = true
	if err := n.addEdges(s, b, in); err != nil {
		return nil, err
	}
	if err := n.describe(s, b); err != nil {
		return nil, err
	}
	if err := n.attributes(s, b, used); err != nil {
		return nil, err
	}
	g, err := b.Build()
	if err == nil {
		err = corrections(b.Given(), s.opts, s.warn, g.Name)
	}
	return g, err
}

// wrong returns an error about a graph.
func (n *named) wrong(err error) error {
	if n.id == "" {
		return err
	}
	return fmt.Errorf("graph %q: %w", n.id, err)
}

// addEdges adds the edges to a builder.
func (n *named) addEdges(s *stream, b *graph.Builder, in interner) error {
	weights, labels := wanted(n.opts.EdgeWeight.key(), n.weights), chosenKeys(n.opts.EdgeLabel, edgeLabelNames)
	all := make([]data, len(n.edges))
	for i, e := range n.edges {
		all[i] = e.data
	}
	for _, key := range []string{n.opts.EdgeWeight.key(), n.opts.EdgeLabel} {
		if err := missingKey(key, "edge", all); err != nil {
			return n.wrong(err)
		}
	}
	s.seen(0, n.node)
	s.seen(1, all)
	n.edgesLeftOut(s, all, weights, labels)
	add := b.AddLabeledEdge
	for i, e := range n.edges {
		w := 1.0
		if t, ok := e.data.find(weights); ok {
			var err error
			if w, err = decimal([]byte(strings.TrimSpace(t))); err != nil || !positive(w) {
				return &lineError{e.line, fmt.Errorf("edge weight %s, want a positive, finite number", quote([]byte(t)))}
			}
		}
		label, _ := e.data.find(labels)
		u, v := e.u, e.v
		if !e.directed { // the order of the ends means nothing
			u, v = min(u, v), max(u, v)
		}
		if n.rows != nil {
			add = n.through(b, i)
		}
		add(u, v, w, in.text([]byte(label)))
		if n.directed && !e.directed && u != v {
			add(v, u, w, in.text([]byte(label)))
		}
	}
	return nil
}

// edgesLeftOut counts the data of edges that are neither weight nor label.
func (n *named) edgesLeftOut(s *stream, all []data, weights, labels []string) {
	have := map[string]int{}
	for _, d := range all {
		weight, _ := d.key(weights)
		label, _ := d.key(labels)
		for key := range d {
			if key != weight && key != label && !n.edgesDrawn[strings.ToLower(key)] && !n.compared[strings.ToLower(key)] {
				have[key]++
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(have), natural) {
		leftOut(s.warn, "edge", key, have[key], "they are neither weight, label nor attribute")
	}
}

// describe gives the graph its identifier and target, and the stream what stands beside it.
func (n *named) describe(s *stream, b *graph.Builder) error {
	s.beside = Fields{Names: slices.Sorted(maps.Keys(n.data)), SMILES: -1}
	for _, name := range s.beside.Names {
		s.beside.Values = append(s.beside.Values, n.data[name])
	}
	target, ok := n.data.find(wanted(s.opts.TargetColumn, targetNames))
	if !ok && s.opts.TargetColumn != "" {
		return fmt.Errorf("graph %q has no data %q", n.id, s.opts.TargetColumn)
	}
	b.SetTarget(target)
	b.SetID(n.id)
	if id, ok := n.data.find(wanted(s.opts.IDColumn, idNames)); ok && (n.id == "" || s.opts.IDColumn != "") {
		b.SetID(id)
	}
	return nil
}

// attributes takes attributes of the vertices from the keys whose values are numbers, in the order of
// their names, if every vertex has one. x and y together are positions. It counts what it leaves out.
func (n *named) attributes(s *stream, b *graph.Builder, labels keySet) error {
	have := map[string]int{}
	for _, d := range n.node {
		for key := range d {
			have[key]++
		}
	}
	chosen, err := n.chosen(have)
	if err != nil {
		return n.wrong(err)
	}
	names := slices.Clone(chosen)
	known := n.known(have)
	for _, key := range slices.SortedFunc(maps.Keys(have), natural) {
		switch {
		case slices.Contains(names, key):
		case labels[key] || n.drawn[strings.ToLower(key)]:
		case n.opts.Attributes != "":
			leftOut(s.warn, "node", key, have[key], "they are not chosen")
		case slices.Contains(known, key):
		case known != nil && (key != "x" && key != "y" || slices.Contains(known, "x") || slices.Contains(known, "y")):
			leftOut(s.warn, "node", key, have[key], "the model has no attribute of this name")
		case have[key] < len(n.node):
			leftOut(s.warn, "node", key, have[key], "some nodes have none")
		case !n.numeric(key):
			leftOut(s.warn, "node", key, have[key], "they are no numbers")
		default:
			names = append(names, key)
		}
	}
	names = append(names, known...)
	if len(names) == 0 && s.opts.Attributes != n.opts.Attributes { // nothing takes the place of those keys
		return n.wrong(missingKey(keyList(s.opts.Attributes)[0], "node", n.node))
	}
	row := make([]float64, len(names))
	x, y := -1, -1
	if n.opts.Attributes == "" {
		x, y = slices.Index(names, "x"), slices.Index(names, "y")
	}
	for v, d := range n.node {
		for i, name := range names {
			var err error
			if row[i], err = numberOf(d[name]); err != nil {
				return &lineError{n.lines[v], fmt.Errorf("node data %q: %w", name, err)}
			}
		}
		left := row
		if x >= 0 && y >= 0 {
			b.SetCoordinates(v, row[x], row[y])
			n.places = append(n.places, [2]float64{row[x], row[y]})
			left = slices.Delete(slices.Clone(row), y, y+1) // y is behind x
			left = slices.Delete(left, x, x+1)
		}
		if left = append(slices.Clip(left), make([]float64, n.width)...); len(left) > 0 {
			b.SetAttributes(v, left)
		}
	}
	s.attributesOf(names, x >= 0 && y >= 0)
	n.describeEdges(b, len(names)-map[bool]int{true: 2}[x >= 0 && y >= 0])
	return nil
}

// chosen returns the keys that the options name as attributes, as the data spell them. It is an error
// if some vertex has no number there.
func (n *named) chosen(have map[string]int) (names []string, err error) {
	for _, text := range keyList(n.opts.Attributes) {
		key, ok := "", false
		for _, d := range n.node {
			if key, ok = d.key([]string{text}); ok {
				break
			}
		}
		switch {
		case len(n.node) == 0:
			return nil, nil
		case !ok:
			return nil, missingKey(text, "node", n.node)
		case have[key] < len(n.node):
			return nil, fmt.Errorf("%d of %d nodes have no data %q, want a number for every node", len(n.node)-have[key], len(n.node), key)
		}
		names = append(names, key)
	}
	return names, nil
}

// known returns the keys that gave the attributes of other data, as these data spell them, if every vertex has numbers there.
func (n *named) known(have map[string]int) (names []string) {
	if n.opts.Attributes != "" || !n.opts.inherited {
		return nil
	}
	for _, text := range keyList(n.opts.AttributeKeys) {
		i := slices.IndexFunc(n.node, func(d data) bool { _, ok := d.key([]string{text}); return ok })
		if i < 0 {
			return nil
		}
		key, _ := n.node[i].key([]string{text})
		if have[key] < len(n.node) || slices.ContainsFunc(n.node, func(d data) bool { _, err := numberOf(d[key]); return err != nil }) {
			return nil
		}
		names = append(names, key)
	}
	return names
}

// numberOf reads a number. GML writes truth values as 1 and 0, so they count as these in other formats.
func numberOf(text string) (float64, error) {
	switch text = strings.TrimSpace(text); {
	case strings.EqualFold(text, "true"):
		return 1, nil
	case strings.EqualFold(text, "false"):
		return 0, nil
	}
	return decimal([]byte(text))
}

// numeric reports whether a key of all vertices has numbers.
func (n *named) numeric(key string) bool {
	if number, declared := n.numbers[key]; declared {
		return number
	}
	return !slices.ContainsFunc(n.node, func(d data) bool {
		_, err := decimal([]byte(strings.TrimSpace(d[key])))
		return err != nil
	})
}

// leftOut warns of values of a key that are left out.
func leftOut(warn *warnings, of, key string, n int, why string) {
	warn.add(n, fmt.Sprintf("value of %s data %s left out, because %s", of, quote([]byte(key)), why),
		fmt.Sprintf("values of %s data %s left out, because %s", of, quote([]byte(key)), why))
}

// natural orders texts as people do: a2 before a10.
func natural(a, b string) int {
	stem := func(s string) (string, int) {
		t := strings.TrimRight(s, "0123456789")
		k, err := strconv.Atoi(s[len(t):])
		if err != nil {
			return s, -1
		}
		return t, k
	}
	s, i := stem(a)
	t, j := stem(b)
	return cmp.Or(cmp.Compare(s, t), cmp.Compare(i, j), cmp.Compare(a, b))
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
