package chem

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// Bounds of the search for aromaticity: atoms of a ring (maxRing), bonds of the search for rings
// (maxLooked), fused rings of a system (maxFused), and systems that are tried (maxSystems).
const (
	maxRing    = 24
	maxLooked  = 1 << 12
	maxFused   = 6
	maxSystems = 5000
	maxShared  = 64
)

// Aromaticity returns which atoms and bonds are aromatic. It uses a Kekulé structure only. So the
// answer does not depend on how the molecule was written. A ring is aromatic if its atoms have 4n +
// 2 π electrons, and so is the rim of several fused rings, without the bonds that two of them
// share:
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
	rings := newRingSearch(m, ring, f.electrons).all()
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
			if pairs += orders[e].Pairs(); orders[e] > Single {
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

// fusedRings returns for every ring those that share exactly one bond with it. A bond of more than maxShared rings, which
// only unknown atoms with many bonds have, fuses none.
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
			if len(with[b]) > maxShared {
				continue
			}
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

// ringSearch looks for the shortest rings through bonds.
type ringSearch struct {
	m         *Molecule
	adj       adjacency
	ring      []bool // by bond: in a ring
	electrons []int  // by atom: below 0 where it cannot be aromatic
	ends      [2]searchEnd
	useful    []bool       // by atom: on a shortest path, false before and after a search
	path      []searchStep // of a search: the steps on shortest paths towards the second end
	looked    int          // bonds, in all searches
}

// searchEnd is what was reached from one end of a bond.
type searchEnd struct {
	distance []int32 // by atom: 1 at the end itself, 0 where it was not reached
	reached  []int32 // atoms, the nearest first
	level    int     // where the farthest begin
	steps    []searchStep
}

// searchStep is a step along a bond from an atom to one that is farther from the end.
type searchStep struct{ near, bond, far int32 }

func newRingSearch(m *Molecule, ring []bool, electrons []int) *ringSearch {
	s := &ringSearch{m: m, adj: m.adjacency(), ring: ring, electrons: electrons, useful: make([]bool, len(m.Atoms))}
	for i := range s.ends {
		s.ends[i].distance = make([]int32, len(m.Atoms))
	}
	return s
}

// all returns the shortest rings through each bond whose atoms all can be aromatic.
func (s *ringSearch) all() (out []*smallRing) {
	known := map[[maxRing]int32]bool{} // by bonds
	for start, b := range s.m.Bonds {
		if !s.ring[start] || s.electrons[b.A] < 0 || s.electrons[b.B] < 0 {
			continue
		}
		for _, r := range s.through(int32(start)) {
			if slices.ContainsFunc(r.atoms, func(a int32) bool { return s.electrons[a] < 0 }) {
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

// through returns the shortest rings through a bond: paths from one end back to the other. It goes from both ends, one
// level of atoms at a time, and from the end where fewer bonds have to be looked at, so that an atom with many bonds is
// only left where no other way closes a ring. Atoms that cannot be aromatic are looked at too: a ring through one of them
// that is shorter leaves no place for others.
func (s *ringSearch) through(start int32) []*smallRing {
	for i, a := range []int32{s.m.Bonds[start].A, s.m.Bonds[start].B} {
		e := &s.ends[i]
		e.distance[a], e.reached, e.level, e.steps = 1, append(e.reached[:0], a), 0, e.steps[:0]
	}
	defer func() {
		for i := range s.ends {
			for _, a := range s.ends[i].reached {
				s.ends[i].distance[a] = 0
			}
		}
	}()
	looked := 0
	for range maxRing - 1 {
		a, b := s.cost(&s.ends[0]), s.cost(&s.ends[1])
		near, other := &s.ends[0], &s.ends[1]
		if b < a {
			near, other = other, near
		}
		if looked += min(a, b); looked > maxLooked {
			return nil
		}
		if s.further(near, other, start) {
			return s.paths(start)
		}
		if near.level == len(near.reached) {
			return nil
		}
	}
	return nil
}

// cost returns the number of bonds of the farthest atoms.
func (s *ringSearch) cost(e *searchEnd) (sum int) {
	for _, a := range e.reached[e.level:] {
		sum += len(s.adj.at(a))
	}
	return sum
}

// further goes one level further from an end, and reports whether it met what was reached from the other.
func (s *ringSearch) further(e, other *searchEnd, start int32) (met bool) {
	level := e.reached[e.level:]
	e.level = len(e.reached)
	for _, at := range level {
		for _, b := range s.adj.at(at) {
			s.looked++
			if b == start || !s.ring[b] {
				continue
			}
			next := s.m.Bonds[b].other(at)
			if e.distance[next] == 0 {
				e.distance[next] = e.distance[at] + 1
				e.reached = append(e.reached, next)
				met = met || other.distance[next] > 0
			}
			if e.distance[next] == e.distance[at]+1 {
				e.steps = append(e.steps, searchStep{at, b, next})
			}
		}
	}
	return met
}

// paths returns the rings once the two ends met, in the order of the bonds of their atoms from the
// first end. If there are too many, only the first are returned.
func (s *ringSearch) paths(start int32) (out []*smallRing) {
	const most = 16
	from, to := &s.ends[0], &s.ends[1]
	for _, a := range from.reached[from.level:] {
		s.useful[a] = to.distance[a] > 0
	}
	s.path = s.path[:0]
	for i, e := range []*searchEnd{from, to} {
		for _, x := range slices.Backward(e.steps) {
			if !s.useful[x.far] {
				continue
			}
			s.useful[x.near] = true
			if i == 1 { // towards the second end
				x.near, x.far = x.far, x.near
			}
			s.path = append(s.path, x)
		}
	}
	for _, e := range []*searchEnd{from, to} {
		for _, a := range e.reached {
			s.useful[a] = false
		}
	}
	slices.SortFunc(s.path, func(a, b searchStep) int { return cmp.Or(cmp.Compare(a.near, b.near), cmp.Compare(a.bond, b.bond)) })
	end := s.m.Bonds[start].B
	var walk func(at int32, r smallRing)
	walk = func(at int32, r smallRing) {
		r.atoms = append(slices.Clip(r.atoms), at)
		if at == end {
			out = append(out, &r)
			return
		}
		i, _ := slices.BinarySearchFunc(s.path, at, func(x searchStep, at int32) int { return cmp.Compare(x.near, at) })
		for ; i < len(s.path) && s.path[i].near == at && len(out) < most; i++ {
			walk(s.path[i].far, smallRing{r.atoms, append(slices.Clip(r.bonds), s.path[i].bond)})
		}
	}
	walk(s.m.Bonds[start].A, smallRing{bonds: []int32{start}})
	return out
}
