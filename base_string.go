package mlg

import (
	"fmt"
	"strconv"
	"strings"
)

// maxBases bounds the elementary kernels in a base kernel that BaseFromString reads.
const maxBases = 64

// BaseFromString is the inverse of Base.String for the base kernels of this package:
//
//	kernel = factor {"*" factor}
//	factor = "labels" | "attributes" | "degree" | "gaussian(" σ ")" | "heat(" β {"," β} ")" | "wl(" h ")"
//	       | "(" weight kernel "+" weight kernel ")" | "(" kernel ")"
//
// It reads no more than what String prints: numbers in their shortest form and no spaces.
// Products group from the left; String does not show another grouping, which changes the
// rounding of values. The brackets around a product that is the right factor of another,
// as in "labels*(degree*wl(2))", keep it.
func BaseFromString(s string) (Base, error) {
	p := &baseParser{rest: s}
	b, err := p.product(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q behind the end", clip(p.rest))
	}
	if err == nil {
		var same string
		if same, err = spell(b); err == nil && same != s {
			err = fmt.Errorf("want it written as %q", same)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("base kernel %q: %w", clip(s), err)
	}
	return b, nil
}

// clip shortens what an error shows of hostile input.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

// spell is Base.String with brackets around a product that is a right factor. It is an
// error if the kernel is not of this package.
func spell(b Base) (string, error) {
	switch b := b.(type) {
	case *oneHot, *vectors, *wlBase:
		return b.String(), nil
	case *pair:
		x, err := spell(b.a)
		if err != nil {
			return "", err
		}
		y, err := spell(b.b)
		if err != nil {
			return "", err
		}
		if !b.product {
			return fmt.Sprintf("(%v%s+%v%s)", b.wa, x, b.wb, y), nil
		}
		if r, ok := b.b.(*pair); ok && r.product {
			y = "(" + y + ")"
		}
		return x + "*" + y, nil
	}
	return "", fmt.Errorf("the base kernel %s cannot be stored: it is not one of this package", b)
}

type baseParser struct {
	rest  string
	bases int
}

// take takes a prefix off the rest.
func (p *baseParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *baseParser) want(prefix string) error {
	if !p.take(prefix) {
		return fmt.Errorf("%q, want %q", clip(p.rest), prefix)
	}
	return nil
}

func (p *baseParser) product(depth int) (Base, error) {
	b, err := p.factor(depth)
	for err == nil && p.take("*") {
		var r Base
		if r, err = p.factor(depth); err == nil {
			b = Times(b, r)
		}
	}
	return b, err
}

func (p *baseParser) factor(depth int) (Base, error) {
	if p.bases++; p.bases > maxBases || depth > maxBases {
		return nil, fmt.Errorf("more than %d kernels or brackets in it", maxBases)
	}
	if p.take("(") {
		return p.bracket(depth + 1)
	}
	switch {
	case p.take("labels"):
		return Labels(), nil
	case p.take("attributes"):
		return Attributes(), nil
	case p.take("degree"):
		return Degree(), nil
	case p.take("gaussian("):
		x, err := p.list()
		if err != nil {
			return nil, err
		}
		if len(x) != 1 {
			return nil, fmt.Errorf("%d bandwidths, want one", len(x))
		}
		return Gaussian(x[0])
	case p.take("heat("):
		x, err := p.list()
		if err != nil {
			return nil, err
		}
		return Heat(x...)
	case p.take("wl("):
		h, rest, _ := strings.Cut(p.rest, ")")
		n, err := strconv.Atoi(h)
		if err != nil {
			return nil, fmt.Errorf("%q refinements, want a number", clip(h))
		}
		p.rest = rest
		return WL(n)
	}
	return nil, fmt.Errorf("%q, want labels, attributes, gaussian(σ), degree, heat(β,…), wl(h) or a bracket", clip(p.rest))
}

// bracket reads what follows an opening bracket: a weighted sum, or a product.
func (p *baseParser) bracket(depth int) (Base, error) {
	if p.rest == "" || p.rest[0] < '0' || p.rest[0] > '9' {
		b, err := p.product(depth)
		if err == nil {
			err = p.want(")")
		}
		return b, err
	}
	wa, err := p.number()
	if err != nil {
		return nil, err
	}
	a, err := p.product(depth)
	if err != nil {
		return nil, err
	}
	if err := p.want("+"); err != nil {
		return nil, err
	}
	wb, err := p.number()
	if err != nil {
		return nil, err
	}
	b, err := p.product(depth)
	if err != nil {
		return nil, err
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	return Plus(wa, a, wb, b)
}

// list reads numbers up to a closing bracket.
func (p *baseParser) list() ([]float64, error) {
	var out []float64
	for {
		x, err := p.number()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
		if !p.take(",") {
			return out, p.want(")")
		}
	}
}

// number reads a number as fmt prints it: digits, perhaps with a point and an exponent.
func (p *baseParser) number() (float64, error) {
	n := 0
	digits := func() {
		for n < len(p.rest) && '0' <= p.rest[n] && p.rest[n] <= '9' {
			n++
		}
	}
	digits()
	if n < len(p.rest) && p.rest[n] == '.' {
		n++
		digits()
	}
	if n+1 < len(p.rest) && p.rest[n] == 'e' && (p.rest[n+1] == '-' || p.rest[n+1] == '+') {
		n += 2
		digits()
	}
	x, err := strconv.ParseFloat(p.rest[:n], 64)
	if err != nil {
		return 0, fmt.Errorf("%q, want a number", clip(p.rest))
	}
	p.rest = p.rest[n:]
	return x, nil
}
