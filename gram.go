package mlg

import (
	"context"
	"sync"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// Kernel matrices are computed in blocks: small enough to share the work, large enough to use what
// is in the cache. Blocks on a diagonal are cut into strips of rows.
const (
	blockHeight = 64
	blockWidth  = 1024
	gramLeast   = 32 // sides of the squares of a Gram matrix
	gramMost    = 256
	gramShare   = 16
	gramStrip   = 16
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
	n, gram, height, width := b.Len(), a == b, blockHeight, blockWidth
	if gram {
		height = min(max(n/gramShare&^(spd.Lanes-1), gramLeast), gramMost)
		width = height
	}
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
		m.Rectangle(out.Data[i0*n+j0:], n, a, i0, i1, b, j0, j1)
		if gram && i0 != j0 {
			mirror(out.Data, n, i0, i1, j0, j1)
		}
		return nil
	})
	return out, err
}

// mirror copies the entries of rows i0 … i1-1 and columns j0 … j1-1 that are below the
// diagonal to the other side of it, by squares of one cache line.
func mirror(a []float64, n, i0, i1, j0, j1 int) {
	const line = 8
	for i := i0; i < i1; i += line {
		for j := j0; j < min(j1, i+line); j += line {
			for c := j; c < min(j+line, j1); c++ {
				row := a[c*n:]
				for r := max(i, c+1); r < min(i+line, i1); r++ {
					row[r] = a[r*n+c]
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
	m.Rectangle(k[:], 1, c, 0, 1, c, 1, 2)
	return k[0], nil
}

// rectangle writes the combined kernel of rows i0 … i1-1 of a and columns j0 … j1-1 of b.
func (m *Model) rectangle(dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int, buf *[]float64) {
	width, levels := j1-j0, len(a.levels)
	if levels == 1 && m.kernel.Power == 1 {
		spd.Cross(dst, stride, a.levels[0], i0, i1, b.levels[0], j0, j1)
		return
	}
	size := (i1 - i0) * width
	*buf = dense.Grow(*buf, 3*size)
	k, all := (*buf)[:size], m.kernel.newCombiner((*buf)[size:2*size], (*buf)[2*size:], levels)
	for l := range levels {
		spd.Cross(k, width, a.levels[l], i0, i1, b.levels[l], j0, j1)
		all.add(k)
	}
	all.finish()
	for i := range i1 - i0 {
		copy(dst[i*stride:][:width], all.dst[i*width:])
	}
}

// buffers keeps memory for rectangle.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

// Rectangle sets dst[(i−i0)·stride + (j−j0)] to the kernel of graph i of a and graph j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine. The bits of a value are those
// that Gram and Between give. Where both ranges are the same range of the same covariances,
// each pair is computed once.
func (m *Model) Rectangle(dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int) {
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	if a == b && i0 == j0 && i1 == j1 {
		for i := i0; i < i1; i += gramStrip {
			hi := min(i+gramStrip, i1)
			m.rectangle(dst[(i-i0)*stride:], stride, a, i, hi, a, i0, hi, buf)
		}
		mirror(dst, stride, 0, i1-i0, 0, i1-i0)
		return
	}
	width := min(blockWidth, j1-j0)
	for j := j0; j < j1; j += width {
		height := blockHeight * blockWidth / width
		for i := i0; i < i1; i += height {
			m.rectangle(dst[(i-i0)*stride+j-j0:], stride, a, i, min(i+height, i1), b, j, min(j+width, j1), buf)
		}
	}
}
