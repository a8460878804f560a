package chem

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table reads the lines of a connection table. It keeps the first error and goes on with
// empty lines then.
type table struct {
	lines []string
	n     int // number of the line read last
	err   error
	mol   *Molecule
	// What the lines say beyond the molecule, by atom: the code of a valence (0: not given; 15 in
	// V2000 and -1 in V3000: none), and unpaired electrons.
	valence  []int
	unpaired []int
	rise     map[[2]int32]float64 // bonds that leave the page, from their narrow end: up (1), down (-1) or nobody knows (0)
	parity   map[int]int          // of atoms: 1 (odd) or 2 (even)
	bound    map[[2]int32]bool
	number   map[int]int // V3000: 1-based atom by its number in the file
	max      int
}

func (t *table) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

func (t *table) next() string {
	if t.err != nil {
		return ""
	}
	t.n++
	if t.n > len(t.lines) {
		t.fail("the connection table ends too early, want a line M  END")
		return ""
	}
	return strings.TrimRight(t.lines[t.n-1], "\r")
}

// ParseMol reads an MDL connection table, V2000 or V3000: the first lines of a MOL file
// up to "M  END". It returns the number of lines that it read; an error is in the last of
// them. More than max atoms are an error. Implicit hydrogens fill up the smallest usual valence. Chirality is
// read from wedges and places in the plane, from places in space, or, where atoms have no places, from their parities. Places
// tell the sides of double bonds too, unless the file says that they are not known. A molecule in space has no places to
// draw it by.
func ParseMol(lines []string, max int) (*Molecule, int, error) {
	t := &table{lines: lines, mol: &Molecule{}, max: max,
		bound: map[[2]int32]bool{}, number: map[int]int{}, parity: map[int]int{}, rise: map[[2]int32]float64{}}
	t.mol.Name = strings.TrimSpace(t.next())
	t.next()
	t.next()
	if counts := t.next(); t.version(counts) == "V3000" {
		t.v3000()
	} else {
		t.v2000(counts)
	}
	if t.err != nil {
		return nil, t.n, t.err
	}
	t.mol.separateCharges()
	t.mol.fillHydrogens(func(i int) ([]int, int) {
		switch v := t.valence[i]; v {
		case 0:
			return valences(t.mol.Atoms[i]), t.unpaired[i]
		case 15, -1:
			return []int{0}, 0
		default:
			return []int{v}, 0
		}
	})
	orders, err := t.mol.Kekule()
	if err == nil {
		err = t.mol.checkValences(orders)
	}
	if err != nil {
		return nil, t.n, err
	}
	placed := slices.ContainsFunc(t.mol.Atoms, func(a Atom) bool { return a.X != 0 || a.Y != 0 })
	solid := slices.ContainsFunc(t.mol.Atoms, func(a Atom) bool { return a.Z != 0 })
	t.mol.HasCoordinates = placed && !solid
	switch near := t.mol.adjacency(); {
	case solid:
		t.mol.stereoInSpace(near)
	case placed:
		t.chirality(near)
		t.sides(near)
	default:
		t.parities(near)
	}
	return t.mol, t.n, nil
}

// field returns the trimmed columns from … to of a line, both 0-based, to exclusive.
func field(line string, from, to int) string {
	if from >= len(line) {
		return ""
	}
	return strings.TrimSpace(line[from:min(to, len(line))])
}

// columns reads a whole number from columns; blank is 0.
func (t *table) columns(line string, from, to int, what string) int {
	s := field(line, from, to)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.fail("%s %q, want a whole number in columns %d to %d", what, s, from+1, to)
	}
	return n
}

// coordinate reads a position along an axis.
func (t *table) coordinate(axis, s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		t.fail("coordinate %s: %q, want a number", axis, clip(s))
	}
	return x
}

// version returns the version that stands behind the numbers of the counts line. Old files have none.
func (t *table) version(counts string) string {
	out := "V2000"
	for _, word := range strings.Fields(counts[min(6, len(counts)):]) {
		if version := strings.TrimLeft(word, "-0123456789"); version != "" {
			out = version
		}
	}
	if out != "V2000" && out != "V3000" {
		t.columns(counts, 0, 3, "number of atoms") // another line than this one is that error
		t.fail("version %q of the connection table, want V2000 or V3000", clip(out))
	}
	return out
}

func (t *table) v2000(counts string) {
	atoms, bonds := t.columns(counts, 0, 3, "number of atoms"), t.columns(counts, 3, 6, "number of bonds")
	if atoms < 0 || bonds < 0 || field(counts, 0, 3) == "" {
		t.fail("%q, want the numbers of atoms and bonds", clip(counts))
	}
	for i := 0; i < atoms && t.err == nil; i++ {
		t.atom2000(t.next())
	}
	for i := 0; i < bonds && t.err == nil; i++ {
		line := t.next()
		t.bond(t.columns(line, 0, 3, "first atom"), t.columns(line, 3, 6, "second atom"), t.columns(line, 6, 9, "bond type"))
		t.wedge(field(line, 9, 12), "1", "6", "3", "4")
	}
	t.properties()
}

