package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// box is a rectangle.
type box struct{ x0, y0, x1, y1 float64 }

// atomText is the text of an atom in pieces, and the room that bonds do not enter.
type atomText struct {
	pieces []*text
	boxes  []box
}

// capHeight is the height of capitals in the fonts, for a size of 1.
const capHeight = 0.72

// molecule draws bonds as lines and atoms other than carbon as letters.
func (d *drawing) molecule(p *Picture) {
	size := min(max(d.bond*0.46, 5), 16)
	texts := make([]atomText, len(d.pos))
	for v := range d.pos {
		if d.m.shown(v) {
			texts[v] = d.atomText(v, size)
		}
		if d.o.Values != nil {
			d.valued(p, v, d.bond*0.44, max(d.bond*0.03, 0.4), pale)
		}
	}
	width := min(max(d.bond*0.055, 0.6), 2)
	for k, b := range d.m.bonds {
		from, to := d.pos[b.u], d.pos[b.v]
		if slices.ContainsFunc(d.m.bonds[:k], func(c bond) bool { return crossing(from, to, d.pos[c.u], d.pos[c.v]) }) {
			// A bond that passes over another interrupts it.
			cut := to.sub(from).scale(0.15)
			p.line(5*width, white, from.add(cut), to.sub(cut))
		}
		d.drawBond(p, k, texts, width)
	}
	for _, w := range d.wedges {
		if w.bond < 0 {
			d.drawHydrogen(p, w, size, width)
		}
	}
	for v, t := range texts {
		for _, piece := range t.pieces {
			p.add(piece)
		}
		if d.o.names != nil {
			p.text(d.pos[v].add(point{d.bond * 0.16, d.bond * 0.36}), d.o.names[v], style{size: max(size*0.6, 6), color: gray})
		}
	}
}

// atomText sets the text of an atom: the symbol on the atom, hydrogens and charge on a side
// where no bond is.
func (d *drawing) atomText(v int, size float64) (t atomText) {
	a, at := d.m.atoms[v], d.pos[v]
	normal := style{size: size, color: black, exact: true}
	if c, known := elementColors[a.symbol]; known && d.o.Values == nil {
		normal.color = c
	}
	small := normal
	small.size = 0.72 * size
	put := func(at point, st style, s string) float64 {
		pad := size * 0.16
		right := at.x + st.measure(s)
		if s != "" {
			t.pieces = append(t.pieces, &text{at, s, st})
			t.boxes = append(t.boxes, box{at.x - pad, at.y - capHeight*st.size - pad, right + pad, at.y + pad})
		}
		return right
	}
	height := capHeight * size
	base := at.y + height/2
	left := at.x - normal.measure(a.symbol)/2
	right := put(point{left, base}, normal, a.symbol)
	left -= small.measure(a.isotope)
	put(point{left, base - height*0.5}, small, a.isotope)
	if a.hydrogens > 0 {
		count := ""
		if a.hydrogens > 1 {
			count = strconv.Itoa(a.hydrogens)
		}
		h := normal.measure("H")
		side := d.freeSide(v)
		corner := [...]point{
			rightSide: {right, base},
			leftSide:  {left - small.measure(count) - h, base},
			above:     {at.x - h/2, base - height - size*0.22},
			below:     {at.x - h/2, base + height + size*0.22},
		}[side]
		put(corner, normal, "H")
		end := put(corner.add(point{h, size * 0.22}), small, count)
		if side == rightSide {
			right = end
		}
	}
	right = put(point{right + size*0.04, base - height*0.62}, small, a.charge)
	put(point{right, base - height*0.3}, small, strings.Repeat("•", a.unpaired))
	return t
}

// Sides of an atom.
const (
	rightSide = iota
	leftSide
	above
	below
)

// freeSide returns the first side of v that no bond comes near, or else the one farthest from bonds.
func (d *drawing) freeSide(v int) int {
	best, least := rightSide, math.Inf(1)
	for side, direction := range []point{{1, 0}, {-1, 0}, {0, -1}, {0, 1}} {
		near := 0.0 // cosine of the angle to the nearest bond
		for _, w := range d.g.Neighbors(v) {
			near = max(near, d.pos[w].sub(d.pos[v]).direction().dot(direction))
		}
		if near <= []float64{0.6, 0.6, 0.75, 0.75}[side] {
			return side
		}
		if near < least {
			best, least = side, near
		}
	}
	return best
}

// ringCenter returns the centre of the ring that the second line of a bond lies in: of its rings
// the one with the largest share of double bonds, the smaller of equals. It is false for a bond in
// no ring.
func (d *drawing) ringCenter(b bond) (center point, found bool) {
	in := func(b bond, ring []int) bool { return shared([]int{b.u, b.v}, ring) == 2 } // rings have no chords
	best := 0.0
	for _, s := range d.systems {
		for _, ring := range s.rings {
			if !in(b, ring) {
				continue
			}
			doubles := count(d.m.bonds, func(c bond) bool { return c.order > 1 && in(c, ring) })
			if score := 1 + float64(doubles)/float64(len(ring)) - 0.001*float64(len(ring)); score > best {
				best, center, found = score, mean(selected(d.pos, ring)), true
			}
		}
	}
	return center, found
}

