package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// Sum is a weighted sum of products of kernels,
//
//	k(G, H) = Σ_t Weight_t · Π_j Factors_tj(G, H).
//
// A factor may be a sum itself; see Expand.
type Sum struct {
	Terms []Term
}

// Term is a product of kernels with a weight.
type Term struct {
	Weight  float64
	Factors []Factor
}

// Factor is a kernel, and how graphs are prepared for it.
type Factor struct {
	Kernel Kernel
	Form
}

// Form is what is done to graphs before a kernel sees them.
type Form struct {
	// Of is the part of a row of a table that the kernel sees, "" for the whole graph; see graph.Row.
	Of string
	// Standardize makes every vertex attribute x to (x − m)/s, with its mean m and standard
	// deviation s over the vertices of the training graphs.
	Standardize bool
	// Incident adds the labels of its edges to the label of every vertex. Subdivide makes a vertex
	// of every edge.
	Incident, Subdivide bool
	// Stereo adds the descriptors of stereochemistry to the labels of the atoms and bonds of molecules.
	Stereo bool
	// Directed makes two vertices of every arc, its tail and its head. Undirected leaves directions out.
	// With neither, Directed is what directed graphs get for a kernel that is Directional; see Expand.
	Directed, Undirected bool
}

// Edges reports whether a kernel that looks at vertices alone sees the labels of edges.
func (f Form) Edges() bool { return f.Incident || f.Subdivide || f.Directed }

// ArcLength is the number of hops between the ends of an arc in graphs that Form.Directed makes.
const ArcLength = 3

// Directional is a Kernel that may see the labels of vertices and what is around them. So it tells
// directions apart where arcs have become vertices.
type Directional interface {
	// Stretch returns the kernel with radii and steps some times as long, and whether it sees labels. With
	// ArcLength radii and steps are hops of the graphs as given.
	Stretch(times int) (Kernel, bool)
}

// LabelChooser is a Directional kernel that looks at something else where graphs have no labels.
type LabelChooser interface {
	// Choose returns the kernel for directed graphs, before the vertices on their arcs have labels.
	Choose(graphs []*graph.Graph) Kernel
}

// SeesDirections reports whether a kernel is Directional and sees labels.
func SeesDirections(k Kernel) bool {
	d, ok := k.(Directional)
	if ok {
		_, ok = d.Stretch(1)
	}
	return ok
}

// fields returns the fields of the form with their names.
func (f *Form) fields() []formField {
	return []formField{
		{"standardize", "vertex attributes get mean 0 and deviation 1", &f.Standardize},
		{"incident", "labels of edges become part of the labels of their ends", &f.Incident},
		{"subdivide", "edges become vertices with their labels", &f.Subdivide},
		{"stereo", "labels of atoms and bonds have R, S, E or Z", &f.Stereo},
		{"directed", "arcs become two vertices with their labels: tail and head", &f.Directed},
		{"undirected", "arcs become edges", &f.Undirected},
	}
}

type formField struct {
	name, help string
	on         *bool
}

// Compound is a Kernel that is a sum of others for some of its parameters, or for some graphs.
type Compound interface {
	// AsSum returns the sum that the kernel is for graphs which it gets in a form, and whether it is one.
	AsSum(graphs []*graph.Graph, in Form) (Sum, bool)
}

// SumOf returns a kernel as a sum, which it may be.
func SumOf(k Kernel) Sum {
	if s, ok := k.(Sum); ok {
		return s
	}
	return Sum{[]Term{{1, []Factor{{Kernel: k}}}}}
}

// Weighted returns Σ_i weights_i · kernels_i.
func Weighted(weights []float64, kernels []Kernel) Sum {
	var s Sum
	for i, k := range kernels {
		s.Terms = append(s.Terms, Term{weights[i], []Factor{{Kernel: k}}})
	}
	return s
}

// Mean returns the mean of kernels.
func Mean(kernels ...Kernel) Sum {
	return Weighted(slices.Repeat([]float64{1 / float64(len(kernels))}, len(kernels)), kernels)
}

// Product returns the product of kernels.
func Product(kernels ...Kernel) Sum {
	t := Term{Weight: 1}
	for _, k := range kernels {
		t.Factors = append(t.Factors, Factor{Kernel: k})
	}
	return Sum{[]Term{t}}
}