// charges2000 are the charges that the codes of the atom block stand for; code 4 is a radical.
var charges2000 = [...]int8{0, 3, 2, 1, 0, -1, -2, -3}

func (t *table) atom2000(line string) {
	a := Atom{
		X: t.coordinate("x", field(line, 0, 10)),
		Y: t.coordinate("y", field(line, 10, 20)),
		Z: t.coordinate("z", field(line, 20, 30)),
	}
	t.element(&a, field(line, 31, 34))
	diff := t.columns(line, 34, 36, "mass difference")
	if m := massNumber[a.Element]; diff != 0 && m > 0 {
		if m+diff < 1 {
			t.fail("mass difference %d, which leaves no mass", diff)
		}
		a.Isotope = uint16(m + diff)
	}
	code, unpaired := t.columns(line, 36, 39, "charge code"), 0
	switch {
	case code < 0 || code >= len(charges2000):
		t.fail("charge code %d, want 0 to 7", code)
	case code == 4:
		unpaired = 1
	default:
		a.Charge = charges2000[code]
	}
	t.add(a, 0, unpaired)
	t.parity[len(t.mol.Atoms)-1] = t.columns(line, 39, 42, "parity")
	t.property(len(t.mol.Atoms)-1, "VAL", t.columns(line, 48, 51, "valence"))
}

// wholeNumbers parses all texts.
func wholeNumbers(texts []string) ([]int, error) {
	out := make([]int, len(texts))
	for i, s := range texts {
		var err error
		if out[i], err = strconv.Atoi(s); err != nil {
			return nil, fmt.Errorf("%q, want a whole number", clip(s))
		}
	}
	return out, nil
}

// massNumber is the mass number of the most abundant isotope. Mass differences of V2000 count from
// it. It has the elements whose isotopes are in use.
var massNumber = map[uint8]int{1: 1, 5: 11, 6: 12, 7: 14, 8: 16, 9: 19, 14: 28, 15: 31, 16: 32, 17: 35, 35: 79, 53: 127}

// element sets the element of an atom. Letters for queries and groups are unknown atoms.
func (t *table) element(a *Atom, symbol string) {
	switch symbol {
	case "D":
		a.Element, a.Isotope = hydrogen, 2
	case "T":
		a.Element, a.Isotope = hydrogen, 3
	case "*", "A", "Q", "X", "M", "L", "LP", "R", "R#", "Du":
	default:
		z, ok := numbers[symbol]
		if !ok {
			t.fail("unknown element %q", symbol)
		}
		a.Element = z
	}
}

func (t *table) add(a Atom, valence, unpaired int) {
	if len(t.mol.Atoms) >= t.max {
		t.fail("more than %d atoms", t.max)
	}
	t.mol.Atoms = append(t.mol.Atoms, a)
	t.valence = append(t.valence, valence)
	t.unpaired = append(t.unpaired, unpaired)
}

// known reports whether there is an atom of a 1-based number.
func (t *table) known(atom int) bool {
	if atom < 1 || atom > len(t.mol.Atoms) {
		t.fail("atom %d out of range [1, %d]", atom, len(t.mol.Atoms))
	}
	return t.err == nil
}

// bond adds a bond between 1-based atoms.
func (t *table) bond(a, b, kind int) {
	if !t.known(a) || !t.known(b) {
		return
	}
	if a == b {
		t.fail("bond from atom %d to itself", a)
	}
	key := [2]int32{int32(min(a, b)), int32(max(a, b))}
	if t.bound[key] {
		t.fail("second bond between atoms %d and %d", a, b)
	}
	t.bound[key] = true
	order := Order(kind)
	switch kind {
	case 1, 2, 3:
	case 4:
		order = Aromatic
		t.mol.Atoms[a-1].Aromatic, t.mol.Atoms[b-1].Aromatic = true, true
	case 8:
		order = AnyOrder
	case 9: // coordination
		order = Single
	default:
		t.fail("bond type %d, want 1, 2, 3, 4 (aromatic), 8 (any) or 9 (coordination)", kind)
	}
	t.mol.Bonds = append(t.mol.Bonds, Bond{A: int32(a - 1), B: int32(b - 1), Order: order})
}

// wedge says by the codes for up, down and not known how the bond that was read last leaves the page, or that its sides are
// not known.
func (t *table) wedge(code, up, down string, unknown ...string) {
	if t.err != nil {
		return
	}
	b := t.mol.Bonds[len(t.mol.Bonds)-1]
	switch at := [2]int32{b.A, b.B}; {
	case code == up:
		t.rise[at] = 1
	case code == down:
		t.rise[at] = -1
	case slices.Contains(unknown, code):
		t.rise[at] = 0
	}
}

// height returns how far a neighbour of an atom is over the page.
func (t *table) height(a int32) func(w int32) float64 {
	return func(w int32) float64 { return t.rise[[2]int32{a, w}] }
}

