package draw

import (
	"maps"
	"slices"
)

// embedding is the faces of a drawing on a sphere, without crossings, of a part of a block. Each is a cycle.
type embedding struct {
	faces [][]int
	drawn map[int]bool    // atoms
	bonds map[[2]int]bool // lower atom first
}

// keptEmbeddings bounds the partial drawings that are looked at.
const keptEmbeddings = 100

// embeddings returns the faces of drawings of the block without crossings, none if there is no such drawing. Drawings
// whose faces are even, but for the largest, come first, and in each the large faces.
//
// A drawing begins with a ring. Then it gets ways through what is not drawn yet, one after the other, each in every face
// that has room for it (Demoucron, Malgrange and Pertuiset 1964). If the block is planar, all choices lead to a drawing.
func (b *block) embeddings() (all [][][]int) {
	ring := b.rings[0]
	start := embedding{faces: [][]int{ring, ring}, drawn: map[int]bool{}, bonds: map[[2]int]bool{}}
	start.mark(append(slices.Clone(ring), ring[0]))
	kept := []embedding{start}
	for len(kept) > 0 && len(kept[0].bonds) < len(b.edges) {
		var next []embedding
		for _, e := range kept {
			next = append(next, b.extend(e)...)
		}
		slices.SortStableFunc(next, func(x, y embedding) int { return x.unevenness() - y.unevenness() })
		kept = next[:min(keptEmbeddings, len(next))]
	}
	for _, e := range kept {
		slices.SortStableFunc(e.faces, func(f, g []int) int { return len(g) - len(f) })
		all = append(all, e.faces)
	}
	return all
}

// extend returns the embeddings that have one more way: through the fragment that fits into the fewest faces.
func (b *block) extend(e embedding) (all []embedding) {
	var way, into []int
	for i, f := range b.fragments(e) {
		var fits []int
		for k, face := range e.faces {
			if shared(f.ends, face) == len(f.ends) {
				fits = append(fits, k)
			}
		}
		if i == 0 || len(fits) < len(into) {
			way, into = b.way(f), fits
		}
	}
	if len(e.faces) == 2 {
		into = into[:1] // the other face has the mirror image
	}
	for _, k := range into {
		all = append(all, e.split(k, way))
	}
	return all
}

// fragment is what is connected of a block beside a drawn part: one bond, or atoms with all their bonds.
type fragment struct {
	atoms []int // none for a bond
	ends  []int // atoms of the drawn part
}

// fragments returns what is not drawn.
func (b *block) fragments(e embedding) (all []fragment) {
	for _, bond := range b.edges {
		if e.drawn[bond[0]] && e.drawn[bond[1]] && !e.bonds[bond] {
			all = append(all, fragment{ends: bond[:]})
		}
	}
	seen := map[int]bool{}
	for _, v := range b.atoms {
		if e.drawn[v] || seen[v] {
			continue
		}
		f := fragment{atoms: []int{v}}
		seen[v] = true
		for i := 0; i < len(f.atoms); i++ {
			for _, w := range b.near[f.atoms[i]] {
				if e.drawn[w] && !slices.Contains(f.ends, w) {
					f.ends = append(f.ends, w)
				}
				if !e.drawn[w] && !seen[w] {
					f.atoms, seen[w] = append(f.atoms, w), true
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// way returns a shortest way through a fragment from one of its ends to another, with both.
func (b *block) way(f fragment) []int {
	if f.atoms == nil {
		return f.ends
	}
	from := map[int]int{f.ends[0]: -1}
	for queue := f.ends[:1:1]; ; queue = queue[1:] {
		v := queue[0]
		if v != f.ends[0] && slices.Contains(f.ends, v) {
			var way []int
			for ; v >= 0; v = from[v] {
				way = append(way, v)
			}
			return way
		}
		for _, w := range b.near[v] {
			inside := slices.Contains(f.atoms, w)
			if _, seen := from[w]; !seen && (inside || v != f.ends[0] && slices.Contains(f.ends, w)) {
				from[w] = v
				queue = append(queue, w)
			}
		}
	}
}

// split returns the embedding with a way through its face k.
func (e embedding) split(k int, way []int) embedding {
	face, n := e.faces[k], len(way)
	at := slices.Index(face, way[0])
	face = slices.Concat(face[at:], face[:at])
	to := slices.Index(face, way[n-1])
	back := slices.Clone(way[1 : n-1])
	there := slices.Clone(back)
	slices.Reverse(back)
	left := slices.Concat(face[:to+1], back)
	right := slices.Concat(face[to:], face[:1], there)
	next := embedding{faces: slices.Clone(e.faces), drawn: maps.Clone(e.drawn), bonds: maps.Clone(e.bonds)}
	next.faces[k] = left
	next.faces = append(next.faces, right)
	next.mark(way)
	return next
}

// mark notes the atoms and bonds of a way as drawn.
func (e embedding) mark(way []int) {
	for i, v := range way {
		e.drawn[v] = true
		if i > 0 {
			e.bonds[[2]int{min(v, way[i-1]), max(v, way[i-1])}] = true
		}
	}
}

// unevenness is how far all faces but the largest are from rings of six.
func (e embedding) unevenness() (sum int) {
	largest := 0
	for _, f := range e.faces {
		sum += (len(f) - 6) * (len(f) - 6)
		largest = max(largest, len(f))
	}
	return sum - (largest-6)*(largest-6)
}
