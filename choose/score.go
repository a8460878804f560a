package choose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/splits"
	"github.com/mlgkernel/mlg/work"
)

// Chooser compares kernels on the training parts of a cross-validation.
type Chooser struct {
	Options *Options
	Targets *Targets
	Splits  *splits.Splits
	// Keep keeps the predictions for validators, which Estimate needs.
	Keep bool
}

// TrainingPart is the graphs of a repeat outside one fold. The fold Splits.Folds has no graph, so
// the part without it is everything.
type TrainingPart struct {
	Repeat, Fold int
	graphs       []int
	// sample is what LeaveOneOut and weights look at: all graphs, or Options.Examples of them.
	sample []int
	// scored has, for each validator, the graphs whose predictions are scored, and weight their
	// number.
	validators []int
	scored     [][]int
	weight     []float64
}

// TrainingPart returns the training part without a fold of a repeat.
func (c *Chooser) TrainingPart(repeat, fold int) *TrainingPart {
	p := &TrainingPart{Repeat: repeat, Fold: fold, graphs: c.Splits.Without(repeat, fold)}
	p.sample = c.sample(c.without(repeat, fold, fold))
	p.validators = c.validators(fold)
	if len(p.validators) == 0 { // leave-one-out is scored as a whole
		p.scored, p.weight = [][]int{p.sample}, []float64{float64(len(p.sample))}
	}
	for _, v := range p.validators {
		test := c.Splits.Test(repeat, v)
		if c.Options.LeaveOneOut {
			test = slices.DeleteFunc(test, func(i int) bool {
				_, in := slices.BinarySearch(p.sample, i)
				return !in
			})
		}
		p.scored = append(p.scored, test)
		p.weight = append(p.weight, float64(len(test)))
	}
	return p
}

// inSample returns the positions of graphs in the sample.
func (p *TrainingPart) inSample(graphs []int) []int {
	at := make([]int, len(graphs))
	for k, i := range graphs {
		at[k], _ = slices.BinarySearch(p.sample, i)
	}
	return at
}

// others returns the weights of the validators without one, nil if there is no other or that one has none.
func (p *TrainingPart) others(validator int) []float64 {
	out := slices.Clone(p.weight)
	if out[validator] = 0; p.weight[validator] == 0 || slices.Max(out) == 0 {
		return nil
	}
	return out
}

// Validators returns the number of folds of the part that are scored.
func (p *TrainingPart) Validators() int { return len(p.validators) }

// validators returns the folds that validate for a fold: all others, or InnerFolds of them. Fold f
// validates for g if g validates for f. If folds are predicted from lower ones, there are none.
func (c *Chooser) validators(f int) []int {
	folds := c.Splits.Folds
	var out []int
	if c.Splits.Forward {
		return out
	}
	if f == folds || c.Options.LeaveOneOut || c.Options.InnerFolds >= folds-1 {
		for g := range folds {
			if g != f {
				out = append(out, g)
			}
		}
		return out
	}
	want := c.Options.InnerFolds
	if want%2 == 1 && folds%2 == 0 {
		out = append(out, (f+folds/2)%folds)
	}
	for d := 1; len(out) < want; d++ {
		out = append(out, (f+d)%folds, (f-d+folds)%folds)
	}
	slices.Sort(out)
	return out
}

// without returns the training set outside two folds, which may be the same.
func (c *Chooser) without(repeat, f, g int) trainingSet {
	return trainingSet{repeat, min(f, g), max(f, g), c.Splits.Without(repeat, f, g)}
}

// sample returns at most Options.Examples graphs of a training set.
func (c *Chooser) sample(t trainingSet) []int {
	folds := max(c.Splits.Folds, t.last+1)
	return c.draw(t.graphs, c.Options.Examples, c.Splits.Seed, uint64((t.repeat*folds+t.first)*folds+t.last))
}

// draw returns at most limit graphs of a list, ascending. Each class comes in proportion, but a rare class
// has at least a quarter of the sample, or all its graphs; with k classes 1/(2k). Otherwise a sample would
// say little about it.
func (c *Chooser) draw(graphs []int, limit int, seed, stream uint64) []int {
	if len(graphs) <= limit {
		return graphs
	}
	random := rand.New(rand.NewPCG(seed, stream))
	out := Pick(graphs, random.Perm(len(graphs)))
	if c.Targets.Regression() {
		out = out[:limit]
	} else {
		slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(c.Targets.Labels[a], c.Targets.Labels[b]) })
		out = c.shares(out, limit)
	}
	slices.Sort(out)
	return out
}

