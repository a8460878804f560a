package mlg

import (
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
)

// combiner makes one kernel of those of the levels, which come one after the other.
type combiner struct {
	k      *Kernel
	levels int
	dst    []float64 // the product, or with Sum the sum, of what has come
	sum    []float64 // with Mixed
	last   []float64 // with Mixed: the values that came last
}

// newCombiner begins with the given number of levels. buf has room for as many values as dst,
// which Mixed needs, or is nil.
func (k *Kernel) newCombiner(dst, buf []float64, levels int) *combiner {
	if k.Combine == Mixed {
		buf = dense.Grow(buf, len(dst))
		clear(buf)
	}
	first := 1.0
	if k.Combine == Sum {
		first = 0
	}
	for i := range dst {
		dst[i] = first
	}
	return &combiner{k: k, levels: levels, dst: dst, sum: buf}
}

// add takes the values of the next level, which must stay as they are until finish.
func (c *combiner) add(k []float64) {
	c.last = k
	sum, roots, mixed := c.k.Combine == Sum, c.k.Combine == GeometricMean, c.k.Combine == Mixed
	for i, v := range k {
		if mixed {
			c.sum[i] += v
		}
		if roots {
			v = math.Pow(v, 1/float64(c.levels))
		}
		if sum {
			c.dst[i] += v
		} else {
			c.dst[i] *= v
		}
	}
}

// finish makes the kernel of what has come.
func (c *combiner) finish() {
	sum, mixed := c.k.Combine == Sum, c.k.Combine == Mixed
	if !sum && !mixed && c.k.Power == 1 {
		return
	}
	n := float64(c.levels)
	for i, v := range c.dst {
		switch {
		case sum:
			v /= n
		case mixed:
			v = (c.last[i] + c.sum[i]/n + v) / 3
		}
		x := v
		for range c.k.Power - 1 {
			x *= v
		}
		c.dst[i] = x
	}
}
