package svm

import (
	"fmt"
	"math"
	"slices"
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

// Options say how to learn. Start from DefaultOptions.
type Options struct {
	Kind Kind

	// C > 0 is the price of an error of SVM: the upper bound of the dual variables.
	C float64

	// Ridge ≥ 0 is λ of KernelRidge.
	Ridge float64

	// Epsilon ≥ 0 is the half width of the tube in which ε-SVR counts no error.
	Epsilon float64

	// ClassWeights multiplies C for the examples of a class; a class that is not in it has
	// weight 1. A weight must be positive. Only C-SVC looks at it.
	ClassWeights map[int]float64

	// Tolerance > 0 bounds the violation of the optimality conditions: the solver stops
	// when two coefficients that could still be moved have slopes that differ by no more.
	// Slopes are in units of the decision value, in which the margin is 1.
	Tolerance float64

	// MaxIterations ≥ 1 bounds the steps of each two-class or regression problem. A training
	// that needs more returns a learner with an error that is ErrIterations.
	MaxIterations int

	// Shrinking lets the solver leave out variables that are unlikely to move. It changes
	// the time, and the result only within the tolerance.
	Shrinking bool

	// Probability asks for probabilities of classes: SVM by PlattFolds ≥ 2 further trainings per
	// pair of classes whose folds are drawn from Seed, KernelRidge by its leave-one-out values.
	Probability bool
	PlattFolds  int
	Seed        uint64

	// LeaveOneOut asks KernelRidge for the leave-one-out values, which takes as long again.
	LeaveOneOut bool
}

// DefaultOptions returns SVM with C = 1, Epsilon = 0.1, Tolerance = 1e-3, shrinking, and 5 folds
// for probabilities, which are off: the defaults of LIBSVM, with which results are compared.
// The limit of 10 million steps is LIBSVM's as well. Ridge is 1.
func DefaultOptions() Options {
	return Options{
		C:             1,
		Ridge:         1,
		Epsilon:       0.1,
		Tolerance:     1e-3,
		MaxIterations: 10_000_000,
		Shrinking:     true,
		PlattFolds:    5,
	}
}

// Validate returns an error that names the first field with a value out of range.
func (o Options) Validate() error {
	switch {
	case o.Kind != SVM && o.Kind != KernelRidge:
		return fmt.Errorf("svm: Kind is %d, want %d or %d", o.Kind, SVM, KernelRidge)
	case !(o.C > 0) || math.IsInf(o.C, 1):
		return fmt.Errorf("svm: C is %v, want a finite number above 0", o.C)
	case !(o.Ridge >= 0) || math.IsInf(o.Ridge, 1):
		return fmt.Errorf("svm: Ridge is %v, want a finite number, 0 or more", o.Ridge)
	case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 1):
		return fmt.Errorf("svm: Epsilon is %v, want a finite number, 0 or more", o.Epsilon)
	case !(o.Tolerance > 0) || math.IsInf(o.Tolerance, 1):
		return fmt.Errorf("svm: Tolerance is %v, want a finite number above 0", o.Tolerance)
	case o.MaxIterations < 1:
		return fmt.Errorf("svm: MaxIterations is %d, want 1 or more", o.MaxIterations)
	case o.Probability && o.PlattFolds < 2:
		return fmt.Errorf("svm: PlattFolds is %d, want 2 or more", o.PlattFolds)
	}
	classes := make([]int, 0, len(o.ClassWeights))
	for c := range o.ClassWeights {
		classes = append(classes, c)
	}
	slices.Sort(classes)
	for _, c := range classes {
		if w := o.ClassWeights[c]; !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("svm: ClassWeights[%d] is %v, want a finite number above 0", c, w)
		}
	}
	return nil
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

// weight returns the factor of C for a class.
func (o Options) weight(class int) float64 {
	if w, ok := o.ClassWeights[class]; ok {
		return w
	}
	return 1
}
