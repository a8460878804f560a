package choose

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/svm"
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
	// Weights below a fiftieth of the largest become 0. With more than Options.Examples graphs, the mean
	// of the candidates with Counts takes the place of this sum, unless the sum predicts the sample
	// better by more than two standard errors. On samples, small differences between kernels are luck.
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
func (t *Targets) errors(examples []int, predicted []Prediction) []Errors {
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
	counts  []bool // by kernel: Candidate.Counts
	// matrix returns that of a kernel, and scores those of a kernel on the part without a fold.
	matrix func(ctx context.Context, kernel int) (*Matrix, error)
	scores func(kernel, repeat, fold int) *Scores

	mu       sync.Mutex
	matrices []*Matrix // as far as they were needed
}

// Mixer returns a mixer of some kernels, by their Candidate.Counts. It asks once for each matrix that has a weight. It asks
// for scores only with LeaveOneOut.
func (c *Chooser) Mixer(counts []bool, matrix func(ctx context.Context, kernel int) (*Matrix, error),
	scores func(kernel, repeat, fold int) *Scores) *Mixer {
	return &Mixer{chooser: c, counts: counts, matrix: matrix, scores: scores, matrices: make([]*Matrix, len(counts))}
}

// Mixture is a sum of kernels with the weights of a combination.
type Mixture struct {
	*Mixer
	How Combination
}

// On learns the weights on the training set and sums up.
func (m Mixture) On(ctx context.Context, t TrainingSet) (svm.View, func([]int) svm.View, error) {
	w, err := m.weights(ctx, t)
	if err != nil {
		return svm.View{}, nil, err
	}
	indefinite := false
	for k := range w {
		if w[k] > 0 {
			x, err := m.Load(ctx, k)
			if err != nil {
				return svm.View{}, nil, err
			}
			indefinite = indefinite || x.indefinite
		}
	}
	cross := func(rows []int) svm.View { return svm.Full(m.sum(w, rows, t.graphs)) }
	if indefinite {
		return clip(ctx, cross(t.graphs), cross)
	}
	return cross(t.graphs), cross, nil
}

// Self implements Gram: kernels that are summed are normalised, and weights sum to 1.
func (m Mixture) Self(graphs []int) []float64 { return slices.Repeat([]float64{1}, len(graphs)) }

// Weights returns the weights of the kernels on a part; they sum to 1.
func (m Mixture) Weights(ctx context.Context, p *TrainingPart) ([]float64, error) {
	return m.weights(ctx, m.chooser.without(p.Repeat, p.Fold, p.Fold))
}

// Load returns the matrix of a kernel, and keeps it.
func (m *Mixer) Load(ctx context.Context, k int) (*Matrix, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.matrices[k] == nil {
		var err error
		if m.matrices[k], err = m.matrix(ctx, k); err != nil {
			return nil, err
		}
	}
	return m.matrices[k], nil
}

// sum returns Σ_k w_k K_k on rows and columns.
func (m *Mixer) sum(w []float64, rows, cols []int) *kernel.Matrix {
	out := kernel.NewMatrix(len(rows), len(cols))
	for k, a := range w {
		if a == 0 {
			continue
		}
		x := m.matrices[k]
		at := x.at(cols)
		for i, r := range x.at(rows) {
			from, to := x.values.Row(r), out.Row(i)
			for j, c := range at {
				to[j] += a * from[c]
			}
		}
	}
	return out
}

// weights returns the weights of the kernels on the graphs outside the folds of a training set.
func (m Mixture) weights(ctx context.Context, t TrainingSet) ([]float64, error) {
	if m.How == MeanAll {
		n := len(m.matrices)
		return slices.Repeat([]float64{1 / float64(n)}, n), nil
	}
	t = m.chooser.without(t.repeat, t.first, t.last)
	all := len(t.graphs)
	t.graphs = m.chooser.sample(t)
	errors, err := m.errors(ctx, t)
	if err != nil {
		return nil, err
	}
	if m.How == MeanBest {
		return bestWeights(errors), nil
	}
	n := float64(len(t.graphs))
	power := max(leastPower, n/classScale)
	if m.chooser.Targets.Regression() {
		power = n / valueScale
	}
	w := errorWeights(errors, -power)
	if few := countWeights(m.counts); all > len(t.graphs) && few != nil {
		return m.prefer(ctx, t, few, w)
	}
	return w, nil
}

