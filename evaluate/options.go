package evaluate

import (
	"cmp"
	"errors"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/splits"
)

// Options say how kernels are evaluated. Start from DefaultOptions.
type Options struct {
	// Options say how parameters are chosen on the training part of every fold. Folds and Seed
	// shape the cross-validation itself.
	choose.Options

	// Repeats is the number of times that the graphs are dealt to folds.
	Repeats int `want:"at least 1"`
	// Splits, when set, are the folds, in place of Folds, Repeats and Seed.
	Splits *splits.Splits

	// OnReported chooses those kernel parameters and that C whose score on the reported
	// folds themselves is best, as tables of papers often do. The scores are too high, the
	// more so the more settings there are, and the report says so. Classification only.
	OnReported bool
	// Inductive fits a kernel to the training part of every fold; test graphs are new to it.
	// Otherwise it is fitted once to all graphs, without their targets; landmarks may then be
	// vertices of test graphs.
	Inductive bool

	// Combined leaves the rows of single candidates out of the report, where combinations use them. Then
	// only the setting that is best on a training part, and combinations, predict its fold.
	Combined bool

	// Clock, when set, returns the time since some fixed moment; seconds are 0 without it.
	// It is called concurrently.
	Clock func() time.Duration
	// Folder, when not empty, keeps the results of finished parts of the evaluation. A later
	// run with the same data, splits, options and kernel takes them from there.
	Folder string
	// Damaged, when set, is called with a file of the folder that is damaged. What it kept is computed
	// again, and the file is replaced. It is called concurrently.
	Damaged func(path string, err error)
}

// DefaultOptions returns 10 repeats of 10 folds, with choose.DefaultOptions, and kernels fitted to
// all graphs without their targets.
func DefaultOptions() Options {
	return Options{Options: choose.DefaultOptions(), Repeats: 10}
}

// Validate returns an error that names the first field with an impossible value.
func (o *Options) Validate() error {
	if err := cmp.Or(o.Options.Validate(), param.Check("evaluate", *o)); err != nil {
		return err
	}
	switch {
	case o.OnReported && o.Score == choose.Squared:
		return errors.New("evaluate: Score = squared is for choices inside training parts, not for OnReported")
	case o.OnReported && len(o.Combinations) > 0:
		return errors.New("evaluate: Combinations are learned inside training parts, not with OnReported")
	}
	return nil
}

// Bytes returns about the memory of an evaluation of kernels with so many factors on n graphs.
func (o *Options) Bytes(n, factors, workers int) int64 {
	sessions := o.sessions(workers)
	bytes := o.Options.Bytes(n, factors, workers/sessions)
	if o.Keeps(n, factors, workers) {
		bytes += keptBytes(n, factors)
	}
	if !o.Inductive {
		bytes += int64(o.lanes(n, workers)-1) * o.LearnBytes(n)
	}
	return int64(sessions) * bytes
}
