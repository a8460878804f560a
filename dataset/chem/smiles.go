package chem

import "fmt"

// SyntaxError says where a SMILES string is wrong.
type SyntaxError struct {
	Position int // 1-based position of the character in the string
	Message  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("SMILES position %d: %s", e.Position, e.Message)
}

// Marks of bonds whose order the string leaves open: nothing was written, or a slash,
// which tells the side of a double bond next to it.
const (
	unset Order = 0
	slash Order = 6
)

// ringEnd is an open ring closure.
type ringEnd struct {
	atom  int32
	order Order
	slot  int // place of the bond in the list, so that bonds stand in order of their digits
	pos   int
}

// closed is a ring closure: the place of its bond and the position where it closes.
type closed struct{ slot, pos int }

// parser holds the state of ParseSMILES. The string is read once, left to right.
type parser struct {
	s   string
	pos int
	mol *Molecule

	last    int32 // atom that the next one is bound to, -1: none
	order   Order // order written since the last atom
	symbol  int   // 1-based position of that bond symbol, 0: none
	dot     bool  // a dot was read since the last atom
	branch  []branch
	ring    map[int]ringEnd
	closed  []closed // bonds that close rings
	organic []bool   // atoms without brackets
	max     int
}

type branch struct {
	last int32
	pos  int
	n    int // atoms before it
}

// ParseSMILES reads a molecule in the OpenSMILES language. Beyond it, as other programs
// write them: ring closures as %(123), aromatic [te] and [si], and ring closures after a
// branch. Chirality and the directions of / and \ are checked for form and dropped. An
// empty string is a molecule without atoms. More than max atoms are an error.
//
// The aromatic parts must have a Kekulé structure. Errors in the form are of type
// *SyntaxError.
func ParseSMILES(s string, max int) (*Molecule, error) {
	p := &parser{s: s, mol: &Molecule{}, last: -1, ring: map[int]ringEnd{}, max: max}
	if err := p.parse(); err != nil {
		return nil, err
	}
	m := p.mol
	// An open order is aromatic between aromatic atoms of a ring, else single.
	if p.open() {
		inRing := m.ringBonds()
		for i := range m.Bonds {
			if b := &m.Bonds[i]; b.Order == unset || b.Order == slash {
				b.Order = Single
				if inRing[i] && m.Atoms[b.A].Aromatic && m.Atoms[b.B].Aromatic {
					b.Order = Aromatic
				}
			}
		}
	}
	p.hydrogens()
	if _, err := m.Kekule(); err != nil {
		return nil, err
	}
	return m, nil
}

// open settles the bonds that need no look at rings and reports whether others are left.
func (p *parser) open() bool {
	left := false
	for i := range p.mol.Bonds {
		b := &p.mol.Bonds[i]
		if b.Order != unset && b.Order != slash {
			continue
		}
		if p.mol.Atoms[b.A].Aromatic && p.mol.Atoms[b.B].Aromatic {
			left = true
		} else {
			b.Order = Single
		}
	}
	return left
}

// hydrogens counts the implicit hydrogens of atoms outside brackets: up to the smallest
// usual valence that the bonds leave room in. An aromatic atom, or one with an aromatic
// bond, keeps one valence for the aromatic system and has no higher valence.
func (p *parser) hydrogens() {
	sum := make([]int, len(p.mol.Atoms))
	aromatic := make([]bool, len(p.mol.Atoms))
	for _, b := range p.mol.Bonds {
		if b.Order == Aromatic {
			aromatic[b.A], aromatic[b.B] = true, true
		}
		sum[b.A] += b.Order.sigma()
		sum[b.B] += b.Order.sigma()
	}
	for i := range p.mol.Atoms {
		a := &p.mol.Atoms[i]
		if !p.organic[i] || a.Element == 0 {
			continue
		}
		vs := organic[a.Element]
		if a.Aromatic || aromatic[i] {
			sum[i]++
			vs = vs[:1]
		}
		for _, v := range vs {
			if v >= sum[i] {
				a.Hydrogens = v - sum[i]
				break
			}
		}
	}
}

