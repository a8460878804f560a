package classic

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
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
	Base      string    `json:"base" want:"a kernel" help:"Kernel of the graphs with codes as labels, such as sp or (nspd r=1)."`
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

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k Hadamard) String() string  { return kernel.Text(k) }
func (k Hadamard) Validate() error { return checkBase(k, k.Base) }
func (k Hadamard) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if c, ok := k.counts(); ok {
		return fit(ctx, c, graphs)
	}
	return fitLevels(ctx, k.levels(), graphs)
}
func (k Hadamard) Decode(data []byte) (kernel.Map, error) {
	if c, ok := k.counts(); ok {
		return decode(c, data)
	}
	return decodeLevels(k.levels(), data)
}
func (k Hadamard) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolveLabels(k, k.Labels, graphs)
}

// Levels implements kernel.Levelled: labels that are added up once more each time.
func (k Hadamard) Levels() []kernel.Level {
	return levelsOf("sum", k.H, func(h int) kernel.Kernel { k.H = h; return k })
}

// Stretch implements kernel.Directional.
func (k Hadamard) Stretch(times int) (kernel.Kernel, bool) {
	k.H *= times
	k.Base = stretched(k.Base, times)
	return k, k.Labels.discrete()
}

// codeHistogram is Hadamard with the histogram of labels, times a scale, as base kernel. Codes are
// then refinements of a colouring.
type codeHistogram struct {
	Hadamard
	scale float64
}

func (k codeHistogram) recipe() recipe {
	return recipe{labels: k.Labels, h: k.H, weights: []float64{k.scale}, normalize: k.Normalize, count: countVertices, sign: k.signer}
}

// counts returns the kernel of explicit features, where the base kernel is the histogram of labels.
func (k Hadamard) counts() (codeHistogram, bool) {
	b, err := kernel.Parse(k.Base)
	h, ok := b.(Histogram)
	return codeHistogram{k, h.Scale}, ok && err == nil && !h.Edges && (h.Labels == Auto || h.Labels == Labels)
}

// levels are graphs whose labels are sums of labels.
func (k Hadamard) levels() levelled {
	return levelled{k, k.Base, k.Normalize, refinements(k.Labels, k.H, k.signer)}
}

func (k Hadamard) signer() signFunc { return (&codeSigner{h: k.H}).sign }

// maxCodes bounds the numbers that are computed for a level of a graph.
const maxCodes = 1 << 26

// codeSigner writes codes. It holds the numbers c_i(v, a) of one graph at one level i.
type codeSigner struct {
	h      int // the highest level, for errors
	graph  *coloured
	level  int
	labels localColours
	walks  []uint64 // by vertex and label
	next   []uint64
}

// sign implements signFunc. A code is the labels and numbers of walks that are not 0.
func (s *codeSigner) sign(ctx context.Context, dst []uint64, g *coloured, v, level int) ([]uint64, error) {
	if s.graph != g || s.level != level {
		if err := s.reach(ctx, g, level); err != nil {
			return dst, err
		}
	}
	width := len(s.labels.colour)
	for l, n := range s.walks[v*width : (v+1)*width] {
		if n > 0 {
			dst = append(dst, s.labels.colour[l], n)
		}
	}
	return dst, nil
}

// reach computes the numbers of a graph at a level, from those of the level before.
func (s *codeSigner) reach(ctx context.Context, g *coloured, level int) error {
	if s.graph != g {
		if err := s.start(g); err != nil {
			return err
		}
	}
	for ; s.level < level; s.level++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		resized(&s.next, len(s.walks))
		if !addNeighbours(g.Graph, s.next, s.walks, len(s.labels.colour)) {
			return &param.Error{Name: "h", Value: strconv.Itoa(s.h), Want: "less, because sums of labels exceed 2⁶⁴"}
		}
		s.walks, s.next = s.next, s.walks
	}
	return nil
}

// start computes the numbers of a graph at level 0.
func (s *codeSigner) start(g *coloured) error {
	s.labels.set(g.colours[0])
	width := len(s.labels.colour)
	if g.N()*width > maxCodes {
		return fmt.Errorf("%d vertices with %d different labels, want a product of at most %d", g.N(), width, maxCodes)
	}
	s.graph, s.level = g, 0
	resized(&s.walks, g.N()*width)
	for v, l := range s.labels.local {
		s.walks[v*width+int(l)] = 1
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
