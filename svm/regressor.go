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
	models, err := RegressorPath(ctx, gram, targets, []float64{opt.C}, opt)
	if models == nil {
		return nil, err
	}
	return models[0], err
}

// RegressorPath trains one regressor for each value of C in cs, as Path does classifiers.
func RegressorPath(ctx context.Context, gram View, targets []float64, cs []float64, opt Options) ([]*Regressor, error) {
	if err := opt.validatePath(cs); err != nil {
		return nil, err
	}
	if err := gram.square(len(targets)); err != nil {
		return nil, err
	}
	if err := finite(targets); err != nil {
		return nil, err
	}
	n := len(targets)
	q := make([]float64, n)
	for k, z := range targets {
		q[k] = -z
	}
	s := newSolver(gram, q, make([]float64, n), make([]float64, n), opt.Epsilon)
	models := make([]*Regressor, len(cs))
	var limit error
	for _, m := range increasing(cs) {
		c, before := cs[m], s.steps
		s.widen(func(int) (lo, hi float64) { return -c, c })
		if err := s.solve(ctx, opt.solve()); errors.Is(err, ErrIterations) {
			limit = fmt.Errorf("%w: C = %g, %d steps", err, c, opt.MaxIterations)
		} else if err != nil {
			return nil, err
		}
		r := &Regressor{Examples: n, Bias: s.bias(), Objective: s.objective(), Iterations: s.steps - before}
		for k, b := range s.beta {
			if b != 0 {
				r.Support = append(r.Support, k)
				r.Coefficients = append(r.Coefficients, b)
			}
		}
		models[m] = r
	}
	return models, limit
}

// Validate returns an error if the fields do not belong together, as those of a damaged
// file might.
func (r *Regressor) Validate() error {
	if err := validSupport(r.Support, r.Coefficients, r.Examples); err != nil {
		return fmt.Errorf("svm: %w", err)
	}
	return nil
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
