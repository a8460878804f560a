package draw

import (
	"maps"
	"math"
	"slices"
)

// pattern is a ring skeleton that chemists always draw in the same way. Atoms with a
// position are put there; the others only have to be present. The rest of the ring system
// grows from there, and the molecule keeps the orientation.
type pattern struct {
	elements string  // a letter for each atom, '*' for any element
	rings    [][]int // every bond is in one
	pos      map[int]point

	over  bool // not regular on purpose: a bridge passes over a ring
	loose bool // the positions are a start, to be relaxed; rings are the faces
	bare  int  // of a loose pattern: an atom without a branch, only ends may hang on it
}

// patterns has larger skeletons before those that they contain.
var patterns = slices.Concat(morphinans(), []pattern{
	// Steroid: rings A to D with the numbers of chemists minus 1; the position is that of B.
	{elements: "*****************",
		rings: [][]int{{0, 1, 2, 3, 4, 9}, {4, 5, 6, 7, 8, 9}, {7, 8, 10, 11, 12, 13}, {12, 13, 14, 15, 16}},
		pos:   regular(150, 9, 4, 5, 6, 7, 8)},
	// 1,4-benzodiazepine: benzene (0–5) on the left, N1 (6) above, C5 (10) below.
	{elements: "CCCCCCNCCNC", rings: [][]int{{0, 1, 2, 3, 4, 5}, {0, 6, 7, 8, 9, 10, 1}}, pos: regular(30, 0, 5, 4, 3, 2, 1)},
	// Bicyclic β-lactam: the square on the left, its nitrogen (1) below on the fused bond.
	{elements: "CNCC*", rings: [][]int{{0, 1, 2, 3}, {0, 4}}, pos: regular(45, 0, 3, 2, 1)},
	// Phenothiazine: three rings in a row, sulfur (0) above, nitrogen (3) below.
	{elements: "SCCNCC********", rings: [][]int{{0, 1, 2, 3, 4, 5}, {1, 2, 6, 7, 8, 9}, {4, 5, 10, 11, 12, 13}},
		pos: regular(90, 0, 5, 4, 3, 2, 1)},
	// Dibenzazepine and its kin: a ring of seven between two of six, the lone atom (0) below.
	{elements: "***************", rings: [][]int{{0, 1, 2, 3, 4, 5, 6}, {1, 2, 7, 8, 9, 10}, {5, 6, 11, 12, 13, 14}},
		pos: regular(270, 0, 1, 2, 3, 4, 5, 6)},
	// Quinoline: nitrogen (0) below in the right ring.
	{elements: "NCCCCC****", rings: [][]int{{0, 1, 2, 3, 4, 5}, {4, 5, 6, 7, 8, 9}}, pos: regular(270, 0, 1, 2, 3, 4, 5)},
})

// regular places atoms on a regular polygon with sides of length 1, against the clock, the first in
// a direction in degrees.
func regular(degrees float64, atoms ...int) map[int]point {
	pos, n := map[int]point{}, float64(len(atoms))
	for i, v := range atoms {
		pos[v] = polar(0.5/math.Sin(math.Pi/n), degrees*math.Pi/180+2*math.Pi*float64(i)/n)
	}
	return pos
}

