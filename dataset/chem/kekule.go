package chem

import "fmt"

// pi says whether an aromatic atom takes part in a double bond of the aromatic system.
type pi uint8

const (
	never pi = iota // it gives a lone pair or an empty orbital, or has its double bond outside
	must
	may
)

// Kekule returns the orders of the bonds with every aromatic bond as single or double, so
// that each aromatic atom has the double bond that it needs. It returns an error when
// there is none, as in a ring of five CH groups, or when something outside a ring is
// called aromatic.
//
// The double bonds are a matching in the graph of the aromatic bonds that covers every
// atom that must have one; it is found by Edmonds' blossom algorithm. A single bond in a
// ring between an aromatic and an unknown atom counts as aromatic too.
func (m *Molecule) Kekule() ([]Order, error) {
	orders := make([]Order, len(m.Bonds))
	some := false
	for i, b := range m.Bonds {
		orders[i] = b.Order
		some = some || b.Order == Aromatic
	}
	for _, a := range m.Atoms {
		some = some || a.Aromatic
	}
	if !some {
		return orders, nil
	}
	ring := m.ringBonds()
	adj := m.adjacency()
	role := make([]pi, len(m.Atoms))
	for i := range m.Atoms {
		aromatic, inRing := m.Atoms[i].Aromatic, false
		used := m.Atoms[i].Hydrogens
		for _, e := range adj.of(int32(i)) {
			used += m.Bonds[e].Order.sigma()
			inRing = inRing || ring[e]
			if m.Bonds[e].Order == Aromatic {
				if !ring[e] {
					return nil, fmt.Errorf("bond between atoms %d and %d is aromatic but in no ring", m.Bonds[e].A+1, m.Bonds[e].B+1)
				}
				aromatic = true
			}
		}
		if !aromatic {
			continue
		}
		if !inRing {
			return nil, fmt.Errorf("atom %d (%s) is aromatic but in no ring", i+1, symbols[m.Atoms[i].Element])
		}
		role[i] = m.Atoms[i].role(used)
	}
	k := matching{m: m, adj: adj, role: role, pi: make([]bool, len(m.Bonds))}
	for i, b := range m.Bonds {
		p, q := m.Atoms[b.A], m.Atoms[b.B]
		star := p.Element == 0 && (q.Aromatic || q.Element == 0) || q.Element == 0 && p.Aromatic
		k.pi[i] = b.Order == Aromatic || star && b.Order == Single && ring[i]
		if star && k.pi[i] {
			for _, a := range []int32{b.A, b.B} {
				if m.Atoms[a].Element == 0 {
					role[a] = may
				}
			}
		}
	}
	if bad := k.solve(); bad >= 0 {
		return nil, fmt.Errorf("no alternation of single and double bonds exists in the aromatic system of atom %d (%s)", bad+1, symbols[m.Atoms[bad].Element])
	}
	for i, b := range m.Bonds {
		if k.pi[i] {
			orders[i] = Single
			if k.mate[b.A] == b.B {
				orders[i] = Double
			}
		}
	}
	return orders, nil
}

// role returns what an aromatic atom needs, given its bonds (aromatic ones counted 1) and
// hydrogens.
func (a Atom) role(used int) pi {
	if a.Element == 0 {
		return may
	}
	for _, v := range valences(a.Element, a.Charge) {
		switch free := v - used; {
		case free < 0:
			continue
		case free == 0:
			return never
		case free == 1:
			return must
		default:
			return may
		}
	}
	return never
}

// matching is Edmonds' algorithm on the aromatic bonds. Atoms that may stay single count
// as free wherever a search meets them.
type matching struct {
	m    *Molecule
	adj  adjacency
	role []pi
	pi   []bool  // bonds that may be double
	mate []int32 // -1: none

	// State of one search; entries are valid when their mark is the number of the search.
	search int32
	mark   []int32
	parent []int32
	base   []int32
	outer  []bool
	queue  []int32
	seen   []int32 // marks of ancestors, by walk number
	walk   int32
	flower []int32 // marks of bases in the blossom being contracted
	petals int32
	member []int32 // atoms touched by this search
}

// solve matches all atoms that must be matched, or returns one that cannot be.
func (k *matching) solve() int {
	n := len(k.m.Atoms)
	ints := make([]int32, 6*n)
	k.mate, k.mark, k.parent = ints[:n], ints[n:2*n], ints[2*n:3*n]
	k.base, k.seen, k.flower = ints[3*n:4*n], ints[4*n:5*n], ints[5*n:]
	k.outer = make([]bool, n)
	for i := range k.mate {
		k.mate[i] = -1
	}
	k.greedy()
	for i := range k.m.Atoms {
		if k.role[i] == must && k.mate[i] < 0 && !k.augment(int32(i)) {
			return i
		}
	}
	return -1
}

