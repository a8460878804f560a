package mlg

import (
	"context"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Gram returns the kernel matrix of the training graphs.
func (m *Model) Gram(ctx context.Context) (*kernel.Matrix, error) {
	train, err := m.Train(ctx)
	if err != nil {
		return nil, err
	}
	return m.Between(ctx, train, train)
}

// GramOf returns the kernel matrix of some training graphs.
func (m *Model) GramOf(ctx context.Context, graphs []int) (*kernel.Matrix, error) {
	train, err := m.Train(ctx)
	if err != nil {
		return nil, err
	}
	some := train.Select(graphs)
	return m.Between(ctx, some, some)
}

// Between returns the kernel matrix between two sets of graphs that the model has transformed. If
// they are one set, each pair is computed once.
func (m *Model) Between(ctx context.Context, a, b *Covariances) (*kernel.Matrix, error) {
	out := kernel.NewMatrix(a.Len(), b.Len())
	n, gram := b.Len(), a == b
	height, width := kernel.Device(ctx).Block(a.Len(), n, gram, a.order())
	var blocks [][2]int
	for i := 0; i < a.Len(); i += height {
		for j := 0; j < n && !(gram && j > i); j += width {
			blocks = append(blocks, [2]int{i, j})
		}
	}
	meter := kernel.NewMeter(ctx, "gram", len(blocks))
	err := kernel.Each(ctx, len(blocks), 1, func(_, k int) error {
		defer kernel.Trace(ctx, "gram")()
		defer meter.Add(1)
		i0, j0 := blocks[k][0], blocks[k][1]
		i1, j1 := min(i0+height, a.Len()), min(j0+width, n)
		err := m.Rectangle(ctx, out.Data[i0*n+j0:], n, a, i0, i1, b, j0, j1)
		if gram && i0 != j0 {
			kernel.Transpose(out.Data[j0*n+i0:], n, out.Data[i0*n+j0:], n, i1-i0, j1-j0)
		}
		return err
	})
	return out, err
}

// Fill implements kernel.Filler.
func (m *Model) Fill(ctx context.Context, dst []float64, i0, i1, j0, j1 int) error {
	train, err := m.Train(ctx)
	if err != nil {
		return err
	}
	return m.Rectangle(ctx, dst, j1-j0, train, i0, i1, train, j0, j1)
}

// mirror copies what is below the diagonal of a square of order n to the other side of it, by squares
// of one cache line.
func mirror(a []float64, stride, n int) {
	const line = 8
	for i := 0; i < n; i += line {
		for j := 0; j <= i; j += line {
			for c := j; c < min(j+line, n); c++ {
				row := a[c*stride:]
				for r := max(i, c+1); r < min(i+line, n); r++ {
					row[r] = a[r*stride+c]
				}
			}
		}
	}
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (m *Model) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	train, err := m.Train(ctx) // before Transform, which would restore the landmarks on their own
	if err != nil {
		return nil, err
	}
	c, err := m.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.Between(ctx, c, train)
}

// Compare returns the kernel of two graphs, which need not be training graphs.
func (m *Model) Compare(ctx context.Context, g, h *graph.Graph) (float64, error) {
	c, err := m.Transform(ctx, []*graph.Graph{g, h})
	if err != nil {
		return 0, err
	}
	var k [1]float64
	err = m.Rectangle(ctx, k[:], 1, c, 0, 1, c, 1, 2)
	return k[0], err
}

// rectangle writes the combined kernel of rows i0 … i1-1 of a and columns j0 … j1-1 of b.
func (m *Model) rectangle(ctx context.Context, dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int, buf *[]float64) error {
	device, width, levels := kernel.Device(ctx), j1-j0, len(a.levels)
	if levels == 1 && m.kernel.Power == 1 {
		return device.Cross(ctx, dst, stride, a.levels[0], i0, i1, b.levels[0], j0, j1)
	}
	size := (i1 - i0) * width
	*buf = dense.Grow(*buf, 3*size)
	k, all := (*buf)[:size], m.kernel.newCombiner((*buf)[size:2*size], (*buf)[2*size:], levels)
	for l := range levels {
		if err := device.Cross(ctx, k, width, a.levels[l], i0, i1, b.levels[l], j0, j1); err != nil {
			return err
		}
		all.add(k)
	}
	all.finish()
	for i := range i1 - i0 {
		copy(dst[i*stride:][:width], all.dst[i*width:])
	}
	return nil
}

// buffers keeps memory for rectangle.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

// Squares on the diagonal are cut into at most gramStrips strips of at least gramStrip rows.
const (
	gramStrip  = 16
	gramStrips = 8
)

// Rectangle sets dst[(i−i0)·stride + (j−j0)] to the kernel of graph i of a and graph j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine and on the device of the context. The
// bits of a value are those that Gram and Between give. Where both ranges are the same range of the
// same covariances, each pair is computed once.
func (m *Model) Rectangle(ctx context.Context, dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int) error {
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	if a == b && i0 == j0 && i1 == j1 {
		strip := max(gramStrip, (i1-i0+gramStrips-1)/gramStrips)
		for i := i0; i < i1; i += strip {
			hi := min(i+strip, i1)
			if err := m.rectangle(ctx, dst[(i-i0)*stride:], stride, a, i, hi, a, i0, hi, buf); err != nil {
				return err
			}
		}
		mirror(dst, stride, i1-i0)
		return nil
	}
	height, width := kernel.Device(ctx).Block(i1-i0, j1-j0, false, a.order())
	for j := j0; j < j1; j += width {
		for i := i0; i < i1; i += height {
			if err := m.rectangle(ctx, dst[(i-i0)*stride+j-j0:], stride, a, i, min(i+height, i1), b, j, min(j+width, j1), buf); err != nil {
				return err
			}
		}
	}
	return nil
}
