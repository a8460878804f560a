package classic

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// NumberGaussian is the kernel of the attributes alone,
//
//	k(G, G') = exp(−Σ_d (x_d − x'_d)²/(2 (w s_d)²)),
//
// where x has the means of the attributes over the vertices of G, s_d is the standard deviation of x_d over the
// training graphs, 1 where it is 0, and w is Width. It is for the numbers of a row of a table, such as a
// temperature, which are graphs of one vertex (graph.Number): gaussian(temperature). A graph without vertices is
// like others without, and unlike all others.
type NumberGaussian struct {
	Width float64 `json:"width" want:"positive" help:"Difference, in standard deviations of the training data, at which numbers are no longer alike."`
}

// DefaultNumberGaussian returns the kernel of width 1.
func DefaultNumberGaussian() NumberGaussian { return NumberGaussian{Width: 1} }

// Name implements kernel.Kernel.
func (k NumberGaussian) Name() string { return "gaussian" }

// String, Validate, Fit and Decode implement kernel.Kernel.
func (k NumberGaussian) String() string  { return kernel.Text(k) }
func (k NumberGaussian) Validate() error { return kernel.Check(k) }
func (k NumberGaussian) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	dim := 0
	for _, g := range graphs {
		dim = max(dim, g.AttributeDim())
	}
	m := &numberMap{scale: make([]float64, dim)}
	x, err := m.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	rows := x.(*numbers)
	for d := range m.scale {
		m.scale[d] = k.Width * rows.deviation(d)
	}
	return &kernel.Fitted{Map: m, Train: x}, nil
}

// numberMap compares graphs by the means of their attributes.
type numberMap struct{ scale []float64 } // w s_d

// numbers are the means of the attributes of graphs. Those of a graph without vertices are NaN.
type numbers struct {
	dim  int
	mean []float64
	n    int
}

// row returns the means of graph i.
func (x *numbers) row(i int) []float64 { return x.mean[i*x.dim : (i+1)*x.dim] }

// deviation returns the standard deviation of an attribute, 1 where that is 0.
func (x *numbers) deviation(d int) float64 {
	sum, count := 0.0, 0.0
	for i := range x.n {
		if v := x.row(i)[d]; v == v {
			sum += v
			count++
		}
	}
	mean, square := sum/count, 0.0
	for i := range x.n {
		if v := x.row(i)[d]; v == v {
			square += float64((v - mean) * (v - mean))
		}
	}
	if s := math.Sqrt(square / count); s > 0 && !math.IsInf(s, 0) {
		return s
	}
	return 1
}

// Transform implements kernel.Map.
func (m *numberMap) Transform(ctx context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	dim := len(m.scale)
	out := &numbers{dim, make([]float64, dim*len(graphs)), len(graphs)}
	for i, g := range graphs {
		switch {
		case g.N() == 0:
			for d := range dim {
				out.row(i)[d] = math.NaN()
			}
			continue
		case g.AttributeDim() == 0:
			return nil, missing(i, "attributes")
		case g.AttributeDim() != dim:
			return nil, &kernel.GraphError{Graph: i, Err: fmt.Errorf("graph %d has %d attributes, want %d as in other graphs", i, g.AttributeDim(), dim)}
		}
		for v := range g.N() {
			for d, x := range g.Attributes(v) {
				out.row(i)[d] += x / float64(g.N())
			}
		}
	}
	return out, ctx.Err()
}

// Fill implements kernel.Map.
func (m *numberMap) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	x, y := b.A.(*numbers), b.B.(*numbers)
	for i := b.I0; i < b.I1; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j := b.J0; j < b.J1; j++ {
			square, other := 0.0, y.row(j)
			for d, v := range x.row(i) {
				u := (v - other[d]) / m.scale[d]
				square += float64(u * u)
			}
			k := math.Exp(-square / 2)
			if k != k { // one of the graphs has no vertices, or both
				k = 0
				if m.empty(x.row(i)) && m.empty(other) {
					k = 1
				}
			}
			dst[(i-b.I0)*stride+j-b.J0] = k
		}
	}
	return nil
}

func (m *numberMap) empty(row []float64) bool { return len(row) > 0 && row[0] != row[0] }

// Join implements kernel.Map.
func (m *numberMap) Join(parts ...kernel.Features) kernel.Features {
	out := &numbers{dim: len(m.scale)}
	for _, p := range parts {
		out.mean, out.n = append(out.mean, p.(*numbers).mean...), out.n+p.(*numbers).n
	}
	return out
}

// AppendBinary implements kernel.Map.
func (m *numberMap) AppendBinary(b []byte) ([]byte, error) {
	return binary.Append(b, binary.LittleEndian, m.scale)
}

// Decode implements kernel.Kernel.
func (k NumberGaussian) Decode(data []byte) (kernel.Map, error) {
	m := &numberMap{make([]float64, len(data)/8)}
	if _, err := binary.Decode(data, binary.LittleEndian, m.scale); err != nil || len(data)%8 != 0 {
		return nil, fmt.Errorf("%d bytes of deviations, want a multiple of 8", len(data))
	}
	for d, s := range m.scale {
		if !(s > 0) || math.IsInf(s, 1) {
			return nil, fmt.Errorf("deviation %d is %v, want a positive, finite number", d, s)
		}
	}
	return m, nil
}

// DecodeFeatures implements kernel.Map.
func (m *numberMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	if len(data) < 8 {
		return nil, fmt.Errorf("%d bytes of numbers, want 8 or more", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	if n > math.MaxInt32 || uint64(len(data)) != 8*n*uint64(len(m.scale)) {
		return nil, fmt.Errorf("%d bytes for %d numbers of %d graphs", len(data), len(m.scale), n)
	}
	x := &numbers{len(m.scale), make([]float64, len(data)/8), int(n)}
	_, err := binary.Decode(data, binary.LittleEndian, x.mean)
	return x, err
}

// Len implements kernel.Features.
func (x *numbers) Len() int { return x.n }

// Select implements kernel.Features.
func (x *numbers) Select(at []int) kernel.Features {
	out := &numbers{x.dim, make([]float64, 0, x.dim*len(at)), len(at)}
	for _, i := range at {
		out.mean = append(out.mean, x.row(i)...)
	}
	return out
}

// AppendBinary implements kernel.Features.
func (x *numbers) AppendBinary(b []byte) ([]byte, error) {
	return binary.Append(binary.LittleEndian.AppendUint64(b, uint64(x.n)), binary.LittleEndian, x.mean)
}
