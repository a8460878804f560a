package learn

import (
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// products computes rows first … last−1 of the lower triangle of XᵀWX.
type products struct {
	first, last int
	whole       bool      // numbers of XᵀW are rounded to integers
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
			if v *= weight; p.whole {
				v = math.RoundToEven(v)
			}
			p.left[j*tileSide+i] = v
		}
	}
	for k := range panels {
		dense.MultiplyPanel(p.product, width, p.left, tileSide, p.right[k*tileSide*width:], p.last-p.first, rows)
		for j := p.first; j < p.last; j++ {
			put(j, k*width, p.product[(j-p.first)*width:][:min(width, p.last-k*width)])
		}
	}
}
