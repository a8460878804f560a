package chem

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Marks of bonds whose order the string leaves open: nothing was written, or a slash,
// which tells the side of a double bond next to it.
const (
	unset Order = 0
	slash Order = 7
)

// bondSymbols are the symbols of the orders from Single to slash. A backslash is a slash.
const bondSymbols = "-=#$:~/"

// ringEnd is an open ring closure.
type ringEnd struct {
	atom  int32
	order Order
	slot  int // place of the bond in the list, so that bonds stand in order of their digits
	pos   int
}

// parser holds the state of ParseSMILES. The string is read once, left to right, up to the
// first error.
type parser struct {
	s   string
	pos int
	err error
	mol *Molecule

	last    int32 // atom that the next one is bound to, -1: none
	order   Order // order written since the last atom
	symbol  int   // 1-based position of that bond symbol, 0: none
	dot     bool  // a dot was read since the last atom
	branch  []branch
	ring    map[int]ringEnd
	closed  map[[2]int32]bool // atoms that a ring closure joins
	before  []int32           // atom that an atom was bound to when it was read, -1: none
	slope   int8              // of the bond written since the last atom: 1 for /, -1 for \
	slant   map[int32]int8    // of the bonds with a slope: whether B lies above A (1) or below (-1)
	around  map[int32][]int32 // neighbours of chiral atoms in the order of the string, opensRing − n for an open ring
	chains  bool              // around has all atoms
	allenes []int32           // atoms with chirality AL
	organic []bool            // atoms without brackets
	max     int
}

type branch struct {
	last int32
	pos  int
	n    int // atoms before it
}

// ParseSMILES reads a molecule in the OpenSMILES language. Beyond it, as other programs write them:
// ring closures as %(123), aromatic [te] and [si], and ring closures after a branch. Tetrahedral
// chirality is kept. Other classes of chirality are only checked for their form. An empty string is
// a molecule without atoms. More than max atoms are an error.
//
// The aromatic parts must have a Kekulé structure, and non-metals no more bonds than they can have. Crowded forms such as
// N(=O)=O become those with charges.
func ParseSMILES(s string, max int) (*Molecule, error) {
	m, chains, err := parseSMILES(s, max, false)
	if chains {
		m, _, err = parseSMILES(s, max, true)
	}
	return m, err
}

// parseSMILES is ParseSMILES. With chains it keeps the neighbours of all atoms in the order of the string, not only of those
// with chirality. It reports whether that is needed, as in allenes.
func parseSMILES(s string, max int, chains bool) (m *Molecule, needed bool, err error) {
	p := &parser{s: s, mol: &Molecule{}, last: -1, ring: map[int]ringEnd{}, closed: map[[2]int32]bool{},
		slant: map[int32]int8{}, around: map[int32][]int32{}, chains: chains, max: max}
	for p.pos < len(p.s) && p.err == nil {
		p.next()
	}
	if p.finish(); p.err != nil {
		return nil, false, p.err
	}
	m = p.mol
	var ring []bool // nil where nothing is aromatic
	if m.someAromatic() {
		ring = m.ringBonds()
	}
	for i := range m.Bonds {
		b := &m.Bonds[i]
		if b.Order != unset && b.Order != slash {
			continue
		}
		b.Order = Single
		if ring != nil && ring[i] && m.Atoms[b.A].Aromatic && m.Atoms[b.B].Aromatic {
			b.Order = Aromatic
		}
	}
	m.separateCharges()
	m.fillHydrogens(func(i int) ([]int, int) {
		if p.organic[i] && m.Atoms[i].Charge == 0 {
			return organic[m.Atoms[i].Element], 0
		}
		return nil, 0
	})
	orders, err := m.kekule(ring)
	if err == nil {
		err = m.checkValences(orders)
	}
	if err != nil {
		return nil, false, err
	}
	m.setSides(p.slant)
	return m, p.settleChirality() && !chains, nil
}

// settleChirality refers the chirality of atoms, which is that of their neighbours in the order of the string, to the order of
// their numbers. It reports whether some are in the middle of a chain of double bonds.
func (p *parser) settleChirality() (chains bool) {
	if len(p.around) == 0 {
		return false
	}
	m, near := p.mol, p.mol.adjacency()
	for i := range p.around {
		a := &m.Atoms[i]
		if a.Chirality == Achiral {
			continue
		}
		middle, _ := m.cumulated(near, i)
		chains = chains || middle
		written := m.ligandsBy(near, i, func(b int32) []int32 { return p.around[b] }, func(b int32) bool { return p.before[b] < 0 })
		if written == nil || slices.Contains(p.allenes, i) && !middle {
			a.Chirality = Achiral
			continue
		}
		a.Chirality = a.Chirality.flip(reordered(written, m.ligands(near, i)))
	}
	return chains
}

