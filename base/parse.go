package base

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxKernels bounds the elementary kernels and brackets in a text.
const maxKernels = 64

// Parse reads a base kernel; the package comment has the grammar.
func Parse(s string) (Kernel, error) {
	p := &parser{rest: strings.TrimLeft(s, " ")}
	k, err := p.sum(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q after the end", clip(p.rest))
	}
	if err != nil {
		return nil, fmt.Errorf("base kernel %q: %w", clip(s), err)
	}
	return k, nil
}

// clip shortens what an error shows of hostile input.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

type parser struct {
	rest    string
	kernels int
}

// take takes a prefix, and the spaces behind it, off the rest.
func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	if ok {
		p.rest = strings.TrimLeft(rest, " ")
	}
	return ok
}

func (p *parser) sum(depth int) (Kernel, error) {
	var k combined
	for more := true; more; more = p.take("+") {
		w, weighted := p.number()
		term, err := p.product(depth)
		if err != nil {
			return nil, err
		}
		if weighted {
			if err := positive("weight", w); err != nil {
				return nil, err
			}
			k.weights = append(k.weights, w)
		}
		k.parts = append(k.parts, term)
		if n := len(k.weights); n != 0 && n != len(k.parts) {
			return nil, fmt.Errorf("%d of %d terms have a weight, want all or none", n, len(k.parts))
		}
	}
	if len(k.parts) == 1 && k.weights == nil {
		return k.parts[0], nil
	}
	if k.weights == nil {
		k.weights = slices.Repeat([]float64{1 / float64(len(k.parts))}, len(k.parts))
	}
	return &k, nil
}

func (p *parser) product(depth int) (Kernel, error) {
	var k combined
	for more := true; more; more = p.take("*") {
		f, err := p.factor(depth)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, f)
	}
	if len(k.parts) == 1 {
		return k.parts[0], nil
	}
	return &k, nil
}

func (p *parser) factor(depth int) (Kernel, error) {
	if p.kernels++; p.kernels > maxKernels || depth > maxKernels {
		return nil, fmt.Errorf("more than %d kernels or brackets", maxKernels)
	}
	if p.take("(") {
		k, err := p.sum(depth + 1)
		if err == nil && !p.take(")") {
			err = fmt.Errorf("%q, want a closing bracket", clip(p.rest))
		}
		return k, err
	}
	switch {
	case p.take("labels"):
		return labels, nil
	case p.take("attributes"):
		return attributes(), nil
	case p.take("degree"):
		return degree, nil
	case p.take("gaussian"):
		return p.parameters("gaussian", 1, []float64{1}, func(x []float64) (Kernel, error) { return gaussian(x[0]) })
	case p.take("heat"):
		return p.parameters("heat", maxKernels, []float64{0.5, 1, 2}, heat)
	case p.take("wl"):
		return p.parameters("wl", 1, []float64{3}, func(x []float64) (Kernel, error) { return refinements(x[0]) })
	}
	return nil, fmt.Errorf("%q, want labels, attributes, gaussian(σ), degree, heat(β,…), wl(h), or a product such as labels*gaussian", clip(p.rest))
}

// parameters reads numbers in brackets, at most so many, and makes a kernel of them, or without
// brackets of the defaults.
func (p *parser) parameters(name string, most int, defaults []float64, of func([]float64) (Kernel, error)) (Kernel, error) {
	if !p.take("(") {
		return of(defaults)
	}
	var out []float64
	for more := true; more; more = p.take(",") {
		x, ok := p.number()
		if !ok {
			return nil, fmt.Errorf("%s: %q, want a number", name, clip(p.rest))
		}
		out = append(out, x)
	}
	if !p.take(")") {
		return nil, fmt.Errorf("%s: %q, want a closing bracket", name, clip(p.rest))
	}
	if len(out) > most {
		return nil, fmt.Errorf("%s: %d parameters, want at most %d", name, len(out), most)
	}
	return of(out)
}

// decimal is a number as fmt prints it.
var decimal = regexp.MustCompile(`^-?[0-9]*\.?[0-9]*(e[-+][0-9]*)?`)

// number reads a number.
func (p *parser) number() (x float64, ok bool) {
	text := decimal.FindString(p.rest)
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && p.take(text)
}
