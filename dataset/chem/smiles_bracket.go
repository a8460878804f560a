package chem

import "strings"

// aromaticSymbols may stand in lower case in brackets, two letters first.
var aromaticSymbols = []struct {
	text    string
	element uint8
}{
	{"se", selenium}, {"as", arsenic}, {"te", tellurium}, {"si", silicon},
	{"b", boron}, {"c", carbon}, {"n", nitrogen}, {"o", oxygen}, {"p", phosphorus}, {"s", sulfur},
}

// chiralities are the classes of chirality with the largest number of each.
var chiralities = map[string]int{"TH": 2, "AL": 2, "SP": 3, "TB": 20, "OH": 30}

// bracket reads an atom in brackets:
//
//	'[' isotope? symbol chirality? hydrogens? charge? class? ']'
func (p *parser) bracket() error {
	open := p.pos
	p.pos++
	var a Atom

	from := p.pos
	isotope := p.number(3)
	if digit(p.peek()) {
		return p.fail(from, "isotope of more than 3 digits")
	}
	a.Isotope = uint16(max(isotope, 0))

	if err := p.symbolInBracket(&a); err != nil {
		return err
	}
	if err := p.chirality(); err != nil {
		return err
	}
	if p.peek() == 'H' {
		if a.Element == hydrogen {
			return p.fail(p.pos, "a hydrogen atom has no hydrogen count")
		}
		p.pos++
		a.Hydrogens = 1
		if digit(p.peek()) {
			a.Hydrogens = int(p.s[p.pos] - '0')
			p.pos++
		}
	}
	if err := p.charge(&a); err != nil {
		return err
	}
	if p.peek() == ':' {
		p.pos++
		if a.Class = p.number(9); a.Class < 0 {
			return p.fail(p.pos, "atom class, want a number after the colon")
		}
	}
	switch c := p.peek(); {
	case c == ']':
		p.pos++
	case p.pos >= len(p.s):
		return p.fail(open, "bracket is not closed")
	default:
		return p.fail(p.pos, "%q in a bracket, want isotope, element, chirality, hydrogens, charge and class in this order", firstRune(p.s[p.pos:]))
	}
	return p.add(a, false, open)
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

func (p *parser) symbolInBracket(a *Atom) error {
	rest := p.s[p.pos:]
	if rest == "" {
		return p.fail(p.pos-1, "bracket is not closed")
	}
	if rest[0] == '*' {
		p.pos++
		return nil
	}
	if c := rest[0]; c >= 'A' && c <= 'Z' {
		for n := min(2, len(rest)); n > 0; n-- {
			if z, ok := numbers[rest[:n]]; ok {
				a.Element = z
				p.pos += n
				return nil
			}
		}
		return p.fail(p.pos, "unknown element %q", element(rest))
	}
	for _, s := range aromaticSymbols {
		if strings.HasPrefix(rest, s.text) {
			a.Element, a.Aromatic = s.element, true
			p.pos += len(s.text)
			return nil
		}
	}
	return p.fail(p.pos, "%q in a bracket, want an element", firstRune(rest))
}

// chirality reads @, @@ or @ with a class and a number.
func (p *parser) chirality() error {
	if p.peek() != '@' {
		return nil
	}
	start := p.pos
	p.pos++
	if p.peek() == '@' {
		p.pos++
		return nil
	}
	if p.pos+2 > len(p.s) {
		return nil
	}
	most, ok := chiralities[p.s[p.pos:p.pos+2]]
	if !ok {
		return nil
	}
	class := p.s[p.pos : p.pos+2]
	p.pos += 2
	if n := p.number(2); n < 1 || n > most {
		return p.fail(start, "chirality @%s, want a number from 1 to %d after it", class, most)
	}
	return nil
}

// charge reads +, -, a repetition of either, or one with a number.
func (p *parser) charge(a *Atom) error {
	sign := p.peek()
	if sign != '+' && sign != '-' {
		return nil
	}
	start := p.pos
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
		return p.fail(start, "charge beyond 15")
	}
	a.Charge = int8(n)
	if sign == '-' {
		a.Charge = int8(-n)
	}
	return nil
}
