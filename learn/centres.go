package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
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
// They need sums over the examples only (centreSums), one for each fold. One step of descent then brings
// in all examples (descent). Kernel values are computed for some examples at a time, and never kept. With
// all examples as centres they are the regressions of RidgeSolver.
type Centres struct {
	kernel  kernel.Map
	train   kernel.Features
	at      []int           // the centres
	compare kernel.Features // of the centres
	among   *kernel.Matrix  // K_cc
	targets Targets
	columns []standard // target vectors
	shares  []float64  // by which columns are multiplied in sums, and last the number that stands for 1
	members [][]int    // of each fold
	sets    [][]int    // for each fold the others
	fold    []int      // the position in members of the fold of each example
	quantum float64
	sums    []*centreSums // of each fold
	largest float64       // of the kernel of an example with itself
	self    []float64

	// HeldOut finds the nearest examples of each one, and for each ridge the step of descent by target.
	near  []nearest.Top
	steps map[float64][]float64
}

// streamRows is the number of examples whose kernel values are computed at a time.
const streamRows = 4 * sumBlock

// CentresBytes returns about the memory that Centres of n examples with one target need beside features.
func CentresBytes(n, centres, folds, ridges int) int64 {
	m := int64(centres)
	const hits = 2 * mostNear // that a nearest.Top may have
	return int64(folds)*sumsBytes(centres) + 2*8*m*m + 2*8*streamRows*m + int64(n)*int64(16*hits+8*ridges*(folds+2))
}

// NewCentres computes the sums of all examples with centres at some of them, increasing. folds[i] is the
// fold of example i. It takes nm²/2 multiplications and nm kernel values for n examples and m centres.
func NewCentres(ctx context.Context, m kernel.Map, train kernel.Features, at []int, t Targets, folds []int) (*Centres, error) {
	c, err := prepareCentres(ctx, m, train, at, t, folds)
	if err != nil {
		return nil, err
	}
	c.sums, err = c.sum(ctx, c.members)
	return c, err
}

// prepareCentres does all but the sums.
func prepareCentres(ctx context.Context, m kernel.Map, train kernel.Features, at []int, t Targets, folds []int) (*Centres, error) {
	n := train.Len()
	if f := (Function{Support: at, Coefficients: make([]float64, len(at))}); len(at) == 0 || f.validate(n) != nil {
		return nil, fmt.Errorf("learn: %d centres of %d examples, want at least one, and increasing numbers", len(at), n)
	}
	columns, err := t.Columns()
	if err != nil {
		return nil, err
	}
	if err := checkRegressions(n, columns, nil, t.Weights); err != nil {
		return nil, err
	}
	c := &Centres{kernel: m, train: train, at: at, compare: train.Select(at), targets: t}
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
	if c.largest == 0 {
		c.largest = 1
	}
	// All columns of sums are at most as large as kernel values, so that one quantum serves them.
	share := func(x float64) float64 {
		_, e := math.Frexp(c.largest / x)
		return math.Ldexp(1, e-1)
	}
	for _, z := range columns {
		s := standardize(z, ones(n))
		c.columns = append(c.columns, s)
		c.shares = append(c.shares, share(max(1, slices.Max(s.scores), -slices.Min(s.scores))))
	}
	c.shares = append(c.shares, share(1))
	heaviest := 1.0
	if t.Weights != nil {
		heaviest = slices.Max(t.Weights)
	}
	c.quantum = quantumOf(n, heaviest*c.largest*c.largest)
	return c, nil
}

// order returns that of the sums.
func (c *Centres) order() int { return len(c.at) + len(c.shares) }

