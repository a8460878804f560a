package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
)

// Learner is what was learned from a Gram matrix: one or more functions of the kernel values of
// an example. What the functions say depends on the targets and the kind:
//
//	values                one function, the value
//	classes, SVM          one for each pair (a, b), a < b, of Classes, in the order (0,1), (0,2), …,
//	                      (1,2), …: it speaks for a where it is above 0, and for b elsewhere
//	classes, KernelRidge  one for each class, the larger the more it speaks for the class
//
// Class, Scores, Decision and Probability read the values of all functions for one example, as Values
// and LeaveOneOut have them in their rows. All fields are exported, so that a Learner can be
// stored; the methods change nothing but for Rescale and Forget.
type Learner struct {
	Kind Kind
	// Classes are the labels of the training examples in increasing order; nil for values.
	Classes []int
	// Examples is the number of training examples: the columns of what Values takes.
	Examples  int
	Functions []Function
	// Slope turns Scores into probabilities; 0 without Options.Probability.
	Slope float64
	// Process tells deviations of values. KernelRidge has it with Options.LeaveOneOut, for two examples
	// or more.
	Process *Process `json:",omitempty"`
	// LeaveOneOut has in row i what the functions would say of example i without it, before
	// Options.Probability moves their biases; nil without Options.LeaveOneOut.
	LeaveOneOut *kernel.Matrix `json:"-"`
	// HeldOut has the same without the whole fold of example i; nil without Options.Folds.
	HeldOut *kernel.Matrix `json:"-"`
}

// Function is a sum over training examples,
//
//	f(x) = Σ_s Coefficients[s]·k(x, x_Support[s]) + Bias.
type Function struct {
	// Support are positions among the training examples, increasing; nil means all of them.
	Support      []int
	Coefficients []float64
	Bias         float64

	// Objective is the dual objective that the solver reached, and Iterations the number of
	// its steps; both are 0 for KernelRidge.
	Objective  float64
	Iterations int
}

// Targets are the classes of the examples, as any integers, or their values if Labels is nil.
type Targets struct {
	Labels []int
	Values []float64
	// Weights multiply C for each example of SVM, and divide the ridge of KernelRidge; nil for 1. A value of
	// weight w is then one with the variance of the noise divided by w, such as the mean of w measurements.
	Weights Weights
}

// Train trains a learner on the Gram matrix of the training examples, which must be symmetric
// (not checked). docs/explanation/learners.md states the problems. Fewer than two classes are an error.
//
// An error that is ErrIterations comes with a usable learner, any other with nil.
func Train(ctx context.Context, gram View, t Targets, opt Options) (*Learner, error) {
	parameter := opt.C
	if opt.Kind == KernelRidge {
		parameter = opt.Ridge
	}
	path, err := TrainPath(ctx, gram, t, []float64{parameter}, opt)
	if path == nil {
		return nil, err
	}
	return path[0], err
}

// TrainPath trains a learner for each of some values of C, or of the ridge, as Train does with
// that value. It is faster than as many trainings: support vector machines start from the
// solution for the next smaller C and agree with those of Train within the tolerance, and all
// ridges share one decomposition of the matrix.
//
// With an error that is ErrIterations all learners are usable. With one that is ErrDefinite those
// whose ridge is too small are nil. With any other there are none.
func TrainPath(ctx context.Context, gram View, t Targets, parameters []float64, opt Options) ([]*Learner, error) {
	if err := opt.validatePath(parameters); err != nil {
		return nil, err
	}
	n := len(t.Values)
	if t.Labels != nil {
		n = len(t.Labels)
	}
	if err := gram.square(n); err != nil {
		return nil, err
	}
	if err := t.Weights.check(n); err != nil {
		return nil, err
	}
	classes, members, err := t.classes()
	if err != nil {
		return nil, err
	}
	path := make([]*Learner, len(parameters))
	for m := range path {
		path[m] = &Learner{Kind: opt.Kind, Classes: classes, Examples: n}
	}
	if opt.Kind == SVM {
		err = trainMachines(ctx, gram, t, members, parameters, opt, path)
	} else {
		err = trainRidges(ctx, gram, t, t.columns(members), parameters, opt, path)
	}
	if err != nil && !errors.Is(err, ErrIterations) && !errors.Is(err, ErrDefinite) || len(path) == 1 && path[0] == nil {
		return nil, err
	}
	return path, err
}

