package choose

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
)

// Combination is a way to use all settings of all candidates together. Weights and choices
// are made on the training part alone. Kernels must have a unit diagonal.
type Combination int

const (
	// BestSingle takes the one setting with the best score.
	BestSingle Combination = iota
	// MeanAll is the mean of all kernels.
	MeanAll
	// MeanBest is the mean of the ten kernels with the smallest e_k r_k, the errors of
	// leave-one-out predictions as in Weighted. If many settings are about equally good, their mean
	// is better than one of them.
	MeanBest
	// Weighted weighs each kernel by its leave-one-out predictions in kernel ridge regression:
	// by their squared error e_k and the share r_k of graphs that get a wrong class, n being the
	// number of graphs that are predicted,
	//
	//	w_k ∝ (e_k r_k)^(−max(4, n/150))   for classes,
	//	w_k ∝ e_k^(−n/10)                  for values, whose errors tell more.
	//
	// Weights below a fiftieth of the largest become 0. With more than Options.Examples graphs, factors are
	// left out as long as predictions of the sample do not get worse by a standard error, down to five:
	// time and memory follow the number of distinct factors. For values, and for more than 8192 graphs,
	// the sum by Candidate.Share takes its place, unless the weighted sum predicts the sample better
	// by more than two standard errors.
	Weighted
)

var combinationNames = []string{"best single", "mean of all", "mean of best", "weighted"}

func (c Combination) String() string { return combinationNames[c] }

// MarshalText writes the name.
func (c Combination) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Summed reports whether a combination is a sum of kernels, which needs trainings of its own.
func (c Combination) Summed() bool { return c != BestSingle }

const (
	leastPower  = 4.   // the smallest exponent of Weighted for classes, without its sign
	classScale  = 150. // number of graphs for which it would be 1
	valueScale  = 10.  // the same for values
	leastWeight = 0.02 // of the largest, that Weighted keeps
	meanBest    = 10   // kernels of MeanBest
)

// Errors are those of leave-one-out predictions.
type Errors struct {
	// Squared is the mean over the graphs; summed over classes with targets ±1.
	Squared float64 `json:"squared"`
	// Wrong is the share of graphs with a wrong class, as if there were one more of them; 1 for values.
	Wrong float64 `json:"wrong"`
}

// product is what kernels are compared by.
func (e Errors) product() float64 { return e.Squared * e.Wrong }

// errors returns those of predictions of examples, one for each value of a grid.
func (t *Targets) errors(examples []int, predicted []HeldPredictions) []Errors {
	out := make([]Errors, len(predicted))
	for g, p := range predicted {
		e := -t.score(Squared, examples, p)
		if out[g] = (Errors{e, 1}); !t.Regression() {
			n := float64(len(examples))
			out[g].Wrong = ((1-t.score(Accuracy, examples, p))*n + 1) / (n + 1)
		}
	}
	return out
}

// Mixer learns weights of kernels on training sets.
type Mixer struct {
	chooser *Chooser
	parts   []Ingredient
	graphs  Graphs
	// scores returns those of a kernel on the part without a fold.
	scores func(kernel, repeat, fold int) *Scores
	shared []float64 // weights of Weighted that several endpoints share; nil for its own

	mu      sync.Mutex
	learned map[weighed][]float64
}

// weighed is what weights depend on.
type weighed struct {
	how                 Combination
	repeat, first, last int
}

// Ingredient is a kernel that may be part of a combination.
type Ingredient struct {
	Kernel kernel.Kernel
	Share  Share // Candidate.Share
	Faint  bool  // Candidate.Ridges are not nil
}

