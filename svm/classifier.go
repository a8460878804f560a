package svm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
)

// Classifier is a trained C-SVC. All it holds is exported, so that it can be stored; the
// methods read the fields and change nothing, so a Classifier may be shared.
type Classifier struct {
	// Classes are the labels of the training examples in increasing order.
	Classes []int
	// Examples is the number of training examples: the columns of the matrices that the
	// methods take.
	Examples int
	// Machines has one machine for each pair (a, b), a < b, of positions in Classes, in the
	// order (0,1), (0,2), …, (1,2), ….
	Machines []Machine
}

// Machine is a two-class machine. Its decision value for an example x is
//
//	f(x) = Σ_s Coefficients[s]·k(x, x_Support[s]) + Bias,
//
// and speaks for class Positive where it is above 0.
type Machine struct {
	Positive, Negative int       // labels
	Support            []int     // positions among the training examples, increasing
	Coefficients       []float64 // y·α, not 0
	Bias               float64

	// Objective is the dual objective reached, ½ αᵀQα − Σα with Q_kl = y_k y_l K_kl.
	Objective float64
	// Iterations is the number of steps that the solver took.
	Iterations int
	// Platt turns decision values into probabilities; nil without Options.Probability.
	Platt *Sigmoid
}

// Validate returns an error if the fields do not belong together, as those of a damaged
// file might.
func (c *Classifier) Validate() error {
	n := len(c.Classes)
	if n < 2 || !slices.IsSorted(c.Classes) || len(slices.Compact(slices.Clone(c.Classes))) != n {
		return fmt.Errorf("svm: classes %v, want two or more in increasing order", c.Classes)
	}
	if len(c.Machines) != n*(n-1)/2 {
		return fmt.Errorf("svm: %d machines for %d classes, want %d", len(c.Machines), n, n*(n-1)/2)
	}
	m := 0
	for a := range n {
		for b := a + 1; b < n; b++ {
			k := &c.Machines[m]
			if k.Positive != c.Classes[a] || k.Negative != c.Classes[b] {
				return fmt.Errorf("svm: machine %d is for classes %d and %d, want %d and %d", m, k.Positive, k.Negative, c.Classes[a], c.Classes[b])
			}
			if err := validSupport(k.Support, k.Coefficients, c.Examples); err != nil {
				return fmt.Errorf("svm: machine %d: %w", m, err)
			}
			m++
		}
	}
	return nil
}

// validSupport returns an error unless each of the increasing support positions below n has
// a coefficient.
func validSupport(support []int, coef []float64, n int) error {
	if len(support) != len(coef) {
		return fmt.Errorf("%d support examples, but %d coefficients", len(support), len(coef))
	}
	for k, s := range support {
		if s < 0 || s >= n || k > 0 && s <= support[k-1] {
			return fmt.Errorf("support example %d at position %d, want increasing ones below %d", s, k, n)
		}
	}
	return nil
}

// TrainClassifier trains a C-SVC on the Gram matrix of the training examples. For two
// classes it solves the dual problem
//
//	minimise   ½ αᵀQα − Σ_k α_k   subject to   Σ_k y_k α_k = 0,   0 ≤ α_k ≤ C·weight(label_k),
//
// with y_k = +1 for the smaller label and −1 for the larger, and Q_kl = y_k y_l K_kl; for
// more it does so for each pair of classes.
//
// Labels are any integers. Fewer than two classes are an error. The Gram matrix must be
// symmetric, which is not checked; one with negative eigenvalues gives a stationary point
// (see Clip). An error that is ErrIterations comes with a usable classifier, any other
// with nil.
func TrainClassifier(ctx context.Context, gram View, labels []int, opt Options) (*Classifier, error) {
	models, err := Path(ctx, gram, labels, []float64{opt.C}, opt)
	if models == nil {
		return nil, err
	}
	return models[0], err
}

// Path trains one classifier for each value of C in cs, as TrainClassifier does with that
// C in place of opt.C. It goes through the values in increasing order and starts each from
// the solution of the one before, which is faster than to start anew; the results come in
// the order of cs and agree with those of TrainClassifier within the tolerance.
func Path(ctx context.Context, gram View, labels []int, cs []float64, opt Options) ([]*Classifier, error) {
	if err := opt.validatePath(cs); err != nil {
		return nil, err
	}
	if err := gram.square(len(labels)); err != nil {
		return nil, err
	}
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) < 2 {
		return nil, fmt.Errorf("svm: %d examples of %d class(es) %v, want at least two classes", len(labels), len(classes), classes)
	}
	models := make([]*Classifier, len(cs))
	for m := range models {
		models[m] = &Classifier{Classes: classes, Examples: len(labels)}
	}
	members := make([][]int, len(classes))
	for k, l := range labels {
		c, _ := slices.BinarySearch(classes, l)
		members[c] = append(members[c], k)
	}
	var limit error
	for a := range classes {
		for b := a + 1; b < len(classes); b++ {
			p := newPair(gram, classes[a], classes[b], members[a], members[b], opt)
			machines, err := p.path(ctx, cs, opt)
			if machines == nil {
				return nil, err
			}
			if limit == nil {
				limit = err
			}
			for m := range models {
				models[m].Machines = append(models[m].Machines, machines[m])
			}
		}
	}
	return models, limit
}

