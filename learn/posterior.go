package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// Posterior is what a process says of the true values b + f of some examples together. A measured value has
// the deviation Noise from the true one.
type Posterior struct {
	Mean       []float64
	Covariance *kernel.Matrix
	Noise      float64
	Clipped    []bool // as in Deviations
}

// mostConditioned is the largest number of training examples that correlations look at: the factors of their
// Gram matrix take 128 MB. Tests change it.
var mostConditioned = 4096

// Posterior returns the posterior of new examples. Examples are rows of cross, apart and among are as in
// Deviations, and gram is the Gram matrix of the new examples. The covariance of examples x and y is
//
//	True(x)·True(y)·c(x,y)/√(c(x,x)·c(y,y)),
//	c(x,y) = k(x,y) − k'(x)ᵀ(K' + Ridge·W⁻¹)⁻¹k'(y) + (1 − uᵀk(x))(1 − uᵀk(y))/Σu,
//
// with True of Deviations, which intervals were fitted for, and the kernel values k' with all training
// examples, or with 4096 of those that are among the nearest of some new example. So variances are those of
// Deviations, to the bit, and correlations are exact up to 4096 training examples. With up to 64 of them the
// covariance is that of the process. An example whose c(x,x) is not above rounding is uncorrelated.
//
// It takes s³/3 + s²n multiplications for s training examples and n new ones, and n² + sn numbers.
func (l *Learner) Posterior(ctx context.Context, cross View, gram *kernel.Matrix, apart []bool,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (*Posterior, error) {
	n, _ := cross.Dims()
	if gram.Rows != n || gram.Cols != n {
		return nil, fmt.Errorf("learn: Gram matrix of %d×%d for %d new examples", gram.Rows, gram.Cols, n)
	}
	self := make([]float64, n)
	for i := range self {
		self[i] = gram.At(i, i)
	}
	d, err := l.Deviations(ctx, cross, self, apart, among)
	if err != nil {
		return nil, err
	}
	values, err := l.Values(cross)
	if err != nil {
		return nil, err
	}
	cross, among = l.supported(cross, among)
	_, columns := cross.Dims()
	bias, at := l.Process.bias(cross), kernel.UpTo(columns)
	if columns > mostConditioned {
		at = l.Process.conditions(cross, mostConditioned)
	}
	return l.correlate(ctx, cross.Select(nil, at), at, bias, gram, values.Data, d, among)
}

// bias returns (1 − uᵀk)/√Σu for every row of kernel values.
func (p *Process) bias(cross View) []float64 {
	n, columns := cross.Dims()
	out, buf, root := make([]float64, n), make([]float64, columns), math.Sqrt(total(p.Unit))
	for i := range out {
		out[i] = (1 - dense.Dot(p.Unit, cross.row(i, buf))) / root
	}
	return out
}

// conditions returns at most some of the training examples, ascending: the nearest of every new example
// first, then the second nearest, and so on.
func (p *Process) conditions(cross View, most int) []int {
	n, columns := cross.Dims()
	near, buf := make([][]nearest.Hit, n), make([]float64, columns)
	for i := range near {
		near[i] = nearest.Largest(cross.row(i, buf), neighbours)
	}
	var out []int
	known := map[int]bool{}
	for rank := range neighbours {
		for _, hits := range near {
			if rank < len(hits) && !known[hits[rank].Index] && len(out) < most {
				known[hits[rank].Index] = true
				out = append(out, hits[rank].Index)
			}
		}
	}
	slices.Sort(out)
	return out
}

// correlate returns the posterior with the correlations that are left when the values of some training
// examples are known, and the variances of deviations.
func (l *Learner) correlate(ctx context.Context, cross View, at []int, bias []float64, gram *kernel.Matrix, mean []float64, d *Deviations,
	among func(ctx context.Context, examples []int) (*kernel.Matrix, error)) (*Posterior, error) {
	n, s := gram.Rows, len(at)
	m, err := among(ctx, at)
	if err != nil {
		return nil, err
	}
	for i := range s {
		m.Data[i*s+i] += l.Process.noiseOf(at[i])
	}
	workers := work.Workers(ctx)
	if _, ok := dense.CholeskyParallel(ctx, m.Data, s, workers); !ok {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, tooSmall(l.Process.Ridge)
	}
	x := cross.Matrix()
	const rows = 32
	err = work.Each(ctx, (n+rows-1)/rows, 1, func(_, k int) error {
		some := x.Data[k*rows*s : min((k+1)*rows, n)*s]
		dense.SolveRows(m.Data, s, some, len(some)/max(1, s))
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := kernel.NewMatrix(n, n)
	err = work.Each(ctx, n, 16, func(_, i int) error {
		for j := range i + 1 {
			c.Set(i, j, gram.At(i, j)-dense.Dot(x.Row(i), x.Row(j))+float64(bias[i]*bias[j]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		vi := c.At(i, i)
		for j := range i {
			r := 0.0
			if vj := c.At(j, j); vi > rounding*l.Process.Ridge && vj > 0 {
				r = max(-1, min(1, c.At(i, j)/math.Sqrt(vi)/math.Sqrt(vj)))
			}
			v := d.True[i] * d.True[j] * r
			c.Set(i, j, v)
			c.Set(j, i, v)
		}
		if !(vi > rounding*l.Process.Ridge) {
			c.Set(i, i, 0) // for the examples that come after it
		}
	}
	for i := range n {
		c.Set(i, i, d.True[i]*d.True[i])
	}
	return &Posterior{Mean: mean, Covariance: c, Noise: l.Process.Noise(), Clipped: d.Clipped}, nil
}

// Measured returns the covariance of measured values: the noise is in the variances.
func (p *Posterior) Measured() *kernel.Matrix {
	out := &kernel.Matrix{Rows: p.Covariance.Rows, Cols: p.Covariance.Cols, Data: slices.Clone(p.Covariance.Data)}
	for i := range out.Rows {
		out.Data[i*out.Cols+i] += p.Noise * p.Noise
	}
	return out
}

// Select returns the posterior of some of the examples.
func (p *Posterior) Select(at []int) *Posterior {
	out := &Posterior{Covariance: p.Covariance.Select(at, at), Noise: p.Noise}
	for _, i := range at {
		out.Mean, out.Clipped = append(out.Mean, p.Mean[i]), append(out.Clipped, p.Clipped[i])
	}
	return out
}

// jitter is the share of each variance that Sample adds to it, so that a covariance that is singular has
// factors. Rounding errors of n products of kernel values are less, for a few thousand examples.
const jitter = 1e-10

// Sample draws the true values of all examples together, some times; each draw is a row. A draw depends on the
// seed and its number only. It takes n³/3 multiplications for n examples, and n² for each draw.
func (p *Posterior) Sample(ctx context.Context, draws int, seed uint64) (*kernel.Matrix, error) {
	n := len(p.Mean)
	var l []float64
	for share := jitter; ; share *= 100 {
		l = slices.Clone(p.Covariance.Data)
		for i := range n {
			// A true value that is known exactly has a factor of 1, which is not used.
			if l[i*n+i] *= 1 + share; l[i*n+i] == 0 {
				l[i*n+i] = 1
			}
		}
		if _, ok := dense.CholeskyParallel(ctx, l, n, work.Workers(ctx)); ok {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if share > 1e-3 {
			return nil, errors.New("learn: the covariance is not positive semi-definite")
		}
	}
	out := kernel.NewMatrix(draws, n)
	return out, work.Each(ctx, draws, 1, func(_, k int) error {
		rng, z, row := rand.New(rand.NewPCG(seed, uint64(k))), make([]float64, n), out.Row(k)
		for i := range n {
			z[i] = rng.NormFloat64()
			row[i] = p.Mean[i]
			if p.Covariance.At(i, i) > 0 {
				row[i] += dense.Dot(l[i*n:][:i+1], z[:i+1])
			}
		}
		return nil
	})
}