// classes returns the labels that occur, increasing, and the examples of each; none for values,
// which it checks.
func (t Targets) classes() (classes []int, members [][]int, err error) {
	if t.Labels != nil {
		return classesOf(t.Labels)
	}
	if len(t.Values) == 0 {
		return nil, nil, errors.New("learn: no examples")
	}
	if k := slices.IndexFunc(t.Values, notFinite); k >= 0 {
		return nil, nil, fmt.Errorf("learn: target of example %d is %v, want a finite number", k, t.Values[k])
	}
	return nil, nil, nil
}

// columns returns the targets of regressions: the values, or for each class +1 for its members and
// −1 for the others.
func (t Targets) columns(members [][]int) [][]float64 {
	if t.Labels == nil {
		return [][]float64{t.Values}
	}
	columns := make([][]float64, len(members))
	for c := range columns {
		columns[c] = slices.Repeat([]float64{-1}, len(t.Labels))
		for _, k := range members[c] {
			columns[c][k] = 1
		}
	}
	return columns
}

// classesOf returns the labels that occur, increasing, and the examples of each.
func classesOf(labels []int) (classes []int, members [][]int, err error) {
	classes = slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("learn: %d examples with the classes %v, want at least two classes", len(labels), classes)
	}
	members = make([][]int, len(classes))
	for k, l := range labels {
		c, _ := slices.BinarySearch(classes, l)
		members[c] = append(members[c], k)
	}
	return classes, members, nil
}

// Values returns the value of each function (column) for new examples (rows of cross: their
// kernel values with the training examples).
func (l *Learner) Values(cross View) (*kernel.Matrix, error) {
	n, cols := cross.Dims()
	if cols != l.Examples {
		return nil, fmt.Errorf("learn: %d kernel values per example, but %d training examples", cols, l.Examples)
	}
	out := kernel.NewMatrix(n, len(l.Functions))
	buf := make([]float64, cols)
	for i := range n {
		row, values := cross.row(i, buf), out.Row(i)
		for f := range l.Functions {
			values[f] = l.Functions[f].Value(row)
		}
		if f := slices.IndexFunc(values, notFinite); f >= 0 {
			return nil, fmt.Errorf("learn: value of example %d is %v: its kernel values are not finite", i, values[f])
		}
	}
	return out, nil
}

// Value returns f for the kernel values of an example with all training examples.
func (f *Function) Value(row []float64) float64 {
	sum := 0.0
	for k, c := range f.Coefficients {
		if f.Support != nil {
			k = f.Support[k]
		}
		sum += float64(c * row[k])
	}
	return sum + f.Bias
}

// Class returns the label of an example: that with the largest of Scores, of equals the smallest.
// With Options.Probability it is the most probable one.
func (l *Learner) Class(values []float64) int {
	score := l.Scores(values)
	return l.Classes[slices.Index(score, slices.Max(score))]
}

// Scores returns a number for each class, the largest for the class of the example. For regressions
// they are the values. For machines of pairs the score of class a is that against its strongest
// rival, min_b d_ab, or Decision where no class wins against all others. Either way, Decision of
// the class of the example is not negative.
func (l *Learner) Scores(values []float64) []float64 {
	if l.Kind == KernelRidge {
		return slices.Clone(values)
	}
	out := slices.Repeat([]float64{math.Inf(1)}, len(l.Classes))
	for p, v := range values {
		a, b := l.pair(p)
		out[a], out[b] = min(out[a], v), min(out[b], -v)
	}
	if slices.Max(out) < 0 {
		return l.Decision(values)
	}
	return out
}

// Decision returns how much speaks for each class: the mean
//
//	Σ_b d_ab/(k−1)   for class a of k, over the other classes b,
//
// where d_ab is the value for a against b: of SVM that of the pair, of KernelRidge half the
// difference of the two regressions. It is the value of For(a).
func (l *Learner) Decision(values []float64) []float64 {
	if l.Classes == nil {
		return values
	}
	out := make([]float64, len(l.Classes))
	others := float64(len(l.Classes) - 1)
	for p := range l.pairs() {
		a, b := l.pair(p)
		v := l.pairValue(values, p) / others
		out[a] += v
		out[b] -= v
	}
	return out
}

