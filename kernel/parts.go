package kernel

import "context"

// Filler is a fitted kernel that computes any part of its Gram matrix alone.
type Filler interface {
	// Fill sets dst, row by row, to the kernel of the training graphs i0 … i1-1 with those
	// from j0 to j1-1, in the calling goroutine. Values have the bits that Gram gives.
	Fill(ctx context.Context, dst []float64, i0, i1, j0, j1 int) error
}

// AsFiller returns a fitted kernel as a Filler, nil if it is none. A sum is one if its factors are.
func AsFiller(ctx context.Context, f Fitted) (Filler, error) {
	s, ok := f.(*FittedSum)
	if !ok {
		filler, _ := f.(Filler)
		return filler, nil
	}
	for _, factor := range s.Factors {
		fitted, err := factor.Fitted(ctx)
		if err != nil {
			return nil, err
		}
		if _, ok := fitted.(Filler); !ok {
			return nil, nil
		}
	}
	return sumFiller{s}, nil
}

// sumFiller is a sum whose factors are Fillers.
type sumFiller struct{ *FittedSum }

// Fill implements Filler.
func (s sumFiller) Fill(ctx context.Context, dst []float64, i0, i1, j0, j1 int) error {
	_, err := s.Combine(WithWorkers(ctx, 1), dst, func(i int) ([]float64, error) {
		fitted, err := s.Factors[i].Fitted(ctx)
		if err != nil {
			return nil, err
		}
		values := make([]float64, len(dst))
		if err := fitted.(Filler).Fill(ctx, values, i0, i1, j0, j1); err != nil {
			return nil, err
		}
		if i0 == j0 && i1 == j1 && !s.Sum.single() {
			err = unitDiagonal(&Matrix{i1 - i0, j1 - j0, values}, s.Factors[i].Factor)
		}
		return values, err
	})
	return err
}

// Sides of the parts of a Gram matrix: small enough to share the work, large enough to be written to
// a file.
const (
	partLeast = 256
	partMost  = 2048
	partShare = 16
)

// Parts computes the Gram matrix of n graphs part by part, so that it may be larger than the
// memory. put is called concurrently with the values from row i0 and column j0 on, which it must not
// keep.
func Parts(ctx context.Context, f Filler, n int, put func(i0, j0 int, values *Matrix) error) error {
	side := min(max(n/partShare&^7, partLeast), partMost)
	var parts [][2]int
	for i := 0; i < n; i += side {
		for j := 0; j <= i; j += side {
			parts = append(parts, [2]int{i, j})
		}
	}
	meter := NewMeter(ctx, "gram", len(parts))
	type buffers struct{ values, transposed []float64 }
	workers := make([]buffers, Workers(ctx))
	return Each(ctx, len(parts), 1, func(w, k int) error {
		defer Trace(ctx, "gram")()
		defer meter.Add(1)
		b := &workers[w]
		if b.values == nil {
			b.values, b.transposed = make([]float64, side*side), make([]float64, side*side)
		}
		i0, j0 := parts[k][0], parts[k][1]
		i1, j1 := min(i0+side, n), min(j0+side, n)
		m := &Matrix{i1 - i0, j1 - j0, b.values[:(i1-i0)*(j1-j0)]}
		if err := f.Fill(ctx, m.Data, i0, i1, j0, j1); err != nil {
			return err
		}
		if err := put(i0, j0, m); err != nil || i0 == j0 {
			return err
		}
		t := &Matrix{m.Cols, m.Rows, b.transposed[:len(m.Data)]}
		Transpose(t.Data, t.Cols, m.Data, m.Cols, m.Rows, m.Cols)
		return put(j0, i0, t)
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
