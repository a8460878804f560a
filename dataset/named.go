package dataset

import (
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// named collects a graph whose vertices have names and whose vertices and edges have
// data by key, as in GraphML and DOT.
type named struct {
	id       string
	data     map[string]string // of the graph
	index    map[string]int
	node     []map[string]string // data by vertex
	edges    []namedEdge
	directed bool // some edge is
	lim      Limits
}

type namedEdge struct {
	u, v int
	data map[string]string
	line int
}

func newNamed(lim Limits) *named {
	return &named{index: map[string]int{}, data: map[string]string{}, lim: lim}
}

// vertex returns the number of the vertex of the given name, which is new when needed.
func (n *named) vertex(name string) (int, error) {
	if v, ok := n.index[name]; ok {
		return v, nil
	}
	if len(n.node) >= n.lim.Vertices {
		return 0, fmt.Errorf("more than %d vertices, the limit Limits.Vertices", n.lim.Vertices)
	}
	v := len(n.node)
	n.index[name] = v
	n.node = append(n.node, nil)
	return v, nil
}

func (n *named) edge(u, v int, data map[string]string, directed bool, line int) error {
	if len(n.edges) >= n.lim.Edges {
		return fmt.Errorf("more than %d edges, the limit Limits.Edges", n.lim.Edges)
	}
	n.directed = n.directed || directed
	n.edges = append(n.edges, namedEdge{u, v, data, line})
	return nil
}

// lookup returns the value of the first of the keys that exists, without regard to case.
func lookup(data map[string]string, keys []string) (string, bool) {
	for _, k := range keys {
		if v, ok := data[k]; ok {
			return v, true
		}
		best := "" // of several spellings the first by alphabet
		for have := range data {
			if strings.EqualFold(have, k) && (best == "" || have < best) {
				best = have
			}
		}
		if best != "" {
			return data[best], true
		}
	}
	return "", false
}

// builder makes vertices, labels and edges; attributes are left to the caller. An error in
// a line is a *lineError.
func (n *named) builder(opts Options, warn *warnings) (*graph.Builder, error) {
	b := graph.NewBuilder(len(n.node))
	in := interner{}
	for v, data := range n.node {
		if t, ok := lookup(data, nodeLabelNames); ok {
			b.SetLabel(v, in.text([]byte(t)))
		}
	}
	var as arcs
	for _, e := range n.edges {
		w := 1.0
		if t, ok := lookup(e.data, edgeWeightNames); ok {
			var err error
			if w, err = decimal([]byte(strings.TrimSpace(t))); err != nil || !positive(w) {
				return nil, &lineError{e.line, fmt.Errorf("edge weight %s, want a positive, finite number", quote([]byte(t)))}
			}
		}
		label, ok := lookup(e.data, edgeLabelNames)
		as.labeled = as.labeled || ok
		as.add(e.u, e.v, w, in.text([]byte(label)), e.line)
	}
	rule := undirected
	if n.directed {
		rule = directed
	}
	if err := as.put(b, rule, warn); err != nil {
		return nil, err
	}
	target, ok := lookup(n.data, wanted(opts.TargetColumn, targetNames))
	if !ok && opts.TargetColumn != "" {
		return nil, fmt.Errorf("graph %q has no data %q", n.id, opts.TargetColumn)
	}
	b.SetTarget(target)
	id := n.id
	if given, ok := lookup(n.data, wanted(opts.IDColumn, idNames)); ok && (id == "" || opts.IDColumn != "") {
		id = given
	}
	b.SetID(id)
	return b, nil
}
