package evaluate

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Options say how kernels are evaluated. Start from DefaultOptions.
type Options struct {
	// Folds and Repeats are the shape of the cross-validation, Seed determines its splits.
	Folds, Repeats int
	Seed           uint64
	// Splits, when set, are used instead, and Folds, Repeats and Seed have no effect on them.
	Splits *Splits

	// Task says what the targets are.
	Task Task
	// Learner is what learns from the kernel matrix; see Learner for what fits which task.
	Learner Learner
	// C is the grid of the support vector machines, increasing.
	C []float64
	// Ridge is the grid of ridges λ of kernel ridge regression and classification, increasing.
	Ridge []float64
	// Epsilon is the half width of the tube of SVR, in standard deviations of the targets.
	Epsilon float64

	// Selection says where parameters are chosen.
	Selection Selection
	// Inner is the scheme by which they are chosen inside the training part, for Nested.
	Inner Inner
	// InnerFolds is the number of validation folds for KFold: each of that many other folds
	// is predicted from the rest of the training part. More than there are means all. It is
	// rounded up to an even number when Folds is odd.
	InnerFolds int
	// Score is what the choice maximises; regression always minimises the squared error.
	Score Score

	// Fitting says which graphs a kernel is fitted to.
	Fitting Fitting
	// Combinations are the ways to combine kernels that are evaluated besides the
	// candidates themselves; see Combination.
	Combinations []Combination
	// Averages adds a row for every candidate that has more than ten settings: the mean of the kernels of
	// its ten best (BestFew). Where many settings are about as good, that is better than one of them.
	// With LeaveOneOut.
	Averages bool
	// Examples bounds the number of training graphs of which LeaveOneOut computes scores and
	// from which the weights of a combination are learned; where there are more, a stratified
	// sample is drawn.
	Examples int

	// Confidence is the level of the confidence intervals.
	Confidence float64
	// Workers is the number of trainings at a time. Results do not depend on it.
	Workers int
	// Progress, when set, is called with the numbers of outer folds of settings and
	// combinations that are done and that there are, from one goroutine at a time. A finalist
	// on many graphs counts as several, because it takes as long.
	Progress func(done, total int)
	// Clock, when set, returns the time since some fixed moment; seconds are 0 without it.
	// It is called concurrently.
	Clock func() time.Duration
	// Folder, when not empty, keeps the results of finished parts of the evaluation. A later
	// run with the same data, splits, options and kernel takes them from there. Kernels are
	// told apart by their names and the names and parameters of their settings.
	Folder string
}

// DefaultOptions returns 10 repeats of 10 folds, C-SVC with C = 0.1 … 100, parameters
// chosen by accuracy on all other folds of the training part, and kernels fitted to all
// graphs without their targets.
func DefaultOptions() Options {
	return Options{
		Folds: 10, Repeats: 10,
		C:          []float64{0.1, 0.3, 1, 3, 10, 30, 100},
		Ridge:      []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10},
		Epsilon:    0.1,
		InnerFolds: math.MaxInt,
		Examples:   1024,
		Confidence: 0.95,
		Workers:    runtime.GOMAXPROCS(0),
	}
}

// ForCandidates sets what DefaultCandidates are meant to be used with: kernel ridge regression,
// parameters by the squared error of its leave-one-out predictions, and DefaultCombinations.
// docs/evaluation.md has the measurements that speak for it.
func (o *Options) ForCandidates() {
	o.Learner, o.Inner, o.Score, o.Combinations = Ridge, LeaveOneOut, Squared, DefaultCombinations()
}

// decades returns the powers of ten from 10^lo to 10^hi.
func decades(lo, hi int) []float64 {
	var out []float64
	for e := lo; e <= hi; e++ {
		out = append(out, math.Pow10(e))
	}
	return out
}

// Task is what the targets are.
type Task int

const (
	// AutoTask is Regression where dataset.Info takes the targets for values, else
	// Classification.
	AutoTask Task = iota
	Classification
	Regression
)

// Learner is what learns from a kernel matrix.
type Learner int

const (
	// SVM is C-SVC for classes and ε-SVR for values.
	SVM Learner = iota
	// Ridge is kernel ridge regression, for classes one for each class against the others.
	Ridge
)

// Selection says where parameters are chosen.
type Selection int

const (
	// Nested chooses kernel parameters and C anew on the training part of every fold. The
	// scores are honest estimates for the whole procedure.
	Nested Selection = iota
	// OnReported chooses those kernel parameters and that C whose score on the reported
	// folds themselves is best, as tables of papers often do. The scores are too high, the
	// more so the more settings there are, and the report says so. Classification only.
	OnReported
)

// Inner is a scheme of choice inside a training part.
type Inner int

const (
	// KFold predicts InnerFolds folds of the training part, each from the others. The folds
	// are those of the outer cross-validation, so that a training without folds f and g
	// serves the choice for f (by its predictions of g) and for g (by those of f); neither
	// choice sees its own test fold.
	KFold Inner = iota
	// HoldOut is KFold with one validation fold (two when Folds is odd).
	HoldOut
	// LeaveOneOut scores the leave-one-out predictions of kernel ridge regression on the
	// training part, or a sample of Examples of it, in closed form. With SVM, C stands for the
	// ridge 1/(2C).
	LeaveOneOut
)

// Score is what the choice of parameters maximises.
type Score int