// drawBond draws a bond between the texts of its atoms, as a wedge or as one to four lines.
func (d *drawing) drawBond(p *Picture, k int, texts []atomText, width float64) {
	b := d.m.bonds[k]
	from, to := d.pos[b.u], d.pos[b.v]
	if i := slices.IndexFunc(d.wedges, func(w wedge) bool { return w.bond == k }); i >= 0 {
		v := d.wedges[i].atom
		w := b.other(v)
		from, to = leave(d.pos[v], d.pos[w], texts[v].boxes), leave(d.pos[w], d.pos[v], texts[w].boxes)
		d.drawWedge(p, from, to, d.wedges[i].up, width)
		return
	}
	direction := to.sub(from).direction()
	normal := direction.left()
	gap := d.bond * 0.13
	line := func(shift, cut float64, broken bool) {
		a, c := from.add(normal.scale(shift)), to.add(normal.scale(shift))
		if len(texts[b.u].pieces) == 0 && len(d.m.at[b.u]) > 1 {
			a = a.add(direction.scale(cut))
		}
		if len(texts[b.v].pieces) == 0 && len(d.m.at[b.v]) > 1 {
			c = c.sub(direction.scale(cut))
		}
		a, c = leave(a, c, texts[b.u].boxes), leave(c, a, texts[b.v].boxes)
		switch {
		case c.sub(a).dot(direction) <= 0: // the letters touch
		case broken:
			p.lines(width, black, dashes(a, c, d.bond*0.12, d.bond*0.1))
		default:
			p.line(width, black, a, c)
		}
	}
	if b.order != 2 && !b.aromatic {
		for _, shift := range []float64{0, gap, -gap, 2 * gap}[:max(1, b.order)] {
			line(shift, 0, false)
		}
		return
	}
	side := 0.0
	switch center, ring := d.ringCenter(b); {
	case ring:
		side = math.Copysign(1, center.sub(from).dot(normal))
	case len(d.m.at[b.u]) > 1 && len(d.m.at[b.v]) > 1:
		side = d.busierSide(b, normal)
	}
	if side == 0 {
		line(gap/2, 0, false)
		line(-gap/2, 0, b.aromatic)
	} else {
		line(0, 0, false)
		line(side*gap, gap, b.aromatic)
	}
}

// drawWedge draws a bond that widens towards its end: filled, or broken into lines across it.
func (d *drawing) drawWedge(p *Picture, from, to point, up bool, width float64) {
	along := to.sub(from)
	across := along.direction().left().scale(d.bond * 0.11)
	if up {
		narrow := across.scale(0.5 * width / across.norm())
		p.polygon(black, from.add(narrow), to.add(across), to.sub(across), from.sub(narrow))
		return
	}
	var lines [][]point
	n := max(3, math.Round(along.norm()/max(2.2*width, d.bond*0.11)))
	for i := range int(n) + 1 {
		t := float64(i) / n
		at, half := from.add(along.scale(t)), across.scale(max(t, 0.1))
		lines = append(lines, []point{at.add(half), at.sub(half)})
	}
	p.lines(width, black, lines)
}

// drawHydrogen draws the hydrogen of a chiral atom where rings meet, at the end of a short wedge.
func (d *drawing) drawHydrogen(p *Picture, w wedge, size, width float64) {
	st := style{size: 0.85 * size, color: black, exact: true}
	from := d.pos[w.atom]
	direction := point{w.to.x, -w.to.y}
	at := from.add(direction.scale(d.bond * letterLength))
	half := point{st.measure("H") / 2, capHeight * st.size / 2}
	letter := []box{{at.x - half.x - 1, at.y - half.y - 1, at.x + half.x + 1, at.y + half.y + 1}}
	d.drawWedge(p, from, leave(at, from, letter), w.up, width)
	p.text(at.add(point{-half.x, half.y}), "H", st)
}

// dashes returns the pieces of a broken line.
func dashes(a, b point, on, off float64) (pieces [][]point) {
	along, length := b.sub(a).direction(), a.distance(b)
	for s := 0.0; s < length; s += on + off {
		pieces = append(pieces, []point{a.add(along.scale(s)), a.add(along.scale(min(s+on, length)))})
	}
	return pieces
}

// busierSide returns the side of a double bond in a chain where more neighbours are; 0
// when they are on both sides alike at both ends.
func (d *drawing) busierSide(b bond, normal point) float64 {
	sum, count := 0.0, 0
	for _, v := range []int{b.u, b.v} {
		for _, w := range d.g.Neighbors(v) {
			if s := d.pos[w].sub(d.pos[v]).direction().dot(normal); math.Abs(s) > 0.1 {
				sum += math.Copysign(1, s)
				count++
			}
		}
	}
	if count == 4 || count == 0 {
		return 0
	}
	return math.Copysign(1, sum)
}

// leave returns the point where the line from a to b has left all boxes that it meets near a.
func leave(a, b point, boxes []box) point {
	d := b.sub(a)
	t := 0.0
	for _, x := range boxes {
		// The line is between the sides for t in [lo, hi]; a line along a side has infinite ends.
		x0, x1 := (x.x0-a.x)/d.x, (x.x1-a.x)/d.x
		y0, y1 := (x.y0-a.y)/d.y, (x.y1-a.y)/d.y
		lo, hi := max(min(x0, x1), min(y0, y1), 0), min(max(x0, x1), max(y0, y1), 1)
		if lo < hi && lo < 0.5 {
			t = max(t, hi)
		}
	}
	return a.add(d.scale(t))
}