// factors returns the texts of the distinct kernels that the ingredient is made of.
func (x Ingredient) factors() []string {
	var out []string
	if sum, err := kernel.SumOf(x.Kernel).Expand(nil); err == nil { // else fitting it says what is wrong
		for _, t := range sum.Terms {
			for _, f := range t.Factors {
				out = append(out, f.String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Mixer returns a mixer of some kernels. It asks for scores only with LeaveOneOut.
func (c *Chooser) Mixer(parts []Ingredient, graphs Graphs, scores func(kernel, repeat, fold int) *Scores) *Mixer {
	return &Mixer{chooser: c, parts: parts, graphs: graphs, scores: scores, learned: map[weighed][]float64{}}
}

// Mixture is a sum of kernels with the weights of a combination.
type Mixture struct {
	*Mixer
	How Combination
}

// From implements Gram. It learns the weights on the training set.
func (m Mixture) From(ctx context.Context, t trainingSet) (*Matrix, error) {
	w, err := m.weights(ctx, t)
	if err != nil {
		return nil, err
	}
	return m.sum(w)
}

// Weights returns the weights of the kernels on a part; they sum to 1.
func (m Mixture) Weights(ctx context.Context, p *TrainingPart) ([]float64, error) {
	return m.weights(ctx, m.chooser.without(p.Repeat, p.Fold, p.Fold))
}

// sum returns Σ_k w_k K_k.
func (m *Mixer) sum(w []float64) (*Matrix, error) {
	var s kernel.Sum
	for k, x := range m.parts {
		if w[k] > 0 {
			s.Terms = append(s.Terms, kernel.Term{Weight: w[k], Factors: []kernel.Factor{{Kernel: x.Kernel}}})
		}
	}
	return m.graphs.Of(s)
}

// weights returns the weights of the kernels on the graphs outside the folds of a training set, which are
// learned once.
func (m Mixture) weights(ctx context.Context, t trainingSet) ([]float64, error) {
	if m.How == Weighted && m.shared != nil {
		return m.shared, nil
	}
	key := weighed{m.How, t.repeat, t.first, t.last}
	m.mu.Lock()
	w := m.learned[key]
	m.mu.Unlock()
	if w != nil {
		return w, nil
	}
	w, err := m.learn(ctx, t)
	if err == nil {
		m.mu.Lock()
		m.learned[key] = w
		m.mu.Unlock()
	}
	return w, err
}

// learn learns the weights of a training set.
func (m Mixture) learn(ctx context.Context, t trainingSet) ([]float64, error) {
	if m.How == MeanAll {
		n := len(m.parts)
		return slices.Repeat([]float64{1 / float64(n)}, n), nil
	}
	t = m.chooser.without(t.repeat, t.first, t.last)
	all := len(t.graphs)
	t.graphs = m.chooser.sample(t)
	errors, err := m.errors(ctx, t)
	if err != nil {
		return nil, err
	}
	w := m.weigh(errors, len(t.graphs))
	if all == len(t.graphs) || m.How == MeanBest {
		return w, nil
	}
	var few []float64
	if m.chooser.Targets.Regression() || all > affordable {
		few = m.cheapWeights()
	}
	return m.fewer(few, w, func(w []float64) ([]float64, error) { return m.losses(ctx, t, w) })
}

// weigh returns the weights that the errors of the kernels for n graphs give.
func (m Mixture) weigh(errors []Errors, n int) []float64 {
	if m.How == MeanBest {
		return bestWeights(errors)
	}
	return m.alike(errorWeights(errors, -m.power(n)))
}

// alike returns the weights of the faint kernels or of the others, whichever weigh more together, as shares.
func (m *Mixer) alike(w []float64) []float64 {
	faint := 0.0
	for k, x := range m.parts {
		if x.Faint {
			faint += w[k]
		}
	}
	if faint == 0 {
		return w
	}
	keep, sum := faint > 0.5, faint
	if !keep {
		sum = 1 - faint
	}
	for k, x := range m.parts {
		if w[k] /= sum; x.Faint != keep {
			w[k] = 0
		}
	}
	return w
}

// power returns the exponent of Weighted for n graphs, without its sign.
func (m *Mixer) power(n int) float64 {
	if m.chooser.Targets.Regression() {
		return float64(n) / valueScale
	}
	return max(leastPower, float64(n)/classScale)
}

// affordable is the largest number of graphs with classes for which the whole list is weighed. On Tox21,
// with 4000 molecules, the mean of the kernels that count has an AUC that is 0.006 lower
// (bench/runs/2026-11-18-engine). With more graphs the list takes too long.
const affordable = 8192

// fewer returns the weights few, if there are any, unless the sum with the weights many predicts
// better by more than two standard errors of the difference. Of many it leaves out what is not needed. losses
// returns what a sum loses by leave-one-out predictions.
func (m *Mixer) fewer(few, many []float64, losses func(w []float64) ([]float64, error)) ([]float64, error) {
	b, err := losses(many)
	if err != nil {
		return nil, err
	}
	if few != nil {
		a, err := losses(few)
		if err != nil {
			return nil, err
		}
		if more, deviation := difference(a, b); !(more > preferErrors*deviation) {
			return few, nil
		}
	}
	for w := many; ; {
		if w = m.without(w); w == nil {
			return many, nil
		}
		c, err := losses(w)
		if err != nil {
			return nil, err
		}
		if more, deviation := difference(c, b); more > deviation {
			return many, nil
		}
		many = w
	}
}

// difference returns the mean by which losses are larger than others, and its standard error.
func difference(a, b []float64) (mean, deviation float64) {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return metrics.Mean(d), standardError(d)
}

// losses returns those of leave-one-out predictions by a sum, with the ridge that loses least.
func (m *Mixer) losses(ctx context.Context, t trainingSet, w []float64) ([]float64, error) {
	x, err := m.sum(w)
	if err != nil {
		return nil, err
	}
	c := m.chooser
	predicted, err := x.leaveOneOut(ctx, t, c.Targets, c.Options.ridges())
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, p := range predicted {
		if loss := c.Targets.losses(t.graphs, p); out == nil || metrics.Mean(loss) < metrics.Mean(out) {
			out = loss
		}
	}
	return out, nil
}

// fewFactors is the number of factors of a sum that is small enough.
const fewFactors = 5

// without returns weights without the factor whose products weigh least together; nil if there are few.
func (m *Mixer) without(w []float64) []float64 {
	weight := map[string]float64{}
	for k, x := range m.parts {
		if w[k] > 0 {
			for _, f := range x.factors() {
				weight[f] += w[k]
			}
		}
	}
	if len(weight) <= fewFactors {
		return nil
	}
	names := slices.Sorted(maps.Keys(weight))
	least := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(weight[a], weight[b]) })
	out, sum := make([]float64, len(w)), 0.0
	for k, x := range m.parts {
		if w[k] > 0 && !slices.Contains(x.factors(), least) {
			out[k] = w[k]
			sum += w[k]
		}
	}
	if sum == 0 {
		return nil
	}
	for k := range out {
		out[k] /= sum
	}
	return out
}

// losses returns what is lost by the predictions of a sample, graph by graph: minus the logarithm of the
// probability of the class after calibration, or the squared error of a value. Classes of which the
// sample has more or fewer graphs than all graphs have count less or more.
func (t *Targets) losses(examples []int, p HeldPredictions) []float64 {
	out := make([]float64, len(examples))
	if t.Regression() {
		for k, i := range examples {
			out[k] = (t.Values[i] - p.Values[k]) * (t.Values[i] - p.Values[k])
		}
		return out
	}
	truth := Pick(t.Labels, examples)
	probability := calibrated(learn.KernelRidge, truth, p).Scores
	all, here := t.counts(), make([]float64, len(t.Classes))
	for _, c := range truth {
		here[c]++
	}
	for k, c := range truth {
		weight := float64(all[c]) / float64(len(t.Labels)) * float64(len(examples)) / here[c]
		out[k] = -weight * math.Log(max(leastProbability, probability[k][c]))
	}
	return out
}

// preferErrors is the number of standard errors by which many kernels must be better than few.
const preferErrors = 2

// leastProbability bounds the loss of a prediction that is sure and wrong.
const leastProbability = 1e-9

// errors returns the leave-one-out errors of the kernels on a training set, each with the ridge that
// has the smallest squared one.
func (m *Mixer) errors(ctx context.Context, t trainingSet) ([]Errors, error) {
	out := make([]Errors, len(m.parts))
	for k := range out {
		errors, err := m.kernelErrors(ctx, k, t)
		if err != nil {
			return nil, err
		}
		out[k] = least(errors)
	}
	return out, nil
}

// least returns the errors of the ridge with the smallest squared one.
func least(errors []Errors) Errors {
	out := Errors{math.Inf(1), math.Inf(1)}
	for _, e := range errors {
		if e.Squared < out.Squared {
			out = e
		}
	}
	return out
}

// kernelErrors returns the errors of a kernel for each ridge: those that LeaveOneOut has found, or
// new ones.
func (m *Mixer) kernelErrors(ctx context.Context, k int, t trainingSet) ([]Errors, error) {
	c := m.chooser
	if c.Options.LeaveOneOut {
		return m.scores(k, t.repeat, t.first).Errors, nil
	}
	x, err := m.graphs.Of(m.parts[k].Kernel)
	if err != nil {
		return nil, err
	}
	predicted, err := x.leaveOneOut(ctx, t, c.Targets, c.Options.Ridge)
	if err != nil {
		return nil, err
	}
	return c.Targets.errors(t.graphs, predicted), nil
}

// cheapWeights returns the weights by Candidate.Share, which sum to 1, nil if there are none.
func (m *Mixer) cheapWeights() []float64 {
	w, n := make([]float64, len(m.parts)), 0.0
	for k, x := range m.parts {
		if w[k] = x.Share.Classes; m.chooser.Targets.Regression() {
			w[k] = x.Share.Values
		}
		n += w[k]
	}
	if n == 0 {
		return nil
	}
	for k := range w {
		w[k] /= n
	}
	return w
}

// bestWeights returns the weights of MeanBest.
func bestWeights(errors []Errors) []float64 {
	order := kernel.UpTo(len(errors))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(errors[a].product(), errors[b].product()) })
	order = order[:min(meanBest, len(order))]
	w := make([]float64, len(errors))
	for _, k := range order {
		w[k] = 1 / float64(len(order))
	}
	return w
}

// errorWeights returns the weights of Weighted.
func errorWeights(errors []Errors, exponent float64) []float64 {
	least := math.Inf(1)
	for _, e := range errors {
		least = min(least, e.product())
	}
	w := make([]float64, len(errors))
	sum := 0.0
	for k, e := range errors {
		w[k] = 1
		if product := e.product(); least > 0 && !math.IsInf(least, 1) {
			w[k] = math.Pow(product/least, exponent)
		} else if product > least {
			w[k] = 0
		}
		if w[k] < leastWeight {
			w[k] = 0
		}
		sum += w[k]
	}
	for k := range w {
		w[k] /= sum
	}
	return w
}
