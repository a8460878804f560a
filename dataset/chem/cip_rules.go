package chem

import (
	"cmp"
	"slices"
)

// rule compares nodes by a property, the senior larger, or all that lies behind two.
type rule struct {
	of    func(*digraph, arc) int32
	whole func(d *digraph, a, b arc) int
}

// ruleSet is a list of rules.
type ruleSet uint8

const (
	atomicNumbers ruleSet = iota // rule 1a
	constitution                 // 1a, 1b and 2: a higher atomic number; a duplicate of an atom nearer to the root; a higher mass
	kinds                        // these, 3 and 4a: Z before E; R and S before r and s before none
	likeR                        // these, and R first
	likeS                        // these, and S first
	symmetric                    // these, 4b and 4c: like pairs before unlike ones; r before s
	all                          // these and 5: R before S
	ruleSets
)

// rulesOf are the rules of each set. They are set when the program starts, because rule 4b ranks by others.
var rulesOf [ruleSets][]rule

func init() {
	first := func(x Descriptor) rule {
		return rule{of: func(d *digraph, a arc) int32 { return level(handed(d.nodes[a.node].centre), other(x), x) }}
	}
	rulesOf[atomicNumbers] = []rule{{of: func(d *digraph, a arc) int32 { return d.nodes[a.node].number }}}
	and := func(set ruleSet, more ...rule) []rule { return append(slices.Clone(rulesOf[set]), more...) }
	rulesOf[constitution] = and(atomicNumbers,
		rule{of: func(d *digraph, a arc) int32 { return -d.nodes[a.node].root }},
		rule{of: func(d *digraph, a arc) int32 { return d.nodes[a.node].mass }})
	rulesOf[kinds] = and(constitution,
		rule{of: func(d *digraph, a arc) int32 { return level(d.doubleBond(a), "E", "Z") }},
		rule{of: kind})
	rulesOf[likeR], rulesOf[likeS] = and(kinds, first("R")), and(kinds, first("S"))
	rulesOf[symmetric] = and(kinds, rule{whole: likePairs},
		rule{of: func(d *digraph, a arc) int32 { return level(d.nodes[a.node].centre, "s", "r") }})
	rulesOf[all] = and(symmetric, first("R"))
}

// level returns 2 for the second, 1 for the first, 0 for other descriptors.
func level(x, first, second Descriptor) int32 {
	switch x {
	case first:
		return 1
	case second:
		return 2
	}
	return 0
}

// handed returns R for M too, and S for P, "" for what a mirror leaves as it is.
func handed(x Descriptor) Descriptor {
	switch x {
	case "R", "M":
		return "R"
	case "S", "P":
		return "S"
	}
	return ""
}

// kind is the property of rule 4a.
func kind(d *digraph, a arc) int32 {
	switch x := d.nodes[a.node].centre; {
	case handed(x) != "":
		return 2
	case x != "":
		return 1
	}
	return 0
}

// doubleBond returns the descriptor of the double bond that an arc runs along.
func (d *digraph) doubleBond(a arc) Descriptor {
	if d.nodes[a.node].parent == a.from {
		return d.nodes[a.node].double
	}
	return d.nodes[a.from].double
}

// likePairs is rule 4b. The descriptors behind an arc are compared with that of the senior one: the more senior the node at
// which one branch has a like pair and the other an unlike one, the more it counts. If equal nodes are the senior ones,
// most of them decide; in a tie both descriptors are tried, and the better counts.
func likePairs(d *digraph, a, b arc) int {
	rules := d.rules
	defer func() { d.rules = rules }()
	return slices.Compare(d.pairs(a), d.pairs(b))
}

// pairs returns, by rank, 2 for nodes whose descriptor is like that of the senior one, and 1 for unlike ones.
func (d *digraph) pairs(a arc) []int {
	var best []int
	for _, reference := range []Descriptor{"R", "S"} {
		// Of nodes that are equal so far, those with like descriptors come first.
		if d.rules = likeR; reference == "S" {
			d.rules = likeS
		}
		nodes := d.handedNodes(a)
		if len(nodes) == 0 {
			return nil
		}
		d.rules = kinds
		list, like, unlike := make([]int, len(nodes)), 0, 0
		for i, n := range nodes {
			senior := d.nodes[n.node].sphere == d.nodes[nodes[0].node].sphere && d.compare(n, nodes[0]) == 0
			if list[i] = 1; handed(d.nodes[n.node].centre) == reference {
				list[i] = 2
			}
			switch {
			case senior && list[i] == 2:
				like++
			case senior:
				unlike++
			}
		}
		if like >= unlike && slices.Compare(list, best) > 0 {
			best = list
		}
	}
	return best
}

func other(x Descriptor) Descriptor { return pick(x == "R", "S", "R") }

