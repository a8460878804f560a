package kernel

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/work"
)

// Sides of the blocks of a matrix: small enough to share the work, large enough to be written to a
// file.
const (
	leastSide = 256
	mostSide  = 2048
	shareSide = 16
)

// blockSide returns the side of the blocks in which a matrix of n rows or columns is computed.
func blockSide(n int) int { return min(max(n/shareSide&^7, leastSide), mostSide) }

// Blocks computes the kernel matrix between two sets of features block by block, so that it may be
// larger than the memory. put is called concurrently with the values from row i0 and column j0 on,
// which it must not keep. If a and b are one set, only the blocks on and below the diagonal are
// computed.
func Blocks(ctx context.Context, m Map, a, b Features, put func(i0, j0 int, values *Matrix) error) error {
	return eachBlock(ctx, m, a, b, func(x Block) error {
		values := &Matrix{Rows: x.I1 - x.I0, Cols: x.J1 - x.J0}
		buffer := takeBuffer(values.Rows * values.Cols)
		defer buffers.Put(buffer)
		values.Data = *buffer
		if err := m.Fill(ctx, values.Data, values.Cols, x); err != nil {
			return err
		}
		return put(x.I0, x.J0, values)
	})
}

// eachBlock calls f concurrently with the blocks of a matrix, or of its lower triangle if a and b are
// one set.
func eachBlock(ctx context.Context, m Map, a, b Features, f func(x Block) error) error {
	height, width := blockSide(a.Len()), blockSide(b.Len())
	if _, ok := m.(Whole); ok {
		height, width = max(1, a.Len()), max(1, b.Len())
	}
	var blocks []Block
	for i := 0; i < a.Len(); i += height {
		for j := 0; j < b.Len() && !(a == b && j > i); j += width {
			blocks = append(blocks, Block{a, i, min(i+height, a.Len()), b, j, min(j+width, b.Len())})
		}
	}
	var meter *work.Meter
	if hasStages(m) { // they tell how far it has come
		work.NewMeter(ctx, "gram", 0)
		meter = work.NewMeter(work.Quiet(ctx), "gram", len(blocks))
	} else {
		meter = work.NewMeter(ctx, "gram", len(blocks))
	}
	return work.Each(ctx, len(blocks), 1, func(_, k int) error {
		defer work.Trace(ctx, "gram")()
		defer meter.Add(1)
		return f(blocks[k])
	})
}

// hasStages reports whether a map, or that of a factor of a sum, is Whole. Its blocks have stages of progress.
func hasStages(m Map) bool {
	if s, ok := m.(*FittedSum); ok {
		return slices.ContainsFunc(s.Factors, func(f *FittedFactor) bool { return hasStages(f.Known().Map) })
	}
	_, ok := m.(Whole)
	return ok
}

// buffers keeps memory for the values of blocks.
var buffers = sync.Pool{New: func() any { return new([]float64) }}

// takeBuffer returns memory for n numbers, to be put back into buffers.
func takeBuffer(n int) *[]float64 {
	b := buffers.Get().(*[]float64)
	if cap(*b) < n {
		*b = make([]float64, n)
	}
	*b = (*b)[:n]
	return b
}

// Between returns the kernel matrix between two sets of features.
func Between(ctx context.Context, m Map, a, b Features) (*Matrix, error) {
	out := NewMatrix(a.Len(), b.Len())
	n := out.Cols
	err := eachBlock(ctx, m, a, b, func(x Block) error {
		values := out.Data[x.I0*n+x.J0:]
		if err := m.Fill(ctx, values, n, x); err != nil {
			return err
		}
		if a == b && x.I0 != x.J0 {
			Transpose(out.Data[x.J0*n+x.I0:], n, values, n, x.I1-x.I0, x.J1-x.J0)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

// Self returns the kernel of each graph with itself.
func Self(ctx context.Context, m Map, a Features) ([]float64, error) {
	if s, ok := m.(*FittedSum); ok {
		if k := self(s.Sum); !math.IsNaN(k) {
			return slices.Repeat([]float64{k}, a.Len()), nil
		}
	}
	out := make([]float64, a.Len())
	return out, work.Each(ctx, len(out), 64, func(_, i int) error {
		return m.Fill(ctx, out[i:i+1], 1, Block{a, i, i + 1, a, i, i + 1})
	})
}

// Transpose sets rows of dst to the columns of rows×cols numbers of a, by squares of one cache line.
func Transpose(dst []float64, dstStride int, a []float64, stride, rows, cols int) {
	const line = 8
	for i := 0; i < rows; i += line {
		for j := 0; j < cols; j += line {
			for c := j; c < min(j+line, cols); c++ {
				row := dst[c*dstStride:]
				for r := i; r < min(i+line, rows); r++ {
					row[r] = a[r*stride+c]
				}
			}
		}
	}
}
