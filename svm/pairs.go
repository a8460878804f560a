package svm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// trainPairs adds the machines of all pairs of classes, whose examples are members, to a path. For
// two classes a C-SVC is the dual problem
//
//	minimise   ½ αᵀQα − Σ_k α_k   subject to   Σ_k y_k α_k = 0,   0 ≤ α_k ≤ C·weight(label_k),
//
// with y_k = +1 for the first class and −1 for the second, and Q_kl = y_k y_l K_kl. A Gram matrix
// with negative eigenvalues gives a stationary point (see Clip).
func trainPairs(ctx context.Context, gram View, members [][]int, cs []float64, opt Options, path []*Learner) error {
	classes := path[0].Classes
	var limit error
	for a := range classes {
		for b := a + 1; b < len(classes); b++ {
			p := newPair(gram, classes[a], classes[b], members[a], members[b], opt)
			if err := p.train(ctx, cs, opt, path); errors.Is(err, ErrIterations) {
				limit = cmp.Or(limit, err)
			} else if err != nil {
				return err
			}
		}
	}
	return limit
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

// train adds the machine for each C to the learners of a path, also where it returns an error
// that is ErrIterations.
func (p *pair) train(ctx context.Context, cs []float64, opt Options, path []*Learner) error {
	var limit error
	s := p.solver()
	for _, k := range increasing(cs) {
		before := s.steps
		p.setC(s, cs[k])
		if err := s.solve(ctx, opt); errors.Is(err, ErrIterations) {
			limit = fmt.Errorf("%w: C = %g, classes %d and %d, %d steps", err, cs[k], p.positive, p.negative, opt.MaxIterations)
		} else if err != nil {
			return err
		}
		path[k].Functions = append(path[k].Functions, s.function(p.members, before))
		if opt.Probability {
			sigmoid, err := p.platt(ctx, cs[k], opt)
			if errors.Is(err, ErrIterations) {
				limit = err
			} else if err != nil {
				return err
			}
			path[k].Sigmoids = append(path[k].Sigmoids, sigmoid)
		}
	}
	return limit
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

// trainRegressors adds the ε-SVR for each C to a path: it solves
//
//	minimise   ½ βᵀKβ − Σ_k z_k β_k + ε Σ_k |β_k|   subject to   Σ_k β_k = 0,   −C ≤ β_k ≤ C
//
// for targets z and β = α − α*, which is the usual dual with half as many variables (α_k
// and α*_k are never both positive at the optimum).
func trainRegressors(ctx context.Context, gram View, targets, cs []float64, opt Options, path []*Learner) error {
	n := len(targets)
	q := make([]float64, n)
	for k, z := range targets {
		q[k] = -z
	}
	var limit error
	s := newSolver(gram, q, make([]float64, n), make([]float64, n), opt.Epsilon)
	for _, k := range increasing(cs) {
		before := s.steps
		s.widen(func(int) (lo, hi float64) { return -cs[k], cs[k] })
		if err := s.solve(ctx, opt); errors.Is(err, ErrIterations) {
			limit = fmt.Errorf("%w: C = %g, %d steps", err, cs[k], opt.MaxIterations)
		} else if err != nil {
			return err
		}
		path[k].Functions = []Function{s.function(nil, before)}
	}
	return limit
}

// function returns the solution, whose variables are the given examples, or all. before is the
// number of steps of earlier solves.
func (s *solver) function(members []int, before int) Function {
	f := Function{Bias: s.bias(), Objective: s.objective(), Iterations: s.steps - before}
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
