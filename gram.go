package mlg

import (
	"context"
	"sync"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

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

// rectangle writes the combined kernel of rows i0 … i1-1 of a and columns j0 … j1-1 of b.
func (m *LowRank) rectangle(ctx context.Context, dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int, buf *[]float64) error {
	device, width, levels := work.Device(ctx), j1-j0, len(a.levels)
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

// Fill implements kernel.Map.
func (m *LowRank) Fill(ctx context.Context, dst []float64, stride int, x kernel.Block) error {
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	a, b := x.A.(*Covariances), x.B.(*Covariances)
	if x.Square() {
		n := x.I1 - x.I0
		strip := max(gramStrip, (n+gramStrips-1)/gramStrips)
		for i := x.I0; i < x.I1; i += strip {
			hi := min(i+strip, x.I1)
			if err := m.rectangle(ctx, dst[(i-x.I0)*stride:], stride, a, i, hi, a, x.I0, hi, buf); err != nil {
				return err
			}
		}
		mirror(dst, stride, n)
		return ctx.Err()
	}
	height, width := work.Device(ctx).Block(x.I1-x.I0, x.J1-x.J0, false, a.order())
	for j := x.J0; j < x.J1; j += width {
		for i := x.I0; i < x.I1; i += height {
			if err := m.rectangle(ctx, dst[(i-x.I0)*stride+j-x.J0:], stride, a, i, min(i+height, x.I1), b, j, min(j+width, x.J1), buf); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
