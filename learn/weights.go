package learn

import (
	"fmt"
	"math"
)

// Weights are positive numbers by example, nil for ones.
type Weights []float64

// Of returns the weight of an example.
func (w Weights) Of(i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// total returns the sum of the weights of n examples.
func (w Weights) total(n int) float64 {
	if w == nil {
		return float64(n)
	}
	return total(w)
}

// at returns the weights of some examples.
func (w Weights) at(examples []int) Weights {
	if w == nil {
		return nil
	}
	out := make(Weights, len(examples))
	gather(out, w, examples)
	return out
}

// check returns an error where weights are not as many positive numbers.
func (w Weights) check(n int) error {
	if w != nil && len(w) != n {
		return fmt.Errorf("learn: %d weights of examples, want %d", len(w), n)
	}
	for i, x := range w {
		if !(x > 0) || math.IsInf(x, 1) {
			return fmt.Errorf("learn: weight of example %d is %v, want a positive, finite number", i, x)
		}
	}
	return nil
}
