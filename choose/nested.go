package choose

import (
	"context"

	"github.com/mlgkernel/mlg/work"
)

// nest replaces what a sum predicts for every validator. Weights that are learned from all leave-one-out
// errors have seen the targets by which the sum would be judged. So a validator is predicted by the sum
// with the weights, and the value of the grid, that the errors of the other validators give. The errors themselves are
// of regressions that know the validator.
func (c *choice) nest(ctx context.Context, m Mixture, s *Scores) error {
	p := c.everything
	ridges := c.Options.ridges()
	all := trainingSet{p.Repeat, p.Fold, p.Fold, p.sample}
	return work.Tasks(ctx, len(p.scored), func(ctx context.Context, v int) error {
		others := p.others(v)
		if others == nil {
			return nil
		}
		weights := m.shared
		if m.How != Weighted || weights == nil {
			errors := make([]Errors, len(c.scores))
			for k, of := range c.scores {
				errors[k] = least(c.errorsOf(of, others))
			}
			weights = m.weigh(errors, len(p.sample)-len(p.scored[v]))
		}
		x, err := m.sum(weights)
		if err != nil {
			return err
		}
		_, g := c.chooseWith([]*Scores{s}, others)
		grid := []int{g}
		if s.Best != g {
			grid = append(grid, s.Best)
		}
		predicted, err := x.leaveOneOut(ctx, all, c.Targets, Pick(ridges, grid))
		if err != nil {
			return err
		}
		for k, g := range grid {
			s.predicted[g][v] = predicted[k].At(p.inSample(p.scored[v]))
		}
		return nil
	})
}

// errorsOf returns the errors of a kernel's leave-one-out predictions, for each value of the grid, for the validators
// that have a weight.
func (c *choice) errorsOf(s *Scores, weight []float64) []Errors {
	var graphs []int
	predicted := make([]HeldPredictions, len(s.predicted))
	for v, w := range weight {
		if w == 0 {
			continue
		}
		graphs = append(graphs, c.everything.scored[v]...)
		for g := range predicted {
			predicted[g].append(s.predicted[g][v])
		}
	}
	return c.Targets.errors(graphs, predicted)
}
