package baseline

import (
	"context"
	"fmt"
	"math/bits"

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
	return fitLevels(ctx, k, levelled{k.Base, k.Normalize, &codes{h: k.H, colouring: colouring{wanted: k.Labels}}}, graphs)
}
func (k Hadamard) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolveLabels(k, k.Labels, graphs)
}

// maxCodes bounds the numbers that are kept of a graph.
const maxCodes = 1 << 26

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
	var labels localColours
	labels.set(g.colours[0])
	width := len(labels.colour)
	if g.N()*width > maxCodes {
		return nil, fmt.Errorf("%d vertices with %d different labels, want a product of at most %d", g.N(), width, maxCodes)
	}
	count, next := make([]uint64, g.N()*width), make([]uint64, g.N()*width) // by vertex and label
	for v, l := range labels.local {
		count[v*width+int(l)] = 1
	}
	out := make([][]uint32, c.h+1)
	var code []uint32
	for i := range out {
		out[i] = make([]uint32, g.N())
		for v := range out[i] {
			code = code[:0]
			for l, n := range count[v*width : (v+1)*width] {
				if n > 0 {
					code = append(code, labels.colour[l], uint32(n), uint32(n>>32))
				}
			}
			out[i][v] = number(code, hashWords(code))
		}
		if i == c.h {
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !addNeighbours(g.Graph, next, count, width) {
			return nil, fmt.Errorf("h = %d makes sums of labels of more than 2⁶⁴, want a smaller h", c.h)
		}
		count, next = next, count
	}
	return relabelled(g.Graph, out), nil
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
