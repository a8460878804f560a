package kernel

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/work"
)

// term is a product of factors, by their positions in FittedSum.Factors, with a weight.
type term struct {
	weight  float64
	factors []int
}

// join adds the terms of sums that are written out, which share the factors of the collection that they have.
func (c *Collection) join(sums []*FittedSum) {
	at := map[string]int{}
	var factors []*FittedFactor
	for _, s := range sums {
		for _, t := range s.Sum.Terms {
			out := term{weight: t.Weight}
			for _, f := range t.Factors {
				key := f.String()
				i, known := at[key]
				if !known {
					i = len(factors)
					at[key], factors = i, append(factors, c.factor(f))
				}
				out.factors = append(out.factors, i)
			}
			s.terms = append(s.terms, out)
		}
	}
	for _, s := range sums {
		s.Factors, s.uses = factors, make([]int, len(factors))
		for _, t := range s.terms {
			for _, i := range t.factors {
				s.uses[i]++
			}
		}
	}
}

// Combine computes Σ_t weight_t · Π_j values_tj entry by entry. values returns those of a factor,
// by its position in Factors. It is called once for each factor, when its values are first needed,
// and they are dropped after their last use. The result goes to dst or, where that is nil, to a new
// slice.
func (s *FittedSum) Combine(ctx context.Context, dst []float64, values func(factor int) ([]float64, error)) ([]float64, error) {
	c := combination{slices.Clone(s.uses), make([][]float64, len(s.Factors)), values}
	for i, t := range s.terms {
		product, last, err := c.product(ctx, t.factors)
		if err != nil {
			return nil, err
		}
		if dst == nil {
			dst = make([]float64, len(last))
		}
		err = chunks(ctx, len(dst), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				x := last[k]
				if product != nil {
					x = product[k] * x
				}
				x = float64(x * t.weight) // not fused with the sum
				if i > 0 {
					x = dst[k] + x
				}
				dst[k] = x
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// combination is the values of factors while a sum is computed. What is used again is kept until then.
type combination struct {
	left   []int       // by factor: uses to come
	known  [][]float64 // by factor: values that will be used
	values func(factor int) ([]float64, error)
}

// value returns the values of a factor for one of its uses.
func (c *combination) value(ctx context.Context, i int) (v []float64, err error) {
	if v = c.known[i]; v != nil {
		err = ctx.Err()
	} else {
		v, err = c.values(i)
	}
	if err != nil {
		return nil, err
	}
	if c.known[i] = v; c.left[i] == 1 {
		c.known[i] = nil
	}
	c.left[i]--
	return v, nil
}

// product returns the values of the last factor of a product, and the product of those before it, nil
// for none. It has no more than three sets of values at a time.
func (c *combination) product(ctx context.Context, factors []int) (product, last []float64, err error) {
	if last, err = c.value(ctx, factors[0]); err != nil {
		return nil, nil, err
	}
	var own []float64
	for _, f := range factors[1:] {
		if product == nil {
			product = last
		} else {
			if own == nil {
				own = make([]float64, len(last))
			}
			err = chunks(ctx, len(own), func(lo, hi int) {
				for k := lo; k < hi; k++ {
					own[k] = product[k] * last[k]
				}
			})
			if product = own; err != nil {
				return nil, nil, err
			}
		}
		if last, err = c.value(ctx, f); err != nil {
			return nil, nil, err
		}
	}
	return product, last, nil
}

// chunks calls f for parts of 0 … n-1.
func chunks(ctx context.Context, n int, f func(lo, hi int)) error {
	const size = 1 << 16
	return work.Each(ctx, (n+size-1)/size, 1, func(_, k int) error {
		f(k*size, min((k+1)*size, n))
		return nil
	})
}
