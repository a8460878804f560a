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

// Centres are kernel ridge regressions on some of many examples, the centres c:
//
//	minimise  Σ_i w_i (z_i − f(x_i))² + λ αᵀK_cc α,   f(x) = Σ_c α_c k(x, c) + b.
//
// They need sums over the examples only (Sums). One step of descent then brings
// in all examples (descent). Kernel values are computed for some examples at a time, and never kept. With
// all examples as centres they are the regressions of RidgeSolver.
type Centres struct {
	kernel  kernel.Map
	train   kernel.Features
	at      []int           // the centres
	compare kernel.Features // of the centres
	among   *kernel.Matrix  // K_cc
	targets Targets
	columns [][]float64 // of targets
	members [][]int     // of each fold
	sets    [][]int     // for each fold the others
	fold    []int       // the position in members of the fold of each example
	sums    *Sums
	beyond  bool // sums are of other examples as well
	largest float64
	self    []float64 // kernel of each example with itself

	// HeldOut finds the nearest examples of each one, and for each ridge the step of descent by target.
	near  []nearest.Top
	steps map[float64][]float64
}

// streamRows is the number of examples whose kernel values are computed at a time.
const streamRows = 4 * tileSide

// CentresBytes returns about the memory that Centres of n examples with one target need beside features.
func CentresBytes(n, centres, folds, ridges int) int64 {
	m := int64(centres)
	const hits = 2 * mostNear // that a nearest.Top may have
	return SumsBytes(centres, folds) + 2*8*m*m + 3*8*streamRows*m + int64(n)*int64(16*hits+8*ridges*(folds+2))
}

// NewCentres computes the sums of all examples with centres at some of them, increasing. folds[i] is the
// fold of example i. It takes nm²/2 multiplications and nm kernel values for n examples and m centres.
func NewCentres(ctx context.Context, m kernel.Map, train kernel.Features, at []int, t Targets, folds []int) (*Centres, error) {
	c, err := prepareCentres(ctx, m, train, at, t, folds)
	if err != nil {
		return nil, err
	}
	frame, err := newFrame(t, len(at), len(c.members), c.largest, 1)
	if err != nil {
		return nil, err
	}
	c.sums = newSums(frame)
	return c, c.add(ctx, c.sums, c.members)
}

// moreThanSeen is how many times farther from the mean than those of the centres the targets of other examples may be.
const moreThanSeen = 16

// SumsFor returns sums of no examples for CentresOf.
func SumsFor(ctx context.Context, m kernel.Map, centres kernel.Features, t Targets, folds int) (*Sums, error) {
	self, err := kernel.Self(ctx, m, centres)
	if err != nil {
		return nil, err
	}
	frame, err := newFrame(t, centres.Len(), folds, slices.Max(self), moreThanSeen)
	if err == nil {
		err = frame.Validate()
	}
	if err != nil {
		return nil, err
	}
	return newSums(frame), nil
}

// CentresOf returns Centres of any number of examples, from the sums of all of them: those that SumsFor returned for the
// same centres and targets. The centres are among the examples, and folds[i] is the fold of centre i. HeldOut, Nearest
// and Learn tell of the centres alone, and there is no step of descent: the learner has a coefficient for each centre.
func CentresOf(ctx context.Context, m kernel.Map, centres kernel.Features, t Targets, folds []int, s *Sums) (*Centres, error) {
	for f := range s.Folds {
		if !slices.Contains(folds, f) {
			return nil, fmt.Errorf("learn: no centre is in fold %d of %d, want more centres", f+1, s.Folds)
		}
	}
	want, err := newFrame(t, centres.Len(), s.Folds, s.Largest, moreThanSeen)
	if err != nil {
		return nil, err
	}
	if !want.equal(&s.Frame) || slices.Max(folds) >= s.Folds {
		return nil, errors.New("learn: sums of other centres, folds or targets")
	}
	c, err := prepareCentres(ctx, m, centres, kernel.UpTo(centres.Len()), t, folds)
	if err != nil {
		return nil, err
	}
	c.sums, c.beyond = s, true
	return c, nil
}

// prepareCentres does all but the sums.
func prepareCentres(ctx context.Context, m kernel.Map, train kernel.Features, at []int, t Targets, folds []int) (*Centres, error) {
	n := train.Len()
	if f := (Function{Support: at, Coefficients: make([]float64, len(at))}); len(at) == 0 || f.validate(n) != nil {
		return nil, fmt.Errorf("learn: %d centres of %d examples, want at least one, and increasing numbers", len(at), n)
	}
	columns, err := t.regressions()
	if err != nil {
		return nil, err
	}
	if err := checkRegressions(n, columns, nil, t.Weights); err != nil {
		return nil, err
	}
	c := &Centres{kernel: m, train: train, at: at, compare: train.Select(at), targets: t, columns: columns}
	if c.members, c.sets, err = foldSets(folds, n); err != nil {
		return nil, err
	}
	c.fold = make([]int, n)
	for f, members := range c.members {
		for _, i := range members {
			c.fold[i] = f
		}
	}
	if c.among, err = kernel.Between(ctx, m, c.compare, c.compare); err != nil {
		return nil, err
	}
	if c.self, err = kernel.Self(ctx, m, train); err != nil {
		return nil, err
	}
	for i, v := range c.self {
		if notFinite(v) {
			return nil, fmt.Errorf("learn: kernel of example %d with itself is %v, want a finite number", i, v)
		}
		c.largest = max(c.largest, v)
	}
	return c, nil
}

