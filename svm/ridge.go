package svm

import (
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
)

// Ridge is a kernel ridge regression,
//
//	minimise   Σ_k (z_k − f(x_k))² + λ βᵀKβ,   f(x) = Σ_k β_k k(x, x_k) + b,
//
// whose solution is (K + λI) β = z − b·1, where the bias b is chosen so that Σβ = 0, or is
// 0 without an intercept.
type Ridge struct {
	Lambda       float64
	Coefficients []float64 // β, one for each training example
	Bias         float64

	// LeaveOneOut holds, for each training example, the prediction of the regression that
	// is fitted to all others; nil if that was not asked for.
	LeaveOneOut []float64
}

// Ridge fits a kernel ridge regression to the targets for one ridge λ ≥ 0. The
// leave-one-out predictions are in closed form,
//
//	z_i − β_i / g_i,   g = diag((K+λI)⁻¹) without, and g_i − u_i²/Σu with an intercept, u = (K+λI)⁻¹1.
//
// They are NaN for a single example with an intercept. It takes O(n²) time.
func (d *Decomposition) Ridge(targets []float64, lambda float64, intercept bool) (*Ridge, error) {
	if err := d.check(targets); err != nil {
		return nil, err
	}
	f, err := d.shift(lambda)
	if err != nil {
		return nil, err
	}
	return ridges(f, [][]float64{targets}, lambda, intercept, true)[0], nil
}

// inverse is (K + λI)⁻¹.
type inverse interface {
	order() int
	solve(v []float64) []float64
	// inverseDiagonal comes last.
	inverseDiagonal() []float64
}

// ridges fits several target vectors with one ridge.
func ridges(f inverse, targets [][]float64, lambda float64, intercept, leaveOneOut bool) []*Ridge {
	n := f.order()
	var u []float64
	sum := 0.0
	if intercept {
		ones := make([]float64, n)
		for k := range ones {
			ones[k] = 1
		}
		u = f.solve(ones)
		for _, v := range u {
			sum += v
		}
	}
	out := make([]*Ridge, len(targets))
	for t, z := range targets {
		r := &Ridge{Lambda: lambda, Coefficients: f.solve(z)}
		if intercept {
			for _, v := range r.Coefficients {
				r.Bias += v
			}
			r.Bias /= sum
			axpy(r.Coefficients, -r.Bias, u)
		}
		out[t] = r
	}
	if !leaveOneOut {
		return out
	}
	g := f.inverseDiagonal()
	for k, v := range u {
		g[k] -= v * v / sum
		if n == 1 {
			g[k] = math.NaN()
		}
	}
	for t, z := range targets {
		out[t].LeaveOneOut = make([]float64, n)
		for k, b := range out[t].Coefficients {
			out[t].LeaveOneOut[k] = z[k] - b/g[k]
		}
	}
	return out
}

// check returns an error unless there is one finite target for each example.
func (d *Decomposition) check(targets []float64) error {
	if len(targets) != len(d.diag) {
		return fmt.Errorf("svm: Gram matrix of %d examples, but %d targets", len(d.diag), len(targets))
	}
	return finite(targets)
}

// Predict returns the value for each new example (a row of cross: its kernel values with
// the training examples).
func (r *Ridge) Predict(cross View) ([]float64, error) {
	return expandAll(cross, r.Coefficients, r.Bias)
}

// expandAll is expand with a coefficient for every training example.
func expandAll(cross View, coef []float64, bias float64) ([]float64, error) {
	all := make([]int, len(coef))
	for k := range all {
		all[k] = k
	}
	return expand(cross, len(coef), all, coef, bias)
}

// RidgeClassifier tells classes apart by one kernel ridge regression each, with targets +1
// for the class and −1 for the others.
type RidgeClassifier struct {
	Classes []int    // increasing
	Ridges  []*Ridge // one for each class, with an intercept
	// Examples is the number of training examples.
	Examples int

	// LeaveOneOut holds the label that each training example gets from the classifier that
	// is fitted to all others; nil if that was not asked for.
	LeaveOneOut []int
}

