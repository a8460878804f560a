package chem

import (
	"fmt"
	"maps"
	"slices"
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

// other returns the other end of a bond.
func (b Bond) other(a int32) int32 { return b.A ^ b.B ^ a }

// Molecule is a molecule as it was written, not necessarily connected.
type Molecule struct {
	Name           string
	Atoms          []Atom
	Bonds          []Bond
	HasCoordinates bool
}

// adjacency lists the bonds of every atom.
type adjacency struct {
	start, bond []int32
}

func (m *Molecule) adjacency() adjacency { return newAdjacency(len(m.Atoms), m.Bonds) }

func newAdjacency(atoms int, bonds []Bond) adjacency {
	a := adjacency{make([]int32, atoms+1), make([]int32, 2*len(bonds))}
	for _, b := range bonds {
		a.start[b.A+1]++
		a.start[b.B+1]++
	}
	for i := range atoms {
		a.start[i+1] += a.start[i]
	}
	next := slices.Clone(a.start)
	for i, b := range bonds {
		for _, x := range []int32{b.A, b.B} {
			a.bond[next[x]] = int32(i)
			next[x]++
		}
	}
	return a
}

// at returns the bonds of an atom.
func (a adjacency) at(atom int32) []int32 { return a.bond[a.start[atom]:a.start[atom+1]] }

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
	elements := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	var b strings.Builder
	for _, s := range elements {
		if count[s] > 0 {
			b.WriteString(s)
		}
		if count[s] > 1 {
			b.WriteString(strconv.Itoa(count[s]))
		}
	}
	return b.String() + chargeText(charge)
}

// chargeText returns "", "+", "-", "+2", "-3", …
func chargeText(c int) string {
	switch c {
	case 0:
		return ""
	case 1:
		return "+"
	case -1:
		return "-"
	}
	return fmt.Sprintf("%+d", c)
}

// ChargeText returns the charge of the atom as it stands in a label: "", "+", "-", "+2", …
func (a Atom) ChargeText() string { return chargeText(int(a.Charge)) }

// ringBonds tells for every bond whether it lies on a ring: whether it is no bridge.
func (m *Molecule) ringBonds(adj adjacency) []bool {
	n := len(m.Atoms)
	number := make([]int32, n) // 1-based order of discovery, 0: not yet
	low := make([]int32, n)    // least number that a bond leads to from an atom or those behind it
	via := make([]int32, n)    // bond by which an atom was discovered, -1 for none
	var order, stack []int32
	for root := range int32(n) {
		stack = append(stack[:0], root)
		if number[root] == 0 {
			via[root] = -1
		}
		for len(stack) > 0 {
			a := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if number[a] > 0 {
				continue
			}
			order = append(order, a)
			number[a], low[a] = int32(len(order)), int32(len(order))
			for _, e := range adj.at(a) {
				if b := m.Bonds[e].other(a); number[b] == 0 {
					via[b] = e // the last to find an atom is its parent, as it is visited next
					stack = append(stack, b)
				} else if e != via[a] {
					low[a] = min(low[a], number[b])
				}
			}
		}
	}
	ring := make([]bool, len(m.Bonds))
	for i := range ring {
		ring[i] = true
	}
	for _, a := range slices.Backward(order) {
		if via[a] < 0 {
			continue
		}
		ring[via[a]] = low[a] < number[a]
		up := m.Bonds[via[a]].other(a)
		low[up] = min(low[up], low[a])
	}
	return ring
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

// fill returns the number of hydrogens that fill up the smallest of the valences in which
// the bonds leave room.
func fill(valences []int, used int) int {
	for _, v := range valences {
		if v >= used {
			return v - used
		}
	}
	return 0
}
