package learn

import (
	"fmt"

	"github.com/mlgkernel/mlg/param"
)

// Kind is a way to learn from a Gram matrix.
type Kind int

const (
	// SVM is C-SVC for classes and ε-SVR for values.
	SVM Kind = iota
	// KernelRidge is kernel ridge regression, for classes one for each, with targets +1 for the
	// class and −1 for the others.
	KernelRidge
)

func (k Kind) String() string {
	if k == KernelRidge {
		return "ridge"
	}
	return "svm"
}

func (k Kind) validate() error {
	if k != SVM && k != KernelRidge {
		return fmt.Errorf("learn: kind %d, want %d or %d", k, SVM, KernelRidge)
	}
	return nil
}

// Options say how to learn. Start from DefaultOptions.
type Options struct {
	Kind Kind

	// C is the price of an error of SVM: the upper bound of the dual variables.
	C float64 `want:"positive"`

	// Ridge is λ of KernelRidge.
	Ridge float64 `want:"at least 0"`

	// Epsilon is the half width of the tube in which ε-SVR counts no error.
	Epsilon float64 `want:"at least 0"`

	// Tolerance bounds the violation of the optimality conditions: the solver stops
	// when two coefficients that could still be moved have slopes that differ by no more.
	// Slopes are in units of the decision value, in which the margin is 1.
	Tolerance float64 `want:"positive"`

	// MaxIterations bounds the steps of each two-class or regression problem. A training
	// that needs more returns a learner with an error that is ErrIterations.
	MaxIterations int `want:"at least 1"`

	// Probability asks for probabilities of classes. They come from the values of examples that
	// were not seen: with SVM by 5 further trainings whose folds are drawn from Seed, with
	// KernelRidge by leave-one-out. KernelRidge also moves its biases. Then the class of an example
	// is the most probable one.
	Probability bool
	Seed        uint64

	// LeaveOneOut asks KernelRidge for the leave-one-out values, which takes as long again, and
	// for the Process of values. Folds are those of the examples, if not nil: then LeaveOneOut also asks
	// for the values of examples without their whole fold.
	LeaveOneOut bool
	Folds       []int
	// Intervals fits the deviations of the Process to the leave-one-out values: 90 % of the intervals of
	// 90 % have their values. Without it they have the scale of the largest likelihood, by which ridges
	// are compared. Examples that are Alone, nil for none, have no other of their group among the examples.
	// Wider is for such as these, so they do not count here, unless few are left.
	Intervals bool
	Alone     []bool
}

// DefaultOptions returns SVM with C = 1, Epsilon = 0.1 and Tolerance = 1e-3, without probabilities:
// the defaults of LIBSVM, with which results are compared. The limit of 10 million steps is
// LIBSVM's as well. Ridge is 1.
func DefaultOptions() Options {
	return Options{C: 1, Ridge: 1, Epsilon: 0.1, Tolerance: 1e-3, MaxIterations: 10_000_000}
}

// Validate returns an error that names the first field with a value out of range.
func (o Options) Validate() error {
	if err := o.Kind.validate(); err != nil {
		return err
	}
	return param.Check("learn", o)
}

// validatePath validates the options with each value in place of C or Ridge.
func (o Options) validatePath(parameters []float64) error {
	for _, v := range parameters {
		if o.Kind == KernelRidge {
			o.Ridge = v
		} else {
			o.C = v
		}
		if err := o.Validate(); err != nil {
			return err
		}
	}
	return nil
}