// shares returns some graphs that are in the order of their classes: of every class as many as its share,
// at least 1/(2k) of all for k classes.
func (c *Chooser) shares(graphs []int, limit int) []int {
	var classes [][]int
	for len(graphs) > 0 {
		n := slices.IndexFunc(graphs, func(i int) bool { return c.Targets.Labels[i] != c.Targets.Labels[graphs[0]] })
		if n < 0 {
			n = len(graphs)
		}
		classes, graphs = append(classes, graphs[:n]), graphs[n:]
	}
	var out []int
	rest := 0 // graphs of classes that are not rare
	for _, members := range classes {
		if least := limit / (2 * len(classes)); len(members) <= least {
			out = append(out, members...)
		} else {
			out = append(out, members[:least]...)
			rest += len(members) - least
		}
	}
	left, seen := limit-len(out), 0
	for _, members := range classes { // every rest/left-th of what is left of the classes one after the other
		for _, i := range members[min(len(members), limit/(2*len(classes))):] {
			if seen*left/rest != (seen+1)*left/rest {
				out = append(out, i)
			}
			seen++
		}
	}
	return out
}

// Scores are what the validators of a training part say about a kernel.
type Scores struct {
	// Inner has the scores for each value of the grid on each validator: what Options.Score says.
	Inner [][]float64 `json:"inner,omitempty"`
	// Best is the position of the grid value with the largest mean of Inner. Among equal ones it is
	// the one with the strongest regularisation. For MeanBest with LeaveOneOut it is the value with
	// the smallest product of Errors.
	Best int `json:"best"`
	// Errors are those of leave-one-out predictions for each value of the grid. LeaveOneOut only.
	Errors []Errors `json:"errors,omitempty"`
	// Limited is the number of trainings that stopped at the limit of iterations.
	Limited int `json:"limited,omitempty"`

	predicted [][]HeldPredictions // for each value of the grid on each validator, with Chooser.Keep
}

// Score scores a kernel on training parts.
func (c *Chooser) Score(ctx context.Context, k Gram, parts []*TrainingPart) ([]Scores, error) {
	if !c.Options.LeaveOneOut {
		return c.scoreFolds(ctx, k, parts)
	}
	out := make([]Scores, len(parts))
	return out, work.Each(ctx, len(parts), 1, func(_, i int) (err error) {
		out[i], err = c.scoreLeaveOneOut(ctx, k, parts[i])
		return err
	})
}

