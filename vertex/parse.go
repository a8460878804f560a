package vertex

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/param"
)

// maxKernels bounds the elementary kernels in a text.
const maxKernels = 64

// record is an elementary kernel by its parameters. Validate names the first one with an impossible value.
type record interface {
	Validate() error
	kernel() Kernel
}

// records are the elementary kernels by name, with their defaults.
var records = map[string]record{
	"labels": labelsRecord{}, "attributes": attributesRecord{}, "gaussian": gaussianRecord{1}, "degree": degreeRecord{},
	"heat": heatRecord{[]float64{0.5, 1, 2}}, "wl": wlRecord{3}, "configuration": configurationRecord{},
}

// Language is what parameters want that are texts of kernels on vertices.
const Language = "a kernel on vertices"

func init() {
	param.AddLanguage(Language, param.Language{
		Names: Names,
		Record: func(name string) any {
			if r := records[name]; r != nil {
				return r
			}
			return nil
		},
		About: About,
	})
}

// about says what the elementary kernels are.
var about = map[string]string{
	"labels": "1 if the labels are equal, else 0", "attributes": "dot product of the attributes",
	"gaussian": "exp(−|x−y|²/2σ²) for the attributes x and y", "degree": "1 if the numbers of neighbours are equal, else 0",
	"heat": "by the heat that stays at the vertex after some times", "wl": "share of h + 1 Weisfeiler-Lehman colours that agree",
	"configuration": "½ for the same element or bond, ½ for the same R, S, E or Z",
}

// About says in a line what an elementary kernel is for two vertices.
func About(name string) string { return about[name] }

// Names returns the names of the elementary kernels.
func Names() []string {
	return []string{"labels", "attributes", "gaussian", "degree", "heat", "wl", "configuration"}
}

// Parameters describes the parameters of an elementary kernel, with their defaults.
func Parameters(name string) []param.Parameter { return param.Of(records[name]) }

// Elementary returns the names of the elementary kernels in the text of a kernel, in order.
func Elementary(text string) []string {
	read, err := param.Read(text)
	if err != nil {
		return nil
	}
	return elementary(read)
}

func elementary(s *param.Sum) (out []string) {
	for _, t := range s.Terms {
		for _, f := range t.Factors {
			if f.Sum != nil {
				out = append(out, elementary(f.Sum)...)
			} else {
				out = append(out, f.Name)
			}
		}
	}
	return out
}

// Parse reads a kernel on vertices from a text as package param has the grammar, such as "labels" or
// "0.5 labels * gaussian sigma=2 + 0.5 wl h=1". Its errors are a *param.TextError, which has the place.
func Parse(text string) (Kernel, error) {
	read, err := param.Read(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text}
	return p.sum(read)
}

type parser struct {
	text    string
	kernels int
}

func (p *parser) sum(read *param.Sum) (Kernel, error) {
	var k combined
	for _, t := range read.Terms {
		term, err := p.product(t)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, term)
		if read.Weighted() {
			k.weights = append(k.weights, t.Weight)
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

func (p *parser) product(t param.Term) (Kernel, error) {
	var k combined
	for _, f := range t.Factors {
		part, err := p.factor(f)
		if err != nil {
			return nil, err
		}
		k.parts = append(k.parts, part)
	}
	if len(k.parts) == 1 {
		return k.parts[0], nil
	}
	return &k, nil
}

func (p *parser) factor(f param.Factor) (Kernel, error) {
	if p.kernels++; p.kernels > maxKernels {
		return nil, param.At(p.text, f.At, fmt.Errorf("more than %d kernels", maxKernels))
	}
	if f.Of != "" {
		return nil, param.At(p.text, f.OfAt, fmt.Errorf("%s sees vertices, want no part of a row in brackets", cmp.Or(f.Name, "a sum")))
	}
	if f.Sum != nil {
		if len(f.Given) > 0 {
			return nil, param.At(p.text, f.Given[0].At, &param.Unknown{Of: "the brackets", What: "parameter", Name: f.Given[0].Name})
		}
		return p.sum(f.Sum)
	}
	r := records[f.Name]
	if r == nil {
		return nil, param.At(p.text, f.At, &param.Unknown{What: "kernel on vertices", Name: f.Name, Want: Names(), Hint: param.Elsewhere(Language, f.Name)})
	}
	r, others, err := param.Set(p.text, f, r)
	if err == nil && len(others) > 0 {
		unknown := &param.Unknown{Of: f.Name, What: "parameter", Name: others[0].Name}
		for _, x := range Parameters(f.Name) {
			unknown.Want = append(unknown.Want, x.Name)
		}
		err = param.At(p.text, others[0].At, unknown)
	}
	if err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, param.Locate(p.text, f, err)
	}
	return r.kernel(), nil
}