const (
	Accuracy Score = iota
	BalancedAccuracy
	// Squared is minus the squared error of the values of kernel ridge regression, targets
	// being ±1 for each class. It varies less between samples than the accuracy. Only with the
	// learner Ridge.
	Squared
)

// Fitting says which graphs a kernel is fitted to.
type Fitting int

const (
	// Transductive fits a kernel once to all graphs, without their targets; landmarks may
	// be vertices of test graphs.
	Transductive Fitting = iota
	// Inductive fits a kernel to the training part of every fold; test graphs are new to it.
	Inductive
)

var (
	taskNames      = []string{"auto", "classification", "regression"}
	learnerNames   = []string{"svm", "ridge"}
	selectionNames = []string{"nested", "reported"}
	innerNames     = []string{"kfold", "holdout", "loo"}
	scoreNames     = []string{"accuracy", "balanced", "squared"}
	fittingNames   = []string{"transductive", "inductive"}
)

func (t Task) String() string      { return nameOf(taskNames, int(t)) }
func (l Learner) String() string   { return nameOf(learnerNames, int(l)) }
func (s Selection) String() string { return nameOf(selectionNames, int(s)) }
func (i Inner) String() string     { return nameOf(innerNames, int(i)) }
func (s Score) String() string     { return nameOf(scoreNames, int(s)) }
func (f Fitting) String() string   { return nameOf(fittingNames, int(f)) }

// ParseTask is the inverse of Task.String.
func ParseTask(s string) (Task, error) { return parse[Task](taskNames, s, "task") }

// ParseScore is the inverse of Score.String.
func ParseScore(s string) (Score, error) { return parse[Score](scoreNames, s, "score") }

// ParseLearner is the inverse of Learner.String.
func ParseLearner(s string) (Learner, error) { return parse[Learner](learnerNames, s, "learner") }

// ParseSelection is the inverse of Selection.String.
func ParseSelection(s string) (Selection, error) {
	return parse[Selection](selectionNames, s, "selection")
}

// ParseInner is the inverse of Inner.String.
func ParseInner(s string) (Inner, error) { return parse[Inner](innerNames, s, "inner scheme") }

// ParseFitting is the inverse of Fitting.String.
func ParseFitting(s string) (Fitting, error) { return parse[Fitting](fittingNames, s, "fitting") }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprint(i)
	}
	return names[i]
}

func parse[T ~int](names []string, s, what string) (T, error) {
	i := slices.Index(names, s)
	if i < 0 {
		return 0, fmt.Errorf("%s %q, want one of %q", what, s, names)
	}
	return T(i), nil
}

// Validate returns an error that names the first field with an impossible value.
func (o *Options) Validate() error {
	for _, e := range []struct {
		name  string
		value int
		names []string
	}{
		{"Task", int(o.Task), taskNames}, {"Learner", int(o.Learner), learnerNames},
		{"Selection", int(o.Selection), selectionNames}, {"Inner", int(o.Inner), innerNames},
		{"Score", int(o.Score), scoreNames}, {"Fitting", int(o.Fitting), fittingNames},
	} {
		if e.value < 0 || e.value >= len(e.names) {
			return fmt.Errorf("evaluate: %s = %d, want one of %q", e.name, e.value, e.names)
		}
	}
	if err := increasing("C", o.C); err != nil {
		return err
	}
	if err := increasing("Ridge", o.Ridge); err != nil {
		return err
	}
	for _, c := range o.Combinations {
		if c < 0 || int(c) >= len(combinationNames) {
			return fmt.Errorf("evaluate: Combinations has %d, want one of %q", c, combinationNames)
		}
	}
	switch {
	case o.Splits == nil && o.Folds < 2:
		return fmt.Errorf("evaluate: Folds = %d, want at least 2", o.Folds)
	case o.Splits == nil && o.Repeats < 1:
		return fmt.Errorf("evaluate: Repeats = %d, want at least 1", o.Repeats)
	case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 1):
		return fmt.Errorf("evaluate: Epsilon = %v, want a finite number, 0 or more", o.Epsilon)
	case o.InnerFolds < 1:
		return fmt.Errorf("evaluate: InnerFolds = %d, want at least 1", o.InnerFolds)
	case o.Examples < 2:
		return fmt.Errorf("evaluate: Examples = %d, want at least 2", o.Examples)
	case !(o.Confidence > 0 && o.Confidence < 1):
		return fmt.Errorf("evaluate: Confidence = %v, want a number between 0 and 1", o.Confidence)
	case o.Workers < 1:
		return fmt.Errorf("evaluate: Workers = %d, want at least 1", o.Workers)
	case o.Score == Squared && (o.Learner != Ridge || o.Selection == OnReported):
		return fmt.Errorf("evaluate: Score = squared is for Learner = ridge and Selection = nested")
	case o.Averages && (o.Inner != LeaveOneOut || o.Selection == OnReported):
		return fmt.Errorf("evaluate: Averages are for Selection = nested and Inner = loo")
	case o.Selection == OnReported && len(o.Combinations) > 0:
		return fmt.Errorf("evaluate: Combinations are learned inside training parts only, want Selection = Nested")
	}
	return nil
}

func increasing(name string, grid []float64) error {
	if len(grid) == 0 {
		return fmt.Errorf("evaluate: %s is empty, want at least one value", name)
	}
	for i, x := range grid {
		if !(x > 0) || math.IsInf(x, 1) || i > 0 && x <= grid[i-1] {
			return fmt.Errorf("evaluate: %s = %v, want increasing finite numbers above 0", name, grid)
		}
	}
	return nil
}
