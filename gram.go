package mlg

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// Sides of the squares in which Gram matrices are computed: small enough to share the work,
// large enough to use what is in the cache. Diagonal squares go by strips of rows.
const (
	gramLeast = 32
	gramMost  = 256
	gramShare = 16
	gramStrip = 16
)

// Gram returns the kernel matrix of the training graphs.
func (m *Model) Gram(ctx context.Context) (*kernel.Matrix, error) {
	return m.gram(ctx, m.train)
}

// gram returns the kernel matrix of covariances, computing each pair once.
func (m *Model) gram(ctx context.Context, c *Covariances) (*kernel.Matrix, error) {
	n := c.Len()
	out := kernel.NewMatrix(n, n)
	side := min(max(n/gramShare&^(spd.Lanes-1), gramLeast), gramMost)
	type square struct{ i, j int }
	var squares []square
	for i := 0; i < n; i += side {
		for j := 0; j <= i; j += side {
			squares = append(squares, square{i, j})
		}
	}
	buf := make([][]float64, kernel.Workers(ctx))
	meter := kernel.NewMeter(ctx, "gram", len(squares))
	err := kernel.Each(ctx, len(squares), 1, func(w, k int) error {
		defer kernel.Trace(ctx, "gram")()
		defer meter.Add(1)
		i0, j0 := squares[k].i, squares[k].j
		i1, j1 := min(i0+side, n), min(j0+side, n)
		strip := i1 - i0
		if i0 == j0 {
			strip = gramStrip
		}
		for i := i0; i < i1; i += strip {
			hi := min(i+strip, i1)
			m.rectangle(out.Data[i*n+j0:], n, c, i, hi, c, j0, min(j1, hi), &buf[w])
		}
		mirror(out.Data, n, i0, i1, j0, j1)
		return ctx.Err()
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
	c, err := m.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.Between(ctx, c, m.train)
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

// Between returns the kernel matrix between two sets of graphs that the model has transformed.
func (m *Model) Between(ctx context.Context, a, b *Covariances) (*kernel.Matrix, error) {
	out := kernel.NewMatrix(a.Len(), b.Len())
	const height, width = 64, 1024
	rows := (a.Len() + height - 1) / height
	buf := make([][]float64, kernel.Workers(ctx))
	meter := kernel.NewMeter(ctx, "gram", a.Len()*b.Len())
	err := kernel.Each(ctx, rows, 1, func(w, k int) error {
		defer kernel.Trace(ctx, "gram")()
		i0, i1 := k*height, min((k+1)*height, a.Len())
		for j0 := 0; j0 < b.Len(); j0 += width {
			if err := ctx.Err(); err != nil {
				return err
			}
			j1 := min(j0+width, b.Len())
			m.rectangle(out.Data[i0*b.Len()+j0:], b.Len(), a, i0, i1, b, j0, j1, &buf[w])
		}
		meter.Add((i1 - i0) * b.Len())
		return nil
	})
	return out, err
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

// Rectangle sets dst[(i−i0)·stride + (j−j0)] to the kernel of graph i of a and graph j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine. The bits of a value are those
// that Gram and Between give. Where both ranges are the same range of the same covariances,
// each pair is computed once.
func (m *Model) Rectangle(dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int) {
	var buf []float64
	if a != b || i0 != j0 || i1 != j1 {
		const height, width = 64, 1024 // what a strip reads stays in the cache
		for i := i0; i < i1; i += height {
			for j := j0; j < j1; j += width {
				m.rectangle(dst[(i-i0)*stride+j-j0:], stride, a, i, min(i+height, i1), b, j, min(j+width, j1), &buf)
			}
		}
		return
	}
	for i := i0; i < i1; i += gramStrip {
		hi := min(i+gramStrip, i1)
		m.rectangle(dst[(i-i0)*stride:], stride, a, i, hi, a, i0, hi, &buf)
	}
	mirror(dst, stride, 0, i1-i0, 0, i1-i0)
}
