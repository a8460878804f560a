package draw

import (
	"math"
	"slices"
)

// template is a ring skeleton that chemists always draw in the same way. Atoms with a
// position are put there; the others only have to be present. The rest of the ring system
// grows from there, and the molecule keeps the orientation.
type template struct {
	elements []string // "*" for any
	bonds    [][2]int
	pos      map[int]point
}

var templates = makeTemplates()

// makeTemplates builds the table, larger skeletons before those that they contain.
func makeTemplates() []template {
	s := math.Sqrt(3) / 2
	anything := func(n int) []string {
		e := make([]string, n)
		for i := range e {
			e[i] = "*"
		}
		return e
	}
	cycle := func(vs ...int) [][2]int {
		b := make([][2]int, len(vs))
		for i, v := range vs {
			b[i] = [2]int{v, vs[(i+1)%len(vs)]}
		}
		return b
	}
	join := func(parts ...[][2]int) [][2]int {
		var all [][2]int
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}

	// 6,7-benzomorphan: benzene (0–5), then 6 CH2, 7 CH–N, 8 CH, 9 the quaternary carbon, 10 and
	// 11 CH2, 12 N. The nitrogen bridge lies over the middle ring and leaves it to the right.
	benzomorphan := template{
		elements: append(anything(12), "N"),
		bonds:    join(cycle(0, 1, 2, 3, 4, 5), cycle(0, 6, 7, 8, 9, 1), [][2]int{{9, 10}, {10, 11}, {11, 12}, {12, 7}}),
		pos: map[int]point{0: {0, 1}, 1: {-s, 0.5}, 2: {-2 * s, 1}, 3: {-2 * s, 2}, 4: {-s, 2.5}, 5: {0, 2},
			6: {s, 0.5}, 7: {s, -0.5}, 8: {0, -1}, 9: {-s, -0.5}, 10: {0.16, 0}, 11: {1.52, 0}, 12: {1.76, -0.95}},
	}
	extend := func(t template, elements []string, bonds [][2]int, pos map[int]point) template {
		u := template{append(append([]string{}, t.elements...), elements...), join(t.bonds, bonds), map[int]point{}}
		for v, p := range t.pos {
			u.pos[v] = p
		}
		for v, p := range pos {
			u.pos[v] = p
		}
		return u
	}
	// Morphinan: a third ring 9, 13–16, 8; epoxymorphinan: an oxygen 17 in the bay; with the
	// bridge of two carbons over the third ring as in buprenorphine.
	morphinan := extend(benzomorphan, anything(4), [][2]int{{9, 13}, {13, 14}, {14, 15}, {15, 16}, {16, 8}},
		map[int]point{13: {-2 * s, -1}, 14: {-2 * s, -2}, 15: {-s, -2.5}, 16: {0, -2}})
	epoxymorphinan := extend(morphinan, []string{"O"}, [][2]int{{2, 17}, {13, 17}}, map[int]point{17: {-2.2, 0}})
	bridged := extend(epoxymorphinan, anything(2), [][2]int{{14, 18}, {18, 19}, {19, 8}}, map[int]point{18: {-1.1, -1.85}, 19: {-0.7, -1.15}})

	// Steroid: rings A to D with the numbers of chemists minus 1; the position is that of B.
	steroid := template{
		elements: anything(17),
		bonds:    join(cycle(0, 1, 2, 3, 4, 9), cycle(4, 5, 6, 7, 8, 9), cycle(7, 8, 10, 11, 12, 13), cycle(12, 13, 14, 15, 16)),
		pos:      map[int]point{9: {-s, 0.5}, 4: {-s, -0.5}, 5: {0, -1}, 6: {s, -0.5}, 7: {s, 0.5}, 8: {0, 1}},
	}
	// 1,4-benzodiazepine: benzene (0–5) on the left, N1 (6) above, C5 (10) below.
	benzodiazepine := template{
		elements: []string{"C", "C", "C", "C", "C", "C", "N", "C", "C", "N", "C"},
		bonds:    join(cycle(0, 1, 2, 3, 4, 5), cycle(0, 6, 7, 8, 9, 10, 1)),
		pos:      map[int]point{0: {s, 0.5}, 1: {s, -0.5}, 2: {0, -1}, 3: {-s, -0.5}, 4: {-s, 0.5}, 5: {0, 1}},
	}
	// Bicyclic β-lactam: the square on the left, its nitrogen (1) below on the fused bond.
	lactam := template{
		elements: []string{"C", "N", "C", "C", "*"},
		bonds:    join(cycle(0, 1, 2, 3), [][2]int{{0, 4}}),
		pos:      map[int]point{0: {0.5, 0.5}, 1: {0.5, -0.5}, 2: {-0.5, -0.5}, 3: {-0.5, 0.5}},
	}
	// Phenothiazine: three rings in a row, sulfur (0) above, nitrogen (3) below.
	hexagon := []point{{0, 1}, {s, 0.5}, {s, -0.5}, {0, -1}, {-s, -0.5}, {-s, 0.5}}
	phenothiazine := template{
		elements: append([]string{"S", "C", "C", "N", "C", "C"}, anything(8)...),
		bonds:    join(cycle(0, 1, 2, 3, 4, 5), cycle(1, 2, 6, 7, 8, 9), cycle(4, 5, 10, 11, 12, 13)),
		pos:      map[int]point{},
	}
	for i, p := range hexagon {
		phenothiazine.pos[i] = p
	}
	// Dibenzazepine and its kin: a ring of seven between two of six, the lone atom (0) below.
	tricycle := template{
		elements: anything(15),
		bonds:    join(cycle(0, 1, 2, 3, 4, 5, 6), cycle(1, 2, 7, 8, 9, 10), cycle(5, 6, 11, 12, 13, 14)),
		pos:      map[int]point{},
	}
	for i := range 7 {
		tricycle.pos[i] = polar(circumradius(7), -math.Pi/2+2*math.Pi*float64(i)/7)
	}
	// Quinoline: nitrogen (0) below in the right ring.
	quinoline := template{
		elements: append([]string{"N", "C", "C", "C", "C", "C"}, anything(4)...),
		bonds:    join(cycle(0, 1, 2, 3, 4, 5), cycle(4, 5, 6, 7, 8, 9)),
		pos:      map[int]point{0: hexagon[3], 1: hexagon[2], 2: hexagon[1], 3: hexagon[0], 4: hexagon[5], 5: hexagon[4]},
	}
	return []template{bridged, epoxymorphinan, morphinan, benzomorphan, steroid, benzodiazepine, lactam, phenothiazine, tricycle, quinoline}
}

