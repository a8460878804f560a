package draw

import (
	"math"
	"strconv"
)

// box is a rectangle that bonds do not enter.
type box struct{ x0, y0, x1, y1 float64 }

// run is a piece of the text of an atom.
type run struct {
	at   point // of the baseline
	s    string
	size float64
}

// atomText is the text of an atom, and the room it takes.
type atomText struct {
	runs  []run
	boxes []box
}

// capHeight is the height of capitals in the fonts, for a size of 1.
const capHeight = 0.72

// molecule draws bonds as lines and atoms other than carbon as letters.
func (d *drawing) molecule(p *Picture) {
	size := min(max(d.unit*0.46, 5), 16)
	texts := make([]atomText, len(d.pos))
	for v := range d.pos {
		if d.m.shown(v) {
			texts[v] = d.label(v, size)
		}
	}
	for _, v := range d.o.Highlight {
		if d.o.Values == nil {
			p.disc(d.pos[v], d.unit*0.42, Color{0xff, 0xd9, 0x66, 255})
		} else {
			p.disc(d.pos[v], d.unit*0.52, black)
		}
	}
	if d.o.Values != nil {
		for v := range d.pos {
			p.ring(d.pos[v], d.unit*0.44, max(d.unit*0.03, 0.4), d.valueColor(v), pale)
		}
	}
	width := min(max(d.unit*0.055, 0.6), 2)
	inside := d.ringCenters()
	for k, b := range d.m.bonds {
		if d.over(k) {
			// A bond that passes over another interrupts it.
			a, c := d.pos[b.u], d.pos[b.v]
			cut := c.sub(a).scale(0.15)
			p.line(5*width, white, a.add(cut), c.sub(cut))
		}
		d.bond(p, b, texts, width, inside[k])
	}
	for v, t := range texts {
		color, known := elements[d.m.atoms[v].symbol]
		if !known || d.o.Values != nil {
			color = black
		}
		for _, r := range t.runs {
			p.text(r.at, r.s, style{size: r.size, color: color, exact: true})
		}
		if d.o.Numbers {
			p.text(d.pos[v].add(point{d.unit * 0.16, d.unit * 0.36}), strconv.Itoa(v), style{size: max(size*0.6, 6), color: gray})
		}
	}
}

// over reports whether bond k crosses one that is drawn before it.
func (d *drawing) over(k int) bool {
	const most = 500 // bonds of a drawing where it matters
	if len(d.m.bonds) > most {
		return false
	}
	b := d.m.bonds[k]
	for _, c := range d.m.bonds[:k] {
		if b.u != c.u && b.u != c.v && b.v != c.u && b.v != c.v && crossing(d.pos[b.u], d.pos[b.v], d.pos[c.u], d.pos[c.v]) {
			return true
		}
	}
	return false
}

// label sets the text of an atom: the symbol on the atom, hydrogens and charge on a side
// where no bond is.
func (d *drawing) label(v int, size float64) atomText {
	a := d.m.atoms[v]
	at := d.pos[v]
	small := size * 0.72
	w := measure(a.symbol, size, false)
	h := capHeight * size
	pad := size * 0.16
	var t atomText
	base := at.y + h/2
	put := func(x, y, size float64, s string) float64 {
		w := measure(s, size, false)
		t.runs = append(t.runs, run{point{x, y}, s, size})
		t.boxes = append(t.boxes, box{x - pad, y - capHeight*size - pad, x + w + pad, y + pad})
		return x + w
	}
	put(at.x-w/2, base, size, a.symbol)
	right, left := at.x+w/2, at.x-w/2
	if a.hydrogens > 0 {
		count := ""
		if a.hydrogens > 1 {
			count = strconv.Itoa(a.hydrogens)
		}
		hw := measure("H", size, false)
		cw := measure(count, small, false)
		switch side := d.freeSide(v); side {
		case 0: // right
			right = put(right, base, size, "H")
			if count != "" {
				right = put(right, base+size*0.22, small, count)
			}
		case 1: // left
			x := left - cw - hw
			put(x, base, size, "H")
			if count != "" {
				put(x+hw, base+size*0.22, small, count)
			}
		default:
			y := base - h - size*0.22
			if side == 3 {
				y = base + h + size*0.22
			}
			x := put(at.x-hw/2, y, size, "H")
			if count != "" {
				put(x, y+size*0.22, small, count)
			}
		}
	}
	if a.charge != "" {
		put(right+size*0.04, base-h*0.62, small, a.charge)
	}
	return t
}

// freeSide returns the side of v without bonds: 0 right, 1 left, 2 above, 3 below.
func (d *drawing) freeSide(v int) int {
	if len(d.m.at[v]) == 0 {
		return 0
	}
	best, bestCost := 0, math.Inf(1)
	for side, dir := range []point{{1, 0}, {-1, 0}, {0, -1}, {0, 1}} {
		cost := 0.0
		for _, k := range d.m.at[v] {
			u := d.pos[d.m.bonds[k].other(v)].sub(d.pos[v]).unit()
			cost = max(cost, u.dot(dir))
		}
		// Beside the symbol is better than above it while no bond comes near.
		limit := 0.6
		if side >= 2 {
			limit = 0.75
		}
		if cost <= limit {
			cost = float64(side) * 0.01
		} else {
			cost += 1
		}
		if cost < bestCost {
			best, bestCost = side, cost
		}
	}
	return best
}