// fail keeps the first error, at a character of the string.
func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("SMILES position %d: %w", pos+1, fmt.Errorf(format, args...))
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// next reads an atom, a bond, a ring closure, or an end of a branch.
func (p *parser) next() {
	start := p.pos
	switch c := p.s[p.pos]; c {
	case '(':
		switch {
		case p.alone():
			p.fail(start, "branch without an atom before it")
		case p.symbol > 0:
			p.fail(p.symbol-1, "bond symbol before a branch, want it inside the branch")
		}
		p.branch = append(p.branch, branch{p.last, start, len(p.mol.Atoms)})
		p.pos++
	case ')':
		if len(p.branch) == 0 {
			p.fail(start, "branch is closed but was not opened")
			return
		}
		b := p.branch[len(p.branch)-1]
		if b.n == len(p.mol.Atoms) {
			p.fail(b.pos, "empty branch")
		}
		p.dangling()
		p.branch = p.branch[:len(p.branch)-1]
		p.last = b.last
		p.pos++
	case '-', '=', '#', '$', ':', '~', '/', '\\':
		switch {
		case p.symbol > 0:
			p.fail(start, "two bond symbols in a row")
		case p.last < 0 || p.dot:
			p.fail(start, "bond without an atom before it")
		}
		switch p.order = Order(1 + strings.IndexByte(bondSymbols, c)); c {
		case '/':
			p.slope = 1
		case '\\':
			p.order, p.slope = slash, -1
		}
		p.pos++
		if c == '\\' && p.pos < len(p.s) && p.s[p.pos] == '\\' { // as texts with escaped characters have it
			p.pos++
		}
		p.symbol = p.pos
	case '.':
		switch {
		case p.symbol > 0:
			p.dangling()
		case p.last < 0 || p.dot:
			p.fail(start, "dot without an atom before it")
		}
		p.dot = true
		p.pos++
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '%':
		p.closure()
	default:
		p.atom()
	}
}

// alone reports whether there is no atom that a branch or a ring closure could belong to.
func (p *parser) alone() bool {
	fresh := len(p.branch) > 0 && p.branch[len(p.branch)-1].n == len(p.mol.Atoms)
	return p.last < 0 || p.dot || fresh
}

// dangling reports a bond or a dot that nothing follows.
func (p *parser) dangling() {
	if p.symbol > 0 {
		p.fail(p.symbol-1, "bond without an atom after it")
	}
	if p.dot {
		p.fail(p.pos-1, "dot without an atom after it")
	}
}

// finish checks that nothing is left open at the end.
func (p *parser) finish() {
	if len(p.branch) > 0 {
		p.fail(p.branch[len(p.branch)-1].pos, "branch is not closed")
	}
	p.dangling()
	first, number := -1, 0
	for n, r := range p.ring {
		if first < 0 || r.pos < first {
			first, number = r.pos, n
		}
	}
	if first >= 0 {
		p.fail(first, "ring %d is not closed", number)
	}
}

// closure reads a ring closure: a digit, %nn or %(n…).
func (p *parser) closure() {
	start := p.pos
	if p.alone() {
		p.fail(start, "ring closure without an atom before it")
		return
	}
	n := 0
	switch rest := p.s[p.pos:]; {
	case rest[0] != '%':
		n = p.number(1)
	case strings.HasPrefix(rest, "%("):
		p.pos += 2
		if n = p.number(6); n < 0 || p.peek() != ')' {
			p.fail(start, "ring closure %%(…), want 1 to 6 digits in the parentheses")
		}
		p.pos++
	case len(rest) > 2 && digit(rest[1]) && digit(rest[2]):
		p.pos++
		n = p.number(2)
	default:
		p.fail(start, "ring closure %%, want two digits after it")
	}
	if p.err != nil {
		return
	}
	order, slope := p.order, p.slope
	p.order, p.symbol, p.slope = unset, 0, 0
	open, ok := p.ring[n]
	if !ok {
		p.slanted(len(p.mol.Bonds), slope)
		p.ring[n] = ringEnd{p.last, order, len(p.mol.Bonds), start}
		p.mol.Bonds = append(p.mol.Bonds, Bond{A: p.last, B: -1})
		p.meet(p.last, opensRing-int32(n))
		return
	}
	delete(p.ring, n)
	p.slanted(open.slot, -slope) // seen from the other end
	p.meet(p.last, open.atom)
	if at := slices.Index(p.around[open.atom], opensRing-int32(n)); at >= 0 {
		p.around[open.atom][at] = p.last
	}
	low, high := min(open.atom, p.last), max(open.atom, p.last)
	switch {
	case low == high:
		p.fail(start, "ring %d opens and closes at the same atom", n)
	case p.before[high] == low || p.closed[[2]int32{low, high}]:
		p.fail(start, "ring closes between atoms %d and %d, which already have a bond", low+1, high+1)
	case order == unset, order == slash && (open.order == Single || open.order == Aromatic):
		order = open.order
	case open.order == unset, open.order == slash && (order == Single || order == Aromatic), open.order == order:
	default:
		p.fail(start, "ring %d opens with bond %c and closes with bond %c", n, bondSymbols[open.order-1], bondSymbols[order-1])
	}
	p.closed[[2]int32{low, high}] = true
	p.mol.Bonds[open.slot] = Bond{A: open.atom, B: p.last, Order: order}
}

