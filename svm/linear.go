package svm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

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
// A pass takes O(n·dim) time, and opt.MaxIterations bounds the passes: the steps of a problem are at most so
// many for each example. opt.Seed determines the order of the examples in each pass. An error that is
// ErrIterations comes with a usable learner, any other with nil.
func TrainLinear(ctx context.Context, x *kernel.Matrix, labels []int, opt Options) (*Learner, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if x.Rows != len(labels) {
		return nil, fmt.Errorf("svm: features of %d examples for %d labels", x.Rows, len(labels))
	}
	for i, v := range x.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("svm: feature %d of example %d is %v, want a finite number", i%x.Cols, i/x.Cols, v)
		}
	}
	classes, _, err := classesOf(labels)
	if err != nil {
		return nil, err
	}
	l := &Learner{Kind: SVM, Classes: classes, Examples: x.Cols}
	var limit error
	for a, positive := range classes {
		for _, negative := range classes[a+1:] {
			p := &linearProblem{x: x, opt: opt}
			for k, label := range labels {
				switch label {
				case positive:
					p.add(k, 1, opt.C*opt.weight(positive))
				case negative:
					p.add(k, -1, opt.C*opt.weight(negative))
				}
			}
			f, err := p.solve(ctx)
			if f == nil {
				return nil, err
			}
			if err != nil {
				limit = fmt.Errorf("%w: C = %g, classes %d and %d, %d passes", err, opt.C, positive, negative, opt.MaxIterations)
			}
			l.Functions = append(l.Functions, *f)
		}
	}
	return l, limit
}

// linearProblem is a two-class problem: some rows of x.
type linearProblem struct {
	x       *kernel.Matrix
	opt     Options
	rows    []int
	y, c    []float64
	squares []float64 // x_k·x_k
}

func (p *linearProblem) add(row int, y, c float64) {
	p.rows = append(p.rows, row)
	p.y, p.c = append(p.y, y), append(p.c, c)
	r := p.x.Row(row)
	p.squares = append(p.squares, inner(r, r))
}

// solve returns the function w·x + b; with an error that is ErrIterations too.
func (p *linearProblem) solve(ctx context.Context) (*Function, error) {
	n := len(p.rows)
	rho := 0.0
	for _, s := range p.squares {
		rho += s / float64(n)
	}
	if rho == 0 {
		rho = 1 // features that are all 0: only the bias counts
	}
	r := rand.New(rand.NewPCG(p.opt.Seed, 0x6c696e656172)) // "linear"
	w := make([]float64, p.x.Cols)
	alpha := make([]float64, n)
	active := make([]int, n)
	for k := range active {
		active[k] = k
	}
	var b, base, sum float64 // b = base + rho·sum, sum = Σ yα
	// Examples at a bound whose slope points outwards by more than any violation of the pass
	// before are left out until the others are optimal.
	least, most := math.Inf(-1), math.Inf(1)
	tolerance := p.opt.Tolerance
	steps := 0
	for steps/max(1, n) < p.opt.MaxIterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Shuffle(len(active), func(i, j int) { active[i], active[j] = active[j], active[i] })
		steps += max(1, len(active))
		low, high := math.Inf(1), math.Inf(-1) // of the slopes that can be followed
		for at := 0; at < len(active); at++ {
			k := active[at]
			row := p.x.Row(p.rows[k])
			slope := p.y[k]*(inner(w, row)+b) - 1
			can := slope
			switch {
			case alpha[k] == 0:
				if slope > most {
					active[at] = active[len(active)-1]
					active = active[:len(active)-1]
					at--
					continue
				}
				can = min(slope, 0)
			case alpha[k] == p.c[k]:
				if slope < least {
					active[at] = active[len(active)-1]
					active = active[:len(active)-1]
					at--
					continue
				}
				can = max(slope, 0)
			}
			low, high = min(low, can), max(high, can)
			if can == 0 {
				continue
			}
			old := alpha[k]
			alpha[k] = min(max(old-slope/(p.squares[k]+rho), 0), p.c[k])
			step := (alpha[k] - old) * p.y[k]
			for i, v := range row {
				w[i] += step * v
			}
			sum += step
			b = base + rho*sum
		}
		violation := 0.0
		if low <= high {
			violation = max(high, -low)
		}
		off := math.Abs(rho * sum)
		if violation <= max(tolerance, off/2) {
			if len(active) == n && violation <= tolerance && off <= tolerance {
				return p.function(w, b, alpha, steps), nil
			}
			base = b
			b = base + rho*sum
			active = active[:0]
			for k := range n {
				active = append(active, k)
			}
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
	return p.function(w, b, alpha, steps), ErrIterations
}

func (p *linearProblem) function(w []float64, b float64, alpha []float64, steps int) *Function {
	f := &Function{Coefficients: w, Bias: b, Iterations: steps, Objective: inner(w, w) / 2}
	for _, a := range alpha {
		f.Objective -= a
	}
	return f
}

// inner returns the inner product; four sums hide the latency of the additions.
func inner(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}
