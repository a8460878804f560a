package choose

import "github.com/mlgkernel/mlg/learn"

// Factorisation returns about the number of operations of a regression with leave-one-out on n graphs: those
// of the factor, of its inverse, and of the diagonal of their product.
func Factorisation(n int) float64 { return 4. / 3 * float64(n) * float64(n) * float64(n) }

// Numbers of conjugate gradients that learning takes, for estimates: ridges that are tried on folds and
// then on folds of whole groups, and iterations.
const (
	ridgesSolved   = 3
	iterationsDone = 15
)

// Operations returns about the number of operations, beside those of kernel values, that it takes to learn
// from all n graphs when kernels have been chosen.
func (o *Options) Operations(n int) float64 {
	sampled := o.LeaveOneOut && n > o.Examples
	switch m := float64(learn.DefaultRidgeOptions().Landmarks); {
	case !sampled && len(o.Combinations) > 0: // and one for every validator, see nest
		return float64(1+o.Folds) * Factorisation(n)
	case !sampled:
		return Factorisation(n)
	case o.Learner != learn.KernelRidge:
		return Factorisation(n)
	case n <= mostFactorised:
		return (1 + ridgesTried) * Factorisation(n)
	case o.Centres(n) > 0:
		m = float64(o.Centres(n))
		return 2*float64(n)*m*m + heldOutFolds*ridgesTried*9*m*m*m
	default:
		sides := float64(2 * heldOutFolds * (ridgesSolved + 1))
		return 2*float64(n)*float64(n)*sides*iterationsDone + (4+2*heldOutFolds)*float64(n)*m*m
	}
}