// opensRing stands, less the number of the ring, for a neighbour that is not known yet.
const opensRing = -2

// meet appends a neighbour to those of a chiral atom, up to one more than such an atom has.
func (p *parser) meet(a, neighbour int32) {
	if list, chiral := p.around[a]; chiral && len(list) < 5 {
		p.around[a] = append(list, neighbour)
	}
}

// slanted keeps the slope of a bond. A ring that both ends give one keeps that of the first.
func (p *parser) slanted(bond int, slope int8) {
	if _, twice := p.slant[int32(bond)]; slope != 0 && !twice {
		p.slant[int32(bond)] = slope
	}
}

// number reads up to most digits, -1 when there is none.
func (p *parser) number(most int) int {
	if !digit(p.peek()) {
		return -1
	}
	n := 0
	for ; most > 0 && digit(p.peek()); most-- {
		n = n*10 + int(p.s[p.pos]-'0')
		p.pos++
	}
	return n
}

// add appends an atom and binds it to the one before.
func (p *parser) add(a Atom, organic bool, pos int) {
	if len(p.mol.Atoms) >= p.max {
		p.fail(pos, "more than %d atoms", p.max)
	}
	n := int32(len(p.mol.Atoms))
	p.mol.Atoms = append(p.mol.Atoms, a)
	p.organic = append(p.organic, organic)
	if p.dot {
		p.last = -1
	}
	p.before = append(p.before, p.last)
	if p.last >= 0 {
		p.slanted(len(p.mol.Bonds), p.slope)
		p.mol.Bonds = append(p.mol.Bonds, Bond{A: p.last, B: n, Order: p.order})
		p.meet(p.last, n)
	}
	if a.Chirality != Achiral || p.chains {
		p.around[n] = nil
		if p.last >= 0 {
			p.around[n] = []int32{p.last}
		}
	}
	p.last, p.order, p.symbol, p.slope, p.dot = n, unset, 0, 0, false
}

// bare are the atoms that stand without brackets, bracketed those in brackets. Symbols in lower
// case are aromatic.
var (
	bare      = atoms("* B C N O P S F Cl Br I", "b c n o p s")
	bracketed = atoms(strings.Join(symbols, " "), "b c n o p s se as te si")
)

func atoms(plain, aromatic string) map[string]Atom {
	m := map[string]Atom{}
	for _, s := range strings.Fields(plain) {
		m[s] = Atom{Element: numbers[s]}
	}
	for _, s := range strings.Fields(aromatic) {
		m[s] = Atom{Element: numbers[strings.ToUpper(s[:1])+s[1:]], Aromatic: true}
	}
	return m
}

// known reads a symbol, of two letters where possible.
func (p *parser) known(symbols map[string]Atom) (Atom, bool) {
	rest := p.s[p.pos:]
	for n := min(2, len(rest)); n > 0; n-- {
		if a, ok := symbols[rest[:n]]; ok {
			p.pos += n
			return a, true
		}
	}
	return Atom{}, false
}

// atom reads an atom of the organic subset, a star, or a bracket.
func (p *parser) atom() {
	start, rest := p.pos, p.s[p.pos:]
	if rest[0] == '[' {
		p.bracket()
		return
	}
	a, ok := p.known(bare)
	switch c := rest[0]; {
	case ok:
	case c == ']':
		p.fail(start, "bracket is closed but was not opened")
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		p.fail(start, "unknown element %q outside brackets, want B C N O P S F Cl Br I or b c n o p s", element(rest))
	default:
		p.fail(start, "unexpected character %q", firstRune(rest))
	}
	p.add(a, true, start)
}

// element returns the letters that look like an element symbol.
func element(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' && s[0] >= 'A' && s[0] <= 'Z' {
		return s[:2]
	}
	return s[:1]
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}
