package graph

// mostDistances is the largest number of vertices for which Distances looks at all triangles.
const mostDistances = 1000

// Distances reports whether the weights are distances and not likenesses. Three things must hold:
// every two of five or more vertices have an edge; no weight is more than a hundredth larger than
// the sum of two that lead around it; and some weight is more than twice another. Likenesses rarely
// pass, because two vertices that are alike are unlike the same others.
func (g *Graph) Distances() bool {
	n := g.N()
	if !g.Weighted() || n < 5 || n > mostDistances || g.M() != n*(n-1)/2 {
		return false
	}
	// Vertex k is neighbour k of those below it, and k−1 of those above.
	weight := func(u, k int) float64 {
		if k > u {
			k--
		}
		return g.Weights(u)[k]
	}
	least, most := weight(0, 1), weight(0, 1)
	for u := range n {
		for v := range u {
			w := weight(u, v)
			least, most = min(least, w), max(most, w)
			for k := range n {
				if k != u && k != v && w > 1.01*(weight(u, k)+weight(v, k)) { // they may be rounded
					return false
				}
			}
		}
	}
	return most > 2*least
}

// Nearest takes the weights of g for distances. It keeps an edge, with weight 1, if no third vertex
// is nearer to both its ends than they are to each other. The result is the relative neighbourhood
// graph of Toussaint, which is connected if g is. Directions are left out.
func (g *Graph) Nearest() *Graph {
	g = g.Undirected()
	b := NewBuilder(g.N())
	for e := range g.Edges() {
		if !g.Weighted() || !g.between(e) {
			b.AddLabeledEdge(e.U, e.V, 1, e.Label)
		}
	}
	edges, err := b.Build()
	if err != nil {
		panic("graph: Nearest: " + err.Error()) // the edges of a valid graph are valid
	}
	h := *g
	h.parts = nil
	h.off, h.adj, h.weight, h.edge, h.edgeLabel = edges.off, edges.adj, nil, edges.edge, edges.edgeLabel
	return &h
}

// between reports whether a vertex is nearer to both ends of an edge than they are to each other.
func (g *Graph) between(e Edge) bool {
	a, wa := g.Neighbors(e.U), g.Weights(e.U)
	b, wb := g.Neighbors(e.V), g.Weights(e.V)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			if max(wa[i], wb[j]) < e.Weight {
				return true
			}
			i, j = i+1, j+1
		}
	}
	return false
}