// match finds the template in a ring system: for every atom of the template one of the
// system with the same element, bonded likewise. Atoms with more bonds are tried first.
func (t *template) match(adj adjacency, atoms []int, element []string) ([]int, bool) {
	if len(atoms) < len(t.elements) {
		return nil, false
	}
	inside := map[int]bool{}
	for _, v := range atoms {
		inside[v] = true
	}
	near := make([][]int, len(t.elements)) // earlier neighbours in the template
	for _, b := range t.bonds {
		lo, hi := min(b[0], b[1]), max(b[0], b[1])
		near[hi] = append(near[hi], lo)
	}
	image := make([]int, len(t.elements))
	used := map[int]bool{}
	steps := 0
	var extend func(i int) bool
	extend = func(i int) bool {
		if i == len(image) {
			return true
		}
		candidates := atoms
		if len(near[i]) > 0 {
			candidates = adj[image[near[i][0]]]
		}
		candidates = slices.Clone(candidates)
		slices.SortStableFunc(candidates, func(a, b int) int { return len(adj[b]) - len(adj[a]) })
		for _, v := range candidates {
			if steps++; steps > 50000 {
				return false
			}
			if !inside[v] || used[v] || t.elements[i] != "*" && t.elements[i] != element[v] {
				continue
			}
			good := true
			for _, j := range near[i] {
				good = good && adj.has(v, image[j])
			}
			if !good {
				continue
			}
			image[i], used[v] = v, true
			if extend(i + 1) {
				return true
			}
			used[v] = false
		}
		return false
	}
	return image, extend(0)
}

func (adj adjacency) has(v, w int) bool {
	return slices.Contains(adj[v], w)
}
