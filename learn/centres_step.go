package learn

import (
	"context"
	"math"
	"sync"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
)

// descent is one step of steepest descent from regressions f on centres to those on all examples. The
// gradient of the loss Σ w(z−f)² + λ|f|² is −2g for
//
//	g = Σ_i w_i e_i k(·, x_i) − λ Σ_c α_c k(·, c),   e_i = z_i − f(x_i),
//
// over the examples of training, and f + ηg has the coefficients ηw_i e_i, and (1−ηλ)α_c more of centres.
// No system has to be solved. η makes the squared error of examples that are held out smallest.
//
// The values of g for these examples need the kernel of all pairs, n²/2 values. They are computed in blocks,
// which also tell the nearest examples.
type descent struct {
	folds     []int          // the position of the fold of each example
	residuals *kernel.Matrix // w e by example, with columns for each fold and function; 0 in the fold
	gradients *kernel.Matrix // Σ w e k by example, for each function of its fold
	near      []nearest.Top  // of each example, itself among them
}

// run adds up gradients. The products of blocks are rounded to multiples of a power of two that is so large that
// no sum has more than 53 bits. So additions are exact, and their order is of no effect.
func (d *descent) run(ctx context.Context, m kernel.Map, train kernel.Features, largest float64) error {
	width, functions := d.residuals.Cols, d.gradients.Cols
	shifts := make([]float64, width)
	for i := range d.residuals.Rows {
		for c, v := range d.residuals.Row(i) {
			shifts[c] += math.Abs(v)
		}
	}
	for c, v := range shifts {
		_, e := math.Frexp(max(v*largest, math.SmallestNonzeroFloat64*0x1p100))
		shifts[c] = math.Ldexp(0x1.8p52, e-51)
	}
	var mu sync.Mutex
	// add takes the kernel values of examples from i0 on (rows) with those from j0 on.
	add := func(i0, j0 int, values *kernel.Matrix) {
		product := make([]float64, values.Rows*width)
		dense.Multiply(product, values.Data, d.residuals.Data[j0*width:][:values.Cols*width], values.Rows, values.Cols, width)
		mu.Lock()
		defer mu.Unlock()
		for r := range values.Rows {
			i := i0 + r
			first := d.folds[i] * functions
			to := d.gradients.Row(i)
			for k, v := range product[r*width+first:][:functions] {
				to[k] += (v + shifts[first+k]) - shifts[first+k]
			}
			d.near[i].Offer(j0, values.Row(r))
		}
	}
	return kernel.Blocks(ctx, m, train, train, func(i0, j0 int, values *kernel.Matrix) error {
		add(i0, j0, values)
		if i0 != j0 {
			other := kernel.NewMatrix(values.Cols, values.Rows)
			kernel.Transpose(other.Data, other.Cols, values.Data, values.Cols, values.Rows, values.Cols)
			add(j0, i0, other)
		}
		return nil
	})
}
