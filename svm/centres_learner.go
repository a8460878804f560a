package svm

import (
	"context"
	"errors"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// HeldOut returns, for every ridge, what the regression on each target vector (column) predicts for each
// example (row) from the examples of the other folds; nil for a ridge that is ErrDefinite. It takes nm
// kernel values for all ridges together, and m³/6 multiplications for each fold and ridge.
func (c *Centres) HeldOut(ctx context.Context, lambdas []float64) ([]*kernel.Matrix, error) {
	if err := checkRegressions(c.train.Len(), nil, lambdas, nil); err != nil {
		return nil, err
	}
	trained := make([][]Function, len(c.sets)) // by fold: for each ridge and target
	out := make([]*kernel.Matrix, len(lambdas))
	for l := range out {
		out[l] = kernel.NewMatrix(c.train.Len(), len(c.columns))
	}
	meter := kernel.NewMeter(ctx, "ridge", len(c.sets)*len(lambdas))
	for f, set := range c.sets {
		for l, lambda := range lambdas {
			functions, err := c.solve(ctx, set, lambda)
			if errors.Is(err, ErrDefinite) {
				out[l], functions = nil, make([]Function, len(c.columns))
			} else if err != nil {
				return nil, err
			}
			trained[f] = append(trained[f], functions...)
			meter.Add(1)
		}
	}
	return out, c.stream(ctx, "held out", c.members, func(fold int, some []int, x *kernel.Matrix) error {
		return kernel.Each(ctx, len(some), 16, func(_, r int) error {
			for k, f := range trained[fold] {
				if to := out[k/len(c.columns)]; to != nil && f.Coefficients != nil {
					to.Set(some[r], k%len(c.columns), dense.Dot(f.Coefficients, x.Row(r))+f.Bias)
				}
			}
			return nil
		})
	})
}

// Learn trains a learner on all examples with one ridge, as RidgeSolver.Learn does, with what HeldOut
// predicts with it. The deviations of values are those of a process that knows the targets of centres
// only. So they are never too small.
func (c *Centres) Learn(ctx context.Context, lambda float64, left Left, groups *Left, probability bool) (*Learner, error) {
	n, m := c.train.Len(), len(c.at)
	functions, err := c.solve(ctx, spaced(len(c.members), len(c.members)), lambda)
	if err != nil {
		return nil, err
	}
	l, err := c.targets.learner(n, functions, left, groups, probability)
	if err != nil || l.Classes != nil {
		return l, err
	}
	l.Process = &Process{Ridge: lambda, Scale: 1, Wider: 1}
	_, inverse, err := factorize(ctx, Full(c.among), lambda, Targets{})
	if err != nil {
		return nil, err
	}
	l.Process.Unit = inverse.solve(ones(m))
	among := func(_ context.Context, at []int) (*kernel.Matrix, error) { return c.among.Select(at, at), nil }
	d := newLeftDeviations(n, left, groups)
	err = c.stream(ctx, "deviations", c.members, func(_ int, some []int, x *kernel.Matrix) error {
		return kernel.Each(ctx, len(some), 16, func(_, r int) error {
			return d.add(ctx, l.Process, some[r], x.Row(r)[:m], c.self[some[r]], func(k int) int { return c.at[k] }, among)
		})
	})
	if err != nil {
		return nil, err
	}
	d.fit(l, c.targets.Values)
	return l, nil
}
