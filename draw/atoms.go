package draw

import (
	"cmp"
	"strconv"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// atom is an atom as its text shows it.
type atom struct {
	symbol    string // D and T for heavy hydrogen
	isotope   string // before the symbol, "" for none
	hydrogens int
	charge    string // "+", "−", "2+", …
	unpaired  int    // dots
	chirality chem.Chirality
}

// bond is a bond as lines show it.
type bond struct {
	u, v     int
	order    int  // 1 to 4
	aromatic bool // no Kekulé structure was found: drawn with a broken line
	sides    chem.Sides
}

func (b bond) other(v int) int { return b.u + b.v - v }

// molecule is a graph read as chemistry.
type molecule struct {
	atoms []atom
	bonds []bond
	at    [][]int // bonds by atom
}

// readMolecule reads a graph as a molecule, nil if it is none.
func readMolecule(g *graph.Graph) *molecule {
	read, err := chem.Of(g)
	if err != nil {
		return nil
	}
	orders, err := read.Kekule()
	if err != nil { // aromatic bonds stay, and count 1
		orders = make([]chem.Order, len(read.Bonds))
		for i, b := range read.Bonds {
			orders[i] = b.Order
		}
	}
	m := &molecule{at: make([][]int, len(read.Atoms))}
	unpaired := read.Unpaired(orders)
	for i, a := range read.Atoms {
		m.atoms = append(m.atoms, newAtom(a, unpaired[i]))
	}
	for i, c := range read.Bonds {
		b := bond{u: int(c.A), v: int(c.B), order: int(orders[i]), sides: c.Sides}
		if orders[i] == chem.AnyOrder {
			b.order = 1
		}
		if b.aromatic = orders[i] == chem.Aromatic; b.aromatic {
			b.order = 1
			m.atoms[b.u].unpaired, m.atoms[b.v].unpaired = 0, 0
		}
		m.at[b.u] = append(m.at[b.u], len(m.bonds))
		m.at[b.v] = append(m.at[b.v], len(m.bonds))
		m.bonds = append(m.bonds, b)
	}
	return m
}

func newAtom(a chem.Atom, unpaired int) atom {
	out := atom{symbol: chem.Symbol(a.Element), hydrogens: max(a.Hydrogens, 0), unpaired: unpaired, chirality: a.Chirality}
	switch {
	case out.symbol == "H" && (a.Isotope == 2 || a.Isotope == 3):
		out.symbol = "DT"[a.Isotope-2 : a.Isotope-1]
	case a.Isotope > 0:
		out.isotope = strconv.Itoa(int(a.Isotope))
	}
	if a.Charge > 0 {
		out.charge = "+"
	} else if a.Charge < 0 {
		out.charge = "−"
	}
	if n := max(a.Charge, -a.Charge); n > 1 {
		out.charge = strconv.Itoa(int(n)) + out.charge
	}
	return out
}

// linear reports whether the two bonds of v lie on a line: one is triple, or both are double.
func (m *molecule) linear(v int) bool {
	at := m.at[v]
	return len(at) == 2 && m.bonds[at[0]].order+m.bonds[at[1]].order >= 4
}

// shown reports whether the atom is written. Carbon is where bonds meet, unless it is alone or more is
// to be said of it.
func (m *molecule) shown(v int) bool {
	a := m.atoms[v]
	return a.symbol != "C" || cmp.Or(a.charge, a.isotope) != "" || a.unpaired > 0 || len(m.at[v]) == 0
}

// sided reports whether it is known on which sides the neighbours of the double bond u–v lie.
func (m *molecule) sided(u, v int) bool {
	k := m.between(u, v)
	return k >= 0 && m.bonds[k].sides != chem.AnySide
}

// between returns the bond between two atoms, −1 for none.
func (m *molecule) between(u, v int) int {
	for _, k := range m.at[u] {
		if m.bonds[k].other(u) == v {
			return k
		}
	}
	return -1
}

// misplaced reports whether the neighbours of a bond lie on other sides than it is known.
func (m *molecule) misplaced(b bond, pos []point) bool {
	if b.sides == chem.AnySide {
		return false
	}
	side := func(end, other int) float64 {
		lowest := -1
		for _, k := range m.at[end] {
			if w := m.bonds[k].other(end); w != other && (lowest < 0 || w < lowest) {
				lowest = w
			}
		}
		if lowest < 0 {
			return 0
		}
		return pos[b.v].sub(pos[b.u]).cross(pos[lowest].sub(pos[end]))
	}
	product := side(b.u, b.v) * side(b.v, b.u)
	return b.sides == chem.SameSide && product < 0 || b.sides == chem.OppositeSides && product > 0
}
