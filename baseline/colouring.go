package baseline

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// colouring numbers the vertices of graphs. Their colours in refinement 0 are their labels.
// Two vertices have the same colour in refinement i when they have the same colour in
// refinement i-1 and their neighbours have the same colours with the same multiplicities
// (Weisfeiler and Lehman). No colour occurs in two refinements.
//
// New graphs leave a colouring as it is. Their colours that no training graph has get numbers
// beyond those that are known.
type colouring struct {
	wanted  Labelling
	used    Labelling // wanted, with Auto replaced by what the training graphs have
	dim     int       // number of attributes of a vertex, with Attributes
	labels  labelNumbers
	refined []dictionary // by refinement from 1 on: the colour of a vertex, then those of its neighbours, sorted
	first   []uint32     // by refinement: its lowest colour; at the end the number of colours
}

// coloured is a graph as a kernel looks at it.
type coloured struct {
	*graph.Graph
	colours [][]uint32 // by refinement and vertex

	// What a featureMap with compare notes about the graph:
	large    []bool       // by refinement: its features are too many for the index; nil when none are
	rest     float64      // what the large refinements add to the kernel of the graph with itself
	sorted   *sortedGraph // for walks
	prepared any          // for pairwise
}

func (g *coloured) isLarge(refinement int) bool { return g.large != nil && g.large[refinement] }

// size returns the number of colours.
func (c *colouring) size() uint32 { return c.first[len(c.first)-1] }

// fit colours the training graphs, with h refinements.
func (c *colouring) fit(ctx context.Context, graphs []*graph.Graph, h int) ([]coloured, error) {
	var err error
	if c.used, err = c.wanted.resolve(graphs); err != nil {
		return nil, err
	}
	if err := c.checkAttributes(graphs); err != nil {
		return nil, err
	}
	c.labels = labelNumbers{}
	out := make([]coloured, len(graphs))
	colours := newColours(graphs)
	for i, g := range graphs {
		out[i] = coloured{Graph: g, colours: make([][]uint32, h+1)}
		for v := range g.N() {
			colours[i][v] = c.labels.intern(c.used.label(g, v))
		}
		out[i].colours[0] = colours[i]
	}
	c.first = []uint32{0, uint32(len(c.labels))}
	c.refined = make([]dictionary, h)
	r := &refiner{graphs, make([][]uint32, len(graphs)), make([][]uint64, len(graphs))}
	for i := range c.refined {
		if i > 0 { // colours do not get fewer
			c.refined[i].reserve(c.refined[i-1].len())
		}
		var err error
		if colours, err = r.refine(ctx, colours, &c.refined[i], c.size()); err != nil {
			return nil, err
		}
		size := int64(c.size()) + int64(c.refined[i].len())
		if size >= unseen {
			return nil, fmt.Errorf("more than %d colours", uint32(unseen-1))
		}
		c.first = append(c.first, uint32(size))
		for g := range out {
			out[g].colours[i+1] = colours[g]
		}
	}
	return out, nil
}

// checkAttributes checks that all vertices have as many attributes, and notes how many.
func (c *colouring) checkAttributes(graphs []*graph.Graph) error {
	for i, g := range graphs {
		if c.used != Attributes || g.N() == 0 {
			continue
		}
		if c.dim == 0 {
			c.dim = g.AttributeDim()
		}
		if g.AttributeDim() != c.dim {
			return graphError(i, fmt.Errorf("%d attributes per vertex, want %d as in the graphs before", g.AttributeDim(), c.dim))
		}
	}
	return nil
}

// forNew returns the colouring for new graphs, which it checks. Where the training graphs had
// no labels and degrees took their place, labels of new graphs are an error.
func (c colouring) forNew(graphs []*graph.Graph) (*colouring, error) {
	if c.wanted == Auto && c.used == Degrees {
		for i, g := range graphs {
			if g.N() > 0 && g.HasLabels() {
				return nil, fmt.Errorf("graph %d has labels, the training graphs have none", i)
			}
		}
	}
	var err error
	if c.used, err = c.used.resolve(graphs); err != nil {
		return nil, err
	}
	return &c, c.checkAttributes(graphs)
}

// unknown numbers the colours of a new graph that no training graph has.
type unknown struct {
	refined   dictionary
	signature []uint32
}

// apply colours a new graph.
func (c *colouring) apply(ctx context.Context, g *graph.Graph, u *unknown) (*coloured, error) {
	labels := labelNumbers{}
	colour := make([]uint32, g.N())
	for v := range colour {
		label := c.used.label(g, v)
		id, ok := c.labels[label]
		if !ok {
			id = c.size() + labels.intern(label)
		}
		colour[v] = id
	}
	out := &coloured{Graph: g, colours: [][]uint32{colour}}
	u.refined.reset()
	for i := range c.refined {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := make([]uint32, len(colour))
		for v := range next {
			u.signature = appendSignature(u.signature[:0], g, v, colour)
			hash := hashWords(u.signature)
			if id, ok := c.refined[i].lookup(u.signature, hash); ok {
				next[v] = c.first[i+1] + id
			} else {
				next[v] = c.size() + uint32(len(labels)) + u.refined.intern(u.signature, hash)
			}
		}
		out.colours = append(out.colours, next)
		colour = next
	}
	return out, nil
}

// appendSignature appends the colour of v and the sorted colours of its neighbours.
func appendSignature(dst []uint32, g *graph.Graph, v int, colour []uint32) []uint32 {
	dst = append(dst, colour[v])
	at := len(dst)
	for _, u := range g.Neighbors(v) {
		dst = append(dst, colour[u])
	}
	slices.Sort(dst[at:])
	return dst
}

// newColours returns room for a colour of every vertex, by graph.
func newColours(graphs []*graph.Graph) [][]uint32 {
	vertices := 0
	for _, g := range graphs {
		vertices += g.N()
	}
	flat := make([]uint32, vertices)
	out := make([][]uint32, len(graphs))
	for i, g := range graphs {
		out[i], flat = flat[:g.N():g.N()], flat[g.N():]
	}
	return out
}

// refiner refines the colours of many graphs. Signatures are made in parallel, and
// numbered in the order of graphs and vertices.
type refiner struct {
	graphs    []*graph.Graph
	signature [][]uint32 // by graph: of all its vertices
	hash      [][]uint64 // by graph and vertex
}

// refine returns the next colours, which dict numbers from first on.
func (r *refiner) refine(ctx context.Context, colours [][]uint32, dict *dictionary, first uint32) ([][]uint32, error) {
	err := kernel.Each(ctx, len(r.graphs), 64, func(_, i int) error {
		g := r.graphs[i]
		s, hash := slices.Grow(r.signature[i][:0], g.N()+2*g.M()), slices.Grow(r.hash[i][:0], g.N())
		for v := range g.N() {
			at := len(s)
			s = appendSignature(s, g, v, colours[i])
			hash = append(hash, hashWords(s[at:]))
		}
		r.signature[i], r.hash[i] = s, hash
		return nil
	})
	if err != nil {
		return nil, err
	}
	next := newColours(r.graphs)
	for i, g := range r.graphs {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		at := 0
		for v := range g.N() {
			end := at + 1 + g.Degree(v)
			next[i][v] = first + dict.intern(r.signature[i][at:end], r.hash[i][v])
			at = end
		}
	}
	return next, nil
}
