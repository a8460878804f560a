package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
)

// problem is the dual problem of a machine for two classes or for values, on some of the training
// examples:
//
//	minimise   ½ βᵀKβ + qᵀβ + ε Σ_k |β_k|   subject to   Σ_k β_k = 0,   C·low_k ≤ β_k ≤ C·high_k.
//
// Let w_k be the weight of the label times that of the example. A C-SVC has q = −y with y_k = +1
// for the first class and −1 for the second, ε = 0, and β_k = y_k α_k between 0 and C·y_k·w_k. The
// ε-SVR has q = −z for targets z, and β = α − α* between −C·w_k and C·w_k. That is the usual dual
// with half as many variables, since α_k and α*_k are never both positive at the optimum. A Gram
// matrix with negative eigenvalues gives a stationary point (see Clip).
type problem struct {
	name      string // for errors
	gram      View
	members   []int // positions among all examples, increasing; nil for all
	q         []float64
	low, high []float64 // bounds for C = 1
	epsilon   float64
}

// add adds an example of the first class (y = 1) or the second (y = −1).
func (p *problem) add(y, weight float64) {
	p.q = append(p.q, -y)
	p.low, p.high = append(p.low, min(0, y*weight)), append(p.high, max(0, y*weight))
}

// limit keeps the first error of a training that is ErrIterations, after which it goes on.
type limit struct{ err error }

// pass returns err, or nil if it is ErrIterations. The text says of what.
func (l *limit) pass(err error, format string, args ...any) error {
	if !errors.Is(err, ErrIterations) {
		return err
	}
	l.err = cmp.Or(l.err, fmt.Errorf("%w: %s", err, fmt.Sprintf(format, args...)))
	return nil
}

// trainMachines adds machines to a path: for all pairs of classes, whose examples are members, or
// for values.
func trainMachines(ctx context.Context, gram View, t Targets, members [][]int, cs []float64, opt Options, path []*Learner) error {
	var limit limit
	if t.Labels == nil {
		if err := valueProblem(gram, t, opt.Epsilon).train(ctx, cs, opt, path, &limit); err != nil {
			return err
		}
	}
	for i := range path[0].pairs() {
		if err := path[0].pairProblem(i, gram, members, t).train(ctx, cs, opt, path, &limit); err != nil {
			return err
		}
	}
	for k, l := range path {
		if opt.Probability && t.Labels != nil {
			scores, err := l.heldOut(ctx, gram, members, t, cs[k], opt, &limit)
			if err != nil {
				return err
			}
			l.calibrate(scores, t)
		}
	}
	return limit.err
}

// pairProblem takes the examples of the two classes of a pair out of all.
func (l *Learner) pairProblem(pair int, gram View, members [][]int, t Targets) *problem {
	a, b := l.pair(pair)
	first, second := l.Classes[a], l.Classes[b]
	p := &problem{gram: gram, name: fmt.Sprintf(", classes %d and %d", first, second)}
	p.members = slices.Concat(members[a], members[b])
	slices.Sort(p.members)
	for _, i := range p.members {
		if _, ok := slices.BinarySearch(members[a], i); ok {
			p.add(1, t.Weights.Of(i))
		} else {
			p.add(-1, t.Weights.Of(i))
		}
	}
	if n, _ := gram.Dims(); len(p.members) < n {
		p.gram = gram.Select(p.members, p.members)
	}
	return p
}

// valueProblem is the ε-SVR.
func valueProblem(gram View, t Targets, epsilon float64) *problem {
	p := &problem{gram: gram, epsilon: epsilon}
	for i, z := range t.Values {
		p.q, p.low, p.high = append(p.q, -z), append(p.low, -t.Weights.Of(i)), append(p.high, t.Weights.Of(i))
	}
	return p
}

// train adds the machine for each C to the learners of a path.
func (p *problem) train(ctx context.Context, cs []float64, opt Options, path []*Learner, limit *limit) error {
	order := kernel.UpTo(len(cs)) // the next larger C starts from the solution
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cs[a], cs[b]) })
	s := newSolver(p)
	for _, k := range order {
		s.widen(cs[k])
		if err := limit.pass(s.solve(ctx, opt), "C = %g%s, %d steps", cs[k], p.name, opt.MaxIterations); err != nil {
			return err
		}
		path[k].Functions = append(path[k].Functions, s.function(p.members))
	}
	return nil
}

// function returns the solution, whose variables are the given examples, or all.
func (s *solver) function(members []int) Function {
	f := Function{Bias: s.bias(), Objective: s.objective(), Iterations: s.steps}
	for k, b := range s.beta {
		if b == 0 {
			continue
		}
		if members != nil {
			k = members[k]
		}
		f.Support = append(f.Support, k)
		f.Coefficients = append(f.Coefficients, b)
	}
	return f
}
