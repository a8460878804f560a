package baseline

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Hadamard is the simple Hadamard code kernel (Kataoka and Inokuchi, 2016),
//
//	k(G, G') = Σ_{i=0..H} b(G_i, G'_i),   l_0(v) = row of the label of v,   l_{i+1}(v) = l_i(v) + Σ_{u~v} l_i(u).
//
// The vertices of G_i have the labels l_i. b is Base, a kernel that is not normalised. Every label
// has its own row of a Hadamard matrix. Rows of that matrix are linearly independent, so l_i(v) and
// l_i(u) are equal exactly when the numbers
//
//	c_i(v, a) = Σ_u [label of u is a] (A + I)^i_vu
//
// are equal for all labels a. These numbers of walks replace the codes, and no matrix is needed.
// They take O(H m L) time for a graph with L labels. A number beyond 2⁶⁴ is an error.
type Hadamard struct {
	H         int       `json:"h" want:"0 to 65536" help:"Number of times that labels are added up."`
	Base      string    `json:"base" want:"a kernel" help:"Kernel of the graphs with codes as labels, such as sp or \"nspd r=1\"."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// histogram is the text of the base kernel that counts vertices by label.
const histogram = "labels"

// DefaultHadamard returns the normalised kernel of label histograms with 4 sums.
func DefaultHadamard() Hadamard {
	return Hadamard{H: 4, Base: histogram, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel.
func (k Hadamard) Name() string { return "hadamard" }

// String, Validate, Fit and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Hadamard) String() string  { return kernel.Text(k) }
func (k Hadamard) Validate() error { return checkBase(k, k.Base) }
func (k Hadamard) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	b, err := kernel.Parse(k.Base)
	if b, ok := b.(Histogram); ok && err == nil && !b.Edges && (b.Labels == Auto || b.Labels == Labels) {
		return fit(ctx, codeHistogram{k, b.Scale}, graphs)
	}
	return fitLevels(ctx, k, levelled{k.Base, k.Normalize, &codes{h: k.H, colouring: colouring{wanted: k.Labels}}}, graphs)
}
func (k Hadamard) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolveLabels(k, k.Labels, graphs)
}

// codeHistogram is Hadamard with the histogram of labels, times a scale, as base kernel. Codes are
// then refinements of a colouring, and all levels have one index.
type codeHistogram struct {
	Hadamard
	scale float64
}

func (k codeHistogram) features() featureMap {
	return featureMap{labels: k.Labels, h: k.H, weights: []float64{k.scale}, normalize: k.Normalize, count: countVertices,
		sign: func() signFunc { return (&codeSigner{h: k.H}).sign }}
}

// codes are levels of graphs whose labels are sums of labels. A code is numbered by its words.
type codes struct {
	h         int
	colouring colouring
	numbers   dictionary
}

func (c *codes) fit(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) {
	train, err := c.colouring.fit(ctx, graphs, 0)
	if err != nil {
		return nil, err
	}
	out := make([][]*graph.Graph, len(train))
	for i := range train {
		if out[i], err = c.level(ctx, &train[i], c.numbers.intern); err != nil {
			return nil, graphError(i, err)
		}
	}
	return out, nil
}

func (c *codes) apply(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) {
	colouring, err := c.colouring.forNew(graphs)
	if err != nil {
		return nil, err
	}
	var u unknown
	out := make([][]*graph.Graph, len(graphs))
	for i, g := range graphs {
		x, err := colouring.apply(ctx, g, &u)
		if err != nil {
			return nil, err
		}
		var own dictionary // of codes that no training graph has
		out[i], err = c.level(ctx, x, func(code []uint32, hash uint64) uint32 {
			if id, ok := c.numbers.lookup(code, hash); ok {
				return id
			}
			return uint32(c.numbers.len()) + own.intern(code, hash)
		})
		if err != nil {
			return nil, graphError(i, err)
		}
	}
	return out, nil
}

// level returns the levels of a graph; number numbers codes.
func (c *codes) level(ctx context.Context, g *coloured, number func(code []uint32, hash uint64) uint32) ([]*graph.Graph, error) {
	s := codeSigner{h: c.h}
	var code []uint32
	out := make([][]uint32, c.h+1)
	for i := range out {
		out[i] = make([]uint32, g.N())
		for v := range out[i] {
			var err error
			if code, err = s.sign(ctx, code[:0], g, v, i); err != nil {
				return nil, err
			}
			out[i][v] = number(code, hashWords(code))
		}
	}
	return relabelled(g.Graph, out), nil
}

const (
	// maxCodes bounds the numbers that are computed for a level of a graph.
	maxCodes = 1 << 26
	// maxKept bounds those that a graph keeps from level to level. For a larger graph they are
	// computed again from level 0 on, in the colouring of a collection.
	maxKept = 1 << 13
)

// codeSigner writes codes. It holds the numbers of walks of one graph.
type codeSigner struct {
	h      int // the highest level, for errors
	graph  *coloured
	walks  *walkCounts
	next   []uint64
	labels localColours
}

// walkCounts are the numbers c_i(v, a) of a graph at a level i.
type walkCounts struct {
	level  int
	colour []uint32 // of the labels a, by column
	count  []uint64 // by vertex and column
}

// sign implements signFunc. A code is its level, and the labels and numbers of walks that are not 0.
func (s *codeSigner) sign(ctx context.Context, dst []uint32, g *coloured, v, level int) ([]uint32, error) {
	if s.graph != g || s.walks.level != level {
		if err := s.reach(ctx, g, level); err != nil {
			return dst, err
		}
	}
	dst = append(dst, uint32(level))
	width := len(s.walks.colour)
	for l, n := range s.walks.count[v*width : (v+1)*width] {
		if n > 0 {
			dst = append(dst, s.walks.colour[l], uint32(n), uint32(n>>32))
		}
	}
	return dst, nil
}

// reach computes the numbers of a graph at a level, from those of a lower level where it has them.
func (s *codeSigner) reach(ctx context.Context, g *coloured, level int) error {
	if s.graph != g {
		s.graph = g
		s.walks, _ = g.prepared.(*walkCounts)
	}
	if s.walks == nil || s.walks.level > level {
		if err := s.start(g); err != nil {
			return err
		}
	}
	w := s.walks
	for ; w.level < level && g.M() > 0; w.level++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		resized(&s.next, len(w.count))
		if !addNeighbours(g.Graph, s.next, w.count, len(w.colour)) {
			return fmt.Errorf("h = %d makes sums of labels of more than 2⁶⁴, want a smaller h", s.h)
		}
		copy(w.count, s.next)
	}
	w.level = level
	return nil
}

// start computes the numbers of a graph at level 0, and has the graph keep them where they are few.
func (s *codeSigner) start(g *coloured) error {
	s.labels.set(g.colours[0])
	width := len(s.labels.colour)
	if g.N()*width > maxCodes {
		return fmt.Errorf("%d vertices with %d different labels, want a product of at most %d", g.N(), width, maxCodes)
	}
	s.walks = &walkCounts{colour: slices.Clone(s.labels.colour), count: make([]uint64, g.N()*width)}
	for v, l := range s.labels.local {
		s.walks.count[v*width+int(l)] = 1
	}
	if len(s.walks.count) <= maxKept {
		g.prepared = s.walks
	}
	return nil
}

// addNeighbours sets to(v) = from(v) + Σ_{u~v} from(u) for rows of a width, and reports whether all
// sums are below 2⁶⁴.
func addNeighbours(g *graph.Graph, to, from []uint64, width int) bool {
	copy(to, from)
	over := uint64(0)
	for v := range g.N() {
		row := to[v*width : (v+1)*width]
		for _, u := range g.Neighbors(v) {
			for l, n := range from[int(u)*width : (int(u)+1)*width] {
				sum, carry := bits.Add64(row[l], n, 0)
				row[l] = sum
				over |= carry
			}
		}
	}
	return over == 0
}
