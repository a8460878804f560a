package draw

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg"
)

// clusterLimit is the largest class that is ordered by clustering, which takes O(n²) memory;
// members of larger ones are in the order of their leading kernel principal component.
const clusterLimit = 2000

// maxCells is the largest number of rows of cells; more objects share cells, which show the mean.
const maxCells = 600

// Order returns an order of the objects of a kernel matrix that puts classes together, in
// natural order of their names, and within a class similar objects side by side: the
// leaves of average-linkage clustering of the distances √(k_ii + k_jj − 2k_ij), the two
// sides of each join turned so that the nearest ends meet. class may be nil. The error says that
// the matrix is not square, has an entry that is not finite, or does not fit the classes.
func Order(k *mlg.Matrix, class []string) ([]int, error) {
	if err := square(k); err != nil {
		return nil, err
	}
	if class != nil && len(class) != k.Rows {
		return nil, fmt.Errorf("%d classes for a kernel matrix of order %d, want as many", len(class), k.Rows)
	}
	names, number := classNames(class, k.Rows)
	var order []int
	for c := range names {
		var members []int
		for i, m := range number {
			if m == c {
				members = append(members, i)
			}
		}
		if len(members) > clusterLimit {
			members = byComponent(k, members)
		} else {
			members = byClusters(k, members)
		}
		order = append(order, members...)
	}
	return order, nil
}

func byComponent(k *mlg.Matrix, members []int) []int {
	n := len(members)
	sub := mlg.NewMatrix(n, n)
	for a, i := range members {
		for b, j := range members {
			sub.Set(a, b, k.At(i, j))
		}
	}
	_, vectors := leadingIterated(centred(sub), n)
	order := make([]int, n)
	for a := range order {
		order[a] = a
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(vectors[0][a], vectors[0][b]) })
	for a := range order {
		order[a] = members[order[a]]
	}
	return order
}

