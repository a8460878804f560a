package draw

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/dataset/chem"
)

const (
	smallestTrans = 8  // the size from which a ring can have a trans double bond
	largeRing     = 10 // the size from which a ring is folded, and not a regular polygon
)

// dents returns the places in a large ring of the atoms that are drawn into it: one end of each trans
// double bond and, with fold, as many others without neighbours outside of the ring as let all angles be
// 120 degrees, at even distances. Fewer than half as many are left out.
func (b *block) dents(ring []int, fold bool) []int {
	n := len(ring)
	var in []int
	barred := make([]bool, n)
	for i, v := range ring {
		next := (i + 1) % n
		barred[i] = barred[i] || len(b.adj[v]) > 2
		k := b.m.between(v, ring[next])
		if k < 0 || b.m.bonds[k].order < 2 {
			continue
		}
		barred[i], barred[next] = true, true
		switch more := len(b.adj[v]) - len(b.adj[ring[next]]); {
		case !b.trans(ring, i, k):
		case more > 0 || more == 0 && slices.Contains(in, (i+n-1)%n):
			in = append(in, next)
		default:
			in = append(in, i)
		}
	}
	most := (n-6)/2 - len(in)
	for k := most; fold && k >= max(1, most/2); k-- {
		best, least := []int(nil), math.Inf(1)
		for offset := range n {
			even := slices.Clone(in)
			for j := range k {
				i := (offset + j*n/k) % n
				if barred[i] || slices.ContainsFunc(even, func(o int) bool { return min((i-o+n)%n, (o-i+n)%n) < 2 }) {
					break
				}
				even = append(even, i)
			}
			if len(even) < len(in)+k {
				continue
			}
			if gap := ringWalk(n, even)[n].norm(); gap < least-1e-6 {
				best, least = even, gap
			}
		}
		if best != nil {
			return best
		}
	}
	return in
}

// ringWalk returns the way around a ring of n sides of length 1 with equal turns to one side, and to the
// other at dents. It does not always end where it begins.
func ringWalk(n int, dents []int) []point {
	turn := 2 * math.Pi / float64(n-2*len(dents))
	walk := make([]point, n+1)
	heading := 0.0
	for i := range n {
		if slices.Contains(dents, i) {
			heading -= turn
		} else {
			heading += turn
		}
		walk[i+1] = walk[i].add(polar(1, heading))
	}
	return walk
}

// trans reports whether the ring passes through the double bond k, after its atom i, on opposite sides.
func (b *block) trans(ring []int, i, k int) bool {
	n := len(ring)
	c := b.m.bonds[k]
	if c.sides == chem.AnySide {
		return false
	}
	opposite := c.sides == chem.OppositeSides
	for _, end := range [][2]int{{ring[i], ring[(i+n-1)%n]}, {ring[(i+1)%n], ring[(i+2)%n]}} {
		for _, w := range b.adj[end[0]] { // the sides are those of the lowest neighbour
			if w != c.other(end[0]) && w < end[1] {
				opposite = !opposite
			}
		}
	}
	return opposite
}

// loop places a block that is one ring, if the ring has dents: as a regular polygon where only trans double
// bonds make them, else as a walk. What is missing where a walk should close is spread over its atoms.
func (b *block) loop(pos []point) bool {
	ring := b.rings[0]
	n := len(ring)
	if n < smallestTrans {
		return false
	}
	at := b.dents(ring, n >= largeRing)
	if trans := len(b.dents(ring, false)); len(at) == trans {
		dented(pos, ring, at)
		return trans > 0
	}
	walk := ringWalk(n, at)
	for i, v := range ring {
		pos[v] = walk[i].sub(walk[n].scale(float64(i) / float64(n)))
	}
	second := 2 * math.Cos(math.Pi/float64(n-2*len(at))) // distance of the neighbours of an atom
	for range 2000 {
		for i := range n {
			pull(&pos[ring[i]], &pos[ring[(i+2)%n]], second, 0.2)
		}
		for i := range n {
			pull(&pos[ring[i]], &pos[ring[(i+1)%n]], 1, 0.5)
		}
		for _, i := range at { // a dent stays one
			before, v, after := pos[ring[(i+n-1)%n]], pos[ring[i]], pos[ring[(i+1)%n]]
			if v.sub(before).cross(after.sub(v)) > 0 {
				pos[ring[i]] = v.reflect(before, after)
			}
		}
	}
	return true
}

// dent pushes an end of each double bond that is trans in a large ring into the ring.
func (b *block) dent(pos []point, inner [][]int) {
	for _, face := range inner {
		if len(face) < largeRing {
			continue
		}
		dented(pos, face, b.dents(face, false))
	}
}

// dented mirrors atoms of a ring at the line between their neighbours.
func dented(pos []point, ring, at []int) {
	n := len(ring)
	for _, i := range at {
		pos[ring[i]] = pos[ring[i]].reflect(pos[ring[(i+n-1)%n]], pos[ring[(i+1)%n]])
	}
}
