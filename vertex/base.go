// Package vertex has the kernels on vertices from which multiscale kernels start.
//
// They are written in the grammar of package param: "labels", "attributes", "gaussian sigma=1", "degree",
// "heat times=0.5,1,2", "wl h=3", and products and sums of them. Parse reads them.
package vertex

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/param"
)

// Kernel is a positive semi-definite kernel on vertices, 𝔎₀ of docs/explanation/math.md. It sees a vertex
// through a descriptor: a string of bytes that holds all that the kernel needs. Vertices
// with equal descriptors are the same to it. Its methods may be called concurrently.
type Kernel interface {
	// String writes the kernel as Parse reads it.
	String() string
	// Describe returns the descriptors of the vertices of g. The error says what g lacks.
	Describe(g *graph.Graph) ([]string, error)
	// Gram writes the kernel of x[i] and y[j] to dst[i·len(y)+j].
	Gram(dst []float64, x, y []string)
	// Features returns an explicit feature map for the given descriptors, its dimension, and the
	// places of the descriptors that determine it. Dot products of features are the kernel. The
	// places are in order: the first descriptor with each one-hot feature, and the first of all,
	// which gives the dimension of other features. dim is 0 when there is none, or when it has more
	// than limit dimensions.
	Features(x []string, limit int) (f func(dst []float64, d string), dim int, needed []int)

	// check returns an error unless d can be a descriptor. attributes is the number of vertex
	// attributes, 0 if it is not known yet.
	check(d string, attributes *int) error
}

// Choose returns the text of the base kernel for graphs when none is asked for: labels if the
// graphs have labels, else attributes if they have attributes, else degree.
func Choose(graphs []*graph.Graph) string {
	labels, attributes := false, false
	for _, g := range graphs {
		if g.N() > 0 {
			labels = labels || g.HasLabels()
			attributes = attributes || g.AttributeDim() > 0
		}
	}
	switch {
	case labels:
		return "labels"
	case attributes:
		return "attributes"
	}
	return "degree"
}

// Both returns the number of attributes of a vertex if all graphs have labels, or get them from edges, and the same number of
// attributes, else 0.
func Both(graphs []*graph.Graph, incident bool) int {
	dim := 0
	for _, g := range graphs {
		if g.N() == 0 {
			continue
		}
		if !g.HasLabels() && !incident || g.AttributeDim() == 0 || dim > 0 && g.AttributeDim() != dim {
			return 0
		}
		dim = g.AttributeDim()
	}
	return dim
}

// Check returns an error unless all of x can be descriptors of the kernel, and the number of
// vertex attributes that they have, 0 if the kernel does not look at attributes.
func Check(k Kernel, x []string) (attributes int, err error) {
	for i, d := range x {
		if err := k.check(d, &attributes); err != nil {
			return 0, fmt.Errorf("descriptor %d: %w", i, err)
		}
	}
	return attributes, nil
}

// equality is 1 for vertices with equal descriptors, else 0: the dot product of one-hot features.
type equality struct {
	name     string
	describe func(g *graph.Graph) ([]string, error)
}

// missing says that a graph lacks what a kernel compares.
func missing(name, what string) error {
	return &graph.Missing{What: what, Err: fmt.Errorf("the base kernel %s needs vertex %s, but the graph has none", name, what)}
}

// labelsRecord is the kernel of the paper: 1 when two vertices have the same label, else 0.
type labelsRecord struct{}

// Validate has nothing to look at.
func (labelsRecord) Validate() error { return nil }
func (labelsRecord) kernel() Kernel  { return labels }

var labels = &equality{"labels", func(g *graph.Graph) ([]string, error) {
	if g.N() > 0 && !g.HasLabels() {
		return nil, missing("labels", "labels")
	}
	return g.Labels(), nil
}}

// degreeRecord is 1 when two vertices have the same number of neighbours, else 0.
type degreeRecord struct{}

// Validate has nothing to look at.
func (degreeRecord) Validate() error { return nil }
func (degreeRecord) kernel() Kernel  { return degree }

var degree = &equality{"degree", func(g *graph.Graph) ([]string, error) {
	d := make([]string, g.N())
	for v := range d {
		d[v] = strconv.Itoa(g.Degree(v))
	}
	return d, nil
}}

func (k *equality) String() string                            { return k.name }
func (k *equality) Describe(g *graph.Graph) ([]string, error) { return k.describe(g) }
func (k *equality) check(string, *int) error                  { return nil }

func (k *equality) Gram(dst []float64, x, y []string) {
	for i, a := range x {
		for j, b := range y {
			dst[i*len(y)+j] = 0
			if a == b {
				dst[i*len(y)+j] = 1
			}
		}
	}
}