// sum returns the sums of some examples of each fold. Their bits do not depend on how examples are cut
// into calls, as long as each call but the last of a fold has a multiple of sumBlock of them, in turn.
func (c *Centres) sum(ctx context.Context, members [][]int) ([]*centreSums, error) {
	out := make([]*centreSums, len(members))
	for f := range out {
		out[f] = newCentreSums(c.order(), c.quantum)
	}
	return out, c.stream(ctx, "centres", members, func(fold int, some []int, x *kernel.Matrix) error {
		for r, i := range some {
			row := x.Row(r)[len(c.at):]
			for t, z := range c.columns {
				row[t] = z.scores[i] * c.shares[t]
			}
			row[len(c.columns)] = c.shares[len(c.columns)]
		}
		weights := c.targets.Weights
		if weights != nil {
			weights = make([]float64, len(some))
			gather(weights, c.targets.Weights, some)
		}
		return out[fold].add(ctx, x, weights)
	})
}

// stream calls do for some examples of a fold at a time, with a row for each: the kernel values with the
// centres, and room for the other columns of sums.
func (c *Centres) stream(ctx context.Context, stage string, members [][]int, do func(fold int, some []int, x *kernel.Matrix) error) error {
	total := 0
	for _, fold := range members {
		total += len(fold)
	}
	meter := work.NewMeter(ctx, stage, total)
	quiet := work.Quiet(ctx) // of blocks
	x := kernel.NewMatrix(min(total, streamRows), c.order())
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

// solve returns the regression on each target vector from the sums of some folds, on the centres of these
// folds. A centre that is held out would have a coefficient that suits only other examples, and its own
// prediction would suffer. With the sums S of kernel values, those s of the row that stands for ones, and W
// of the weights, it solves
//
//	(S − ssᵀ/W + λK_cc + δI) α = Σ w z k − s Σ w z/W,   b = (Σ w z − sᵀα)/W.
//
// Each of B blocks rounds an entry of S by up to half a quantum q, so S is off by a matrix whose norm is
// about q√(mB/3). δ = q√(mB) keeps the matrix definite where centres are equal. It is doubled where it
// is too small, up to the ridge, where the kernel itself must be indefinite.
func (c *Centres) solve(ctx context.Context, folds []int, lambda float64) ([]Function, error) {
	one := c.order() - 1
	sum := func(i, j int) float64 {
		sum := 0.0
		for _, f := range folds {
			sum += c.sums[f].at(i, j)
		}
		return sum
	}
	var kept []int // positions of centres
	for k, i := range c.at {
		if slices.Contains(folds, c.fold[i]) {
			kept = append(kept, k)
		}
	}
	m := len(kept)
	if m == 0 {
		return nil, errors.New("learn: all centres are in one fold, want more centres")
	}
	ends := make([][]float64, len(c.shares)) // the rows of targets and of ones
	for t := range ends {
		ends[t] = make([]float64, m)
		for p, k := range kept {
			ends[t][p] = sum(len(c.at)+t, k)
		}
	}
	s, weight := ends[len(c.columns)], sum(one, one)
	a := make([]float64, m*m)
	blocks := 0
	for _, f := range c.members {
		blocks += (len(f) + sumBlock - 1) / sumBlock
	}
	for delta := c.quantum * math.Sqrt(float64(m*blocks)); ; delta *= 2 {
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
		if delta > lambda*c.largest {
			return nil, tooSmall(lambda)
		}
	}
	out := make([]Function, len(c.columns))
	for t, z := range c.columns {
		total, alpha := sum(one, len(c.at)+t), ends[t]
		dense.Axpy(alpha, -total/weight, s)
		dense.SolveCholesky(a, m, alpha)
		unit := z.deviation / c.shares[t]
		bias := (total - dense.Dot(s, alpha)) / weight * c.shares[len(c.columns)]
		out[t] = Function{Support: c.at, Coefficients: make([]float64, len(c.at)), Bias: z.mean + float64(bias*unit)}
		for p, k := range kept {
			out[t].Coefficients[k] = alpha[p] * unit
		}
		if err := out[t].validate(c.train.Len()); err != nil {
			return nil, fmt.Errorf("learn: ridge %v: %w", lambda, err)
		}
	}
	return out, nil
}
