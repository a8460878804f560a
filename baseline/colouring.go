package baseline

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// colouring numbers the vertices of graphs. Their colours in refinement 0 are their labels. Two
// vertices have the same colour in refinement i when they have the same colour in refinement i-1
// and their neighbours have the same colours with the same multiplicities (Weisfeiler and Lehman).
// A kernel may decide by another signature when colours of a refinement are the same. No colour
// occurs in two refinements.
//
// New graphs leave a colouring as it is. Their colours that no training graph has get numbers
// beyond the known ones.
type colouring struct {
	wanted  Labelling
	used    Labelling // wanted, with Auto replaced by what the training graphs have
	dim     int       // number of attributes of a vertex, with Attributes
	labels  labelNumbers
	edges   labelNumbers // of edges; nil where they do not count
	signer  func() signFunc
	refined []dictionary // by refinement from 1 on: signatures
	first   []uint32     // by refinement: its lowest colour; at the end the number of colours
}

// signFunc appends the signature of a vertex in a refinement from 1 on. Every goroutine has its own.
type signFunc func(ctx context.Context, dst []uint32, g *coloured, v, refinement int) ([]uint32, error)

// coloured is a graph as a kernel looks at it.
type coloured struct {
	*graph.Graph
	colours [][]uint32 // by refinement and vertex
	edges   [][]uint32 // labels of edges, parallel to the neighbours of every vertex; nil where they do not count

	// What a featureMap with compare notes about the graph:
	large    []bool       // by refinement: its features are too many for the index; nil when none are
	rest     float64      // what the large refinements add to the kernel of the graph with itself
	sorted   *sortedGraph // for walks
	prepared any          // for pairwise, and for codes
}

// edgeLabel returns the label of the i-th edge of v, 0 where labels of edges do not count.
func (g *coloured) edgeLabel(v, i int) uint32 {
	if g.edges == nil {
		return 0
	}
	return g.edges[v][i]
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
		out[i] = coloured{Graph: g, colours: make([][]uint32, 1, h+1), edges: c.edgeLabels(g, c.edges.intern)}
		for v := range g.N() {
			colours[i][v] = c.labels.intern(c.used.label(g, v))
		}
		out[i].colours[0] = colours[i]
	}
	c.first = []uint32{0, uint32(len(c.labels))}
	c.refined = make([]dictionary, h)
	made := make([]signatures, min(signed, len(graphs)))
	for i := range c.refined {
		if i > 0 { // colours do not get fewer
			c.refined[i].reserve(c.refined[i-1].len())
		}
		if err := c.refine(ctx, out, newColours(graphs), made, i); err != nil {
			return nil, err
		}
		size := int64(c.size()) + int64(c.refined[i].len())
		if size >= unseen {
			return nil, fmt.Errorf("more than %d colours", uint32(unseen-1))
		}
		c.first = append(c.first, uint32(size))
	}
	return out, nil
}

// edgeLabels returns the numbers of the labels of edges, nil where they do not count.
func (c *colouring) edgeLabels(g *graph.Graph, number func(label string) uint32) [][]uint32 {
	if c.edges == nil {
		return nil
	}
	out := make([][]uint32, g.N())
	for v := range out {
		for i := range g.Neighbors(v) {
			out[v] = append(out[v], number(g.EdgeLabel(v, i)))
		}
	}
	return out
}

// sign returns the function that makes signatures.
func (c *colouring) sign() signFunc {
	if c.signer == nil {
		return neighbourhood
	}
	return c.signer()
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
			return graphError(i, fmt.Errorf("number of attributes per vertex is %d, want %d as in the graphs before", g.AttributeDim(), c.dim))
		}
	}
	return nil
}

// forNew checks new graphs and returns the colouring for them. If degrees replaced the missing
// labels of the training graphs, labels of new graphs are an error.
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

// unknown numbers the colours of a new graph that no training graph has, a refinement at a time.
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
	edges := labelNumbers{}
	out := &coloured{Graph: g, colours: [][]uint32{colour}, edges: c.edgeLabels(g, func(label string) uint32 {
		if id, ok := c.edges[label]; ok {
			return id
		}
		return uint32(len(c.edges)) + edges.intern(label)
	})}
	first := c.size() + uint32(len(labels)) // of the unknown colours of a refinement
	sign := c.sign()
	for i := range c.refined {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		u.refined.reset()
		next := make([]uint32, len(colour))
		for v := range next {
			var err error
			if u.signature, err = sign(ctx, u.signature[:0], out, v, i+1); err != nil {
				return nil, err
			}
			hash := hashWords(u.signature)
			if id, ok := c.refined[i].lookup(u.signature, hash); ok {
				next[v] = c.first[i+1] + id
			} else {
				next[v] = first + u.refined.intern(u.signature, hash)
			}
		}
		first += uint32(u.refined.len())
		out.colours = append(out.colours, next)
	}
	return out, nil
}

// neighbourhood appends the colour of v in the refinement before, and the sorted colours of its
// neighbours.
func neighbourhood(_ context.Context, dst []uint32, g *coloured, v, refinement int) ([]uint32, error) {
	colour := g.colours[refinement-1]
	dst = append(dst, colour[v])
	at := len(dst)
	for _, u := range g.Neighbors(v) {
		dst = append(dst, colour[u])
	}
	slices.Sort(dst[at:])
	return dst, nil
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

// signatures are those of the vertices of a graph.
type signatures struct {
	words []uint32
	end   []int // by vertex: where its signature ends
	hash  []uint64
}

// signed is the number of graphs whose signatures are kept at a time.
const signed = 4096

// refine puts the colours of refinement i+1 into next. Signatures are made in parallel, some graphs
// at a time, and numbered in the order of graphs and vertices. made is a buffer.
func (c *colouring) refine(ctx context.Context, graphs []coloured, next [][]uint32, made []signatures, i int) error {
	workers := make([]signFunc, kernel.Workers(ctx))
	for from := 0; from < len(graphs); from += signed {
		some := graphs[from:min(from+signed, len(graphs))]
		err := kernel.Each(ctx, len(some), 64, func(w, at int) (err error) {
			if workers[w] == nil {
				workers[w] = c.sign()
			}
			g, s := &some[at], &made[at]
			s.words, s.end, s.hash = slices.Grow(s.words[:0], g.N()+2*g.M()), slices.Grow(s.end[:0], g.N()), slices.Grow(s.hash[:0], g.N())
			for v := range g.N() {
				start := len(s.words)
				if s.words, err = workers[w](ctx, s.words, g, v, i+1); err != nil {
					return graphError(from+at, err)
				}
				s.end, s.hash = append(s.end, len(s.words)), append(s.hash, hashWords(s.words[start:]))
			}
			return nil
		})
		if err != nil {
			return err
		}
		for at := range some {
			s, colours := &made[at], next[from+at]
			start := 0
			for v, end := range s.end {
				colours[v] = c.size() + c.refined[i].intern(s.words[start:end], s.hash[v])
				start = end
			}
			some[at].colours = append(some[at].colours, colours)
		}
	}
	return ctx.Err()
}
