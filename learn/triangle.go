package learn

import (
	"context"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// triangle is the lower triangle of sums of products of integers of at most mostBits bits, and the number of
// examples in them. With more than carried examples a sum is high·2³² + low for low below 2³². Without examples low is nil.
type triangle struct {
	order    int
	examples int
	// Strips are stripRows rows each, of as many columns as the last of them has below the diagonal.
	low, high [][]int64
}

// carried is the number of examples of which twice as many have sums that fit into 63 bits.
const carried = 1 << (61 - 2*mostBits)

// newTriangle returns sums of no examples.
func newTriangle(order int) triangle { return triangle{order: order} }

// zeros returns strips.
func (t *triangle) zeros() [][]int64 {
	strips := make([][]int64, (t.order+stripRows-1)/stripRows)
	for k := range strips {
		first, last := t.rows(k)
		strips[k] = make([]int64, (last-first)*last)
	}
	return strips
}

// rows returns the first row of a strip, and the one behind its last.
func (t *triangle) rows(strip int) (first, last int) {
	return strip * stripRows, min((strip+1)*stripRows, t.order)
}

// add adds XᵀWX for a matrix of integers with at most carried rows, and weights of at most 1; nil for ones. Numbers
// of XᵀW are rounded. It takes m² operations for each row.
func (t *triangle) add(ctx context.Context, x *kernel.Matrix, weights []float64) error {
	if t.low == nil {
		t.low = t.zeros()
	}
	workers := make([]products, work.Workers(ctx))
	err := work.Each(ctx, len(t.low), 1, func(w, task int) error {
		k := len(t.low) - 1 - task // long strips come first
		first, last := t.rows(k)
		p := &workers[w]
		p.whole = weights != nil
		p.reset(first, last)
		for i := 0; i < x.Rows; i += tileSide {
			if err := ctx.Err(); err != nil {
				return err
			}
			row := func(r int, dst []float64) float64 {
				copy(dst, x.Row(i+r))
				if weights == nil {
					return 1
				}
				return weights[i+r]
			}
			p.multiply(min(tileSide, x.Rows-i), row, func(j, c int, values []float64) {
				to := t.low[k][(j-first)*last+c:][:len(values)]
				for q, v := range values {
					to[q] += int64(v)
				}
			})
		}
		return nil
	})
	if err == nil {
		t.count(x.Rows)
	}
	return err
}

// count counts examples that were added to low, and carries.
func (t *triangle) count(examples int) {
	if t.examples += examples; t.examples <= carried {
		return
	}
	if t.high == nil {
		t.high = t.zeros()
	}
	for k, low := range t.low {
		high := t.high[k]
		for i, v := range low {
			high[i] += v >> 32
			low[i] = v & (1<<32 - 1)
		}
	}
}

// join adds sums of other examples.
func (t *triangle) join(o triangle) {
	if o.low != nil && t.low == nil {
		t.low = t.zeros()
	}
	if o.high != nil && t.high == nil {
		t.high = t.zeros()
	}
	for k, strip := range o.low {
		for i, v := range strip {
			t.low[k][i] += v
		}
		if o.high != nil {
			for i, v := range o.high[k] {
				t.high[k][i] += v
			}
		}
	}
	t.count(o.examples)
}

// at returns the sum in row i and column j ≤ i.
func (t *triangle) at(i, j int) float64 {
	_, last := t.rows(i / stripRows)
	k, at := i/stripRows, i%stripRows*last+j
	switch {
	case t.low == nil:
		return 0
	case t.high == nil:
		return float64(t.low[k][at])
	}
	return float64(t.high[k][at])*(1<<32) + float64(t.low[k][at])
}
