package chem

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Aromaticity is looked for in rings of at most maxRing atoms, and in systems of at most maxFused fused rings, of which
// at most maxSystems are tried.
const (
	maxRing    = 24
	maxFused   = 6
	maxSystems = 5000
)

// Aromaticity tells which atoms and bonds are aromatic. It goes by a Kekulé structure alone, so that the answer does not
// depend on how the molecule was written. A ring is aromatic if its atoms have 4n + 2 π electrons, and so is the rim of
// several fused rings, without the bonds that two of them share:
//
//	1 of an atom with a multiple bond in a ring, or to an atom that does not draw electrons
//	0 of an atom with a double bond to a more electronegative one outside of rings, and of C⁺
//	2 of an atom with single bonds and a lone pair
//
// An atom with none of these, and one with more than its usual valence, has no place in an aromatic ring; an unknown atom
// gives what is needed. This is the model of RDKit, as its manual tells it and its answers show. In a molecule that has no
// Kekulé structure what was written so is aromatic.
func (m *Molecule) Aromaticity() (atoms, bonds []bool) {
	orders, err := m.Kekule()
	if err != nil {
		_, atoms = m.pairs()
		bonds = make([]bool, len(m.Bonds))
		for i, b := range m.Bonds {
			bonds[i] = b.Order == Aromatic
		}
		return atoms, bonds
	}
	atoms, bonds = make([]bool, len(m.Atoms)), make([]bool, len(m.Bonds))
	ring := m.ringBonds()
	if !slices.Contains(ring, true) {
		return atoms, bonds
	}
	f := &rims{m: m, electrons: m.piElectrons(orders, ring), atoms: atoms, bonds: bonds}
	rings := m.smallRings(ring, f.electrons)
	near := fusedRings(rings)
	for _, system := range fusedSystems(near) {
		f.mark(rings, near, system)
	}
	return atoms, bonds
}

// anyElectrons is what an unknown atom gives to an aromatic ring: 0, 1 or 2, as the ring needs.
const anyElectrons = 3

// piElectrons returns what each atom would give to an aromatic ring, −1 where it cannot be in one.
func (m *Molecule) piElectrons(orders []Order, ring []bool) []int {
	out := make([]int, len(m.Atoms))
	adj := m.adjacency()
	unpaired := m.Unpaired(orders)
	for i, a := range m.Atoms {
		near := adj.at(int32(i))
		multiple, inside, steals, pairs := 0, false, false, max(a.Hydrogens, 0)
		for _, e := range near {
			if pairs += orders[e].sigma(); orders[e] > Single {
				multiple++
				inside = inside || ring[e]
				steals = steals || outer[m.Atoms[m.Bonds[e].other(int32(i))].Element] > outer[a.Element]
			}
		}
		electrons := outer[a.Element] - int(a.Charge)
		valence := min(electrons, 8-electrons)
		switch degree := len(near) + max(a.Hydrogens, 0); {
		case a.Element == 0:
			out[i] = anyElectrons
		case outer[a.Element] == 0 || a.Element == 33, degree > 3, multiple > 1, pairs > valence, // as in sulfones and allenes
			unpaired[i] > 0 && (a.Element != carbon || a.Charge != 0):
			out[i] = -1
		case a.Element == carbon && a.Charge == 1:
			out[i] = 2 * multiple // an empty orbital, or what RDKit counts of a vinyl cation
		case multiple == 1 && (inside || !steals):
			out[i] = 1
		case multiple == 1:
			out[i] = 0
		case electrons-pairs >= 2:
			out[i] = 2
		default:
			out[i] = -1
		}
	}
	return out
}

// outer are the numbers of outer electrons of the elements that have a place in rings, or beside them on a double bond.
var outer = map[uint8]int{boron: 3, carbon: 4, 14: 4, nitrogen: 5, phosphorus: 5, 33: 5, oxygen: 6, sulfur: 6, 34: 6, 52: 6}

// smallRing is a ring of atoms that may be aromatic.
type smallRing struct{ atoms, bonds []int32 }

// rims looks for aromatic rims in systems of rings.
type rims struct {
	m            *Molecule
	electrons    []int
	atoms, bonds []bool // what was found
}

// fusedRings returns for every ring those that share exactly one bond with it.
func fusedRings(rings []*smallRing) [][]int {
	with := map[int32][]int{} // by bond
	for i, r := range rings {
		for _, b := range r.bonds {
			with[b] = append(with[b], i)
		}
	}
	near := make([][]int, len(rings))
	for i, r := range rings {
		shared := map[int]int{}
		for _, b := range r.bonds {
			for _, other := range with[b] {
				shared[other]++
			}
		}
		for other, n := range shared {
			if n == 1 && other != i {
				near[i] = append(near[i], other)
			}
		}
		slices.Sort(near[i])
	}
	return near
}

