package svm

import (
	"fmt"
	"math"
)

// ProcessOptions are the parameters of a Gaussian process regression. Start from
// DefaultProcessOptions.
type ProcessOptions struct {
	Mean   float64 // prior mean, the same everywhere
	Signal float64 // > 0, prior variance per unit of the kernel
	Noise  float64 // > 0, variance of the noise of a target
}

// DefaultProcessOptions returns mean 0, signal variance 1 and noise variance 0.1, for
// targets of mean 0 and variance about 1 and a kernel with unit diagonal.
func DefaultProcessOptions() ProcessOptions {
	return ProcessOptions{Mean: 0, Signal: 1, Noise: 0.1}
}

// Validate returns an error that names the first field with a value out of range.
func (o ProcessOptions) Validate() error {
	switch {
	case math.IsNaN(o.Mean) || math.IsInf(o.Mean, 0):
		return fmt.Errorf("svm: Mean is %v, want a finite number", o.Mean)
	case !(o.Signal > 0) || math.IsInf(o.Signal, 1):
		return fmt.Errorf("svm: Signal is %v, want a finite number above 0", o.Signal)
	case !(o.Noise > 0) || math.IsInf(o.Noise, 1):
		return fmt.Errorf("svm: Noise is %v, want a finite number above 0", o.Noise)
	}
	return nil
}

// Process is a Gaussian process regression: targets z = f + noise, where f has prior mean μ
// and covariance s²K and the noise is independent with variance σ². With A = s²K + σ²I,
//
//	β = A⁻¹(z − μ),   mean(x) = μ + s² Σ_k β_k k(x, x_k),   variance(x) = s² k(x,x) − s⁴ k_xᵀ A⁻¹ k_x.
//
// The mean needs the exported fields only; the variance needs the decomposition, to which a
// Process holds on.
type Process struct {
	Options      ProcessOptions
	Coefficients []float64 // s²β
	// LogLikelihood is the log marginal likelihood
	//
	//	log p(z) = −½ (z−μ)ᵀA⁻¹(z−μ) − ½ log|A| − (n/2) log 2π.
	LogLikelihood float64
	// LeaveOneOut and LeaveOneOutVariance describe what the process that knows all other
	// targets predicts for the target of an example (noise included):
	//
	//	z_i − β_i/(A⁻¹)_ii   and   1/(A⁻¹)_ii.
	LeaveOneOut, LeaveOneOutVariance []float64

	factor *shifted
}

// Process fits a Gaussian process regression. It takes O(n²) time, so that options can be
// chosen by LogLikelihood or by the leave-one-out predictions from one decomposition.
func (d *Decomposition) Process(targets []float64, opt ProcessOptions) (*Process, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	if err := d.check(targets); err != nil {
		return nil, err
	}
	f, err := d.shift(opt.Noise / opt.Signal) // A = s²(K + σ²/s² I)
	if err != nil {
		return nil, err
	}
	n := float64(len(targets))
	rest := make([]float64, len(targets))
	for k, z := range targets {
		rest[k] = z - opt.Mean
	}
	p := &Process{Options: opt, Coefficients: f.solve(rest), factor: f}
	p.LogLikelihood = -dot(rest, p.Coefficients)/(2*opt.Signal) - (f.logDet()+n*math.Log(opt.Signal))/2 - n/2*math.Log(2*math.Pi)
	for k, g := range f.inverseDiagonal() {
		p.LeaveOneOut = append(p.LeaveOneOut, targets[k]-p.Coefficients[k]/g)
		p.LeaveOneOutVariance = append(p.LeaveOneOutVariance, opt.Signal/g)
	}
	return p, nil
}

// BestSignal returns the signal variance with the greatest likelihood among the options
// that have the given mean and ratio Noise/Signal,
//
//	s² = (z−μ)ᵀ(K + ratio·I)⁻¹(z−μ) / n.
//
// It is 0 if every target is equal to the mean.
func (d *Decomposition) BestSignal(targets []float64, mean, ratio float64) (float64, error) {
	if err := d.check(targets); err != nil {
		return 0, err
	}
	f, err := d.shift(ratio)
	if err != nil {
		return 0, err
	}
	rest := make([]float64, len(targets))
	for k, z := range targets {
		rest[k] = z - mean
	}
	return dot(rest, f.solve(rest)) / float64(len(rest)), nil
}

// Predict returns the mean and the variance of f for new examples: rows of cross are their
// kernel values with the training examples, self is the kernel of each with itself. Add
// Options.Noise to the variance for that of a target. A variance that rounding makes
// negative is 0. It takes O(n²) time for each example.
func (p *Process) Predict(cross View, self []float64) (mean, variance []float64, err error) {
	rows, cols := cross.Dims()
	if rows != len(self) {
		return nil, nil, fmt.Errorf("svm: %d examples, but %d kernel values with themselves", rows, len(self))
	}
	if mean, err = expandAll(cross, p.Coefficients, p.Options.Mean); err != nil {
		return nil, nil, err
	}
	row := make([]float64, cols)
	variance = make([]float64, rows)
	for i := range variance {
		cross.Row(row, i)
		explained := 0.0
		for k, w := range p.factor.half(row) {
			explained += w * w / p.factor.d[k]
		}
		variance[i] = p.Options.Signal * max(0, self[i]-explained)
	}
	return mean, variance, nil
}
