package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Sums are all that kernel ridge regressions on m centres need of any number of examples: for each fold of
// examples the lower triangle of
//
//	Σ_i w_i x_i x_iᵀ,   x_i = (k(i, c_1), …, k(i, c_m), z_i1, …, z_it, 1),
//
// for weights w and targets z.
//
// Numbers of x are rounded to integers of mostBits bits (Frame.scales). Products of them are added
// as integers, without rounding. So sums are the same bits for any number of goroutines, and however examples
// are dealt to calls, machines and devices, in any order.
type Sums struct {
	Frame
	folds []triangle
}

// Frame says what Sums are of. All sums that are added up have the same one.
type Frame struct {
	Centres int     `json:"centres"`
	Folds   int     `json:"folds"`
	Largest float64 `json:"largest"` // kernel value
	// Classes are the labels, nil for values. There is a column of targets for each class, +1 for its members
	// and −1 for others; one column for two classes, and for values.
	Classes []int `json:"classes,omitempty"`
	// Targets are shifted by their mean and divided by their deviation. Then they are at most Bound.
	Columns  []Column `json:"columns"`
	Heaviest float64  `json:"heaviest"` // weight of an example
}

// Column is how a column of targets is standardised.
type Column struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Bound     float64 `json:"bound"`
}

// mostBits is the number of bits of the integers of Sums, without their sign. A sum of products of tileSide
// examples then has at most 52, so floating point adds them exactly.
const mostBits = 22

// newFrame returns that of sums of examples some of whose targets are known. Those of others may be slack times
// as far from the mean.
func newFrame(t Targets, centres, folds int, largest, slack float64) (Frame, error) {
	columns, err := t.regressions()
	if err != nil {
		return Frame{}, err
	}
	f := Frame{Centres: centres, Folds: folds, Largest: largest, Heaviest: 1}
	if f.Largest == 0 {
		f.Largest = 1
	}
	if f.Classes, _, err = t.classes(); err != nil {
		return f, err
	}
	for _, z := range columns {
		s := standardize(z, ones(len(z)))
		bound := max(1, slices.Max(s.scores), -slices.Min(s.scores))
		f.Columns = append(f.Columns, Column{s.mean, s.deviation, slack * bound})
	}
	if t.Weights != nil {
		f.Heaviest = max(1, slices.Max(t.Weights))
	}
	return f, nil
}

// Validate returns an error for a frame that no sums can have.
func (f *Frame) Validate() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	if f.Centres < 1 || f.Centres > math.MaxInt32 || f.Folds < 2 || f.Folds > math.MaxInt16 {
		return fmt.Errorf("learn: sums of %d centres and %d folds", f.Centres, f.Folds)
	}
	if want := max(1, len(f.Classes)); len(f.Columns) != want && !(want == 2 && len(f.Columns) == 1) {
		return fmt.Errorf("learn: sums of %d columns for %d classes", len(f.Columns), len(f.Classes))
	}
	if !slices.IsSorted(f.Classes) || len(slices.Compact(slices.Clone(f.Classes))) < len(f.Classes) {
		return errors.New("learn: classes of sums do not increase")
	}
	if !positive(f.Largest) || !positive(f.Heaviest) {
		return fmt.Errorf("learn: sums of kernel values up to %v and weights up to %v", f.Largest, f.Heaviest)
	}
	for _, c := range f.Columns {
		if notFinite(c.Mean) || !positive(c.Deviation) || !positive(c.Bound) {
			return fmt.Errorf("learn: sums of targets with mean %v, deviation %v and bound %v", c.Mean, c.Deviation, c.Bound)
		}
	}
	return nil
}

// order returns the number of columns of x.
func (f *Frame) order() int { return f.Centres + len(f.Columns) + 1 }

// scales returns by what numbers of x are multiplied before they are rounded: powers of two.
func (f *Frame) scales() []float64 {
	scale := func(largest float64) float64 {
		m, e := math.Frexp(largest)
		if m == 0.5 {
			e--
		}
		return math.Ldexp(1, mostBits-e)
	}
	out := slices.Repeat([]float64{scale(f.Largest)}, f.Centres)
	for _, c := range f.Columns {
		out = append(out, scale(c.Bound))
	}
	return append(out, scale(1))
}

// targets returns the columns of targets of some examples, not yet standardised.
func (f *Frame) targets(t Targets) ([][]float64, error) {
	if f.Classes == nil {
		return [][]float64{t.Values}, nil
	}
	out := make([][]float64, len(f.Columns))
	for c := range out {
		for _, label := range t.Labels {
			if !slices.Contains(f.Classes, label) {
				return nil, fmt.Errorf("learn: an example of class %d, want one of %v", label, f.Classes)
			}
			z := -1.0
			if label == f.Classes[c] {
				z = 1
			}
			out[c] = append(out[c], z)
		}
	}
	return out, nil
}