// handedNodes returns the nodes with R or S behind an arc, sphere by sphere, in each by rank.
func (d *digraph) handedNodes(a arc) (out []arc) {
	for level := []arc{a}; len(level) > 0; {
		var next []arc
		for _, x := range level {
			if handed(d.nodes[x.node].centre) != "" {
				out = append(out, x)
			}
			next = append(next, d.children(x)...)
		}
		level = next
	}
	return out
}

// describe gives the nodes their descriptors as they are seen in the digraph, the outermost first. It reports whether
// there are some.
func (d *digraph) describe() (some bool) {
	d.rules = all
	for i := len(d.nodes) - 1; i > 0; i-- {
		n := &d.nodes[i]
		if n.duplicate || n.atom < 0 {
			continue
		}
		for k := n.first; k < n.after; k++ {
			if c := &d.nodes[k]; c.bond >= 0 && d.Bonds[c.bond].Sides != AnySide {
				if c.double = d.sidesAt(int32(i), k); c.double != "" {
					some = true
					d.forget()
				}
			}
		}
		if d.Atoms[n.atom].Chirality == Achiral || d.inverts(n.atom) {
			continue
		}
		if n.centre = d.centreAt(int32(i)); n.centre != "" {
			some = true
			d.forget()
		}
	}
	return some
}

// around returns the ligands of a node by rank, but for one that it is seen from, and whether rule 5 alone tells two
// apart. It is nil if two are equal.
func (d *digraph) around(at, from int32) (list []arc, mirrored bool) {
	for _, a := range d.children(arc{at, from}) {
		if n := d.nodes[a.node]; n.parent != at || !n.duplicate || n.closes {
			list = append(list, a)
		}
	}
	for k := 1; k < len(list); k++ {
		if d.compare(list[k-1], list[k]) == 0 {
			return nil, false
		}
		d.rules = symmetric
		mirrored = mirrored || d.compare(list[k-1], list[k]) == 0
		d.rules = all
	}
	return list, mirrored
}

// centreAt returns the descriptor of the atom of a node, with marks.
func (d *digraph) centreAt(at int32) Descriptor {
	n := d.nodes[at]
	if middle, _ := d.cumulated(d.near, n.atom); middle {
		return "" // rule 3 and 4 do without allenes
	}
	written := d.ligands(d.near, n.atom)
	list, mirrored := d.around(at, -1)
	if list == nil || written == nil {
		return ""
	}
	order := make([]int32, 0, 4)
	for _, a := range list {
		order = append(order, int32(slices.Index(written, d.nodes[a.node].atom)))
	}
	if len(order) == 3 { // a lone pair
		order = append(order, int32(slices.Index(written, unwritten)))
	}
	if len(order) != 4 || slices.Contains(order, -1) {
		return ""
	}
	if (d.Atoms[n.atom].Chirality == Clockwise) != odd(order) {
		return pick(mirrored, "r", "R")
	}
	return pick(mirrored, "s", "S")
}

// sidesAt returns the descriptor of a double bond between a node and its child.
func (d *digraph) sidesAt(at, child int32) Descriptor {
	bond := d.nodes[child].bond
	same := d.Bonds[bond].Sides == SameSide
	for _, end := range []arc{{at, child}, {child, at}} {
		list, _ := d.around(end.node, end.from)
		if len(list) == 0 || len(list) > 2 {
			return ""
		}
		senior := d.nodes[list[0].node].atom
		same = same != (senior < 0 || senior != d.lowest(d.near, d.nodes[end.node].atom, bond))
	}
	return pick(same, "Z", "E")
}

// alikeClasses returns equal numbers for atoms that constitution cannot tell apart: colour refinement from element, isotope,
// charge, hydrogens and the orders of bonds.
func (m *Molecule) alikeClasses(near adjacency, order []Order) []int {
	class := make([]int, len(m.Atoms))
	keys := make([][]int, len(m.Atoms))
	for i, a := range m.Atoms {
		keys[i] = []int{int(a.Element), int(a.Isotope), int(a.Charge), a.Hydrogens}
	}
	count := renumberKeys(keys, class)
	for before := 0; count > before; {
		before = count
		for i := range m.Atoms {
			keys[i] = append(keys[i][:0], class[i])
			for _, e := range near.at(int32(i)) {
				keys[i] = append(keys[i], class[m.Bonds[e].other(int32(i))]*8+int(order[e]))
			}
			slices.Sort(keys[i][1:])
		}
		count = renumberKeys(keys, class)
	}
	return class
}

// renumberKeys sets the classes to the ranks of keys, and returns how many there are.
func renumberKeys(keys [][]int, class []int) int {
	at := make([]int, len(keys))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(i, j int) int {
		return cmp.Or(cmp.Compare(len(keys[i]), len(keys[j])), slices.Compare(keys[i], keys[j]))
	})
	count := 0
	for k, i := range at {
		if k > 0 && slices.Compare(keys[at[k-1]], keys[i]) != 0 {
			count++
		}
		class[i] = count
	}
	return count + 1
}