// pair is a two-class problem: some of the training examples.
type pair struct {
	positive, negative int
	gram               View
	members            []int     // positions among all examples, increasing
	y                  []float64 // +1 or −1
	weight             []float64 // factor of C
}

// newPair takes the examples of two classes out of all.
func newPair(gram View, positive, negative int, in, out []int, opt Options) *pair {
	p := &pair{positive: positive, negative: negative, gram: gram}
	p.members = slices.Concat(in, out)
	slices.Sort(p.members)
	p.y = make([]float64, len(p.members))
	p.weight = make([]float64, len(p.members))
	for k, i := range p.members {
		if _, ok := slices.BinarySearch(in, i); ok {
			p.y[k], p.weight[k] = 1, opt.weight(positive)
		} else {
			p.y[k], p.weight[k] = -1, opt.weight(negative)
		}
	}
	if n, _ := gram.Dims(); len(p.members) < n {
		p.gram = gram.Select(p.members, p.members)
	}
	return p
}

// path trains the machine for each C. Machines that come with an error are not nil if it
// is ErrIterations.
func (p *pair) path(ctx context.Context, cs []float64, opt Options) ([]Machine, error) {
	machines := make([]Machine, len(cs))
	var limit error
	s := p.solver()
	for _, k := range increasing(cs) {
		before := s.steps
		p.setC(s, cs[k])
		if err := s.solve(ctx, opt.solve()); errors.Is(err, ErrIterations) {
			limit = fmt.Errorf("%w: C = %g, classes %d and %d, %d steps", err, cs[k], p.positive, p.negative, opt.MaxIterations)
		} else if err != nil {
			return nil, err
		}
		m := Machine{
			Positive: p.positive, Negative: p.negative,
			Bias: s.bias(), Objective: s.objective(), Iterations: s.steps - before,
		}
		for i, b := range s.beta {
			if b != 0 {
				m.Support = append(m.Support, p.members[i])
				m.Coefficients = append(m.Coefficients, b)
			}
		}
		if opt.Probability {
			var err error
			if m.Platt, err = p.platt(ctx, cs[k], opt); errors.Is(err, ErrIterations) {
				limit = err
			} else if err != nil {
				return nil, err
			}
		}
		machines[k] = m
	}
	return machines, limit
}

// increasing returns the positions in cs in the order of the values.
func increasing(cs []float64) []int {
	order := make([]int, len(cs))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cs[a], cs[b]) })
	return order
}

// solver returns a solver at β = 0 for C not yet set.
func (p *pair) solver() *solver {
	n := len(p.y)
	q := make([]float64, n)
	for k, y := range p.y {
		q[k] = -y
	}
	return newSolver(p.gram, q, make([]float64, n), make([]float64, n), 0)
}

// setC gives a solver the bounds of C.
func (p *pair) setC(s *solver, c float64) {
	s.widen(func(k int) (lo, hi float64) {
		bound := p.y[k] * c * p.weight[k]
		return min(0, bound), max(0, bound)
	})
}

// Decision returns the decision values of new examples (rows, by kernel values with the
// training examples, columns) for each machine (column).
func (c *Classifier) Decision(cross View) (*mlg.Matrix, error) {
	n, cols := cross.Dims()
	if cols != c.Examples {
		return nil, fmt.Errorf("svm: %d kernel values per example, but %d training examples", cols, c.Examples)
	}
	d := mlg.NewMatrix(n, len(c.Machines))
	for i := range n {
		row := cross.base(i)
		out := d.Row(i)
		for m := range c.Machines {
			out[m] = c.Machines[m].decision(row, cross.cols)
			if math.IsNaN(out[m]) || math.IsInf(out[m], 0) {
				return nil, fmt.Errorf("svm: decision value of example %d is %v: its kernel values are not finite", i, out[m])
			}
		}
	}
	return d, nil
}

// decision returns the decision value for kernel values row[cols[s]], or row[s] if cols is nil.
func (m *Machine) decision(row []float64, cols []int) float64 {
	f := 0.0
	for k, s := range m.Support {
		if cols != nil {
			s = cols[s]
		}
		f += m.Coefficients[k] * row[s]
	}
	return f + m.Bias
}

// Predict returns the label of each new example (a row of cross, as in Decision): the
// class for which most machines speak, the smallest of equals.
func (c *Classifier) Predict(cross View) ([]int, error) {
	d, err := c.Decision(cross)
	if err != nil {
		return nil, err
	}
	labels := make([]int, d.Rows)
	votes := make([]int, len(c.Classes))
	for i := range labels {
		labels[i] = c.vote(d.Row(i), votes)
	}
	return labels, nil
}

// vote returns the winner for the decision values of one example.
func (c *Classifier) vote(decision []float64, votes []int) int {
	clear(votes)
	m := 0
	for a := range votes {
		for b := a + 1; b < len(votes); b++ {
			if decision[m] > 0 {
				votes[a]++
			} else {
				votes[b]++
			}
			m++
		}
	}
	best := 0
	for k, v := range votes {
		if v > votes[best] {
			best = k
		}
	}
	return c.Classes[best]
}
