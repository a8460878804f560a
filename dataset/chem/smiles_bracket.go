package chem

// chiralities are the classes of chirality with the largest number of each.
var chiralities = map[string]int{"TH": 2, "AL": 2, "SP": 3, "TB": 20, "OH": 30}

// bracket reads an atom in brackets:
//
//	'[' isotope? symbol chirality? hydrogens? charge? class? ']'
func (p *parser) bracket() {
	open := p.pos
	p.pos++
	isotope := uint16(max(p.number(3), 0))
	if digit(p.peek()) {
		p.fail(open+1, "isotope of more than 3 digits")
	}
	a, ok := p.known(bracketed)
	switch rest := p.s[p.pos:]; {
	case ok:
	case rest == "":
		p.fail(open, "bracket is not closed")
	case rest[0] >= 'A' && rest[0] <= 'Z':
		p.fail(p.pos, "unknown element %q", element(rest))
	default:
		p.fail(p.pos, "%q in a bracket, want an element", firstRune(rest))
	}
	a.Isotope = isotope
	a.Chirality = p.chirality()
	if p.peek() == 'H' {
		if a.Element == hydrogen {
			p.fail(p.pos, "a hydrogen atom has no hydrogen count")
		}
		p.pos++
		if a.Hydrogens = p.number(1); a.Hydrogens < 0 {
			a.Hydrogens = 1
		}
	}
	a.Charge = p.charge()
	if p.peek() == ':' {
		p.pos++
		if a.Class = p.number(9); a.Class < 0 {
			p.fail(p.pos, "atom class, want a number after the colon")
		}
	}
	switch {
	case p.pos >= len(p.s):
		p.fail(open, "bracket is not closed")
	case p.peek() != ']':
		p.fail(p.pos, "%q in a bracket, want isotope, element, chirality, hydrogens, charge and class in this order", firstRune(p.s[p.pos:]))
	}
	p.pos++
	p.add(a, false, open)
}

// chirality reads @, @@ or @ with a class and a number. Those of tetrahedra and allenes are kept.
func (p *parser) chirality() Chirality {
	start := p.pos
	if p.peek() != '@' {
		return Achiral
	}
	p.pos++
	if p.peek() == '@' {
		p.pos++
		return Clockwise
	}
	class := p.s[p.pos:min(p.pos+2, len(p.s))]
	most, ok := chiralities[class]
	if !ok {
		return Anticlockwise
	}
	p.pos += 2
	n := p.number(2)
	if n < 1 || n > most {
		p.fail(start, "chirality @%s, want a number from 1 to %d after it", class, most)
	}
	if class == "AL" {
		p.allenes = append(p.allenes, int32(len(p.mol.Atoms)))
	}
	if (class == "TH" || class == "AL") && n >= 1 && n <= 2 {
		return Chirality(n)
	}
	return Achiral
}

// charge reads +, -, a repetition of either, or one with a number.
func (p *parser) charge() int8 {
	start, sign := p.pos, p.peek()
	if sign != '+' && sign != '-' {
		return 0
	}
	p.pos++
	n := 1
	if digit(p.peek()) {
		n = p.number(2)
	} else {
		for p.peek() == sign {
			p.pos++
			n++
		}
	}
	if n > 15 || digit(p.peek()) {
		p.fail(start, "charge of more than 15")
	}
	if sign == '-' {
		n = -n
	}
	return int8(n)
}