// For returns the function that speaks for a class, a position in Classes: its value for an example
// is Decision of that class. For values it is their function, and class is not looked at.
func (l *Learner) For(class int) Function {
	if l.Classes == nil {
		return l.Functions[0]
	}
	var others []int
	for c := range l.Classes {
		if c != class {
			others = append(others, c)
		}
	}
	return l.Between(class, others...)
}

// Between returns the function that speaks for class a against other classes, the mean over them of
// the machine of the pair, or of half the difference of the two regressions.
func (l *Learner) Between(a int, others ...int) Function {
	weights := make([]float64, len(l.Functions))
	share := 1 / float64(len(others))
	for _, b := range others {
		switch {
		case l.Kind == KernelRidge:
			weights[a], weights[b] = 0.5, -share/2
		case a < b:
			weights[l.pairNumber(a, b)] = share
		default:
			weights[l.pairNumber(b, a)] = -share
		}
	}
	var out Function
	sum, used := make([]float64, l.Examples), make([]bool, l.Examples)
	for p, w := range weights {
		if w == 0 {
			continue
		}
		f := &l.Functions[p]
		out.Bias += float64(w * f.Bias)
		for k, c := range f.Coefficients {
			if f.Support != nil {
				k = f.Support[k]
			}
			sum[k] += float64(w * c)
			used[k] = true
		}
	}
	for k, c := range sum {
		if used[k] {
			out.Support, out.Coefficients = append(out.Support, k), append(out.Coefficients, c)
		}
	}
	return out
}

// pair returns the positions in Classes of the two classes of pair p.
func (l *Learner) pair(p int) (a, b int) {
	for p >= len(l.Classes)-1-a {
		p -= len(l.Classes) - 1 - a
		a++
	}
	return a, a + 1 + p
}

// pairNumber is the inverse of Pair.
func (l *Learner) pairNumber(a, b int) int { return a*(2*len(l.Classes)-a-1)/2 + b - a - 1 }

// pairs returns the number of pairs of classes.
func (l *Learner) pairs() int { return len(l.Classes) * (len(l.Classes) - 1) / 2 }

// pairValue returns the value that speaks for the first class of pair p against the second: of
// regressions half the difference of the two, which for two classes is that of the first.
func (l *Learner) pairValue(values []float64, p int) float64 {
	if l.Kind == SVM {
		return values[p]
	}
	a, b := l.pair(p)
	return (values[a] - values[b]) / 2
}

// Forget drops the leave-one-out values of examples, which files do not have.
func (l *Learner) Forget() {
	l.LeaveOneOut, l.HeldOut = nil, nil
	if l.Process != nil {
		p := l.Process
		p.LeaveOneOut, p.HeldOut, p.Density, p.leftBias, p.heldBias = nil, nil, 0, nil, nil
	}
}

// Clone returns a copy of which nothing changes when the learner does.
func (l *Learner) Clone() *Learner {
	out := *l
	out.Classes, out.Functions = slices.Clone(l.Classes), slices.Clone(l.Functions)
	for i, f := range out.Functions {
		out.Functions[i].Support, out.Functions[i].Coefficients = slices.Clone(f.Support), slices.Clone(f.Coefficients)
	}
	for _, m := range []**kernel.Matrix{&out.LeaveOneOut, &out.HeldOut} {
		if *m != nil {
			*m = &kernel.Matrix{Rows: (*m).Rows, Cols: (*m).Cols, Data: slices.Clone((*m).Data)}
		}
	}
	if l.Process != nil {
		p := *l.Process
		p.Unit, p.Weights = slices.Clone(p.Unit), slices.Clone(p.Weights)
		p.LeaveOneOut, p.HeldOut = slices.Clone(p.LeaveOneOut), slices.Clone(p.HeldOut)
		out.Process = &p
	}
	return &out
}