// partners calls f for every atom that may share a double bond with a.
func (k *matching) partners(a int32, f func(b int32) bool) {
	for _, e := range k.adj.of(a) {
		if !k.pi[e] {
			continue
		}
		if b := k.m.Bonds[e].other(a); k.role[b] != never && !f(b) {
			return
		}
	}
}

// greedy matches atoms with a single free partner first, which leaves little to do.
func (k *matching) greedy() {
	free := make([]int32, len(k.m.Atoms))
	var ends, rest []int32
	for i := range k.m.Atoms {
		if k.role[i] != must {
			continue
		}
		k.partners(int32(i), func(b int32) bool {
			if k.role[b] == must {
				free[i]++
			}
			return true
		})
		if free[i] == 1 {
			ends = append(ends, int32(i))
		}
		rest = append(rest, int32(i))
	}
	match := func(a int32) {
		if k.mate[a] >= 0 {
			return
		}
		k.partners(a, func(b int32) bool {
			if k.role[b] != must || k.mate[b] >= 0 {
				return true
			}
			k.mate[a], k.mate[b] = b, a
			for _, x := range []int32{a, b} {
				k.partners(x, func(c int32) bool {
					if free[c]--; free[c] == 1 && k.mate[c] < 0 {
						ends = append(ends, c)
					}
					return true
				})
			}
			return false
		})
	}
	for _, a := range rest {
		for len(ends) > 0 {
			e := ends[len(ends)-1]
			ends = ends[:len(ends)-1]
			match(e)
		}
		match(a)
	}
	for len(ends) > 0 {
		e := ends[len(ends)-1]
		ends = ends[:len(ends)-1]
		match(e)
	}
}

func (k *matching) touch(a int32) {
	if k.mark[a] != k.search {
		k.mark[a] = k.search
		k.parent[a], k.base[a], k.outer[a] = -1, a, false
		k.member = append(k.member, a)
	}
}

// augment searches an alternating path from the unmatched atom root to a free atom.
func (k *matching) augment(root int32) bool {
	k.search++
	k.member = k.member[:0]
	k.touch(root)
	k.outer[root] = true
	k.queue = append(k.queue[:0], root)
	for len(k.queue) > 0 {
		a := k.queue[0]
		k.queue = k.queue[1:]
		done := false
		k.partners(a, func(b int32) bool {
			k.touch(b)
			switch {
			case k.base[a] == k.base[b] || k.mate[a] == b:
			case b == root || k.mate[b] >= 0 && k.mark[k.mate[b]] == k.search && k.parent[k.mate[b]] >= 0:
				done = k.contract(root, a, b)
			case k.parent[b] < 0:
				k.parent[b] = a
				if k.mate[b] < 0 {
					k.flip(b)
					done = true
					return false
				}
				w := k.mate[b]
				k.touch(w)
				done = k.reach(w)
			}
			return !done
		})
		if done {
			return true
		}
	}
	return false
}

// reach makes a an outer atom of the tree: its mate can be matched otherwise. If a may
// stay single, that ends the search.
func (k *matching) reach(a int32) bool {
	k.outer[a] = true
	if k.role[a] == may {
		b := k.mate[a]
		k.mate[a] = -1
		k.flip(b)
		return true
	}
	k.queue = append(k.queue, a)
	return false
}

// flip exchanges matched and unmatched bonds on the path from b to the root.
func (k *matching) flip(b int32) {
	for b >= 0 {
		p := k.parent[b]
		next := k.mate[p]
		k.mate[b], k.mate[p] = p, b
		b = next
	}
}

// contract shrinks the blossom that the bond a–b closes to its base.
func (k *matching) contract(root, a, b int32) bool {
	common := k.ancestor(root, a, b)
	k.petals++
	k.markPath(a, common, b)
	k.markPath(b, common, a)
	for i := 0; i < len(k.member); i++ {
		v := k.member[i]
		if k.flower[k.base[v]] != k.petals {
			continue
		}
		k.base[v] = common
		if !k.outer[v] && k.reach(v) {
			return true
		}
	}
	return false
}

func (k *matching) ancestor(root, a, b int32) int32 {
	k.walk++
	for {
		a = k.base[a]
		k.seen[a] = k.walk
		if a == root || k.mate[a] < 0 {
			break
		}
		a = k.parent[k.mate[a]]
	}
	for {
		b = k.base[b]
		if k.seen[b] == k.walk {
			return b
		}
		b = k.parent[k.mate[b]]
	}
}

func (k *matching) markPath(v, base, child int32) {
	for k.base[v] != base {
		k.flower[k.base[v]] = k.petals
		k.flower[k.base[k.mate[v]]] = k.petals
		k.parent[v] = child
		child = k.mate[v]
		v = k.parent[k.mate[v]]
	}
}
