package choose

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/param"
)

// Options say how kernels and parameters are chosen. Start from DefaultOptions.
type Options struct {
	// Folds is the number of folds of an evaluation; Choose makes one less, because a training
	// part has one less. Seed determines how graphs are dealt to them.
	Folds int `want:"at least 2"`
	Seed  uint64

	// Task is the kind of the targets.
	Task Task `want:"0 to 2"`
	// Learner is what learns from the kernel matrix.
	Learner learn.Kind `want:"0 to 1"`
	// C is the grid of learn.SVM, increasing.
	C []float64 `want:"positive"`
	// Ridge is the grid of learn.KernelRidge, increasing.
	Ridge []float64 `want:"positive"`
	// Epsilon is the half width of the tube of ε-SVR, in standard deviations of the targets.
	Epsilon float64 `want:"at least 0"`
	// Tolerance and MaxIterations are those of learn.Options.
	Tolerance     float64 `want:"positive"`
	MaxIterations int     `want:"at least 1"`

	// InnerFolds is the number of validators: each of that many folds of a training part is
	// predicted from the rest of it. More than there are means all. It is rounded up to an even
	// number when Folds is odd.
	InnerFolds int `want:"at least 1"`
	// LeaveOneOut scores the leave-one-out predictions of kernel ridge regression on the training
	// part, or a sample of Examples of it, instead. With learn.SVM, C stands for the ridge 1/(2C).
	LeaveOneOut bool
	// Score is what the choice for classes maximises. For values it is the log predictive density of a
	// Gaussian process with LeaveOneOut, and else minus the squared error.
	Score Score `want:"0 to 2"`

	// Probability gives probabilities of classes to the learners that predict unseen graphs. The
	// class that they tell is the most probable one.
	Probability bool

	// Combinations are the ways to use the settings of all candidates together. They are tried
	// besides the settings themselves.
	Combinations []Combination `want:"0 to 3"`
	// Examples is the largest number of training graphs for the scores of LeaveOneOut and for the
	// weights of a combination. With more graphs, a stratified sample is drawn.
	Examples int `want:"at least 2"`

	// Groups, when set, are the graphs that belong together. Otherwise molecules with one scaffold do, or
	// graphs that the kernel finds similar.
	Groups *Groups

	// Unscored leaves out the scores where there is one kernel and one value of the grid. The plan then has
	// no estimate.
	Unscored bool

	// Memory is the number of bytes that matrices may take. 0 means what is available when the choice begins,
	// which then depends on the machine. Where the matrix of all graphs does not fit, it decides the number of
	// centres.
	Memory int64 `want:"at least 0"`

	// Collection, when set, has the same graphs without their targets, and kernels that were
	// fitted to them. They are not fitted again. An inductive evaluation does not
	// use it.
	Collection *kernel.Collection `json:"-"`
}

// DefaultOptions returns kernel ridge regression with probabilities. Its ridge has the least squared error
// of leave-one-out predictions for classes, and the largest predictive density for values.
func DefaultOptions() Options {
	learner := learn.DefaultOptions()
	return Options{
		Folds:      10,
		Learner:    learn.KernelRidge,
		C:          []float64{0.1, 0.3, 1, 3, 10, 30, 100},
		Ridge:      []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10},
		Epsilon:    learner.Epsilon,
		InnerFolds: math.MaxInt,
		Examples:   1024,

		LeaveOneOut: true,
		Score:       Squared,
		Probability: true,

		Tolerance: learner.Tolerance, MaxIterations: learner.MaxIterations,
	}
}

// ForCandidates sets what DefaultCandidates are meant to be used with: all combinations but MeanBest.
func (o *Options) ForCandidates() { o.Combinations = []Combination{BestSingle, MeanAll, Weighted} }

// ForSVM sets support vector machines: C-SVC or ε-SVR, with C by accuracy or squared error on all folds.
func (o *Options) ForSVM() { o.Learner, o.LeaveOneOut, o.Score = learn.SVM, false, Accuracy }

// AddRidges adds the smaller ridges that some candidates need to a grid of several, for values.
func (o *Options) AddRidges(t *Targets, candidates []Candidate) {
	if !t.Regression() || len(o.Ridge) < 2 {
		return
	}
	for _, c := range candidates {
		o.Ridge = slices.Concat(c.Ridges, o.Ridge)
	}
	slices.Sort(o.Ridge)
	o.Ridge = slices.Compact(o.Ridge)
}

// Task is a kind of targets.
type Task int

const (
	// AutoTask is Regression where dataset.Info takes the targets for values, else
	// Classification.
	AutoTask Task = iota
	Classification
	Regression
)

// Score is what the choice of parameters maximises.
type Score int

const (
	Accuracy Score = iota
	BalancedAccuracy
	// Squared is minus the squared error of the values of kernel ridge regression, with targets ±1
	// for each class. It varies less between samples than the accuracy. Only with learn.KernelRidge.
	Squared
)

// Grid returns the values of the learner's parameter.
func (o *Options) Grid() []float64 {
	if o.Learner == learn.KernelRidge {
		return o.Ridge
	}
	return o.C
}

// AtEdge reports whether a value of the grid is the smallest or the largest ridge, so that one outside may be
// better.
func (o *Options) AtEdge(value int) bool {
	return o.Learner == learn.KernelRidge && len(o.Ridge) > 1 && (value == 0 || value == len(o.Ridge)-1)
}

// learner returns how to learn, without probabilities.
func (o *Options) learner() learn.Options {
	out := learn.DefaultOptions()
	out.Kind, out.Epsilon, out.Tolerance, out.MaxIterations = o.Learner, o.Epsilon, o.Tolerance, o.MaxIterations
	return out
}

// ParameterName returns the name of a learner's parameter.
func ParameterName(k learn.Kind) string {
	if k == learn.KernelRidge {
		return "ridge"
	}
	return "C"
}

// ridges returns the ridges that the values of the grid stand for.
func (o *Options) ridges() []float64 {
	if o.Learner == learn.KernelRidge {
		return o.Ridge
	}
	out := make([]float64, len(o.C))
	for i, c := range o.C {
		out[i] = 1 / (2 * c)
	}
	return out
}

// best returns the position of the largest score of a grid: of equals the strongest
// regularisation, the smallest C or the largest ridge. Scores that differ by no more than rounding are equal for ridges.
func (o *Options) best(scores []float64, rounding float64) int {
	best := 0
	for i, v := range scores {
		if v > scores[best] {
			best = i
		}
	}
	if least := scores[best] - rounding; o.Learner == learn.KernelRidge {
		for i := best + 1; i < len(scores); i++ {
			if scores[i] >= least {
				best = i
			}
		}
	}
	return best
}

// Validate returns an error that names the first field with an impossible value.
func (o *Options) Validate() error {
	if err := param.Check("choose", *o); err != nil {
		return err
	}
	if o.Score == Squared && o.Learner != learn.KernelRidge {
		return errors.New("choose: Score = squared is for kernel ridge regression")
	}
	return cmp.Or(increasing("C", o.C), increasing("Ridge", o.Ridge))
}

func increasing(name string, grid []float64) error {
	if len(grid) == 0 || len(slices.Compact(slices.Clone(grid))) < len(grid) || !slices.IsSorted(grid) {
		return fmt.Errorf("choose: %s = %v, want numbers that increase, at least one", name, grid)
	}
	return nil
}