// morphinans returns the skeletons of opioids. The smallest is 6,7-benzomorphan: benzene (0–5), then
// 6 CH2, 7 CH–N, 8 CH, 9 the quaternary carbon, 10 and 11 CH2, 12 N. Morphinan has a third ring 9, 13–16, 8;
// epoxymorphinan an oxygen 17 in the bay; buprenorphine a bridge of two carbons (18, 19) over the third ring.
//
// In benzomorphan atom 8 lies in the middle of a ring of eight, and the nitrogen outside. In the others the third ring
// is there. A nitrogen with no more than a methyl group lies in the middle ring then, and no bonds cross. A larger group has
// no room in it, so that the bridge passes over that ring, as chemists draw it, and leaves it to the right.
func morphinans() (all []pattern) {
	s := math.Sqrt(3) / 2
	rings := [][]int{{0, 1, 2, 3, 4, 5}, {0, 6, 7, 8, 9, 1}, {7, 8, 9, 10, 11, 12}, {8, 9, 13, 14, 15, 16},
		{1, 2, 17, 13, 9}, {8, 16, 15, 14, 18, 19}}
	over := []point{{0, 1}, {-s, 0.5}, {-2 * s, 1}, {-2 * s, 2}, {-s, 2.5}, {0, 2},
		{s, 0.5}, {s, -0.5}, {0, -1}, {-s, -0.5}, {0.16, 0}, {1.52, 0}, {1.76, -0.95},
		{-2 * s, -1}, {-2 * s, -2}, {-s, -2.5}, {0, -2}, {-2.2, 0}, {-1.1, -1.85}, {-0.7, -1.15}}
	faces := slices.Clone(rings[:5])
	faces[1] = []int{0, 6, 7, 12, 11, 10, 9, 1}
	within := []point{{0.3, 1.2}, {-0.7, 0.5}, {-1.6, 0.9}, {-1.7, 1.9}, {-1, 2.5}, {-0.1, 2.1},
		{1.5, 0.6}, {1.7, -0.7}, {0.5, -1.1}, {-0.9, -0.8}, {-0.3, -0.3}, {0.4, -0.3}, {1.2, -0.2},
		{-1.9, -0.9}, {-1.8, -1.9}, {-1, -2.5}, {-0.1, -2}, {-2.2, 0.1}}
	for _, size := range []struct{ atoms, rings int }{{20, 6}, {18, 5}, {17, 4}} {
		elements := "************N****O**"[:size.atoms]
		if size.atoms <= len(within) {
			pos := maps.Collect(slices.All(within[:size.atoms]))
			all = append(all, pattern{elements: elements, rings: faces[:size.rings], pos: pos, loose: true, bare: 12})
		}
		pos := maps.Collect(slices.All(over[:size.atoms]))
		all = append(all, pattern{elements: elements, rings: rings[:size.rings], pos: pos, over: true})
	}
	around := []point{{0, 1}, {-s, 0.5}, {-2 * s, 1}, {-2 * s, 2}, {-s, 2.5}, {0, 2},
		{0.95, 0.8}, {1.5, 0}, {0.3, -0.3}, {-s, -0.5}, {-0.4, -1.4}, {0.6, -1.6}, {1.4, -1}}
	pos := maps.Collect(slices.All(around))
	return append(all, pattern{elements: "************N", rings: rings[:3], pos: pos, loose: true, bare: 8})
}

// faces returns the rings of the pattern in a molecule.
func (t *pattern) faces(image []int) (rings [][]int) {
	for _, ring := range t.rings {
		rings = append(rings, selected(image, ring))
	}
	return rings
}

// maxMatchSteps bounds the search for a pattern in a ring system.
const maxMatchSteps = 50000

// match finds the pattern in a ring system: for every atom of the pattern one of the
// system with the same element, bonded likewise. Atoms with more bonds are tried first.
func (t *pattern) match(adj adjacency, atoms []int, m *molecule) ([]int, bool) {
	near := make([][]int, len(t.elements)) // earlier neighbours in the pattern
	for _, ring := range t.rings {
		for i, v := range ring {
			w := ring[(i+1)%len(ring)]
			near[max(v, w)] = append(near[max(v, w)], min(v, w))
		}
	}
	var image []int
	steps := 0
	fits := func(v int) bool {
		i := len(image)
		if t.elements[i] != '*' && t.elements[i:i+1] != m.atoms[v].symbol || slices.Contains(image, v) || !slices.Contains(atoms, v) {
			return false
		}
		return !slices.ContainsFunc(near[i], func(j int) bool { return !slices.Contains(adj[v], image[j]) })
	}
	var extend func() bool
	extend = func() bool {
		if len(image) == len(t.elements) {
			return true
		}
		candidates := atoms
		if n := near[len(image)]; len(n) > 0 {
			candidates = adj[image[n[0]]]
		}
		candidates = slices.Clone(candidates)
		slices.SortStableFunc(candidates, func(a, b int) int { return len(adj[b]) - len(adj[a]) })
		for _, v := range candidates {
			if steps++; steps > maxMatchSteps {
				return false
			}
			if fits(v) {
				image = append(image, v)
				if extend() {
					return true
				}
				image = image[:len(image)-1]
			}
		}
		return false
	}
	ok := len(atoms) >= len(t.elements) && extend()
	if ok && t.loose {
		ok = !slices.ContainsFunc(adj[image[t.bare]], func(w int) bool { return !slices.Contains(image, w) && len(adj[w]) > 1 })
	}
	return image, ok
}
