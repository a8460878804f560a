package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// HeldOut returns for every ridge what RidgeSolver.HeldOut does; nil for a ridge that is ErrDefinite. It
// takes nm kernel values for all ridges together, as many again for deviations, n²/2 for the step of descent,
// and m³/6 multiplications for each fold and ridge, m³/3 for values.
func (c *Centres) HeldOut(ctx context.Context, lambdas []float64) ([]*Left, error) {
	n, targets := c.train.Len(), len(c.columns)
	if err := checkRegressions(n, nil, lambdas, nil); err != nil {
		return nil, err
	}
	trained := make([][]Function, len(c.sets)) // by fold: for each ridge and target
	out := make([]*kernel.Matrix, len(lambdas))
	for l := range out {
		out[l] = kernel.NewMatrix(n, targets)
	}
	meter := work.NewMeter(ctx, "ridge", len(c.sets)*len(lambdas))
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
	functions := len(lambdas) * targets // that take a step
	if c.beyond {
		functions = 0
	}
	d := &descent{c.fold, kernel.NewMatrix(n, len(c.sets)*functions), kernel.NewMatrix(n, functions), make([]nearest.Top, n)}
	err := c.stream(ctx, "held out", c.members, func(fold int, some []int, x *kernel.Matrix) error {
		return work.Each(ctx, len(some), 16, func(_, r int) error {
			i, row := some[r], x.Row(r)[:len(c.at)]
			d.near[i].K = c.nearest()
			for f := range trained {
				for k, function := range trained[f] {
					to := out[k/targets]
					switch {
					case to == nil || function.Coefficients == nil:
					case f == fold:
						to.Set(i, k%targets, dense.Dot(function.Coefficients, row)+function.Bias)
					case !c.beyond:
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
	if c.near = d.near; c.steps == nil {
		c.steps = map[float64][]float64{}
	}
	left := make([]*Left, len(out))
	for l, held := range out {
		if held == nil {
			continue
		}
		for t := range c.columns {
			k, step := l*targets+t, 0.0
			if c.beyond {
				c.steps[lambdas[l]] = append(c.steps[lambdas[l]], step)
				continue
			}
			step = c.descend(d, held, t, k, lambdas[l], func(i int) float64 { return trained[c.fold[i]][k].Bias })
			c.steps[lambdas[l]] = append(c.steps[lambdas[l]], step)
		}
		left[l] = &Left{Ridge: lambdas[l], Folds: c.fold, Values: held, weights: c.targets.Weights}
	}
	return left, c.addDeviations(ctx, left)
}

// descend takes the step of steepest descent from what was predicted for a target, with the length that suits
// the predictions of held-out examples best, and returns that. Gradients are in column k of d.
func (c *Centres) descend(d *descent, held *kernel.Matrix, target, k int, lambda float64, bias func(i int) float64) (step float64) {
	z, along, square := c.columns[target], 0.0, 0.0
	for i := range held.Rows {
		g := d.gradients.At(i, k) - lambda*(held.At(i, target)-bias(i))
		d.gradients.Set(i, k, g)
		w := c.targets.Weights.Of(i)
		along += w * g * (z[i] - held.At(i, target))
		square += w * g * g
	}
	if along > 0 {
		step = along / square
	}
	for i := range held.Rows {
		held.Set(i, target, held.At(i, target)+float64(step*d.gradients.At(i, k)))
	}
	return step
}

// unit returns u, by example, of the regression on the centres of some folds alone. What the bias is not known by comes
// from it.
func (c *Centres) unit(ctx context.Context, folds []int, lambda float64) ([]float64, error) {
	kept := c.kept(folds)
	at := compose(c.at, kept, len(c.at), "centre")
	inverse, err := factorize(ctx, Full(c.among).Select(kept, kept), lambda, c.targets.Weights.at(at))
	if err != nil {
		return nil, err
	}
	out := make([]float64, c.train.Len())
	for p, u := range inverse.solve(ones(len(kept))) {
		out[at[p]] = u
	}
	return out, nil
}

// addDeviations adds those of values that are left out, for every ridge.
func (c *Centres) addDeviations(ctx context.Context, left []*Left) error {
	if c.targets.Labels != nil {
		return nil
	}
	n := c.train.Len()
	units := make([][][]float64, len(left)) // by fold that is left out
	for l, x := range left {
		if x == nil {
			continue
		}
		for _, set := range c.sets {
			u, err := c.unit(ctx, set, x.Ridge)
			if errors.Is(err, ErrDefinite) {
				left[l] = nil
				break
			} else if err != nil {
				return err
			}
			units[l] = append(units[l], u)
		}
		x.deviations = newLeftDeviations(n)
	}
	inner := work.WithWorkers(work.Quiet(ctx), 1)
	rows := make([][]float64, work.Workers(ctx))
	err := c.stream(ctx, "deviations", c.members, func(_ int, some []int, x *kernel.Matrix) error {
		return work.Each(ctx, len(some), 16, func(w, r int) error {
			// The values that are not known are less than those of the nearest, and have no share in u.
			if rows[w] == nil {
				rows[w] = make([]float64, n)
			}
			i, known := some[r], rows[w]
			clear(known)
			for k, v := range x.Row(r)[:len(c.at)] {
				known[c.at[k]] = v
			}
			for _, h := range c.near[i].Hits() {
				known[h.Index] = h.Similarity
			}
			var values *kernel.Matrix // of the nearest, which are the same for every ridge
			among := func(ctx context.Context, at []int) (*kernel.Matrix, error) {
				if values == nil {
					var err error
					near := c.train.Select(at)
					if values, err = kernel.Between(ctx, c.kernel, near, near); err != nil {
						return nil, err
					}
				}
				return &kernel.Matrix{Rows: values.Rows, Cols: values.Cols, Data: slices.Clone(values.Data)}, nil
			}
			for l, x := range left {
				if x == nil {
					continue
				}
				if err := x.addDeviation(inner, i, known, c.self[i], biasVariance(units[l][c.fold[i]], known), among); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for _, x := range left {
		if x != nil && err == nil {
			x.Density = density(c.targets.Values, x.Values, x.deviations.out, x.weights)
		}
	}
	return err
}

// replicates finds equal examples among the nearest of each. Of a set that is larger than these it finds some.
func (c *Centres) replicates() replicates {
	found := make([]replicates, len(c.near))
	for i := range c.near {
		var set []int
		for _, h := range c.near[i].Hits() {
			if same(c.self[i], h.Similarity, c.self[h.Index]) {
				set = append(set, h.Index)
			}
		}
		slices.Sort(set)
		found[i].add(i, set, c.targets.Values, c.targets.Weights)
	}
	return sumOf(found)
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
const mostNear = neighbours*5/4 + 1

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

// residual returns w(z − f(x)) of an example with some kernel values with the centres.
func (c *Centres) residual(i, target int, f *Function, row []float64) float64 {
	return c.targets.Weights.Of(i) * (c.columns[target][i] - (dense.Dot(f.Coefficients, row) + f.Bias))
}

// Learn trains a learner on all examples with what HeldOut returned for a ridge, as RidgeSolver.Learn does.
func (c *Centres) Learn(ctx context.Context, left, groups *Left, probability bool) (*Learner, error) {
	n, m, lambda := c.train.Len(), len(c.at), left.Ridge
	steps := c.steps[lambda]
	if steps == nil {
		return nil, fmt.Errorf("learn: ridge %v: want one of HeldOut", lambda)
	}
	start, err := c.solve(ctx, kernel.UpTo(len(c.members)), lambda)
	if err != nil {
		return nil, err
	}
	functions := make([]Function, len(start))
	for t, f := range start {
		functions[t] = Function{Coefficients: make([]float64, n), Bias: f.Bias}
	}
	residuals := c.members
	if c.beyond {
		residuals = nil
	}
	err = c.stream(ctx, "learn", residuals, func(_ int, some []int, x *kernel.Matrix) error {
		return work.Each(ctx, len(some), 16, func(_, r int) error {
			for t := range start {
				functions[t].Coefficients[some[r]] = steps[t] * c.residual(some[r], t, &start[t], x.Row(r)[:m])
			}
			return nil
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
	unit, err := c.unit(ctx, kernel.UpTo(len(c.members)), lambda)
	if err != nil {
		return nil, err
	}
	l.addLeft(unit, c.targets.Values, left, groups, c.replicates())
	return l, nil
}
