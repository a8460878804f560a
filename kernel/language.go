package kernel

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mlgkernel/mlg/param"
)

// The text of a kernel, as package param has the grammar:
//
//	wl h=3
//	mlg radii=1,2,4 base=(labels * gaussian sigma=0.5)
//	0.5 mlg + 0.5 wl * sp subdivide
//	mlg(solute) * wl(solvent) h=3 * gaussian(temperature)
//
// A record is a kernel that is registered, with its parameters. Behind them, or behind brackets, the
// words of Form say how graphs are prepared. A name in brackets right behind a kernel is the part of a row
// that it sees. A value in brackets is the text of another kernel, or of one
// on vertices, which package vertex reads.

// defaults are the kernels that are known, and about what they compare, by name.
var defaults, about = map[string]Kernel{}, map[string]string{}

// Register makes a kernel known under its name, with the values of its parameters as their
// defaults, and a line on what it compares. Packages register their kernels when they are initialised, and not later; a name that is
// taken panics.
func Register(k Kernel, compares string) {
	if defaults[k.Name()] != nil {
		panic("kernel: " + k.Name() + " is registered twice")
	}
	defaults[k.Name()], about[k.Name()] = k, compares
}

// Language is what parameters want that are texts of kernels.
const Language = "a kernel"

func init() {
	param.AddLanguage(Language, param.Language{
		Names: Names,
		Record: func(name string) any {
			if k := defaults[name]; k != nil {
				return k
			}
			return nil
		},
		About: About,
		Words: Forms(),
	})
}

// About says in a line what a kernel compares.
func About(name string) string { return about[name] }

// Names returns the names of all kernels that are known, sorted.
func Names() []string { return slices.Sorted(maps.Keys(defaults)) }

// Named returns the kernel of a name with its defaults.
func Named(name string) (Kernel, error) {
	k := defaults[name]
	if k == nil {
		return nil, &param.Unknown{What: "kernel", Name: name, Want: Names(), Hint: param.Elsewhere(Language, name)}
	}
	return param.Copy(k), nil
}

// With returns the kernel with a parameter set from a text. The value itself is not checked; see
// Validate.
func With(k Kernel, name, text string) (Kernel, error) { return param.With(k.Name(), k, name, text) }

// Check validates the parameters of a kernel by their tags. It is what the Validate of a record
// starts with.
func Check(k Kernel) error { return param.Check(k.Name(), k) }

// Text returns the text that identifies a kernel: its name and all its parameters, except those
// that have their defaults. Kernels with equal texts have equal values.
func Text(k Kernel) string {
	if usual := defaults[k.Name()]; usual != nil {
		return param.Text(k.Name(), k, usual)
	}
	return param.Text(k.Name(), k, nil)
}

// FullText is the text of a kernel with all its parameters, so that it stays what it is when defaults
// change.
func FullText(k Kernel) string {
	if s, ok := k.(Sum); ok {
		return s.text(FullText)
	}
	return param.Text(k.Name(), k, nil)
}

// Parse reads a kernel from a text, and validates it. Its errors are a *param.TextError, which has the
// place.
func Parse(text string) (Kernel, error) {
	return ParseChecked(text, func(Kernel) error { return nil })
}

// ParseChecked is Parse where check may refuse a kernel that a name of the text stands for. Its error is
// at the place of the parameter that it names, or else of the kernel. Kernels inside values are not checked.
func ParseChecked(text string, check func(Kernel) error) (Kernel, error) {
	read, err := param.Read(text)
	if err != nil {
		return nil, err
	}
	s, err := sumOf(text, read, check)
	if err != nil {
		return nil, err
	}
	if f := s.Terms[0].Factors[0]; s.single() && f.Form == (Form{}) {
		return f.Kernel, nil
	}
	if _, err := s.Expand(nil); err != nil { // a part of a part
		return nil, param.At(text, param.NoPlace, err)
	}
	return s, param.At(text, param.NoPlace, s.Validate())
}

// sumOf makes the kernel of a text that was read.
func sumOf(text string, read *param.Sum, check func(Kernel) error) (Sum, error) {
	var s Sum
	for _, t := range read.Terms {
		term := Term{Weight: t.Weight}
		switch {
		case !read.Weighted() && len(read.Terms) == 1:
			term.Weight = 1
		case !read.Weighted():
			term.Weight = 1 / float64(len(read.Terms))
		}
		for _, f := range t.Factors {
			factor, err := factorOf(text, f, check)
			if err != nil {
				return s, err
			}
			if len(read.Terms) > 1 || len(t.Factors) > 1 || term.Weight != 1 {
				if err := CheckNormalized(factor.Kernel); err != nil {
					return s, param.Locate(text, f, err)
				}
			}
			term.Factors = append(term.Factors, factor)
		}
		s.Terms = append(s.Terms, term)
	}
	return s, nil
}

func factorOf(text string, f param.Factor, check func(Kernel) error) (out Factor, err error) {
	others := f.Given
	out.Of = f.Of
	if f.Sum != nil {
		s, err := sumOf(text, f.Sum, check)
		if err != nil {
			return out, err
		}
		out.Kernel = s
	} else {
		if out.Kernel, err = Named(f.Name); err != nil {
			return out, param.At(text, f.At, err)
		}
		if out.Kernel, others, err = param.Set(text, f, out.Kernel); err != nil {
			return out, err
		}
		if err = out.Kernel.Validate(); err == nil {
			err = check(out.Kernel)
		}
		if err != nil {
			return out, param.Locate(text, f, err)
		}
	}
	for _, g := range others {
		if err := out.Form.set(f, out.Kernel, g); err != nil {
			return out, param.At(text, g.At, err)
		}
	}
	return out, nil
}

// set sets a field of a form that stands behind a kernel.
func (f *Form) set(of param.Factor, k Kernel, g param.Assignment) error {
	words := Forms()
	at := slices.IndexFunc(words, func(w param.Completion) bool { return w.Word == g.Name })
	switch {
	case at >= 0 && (g.Value == "true" || g.Value == "false"):
		if *f.fields()[at].on = g.Value == "true"; f.Directed && f.Undirected {
			return errors.New("directed and undirected exclude each other")
		}
		return nil
	case at >= 0:
		return &param.Error{Of: of.Name, Name: g.Name, Value: fmt.Sprintf("%q", g.Value), Want: "true or false"}
	}
	unknown := &param.Unknown{Of: of.Name, What: "parameter", Name: g.Name}
	if of.Name == "" {
		unknown.Of = "the brackets"
	} else {
		unknown.Hint = param.InBrackets(k, of.Given, g.Name)
		for _, p := range param.Of(k) {
			unknown.Want = append(unknown.Want, p.Name)
		}
	}
	for _, w := range words {
		if !slices.Contains(unknown.Want, w.Word) {
			unknown.Want = append(unknown.Want, w.Word)
		}
	}
	if defaults[g.Name] != nil {
		return fmt.Errorf("%s stands behind another kernel, want + or * between them", g.Name)
	}
	return unknown
}

// Forms returns the words of the forms of graphs, with what they do.
func Forms() []param.Completion {
	var out []param.Completion
	for _, field := range new(Form).fields() {
		out = append(out, param.Completion{Word: field.name, Help: field.help})
	}
	return out
}