func (k *equality) Features(x []string, limit int) (func([]float64, string), int, []int) {
	at := make(map[string]int)
	var first []int
	for i, d := range x {
		if _, ok := at[d]; !ok {
			if len(at) == limit {
				return nil, 0, nil
			}
			at[d] = len(at)
			first = append(first, i)
		}
	}
	return func(dst []float64, d string) {
		clear(dst)
		if i, ok := at[d]; ok {
			dst[i] = 1
		}
	}, len(at), first
}

// numbers reads the numbers of a descriptor.
func numbers(dst []float64, d string) []float64 {
	for ; len(d) >= 8; d = d[8:] {
		dst = append(dst, math.Float64frombits(uint64(d[0])|uint64(d[1])<<8|uint64(d[2])<<16|uint64(d[3])<<24|
			uint64(d[4])<<32|uint64(d[5])<<40|uint64(d[6])<<48|uint64(d[7])<<56))
	}
	return dst
}

// allNumbers reads the numbers of descriptors of one length into a row-major matrix.
func allNumbers(x []string) (rows []float64, dim int) {
	if len(x) > 0 {
		dim = len(x[0]) / 8
	}
	rows = make([]float64, 0, len(x)*dim)
	for _, d := range x {
		rows = numbers(rows, d)
	}
	return rows, dim
}

// vectors is a kernel of real vectors that belong to the vertices.
type vectors struct {
	name   string
	rows   func(g *graph.Graph) ([]float64, error) // the vectors, one after the other
	kernel func(x, y []float64) float64
	linear bool // the kernel is the dot product
	dim    int  // of the vectors; 0 for the attributes of the graphs
}

// attributesRecord is the dot product of the attribute rows of two vertices.
type attributesRecord struct{}

// Validate has nothing to look at.
func (attributesRecord) Validate() error { return nil }
func (attributesRecord) kernel() Kernel {
	return &vectors{name: "attributes", rows: attributeRows("attributes"), kernel: dense.DotInOrder, linear: true}
}

// gaussianRecord is exp(−|x−y|²/(2σ²)) for the attribute rows x and y of two vertices.
type gaussianRecord struct {
	Sigma float64 `json:"sigma" want:"positive" help:"Width σ of exp(−|x−y|²/2σ²), for the attributes x and y of two vertices."`
}

// Validate implements record.
func (k gaussianRecord) Validate() error { return param.Check("gaussian", k) }

func (k gaussianRecord) kernel() Kernel {
	scale := -1 / (2 * k.Sigma * k.Sigma)
	return &vectors{name: written("gaussian", k), rows: attributeRows("gaussian"), kernel: func(x, y []float64) float64 {
		var s float64
		for i, v := range x {
			d := v - y[i]
			s += float64(d * d)
		}
		return math.Exp(scale * s)
	}}
}

// written is the text of a record.
func written(name string, r record) string { return param.Text(name, r, records[name]) }

func attributeRows(name string) func(g *graph.Graph) ([]float64, error) {
	return func(g *graph.Graph) (rows []float64, err error) {
		if g.N() > 0 && g.AttributeDim() == 0 {
			return nil, missing(name, "attributes")
		}
		for v := range g.N() {
			rows = append(rows, g.Attributes(v)...)
		}
		return rows, nil
	}
}

func (k *vectors) String() string { return k.name }

func (k *vectors) Describe(g *graph.Graph) ([]string, error) {
	rows, err := k.rows(g)
	d := make([]string, g.N())
	for v := range d {
		var b []byte
		for _, x := range rows[v*len(rows)/len(d) : (v+1)*len(rows)/len(d)] {
			if x == 0 {
				x = 0 // −0 and 0 are one descriptor
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		d[v] = string(b)
	}
	return d, err
}

func (k *vectors) Gram(dst []float64, x, y []string) {
	xs, dim := allNumbers(x)
	ys, dimY := allNumbers(y)
	if len(x) > 0 && len(y) > 0 && dim != dimY {
		panic("vertex: attribute rows of different length") // Describe's caller has checked
	}
	for i := range x {
		a := xs[i*dim : (i+1)*dim]
		for j := range y {
			dst[i*len(y)+j] = k.kernel(a, ys[j*dim:(j+1)*dim])
		}
	}
}

func (k *vectors) Features(x []string, limit int) (func([]float64, string), int, []int) {
	_, dim := allNumbers(x[:min(1, len(x))])
	if !k.linear || dim > limit {
		return nil, 0, nil
	}
	return func(dst []float64, d string) { numbers(dst[:0], d) }, dim, []int{0}
}

func (k *vectors) check(d string, attributes *int) error {
	n, want := len(d)/8, k.dim
	if want == 0 {
		if *attributes == 0 {
			*attributes = n
		}
		want = *attributes
	}
	if len(d) == 0 || len(d)%8 != 0 || n != want {
		return fmt.Errorf("%d bytes for %s, want 8 for each of %d numbers", len(d), k, max(1, want))
	}
	for _, v := range numbers(nil, d) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("a number is %v, want a finite one", v)
		}
	}
	return nil
}
