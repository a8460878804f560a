package classic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// colouring gives vertices colours. Those of refinement 0 are the hashes of their labels. Two
// vertices have the same colour in refinement i when they have the same colour in refinement i-1
// and their neighbours have the same colours with the same multiplicities (Weisfeiler and Lehman).
// A kernel may decide by another signature when colours of a refinement are the same. No colour
// occurs in two refinements.
type colouring struct {
	wanted Labelling
	used   Labelling // wanted, with Auto replaced by what the training graphs have
	dim    int       // number of attributes of a vertex, with Attributes
	edges  bool      // labels of edges count
	h      int       // refinements
	signer func() signFunc
}

// signFunc appends the signature of a vertex in a refinement from 1 on. Every goroutine has its own.
type signFunc func(ctx context.Context, dst []uint64, g *coloured, v, refinement int) ([]uint64, error)

// coloured is a graph as a kernel looks at it.
type coloured struct {
	*graph.Graph
	labels     Labelling
	edgeLabels bool       // labels of edges count
	colours    [][]uint64 // by refinement and vertex

	// What a recipe with compare notes about the graph:
	large    []bool  // by refinement: its features are too many for the index; nil when none are
	rest     float64 // what the large refinements add to the kernel of the graph with itself
	prepared any     // what compare needs of the graph
}

// label returns the label of a vertex.
func (g *coloured) label(v int) string { return g.labels.label(g.Graph, v) }

// edgeLabel returns the label of the i-th edge of v, the same for all where they do not count.
func (g *coloured) edgeLabel(v, i int) uint64 {
	if !g.edgeLabels {
		return 1
	}
	return hashLabel(g.EdgeLabel(v, i))
}

func (g *coloured) isLarge(refinement int) bool { return g.large != nil && g.large[refinement] }

// fit decides what the training graphs decide.
func (c *colouring) fit(graphs []*graph.Graph) (err error) {
	if c.used, err = c.wanted.resolve(graphs); err != nil {
		return err
	}
	return c.checkAttributes(graphs)
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
				return nil, &kernel.GraphError{Graph: i, Err: fmt.Errorf("graph %d has labels, the training graphs have none", i)}
			}
		}
	}
	var err error
	if c.used, err = c.used.resolve(graphs); err != nil {
		return nil, err
	}
	return &c, c.checkAttributes(graphs)
}

// appendBinary appends what the training graphs decided.
func (c *colouring) appendBinary(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.dim))
	return append(b, c.used...)
}

// decode reads what appendBinary wrote.
func (c *colouring) decode(data []byte) error {
	dim, n := binary.Uvarint(data)
	if n <= 0 || dim > math.MaxInt32 {
		return errors.New("no number of attributes")
	}
	c.dim, c.used = int(dim), Labelling(data[n:])
	if c.used != c.wanted && (c.wanted != Auto || c.used != Labels && c.used != Degrees) {
		return fmt.Errorf("labels = %q, want those of %q", c.used, c.wanted)
	}
	return nil
}

// painter colours one graph after the other.
type painter struct {
	*colouring
	sign      signFunc
	signature []uint64
}

func (c *colouring) painter() *painter {
	p := &painter{colouring: c, sign: neighbourhood}
	if c.signer != nil {
		p.sign = c.signer()
	}
	return p
}

// paint returns a graph with its colours.
func (p *painter) paint(ctx context.Context, g *graph.Graph) (*coloured, error) {
	labels := make([]uint64, g.N())
	out := &coloured{Graph: g, labels: p.used, edgeLabels: p.edges, colours: append(make([][]uint64, 0, p.h+1), labels)}
	for v := range labels {
		labels[v] = hashLabel(out.label(v))
	}
	for r := 1; r <= p.h; r++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next, round := make([]uint64, g.N()), work.Within(ctx, r-1, p.h)
		for v := range next {
			if p.signer != nil {
				work.Reached(round, v, g.N())
			}
			var err error
			if p.signature, err = p.sign(ctx, append(p.signature[:0], uint64(r)), out, v, r); err != nil {
				return nil, err
			}
			next[v] = hashWords(p.signature...)
		}
		out.colours = append(out.colours, next)
	}
	return out, nil
}

// neighbourhood appends the colour of v in the refinement before, and the sorted colours of its
// neighbours.
func neighbourhood(_ context.Context, dst []uint64, g *coloured, v, refinement int) ([]uint64, error) {
	colour := g.colours[refinement-1]
	dst = append(dst, colour[v])
	at := len(dst)
	for _, u := range g.Neighbors(v) {
		dst = append(dst, colour[u])
	}
	slices.Sort(dst[at:])
	return dst, nil
}
