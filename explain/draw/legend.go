package draw

import (
	"cmp"
	"fmt"
	"strconv"
)

// legend is a list of names with their colours, in rows.
type legend struct {
	names         []string
	x             []float64
	row           []int
	marks         int // names that are classes; then a remark
	width, height float64
}

const (
	maxLegend  = 40
	legendLine = 16.0
)

// newLegend sets out names within a width and a height. A list that does not fit is cut,
// and says so.
func newLegend(names []string, width, height float64) legend {
	for n := min(len(names), maxLegend); n > 0; n-- {
		more := ""
		if n < len(names) {
			more = fmt.Sprintf("and %d more", len(names)-n)
		}
		if l := setLegend(names[:n], more, width); l.height <= height {
			return l
		}
	}
	return legend{}
}

func setLegend(names []string, more string, width float64) legend {
	l := legend{marks: len(names)}
	x, row := margin, 0
	put := func(s string) {
		s = shorten(s, 150, legendSize, false)
		w := 14 + measure(s, legendSize, false) + 12
		if x > margin && x+w > width-margin {
			x, row = margin, row+1
		}
		l.names, l.x, l.row = append(l.names, s), append(l.x, x), append(l.row, row)
		x += w
		l.width = max(l.width, x)
	}
	for _, s := range names {
		if s == "" {
			s = "(none)"
		}
		put(s)
	}
	if more != "" {
		put(more)
	}
	l.height = float64(row+1)*legendLine + 4
	return l
}

// draw puts the legend below y.
func (l legend) draw(p *Picture, y float64) {
	for i, s := range l.names {
		base := y + float64(l.row[i]+1)*legendLine - 3
		if i < l.marks {
			mark(p, point{l.x[i] + 5, base - 4}, 4.2, i, white)
		}
		p.text(point{l.x[i] + 14, base}, s, style{size: legendSize, color: black})
	}
}

// mark draws the mark of the i-th class: a disc, square, diamond or triangle, so that
// neighbours in the list differ in more than colour. A border of alpha 0 is none.
func mark(p *Picture, at point, r float64, i int, border Color) {
	c := ClassColor(i)
	at4 := func(s float64, pts ...point) []point {
		out := make([]point, len(pts))
		for k, q := range pts {
			out[k] = at.add(q.scale(s))
		}
		return out
	}
	outline := func(s float64) []point {
		switch i % 4 {
		case 1:
			return at4(s, point{-0.85, -0.85}, point{0.85, -0.85}, point{0.85, 0.85}, point{-0.85, 0.85})
		case 2:
			return at4(s, point{0, -1.15}, point{1.15, 0}, point{0, 1.15}, point{-1.15, 0})
		default:
			return at4(s, point{0, -1.15}, point{1.1, 0.8}, point{-1.1, 0.8})
		}
	}
	inner := r
	if border.A > 0 {
		inner = 0.85 * r
	}
	if i%4 == 0 {
		if border.A > 0 {
			p.disc(at, r, border)
		}
		p.disc(at, inner, c)
		return
	}
	if border.A > 0 {
		p.polygon(outline(r), border)
	}
	p.polygon(outline(inner), c)
}

// naturally compares names: numbers by value, before other texts.
func naturally(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}
