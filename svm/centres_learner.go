package svm

import (
	"context"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// HeldOut returns, for every ridge, what the regression on each target vector (column) predicts for each
// example (row) from the examples of the other folds; nil for a ridge that is ErrDefinite. It takes nm
// kernel values for all ridges together, n²/2 for the step of descent, and m³/6 multiplications for each
// fold and ridge.
func (c *Centres) HeldOut(ctx context.Context, lambdas []float64) ([]*kernel.Matrix, error) {
	n, targets := c.train.Len(), len(c.columns)
	if err := checkRegressions(n, nil, lambdas, nil); err != nil {
		return nil, err
	}
	trained := make([][]Function, len(c.sets)) // by fold: for each ridge and target
	out := make([]*kernel.Matrix, len(lambdas))
	for l := range out {
		out[l] = kernel.NewMatrix(n, targets)
	}
	meter := kernel.NewMeter(ctx, "ridge", len(c.sets)*len(lambdas))
	for f, set := range c.sets {
		for l, lambda := range lambdas {
			functions, err := c.solve(ctx, set, lambda)
			if errors.Is(err, ErrDefinite) {
				out[l], functions = nil, make([]Function, targets)
			} else if err != nil {
				return nil, err
			}
			trained[f] = append(trained[f], functions...)
			meter.Add(1)
		}
	}
	functions := len(lambdas) * targets
	d := &descent{c.fold, kernel.NewMatrix(n, len(c.sets)*functions), kernel.NewMatrix(n, functions), make([]kernel.Top, n)}
	err := c.stream(ctx, "held out", c.members, func(fold int, some []int, x *kernel.Matrix) error {
		return kernel.Each(ctx, len(some), 16, func(_, r int) error {
			i, row := some[r], x.Row(r)[:len(c.at)]
			d.near[i].K = c.nearest()
			for f := range trained {
				for k, function := range trained[f] {
					to := out[k/targets]
					switch {
					case to == nil || function.Coefficients == nil:
					case f == fold:
						to.Set(i, k%targets, dense.Dot(function.Coefficients, row)+function.Bias)
					default:
						d.residuals.Set(i, f*functions+k, c.residual(i, k%targets, &function, row))
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := d.run(ctx, c.kernel, c.train, c.largest); err != nil {
		return nil, err
	}
	c.near, c.steps = d.near, map[float64][]float64{}
	for l, held := range out {
		if held == nil {
			continue
		}
		for t, z := range c.columns {
			k := l*targets + t
			along, square := 0.0, 0.0
			for i := range n {
				g := d.gradients.At(i, k) - lambdas[l]*(held.At(i, t)-trained[c.fold[i]][k].Bias)
				d.gradients.Set(i, k, g)
				w := c.targets.weight(i)
				along += w * g * (z.value(i) - held.At(i, t))
				square += w * g * g
			}
			step := 0.0
			if along > 0 {
				step = along / square
			}
			for i := range n {
				held.Set(i, t, held.At(i, t)+float64(step*d.gradients.At(i, k)))
			}
			c.steps[lambdas[l]] = append(c.steps[lambdas[l]], step)
		}
	}
	return out, nil
}

// nearest returns how many of the nearest examples are needed, an example itself among them: for
// deviations, where some of them are in its fold, or for the largest similarity to another.
func (c *Centres) nearest() int {
	if c.targets.Labels == nil {
		return mostNear
	}
	return 2
}

// mostNear is the number of nearest examples that are found. A fifth of them are usually in the fold of
// the example.
const mostNear = nearest*5/4 + 1

// Nearest returns the largest kernel value of each example with another, after HeldOut. A single example
// has its own.
func (c *Centres) Nearest() []float64 {
	out := make([]float64, len(c.near))
	for i := range out {
		for k, h := range c.near[i].Hits() {
			if k == 0 || h.Index != i {
				out[i] = h.Similarity
			}
			if h.Index != i {
				break
			}
		}
	}
	return out
}

// value returns the target of an example.
func (s *standard) value(i int) float64 { return s.mean + float64(s.deviation*s.scores[i]) }

// residual returns w(z − f(x)) of an example with some kernel values with the centres.
func (c *Centres) residual(i, target int, f *Function, row []float64) float64 {
	return c.targets.weight(i) * (c.columns[target].value(i) - (dense.Dot(f.Coefficients, row) + f.Bias))
}

// Learn trains a learner on all examples with one ridge of HeldOut, as RidgeSolver.Learn does, with what
// it returned. Deviations look at the nearest of all examples; what the bias is not known by comes from
// the centres.
func (c *Centres) Learn(ctx context.Context, lambda float64, left Left, groups *Left, probability bool) (*Learner, error) {
	n, m := c.train.Len(), len(c.at)
	steps := c.steps[lambda]
	if steps == nil {
		return nil, fmt.Errorf("svm: ridge %v: want one of HeldOut", lambda)
	}
	start, err := c.solve(ctx, spaced(len(c.members), len(c.members)), lambda)
	if err != nil {
		return nil, err
	}
	functions := make([]Function, len(start))
	for t, f := range start {
		functions[t] = Function{Coefficients: make([]float64, n), Bias: f.Bias}
	}
	process, d := &Process{Ridge: lambda, Scale: 1, Wider: 1, Unit: make([]float64, n)}, newLeftDeviations(n, left, groups)
	if c.targets.Labels == nil {
		_, inverse, err := factorize(ctx, Full(c.among), lambda, Targets{})
		if err != nil {
			return nil, err
		}
		for k, u := range inverse.solve(ones(m)) {
			process.Unit[c.at[k]] = u
		}
	}
	among := func(ctx context.Context, at []int) (*kernel.Matrix, error) {
		some := c.train.Select(at)
		return kernel.Between(ctx, c.kernel, some, some)
	}
	work := kernel.WorkOf(ctx)
	work.Workers, work.Progress = 1, nil
	inner := kernel.WithWork(ctx, work)
	rows := make([][]float64, kernel.Workers(ctx))
	err = c.stream(ctx, "deviations", c.members, func(_ int, some []int, x *kernel.Matrix) error {
		return kernel.Each(ctx, len(some), 16, func(w, r int) error {
			i, row := some[r], x.Row(r)[:m]
			for t := range start {
				functions[t].Coefficients[i] = steps[t] * c.residual(i, t, &start[t], row)
			}
			if c.targets.Labels != nil {
				return nil
			}
			// The values that are not known are less than those of the nearest, and have no share in u.
			if rows[w] == nil {
				rows[w] = make([]float64, n)
			}
			known := rows[w]
			clear(known)
			for k, j := range c.at {
				known[j] = row[k]
			}
			for _, h := range c.near[i].Hits() {
				known[h.Index] = h.Similarity
			}
			return d.add(inner, process, i, known, c.self[i], func(k int) int { return k }, among)
		})
	})
	if err != nil {
		return nil, err
	}
	for t, f := range start {
		for k, j := range c.at {
			functions[t].Coefficients[j] += float64((1 - steps[t]*lambda) * f.Coefficients[k])
		}
	}
	l, err := c.targets.learner(n, functions, left, groups, probability)
	if err != nil || l.Classes != nil {
		return l, err
	}
	l.Process = process
	d.fit(l, c.targets.Values)
	return l, nil
}