// newSums returns sums of no examples.
func newSums(f Frame) *Sums {
	s := &Sums{Frame: f, folds: make([]triangle, f.Folds)}
	for k := range s.folds {
		s.folds[k] = newTriangle(f.order())
	}
	return s
}

// SumsBytes returns the memory of Sums with one column of targets. That of folds of more than 131 072 examples is twice as much.
func SumsBytes(centres, folds int) int64 {
	return 4 * int64(folds) * int64(centres+2) * int64(centres+2+stripRows)
}

// Add adds examples, from their kernel values with the centres. folds[i] is the fold of example i. It takes m²
// operations for each, and none of its arguments is kept or changed.
func (s *Sums) Add(ctx context.Context, values *kernel.Matrix, t Targets, folds []int) error {
	n := values.Rows
	columns, err := s.targets(t)
	if err == nil {
		err = checkRegressions(n, columns, nil, t.Weights)
	}
	if err != nil {
		return err
	}
	if len(folds) != n || values.Cols != s.Centres {
		return fmt.Errorf("learn: %d×%d values and %d folds for sums of %d centres", n, values.Cols, len(folds), s.Centres)
	}
	for f := range s.folds {
		var members []int
		for i, g := range folds {
			if g == f {
				members = append(members, i)
			}
		}
		row := func(i int, dst []float64) {
			copy(dst, values.Row(members[i]))
			for t, z := range columns {
				dst[s.Centres+t] = z[members[i]]
			}
		}
		if err := s.add(ctx, f, len(members), row, t.Weights.at(members)); err != nil {
			return err
		}
	}
	return nil
}

// add adds examples of a fold. row copies the kernel values and the targets of one.
func (s *Sums) add(ctx context.Context, fold, n int, row func(i int, dst []float64), weights []float64) error {
	if n == 0 {
		return ctx.Err()
	}
	if n > carried {
		return fmt.Errorf("learn: %d examples at a time, want at most %d", n, carried)
	}
	scales, order := s.scales(), s.order()
	x := kernel.NewMatrix(n, order)
	err := work.Each(ctx, n, 16, func(_, i int) error {
		r := x.Row(i)
		row(i, r)
		for t, c := range s.Columns {
			z := (r[s.Centres+t] - c.Mean) / c.Deviation
			if !(math.Abs(z) <= c.Bound) {
				return fmt.Errorf("learn: a target of %v, want at most %.3g from %.3g", r[s.Centres+t], c.Bound*c.Deviation, c.Mean)
			}
			r[s.Centres+t] = z
		}
		r[order-1] = 1
		for j, v := range r {
			if j < s.Centres && !(math.Abs(v) <= s.Largest*(1+rounding)) {
				return fmt.Errorf("learn: a kernel value of %v, want at most %v", v, s.Largest)
			}
			r[j] = math.RoundToEven(v * scales[j])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if weights != nil {
		scaled := make([]float64, n)
		for i, w := range weights {
			if !(w <= s.Heaviest) {
				return fmt.Errorf("learn: a weight of %v, want at most %v", w, s.Heaviest)
			}
			scaled[i] = w / s.Heaviest
		}
		weights = scaled
	}
	return s.folds[fold].add(ctx, x, weights)
}

// ExamplesOf returns how many were added to a fold.
func (s *Sums) ExamplesOf(fold int) int { return s.folds[fold].examples }

// Examples returns how many were added.
func (s *Sums) Examples() int {
	total := 0
	for _, f := range s.folds {
		total += f.examples
	}
	return total
}

// Join adds sums of other examples.
func (s *Sums) Join(o *Sums) error {
	if !s.Frame.equal(&o.Frame) {
		return errors.New("learn: sums of other centres, folds or targets")
	}
	for f, t := range o.folds {
		s.folds[f].join(t)
	}
	return nil
}

func (f *Frame) equal(o *Frame) bool {
	return f.Centres == o.Centres && f.Folds == o.Folds && f.Largest == o.Largest &&
		f.Heaviest == o.Heaviest && slices.Equal(f.Classes, o.Classes) && slices.Equal(f.Columns, o.Columns)
}

// of returns what adds up over some folds: sum(i, j) for j ≤ i.
func (s *Sums) of(folds []int) (sum func(i, j int) float64) {
	scales := s.scales()
	return func(i, j int) float64 {
		total := 0.0
		for _, f := range folds {
			total += s.folds[f].at(i, j)
		}
		return float64(total/scales[i]/scales[j]) * s.Heaviest
	}
}