// Subdivided returns the kernel of graphs whose edges have become vertices.
func Subdivided(k Kernel) Sum { return inForm(k, Form{Subdivide: true}) }

// Incident returns the kernel of graphs whose vertices have the labels of their edges in their own.
func Incident(k Kernel) Sum { return inForm(k, Form{Incident: true}) }

// WithStereo returns the kernel of molecules whose atoms and bonds have their descriptors in their labels.
func WithStereo(k Kernel) Sum { return inForm(k, Form{Stereo: true}) }

// OfPart returns the kernel of a part of rows, which is a structure or a value.
func OfPart(k Kernel, name string) Sum { return inForm(k, Form{Of: name}) }

// Standardized returns the kernel of graphs whose attributes are standardised.
func Standardized(k Kernel) Sum { return inForm(k, Form{Standardize: true}) }

// inForm returns the kernel of graphs in a form.
func inForm(k Kernel, form Form) Sum {
	return Sum{[]Term{{1, []Factor{{Kernel: k, Form: form}}}}}
}

// and returns a form with more done to graphs. What it says about directions itself stays.
func (f Form) and(more Form) Form {
	if f.Directed || f.Undirected {
		more.Directed, more.Undirected = false, false
	}
	f.Of = cmp.Or(f.Of, more.Of)
	for i, field := range f.fields() {
		*field.on = *field.on || *more.fields()[i].on
	}
	return f
}

// single reports whether the sum is one kernel with the weight 1.
func (s Sum) single() bool {
	return len(s.Terms) == 1 && len(s.Terms[0].Factors) == 1 && s.Terms[0].Weight == 1
}

// Limits of the products and factors of a sum that is multiplied out.
const (
	maxTerms   = 1024
	maxFactors = 1 << 14
)

// Expand writes the sum out for graphs, so that no factor is a sum, and every factor says in which form
// it wants them: if some are directed, Directional kernels want them so. For rows of which it names no part, it
// compares all parts; see byParts.
func (s Sum) Expand(graphs []*graph.Graph) (Sum, error) {
	out, err := s.expand(graphs, Form{})
	if err == nil && len(graphs) > 0 && graphs[0].Parts() != nil {
		return out.byParts(graphs)
	}
	if err != nil || !slices.ContainsFunc(graphs, (*graph.Graph).Directed) {
		return out, err
	}
	for _, t := range out.Terms {
		for i := range t.Factors {
			f := &t.Factors[i]
			if !f.Undirected && SeesDirections(f.Kernel) {
				f.Directed, f.Subdivide = true, false // arcs have become vertices
				if c, ok := f.Kernel.(LabelChooser); ok {
					f.Kernel = c.Choose(graphs)
				}
			}
		}
	}
	return out, nil
}

// expand is Expand with more done to the graphs of every kernel.
func (s Sum) expand(graphs []*graph.Graph, more Form) (Sum, error) {
	var out Sum
	for _, t := range s.Terms {
		product := []Term{{Weight: t.Weight}}
		for _, f := range t.Factors {
			if f.Of != "" && more.Of != "" && f.Of != more.Of {
				return Sum{}, fmt.Errorf("%s is asked for the part %q of the part %q, want one of them", f.Kernel.Name(), f.Of, more.Of)
			}
			f.Form = f.Form.and(more)
			inner := Sum{[]Term{{1, []Factor{f}}}}
			over, sum := f.Kernel.(Sum)
			if c, ok := f.Kernel.(Compound); ok {
				over, sum = c.AsSum(graphs, f.Form)
			}
			if sum {
				var err error
				if inner, err = over.expand(graphs, f.Form); err != nil {
					return Sum{}, err
				}
			}
			if len(product)*len(inner.Terms) > maxTerms {
				return Sum{}, fmt.Errorf("a sum of more than %d products", maxTerms)
			}
			var next []Term
			for _, a := range product {
				for _, b := range inner.Terms {
					next = append(next, Term{a.Weight * b.Weight, slices.Concat(a.Factors, b.Factors)})
				}
			}
			if product = next; len(product)*len(product[0].Factors) > maxFactors {
				return Sum{}, fmt.Errorf("a sum of more than %d factors", maxFactors)
			}
		}
		if out.Terms = append(out.Terms, product...); len(out.Terms) > maxTerms {
			return Sum{}, fmt.Errorf("a sum of more than %d products", maxTerms)
		}
	}
	return out, nil
}