func (p *parser) fail(pos int, format string, args ...any) error {
	return &SyntaxError{pos + 1, fmt.Sprintf(format, args...)}
}

func (p *parser) peek() byte {
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) parse() error {
	for p.pos < len(p.s) {
		start := p.pos
		switch c := p.s[p.pos]; c {
		case '(':
			if p.last < 0 || p.dot || p.fresh() {
				return p.fail(start, "branch without an atom before it")
			}
			if p.symbol > 0 {
				return p.fail(p.symbol-1, "bond symbol before a branch, want it inside")
			}
			p.branch = append(p.branch, branch{p.last, start, len(p.mol.Atoms)})
			p.pos++
		case ')':
			if len(p.branch) == 0 {
				return p.fail(start, "branch closed that was not opened")
			}
			b := p.branch[len(p.branch)-1]
			if b.n == len(p.mol.Atoms) {
				return p.fail(b.pos, "empty branch")
			}
			if err := p.dangling(); err != nil {
				return err
			}
			p.branch = p.branch[:len(p.branch)-1]
			p.last = b.last
			p.pos++
		case '-', '=', '#', '$', ':', '/', '\\':
			if p.symbol > 0 {
				return p.fail(start, "second bond symbol in a row")
			}
			if p.last < 0 || p.dot {
				return p.fail(start, "bond without an atom before it")
			}
			p.order = bondSymbol(c)
			p.pos++
			p.symbol = p.pos
		case '.':
			if p.symbol > 0 {
				return p.fail(p.symbol-1, "bond without an atom after it")
			}
			if p.last < 0 || p.dot {
				return p.fail(start, "dot without an atom before it")
			}
			p.dot = true
			p.pos++
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '%':
			if err := p.closure(); err != nil {
				return err
			}
		default:
			if err := p.atom(); err != nil {
				return err
			}
		}
	}
	if len(p.branch) > 0 {
		return p.fail(p.branch[len(p.branch)-1].pos, "branch is not closed")
	}
	if err := p.dangling(); err != nil {
		return err
	}
	first, number := -1, 0
	for n, r := range p.ring {
		if first < 0 || r.pos < first {
			first, number = r.pos, n
		}
	}
	if first >= 0 {
		return p.fail(first, "ring %d is not closed", number)
	}
	return p.simple()
}

// fresh reports whether a branch was opened and has no atom yet.
func (p *parser) fresh() bool {
	return len(p.branch) > 0 && p.branch[len(p.branch)-1].n == len(p.mol.Atoms)
}

// dangling reports a bond or a dot that nothing follows.
func (p *parser) dangling() error {
	if p.symbol > 0 {
		return p.fail(p.symbol-1, "bond without an atom after it")
	}
	if p.dot {
		return p.fail(p.pos-1, "dot without an atom after it")
	}
	return nil
}

// closure reads a ring closure: a digit, %nn or %(n…).
func (p *parser) closure() error {
	start := p.pos
	if p.last < 0 || p.dot || p.fresh() {
		return p.fail(start, "ring closure without an atom before it")
	}
	n := 0
	switch {
	case p.s[p.pos] != '%':
		n = int(p.s[p.pos] - '0')
		p.pos++
	case p.pos+1 < len(p.s) && p.s[p.pos+1] == '(':
		p.pos += 2
		from := p.pos
		for digit(p.peek()) && p.pos-from < 6 {
			n = n*10 + int(p.peek()-'0')
			p.pos++
		}
		if p.peek() != ')' || p.pos == from {
			return p.fail(start, "ring closure %%(…), want 1 to 6 digits in the parentheses")
		}
		p.pos++
	case p.pos+2 < len(p.s) && digit(p.s[p.pos+1]) && digit(p.s[p.pos+2]):
		n = 10*int(p.s[p.pos+1]-'0') + int(p.s[p.pos+2]-'0')
		p.pos += 3
	default:
		return p.fail(start, "ring closure %%, want two digits after it")
	}
	order := p.order
	p.order, p.symbol = unset, 0
	open, ok := p.ring[n]
	if !ok {
		p.ring[n] = ringEnd{p.last, order, len(p.mol.Bonds), start}
		p.mol.Bonds = append(p.mol.Bonds, Bond{A: p.last, B: -1})
		return nil
	}
	delete(p.ring, n)
	if open.atom == p.last {
		return p.fail(start, "ring %d closes on the atom that opens it", n)
	}
	switch {
	case order == unset, order == slash && (open.order == Single || open.order == Aromatic):
		order = open.order
	case open.order == unset, open.order == slash && (order == Single || order == Aromatic), open.order == order:
	default:
		return p.fail(start, "ring %d opens with bond %s and closes with bond %s", n, symbolOf(open.order), symbolOf(order))
	}
	p.closed = append(p.closed, closed{open.slot, start})
	p.mol.Bonds[open.slot].B = p.last
	p.mol.Bonds[open.slot].Order = order
	return nil
}

