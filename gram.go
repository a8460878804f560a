package mlg

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/spd"
)

// gramTile is the number of rows and columns of the tiles in which kernel matrices are
// computed: their values fit the first-level cache.
const gramTile = 64

// Gram returns the kernel matrix of the training graphs.
func (m *Model) Gram(ctx context.Context) (*Matrix, error) {
	return m.gram(ctx, m.train)
}

// gram returns the kernel matrix of covariances, computing each pair once.
func (m *Model) gram(ctx context.Context, c *Covariances) (*Matrix, error) {
	n := c.Len()
	out := NewMatrix(n, n)
	tiles := (n + gramTile - 1) / gramTile
	buf := make([][]float64, m.o.Workers)
	meter := newMeter(m.o.Progress, "gram", int64(n)*int64(n+1)/2)
	err := parallel(ctx, m.o.Workers, tiles, 1, func(w, k int) error {
		end := m.o.trace("gram")
		defer end()
		t := tiles - 1 - k // long rows of tiles first
		i0, i1 := t*gramTile, min((t+1)*gramTile, n)
		for j0 := 0; j0 < i1; j0 += gramTile {
			if err := ctx.Err(); err != nil {
				return err
			}
			j1 := min(j0+gramTile, i1)
			m.rectangle(out.Data[i0*n+j0:], n, c, i0, i1, c, j0, j1, &buf[w])
			if j0 == i0 {
				continue // the diagonal tile is computed in full; it is symmetric to the bit
			}
			for j := j0; j < j1; j++ {
				col := out.Data[j*n+i0 : j*n+i1]
				for i := range col {
					col[i] = out.Data[(i0+i)*n+j]
				}
			}
		}
		meter.add(int64(i1-i0) * int64(i0+i1+1) / 2)
		return nil
	})
	return out, err
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (m *Model) Cross(ctx context.Context, graphs []*graph.Graph) (*Matrix, error) {
	c, err := m.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.Compare(ctx, c, m.train)
}

// Compare returns the kernel matrix between two sets of graphs that the model has transformed.
func (m *Model) Compare(ctx context.Context, a, b *Covariances) (*Matrix, error) {
	out := NewMatrix(a.Len(), b.Len())
	rows := (a.Len() + gramTile - 1) / gramTile
	buf := make([][]float64, m.o.Workers)
	meter := newMeter(m.o.Progress, "gram", int64(a.Len())*int64(b.Len()))
	err := parallel(ctx, m.o.Workers, rows, 1, func(w, k int) error {
		end := m.o.trace("gram")
		defer end()
		i0, i1 := k*gramTile, min((k+1)*gramTile, a.Len())
		const width = 16 * gramTile
		for j0 := 0; j0 < b.Len(); j0 += width {
			if err := ctx.Err(); err != nil {
				return err
			}
			j1 := min(j0+width, b.Len())
			m.rectangle(out.Data[i0*b.Len()+j0:], b.Len(), a, i0, i1, b, j0, j1, &buf[w])
		}
		meter.add(int64(i1-i0) * int64(b.Len()))
		return nil
	})
	return out, err
}

// rectangle writes the combined kernel of rows i0 … i1-1 of a and columns j0 … j1-1 of b.
func (m *Model) rectangle(dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int, buf *[]float64) {
	width, levels := j1-j0, len(a.levels)
	if levels == 1 && m.o.Power == 1 {
		spd.Cross(dst, stride, a.levels[0], i0, i1, b.levels[0], j0, j1)
		return
	}
	*buf = resize(*buf, (i1-i0)*width)
	k := *buf
	for l := range levels {
		spd.Cross(k, width, a.levels[l], i0, i1, b.levels[l], j0, j1)
		for i := range i1 - i0 {
			m.o.fold(dst[i*stride:][:width], k[i*width:][:width], l == 0, levels)
		}
	}
	for i := range i1 - i0 {
		m.o.finish(dst[i*stride:][:width], levels)
	}
}