// fusedSystems returns the systems of fused rings.
func fusedSystems(near [][]int) [][]int {
	seen := make([]bool, len(near))
	var out [][]int
	for start := range near {
		if seen[start] {
			continue
		}
		seen[start] = true
		system := []int{start}
		for k := 0; k < len(system); k++ {
			for _, next := range near[system[k]] {
				if !seen[next] {
					seen[next] = true
					system = append(system, next)
				}
			}
		}
		slices.Sort(system)
		out = append(out, system)
	}
	return out
}

// mark marks the rims of one ring, of two, and so on, until every bond of the system is aromatic.
func (f *rims) mark(rings []*smallRing, near [][]int, system []int) {
	left := map[int32]bool{}
	sets := make([][]int, 0, len(system))
	for _, r := range system {
		sets = append(sets, []int{r})
		for _, b := range rings[r].bonds {
			left[b] = true
		}
	}
	tried := 0
	for size := 1; ; size++ {
		for _, s := range sets {
			f.rim(rings, s, left)
		}
		if size == min(maxFused, len(system)) || len(left) == 0 {
			return
		}
		known := map[string]bool{}
		var larger [][]int
		for _, s := range sets {
			for _, x := range s {
				for _, r := range near[x] {
					if tried > maxSystems || slices.Contains(s, r) {
						continue
					}
					t := append(slices.Clone(s), r)
					slices.Sort(t)
					if key := setKey(t); !known[key] {
						known[key], larger = true, append(larger, t)
						tried++
					}
				}
			}
		}
		sets = larger
	}
}

// setKey returns a text that names some rings.
func setKey(numbers []int) string {
	var b []byte
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}

// rim marks the bonds that exactly one of some rings has, if they are aromatic.
func (f *rims) rim(rings []*smallRing, set []int, left map[int32]bool) {
	count := map[int32]int{}
	for _, r := range set {
		for _, b := range rings[r].bonds {
			count[b]++
		}
	}
	maps.DeleteFunc(count, func(_ int32, n int) bool { return n != 1 })
	electrons := map[int32]int{}
	for b := range count {
		x := f.m.Bonds[b]
		electrons[x.A], electrons[x.B] = f.electrons[x.A], f.electrons[x.B]
	}
	sum, unknown := 0, 0
	for _, n := range electrons {
		if n == anyElectrons {
			unknown++
		} else {
			sum += n
		}
	}
	if missing := (6 - sum%4) % 4; unknown == len(electrons) || missing > 2*unknown {
		return
	}
	for b := range count {
		x := f.m.Bonds[b]
		f.bonds[b], f.atoms[x.A], f.atoms[x.B] = true, true, true
		delete(left, b)
	}
}

// smallRings returns the shortest rings through each bond whose atoms all can be aromatic.
func (m *Molecule) smallRings(ring []bool, electrons []int) []*smallRing {
	adj := m.adjacency()
	var out []*smallRing
	known := map[[maxRing]int32]bool{} // by bonds
	distance := make([]int32, len(m.Atoms))
	for start, b := range m.Bonds {
		if !ring[start] || electrons[b.A] < 0 || electrons[b.B] < 0 {
			continue
		}
		for _, r := range m.shortest(adj, int32(start), ring, distance) {
			if slices.ContainsFunc(r.atoms, func(a int32) bool { return electrons[a] < 0 }) {
				continue
			}
			slices.Sort(r.bonds)
			var key [maxRing]int32
			copy(key[:], r.bonds)
			if !known[key] {
				known[key], out = true, append(out, r)
			}
		}
	}
	return out
}

// shortest returns the shortest rings through a bond: paths from one end back to the other, along atoms that are nearer to
// it with every step. Of more than some only the first are returned. distance, by atom, is zero before and after.
func (m *Molecule) shortest(adj adjacency, start int32, ring []bool, distance []int32) (out []*smallRing) {
	const most = 16
	from, to := m.Bonds[start].A, m.Bonds[start].B
	queue := []int32{to}
	distance[to] = 1
	defer func() {
		for _, a := range queue {
			distance[a] = 0
		}
	}()
	for k := 0; k < len(queue) && distance[from] == 0; k++ {
		at := queue[k]
		if distance[at] == maxRing {
			return nil
		}
		for _, e := range adj.at(at) {
			next := m.Bonds[e].other(at)
			if e == start || !ring[e] || distance[next] > 0 {
				continue
			}
			distance[next] = distance[at] + 1
			queue = append(queue, next)
		}
	}
	var walk func(at int32, r smallRing)
	walk = func(at int32, r smallRing) {
		r.atoms = append(slices.Clip(r.atoms), at)
		if at == to {
			out = append(out, &r)
			return
		}
		for _, e := range adj.at(at) {
			next := m.Bonds[e].other(at)
			nearer := distance[next] > 0 && distance[next] == distance[at]-1
			if e != start && ring[e] && len(out) < most && nearer {
				walk(next, smallRing{r.atoms, append(slices.Clip(r.bonds), e)})
			}
		}
	}
	if distance[from] > 0 {
		walk(from, smallRing{bonds: []int32{start}})
	}
	return out
}