// add adds some examples of each fold to sums.
func (c *Centres) add(ctx context.Context, sums *Sums, members [][]int) error {
	return c.stream(ctx, "centres", members, func(fold int, some []int, x *kernel.Matrix) error {
		row := func(r int, dst []float64) {
			copy(dst, x.Row(r))
			for t, z := range c.columns {
				dst[len(c.at)+t] = z[some[r]]
			}
		}
		return sums.add(ctx, fold, len(some), row, c.targets.Weights.at(some))
	})
}

// stream calls do for some examples of a fold at a time, with the kernel values of each with the centres in a row.
func (c *Centres) stream(ctx context.Context, stage string, members [][]int, do func(fold int, some []int, x *kernel.Matrix) error) error {
	total := 0
	for _, fold := range members {
		total += len(fold)
	}
	meter := work.NewMeter(ctx, stage, total)
	quiet := work.Quiet(ctx) // of blocks
	x := kernel.NewMatrix(min(total, streamRows), len(c.at))
	for fold, all := range members {
		for some := range slices.Chunk(all, streamRows) {
			x := &kernel.Matrix{Rows: len(some), Cols: x.Cols, Data: x.Data[:len(some)*x.Cols]}
			err := kernel.Blocks(quiet, c.kernel, c.train.Select(some), c.compare, func(i0, j0 int, values *kernel.Matrix) error {
				if k := slices.IndexFunc(values.Data, notFinite); k >= 0 {
					return fmt.Errorf("learn: kernel of examples %d and %d is %v, want a finite number",
						some[i0+k/values.Cols], c.at[j0+k%values.Cols], values.Data[k])
				}
				for r := range values.Rows {
					copy(x.Row(i0 + r)[j0:], values.Row(r))
				}
				return nil
			})
			if err != nil {
				return err
			}
			if err := do(fold, some, x); err != nil {
				return err
			}
			meter.Add(len(some))
		}
	}
	return ctx.Err()
}

// kept returns the positions of the centres in some folds.
func (c *Centres) kept(folds []int) (out []int) {
	for k, i := range c.at {
		if slices.Contains(folds, c.fold[i]) {
			out = append(out, k)
		}
	}
	return out
}

// noFeature is how much larger than the squares of roundings δ is. What has an eigenvalue κ in K_cc of m centres is lost
// if κ < 128q√m, about 0.002 for 4096 centres. The ridge leaves little of that with up to hundreds of examples for each centre.
const noFeature = 1 << 14

// solve returns the regression on each target vector from the sums of some folds, on the centres of these
// folds. A centre that is held out would have a coefficient that suits only other examples, and its own
// prediction would suffer. With the sums S of kernel values, those s of the row that stands for ones, and W
// of the weights, it solves
//
//	(S − ssᵀ/W + λK_cc + δI) α = Σ w z k − s Σ w z/W,   b = (Σ w z − sᵀα)/W.
//
// Kernel values are rounded to multiples of a unit, and K_cc hardly penalises what such small differences of
// many centres add up to, so noise would be fitted by them. δ = Wq² noFeature keeps such coefficients small, for a unit q.
// It is doubled where the matrix is not definite, up to the ridge, where the kernel itself must be indefinite.
func (c *Centres) solve(ctx context.Context, folds []int, lambda float64) ([]Function, error) {
	sum, one := c.sums.of(folds), c.sums.order()-1
	kept := c.kept(folds)
	m := len(kept)
	if m == 0 {
		return nil, errors.New("learn: all centres are in one fold, want more centres")
	}
	ends := make([][]float64, len(c.columns)+1) // the rows of targets and of ones
	for t := range ends {
		ends[t] = make([]float64, m)
		for p, k := range kept {
			ends[t][p] = sum(len(c.at)+t, k)
		}
	}
	s, weight := ends[len(c.columns)], sum(one, one)
	a := make([]float64, m*m)
	largest, unit := c.sums.Largest, 1/c.sums.scales()[0]
	for delta := noFeature * weight * unit * unit; ; delta *= 2 {
		err := work.Each(ctx, m, 16, func(_, p int) error {
			row, among := a[p*m:][:p+1], c.among.Row(kept[p])
			for q, k := range kept[:p+1] {
				row[q] = sum(kept[p], k) - float64(s[p]*s[q]/weight) + float64(lambda*among[k])
			}
			row[p] += delta
			return nil
		})
		if err != nil {
			return nil, err
		}
		if _, ok := dense.CholeskyParallel(ctx, a, m, work.Workers(ctx)); ok {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if delta > lambda*largest {
			return nil, tooSmall(lambda)
		}
	}
	out := make([]Function, len(c.columns))
	for t, z := range c.sums.Columns {
		total, alpha := sum(one, len(c.at)+t), ends[t]
		dense.Axpy(alpha, -total/weight, s)
		dense.SolveCholesky(a, m, alpha)
		bias := (total - dense.Dot(s, alpha)) / weight
		out[t] = Function{Support: c.at, Coefficients: make([]float64, len(c.at)), Bias: z.Mean + float64(bias*z.Deviation)}
		for p, k := range kept {
			out[t].Coefficients[k] = alpha[p] * z.Deviation
		}
		if err := out[t].validate(c.train.Len()); err != nil {
			return nil, fmt.Errorf("learn: ridge %v: %w", lambda, err)
		}
	}
	return out, nil
}
