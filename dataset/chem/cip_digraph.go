package chem

import (
	"cmp"
	"slices"
)

// maxDigraph is the largest number of nodes of a digraph.
const maxDigraph = 1 << 16

// digraph is the hierarchical digraph of an atom, its root: a tree of all paths from it. An atom that closes a ring, or a
// multiple bond, stands as a duplicate, which has nothing behind it. It grows sphere by sphere.
type digraph struct {
	*ranking
	nodes []node
	outer int  // first node of the last sphere
	full  bool // there would be more than maxDigraph nodes
	rules ruleSet
	known [ruleSets]map[arc][]arc // neighbours by rank
}

// node is an atom at the end of a path.
type node struct {
	atom         int32 // −1 for a hydrogen that is no atom
	parent       int32
	first, after int32 // children
	number       int32 // atomic number times 12
	mass         int32
	sphere, root int32 // root: the sphere of the atom that a duplicate stands for
	bond         int32 // to the parent, −1 for a duplicate or hydrogen
	duplicate    bool
	closes       bool       // a duplicate that closes a ring
	centre       Descriptor // of the atom, seen from this node
	double       Descriptor // of the double bond to the parent
}

// arc is a node and the neighbour that it is seen from.
type arc struct{ node, from int32 }

func newDigraph(r *ranking, root int32) *digraph {
	d := &digraph{ranking: r}
	d.forget()
	d.nodes = append(d.nodes, node{atom: root, parent: -1, bond: -1, number: 12 * int32(r.Atoms[root].Element)})
	d.expand(0)
	d.outer = 1
	return d
}

// ligand returns that child of the root which is an atom, the hydrogen for unwritten, or the root if there is none: a lone
// pair.
func (d *digraph) ligand(atom int32) arc {
	root := d.nodes[0]
	for k := root.first; k < root.after; k++ {
		if n := d.nodes[k]; n.atom == atom && !n.duplicate {
			return arc{k, 0}
		}
	}
	return arc{}
}

// grow adds a sphere. It reports whether there was something to add.
func (d *digraph) grow() bool {
	first, after := d.outer, len(d.nodes)
	for i := first; i < after && !d.full; i++ {
		d.expand(int32(i))
	}
	d.outer = after
	d.forget()
	return len(d.nodes) > after && !d.full
}

// mass returns that of an atom for rule 2: its isotope, or about that of the natural mixture, times 100.
func (a Atom) mass() int32 {
	if a.Isotope > 0 {
		return 100 * int32(a.Isotope)
	}
	return 100*int32(massNumber[a.Element]) + 1
}

// expand adds the children of a node.
func (d *digraph) expand(at int32) {
	d.nodes[at].first, d.nodes[at].after = int32(len(d.nodes)), int32(len(d.nodes))
	n := d.nodes[at]
	if n.duplicate || n.atom < 0 {
		return
	}
	add := func(c node) {
		c.parent, c.sphere = at, n.sphere+1
		if !c.duplicate {
			c.root = c.sphere
		}
		d.nodes = append(d.nodes, c)
	}
	copyOf := func(o, sphere int32, closes bool) {
		add(node{atom: o, number: 12 * int32(d.Atoms[o].Element), bond: -1, duplicate: true, closes: closes, root: sphere})
	}
	for _, e := range d.near.at(n.atom) {
		o := d.Bonds[e].other(n.atom)
		switch path := d.onPath(at, o); {
		case e == n.bond:
		case path >= 0:
			copyOf(o, path, true)
		default:
			a := d.Atoms[o]
			add(node{atom: o, number: 12 * int32(a.Element), mass: a.mass(), bond: e})
		}
		for range d.extra[e] {
			copyOf(o, n.sphere, false)
		}
	}
	if z := d.number[n.atom]; z > 0 {
		add(node{atom: n.atom, number: z, bond: -1, duplicate: true, root: n.sphere})
	}
	for range max(d.Atoms[n.atom].Hydrogens, 0) {
		add(node{atom: -1, number: 12, mass: Atom{Element: hydrogen}.mass(), bond: -1})
	}
	d.nodes[at].after = int32(len(d.nodes))
	d.full = d.full || len(d.nodes) > maxDigraph
}

// onPath returns the sphere of an atom on the path to a node, −1 if it is not on it.
func (d *digraph) onPath(at, atom int32) int32 {
	for ; at >= 0; at = d.nodes[at].parent {
		if n := d.nodes[at]; n.atom == atom && !n.duplicate {
			return n.sphere
		}
	}
	return -1
}

// forget makes all ranks be found again.
func (d *digraph) forget() {
	for i := range d.known {
		d.known[i] = map[arc][]arc{}
	}
}

// children returns the neighbours of a node but the one that it is seen from, by rank.
func (d *digraph) children(a arc) []arc {
	if list, ok := d.known[d.rules][a]; ok {
		return list
	}
	n := d.nodes[a.node]
	var list []arc
	for k := n.first; k < n.after; k++ {
		if k != a.from {
			list = append(list, arc{k, a.node})
		}
	}
	if n.parent >= 0 && n.parent != a.from {
		list = append(list, arc{n.parent, a.node})
	}
	if len(list) > 1 {
		slices.SortStableFunc(list, func(x, y arc) int { return -d.compare(x, y) })
	}
	d.known[d.rules][a] = list
	return list
}

// compare ranks what lies behind two arcs: positive if the first is senior. Each rule looks at everything before the next
// rule does.
func (d *digraph) compare(a, b arc) int {
	for _, r := range rulesOf[d.rules] {
		if r.whole != nil {
			if c := r.whole(d, a, b); c != 0 {
				return c
			}
		} else if c := d.spheres(a, b, r.of); c != 0 {
			return c
		}
	}
	return 0
}

// spheres compares a property sphere by sphere, in each the sets of neighbours by the rank of what they are bound to.
func (d *digraph) spheres(a, b arc, of func(*digraph, arc) int32) int {
	if c := cmp.Compare(of(d, a), of(d, b)); c != 0 {
		return c
	}
	x, y := []arc{a}, []arc{b}
	for len(x) > 0 {
		var nextX, nextY []arc
		for i := range x {
			p, q := d.children(x[i]), d.children(y[i])
			for k := range min(len(p), len(q)) {
				if c := cmp.Compare(of(d, p[k]), of(d, q[k])); c != 0 {
					return c
				}
			}
			if c := cmp.Compare(len(p), len(q)); c != 0 {
				return c
			}
			nextX, nextY = append(nextX, p...), append(nextY, q...)
		}
		x, y = nextX, nextY
	}
	return 0
}
