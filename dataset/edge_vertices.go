package dataset

import (
	"fmt"
	"slices"
	"strconv"
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

// edgeColumns returns the columns of edge_attributes that Options.EdgeAttributes names by their numbers, nil for none.
func (t *tu) edgeColumns(o Options, warn *warnings) (columns []int, err error) {
	for _, text := range keyList(o.EdgeAttributes) {
		k, err := strconv.Atoi(text)
		if err == nil && k >= 1 && k <= t.edgeNumbers.cols {
			columns = append(columns, k-1)
			continue
		}
		if o.inherited {
			o.choices()[len(o.choices())-1].fallBack(warn)
			return nil, nil
		}
		return nil, fmt.Errorf("edge attribute %q, want a number from 1 to %d: the columns of %s", text, t.edgeNumbers.cols, t.set+"_edge_attributes.txt")
	}
	return columns, nil
}

// throughEdges builds the graphs with edges as vertices, as edgeNumbers says. The lines of an edge in both directions, and
// parallel ones, are one edge of an undirected graph, with the mean of their numbers and the set of their labels. Each line
// of a directed graph is an arc of its own.
func (t *tu) throughEdges(o Options, columns []int, directed bool) ([]*graph.Graph, error) {
	graphs := make([]*graph.Graph, len(t.vertices))
	for g := range graphs {
		edges := t.lines[g] // the first line of each edge
		same := map[[2]int32][]int32{}
		if !directed {
			edges = nil
			for _, i := range t.lines[g] {
				ends := t.edges[i]
				slices.Sort(ends[:])
				if same[ends] = append(same[ends], i); len(same[ends]) == 1 {
					edges = append(edges, i)
				}
			}
		}
		n := len(t.vertices[g])
		if n+len(edges) > o.Limits.Vertices {
			return nil, fmt.Errorf("graph %d has more than %d vertices and edges together, which is the limit of vertices", g+1, o.Limits.Vertices)
		}
		b := graph.NewBuilder(n + len(edges))
		if directed {
			b.SetDirected()
		}
		t.describe(b, g, o.NodeLabel != Nothing, len(columns))
		for k, first := range edges {
			lines := []int32{first}
			ends := t.edges[first]
			if !directed {
				slices.Sort(ends[:])
				lines = same[ends]
			}
			u, v, e := int(t.local[ends[0]-1]), int(t.local[ends[1]-1]), n+k
			b.AddEdge(u, e)
			if u != v || directed {
				b.AddEdge(e, v)
			}
			row := make([]float64, t.attributes.cols+len(columns))
			var labels []string
			for _, i := range lines {
				for c, from := range columns {
					row[t.attributes.cols+c] += t.edgeNumbers.row(int(i))[from] / float64(len(lines))
				}
				if len(t.edge.labels) > 0 && o.EdgeLabel != Nothing {
					labels = append(labels, t.edge.labels[i])
				}
			}
			b.SetAttributes(e, row)
			slices.Sort(labels)
			if label := strings.Join(slices.Compact(labels), "|"); label != "" || len(t.vertex.labels) > 0 && o.NodeLabel != Nothing {
				b.SetLabel(e, graph.EdgeVertexPrefix+label)
			}
		}
		var err error
		if graphs[g], err = b.Build(); err != nil {
			return nil, fmt.Errorf("%s: graph %d: %w", t.name("A"), g+1, err)
		}
	}
	return graphs, nil
}