// byClusters clusters by chains of nearest neighbours, O(n²).
func byClusters(k *mlg.Matrix, members []int) []int {
	n := len(members)
	if n < 3 {
		return members
	}
	dist := func(i, j int) float64 {
		return math.Sqrt(max(k.At(i, i)+k.At(j, j)-k.At(i, j)-k.At(j, i), 0))
	}
	d := make([][]float64, n)
	list := make([][]int, n) // the objects of each cluster in order; nil once merged
	for a := range d {
		d[a] = make([]float64, n)
		list[a] = []int{members[a]}
		for b := range a {
			d[a][b] = dist(members[a], members[b])
			d[b][a] = d[a][b]
		}
	}
	var chain []int
	for merges := 0; merges < n-1; {
		if len(chain) == 0 {
			for a := range list {
				if list[a] != nil {
					chain = append(chain, a)
					break
				}
			}
		}
		top := chain[len(chain)-1]
		near := -1
		if len(chain) > 1 {
			near = chain[len(chain)-2] // of equal neighbours the one before, so that chains end
		}
		for b := range list {
			if b != top && list[b] != nil && (near < 0 || d[top][b] < d[top][near]) {
				near = b
			}
		}
		if len(chain) < 2 || near != chain[len(chain)-2] {
			chain = append(chain, near)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b := min(top, near), max(top, near)
		wa, wb := float64(len(list[a])), float64(len(list[b]))
		for c := range list {
			if list[c] != nil && c != a && c != b {
				d[a][c] = (wa*d[a][c] + wb*d[b][c]) / (wa + wb)
				d[c][a] = d[a][c]
			}
		}
		list[a] = joinEnds(list[a], list[b], dist)
		list[b] = nil
		merges++
	}
	return list[0]
}

// joinEnds concatenates two lists, either reversed if that brings nearer ends together.
func joinEnds(a, b []int, dist func(i, j int) float64) []int {
	a0, a1, b0, b1 := a[0], a[len(a)-1], b[0], b[len(b)-1]
	best, which := dist(a1, b0), 0
	for w, v := range []float64{dist(a1, b1), dist(a0, b0), dist(a0, b1)} {
		if v < best {
			best, which = v, w+1
		}
	}
	a, b = slices.Clone(a), slices.Clone(b)
	if which == 2 || which == 3 {
		slices.Reverse(a)
	}
	if which == 1 || which == 3 {
		slices.Reverse(b)
	}
	return append(a, b...)
}

// HeatMap draws a kernel matrix as colours, light for the smallest and dark for the largest value off
// the diagonal, with objects in the order of Order and a bar of the classes, if any, on the left and on top.
func HeatMap(title string, k *mlg.Matrix, class []string, size Size) (*Picture, error) {
	if err := size.check(); err != nil {
		return nil, err
	}
	order, err := Order(k, class)
	if err != nil {
		return nil, err
	}
	n := len(order)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range n {
		for j := range n {
			if i != j || n == 1 {
				lo, hi = min(lo, k.At(i, j)), max(hi, k.At(i, j))
			}
		}
	}
	p := newPicture(size.Width, size.Height, title)
	names, number := classNames(class, n)
	var l legend
	if class != nil {
		l = newLegend(names, size.Width, size.Height/3)
	}
	top := margin
	if title != "" {
		top += titleSize + 8
		p.text(point{size.Width / 2, margin + titleSize*0.8}, shorten(title, size.Width-2*margin, titleSize, true),
			style{size: titleSize, color: black, bold: true, anchor: middle})
	}
	bottom := size.Height - margin - l.height
	l.draw(p, bottom)
	strip := 0.0
	if class != nil {
		strip = 10
	}
	side := min(bottom-top-strip-4, size.Width-2*margin-strip-70)
	x0, y0 := (size.Width-side-strip-60)/2+strip, top+strip
	p.add(matrixCells(k, order, lo, hi, box{x0, y0, x0 + side, y0 + side}))
	if class != nil {
		from := 0
		for i := 1; i <= n; i++ {
			if i < n && number[order[i]] == number[order[from]] {
				continue
			}
			a, b := side*float64(from)/float64(n), side*float64(i)/float64(n)
			c := ClassColor(number[order[from]])
			p.polygon(rectangle(x0-strip, y0+a, x0-2, y0+b), c)
			p.polygon(rectangle(x0+a, y0-strip, x0+b, y0-2), c)
			if from > 0 {
				p.lines(0.8, white, [][2]point{{{x0, y0 + a}, {x0 + side, y0 + a}}, {{x0 + a, y0}, {x0 + a, y0 + side}}})
			}
			from = i
		}
	}
	scaleBar(p, x0+side+14, y0, y0+side, lo, hi)
	return p, nil
}

// matrixCells colours the ordered matrix; each cell has the mean of its entries.
func matrixCells(k *mlg.Matrix, order []int, lo, hi float64, b box) *cells {
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
	out := &cells{b.x0, b.y0, b.x1, b.y1, m, m, make([]Color, m*m)}
	for c := range sum {
		t := 1.0
		if hi > lo {
			t = (sum[c]/count[c] - lo) / (hi - lo)
		}
		out.color[c] = Sequential(t)
	}
	return out
}

// scaleBar draws the colour scale upright.
func scaleBar(p *Picture, x, y0, y1, lo, hi float64) {
	const steps = 64
	for i := range steps { // each over the rest of the one before: no seams
		p.polygon(rectangle(x, y0+(y1-y0)*float64(i)/steps, x+12, y1), Sequential(1-float64(i)/(steps-1)))
	}
	st := style{size: tickSize, color: gray}
	for _, t := range []float64{0, 0.5, 1} {
		p.text(point{x + 16, y1 + (y0-y1)*t + 4}, strconv.FormatFloat(lo+(hi-lo)*t, 'g', 2, 64), st)
	}
}
