package draw

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// atom is a vertex label read as chemistry.
type atom struct {
	symbol    string
	hydrogens int    // that the text shows
	counted   bool   // the label itself says how many hydrogens
	charge    string // "+", "−", "2+", …
}

// An atom as package dataset writes it: "C", "c", "NH2", "O-", "Fe+2", "Fe2+", "Ca++".
var atomPattern = regexp.MustCompile(`^([A-Z][a-z]?|se|as|te|[bcnops]|\*)(?:(H)([0-9]?))?([1-9]?[+-]|[+-][1-9]|\+{1,9}|-{1,9}|)$`)

// readAtom reads a vertex label as an atom.
func readAtom(label string) (atom, bool) {
	m := atomPattern.FindStringSubmatch(label)
	if m == nil {
		return atom{}, false
	}
	a := atom{symbol: strings.ToUpper(m[1][:1]) + m[1][1:], counted: m[2] != ""}
	if a.counted {
		a.hydrogens, _ = strconv.Atoi(cmp.Or(m[3], "1"))
	}
	if charge := m[4]; charge != "" {
		number := cmp.Or(strings.Trim(charge, "+-"), strconv.Itoa(len(charge)))
		sign := "+"
		if strings.Contains(charge, "-") {
			sign = "−"
		}
		a.charge = strings.TrimPrefix(number, "1") + sign
	}
	return a, chem.Known(a.symbol)
}

// bond is an edge read as chemistry.
type bond struct {
	u, v     int
	order    int  // 1 to 4
	aromatic bool // no Kekulé structure was found: drawn with a broken line
}

// molecule is a graph read as chemistry.
type molecule struct {
	atoms []atom
	bonds []bond
	at    [][]int // bonds by atom
}

// readMolecule reads a graph as a molecule: labels are atoms, edge labels, if any, are bond
// symbols, and no atom has more than 8 neighbours.
func readMolecule(g *graph.Graph) (*molecule, bool) {
	if !g.HasLabels() || g.N() == 0 {
		return nil, false
	}
	m := &molecule{atoms: make([]atom, g.N()), at: make([][]int, g.N())}
	for v := range m.atoms {
		a, ok := readAtom(g.Label(v))
		if !ok || g.Degree(v) > 8 {
			return nil, false
		}
		m.atoms[v] = a
	}
	for e := range g.Edges() {
		b := bond{u: e.U, v: e.V, order: 1}
		switch e.Label {
		case "", "-", "1", "single", "/", "\\":
		case "=", "2", "double":
			b.order = 2
		case "#", "3", "triple":
			b.order = 3
		case "$", "quadruple":
			b.order = 4
		case ":", "aromatic", "1.5":
			b.aromatic = true
		default:
			return nil, false
		}
		m.at[b.u] = append(m.at[b.u], len(m.bonds))
		m.at[b.v] = append(m.at[b.v], len(m.bonds))
		m.bonds = append(m.bonds, b)
	}
	m.kekulize()
	if g.HasEdgeLabels() {
		m.fillHydrogens()
	}
	return m, true
}

func (b bond) other(v int) int { return b.u + b.v - v }

// kekulize gives aromatic bonds alternating orders, in which every aromatic carbon without a
// double bond outside the ring has one in it. Nitrogen with two bonds may take part, other
// atoms give a lone pair. Where that is impossible the bonds stay aromatic.
func (m *molecule) kekulize() {
	roles := make([]chem.Pi, len(m.atoms))
	for v, a := range m.atoms {
		aromatic, double := false, false
		for _, k := range m.at[v] {
			aromatic = aromatic || m.bonds[k].aromatic
			double = double || m.bonds[k].order > 1
		}
		cation := a.charge == "+"
		switch {
		case !aromatic || double:
		case a.symbol == "C" && (a.charge == "" || cation):
			roles[v] = chem.Must
		case a.symbol == "C", a.symbol == "B",
			slices.Contains([]string{"N", "P", "As"}, a.symbol) && (cation || len(m.at[v])+a.hydrogens <= 2),
			slices.Contains([]string{"O", "S", "Se", "Te"}, a.symbol) && cation:
			roles[v] = chem.May
		}
	}
	var system []chem.Bond
	for _, b := range m.bonds {
		if b.aromatic {
			system = append(system, chem.Bond{A: int32(b.u), B: int32(b.v)})
		}
	}
	mate, bad := chem.Alternate(roles, system)
	for k := range m.bonds {
		if b := &m.bonds[k]; b.aromatic && bad < 0 {
			b.aromatic = false
			if mate[b.u] == int32(b.v) {
				b.order = 2
			}
		}
	}
}

// valences that atoms fill with hydrogen.
var valences = map[string][]int{"B": {3}, "N": {3}, "P": {3, 5}, "As": {3, 5}, "O": {2}, "S": {2, 4, 6}, "Se": {2, 4, 6}, "Si": {4}}

// fillHydrogens adds the hydrogens that the bonds leave room for to the text of atoms other
// than carbon, unless the graph has hydrogen atoms of its own. A nitrogen with four bonds and no
// stated charge gets its plus, and one oxygen on it the minus, as in a nitro group.
func (m *molecule) fillHydrogens() {
	if slices.ContainsFunc(m.atoms, func(a atom) bool { return a.symbol == "H" }) {
		return
	}
	sum := make([]int, len(m.atoms))
	unsure := make([]bool, len(m.atoms))
	for _, b := range m.bonds {
		for _, v := range []int{b.u, b.v} {
			sum[v] += b.order
			unsure[v] = unsure[v] || b.aromatic
		}
	}
	for v := range m.atoms {
		if a := &m.atoms[v]; a.symbol == "N" && a.charge == "" && !a.counted && sum[v] == 4 && !unsure[v] {
			a.charge = "+"
			for _, k := range m.at[v] {
				if o := m.bonds[k].other(v); m.atoms[o].symbol == "O" && sum[o] == 1 && m.atoms[o].charge == "" {
					m.atoms[o].charge = "−"
					break
				}
			}
		}
	}
	for v := range m.atoms {
		a := &m.atoms[v]
		more, known := map[string]int{"": 0, "+": 1, "−": -1}[a.charge]
		if a.counted || unsure[v] || !known || a.charge != "" && a.symbol == "B" {
			continue
		}
		for _, n := range valences[a.symbol] {
			if free := n + more - sum[v]; free >= 0 {
				a.hydrogens = free
				break
			}
		}
	}
}

// linear reports whether the two bonds of v lie on a line: one is triple, or both are double.
func (m *molecule) linear(v int) bool {
	at := m.at[v]
	return len(at) == 2 && m.bonds[at[0]].order+m.bonds[at[1]].order >= 4
}

// shown reports whether the atom is written; carbon is where bonds meet, unless it is alone or charged.
func (m *molecule) shown(v int) bool {
	a := m.atoms[v]
	return a.symbol != "C" || a.charge != "" || len(m.at[v]) == 0
}
