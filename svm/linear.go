package svm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg"
)

// Linear is a C-SVC on explicit feature vectors: what TrainClassifier finds for the Gram
// matrix X Xᵀ, in time and memory proportional to X. All it holds is exported, so that it can
// be stored; the methods change nothing.
type Linear struct {
	// Classes are the labels of the training examples in increasing order.
	Classes []int
	// Dim is the number of features.
	Dim int
	// Machines has one machine for each pair of classes, in the order of Classifier.Machines.
	Machines []LinearMachine
}

// LinearMachine is a two-class machine. Its decision value for features x is w·x + Bias, and
// speaks for class Positive where it is above 0.
type LinearMachine struct {
	Positive, Negative int // labels
	Weights            []float64
	Bias               float64
	// Objective is the dual objective reached, ½|w|² − Σα.
	Objective float64
	// Steps is the number of examples that the solver looked at, again and again.
	Steps int
}

// LinearOptions are the parameters of TrainLinear. Start from DefaultLinearOptions.
type LinearOptions struct {
	// C > 0 is the price of an error, and ClassWeights multiplies it for the examples of a
	// class, as in Options.
	C            float64
	ClassWeights map[int]float64
	// Tolerance > 0 bounds the violation of the optimality conditions, in units of the
	// decision value.
	Tolerance float64
	// MaxPasses ≥ 1 bounds the steps of a two-class problem: so many for each example. A
	// training that needs more returns a model with an error that is ErrIterations.
	MaxPasses int
	// Seed determines the order of the examples in each pass.
	Seed uint64
}

// DefaultLinearOptions returns C = 1, Tolerance = 0.01 and at most 1000 passes.
func DefaultLinearOptions() LinearOptions {
	return LinearOptions{C: 1, Tolerance: 0.01, MaxPasses: 1000}
}

// Validate returns an error that names the first field with a value out of range.
func (o LinearOptions) Validate() error {
	if o.MaxPasses < 1 {
		return fmt.Errorf("svm: MaxPasses is %d, want 1 or more", o.MaxPasses)
	}
	return Options{C: o.C, ClassWeights: o.ClassWeights, Tolerance: o.Tolerance, MaxIterations: 1}.Validate()
}

// TrainLinear trains a C-SVC on features: row k of x belongs to example k. For two classes
// it minimises
//
//	½|w|² + Σ_k C_k max(0, 1 − y_k (w·x_k + b)),
//
// y_k = +1 for the smaller label and −1 for the larger, C_k = C·weight(label_k), over w and
// the bias b, which is not regularised. It is the problem of TrainClassifier for the Gram
// matrix of the examples. For more classes there is one machine for each pair.
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
// A pass takes O(n·dim) time. An error that is ErrIterations comes with a usable model, any
// other with nil.
func TrainLinear(ctx context.Context, x *mlg.Matrix, labels []int, opt LinearOptions) (*Linear, error) {
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
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) < 2 {
		return nil, fmt.Errorf("svm: %d examples of %d class(es) %v, want at least two classes", len(labels), len(classes), classes)
	}
	l := &Linear{Classes: classes, Dim: x.Cols}
	weigh := Options{ClassWeights: opt.ClassWeights}
	var limit error
	for a, positive := range classes {
		for _, negative := range classes[a+1:] {
			p := &linearProblem{x: x, opt: opt}
			for k, label := range labels {
				switch label {
				case positive:
					p.add(k, 1, opt.C*weigh.weight(positive))
				case negative:
					p.add(k, -1, opt.C*weigh.weight(negative))
				}
			}
			m, err := p.solve(ctx)
			if m == nil {
				return nil, err
			}
			if err != nil {
				limit = fmt.Errorf("%w: C = %g, classes %d and %d, %d passes", err, opt.C, positive, negative, opt.MaxPasses)
			}
			m.Positive, m.Negative = positive, negative
			l.Machines = append(l.Machines, *m)
		}
	}
	return l, limit
}

// linearProblem is a two-class problem: some rows of x.
type linearProblem struct {
	x       *mlg.Matrix
	opt     LinearOptions
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

// solve returns the machine; with an error that is ErrIterations too.
func (p *linearProblem) solve(ctx context.Context) (*LinearMachine, error) {
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
	for steps/max(1, n) < p.opt.MaxPasses {
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
				return p.machine(w, b, alpha, steps), nil
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
	return p.machine(w, b, alpha, steps), ErrIterations
}

func (p *linearProblem) machine(w []float64, b float64, alpha []float64, steps int) *LinearMachine {
	m := &LinearMachine{Weights: w, Bias: b, Steps: steps, Objective: inner(w, w) / 2}
	for _, a := range alpha {
		m.Objective -= a
	}
	return m
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

// Validate returns an error if the fields do not belong together, as those of a damaged
// file might.
func (l *Linear) Validate() error {
	pairs := Classifier{Classes: l.Classes}
	for _, m := range l.Machines {
		if len(m.Weights) != l.Dim {
			return fmt.Errorf("svm: %d weights for %d features", len(m.Weights), l.Dim)
		}
		for _, v := range append([]float64{m.Bias}, m.Weights...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("svm: weight %v, want a finite number", v)
			}
		}
		pairs.Machines = append(pairs.Machines, Machine{Positive: m.Positive, Negative: m.Negative})
	}
	return pairs.Validate()
}

// Decision returns the decision values of examples (rows of features) for each machine (column).
func (l *Linear) Decision(x *mlg.Matrix) (*mlg.Matrix, error) {
	if x.Cols != l.Dim {
		return nil, fmt.Errorf("svm: %d features per example, want %d as in training", x.Cols, l.Dim)
	}
	d := mlg.NewMatrix(x.Rows, len(l.Machines))
	for i := range x.Rows {
		out := d.Row(i)
		for m := range l.Machines {
			out[m] = inner(l.Machines[m].Weights, x.Row(i)) + l.Machines[m].Bias
			if math.IsNaN(out[m]) || math.IsInf(out[m], 0) {
				return nil, fmt.Errorf("svm: decision value of example %d is %v: its features are not finite", i, out[m])
			}
		}
	}
	return d, nil
}

// Predict returns the label of each example: the class for which most machines speak, the
// smallest of equals.
func (l *Linear) Predict(x *mlg.Matrix) ([]int, error) {
	d, err := l.Decision(x)
	if err != nil {
		return nil, err
	}
	c := Classifier{Classes: l.Classes}
	labels := make([]int, d.Rows)
	votes := make([]int, len(c.Classes))
	for i := range labels {
		labels[i] = c.vote(d.Row(i), votes)
	}
	return labels, nil
}
