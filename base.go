package mlg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Base is a positive semi-definite kernel on vertices, 𝔎₀ of docs/math.md. It sees a vertex
// through a descriptor: a string of bytes that holds all that the kernel needs. Vertices
// with equal descriptors are the same to it.
//
// Implementations must be safe for concurrent use.
type Base interface {
	// String is the name of the kernel with its parameters, as BaseFromString reads it.
	String() string
	// Describe returns the descriptors of the vertices of g. The error says what g lacks.
	Describe(g *graph.Graph) ([]string, error)
	// Gram writes the kernel of x[i] and y[j] to dst[i·len(y)+j].
	Gram(dst []float64, x, y []string)
	// Features returns an explicit feature map whose dot products are the kernel on the
	// given descriptors, and its dimension. dim is 0 when there is none, or when it has more
	// than limit dimensions.
	Features(x []string, limit int) (f func(dst []float64, d string), dim int)
}

// ChooseBase returns the base kernel for graphs when none is asked for: Labels if the graphs
// have labels, else Attributes if they have attributes, else Degree.
func ChooseBase(graphs []*graph.Graph) Base {
	labels, attrs := false, false
	for _, g := range graphs {
		if g.N() > 0 {
			labels = labels || g.HasLabels()
			attrs = attrs || g.AttributeDim() > 0
		}
	}
	switch {
	case labels:
		return Labels()
	case attrs:
		return Attributes()
	}
	return Degree()
}

// oneHot is equality of descriptors: the dot product of one-hot features.
type oneHot struct {
	name     string
	describe func(g *graph.Graph) ([]string, error)
}

// Labels is the kernel of the paper: 1 when two vertices have the same label, else 0.
func Labels() Base {
	return &oneHot{"labels", func(g *graph.Graph) ([]string, error) {
		if g.N() > 0 && !g.HasLabels() {
			return nil, errors.New("the base kernel labels needs vertex labels, and the graph has none; try degree")
		}
		return g.Labels(), nil
	}}
}

// Degree is 1 when two vertices have the same number of neighbours, else 0.
func Degree() Base {
	return &oneHot{"degree", func(g *graph.Graph) ([]string, error) {
		d := make([]string, g.N())
		for v := range d {
			d[v] = strconv.Itoa(g.Degree(v))
		}
		return d, nil
	}}
}

func (b *oneHot) String() string                            { return b.name }
func (b *oneHot) Describe(g *graph.Graph) ([]string, error) { return b.describe(g) }

func (b *oneHot) Gram(dst []float64, x, y []string) {
	for i, a := range x {
		for j, c := range y {
			dst[i*len(y)+j] = 0
			if a == c {
				dst[i*len(y)+j] = 1
			}
		}
	}
}

func (b *oneHot) Features(x []string, limit int) (func([]float64, string), int) {
	at := make(map[string]int)
	for _, d := range x {
		if _, ok := at[d]; !ok {
			if len(at) == limit {
				return nil, 0
			}
			at[d] = len(at)
		}
	}
	return func(dst []float64, d string) {
		clear(dst)
		if i, ok := at[d]; ok {
			dst[i] = 1
		}
	}, len(at)
}

