package draw

import (
	"cmp"
	"fmt"
	"image/color"
)

// legend is a list of names with their marks, in rows.
type legend struct {
	entries       []legendEntry
	colors        []color.NRGBA // of the classes; nil: ClassColor
	width, height float64
}

type legendEntry struct {
	name   string
	at     point // of the text, from where the legend begins
	marked bool  // a class; else a remark
}

const (
	maxLegend  = 40
	legendLine = 16.0
)

var legendStyle = style{size: 11, color: black}

// newLegend sets out names within a width and a height. A list that does not fit is cut,
// and says so.
func newLegend(names []string, width, height float64) legend {
	for n := min(len(names), maxLegend); n > 0; n-- {
		if l := setLegend(names, n, width); l.height <= height {
			return l
		}
	}
	return legend{}
}

// setLegend sets out the first n names.
func setLegend(names []string, n int, width float64) legend {
	var l legend
	at := point{margin, legendLine - 3}
	put := func(s string, marked bool) {
		s = shorten(s, 150, legendStyle)
		w := 14 + legendStyle.measure(s) + 12
		if at.x > margin && at.x+w > width-margin {
			at = point{margin, at.y + legendLine}
		}
		l.entries = append(l.entries, legendEntry{s, at.add(point{14, 0}), marked})
		at.x += w
		l.width = max(l.width, at.x)
	}
	for _, s := range names[:n] {
		put(cmp.Or(s, "(none)"), true)
	}
	if n < len(names) {
		put(fmt.Sprintf("and %d more", len(names)-n), false)
	}
	l.height = at.y + 7
	return l
}

// draw puts the legend below y.
func (l legend) draw(p *Picture, y float64) {
	for i, e := range l.entries {
		at := e.at.add(point{0, y})
		if e.marked {
			mark(p, at.add(point{-9, -4}), 4.2, i, classColor(l.colors, i), white)
		}
		p.text(at, e.name, legendStyle)
	}
}

// markShapes are the outlines of the marks: square, diamond and triangle; nil is a disc.
var markShapes = [][]point{
	nil,
	rectangle(-0.85, -0.85, 0.85, 0.85),
	{{0, -1.15}, {1.15, 0}, {0, 1.15}, {-1.15, 0}},
	{{0, -1.15}, {1.1, 0.8}, {-1.1, 0.8}},
}

// mark draws the mark of the i-th class in a colour, so that neighbours in the list differ in more than
// colour. A border of alpha 0 is none.
func mark(p *Picture, at point, r float64, i int, own, border color.NRGBA) {
	fill := func(r float64, c color.NRGBA) {
		outline := markShapes[i%len(markShapes)]
		if outline == nil {
			p.disc(at, r, c)
			return
		}
		pts := make([]point, len(outline))
		for k, q := range outline {
			pts[k] = at.add(q.scale(r))
		}
		p.polygon(c, pts...)
	}
	if border.A > 0 {
		fill(r, border)
		r *= 0.85
	}
	fill(r, own)
}
