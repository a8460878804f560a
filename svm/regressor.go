package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Regressor is a trained ε-SVR. Its value for an example x is
//
//	f(x) = Σ_s Coefficients[s]·k(x, x_Support[s]) + Bias.
type Regressor struct {
	Examples     int       // number of training examples
	Support      []int     // positions among the training examples, increasing
	Coefficients []float64 // α − α*, not 0
	Bias         float64

	// Objective is the dual objective reached.
	Objective float64
	// Iterations is the number of steps that the solver took.
	Iterations int
}

// TrainRegressor trains an ε-SVR on the Gram matrix of the training examples: it solves
//
//	minimise   ½ βᵀKβ − Σ_k z_k β_k + ε Σ_k |β_k|   subject to   Σ_k β_k = 0,   −C ≤ β_k ≤ C
//
// for targets z and β = α − α*, which is the usual dual with half as many variables (α_k
// and α*_k are never both positive at the optimum).
//
// As for TrainClassifier, an error that is ErrIterations comes with a usable regressor.
func TrainRegressor(ctx context.Context, gram View, targets []float64, opt Options) (*Regressor, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if err := gram.square(len(targets)); err != nil {
		return nil, err
	}
	if err := finite(targets); err != nil {
		return nil, err
	}
	n := len(targets)
	q, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
	for k, z := range targets {
		q[k], lo[k], hi[k] = -z, -opt.C, opt.C
	}
	s := newSolver(gram, q, lo, hi, opt.Epsilon)
	err := s.solve(ctx, opt.solve())
	if err != nil {
		if !errors.Is(err, ErrIterations) {
			return nil, err
		}
		err = fmt.Errorf("%w: C = %g, %d steps", err, opt.C, opt.MaxIterations)
	}
	r := &Regressor{Examples: n, Bias: s.bias(), Objective: s.objective(), Iterations: s.steps}
	for k, b := range s.beta {
		if b != 0 {
			r.Support = append(r.Support, k)
			r.Coefficients = append(r.Coefficients, b)
		}
	}
	return r, err
}

// Predict returns the value for each new example (a row of cross: its kernel values with
// the training examples).
func (r *Regressor) Predict(cross View) ([]float64, error) {
	return expand(cross, r.Examples, r.Support, r.Coefficients, r.Bias)
}

// expand returns Σ_s coef[s]·row[support[s]] + bias for each row of a view with n columns.
func expand(cross View, n int, support []int, coef []float64, bias float64) ([]float64, error) {
	rows, cols := cross.Dims()
	if cols != n {
		return nil, fmt.Errorf("svm: %d kernel values per example, but %d training examples", cols, n)
	}
	m := Machine{Support: support, Coefficients: coef, Bias: bias}
	values := make([]float64, rows)
	for i := range values {
		values[i] = m.decision(cross.base(i), cross.cols)
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return nil, fmt.Errorf("svm: value of example %d is %v: its kernel values are not finite", i, values[i])
		}
	}
	return values, nil
}

// finite returns an error that names the first target that is not a finite number.
func finite(targets []float64) error {
	if len(targets) == 0 {
		return errors.New("svm: no examples")
	}
	for k, z := range targets {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return fmt.Errorf("svm: target of example %d is %v, want a finite number", k, z)
		}
	}
	return nil
}
