package draw

import (
	"context"
	"fmt"
	"image"
	"math"
	"strconv"

	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/kernel"
)

// maxCells is the largest number of rows of cells; more objects share cells, which show the mean.
const maxCells = 600

// HeatMap draws a kernel matrix as colours, light for the smallest and dark for the largest value off
// the diagonal. Classes stand together, in natural order, with a bar on the left and on top; within a
// class the order is that of [cluster.Order]. class may be nil.
func HeatMap(ctx context.Context, title string, k *kernel.Matrix, class []string, size Size) (*Picture, error) {
	if err := size.check(leastChart); err != nil {
		return nil, err
	}
	n := k.Rows
	if class != nil && len(class) != n {
		return nil, fmt.Errorf("%d classes for a kernel matrix of order %d, want one for each row", len(class), n)
	}
	names, number := numbered(class, n)
	order, err := cluster.Order(ctx, k, number)
	if err != nil {
		return nil, err
	}
	p := newPicture(size.Width, size.Height, title)
	l := newLegend(names, size.Width, size.Height/3)
	top, bottom := p.heading(title), size.Height-margin-l.height
	l.draw(p, bottom)
	strip := 0.0
	if class != nil {
		strip = 10
	}
	side := min(bottom-top-strip-4, size.Width-2*margin-strip-70)
	x0, y0 := (size.Width-side-strip-60)/2+strip, top+strip
	lo, hi := OffDiagonal(k)
	p.add(&cells{box{x0, y0, x0 + side, y0 + side}, matrixImage(k, order, lo, hi)})
	for from, i := 0, 1; class != nil && i <= n; i++ {
		if i < n && number[order[i]] == number[order[from]] {
			continue
		}
		a, b := side*float64(from)/float64(n), side*float64(i)/float64(n)
		c := ClassColor(number[order[from]])
		p.polygon(c, rectangle(x0-strip, y0+a, x0-2, y0+b)...)
		p.polygon(c, rectangle(x0+a, y0-strip, x0+b, y0-2)...)
		if from > 0 {
			p.lines(0.8, white, [][]point{{{x0, y0 + a}, {x0 + side, y0 + a}}, {{x0 + a, y0}, {x0 + a, y0 + side}}})
		}
		from = i
	}
	x := x0 + side + 14
	p.colorBar(box{x, y0, x + 12, y0 + side}, sequential)
	for _, t := range []float64{0, 0.5, 1} {
		p.text(point{x + 16, y0 + side*(1-t) + 4}, minus(strconv.FormatFloat(lo+(hi-lo)*t, 'g', 2, 64)), style{size: tickStyle.size, color: gray})
	}
	return p, nil
}

// OffDiagonal returns the range of the values off the diagonal, or that of a single value.
func OffDiagonal(k *kernel.Matrix) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range k.Rows {
		for j, v := range k.Row(i) {
			if i != j || k.Rows == 1 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// matrixImage colours the ordered matrix; each cell has the mean of its entries.
func matrixImage(k *kernel.Matrix, order []int, lo, hi float64) *image.NRGBA {
	n := len(order)
	m := min(n, maxCells)
	sum, count := make([]float64, m*m), make([]float64, m*m)
	for i, u := range order {
		for j, v := range order {
			c := i*m/n*m + j*m/n
			sum[c] += k.At(u, v)
			count[c]++
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, m, m))
	for c := range sum {
		t := 1.0
		if hi > lo {
			t = (sum[c]/count[c] - lo) / (hi - lo)
		}
		img.SetNRGBA(c%m, c/m, sequential(t))
	}
	return img
}