// Levels implements Levelled: those of a kernel on graphs in a form. Sums and products have none, as their kernels
// have different ones, which do not belong together.
func (s Sum) Levels() []Level {
	if !s.single() {
		return nil
	}
	f := s.Terms[0].Factors[0]
	k, ok := f.Kernel.(Levelled)
	if !ok {
		return nil
	}
	levels := k.Levels()
	for i, l := range levels {
		levels[i].Kernel = inForm(l.Kernel, f.Form)
	}
	return levels
}

// Name implements Kernel.
func (s Sum) Name() string { return "sum" }

// String writes the sum out, as in "0.5 wl h=3 * labels + 0.5 sp". The sum of one kernel has its text.
func (s Sum) String() string { return s.text(Kernel.String) }

// text writes the sum out with the texts of its kernels.
func (s Sum) text(of func(Kernel) string) string {
	if s.single() && s.Terms[0].Factors[0].Form == (Form{}) {
		return of(s.Terms[0].Factors[0].Kernel) // without brackets, as Parse returns it
	}
	// Equal weights that are no short decimals, such as thirds, are left out: without weights a sum is the mean.
	equal := 1 / float64(len(s.Terms))
	mean := !slices.ContainsFunc(s.Terms, func(t Term) bool { return t.Weight != equal }) && (equal == 1 || len(param.Number(equal)) > len("0.125"))
	terms := make([]string, len(s.Terms))
	for i, t := range s.Terms {
		var factors []string
		for _, f := range t.Factors {
			factors = append(factors, f.text(of))
		}
		terms[i] = strings.Join(factors, " * ")
		if !mean { // that of one term has the weight 1
			terms[i] = param.Number(t.Weight) + " " + terms[i]
		}
	}
	return strings.Join(terms, " + ")
}

// InForm returns the kernel as graphs in its form want it.
func (f Factor) InForm() Kernel {
	if k, ok := f.Kernel.(Directional); ok && f.Directed {
		out, _ := k.Stretch(ArcLength)
		return out
	}
	return f.Kernel
}

// String returns the text of the kernel and of what is done to graphs.
func (f Factor) String() string { return f.text(Kernel.String) }

func (f Factor) text(of func(Kernel) string) string {
	name, text := f.Kernel.Name(), of(f.Kernel)
	s, sum := f.Kernel.(Sum)
	meant := func(field formField) bool { return *field.on && param.Get(f.Kernel, field.name) != nil }
	if sum && (!s.single() || f.Form != (Form{})) || !sum && slices.ContainsFunc(f.fields(), meant) {
		text = "(" + text + ")" // without brackets the word would be that parameter of the kernel
		name = text
	}
	if f.Of != "" { // behind the name, or the brackets
		text = name + "(" + param.Value(f.Of) + ")" + strings.TrimPrefix(text, name)
	}
	for _, field := range f.fields() {
		if *field.on {
			text += " " + field.name
		}
	}
	return text
}

// Validate implements Kernel.
func (s Sum) Validate() error {
	if len(s.Terms) == 0 {
		return errors.New("sum: no terms")
	}
	for i, t := range s.Terms {
		if !(t.Weight > 0) || math.IsInf(t.Weight, 1) {
			return fmt.Errorf("sum: weight %d = %v, want a positive, finite number", i, t.Weight)
		}
		if len(t.Factors) == 0 {
			return fmt.Errorf("sum: term %d has no factors", i)
		}
		for _, f := range t.Factors {
			if err := f.Kernel.Validate(); err != nil {
				return err
			}
			if !s.single() {
				if err := CheckNormalized(f.Kernel); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Semidefinite reports whether all kernels in the sum are.
func (s Sum) Semidefinite() bool {
	return !slices.ContainsFunc(s.Terms, func(t Term) bool {
		return slices.ContainsFunc(t.Factors, func(f Factor) bool { return !Semidefinite(f.Kernel) })
	})
}

// Fit implements Kernel.
func (s Sum) Fit(ctx context.Context, graphs []*graph.Graph) (*Fitted, error) {
	m, err := NewCollection(graphs).Fit(ctx, s)
	if err != nil {
		return nil, err
	}
	train, err := m.Train(ctx)
	return &Fitted{m, train}, err
}
