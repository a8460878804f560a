package chem

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Order is the order of a bond.
type Order uint8

// The bond orders.
const (
	Single    Order = 1
	Double    Order = 2
	Triple    Order = 3
	Quadruple Order = 4
	Aromatic  Order = 5
)

// String returns the bond symbol of SMILES: - = # $ or :.
func (o Order) String() string {
	if o < Single || o > Aromatic {
		return fmt.Sprintf("Order(%d)", uint8(o))
	}
	return "-=#$:"[o-1 : o]
}

// sigma returns the number of electron pairs of a bond, where an aromatic bond counts 1.
func (o Order) sigma() int {
	if o == Aromatic {
		return 1
	}
	return int(o)
}

// Atom is an atom of a molecule.
type Atom struct {
	Element   uint8 // atomic number, 0 for an unknown atom
	Charge    int8
	Hydrogens int // hydrogens besides those that are atoms
	Aromatic  bool
	Isotope   uint16 // 0: natural
	Class     int    // atom map number, 0 when absent
	X, Y, Z   float64
}

// Bond joins two atoms.
type Bond struct {
	A, B  int32
	Order Order
}

// Molecule is a molecule as it was written, not necessarily connected.
type Molecule struct {
	Name           string
	Atoms          []Atom
	Bonds          []Bond
	HasCoordinates bool
}

// adjacency lists the bonds of every atom: those of atom a are bond[at[a]:at[a+1]].
type adjacency struct {
	at, bond []int32
}

func (m *Molecule) adjacency() adjacency {
	a := adjacency{at: make([]int32, len(m.Atoms)+1), bond: make([]int32, 2*len(m.Bonds))}
	for _, b := range m.Bonds {
		a.at[b.A+1]++
		a.at[b.B+1]++
	}
	for i := range m.Atoms {
		a.at[i+1] += a.at[i]
	}
	next := append([]int32(nil), a.at...)
	for i, b := range m.Bonds {
		for _, x := range []int32{b.A, b.B} {
			a.bond[next[x]] = int32(i)
			next[x]++
		}
	}
	return a
}

func (a adjacency) of(atom int32) []int32 { return a.bond[a.at[atom]:a.at[atom+1]] }

// other returns the other end of a bond.
func (b Bond) other(a int32) int32 { return b.A ^ b.B ^ a }

// Formula returns the molecular formula in Hill's order: carbon, hydrogen, then the other
// elements by alphabet; by alphabet throughout when there is no carbon. The net charge
// stands at the end, as in "C4H12N+" and "O4S-2". Isotopes are not told apart.
func (m *Molecule) Formula() string {
	count := map[string]int{}
	charge := 0
	for _, a := range m.Atoms {
		count[symbols[a.Element]]++
		count["H"] += a.Hydrogens
		charge += int(a.Charge)
	}
	rank := func(s string) string {
		if count["C"] > 0 && (s == "C" || s == "H") {
			return "\x00" + s
		}
		return s
	}
	var els []string
	for s, n := range count {
		if n > 0 {
			els = append(els, s)
		}
	}
	sort.Slice(els, func(i, j int) bool { return rank(els[i]) < rank(els[j]) })
	var b strings.Builder
	for _, s := range els {
		b.WriteString(s)
		if count[s] > 1 {
			b.WriteString(strconv.Itoa(count[s]))
		}
	}
	b.WriteString(chargeText(charge))
	return b.String()
}

// chargeText returns "", "+", "-", "+2", "-3", …
func chargeText(c int) string {
	switch {
	case c == 0:
		return ""
	case c == 1:
		return "+"
	case c == -1:
		return "-"
	default:
		return fmt.Sprintf("%+d", c)
	}
}

// ChargeText returns the charge of the atom as it stands in a label: "", "+", "-", "+2", …
func (a Atom) ChargeText() string { return chargeText(int(a.Charge)) }

// Components returns the number of connected parts.
func (m *Molecule) Components() int {
	parent := make([]int32, len(m.Atoms))
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(x int32) int32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	n := len(m.Atoms)
	for _, b := range m.Bonds {
		if p, q := find(b.A), find(b.B); p != q {
			parent[p] = q
			n--
		}
	}
	return n
}

// Rings returns the number of independent rings: bonds − atoms + connected parts.
func (m *Molecule) Rings() int { return len(m.Bonds) - len(m.Atoms) + m.Components() }

// ringBonds tells for every bond whether it lies on a ring: whether it is no bridge.
func (m *Molecule) ringBonds() []bool {
	adj := m.adjacency()
	inRing := make([]bool, len(m.Bonds))
	for i := range inRing {
		inRing[i] = true
	}
	depth := make([]int32, len(m.Atoms)) // 1-based order of discovery, 0: not yet
	low := make([]int32, len(m.Atoms))
	type step struct {
		atom, via int32
		next      int32
	}
	var stack []step
	n := int32(0)
	for root := range m.Atoms {
		if depth[root] > 0 {
			continue
		}
		stack = append(stack[:0], step{int32(root), -1, 0})
		n++
		depth[root], low[root] = n, n
		for len(stack) > 0 {
			s := &stack[len(stack)-1]
			bonds := adj.of(s.atom)
			if int(s.next) < len(bonds) {
				e := bonds[s.next]
				s.next++
				if e == s.via {
					continue
				}
				to := m.Bonds[e].other(s.atom)
				if depth[to] > 0 {
					low[s.atom] = min(low[s.atom], depth[to])
					continue
				}
				n++
				depth[to], low[to] = n, n
				stack = append(stack, step{to, e, 0})
				continue
			}
			done := *s
			stack = stack[:len(stack)-1]
			if done.via < 0 {
				continue
			}
			up := m.Bonds[done.via].other(done.atom)
			low[up] = min(low[up], low[done.atom])
			if low[done.atom] == depth[done.atom] {
				inRing[done.via] = false
			}
		}
	}
	return inRing
}

// CheckValence returns an error that names the first atom with more bonds and hydrogens
// than its element can have, by the usual valences of the main-group elements. The
// aromatic parts must have a Kekulé structure.
func (m *Molecule) CheckValence() error {
	orders, err := m.Kekule()
	if err != nil {
		return err
	}
	sum := make([]int, len(m.Atoms))
	for i, b := range m.Bonds {
		sum[b.A] += int(orders[i])
		sum[b.B] += int(orders[i])
	}
	for i, a := range m.Atoms {
		v := valences(a.Element, a.Charge)
		total := sum[i] + a.Hydrogens
		if len(v) > 0 && total > v[len(v)-1] {
			return fmt.Errorf("atom %d (%s%s) has valence %d, want at most %d", i+1, symbols[a.Element], a.ChargeText(), total, v[len(v)-1])
		}
	}
	return nil
}
