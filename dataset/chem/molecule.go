package chem

import (
	"fmt"
	"slices"
	"strconv"
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
	AnyOrder  Order = 6 // nothing is said: it takes no valence, as between the parts of a complex
)

// String returns the bond symbol of SMILES: - = # $ : or ~.
func (o Order) String() string {
	if o < Single || o > AnyOrder {
		return fmt.Sprintf("Order(%d)", uint8(o))
	}
	return "-=#$:~"[o-1 : o]
}

// Pairs returns the number of electron pairs of a bond, where an aromatic bond counts 1, and one of AnyOrder 0.
func (o Order) Pairs() int {
	switch o {
	case Aromatic:
		return 1
	case AnyOrder:
		return 0
	}
	return int(o)
}

// Unknown stands for a number of hydrogens that is not given.
const Unknown = -1

// Atom is an atom of a molecule.
type Atom struct {
	Element   uint8 // atomic number, 0 for an unknown atom
	Charge    int8
	Hydrogens int // hydrogens besides those that are atoms, Unknown where nothing says
	Aromatic  bool
	Isotope   uint16 // 0: natural
	Class     int    // atom map number, 0 when absent
	Chirality Chirality
	X, Y, Z   float64
}

// Bond joins two atoms.
type Bond struct {
	A, B  int32
	Order Order
	Sides Sides // of a double bond
}

// other returns the other end of a bond.
func (b Bond) other(a int32) int32 { return b.A ^ b.B ^ a }

// Molecule is a molecule as it was written, not necessarily connected.
type Molecule struct {
	Name           string
	Atoms          []Atom
	Bonds          []Bond
	HasCoordinates bool // X and Y are where to draw the atoms
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

// ChargeText returns the charge of the atom as it stands in a label: "", "+", "-", "+2", …
func (a Atom) ChargeText() string {
	switch a.Charge {
	case 0:
		return ""
	case 1:
		return "+"
	case -1:
		return "-"
	}
	return fmt.Sprintf("%+d", a.Charge)
}

// HydrogenText returns the hydrogens of the atom as they stand in a label: "", "H", "H2", …
func (a Atom) HydrogenText() string {
	switch {
	case a.Hydrogens <= 0:
		return ""
	case a.Hydrogens == 1:
		return "H"
	}
	return "H" + strconv.Itoa(a.Hydrogens)
}

// Charges returns the charges of the atoms, 0 where those of charged atoms that are bound to each other add up to 0. Such
// charges belong to the way of writing, as in a nitro group, an N-oxide, an azide or a sulfoxide.
func (m *Molecule) Charges() []int8 {
	out := make([]int8, len(m.Atoms))
	charged := false
	for i, a := range m.Atoms {
		out[i] = a.Charge
		charged = charged || a.Charge != 0
	}
	if !charged {
		return out
	}
	near := m.adjacency()
	seen := make([]bool, len(m.Atoms))
	for i := range m.Atoms {
		if out[i] == 0 || seen[i] {
			continue
		}
		group, sum := []int32{int32(i)}, 0
		seen[i] = true
		for k := 0; k < len(group); k++ {
			sum += int(m.Atoms[group[k]].Charge)
			for _, e := range near.at(group[k]) {
				if w := m.Bonds[e].other(group[k]); m.Atoms[w].Charge != 0 && !seen[w] {
					seen[w] = true
					group = append(group, w)
				}
			}
		}
		if sum == 0 {
			for _, a := range group {
				out[a] = 0
			}
		}
	}
	return out
}

// orders returns those of the bonds.
func (m *Molecule) orders() []Order {
	out := make([]Order, len(m.Bonds))
	for i, b := range m.Bonds {
		out[i] = b.Order
	}
	return out
}

// pairs returns, by atom, the number of electron pairs of its bonds, where an aromatic one
// counts 1, and whether it or some bond of it is aromatic.
func (m *Molecule) pairs() (sum []int, aromatic []bool) {
	sum, aromatic = make([]int, len(m.Atoms)), make([]bool, len(m.Atoms))
	for i, a := range m.Atoms {
		aromatic[i] = a.Aromatic
	}
	for _, b := range m.Bonds {
		for _, a := range []int32{b.A, b.B} {
			sum[a] += b.Order.Pairs()
			aromatic[a] = aromatic[a] || b.Order == Aromatic
		}
	}
	return sum, aromatic
}

// ringBonds tells for every bond whether it lies on a ring: whether it is no bridge.
func (m *Molecule) ringBonds() []bool {
	n, adj := len(m.Atoms), m.adjacency()
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
