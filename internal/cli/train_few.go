package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/learn"
)

// fewRidge is the ridge where there are too few graphs to choose one: a tenth of the variance of a value is noise.
const fewRidge = 0.1

// few changes what is chosen from where values of one or two graphs are learned: then nothing can be left out, so nothing can
// be compared.
func (c *trainCmd) few(tasks []task, values bool, o *choose.Options, candidates []choose.Candidate) ([]choose.Candidate, error) {
	if !values || len(tasks) > 1 || len(tasks[0].Graphs) > 2 || o.Learner != learn.KernelRidge {
		return candidates, nil
	}
	if len(c.Kernel) > 1 {
		return nil, fmt.Errorf("%d kernels for %s, want one: too few to choose among kernels", len(c.Kernel), agree(len(tasks[0].Graphs), "graph", "graphs"))
	}
	o.Unscored, o.Ridge = true, []float64{fewRidge}
	if c.Kernel != nil {
		return candidates, nil
	}
	return []choose.Candidate{choose.Quick(candidates)}, nil
}

// printFew says that nothing is known about the quality of a model.
func printFew(w io.Writer) {
	fmt.Fprint(w, "\nno error can be estimated from fewer than three graphs, and kernels and ridges\n  cannot be compared\n")
}

// hintOfValues adds to an error about classes that the targets may be values.
func hintOfValues(err error) error {
	var one *choose.OneClassError
	if errors.As(err, &one) && one.Numeric {
		return fmt.Errorf("%w; if the targets are values, use --task regression", err)
	}
	return err
}
