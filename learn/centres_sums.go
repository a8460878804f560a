package learn

import (
	"context"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// centreSums are all that a ridge regression on centres needs of some examples: the lower triangle of
//
//	Σ_i w_i x_i x_iᵀ,   x_i = (k(i, c_1), …, k(i, c_m), z_i1, …, z_it, 1),
//
// for weights w and targets z. Sums of two sets of examples add up to those of both.
//
// Each sum is a multiple of quantum, a power of two that is so large that no sum of the examples of
// Centres has more than 53 bits. So additions are exact, and in any order they give the same bits.
// Products of sumBlock examples are rounded to multiples.
type centreSums struct {
	order   int // m + t + 1
	quantum float64
	// strips are stripRows rows each, of as many columns as the last of them has below the diagonal.
	strips [][]float64
}

// sumBlock is the number of examples whose products are added up before they are rounded.
const sumBlock = tileSide

// newCentreSums returns sums of no examples.
func newCentreSums(order int, quantum float64) *centreSums {
	s := &centreSums{order: order, quantum: quantum, strips: make([][]float64, (order+stripRows-1)/stripRows)}
	for k := range s.strips {
		first, last := s.rows(k)
		s.strips[k] = make([]float64, (last-first)*last)
	}
	return s
}

// rows returns the first row of a strip, and the one behind its last.
func (s *centreSums) rows(strip int) (first, last int) {
	return strip * stripRows, min((strip+1)*stripRows, s.order)
}

// sumsBytes returns the memory of centreSums.
func sumsBytes(order int) int64 { return 4 * int64(order) * int64(order+stripRows) }

// quantumOf returns the quantum for n examples whose weight times two numbers of x is at most largest.
func quantumOf(n int, largest float64) float64 {
	_, exponent := math.Frexp(float64(n) * largest)
	return math.Ldexp(1, exponent-51)
}

// add adds examples, whose x are the rows of a matrix. It takes m² operations for each.
func (s *centreSums) add(ctx context.Context, x *kernel.Matrix, weights []float64) error {
	shift := 0x1.8p52 * s.quantum // a sum with it has no bits below the quantum
	workers := make([]products, work.Workers(ctx))
	return work.Each(ctx, len(s.strips), 1, func(w, task int) error {
		k := len(s.strips) - 1 - task // long strips come first
		first, last := s.rows(k)
		p := &workers[w]
		p.reset(first, last)
		for i := 0; i < x.Rows; i += sumBlock {
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
			p.multiply(min(sumBlock, x.Rows-i), row, func(j, c int, values []float64) {
				to := s.strips[k][(j-first)*last+c:][:len(values)]
				for q, v := range values {
					to[q] += (v + shift) - shift
				}
			})
		}
		return nil
	})
}

// at returns the sum in row i and column j ≤ i.
func (s *centreSums) at(i, j int) float64 {
	_, last := s.rows(i / stripRows)
	return s.strips[i/stripRows][i%stripRows*last+j]
}

// products computes rows first … last−1 of the lower triangle of XᵀWX.
type products struct {
	first, last int
	left        []float64 // rows of XᵀW
	right       []float64 // panels of X
	product     []float64
	row         []float64
}

// reset chooses the rows.
func (p *products) reset(first, last int) {
	panels := (last + dense.PanelWidth - 1) / dense.PanelWidth
	p.first, p.last = first, last
	p.left, p.right = dense.Grow(p.left, stripRows*tileSide), dense.Grow(p.right, panels*dense.PanelWidth*tileSide)
	p.product, p.row = dense.Grow(p.product, stripRows*dense.PanelWidth), dense.Grow(p.row, panels*dense.PanelWidth)
}

// multiply passes the products of at most tileSide rows of X to put, by pieces of row j from column c on.
// row copies the first columns of row i of X and returns its weight.
func (p *products) multiply(rows int, row func(i int, dst []float64) (weight float64), put func(j, c int, values []float64)) {
	const width = dense.PanelWidth
	panels := len(p.row) / width
	for i := range rows {
		weight := row(i, p.row[:p.last])
		for k := range panels {
			copy(p.right[(k*tileSide+i)*width:][:width], p.row[k*width:])
		}
		for j, v := range p.row[p.first:p.last] {
			p.left[j*tileSide+i] = weight * v
		}
	}
	for k := range panels {
		dense.MultiplyPanel(p.product, width, p.left, tileSide, p.right[k*tileSide*width:], p.last-p.first, rows)
		for j := p.first; j < p.last; j++ {
			put(j, k*width, p.product[(j-p.first)*width:][:min(width, p.last-k*width)])
		}
	}
}
