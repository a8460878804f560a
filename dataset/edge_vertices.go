package dataset

import (
	"fmt"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// edgeNumbers reads the numbers of edges that Options.EdgeAttributes names. The edges then become vertices:
//
//	u → v  with numbers b    becomes    u → e → v
//
// The attributes of e are those of vertices, all 0, and then b. Those of the vertices get as many zeros behind.
func (n *named) edgeNumbers(o Options) error {
	keys := keyList(o.EdgeAttributes)
	if len(keys) == 0 {
		return nil
	}
	if len(n.node)+len(n.edges) > n.lim.Vertices {
		return fmt.Errorf("more than %d vertices and edges together, which is the limit of vertices", n.lim.Vertices)
	}
	n.rows, n.width, n.compared = make([][]float64, len(n.edges)), len(keys), keySet{}
	for _, key := range keys {
		n.compared[strings.ToLower(key)] = true
	}
	for i, e := range n.edges {
		for _, key := range keys {
			text, ok := e.data.find([]string{key})
			if !ok {
				return &lineError{e.line, fmt.Errorf("edge without data %q, want a number for every edge", key)}
			}
			x, err := decimal([]byte(strings.TrimSpace(text)))
			if err != nil {
				return &lineError{e.line, fmt.Errorf("edge data %q: %w", key, err)}
			}
			n.rows[i] = append(n.rows[i], x)
		}
	}
	return nil
}

// through returns what adds edge i as one through its vertex.
func (n *named) through(b *graph.Builder, i int) func(u, v int, w float64, label string) {
	e := len(n.node) + i
	return func(u, v int, w float64, label string) {
		if n.labelled || label != "" {
			b.SetLabel(e, graph.EdgeVertexPrefix+label)
		}
		b.AddWeightedEdge(u, e, w)
		if u != v || n.directed {
			b.AddWeightedEdge(e, v, w)
		}
	}
}

// describeEdges gives the vertices of edges their attributes, behind those that vertices have, names and positions.
func (n *named) describeEdges(b *graph.Builder, attributes int) {
	names := n.name
	if n.title != nil {
		names = n.title
	}
	for i, row := range n.rows {
		e := len(n.node) + i
		b.SetAttributes(e, append(make([]float64, attributes), row...))
		u, v := n.edges[i].u, n.edges[i].v
		b.SetName(e, names[u]+"–"+names[v])
		if n.places != nil {
			b.SetCoordinates(e, (n.places[u][0]+n.places[v][0])/2, (n.places[u][1]+n.places[v][1])/2)
		}
	}
	if n.rows != nil {
		for v, name := range names {
			b.SetName(v, name)
		}
	}
}