// chirality finds the chirality of the atoms with wedges in the plane.
func (t *table) chirality(near adjacency) {
	m := t.mol
	for ends := range t.rise {
		a := &m.Atoms[ends[0]]
		neighbours := m.neighbours(near, ends[0])
		if t.wavy(ends[0], neighbours) {
			continue
		}
		if around(*a, neighbours, false) != nil {
			a.Chirality = Sense(m.directions(ends[0], neighbours, t.height(ends[0])))
		}
	}
	for i := range int32(len(m.Atoms)) {
		middle, ends := m.cumulated(near, i)
		if middle && !t.wavy(ends[0], m.neighbours(near, ends[0])) && !t.wavy(ends[1], m.neighbours(near, ends[1])) {
			m.Atoms[i].Chirality = m.chainInSpace(near, nil, i, func(end, w int32) float64 { return t.height(end)(w) })
		}
	}
}

// wavy reports whether a bond of an atom, with its narrow end there, leaves open where it leads.
func (t *table) wavy(a int32, neighbours []int32) bool {
	return slices.ContainsFunc(neighbours, func(w int32) bool {
		rise, known := t.rise[[2]int32{a, w}]
		return known && rise == 0
	})
}

// sides finds the sides of double bonds from places in the plane.
func (t *table) sides(near adjacency) {
	m := t.mol
	if len(m.Atoms) > maxSpace || len(m.Bonds) > 4*maxSpace {
		return
	}
	var class []int
	for i, b := range m.Bonds {
		_, open := t.rise[[2]int32{b.A, b.B}]
		if b.Order != Double || open || len(near.at(b.A)) < 2 || len(near.at(b.B)) < 2 || m.smallRing(near, int32(i)) ||
			t.wavy(b.A, m.neighbours(near, b.A)) || t.wavy(b.B, m.neighbours(near, b.B)) {
			continue
		}
		if class == nil {
			class = m.alikeClasses(near, m.orders())
		}
		m.Bonds[i].Sides = m.sidesInSpace(near, class, int32(i))
	}
}

// parities sets the chirality of atoms whose parity is known. Seen with the last neighbour behind, the first three run
// clockwise where it is odd; a hydrogen that is no atom is the last.
func (t *table) parities(near adjacency) {
	for i, p := range t.parity {
		a := &t.mol.Atoms[i]
		list := around(*a, t.mol.neighbours(near, int32(i)), true)
		if middle, _ := t.mol.cumulated(near, int32(i)); list == nil || middle || p != 1 && p != 2 {
			continue
		}
		a.Chirality = Chirality(3 - p)                       // of four neighbours: from the first the others run as they do from behind the last
		a.Chirality = a.Chirality.flip(list[0] == unwritten) // that is the first here
	}
}

// properties reads the lines "M  …" of V2000 up to "M  END".
func (t *table) properties() {
	reset := false
	for t.err == nil {
		line := t.next()
		if strings.HasPrefix(line, "M  END") {
			return
		}
		switch {
		case strings.HasPrefix(line, "A  "), strings.HasPrefix(line, "G  "): // a text is in the next line
			t.next()
			continue
		case looksLikeBond(line):
			t.fail("more than the %d bonds that the counts line states", len(t.mol.Bonds))
		}
		key := line[:min(6, len(line))]
		if key != "M  CHG" && key != "M  RAD" && key != "M  ISO" {
			continue
		}
		n, err := wholeNumbers(strings.Fields(line[6:]))
		if err != nil || len(n) == 0 || n[0] < 1 || len(n) != 1+2*n[0] {
			t.fail("%q, want whole numbers: the number of entries, then an atom and a value for each", clip(line))
			return
		}
		// The first charge or radical makes those of the atom block void.
		if key != "M  ISO" && !reset {
			reset = true
			for i := range t.mol.Atoms {
				t.mol.Atoms[i].Charge, t.unpaired[i] = 0, 0
			}
		}
		for k := range n[0] {
			if a := n[1+2*k]; t.known(a) {
				t.property(a-1, key[3:], n[2+2*k])
			}
		}
	}
}

// looksLikeBond reports whether a line has three whole numbers where a bond has them.
func looksLikeBond(line string) bool {
	n, err := wholeNumbers([]string{field(line, 0, 3), field(line, 3, 6), field(line, 6, 9)})
	return err == nil && n[0] > 0 && n[1] > 0 && n[2] > 0
}

// property sets charge, radical, isotope or valence of a 0-based atom.
func (t *table) property(a int, key string, v int) {
	within := func(what string, least, most int) bool {
		if v < least || v > most {
			t.fail("%s %d, want %d to %d", what, v, least, most)
		}
		return t.err == nil
	}
	switch {
	case key == "CHG" && within("charge", -15, 15):
		t.mol.Atoms[a].Charge = int8(v)
	case key == "RAD" && within("radical", 0, 3):
		t.unpaired[a] = [...]int{0, 2, 1, 2}[v]
	case (key == "ISO" || key == "MASS") && within("isotope", 0, 999):
		t.mol.Atoms[a].Isotope = uint16(v)
	case key == "VAL" && within("valence", -1, 15):
		t.valence[a] = v
	}
}
