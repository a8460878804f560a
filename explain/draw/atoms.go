package draw

import (
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

var symbols = func() map[string]bool {
	m := map[string]bool{}
	for z := range 119 {
		m[chem.Symbol(uint8(z))] = true
	}
	return m
}()

// readAtom understands what package dataset writes for atoms: "C", "c", "NH2", "O-",
// "Fe+2", "Fe2+".
func readAtom(label string) (atom, bool) {
	var a atom
	rest := label
	for _, n := range []int{2, 1} {
		if len(rest) < n {
			continue
		}
		s := strings.ToUpper(rest[:1]) + rest[1:n]
		lower := rest[:1] != s[:1]
		if symbols[s] && (!lower || strings.Contains(" B C N O P S Se As Te ", " "+s+" ")) {
			a.symbol, rest = s, rest[n:]
			break
		}
	}
	if a.symbol == "" {
		return a, false
	}
	if h, ok := strings.CutPrefix(rest, "H"); ok {
		k := len(h) - len(strings.TrimLeft(h, "0123456789"))
		a.hydrogens, a.counted = 1, true
		// "H2+" is two hydrogens and a charge of one.
		if k > 0 {
			n, err := strconv.Atoi(h[:k])
			if err != nil || n > 9 {
				return a, false
			}
			a.hydrogens = n
		}
		rest = h[k:]
	}
	if rest == "" {
		return a, true
	}
	sign := ""
	switch {
	case strings.Contains(rest, "+"):
		sign = "+"
	case strings.Contains(rest, "-"):
		sign = "−"
	}
	number := strings.Trim(rest, "+-")
	signs := len(rest) - len(number)
	if sign == "" || strings.Contains(rest, "+") && strings.Contains(rest, "-") {
		return a, false
	}
	if number != "" {
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 9 || signs != 1 {
			return a, false
		}
	} else if signs > 1 {
		number = strconv.Itoa(signs)
	}
	if number == "1" {
		number = ""
	}
	a.charge = number + sign
	return a, true
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

// kekulize gives aromatic bonds alternating orders: a matching that covers every aromatic
// carbon without a double bond outside the ring. Nitrogen with two bonds may take part,
// other atoms give a lone pair. Without such a matching the bonds stay aromatic.
func (m *molecule) kekulize() {
	const must, may, never = 2, 1, 0
	kind := make([]int, len(m.atoms))
	for v, a := range m.atoms {
		aromatic, double := 0, false
		for _, k := range m.at[v] {
			if m.bonds[k].aromatic {
				aromatic++
			}
			double = double || m.bonds[k].order > 1
		}
		three := len(m.at[v])+a.hydrogens > 2
		switch {
		case aromatic == 0 || double:
		case a.symbol == "C" && (a.charge == "" || a.charge == "+"):
			kind[v] = must
		case a.symbol == "C" || a.symbol == "B":
			kind[v] = may
		case (a.symbol == "N" || a.symbol == "P" || a.symbol == "As") && (!three || a.charge == "+"):
			kind[v] = may
		case (a.symbol == "O" || a.symbol == "S" || a.symbol == "Se" || a.symbol == "Te") && a.charge == "+":
			kind[v] = may
		}
	}
	match := make([]int, len(m.atoms))
	for v := range match {
		match[v] = -1
	}
	// Augmenting search with backtracking; molecules need few steps, the bound stops others.
	steps := 0
	var cover func(v int) bool
	cover = func(v int) bool {
		for v < len(kind) && (kind[v] != must || match[v] >= 0) {
			v++
		}
		if v == len(kind) {
			return true
		}
		for pass := may; pass <= must; pass++ { // nitrogen first: most take part
			for _, k := range m.at[v] {
				w := m.bonds[k].other(v)
				if !m.bonds[k].aromatic || kind[w] != pass || match[w] >= 0 {
					continue
				}
				if steps++; steps > 20000 {
					return false
				}
				match[v], match[w] = k, k
				if cover(v + 1) {
					return true
				}
				match[v], match[w] = -1, -1
			}
		}
		return false
	}
	if !cover(0) {
		return
	}
	// Nitrogens that are left pair up with each other, as in tetrazole.
	for v := range kind {
		for _, k := range m.at[v] {
			w := m.bonds[k].other(v)
			if m.bonds[k].aromatic && kind[v] == may && kind[w] == may && match[v] < 0 && match[w] < 0 {
				match[v], match[w] = k, k
			}
		}
	}
	for k := range m.bonds {
		if b := &m.bonds[k]; b.aromatic {
			b.aromatic = false
			if match[b.u] == k {
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
		if a.counted || unsure[v] {
			continue
		}
		room := sum[v]
		switch {
		case a.charge == "+" && a.symbol != "B":
			room--
		case a.charge == "−" && a.symbol != "B":
			room++
		case a.charge != "":
			continue
		}
		for _, n := range valences[a.symbol] {
			if n >= room {
				a.hydrogens = n - room
				break
			}
		}
	}
}

// linear reports whether the two bonds of v lie on a line.
func (m *molecule) linear(v int) bool {
	if len(m.at[v]) != 2 {
		return false
	}
	a, b := m.bonds[m.at[v][0]].order, m.bonds[m.at[v][1]].order
	return a >= 3 || b >= 3 || a == 2 && b == 2
}

// shown reports whether the atom is written; carbon is where bonds meet, unless it stands
// alone, is charged or between two double bonds.
func (m *molecule) shown(v int) bool {
	a := m.atoms[v]
	return a.symbol != "C" || a.charge != "" || len(m.at[v]) == 0
}