// prefer returns the weights few, unless the sum with the weights many predicts the graphs of a training
// set better by more than two standard errors of the difference, with leave-one-out.
func (m Mixture) prefer(ctx context.Context, t TrainingSet, few, many []float64) ([]float64, error) {
	c := m.chooser
	var losses [2][]float64
	for i, w := range [][]float64{few, many} {
		for k := range w {
			if w[k] > 0 {
				if _, err := m.Load(ctx, k); err != nil {
					return nil, err
				}
			}
		}
		gram := svm.Full(m.sum(w, t.graphs, t.graphs))
		predicted, err := c.Targets.leaveOneOut(ctx, gram, t.graphs, c.Options.ridges())
		if err != nil {
			return nil, err
		}
		best := math.Inf(1)
		for _, p := range predicted {
			if loss := c.Targets.losses(t.graphs, p); metrics.Mean(loss) < best {
				best, losses[i] = metrics.Mean(loss), loss
			}
		}
	}
	if losses[0] == nil || losses[1] == nil {
		return few, nil
	}
	for k := range losses[0] {
		losses[0][k] -= losses[1][k]
	}
	if metrics.Mean(losses[0]) > preferErrors*standardError(losses[0]) {
		return many, nil
	}
	return few, nil
}

// losses returns what is lost by the predictions of a sample, graph by graph: minus the logarithm of the
// probability of the class after calibration, or the squared error of a value. Classes of which the
// sample has more or fewer graphs than all graphs have count less or more.
func (t *Targets) losses(examples []int, p Prediction) []float64 {
	out := make([]float64, len(examples))
	if t.Regression() {
		for k, i := range examples {
			out[k] = (t.Values[i] - p.Values[k]) * (t.Values[i] - p.Values[k])
		}
		return out
	}
	truth := Pick(t.Labels, examples)
	probability := calibrated(truth, p).Scores
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
func (m *Mixer) errors(ctx context.Context, t TrainingSet) ([]Errors, error) {
	out := make([]Errors, len(m.matrices))
	for k := range out {
		errors, err := m.kernelErrors(ctx, k, t)
		if err != nil {
			return nil, err
		}
		out[k] = Errors{math.Inf(1), math.Inf(1)}
		for _, e := range errors {
			if e.Squared < out[k].Squared {
				out[k] = e
			}
		}
	}
	return out, nil
}

// kernelErrors returns the errors of a kernel for each ridge: those that LeaveOneOut has found, or
// new ones.
func (m *Mixer) kernelErrors(ctx context.Context, k int, t TrainingSet) ([]Errors, error) {
	c := m.chooser
	if c.Options.LeaveOneOut {
		return m.scores(k, t.repeat, t.first).Errors, nil
	}
	x, err := m.Load(ctx, k)
	if err != nil {
		return nil, err
	}
	gram, _, err := x.On(ctx, t)
	if err != nil {
		return nil, err
	}
	predicted, err := c.Targets.leaveOneOut(ctx, gram, t.graphs, c.Options.Ridge)
	if err != nil {
		return nil, err
	}
	return c.Targets.errors(t.graphs, predicted), nil
}

// countWeights returns equal weights for the kernels that count, nil if there are none.
func countWeights(counts []bool) []float64 {
	w, n := make([]float64, len(counts)), 0
	for _, in := range counts {
		if in {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for k, in := range counts {
		if in {
			w[k] = 1 / float64(n)
		}
	}
	return w
}

// bestWeights returns the weights of MeanBest.
func bestWeights(errors []Errors) []float64 {
	order := make([]int, len(errors))
	for k := range order {
		order[k] = k
	}
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