// scoreFolds predicts every validator from the rest of the part. The folds of a part are those of
// its repeat, so one training without folds f and g serves two parts. The part without f uses its
// predictions of g, and the part without g those of f. Neither sees the fold that it is without.
func (c *Chooser) scoreFolds(ctx context.Context, k Gram, parts []*TrainingPart) ([]Scores, error) {
	type pair struct{ repeat, f, g int } // f < g
	between := func(p *TrainingPart, validator int) pair {
		return pair{p.Repeat, min(p.Fold, validator), max(p.Fold, validator)}
	}
	var pairs []pair
	at := map[pair]int{}
	for _, p := range parts {
		for _, v := range p.validators {
			x := between(p, v)
			if _, known := at[x]; !known {
				at[x] = len(pairs)
				pairs = append(pairs, x)
			}
		}
	}
	predicted := make([]map[int][]HeldPredictions, len(pairs)) // by fold: a prediction for each value of the grid
	err := work.Each(ctx, len(pairs), 1, func(_, i int) error {
		repeat, f, g := pairs[i].repeat, pairs[i].f, pairs[i].g
		set := c.without(repeat, f, g)
		x, err := k.From(ctx, set)
		if err != nil {
			return err
		}
		gram, cross, err := x.On(ctx, set)
		if err != nil {
			return err
		}
		var rows []learn.View
		for _, fold := range []int{f, g} {
			x, err := cross(c.Splits.Test(repeat, fold))
			if err != nil {
				return err
			}
			rows = append(rows, x)
		}
		p, err := c.Targets.learn(ctx, c.Options.learner(), gram, set.graphs, c.Options.Grid(), rows, nil, nil)
		if err != nil {
			return fmt.Errorf("repeat %d, folds %d and %d left out: %w", repeat, f, g, err)
		}
		predicted[i] = map[int][]HeldPredictions{f: p[0], g: p[1]}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Scores, len(parts))
	for i, p := range parts {
		for j, v := range p.validators {
			c.add(&out[i], p.scored[j], predicted[at[between(p, v)]][v])
		}
		out[i].Best, _ = c.bestValue(&out[i], p.weight)
	}
	return out, nil
}

// scoreLeaveOneOut predicts every graph of the sample from the others.
func (c *Chooser) scoreLeaveOneOut(ctx context.Context, k Gram, p *TrainingPart) (Scores, error) {
	set := trainingSet{p.Repeat, p.Fold, p.Fold, p.sample}
	x, err := k.From(ctx, set)
	if err != nil {
		return Scores{}, err
	}
	predicted, err := x.leaveOneOut(ctx, set, c.Targets, c.Options.ridges())
	if err != nil {
		return Scores{}, fmt.Errorf("repeat %d, fold %d left out: %w", p.Repeat, p.Fold, err)
	}
	s := Scores{Errors: c.Targets.errors(p.sample, predicted)}
	for _, graphs := range p.scored {
		at := p.inSample(graphs)
		validator := make([]HeldPredictions, len(predicted))
		for g := range predicted {
			validator[g] = predicted[g].At(at)
		}
		c.add(&s, graphs, validator)
	}
	if m, ok := k.(Mixture); ok && m.How == MeanBest { // as its kernels are chosen
		products := make([]float64, len(s.Errors))
		for g, e := range s.Errors {
			products[g] = -e.product()
		}
		s.Best = c.Options.best(products, 0)
	} else {
		s.Best, _ = c.bestValue(&s, p.weight)
	}
	return s, nil
}

// tieBreak is the share of the squared error that decides between equal scores of leave-one-out
// predictions. On data that are easy to classify all values of the grid may be right everywhere.
// The smallest C, which suits a ridge, is then of no use to a support vector machine.
const tieBreak = 1e-9

// densityRounding is the difference of two log densities that is nothing but rounding. Where a kernel finds all graphs equal,
// all ridges predict the same. The smallest ridge then has the same noise, and a scale that is many times as large.
const densityRounding = 1e-9

// add adds the scores of a validator's graphs, predicted with each value of the grid.
func (c *Chooser) add(s *Scores, graphs []int, predictions []HeldPredictions) {
	if s.Inner == nil {
		s.Inner = make([][]float64, len(predictions))
		if c.Keep {
			s.predicted = make([][]HeldPredictions, len(predictions))
		}
	}
	if predictions[0].limited {
		s.Limited++
	}
	for g, p := range predictions {
		score := 0.0
		if len(graphs) > 0 { // otherwise none of the fold is in the sample: it has no weight
			score = c.gain(graphs, p)
			if c.Options.LeaveOneOut && c.Targets.Process(c.Options.Learner) && p.Deviations != nil {
				score = c.Targets.density(graphs, p)
			}
		}
		if s.Inner[g] = append(s.Inner[g], score); c.Keep {
			s.predicted[g] = append(s.predicted[g], p)
		}
	}
}

// gain returns Options.Score of predictions, or minus the squared error of values.
func (c *Chooser) gain(graphs []int, p HeldPredictions) float64 {
	how := c.Options.Score
	score := c.Targets.score(how, graphs, p)
	if c.Options.LeaveOneOut && how != Squared && !c.Targets.Regression() {
		score += tieBreak * c.Targets.score(Squared, graphs, p)
	}
	return score
}

// bestValue returns the value of the grid with the best score for given weights of the validators, −∞
// without scores.
func (c *Chooser) bestValue(s *Scores, weight []float64) (value int, score float64) {
	if s.Inner == nil {
		return 0, math.Inf(-1)
	}
	scores := make([]float64, len(s.Inner))
	for g, inner := range s.Inner {
		scores[g] = weightedMean(inner, weight)
	}
	rounding := 0.0
	if c.Options.LeaveOneOut && c.Targets.Process(c.Options.Learner) { // as in add
		rounding = densityRounding
	}
	value = c.Options.best(scores, rounding)
	return value, scores[value]
}

// weightedMean returns the mean of scores with weights.
func weightedMean(scores, weight []float64) float64 {
	sum, total := 0.0, 0.0
	for i, w := range weight {
		sum += w * scores[i]
		total += w
	}
	return sum / total
}

// Choose returns the kernel with the best mean score on a part, the first of equals.
func (c *Chooser) Choose(p *TrainingPart, kernels []*Scores) int {
	kernel, _ := c.chooseWith(kernels, p.weight)
	return kernel
}

// chooseWith returns the kernel and the value of the grid with the best score for given weights of the
// validators.
func (c *Chooser) chooseWith(kernels []*Scores, weight []float64) (kernel, value int) {
	best := math.Inf(-1)
	for k, s := range kernels {
		if g, score := c.bestValue(s, weight); score > best {
			best, kernel, value = score, k, g
		}
	}
	return kernel, value
}