// appendFloats appends numbers to a descriptor.
func appendFloats(b []byte, x []float64) []byte {
	for _, v := range x {
		if v == 0 {
			v = 0 // −0 and 0 are one descriptor
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// floats reads the numbers of a descriptor.
func floats(dst []float64, d string) []float64 {
	for ; len(d) >= 8; d = d[8:] {
		dst = append(dst, math.Float64frombits(uint64(d[0])|uint64(d[1])<<8|uint64(d[2])<<16|uint64(d[3])<<24|
			uint64(d[4])<<32|uint64(d[5])<<40|uint64(d[6])<<48|uint64(d[7])<<56))
	}
	return dst
}

// allFloats reads the numbers of descriptors of one length into a row-major matrix.
func allFloats(x []string) (rows []float64, dim int) {
	if len(x) > 0 {
		dim = len(x[0]) / 8
	}
	rows = make([]float64, 0, len(x)*dim)
	for _, d := range x {
		rows = floats(rows, d)
	}
	return rows, dim
}

// vectors is a kernel of real vectors that belong to the vertices.
type vectors struct {
	name     string
	describe func(g *graph.Graph) ([]string, error)
	kernel   func(x, y []float64) float64
	linear   bool // the kernel is the dot product
}

// Attributes is the dot product of the attribute rows of two vertices.
func Attributes() Base {
	return &vectors{"attributes", describeAttributes("attributes"), dot, true}
}

// Gaussian is exp(−|x−y|²/(2σ²)) for the attribute rows x and y of two vertices; σ is the
// bandwidth.
func Gaussian(bandwidth float64) (Base, error) {
	if err := checkPositive("bandwidth", bandwidth); err != nil {
		return nil, err
	}
	scale := -1 / (2 * bandwidth * bandwidth)
	return &vectors{fmt.Sprintf("gaussian(%v)", bandwidth), describeAttributes("gaussian"), func(x, y []float64) float64 {
		var s float64
		for i, v := range x {
			d := v - y[i]
			s += d * d
		}
		return math.Exp(scale * s)
	}, false}, nil
}

func describeAttributes(name string) func(g *graph.Graph) ([]string, error) {
	return func(g *graph.Graph) ([]string, error) {
		if g.N() > 0 && g.AttributeDim() == 0 {
			return nil, fmt.Errorf("the base kernel %s needs vertex attributes, and the graph has none", name)
		}
		d := make([]string, g.N())
		for v := range d {
			d[v] = string(appendFloats(nil, g.Attributes(v)))
		}
		return d, nil
	}
}

func (b *vectors) String() string                            { return b.name }
func (b *vectors) Describe(g *graph.Graph) ([]string, error) { return b.describe(g) }

func (b *vectors) Gram(dst []float64, x, y []string) {
	xs, dim := allFloats(x)
	ys, dimY := allFloats(y)
	if len(x) > 0 && len(y) > 0 && dim != dimY {
		panic("mlg: attribute rows of different length") // Describe's caller has checked
	}
	for i := range x {
		a := xs[i*dim : (i+1)*dim]
		for j := range y {
			dst[i*len(y)+j] = b.kernel(a, ys[j*dim:(j+1)*dim])
		}
	}
}

func (b *vectors) Features(x []string, limit int) (func([]float64, string), int) {
	_, dim := allFloats(x[:min(1, len(x))])
	if !b.linear || dim > limit {
		return nil, 0
	}
	return func(dst []float64, d string) { floats(dst[:0], d) }, dim
}

// pair is a base kernel made of two, whose descriptors it keeps one behind the other.
type pair struct {
	a, b    Base
	wa, wb  float64 // weights of a sum
	product bool
}

// Times is the product of two base kernels.
func Times(a, b Base) Base { return &pair{a: a, b: b, product: true} }

// Plus is the weighted sum wa·a + wb·b of two base kernels. Weights must be positive.
func Plus(wa float64, a Base, wb float64, b Base) (Base, error) {
	if err := checkPositive("weight", wa); err != nil {
		return nil, err
	}
	if err := checkPositive("weight", wb); err != nil {
		return nil, err
	}
	return &pair{a: a, b: b, wa: wa, wb: wb}, nil
}

func (p *pair) String() string {
	if p.product {
		return p.a.String() + "*" + p.b.String()
	}
	return fmt.Sprintf("(%v%s+%v%s)", p.wa, p.a, p.wb, p.b)
}

func (p *pair) Describe(g *graph.Graph) ([]string, error) {
	x, err := p.a.Describe(g)
	if err != nil {
		return nil, err
	}
	y, err := p.b.Describe(g)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(x))
	for v := range out {
		b := binary.AppendUvarint(nil, uint64(len(x[v])))
		out[v] = string(append(append(b, x[v]...), y[v]...))
	}
	return out, nil
}

func splitPair(d string) (x, y string) {
	n, k := binary.Uvarint([]byte(d[:min(len(d), binary.MaxVarintLen64)]))
	return d[k : k+int(n)], d[k+int(n):]
}

func splitPairs(d []string) (x, y []string) {
	x, y = make([]string, len(d)), make([]string, len(d))
	for i := range d {
		x[i], y[i] = splitPair(d[i])
	}
	return x, y
}

func (p *pair) Gram(dst []float64, x, y []string) {
	xa, xb := splitPairs(x)
	ya, yb := splitPairs(y)
	p.a.Gram(dst, xa, ya)
	other := make([]float64, len(x)*len(y))
	p.b.Gram(other, xb, yb)
	for i, v := range other {
		if p.product {
			dst[i] *= v
		} else {
			dst[i] = p.wa*dst[i] + p.wb*v
		}
	}
}

func (p *pair) Features(x []string, limit int) (func([]float64, string), int) {
	xa, xb := splitPairs(x)
	fa, da := p.a.Features(xa, limit)
	fb, db := p.b.Features(xb, limit)
	if da == 0 || db == 0 || p.product && da*db > limit || !p.product && da+db > limit {
		return nil, 0
	}
	if !p.product {
		sa, sb := math.Sqrt(p.wa), math.Sqrt(p.wb)
		return func(dst []float64, d string) {
			x, y := splitPair(d)
			fa(dst[:da], x)
			fb(dst[da:], y)
			for i := range dst {
				if i < da {
					dst[i] *= sa
				} else {
					dst[i] *= sb
				}
			}
		}, da + db
	}
	return func(dst []float64, d string) {
		x, y := splitPair(d)
		buf := make([]float64, da+db)
		fa(buf[:da], x)
		fb(buf[da:], y)
		for i := range da {
			for j := range db {
				dst[i*db+j] = buf[i] * buf[da+j]
			}
		}
	}, da * db
}

// BaseParameters are what the names of base kernels alone do not say.
type BaseParameters struct {
	Bandwidth float64   // gaussian: σ
	Beta      []float64 // heat: the times β
	H         int       // wl: the number of refinements
}

// DefaultBaseParameters returns bandwidth 1, β = 0.5, 1, 2 and h = 3.
func DefaultBaseParameters() BaseParameters {
	return BaseParameters{Bandwidth: 1, Beta: []float64{0.5, 1, 2}, H: 3}
}

// ParseBase returns the base kernel with the given name: labels, attributes, gaussian,
// degree, heat or wl, a product of them as in "labels*gaussian", or a sum as in
// "labels+gaussian", whose terms have equal weight. Products bind stronger.
func ParseBase(s string, par BaseParameters) (Base, error) {
	var sum Base
	terms := strings.Split(s, "+")
	for i, term := range terms {
		var product Base
		for f := range strings.SplitSeq(term, "*") {
			b, err := parseFactor(strings.TrimSpace(f), par)
			if err != nil {
				return nil, err
			}
			if product == nil {
				product = b
			} else {
				product = Times(product, b)
			}
		}
		if sum == nil {
			sum = product
		} else {
			var err error
			// Weights 1/n of the terms: those before have i/(i+1) of the whole.
			if sum, err = Plus(float64(i)/float64(i+1), sum, 1/float64(i+1), product); err != nil {
				return nil, err
			}
		}
	}
	return sum, nil
}

func parseFactor(s string, par BaseParameters) (Base, error) {
	switch s {
	case "labels":
		return Labels(), nil
	case "degree":
		return Degree(), nil
	case "attributes":
		return Attributes(), nil
	case "gaussian":
		return Gaussian(par.Bandwidth)
	case "heat":
		return Heat(par.Beta...)
	case "wl":
		return WL(par.H)
	}
	return nil, fmt.Errorf("base kernel %q, want labels, attributes, gaussian, degree, heat, wl, or a product such as labels*gaussian", s)
}
