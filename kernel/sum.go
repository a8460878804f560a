package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Sum is a weighted sum of products of kernels,
//
//	k(G, H) = Σ_t Weight_t · Π_j Factors_tj(G, H).
//
// A factor may be a sum itself; see Expand.
type Sum struct {
	Terms []Term `json:"terms" help:"Products with weights that are added."`
}

// Term is a product of kernels with a weight.
type Term struct {
	Weight  float64  `json:"weight"`
	Factors []Factor `json:"factors"`
}

// Factor is a kernel, and how graphs are prepared for it. In JSON it is the kernel with more fields.
type Factor struct {
	Kernel Kernel
	Form
}

// Form is what is done to graphs before a kernel sees them.
type Form struct {
	// Standardize makes every vertex attribute x to (x − m)/s, with its mean m and standard
	// deviation s over the vertices of the training graphs.
	Standardize bool
	// Incident adds the labels of its edges to the label of every vertex. Subdivide makes a vertex
	// of every edge.
	Incident, Subdivide bool
}

// Edges reports whether a kernel that looks at vertices alone sees the labels of edges.
func (f Form) Edges() bool { return f.Incident || f.Subdivide }

// fields returns the fields of the form with their names.
func (f *Form) fields() []formField {
	return []formField{{"standardize", &f.Standardize}, {"incident", &f.Incident}, {"subdivide", &f.Subdivide}}
}

type formField struct {
	name string
	on   *bool
}

func init() { Register(Sum{}) }

// Compound is a Kernel that is a sum of others for some of its parameters.
type Compound interface {
	// Parts returns the sum, and whether the kernel is one.
	Parts() (Sum, bool)
}

// asSum returns the sum that a kernel is, if it is one.
func asSum(k Kernel) (Sum, bool) {
	switch k := k.(type) {
	case Sum:
		return k, true
	case Compound:
		return k.Parts()
	}
	return Sum{}, false
}

// SumOf returns a kernel as a sum, which it may be.
func SumOf(k Kernel) Sum {
	if s, ok := asSum(k); ok {
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
func Subdivided(k Kernel) Sum { return SumOf(k).prepared(Form{Subdivide: true}) }

// Incident returns the kernel of graphs whose vertices have the labels of their edges in their own.
func Incident(k Kernel) Sum { return SumOf(k).prepared(Form{Incident: true}) }

// Standardized returns the kernel of graphs whose attributes are standardised.
func Standardized(k Kernel) Sum { return SumOf(k).prepared(Form{Standardize: true}) }

// prepared returns the sum with more done to the graphs of every kernel in it.
func (s Sum) prepared(more Form) Sum {
	var out Sum
	for _, t := range s.Terms {
		factors := slices.Clone(t.Factors)
		for i, f := range factors {
			if over, ok := asSum(f.Kernel); ok {
				factors[i].Kernel = over.prepared(more)
				continue
			}
			for j, field := range factors[i].fields() {
				*field.on = *field.on || *more.fields()[j].on
			}
		}
		out.Terms = append(out.Terms, Term{t.Weight, factors})
	}
	return out
}

// simple returns the one factor of a sum that is nothing else.
func (f Factor) simple() Factor {
	for {
		s, ok := asSum(f.Kernel)
		if !ok || !s.single() {
			return f
		}
		f = s.Terms[0].Factors[0]
	}
}

// single reports whether the sum is one kernel as it is.
func (s Sum) single() bool {
	return len(s.Terms) == 1 && len(s.Terms[0].Factors) == 1 && s.Terms[0].Weight == 1
}

// Limits of the products and factors of a sum that is multiplied out.
const (
	maxTerms   = 1024
	maxFactors = 1 << 14
)

// Expand writes the sum out, so that no factor is a sum.
func (s Sum) Expand() (Sum, error) {
	var out Sum
	for _, t := range s.Terms {
		product := []Term{{Weight: t.Weight}}
		for _, f := range t.Factors {
			inner := Sum{[]Term{{1, []Factor{f}}}}
			if over, ok := asSum(f.Kernel); ok {
				var err error
				if inner, err = over.Expand(); err != nil {
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

// Name implements Kernel.
func (s Sum) Name() string { return "sum" }

// String writes the sum out, as in "0.5 (wl h=5 normalize) (labels normalize) + 0.5 (…)".
// The sum of one kernel has its text.
func (s Sum) String() string {
	if s.single() {
		return s.Terms[0].Factors[0].String()
	}
	terms := make([]string, len(s.Terms))
	for i, t := range s.Terms {
		var b strings.Builder
		if t.Weight != 1 || len(t.Factors) == 0 {
			b.WriteString(strconv.FormatFloat(t.Weight, 'g', -1, 64))
		}
		for _, f := range t.Factors {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("(" + f.String() + ")")
		}
		terms[i] = b.String()
	}
	return strings.Join(terms, " + ")
}

// String returns the text of the kernel and of what is done to graphs.
func (f Factor) String() string {
	text := f.Kernel.String()
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
			_, nested := asSum(f.Kernel)
			if nested && f.Form != (Form{}) {
				return fmt.Errorf("sum: term %d: subdivide, incident and standardize are for single kernels, not for a sum", i)
			}
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

// MarshalJSON implements json.Marshaler.
func (f Factor) MarshalJSON() ([]byte, error) {
	b, err := Marshal(f.Kernel)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	for _, field := range f.fields() {
		if *field.on {
			b = fmt.Appendf(b, ",%q:true", field.name)
		}
	}
	return append(b, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler. The kernel is validated.
func (f *Factor) UnmarshalJSON(data []byte) error {
	k, rest, err := unmarshal(data)
	if err != nil {
		return err
	}
	*f = Factor{Kernel: k}
	for _, field := range f.fields() {
		if text, ok := rest[field.name]; ok {
			if err := json.Unmarshal(text, field.on); err != nil {
				return fmt.Errorf("%s: %s = %s, want true or false", k.Name(), field.name, text)
			}
			delete(rest, field.name)
		}
	}
	for name := range rest {
		return fmt.Errorf("%s: no parameter %s", k.Name(), name)
	}
	return k.Validate()
}
