package suggest

import (
	"math"
	"slices"

	"github.com/mlgkernel/mlg/learn"
)

// conditional is a posterior given what was picked.
type conditional struct {
	p                *learn.Posterior
	variance, before []float64 // of true values given what was picked, and without it
	covariance       []float64 // the same of all pairs
}

func newConditional(p *learn.Posterior) *conditional {
	n := len(p.Mean)
	c := &conditional{p: p, covariance: slices.Clone(p.Covariance.Data), variance: make([]float64, n)}
	for i := range n {
		c.variance[i] = c.covariance[i*n+i]
	}
	c.before = slices.Clone(c.variance)
	return c
}

// known is the share of its variance below which a value counts as known: what is left is rounding.
const known = 1e-9

// deviation returns that of the true value of a candidate given what was picked.
func (c *conditional) deviation(i int) float64 {
	if c.variance[i] <= known*c.before[i] {
		return 0
	}
	return math.Sqrt(c.variance[i])
}

// follow moves means by a share of their covariances with a candidate.
func (c *conditional) follow(mean []float64, i int, share float64) {
	for j, x := range c.covariance[i*len(mean):][:len(mean)] {
		mean[j] += float64(share * x)
	}
}

// reveal takes away from the covariances what a measurement of a candidate tells, whose variance is measured.
func (c *conditional) reveal(i int, measured float64) {
	if c.deviation(i) == 0 {
		return
	}
	n := len(c.variance)
	column := slices.Clone(c.covariance[i*n:][:n])
	for j := range n {
		share := column[j] / measured
		row := c.covariance[j*n:][:n]
		for k, x := range column {
			row[k] -= float64(share * x)
		}
		c.variance[j] = row[j]
	}
}