// Rescale turns a function f of values into mean + scale·f.
func (l *Learner) Rescale(mean, scale float64) {
	for i := range l.Functions {
		f := &l.Functions[i]
		for k := range f.Coefficients {
			f.Coefficients[k] *= scale
		}
		f.Bias = mean + float64(scale*f.Bias)
	}
	for _, m := range []*kernel.Matrix{l.LeaveOneOut, l.HeldOut} {
		if m != nil {
			for k, v := range m.Data {
				m.Data[k] = mean + float64(scale*v)
			}
		}
	}
	if p := l.Process; p != nil {
		p.Scale *= scale
		p.ReplicateNoise *= scale
		for _, deviations := range [][]float64{p.LeaveOneOut, p.HeldOut} {
			for i := range deviations {
				deviations[i] *= scale
			}
		}
	}
}

// Validate returns an error if the fields do not belong together or a number is not finite, as
// in a damaged file.
func (l *Learner) Validate() error {
	if err := l.Kind.validate(); err != nil {
		return err
	}
	want := 1
	if l.Classes != nil {
		if n := len(l.Classes); n < 2 || !slices.IsSorted(l.Classes) || len(slices.Compact(slices.Clone(l.Classes))) != n {
			return fmt.Errorf("learn: classes %v, want two or more in increasing order", l.Classes)
		}
		if want = len(l.Classes); l.Kind == SVM {
			want = l.pairs()
		}
	}
	if len(l.Functions) != want {
		return fmt.Errorf("learn: %d functions for %d classes, want %d", len(l.Functions), len(l.Classes), want)
	}
	for i := range l.Functions {
		if err := l.Functions[i].validate(l.Examples); err != nil {
			return fmt.Errorf("learn: function %d: %w", i, err)
		}
	}
	if l.Process != nil {
		if l.Kind != KernelRidge || l.Classes != nil {
			return errors.New("learn: a Gaussian process in a learner that is not kernel ridge regression on values")
		}
		if err := l.Process.validate(len(l.Functions[0].Coefficients)); err != nil {
			return err
		}
	}
	if !(l.Slope >= 0) || math.IsInf(l.Slope, 1) || l.Slope > 0 && l.Classes == nil {
		return fmt.Errorf("learn: slope %v for %d classes, want 0, or a positive number for classes", l.Slope, len(l.Classes))
	}
	return nil
}

// validate returns an error unless each support position below n has a finite coefficient.
func (f *Function) validate(n int) error {
	if len(f.Support) != len(f.Coefficients) && (f.Support != nil || len(f.Coefficients) != n) {
		return fmt.Errorf("%d support examples of %d, but %d coefficients", len(f.Support), n, len(f.Coefficients))
	}
	if f.Iterations < 0 {
		return fmt.Errorf("%d iterations, want 0 or more", f.Iterations)
	}
	for k, s := range f.Support {
		if s < 0 || s >= n || k > 0 && s <= f.Support[k-1] {
			return fmt.Errorf("support example %d at position %d, want increasing numbers below %d", s, k, n)
		}
	}
	return finite(append([]float64{f.Bias, f.Objective}, f.Coefficients...))
}

// finite returns an error that names the first number that is not finite.
func finite(x []float64) error {
	if i := slices.IndexFunc(x, notFinite); i >= 0 {
		return fmt.Errorf("number %d is %v, want a finite number", i, x[i])
	}
	return nil
}

// StandardScores returns (x − mean)/scale. scale is the standard deviation of values with some weights, nil for
// ones. Where all values are the same, it is their size, or 1 if they are 0. In these units C, ridge and ε mean
// the same for all data. Rescale turns a learner back to the units of the data.
func StandardScores(x, weight []float64) (z []float64, mean, scale float64) {
	w := Weights(weight)
	most := largest(x)
	_, exponent := math.Frexp(most)
	unit := math.Ldexp(1, exponent-1) // in which neither sums nor squares overflow
	z = make([]float64, len(x))
	if len(x) > 0 && slices.Min(x) == slices.Max(x) {
		return z, x[0], cmp.Or(most, 1)
	}
	for i, v := range x {
		z[i] = v / unit
		mean += float64(w.Of(i) * z[i])
	}
	sum := w.total(len(x))
	mean /= sum
	for i, v := range z {
		scale += float64(w.Of(i) * float64((v-mean)*(v-mean)))
	}
	scale = math.Sqrt(scale / sum)
	for i, v := range z {
		z[i] = (v - mean) / scale
	}
	return z, mean * unit, scale * unit
}