// add appends an atom and binds it to the one before.
func (p *parser) add(a Atom, organic bool, pos int) error {
	if len(p.mol.Atoms) >= p.max {
		return p.fail(pos, "more than %d atoms", p.max)
	}
	n := int32(len(p.mol.Atoms))
	p.mol.Atoms = append(p.mol.Atoms, a)
	p.organic = append(p.organic, organic)
	if p.last >= 0 && !p.dot {
		p.mol.Bonds = append(p.mol.Bonds, Bond{p.last, n, p.order})
	}
	p.last, p.order, p.symbol, p.dot = n, unset, 0, false
	return nil
}

// atom reads an atom of the organic subset, a star, or a bracket.
func (p *parser) atom() error {
	start := p.pos
	rest := p.s[p.pos:]
	switch c := rest[0]; {
	case c == '[':
		return p.bracket()
	case c == '*':
		p.pos++
		return p.add(Atom{}, true, start)
	case len(rest) > 1 && (rest[:2] == "Cl" || rest[:2] == "Br"):
		p.pos += 2
		return p.add(Atom{Element: numbers[rest[:2]]}, true, start)
	case c == 'B' || c == 'C' || c == 'N' || c == 'O' || c == 'P' || c == 'S' || c == 'F' || c == 'I':
		p.pos++
		return p.add(Atom{Element: numbers[rest[:1]]}, true, start)
	case c == 'b' || c == 'c' || c == 'n' || c == 'o' || c == 'p' || c == 's':
		p.pos++
		return p.add(Atom{Element: numbers[string(c-'a'+'A')], Aromatic: true}, true, start)
	case c == ']':
		return p.fail(start, "bracket closed that was not opened")
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return p.fail(start, "unknown element %q outside brackets, want B C N O P S F Cl Br I or b c n o p s", element(rest))
	default:
		return p.fail(start, "unexpected character %q", firstRune(rest))
	}
}

// element returns the letters that look like an element symbol.
func element(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' && s[0] >= 'A' && s[0] <= 'Z' {
		return s[:2]
	}
	return s[:1]
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// bondSymbol returns the order that a bond symbol stands for.
func bondSymbol(c byte) Order {
	switch c {
	case '=':
		return Double
	case '#':
		return Triple
	case '$':
		return Quadruple
	case ':':
		return Aromatic
	case '/', '\\':
		return slash
	}
	return Single
}

// symbolOf shows an order as it was written.
func symbolOf(o Order) string {
	if o == slash {
		return "/"
	}
	return o.String()
}

// simple checks that no two bonds join the same atoms. One of two such bonds closes a ring.
func (p *parser) simple() error {
	if len(p.closed) == 0 {
		return nil
	}
	adj := p.mol.adjacency()
	seen := make([]int32, len(p.mol.Atoms)) // 1 + the last atom that it was met from
	for a := range int32(len(p.mol.Atoms)) {
		for _, e := range adj.of(a) {
			b := p.mol.Bonds[e].other(a)
			if seen[b] != a+1 {
				seen[b] = a + 1
				continue
			}
			last := 0
			for _, c := range p.closed {
				if x := p.mol.Bonds[c.slot]; x.A == a && x.B == b || x.A == b && x.B == a {
					last = max(last, c.pos)
				}
			}
			return p.fail(last, "ring closes between atoms %d and %d, which are bound already", min(a, b)+1, max(a, b)+1)
		}
	}
	return nil
}