// RidgePath fits a RidgeClassifier for each ridge. Its leave-one-out labels make it a fast
// way to choose a kernel or its parameters for up to a thousand examples or so: a whole path
// costs little more than the decomposition. Fewer than two classes are an error.
func (d *Decomposition) RidgePath(labels []int, lambdas []float64) ([]*RidgeClassifier, error) {
	n := len(d.diag)
	classes, targets, err := classTargets(labels, n)
	if err != nil {
		return nil, err
	}
	var out []*RidgeClassifier
	for _, lambda := range lambdas {
		f, err := d.shift(lambda)
		if err != nil {
			return nil, err
		}
		out = append(out, newRidgeClassifier(classes, ridges(f, targets, lambda, true, true), true))
	}
	return out, nil
}

// classTargets returns the classes that occur and, for each, +1 for its n examples and −1 for
// the others.
func classTargets(labels []int, n int) (classes []int, targets [][]float64, err error) {
	if len(labels) != n {
		return nil, nil, fmt.Errorf("svm: Gram matrix of %d examples, but %d labels", n, len(labels))
	}
	classes = slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("svm: %d examples of %d class(es) %v, want at least two classes", n, len(classes), classes)
	}
	targets = make([][]float64, len(classes))
	for c, class := range classes {
		targets[c] = make([]float64, n)
		for k, l := range labels {
			targets[c][k] = -1
			if l == class {
				targets[c][k] = 1
			}
		}
	}
	return classes, targets, nil
}

// newRidgeClassifier puts the regressions of the classes together.
func newRidgeClassifier(classes []int, r []*Ridge, leaveOneOut bool) *RidgeClassifier {
	m := &RidgeClassifier{Classes: classes, Ridges: r, Examples: len(r[0].Coefficients)}
	if leaveOneOut {
		m.LeaveOneOut = make([]int, m.Examples)
		for k := range m.LeaveOneOut {
			m.LeaveOneOut[k] = m.winner(func(c int) float64 { return r[c].LeaveOneOut[k] })
		}
	}
	return m
}

// winner returns the class of the largest score, the smallest label of equals.
func (m *RidgeClassifier) winner(score func(c int) float64) int {
	best := 0
	for c := range m.Classes {
		if score(c) > score(best) {
			best = c
		}
	}
	return m.Classes[best]
}

// Decision returns the value of each regression (column) for new examples (rows of cross).
func (m *RidgeClassifier) Decision(cross View) (*mlg.Matrix, error) {
	n, _ := cross.Dims()
	out := mlg.NewMatrix(n, len(m.Classes))
	for c, r := range m.Ridges {
		v, err := r.Predict(cross)
		if err != nil {
			return nil, err
		}
		for i := range v {
			out.Set(i, c, v[i])
		}
	}
	return out, nil
}

// Predict returns the label of each new example: the class of the largest decision value.
func (m *RidgeClassifier) Predict(cross View) ([]int, error) {
	d, err := m.Decision(cross)
	if err != nil {
		return nil, err
	}
	labels := make([]int, d.Rows)
	for i := range labels {
		labels[i] = m.winner(func(c int) float64 { return d.At(i, c) })
	}
	return labels, nil
}

// Classifier returns machines for pairs of classes that decide as m does: with f_c the
// regression value of class c, that of the pair (a, b) has the decision value
//
//	½ (f_a(x) − f_b(x)),
//
// so the class with the largest value wins all its pairs. For two classes it is f_a, since
// f_b = −f_a. With probability, a sigmoid for each pair is fitted to the leave-one-out values of
// the examples of its classes.
func (m *RidgeClassifier) Classifier(labels []int, probability bool) *Classifier {
	n := m.Examples
	out := &Classifier{Classes: m.Classes, Examples: n}
	for a := range m.Classes {
		for b := a + 1; b < len(m.Classes); b++ {
			p, q := m.Ridges[a], m.Ridges[b]
			x := Machine{Positive: m.Classes[a], Negative: m.Classes[b], Bias: (p.Bias - q.Bias) / 2}
			for i := range n {
				if c := (p.Coefficients[i] - q.Coefficients[i]) / 2; c != 0 {
					x.Support = append(x.Support, i)
					x.Coefficients = append(x.Coefficients, c)
				}
			}
			if probability {
				var values []float64
				var positive []bool
				for i, l := range labels {
					if l == x.Positive || l == x.Negative {
						values = append(values, (p.LeaveOneOut[i]-q.LeaveOneOut[i])/2)
						positive = append(positive, l == x.Positive)
					}
				}
				s := FitSigmoid(values, positive)
				x.Platt = &s
			}
			out.Machines = append(out.Machines, x)
		}
	}
	return out
}
