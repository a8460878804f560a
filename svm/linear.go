package svm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// DefaultLinearOptions returns the options for TrainLinear: C = 1, Tolerance = 0.01 and at most
// 1000 passes.
func DefaultLinearOptions() Options {
	o := DefaultOptions()
	o.Tolerance, o.MaxIterations = 0.01, 1000
	return o
}

// TrainLinear trains a C-SVC on features: row k of x belongs to example k. For two classes
// it minimises
//
//	½|w|² + Σ_k C_k max(0, 1 − y_k (w·x_k + b)),
//
// y_k = +1 for the smaller label and −1 for the larger, C_k = C·weight(label_k), over w and
// the bias b, which is not regularised. It is the problem of Train for the Gram
// matrix X Xᵀ of the examples, in time and memory proportional to X. For more classes there is one
// function for each pair. The features of an example are its kernel values to the Learner, and their
// number is Examples.
//
// The dual is solved by coordinate descent (Hsieh et al. 2008), which keeps w = Σ y_k α_k x_k
// and changes one α at a time:
//
//	α_k ← clip(α_k − (y_k f(x_k) − 1)/(x_k·x_k + ρ), 0, C_k).
//
// The condition Σ y_k α_k = 0 that belongs to the bias is met by the method of multipliers:
// b = b₀ + ρ Σ y_k α_k, as if b were the weight of a feature √ρ regularised towards b₀, and b₀
// moves to b whenever α is nearly optimal for it. ρ is the mean of x_k·x_k.
//
// A pass takes O(n·dim) time, and opt.MaxIterations bounds the passes: the steps of a problem are
// at most so many for each example. opt.Seed determines the order of the examples in each pass. An
// error that is ErrIterations comes with a usable learner, any other with nil.
func TrainLinear(ctx context.Context, x *kernel.Matrix, labels []int, opt Options) (*Learner, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if x.Rows != len(labels) {
		return nil, fmt.Errorf("svm: features of %d examples for %d labels", x.Rows, len(labels))
	}
	if i := slices.IndexFunc(x.Data, notFinite); i >= 0 {
		return nil, fmt.Errorf("svm: feature %d of example %d is %v, want a finite number", i%x.Cols, i/x.Cols, x.Data[i])
	}
	classes, members, err := classesOf(labels)
	if err != nil {
		return nil, err
	}
	l := &Learner{Kind: SVM, Classes: classes, Examples: x.Cols}
	var limit limit
	for i := range l.pairs() {
		p := l.pairProblem(i, View{}, members, Targets{}, opt)
		s := newLinearSolver(x, p, opt.C)
		if err := limit.pass(s.solve(ctx, opt), "C = %g%s, %d passes", opt.C, p.name, opt.MaxIterations); err != nil {
			return nil, err
		}
		f := Function{Coefficients: s.w, Bias: s.bias, Iterations: s.steps, Objective: dense.Dot(s.w, s.w) / 2}
		for _, a := range s.alpha {
			f.Objective -= a
		}
		l.Functions = append(l.Functions, f)
	}
	return l, limit.err
}

// linearSolver is the coordinate descent on a two-class problem.
type linearSolver struct {
	rows    [][]float64 // x_k
	y, c    []float64
	squares []float64 // x_k·x_k
	rho     float64

	w     []float64
	alpha []float64
	sum   float64 // Σ yα
	base  float64 // b₀
	bias  float64 // base + rho·sum
	steps int
}

func newLinearSolver(x *kernel.Matrix, p *problem, c float64) *linearSolver {
	n := len(p.members)
	s := &linearSolver{w: make([]float64, x.Cols), alpha: make([]float64, n)}
	for k, i := range p.members {
		row := x.Row(i)
		s.rows, s.squares = append(s.rows, row), append(s.squares, dense.Dot(row, row))
		s.y, s.c = append(s.y, -p.q[k]), append(s.c, c*(p.high[k]-p.low[k]))
		s.rho += s.squares[k] / float64(n)
	}
	if s.rho == 0 {
		s.rho = 1 // features that are all 0: only the bias counts
	}
	return s
}

// solve moves α until it is optimal, or returns ErrIterations.
func (s *linearSolver) solve(ctx context.Context, opt Options) error {
	n := len(s.rows)
	r := rand.New(rand.NewPCG(opt.Seed, 0x6c696e656172)) // "linear"
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	active := slices.Clone(all)
	// Examples at a bound whose slope points outwards by more than any violation of the pass
	// before are left out until the others are optimal.
	least, most := math.Inf(-1), math.Inf(1)
	for s.steps/max(1, n) < opt.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
		s.steps += max(1, len(active))
		var low, high float64
		active, low, high = s.pass(active, least, most)
		violation := 0.0
		if low <= high {
			violation = max(high, -low)
		}
		off := math.Abs(s.rho * s.sum)
		if violation <= max(opt.Tolerance, off/2) {
			if len(active) == n && violation <= opt.Tolerance && off <= opt.Tolerance {
				return nil
			}
			s.base = s.bias
			s.bias = s.base + float64(s.rho*s.sum)
			active = append(active[:0], all...)
			least, most = math.Inf(-1), math.Inf(1)
			continue
		}
		least, most = low, high
		if !(least < 0) {
			least = math.Inf(-1)
		}
		if !(most > 0) {
			most = math.Inf(1)
		}
	}
	return ErrIterations
}

// pass moves every active α once. It returns those that stay active, and the lowest and highest of
// the slopes that can be followed.
func (s *linearSolver) pass(active []int, least, most float64) (stay []int, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for at := 0; at < len(active); at++ {
		k := active[at]
		slope := s.y[k]*(dense.Dot(s.w, s.rows[k])+s.bias) - 1
		bottom, top := s.alpha[k] == 0, s.alpha[k] == s.c[k]
		if bottom && slope > most || top && slope < least {
			active[at] = active[len(active)-1]
			active = active[:len(active)-1]
			at--
			continue
		}
		can := slope
		if bottom {
			can = min(slope, 0)
		} else if top {
			can = max(slope, 0)
		}
		low, high = min(low, can), max(high, can)
		if can == 0 {
			continue
		}
		old := s.alpha[k]
		s.alpha[k] = min(max(old-slope/(s.squares[k]+s.rho), 0), s.c[k])
		step := (s.alpha[k] - old) * s.y[k]
		dense.Axpy(s.w, step, s.rows[k])
		s.sum += step
		s.bias = s.base + float64(s.rho*s.sum)
	}
	return active, low, high
}
