package chem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// LineError says in which line of a connection table something is wrong.
type LineError struct {
	Line int // 1-based, within the lines given
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error without the line.
func (e *LineError) Unwrap() error { return e.Err }

// table reads the lines of a connection table.
type table struct {
	lines []string
	n     int // number of the line read last
	mol   *Molecule
	// What the lines say beyond the molecule, by atom: a valence (-1: none), and unpaired
	// electrons.
	valence  []int
	radicals []int
	bound    map[[2]int32]bool
	max      int
}

func (t *table) fail(format string, args ...any) error {
	return &LineError{t.n, fmt.Errorf(format, args...)}
}

func (t *table) next() (string, error) {
	if t.n >= len(t.lines) {
		t.n++
		return "", t.fail("the connection table breaks off, want a line M  END")
	}
	t.n++
	return strings.TrimRight(t.lines[t.n-1], "\r"), nil
}

// ParseMol reads an MDL connection table, V2000 or V3000: the first lines of a MOL file
// up to "M  END". It returns the number of lines that it read. More than max atoms are an
// error. Implicit hydrogens fill up the smallest usual valence. Errors are of type
// *LineError.
func ParseMol(lines []string, max int) (*Molecule, int, error) {
	t := &table{lines: lines, mol: &Molecule{}, max: max, bound: map[[2]int32]bool{}}
	for i := range 3 {
		line, err := t.next()
		if err != nil {
			return nil, t.n, err
		}
		if i == 0 {
			t.mol.Name = strings.TrimSpace(line)
		}
	}
	counts, err := t.next()
	if err != nil {
		return nil, t.n, err
	}
	if strings.Contains(counts, "V3000") {
		err = t.v3000()
	} else {
		err = t.v2000(counts)
	}
	if err != nil {
		return nil, t.n, err
	}
	t.hydrogens()
	for _, a := range t.mol.Atoms {
		if a.X != 0 || a.Y != 0 || a.Z != 0 {
			t.mol.HasCoordinates = true
		}
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

// number reads a whole number from columns; blank is 0.
func (t *table) number(line string, from, to int, what string) (int, error) {
	s := field(line, from, to)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, t.fail("%s %q, want a whole number in columns %d to %d", what, s, from+1, to)
	}
	return n, nil
}

func (t *table) v2000(counts string) error {
	atoms, err := t.number(counts, 0, 3, "number of atoms")
	if err != nil {
		return err
	}
	bonds, err := t.number(counts, 3, 6, "number of bonds")
	if err != nil {
		return err
	}
	if atoms < 0 || bonds < 0 || field(counts, 0, 3) == "" {
		return t.fail("%q, want the numbers of atoms and bonds", counts)
	}
	for range atoms {
		line, err := t.next()
		if err != nil {
			return err
		}
		if err := t.atom2000(line); err != nil {
			return err
		}
	}
	for range bonds {
		line, err := t.next()
		if err != nil {
			return err
		}
		var x [3]int
		for k := range x {
			if x[k], err = t.number(line, 3*k, 3*k+3, [...]string{"first atom", "second atom", "bond type"}[k]); err != nil {
				return err
			}
		}
		if err := t.bond(x[0], x[1], x[2]); err != nil {
			return err
		}
	}
	return t.properties()
}

// charges2000 are the charges that the codes of the atom block stand for; code 4 is a radical.
var charges2000 = [...]int8{0, 3, 2, 1, 0, -1, -2, -3}

func (t *table) atom2000(line string) error {
	var a Atom
	for k, p := range []*float64{&a.X, &a.Y, &a.Z} {
		s := field(line, 10*k, 10*k+10)
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return t.fail("coordinate %q, want a number in columns %d to %d", s, 10*k+1, 10*k+10)
		}
		*p = x
	}
	if err := t.element(&a, field(line, 31, 34)); err != nil {
		return err
	}
	diff, err := t.number(line, 34, 36, "mass difference")
	if err != nil {
		return err
	}
	if m := massNumber[a.Element]; diff != 0 && m > 0 {
		a.Isotope = uint16(m + diff)
	}
	code, err := t.number(line, 36, 39, "charge code")
	if err != nil {
		return err
	}
	if code < 0 || code >= len(charges2000) {
		return t.fail("charge code %d, want 0 to 7", code)
	}
	a.Charge = charges2000[code]
	valence, err := t.number(line, 48, 51, "valence")
	if err != nil {
		return err
	}
	radicals := 0
	if code == 4 {
		radicals = 1
	}
	return t.add(a, valenceCode(valence), radicals)
}

// valenceCode returns the valence that a code stands for: 15 is none, 0 is not given (-1).
func valenceCode(code int) int {
	switch {
	case code == 15 || code == -1: // V2000 and V3000
		return 0
	case code <= 0:
		return -1
	}
	return code
}

// massNumber is the mass number of the most abundant isotope, from which the mass
// differences of V2000 count, for the elements of which isotopes are written.
var massNumber = map[uint8]int{1: 1, 5: 11, 6: 12, 7: 14, 8: 16, 9: 19, 14: 28, 15: 31, 16: 32, 17: 35, 35: 79, 53: 127}

// element sets the element of an atom. Letters for queries and groups are unknown atoms.
func (t *table) element(a *Atom, symbol string) error {
	switch symbol {
	case "D":
		a.Element, a.Isotope = hydrogen, 2
		return nil
	case "T":
		a.Element, a.Isotope = hydrogen, 3
		return nil
	case "*", "A", "Q", "X", "M", "L", "LP", "R", "R#", "Du":
		return nil
	}
	z, ok := numbers[symbol]
	if !ok {
		return t.fail("unknown element %q", symbol)
	}
	a.Element = z
	return nil
}

func (t *table) add(a Atom, valence, radicals int) error {
	if len(t.mol.Atoms) >= t.max {
		return t.fail("more than %d atoms", t.max)
	}
	t.mol.Atoms = append(t.mol.Atoms, a)
	t.valence = append(t.valence, valence)
	t.radicals = append(t.radicals, radicals)
	return nil
}

// bond adds a bond between 1-based atoms.
func (t *table) bond(a, b, kind int) error {
	for _, x := range []int{a, b} {
		if x < 1 || x > len(t.mol.Atoms) {
			return t.fail("atom %d out of range [1, %d]", x, len(t.mol.Atoms))
		}
	}
	if a == b {
		return t.fail("bond from atom %d to itself", a)
	}
	key := [2]int32{int32(min(a, b)), int32(max(a, b))}
	if t.bound[key] {
		return t.fail("second bond between atoms %d and %d", a, b)
	}
	t.bound[key] = true
	order := Order(0)
	switch kind {
	case 1, 2, 3:
		order = Order(kind)
	case 4:
		order = Aromatic
		t.mol.Atoms[a-1].Aromatic, t.mol.Atoms[b-1].Aromatic = true, true
	case 9: // coordination
		order = Single
	default:
		return t.fail("bond type %d, want 1, 2, 3, 4 (aromatic) or 9 (coordination)", kind)
	}
	t.mol.Bonds = append(t.mol.Bonds, Bond{int32(a - 1), int32(b - 1), order})
	return nil
}

// properties reads the lines "M  …" of V2000 up to "M  END".
func (t *table) properties() error {
	reset := false
	for {
		line, err := t.next()
		if err != nil {
			return err
		}
		if len(line) < 6 {
			continue
		}
		key := line[:6]
		switch key {
		case "M  END":
			return nil
		case "M  CHG", "M  RAD", "M  ISO":
		default:
			continue
		}
		f := strings.Fields(line[6:])
		n := 0
		if len(f) > 0 {
			n, err = strconv.Atoi(f[0])
		}
		if err != nil || n < 1 || n > (len(f)-1)/2 {
			return t.fail("%q, want a number of entries, then atom and value for each", line)
		}
		// The first charge or radical makes those of the atom block void.
		if key != "M  ISO" && !reset {
			reset = true
			for i := range t.mol.Atoms {
				t.mol.Atoms[i].Charge, t.radicals[i] = 0, 0
			}
		}
		for k := range n {
			a, err1 := strconv.Atoi(f[1+2*k])
			v, err2 := strconv.Atoi(f[2+2*k])
			if err := errors.Join(err1, err2); err != nil {
				return t.fail("%q: %s %s, want two whole numbers", key, f[1+2*k], f[2+2*k])
			}
			if a < 1 || a > len(t.mol.Atoms) {
				return t.fail("atom %d out of range [1, %d]", a, len(t.mol.Atoms))
			}
			if err := t.property(a-1, key[3:], v); err != nil {
				return err
			}
		}
	}
}

// property sets charge, radical or isotope of a 0-based atom.
func (t *table) property(a int, key string, v int) error {
	switch key {
	case "CHG":
		if v < -15 || v > 15 {
			return t.fail("charge %d, want -15 to 15", v)
		}
		t.mol.Atoms[a].Charge = int8(v)
	case "RAD":
		if v < 0 || v > 3 {
			return t.fail("radical %d, want 0 to 3", v)
		}
		t.radicals[a] = [...]int{0, 2, 1, 2}[v]
	case "ISO":
		if v < 0 || v > 999 {
			return t.fail("isotope %d, want 0 to 999", v)
		}
		t.mol.Atoms[a].Isotope = uint16(v)
	}
	return nil
}

// hydrogens counts the implicit hydrogens: up to the given valence, else to the smallest
// usual valence of a non-metal that the bonds leave room in. An aromatic atom keeps one
// valence for the aromatic system.
func (t *table) hydrogens() {
	m := t.mol
	sum := make([]int, len(m.Atoms))
	for _, b := range m.Bonds {
		sum[b.A] += b.Order.sigma()
		sum[b.B] += b.Order.sigma()
	}
	for i := range m.Atoms {
		a := &m.Atoms[i]
		if a.Aromatic {
			sum[i]++
		}
		if t.valence[i] >= 0 {
			a.Hydrogens = max(0, t.valence[i]-sum[i])
			continue
		}
		if !nonMetal[a.Element] {
			continue
		}
		vs := valences(a.Element, a.Charge)
		if a.Aromatic && len(vs) > 1 {
			vs = vs[:1]
		}
		for _, v := range vs {
			if v >= sum[i]+t.radicals[i] {
				a.Hydrogens = v - sum[i] - t.radicals[i]
				break
			}
		}
	}
}

// nonMetal are the elements that have implicit hydrogens in a connection table.
var nonMetal = map[uint8]bool{5: true, 6: true, 7: true, 8: true, 9: true, 14: true, 15: true, 16: true, 17: true,
	33: true, 34: true, 35: true, 52: true, 53: true}
