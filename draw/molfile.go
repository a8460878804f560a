package draw

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// Limits of a connection table in the format V2000.
const (
	maxMolfile = 999
	bondLength = 1.5 // Å, of a drawn bond
)

// AppendMolfile appends a molecule as an MDL connection table (V2000), up to M  END, with the positions and the wedges of its
// drawing. The name goes into the first line. The error says why the graph has none.
func AppendMolfile(b []byte, g *graph.Graph, name string) ([]byte, error) {
	m, err := chem.Of(g)
	if err != nil {
		return nil, err
	}
	orders, err := m.Kekule()
	if err != nil {
		return nil, err
	}
	d := &drawing{g: g}
	if d.m = readMolecule(g); d.m == nil {
		return nil, errors.New("no molecule")
	}
	d.arrange()
	t := &molfile{m: m, orders: orders, wedge: make([]int, len(m.Bonds)), turned: make([]bool, len(m.Bonds))}
	for _, w := range d.wedges {
		t.add(w, d.pos)
	}
	if atoms, bonds := len(m.Atoms)+len(t.hydrogens), len(m.Bonds)+len(t.hydrogens); atoms > maxMolfile || bonds > maxMolfile {
		return nil, fmt.Errorf("%d atoms and %d bonds, want at most %d", atoms, bonds, maxMolfile)
	}
	return t.append(b, d.pos, name), nil
}

// molfile is a connection table in the making.
type molfile struct {
	m         *chem.Molecule
	orders    []chem.Order
	wedge     []int  // of each bond: 0, 1 for up, 6 for down
	turned    []bool // the narrow end is the second atom
	hydrogens []hydrogen
}

// hydrogen is one that is drawn, because no other bond can show a chirality.
type hydrogen struct {
	atom, wedge int
	at          point
}

func (t *molfile) add(w wedge, pos []point) {
	kind := 6
	if w.up {
		kind = 1
	}
	if w.bond < 0 {
		t.hydrogens = append(t.hydrogens, hydrogen{w.atom, kind, pos[w.atom].add(w.to)})
		return
	}
	t.wedge[w.bond], t.turned[w.bond] = kind, int(t.m.Bonds[w.bond].B) == w.atom
}

// valence returns the field of an atom's valence, which says how many hydrogens it has: 0 where nothing says.
func (t *molfile) valence(v int) int {
	h := t.m.Atoms[v].Hydrogens
	if h == chem.Unknown {
		return 0
	}
	sum := h
	for k, b := range t.m.Bonds {
		if int(b.A) == v || int(b.B) == v {
			sum += t.orders[k].Pairs()
		}
	}
	if sum == 0 || sum > 14 {
		return 15
	}
	return sum
}

func (t *molfile) append(b []byte, pos []point, name string) []byte {
	name = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, name)
	b = fmt.Appendf(b, "%s\n  mlg\n\n%3d%3d  0  0  0  0  0  0  0  0999 V2000\n", name, len(t.m.Atoms)+len(t.hydrogens), len(t.m.Bonds)+len(t.hydrogens))
	atom := func(at point, symbol string, valence int) {
		b = fmt.Appendf(b, "%10.4f%10.4f%10.4f %-3s 0  0  0  0  0%3d  0  0  0  0  0  0\n", bondLength*at.x, bondLength*at.y, 0.0, symbol, valence)
	}
	for v, a := range t.m.Atoms {
		atom(pos[v], chem.Symbol(a.Element), t.valence(v))
	}
	for _, h := range t.hydrogens {
		atom(h.at, "H", 0)
	}
	for k, c := range t.m.Bonds {
		from, to := c.A, c.B
		if t.turned[k] {
			from, to = to, from
		}
		kind := int(t.orders[k])
		if t.orders[k] == chem.AnyOrder {
			kind = 8
		}
		b = fmt.Appendf(b, "%3d%3d%3d%3d\n", from+1, to+1, kind, t.wedge[k])
	}
	for k, h := range t.hydrogens {
		b = fmt.Appendf(b, "%3d%3d  1%3d\n", h.atom+1, len(t.m.Atoms)+k+1, h.wedge)
	}
	b = t.properties(b, "CHG", func(a chem.Atom) int { return int(a.Charge) })
	b = t.properties(b, "ISO", func(a chem.Atom) int { return int(a.Isotope) })
	return append(b, "M  END\n"...)
}

// properties appends the lines of a property that some atoms have, eight atoms a line.
func (t *molfile) properties(b []byte, key string, of func(chem.Atom) int) []byte {
	var with []int
	for v, a := range t.m.Atoms {
		if of(a) != 0 {
			with = append(with, v)
		}
	}
	for some := range slices.Chunk(with, 8) {
		b = fmt.Appendf(b, "M  %s%3d", key, len(some))
		for _, v := range some {
			b = fmt.Appendf(b, " %3d %3d", v+1, of(t.m.Atoms[v]))
		}
		b = append(b, '\n')
	}
	return b
}