// ringCenters returns for every bond the centre of the ring that a second line lies in, nil
// for a bond in no ring: the ring with most double bonds, the smaller of equals.
func (d *drawing) ringCenters() []*point {
	adj := make(adjacency, len(d.m.atoms))
	for v := range adj {
		for _, k := range d.m.at[v] {
			adj[v] = append(adj[v], d.m.bonds[k].other(v))
		}
	}
	centers := make([]*point, len(d.m.bonds))
	systems, ok := adj.ringSystems()
	if !ok {
		return centers
	}
	score := make([]float64, len(d.m.bonds))
	for _, s := range systems {
		for _, ring := range s.rings {
			var c point
			for _, v := range ring {
				c = c.add(d.pos[v].scale(1 / float64(len(ring))))
			}
			var members []int
			doubles := 0.0
			for i, v := range ring {
				for _, k := range d.m.at[v] {
					if d.m.bonds[k].other(v) == ring[(i+1)%len(ring)] {
						members = append(members, k)
						if d.m.bonds[k].order > 1 {
							doubles++
						}
					}
				}
			}
			for _, k := range members {
				if sc := 1 + doubles/float64(len(ring)) - 0.001*float64(len(ring)); sc > score[k] {
					score[k], centers[k] = sc, &c
				}
			}
		}
	}
	return centers
}

// bond draws one bond between the texts of its atoms.
func (d *drawing) bond(p *Picture, b bond, texts []atomText, width float64, center *point) {
	a, c := d.pos[b.u], d.pos[b.v]
	dir := c.sub(a).unit()
	normal := dir.left()
	gap := d.unit * 0.13
	line := func(shift, cut float64, broken bool) {
		from, to := a.add(normal.scale(shift)), c.add(normal.scale(shift))
		if cut > 0 {
			if len(texts[b.u].runs) == 0 && len(d.m.at[b.u]) > 1 {
				from = from.add(dir.scale(cut))
			}
			if len(texts[b.v].runs) == 0 && len(d.m.at[b.v]) > 1 {
				to = to.sub(dir.scale(cut))
			}
		}
		from, to = leave(from, to, texts[b.u].boxes), leave(to, from, texts[b.v].boxes)
		if to.sub(from).dot(dir) <= 0 {
			return
		}
		if broken {
			p.dashes(width, black, from, to, d.unit*0.12, d.unit*0.1)
			return
		}
		p.line(width, black, from, to)
	}
	switch {
	case b.aromatic, b.order == 2:
		side := 0.0
		switch {
		case center != nil:
			side = math.Copysign(1, center.sub(a).dot(normal))
		case len(d.m.at[b.u]) > 1 && len(d.m.at[b.v]) > 1:
			side = d.busierSide(b, normal)
		}
		if side == 0 {
			line(gap/2, 0, false)
			line(-gap/2, 0, b.aromatic)
			return
		}
		line(0, 0, false)
		line(side*gap, d.unit*0.13, b.aromatic)
	case b.order == 3, b.order == 4:
		line(0, 0, false)
		line(gap, 0, false)
		line(-gap, 0, false)
		if b.order == 4 {
			line(2*gap, 0, false)
		}
	default:
		line(0, 0, false)
	}
}

// busierSide returns the side of a double bond in a chain where more neighbours are; 0
// when they are on both sides alike at both ends.
func (d *drawing) busierSide(b bond, normal point) float64 {
	left, right := 0, 0
	for _, v := range []int{b.u, b.v} {
		for _, k := range d.m.at[v] {
			w := d.m.bonds[k].other(v)
			if w == b.u || w == b.v {
				continue
			}
			if s := d.pos[w].sub(d.pos[v]).unit().dot(normal); s > 0.1 {
				left++
			} else if s < -0.1 {
				right++
			}
		}
	}
	switch {
	case left+right == 4 || left+right == 0:
		return 0
	case right > left:
		return -1
	}
	return 1
}

// leave returns the point where the line from a to b has left all boxes that it meets near a.
func leave(a, b point, boxes []box) point {
	d := b.sub(a)
	t := 0.0
	for _, x := range boxes {
		lo, hi := 0.0, 1.0
		for _, axis := range [2][4]float64{{a.x, d.x, x.x0, x.x1}, {a.y, d.y, x.y0, x.y1}} {
			if math.Abs(axis[1]) < 1e-12 {
				if axis[0] < axis[2] || axis[0] > axis[3] {
					lo, hi = 1, 0
				}
				continue
			}
			t0, t1 := (axis[2]-axis[0])/axis[1], (axis[3]-axis[0])/axis[1]
			lo, hi = max(lo, min(t0, t1)), min(hi, max(t0, t1))
		}
		if lo < hi && hi > t && lo < 0.5 {
			t = hi
		}
	}
	return a.add(d.scale(t))
}
