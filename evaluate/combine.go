package evaluate

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/svm"
)

// Combination is a way to use all settings of all candidates together. Weights and choices
// are made on the training part alone. Kernels must have a unit diagonal.
type Combination int

const (
	// BestSingle takes the one setting with the best inner score.
	BestSingle Combination = iota
	// MeanAll is the mean of all kernels.
	MeanAll
	// BestFew is the mean of the ten kernels with the smallest e_k r_k, errors of leave-one-out
	// predictions as in Weighted.
	BestFew
	// Alignment weighs the kernels so that their sum is as close as possible to the
	// similarity of the targets: with centred kernel matrices K_k and Y,
	//
	//	minimise   |Σ_k v_k K_k − Y|²   subject to   v ≥ 0,
	//
	// where Y is Σ_c z_c z_cᵀ over the classes for z = ±1, or zzᵀ for values (Cortes, Mohri &
	// Rostamizadeh, Algorithms for learning kernels based on centered alignment, 2012).
	Alignment
	// Weighted weighs each kernel by its leave-one-out predictions in kernel ridge regression:
	// by their squared error e_k and the share r_k of graphs that get a wrong class (for values
	// e_k again), n being the number of graphs that are predicted,
	//
	//	w_k ∝ (e_k r_k)^(−(n/150)²).
	//
	// Weights below a fiftieth of the largest become 0.
	Weighted
)

var combinationNames = []string{"best single", "mean of all", "mean of best", "alignment", "weighted"}

func (c Combination) String() string { return nameOf(combinationNames, int(c)) }

// ParseCombination is the inverse of Combination.String.
func ParseCombination(s string) (Combination, error) {
	return parse[Combination](combinationNames, s, "combination")
}

// DefaultCombinations returns the ways to combine that are used with DefaultCandidates.
func DefaultCombinations() []Combination {
	return []Combination{BestSingle, MeanAll, Weighted}
}

// learned reports whether a combination has a kernel of its own, which needs trainings.
func (c Combination) learned() bool { return c != BestSingle }

const (
	weightScale = 150  // number of graphs for which Weighted has the exponent −1
	leastWeight = 0.02 // of the largest, that Weighted keeps
	bestFew     = 10   // kernels of BestFew
)

// mixer learns weights of kernels on training parts.
type mixer struct {
	e        *engine
	settings []int         // the methods whose kernels are mixed
	matrices []*mlg.Matrix // of these; nil where BestFew of known errors does not take it
	clip     bool          // some kernel is not positive semi-definite

	mu    sync.Mutex
	parts map[[3]int]*mixedPart // by repeat and left-out folds
}

// mixedPart holds what is learned on one training part.
type mixedPart struct {
	mu      sync.Mutex
	weights map[Combination][]float64
	// sample is the part of the training graphs from which weights are learned.
	sample []int
	errors []looError // of the kernels

	repeat int
	folds  []int
}

// newMixer returns a mixer of settings without their matrices.
func newMixer(e *engine, settings []int) *mixer {
	clip := slices.ContainsFunc(settings, func(m int) bool { return !semidefinite(e.methods[m].kernel) })
	return &mixer{e: e, settings: settings, matrices: make([]*mlg.Matrix, len(settings)), clip: clip, parts: map[[3]int]*mixedPart{}}
}

// of returns a combination as a source.
func (m *mixer) of(c Combination) source { return mixture{m, c} }

type mixture struct {
	*mixer
	how Combination
}

func (s mixture) part(ctx context.Context, repeat int, folds []int, train []int) (svm.View, func([]int) svm.View, error) {
	w, err := s.weights(ctx, s.how, repeat, folds, train)
	if err != nil {
		return svm.View{}, nil, err
	}
	cross := func(rows []int) svm.View { return svm.Full(s.mean(w, rows, train)) }
	gram := cross(train)
	if s.clip {
		return clipped(ctx, gram, cross)
	}
	return gram, cross, nil
}

// fill gets the matrices of kernels: of all, or of those that an average takes for some of the parts.
func (m *mixer) fill(ctx context.Context, average bool, parts []part, matrix func(setting int) (*mlg.Matrix, error)) error {
	taken := slices.Repeat([]bool{!average}, len(m.settings))
	if average {
		for _, p := range parts {
			for _, f := range p.folds {
				w, err := m.weights(ctx, BestFew, p.repeat, []int{f}, m.e.splits.Without(p.repeat, f))
				if err != nil {
					return err
				}
				for k, x := range w {
					taken[k] = taken[k] || x > 0
				}
			}
		}
	}
	for k, i := range m.settings {
		if !taken[k] {
			continue
		}
		var err error
		if m.matrices[k], err = matrix(i); err != nil {
			return err
		}
	}
	return nil
}

// mean returns Σ_k w_k K_k on rows and columns.
func (m *mixer) mean(w []float64, rows, cols []int) *mlg.Matrix {
	out := mlg.NewMatrix(len(rows), len(cols))
	for k, a := range w {
		if a == 0 {
			continue
		}
		for i, r := range rows {
			from, to := m.matrices[k].Row(r), out.Row(i)
			for j, c := range cols {
				to[j] += a * from[c]
			}
		}
	}
	return out
}

// weights returns the weights of the kernels for a training part; they sum to 1.
func (m *mixer) weights(ctx context.Context, how Combination, repeat int, folds, train []int) ([]float64, error) {
	key := [3]int{repeat, folds[0], folds[len(folds)-1]}
	m.mu.Lock()
	p := m.parts[key]
	if p == nil {
		p = &mixedPart{weights: map[Combination][]float64{}, sample: m.e.sample(repeat, folds, train), repeat: repeat, folds: folds}
		m.parts[key] = p
	}
	m.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if w, ok := p.weights[how]; ok {
		return w, nil
	}
	w, err := m.learn(ctx, how, p)
	if err == nil {
		p.weights[how] = w
	}
	return w, err
}

// learn returns the weights for a part.
func (m *mixer) learn(ctx context.Context, how Combination, p *mixedPart) ([]float64, error) {
	w := make([]float64, len(m.matrices))
	var err error
	switch how {
	case MeanAll:
		for k := range w {
			w[k] = 1 / float64(len(w))
		}
	case Alignment:
		m.align(p, w)
	case BestFew:
		err = m.few(ctx, p, w)
	case Weighted:
		err = m.weigh(ctx, p, w)
	}
	return w, err
}

// looError is what leave-one-out predictions of a kernel miss.
type looError struct {
	// Squared is the error, mean over the graphs; summed over classes with targets ±1.
	Squared float64 `json:"squared"`
	// Wrong is the share of graphs with a wrong class, as if there were one more of them; for values Squared.
	Wrong float64 `json:"wrong"`
}

// product is what kernels are compared by.
func (e looError) product() float64 { return e.Squared * e.Wrong }

// missed returns the errors of leave-one-out predictions of examples.
func (t *targets) missed(examples []int, predicted []prediction) []looError {
	out := make([]looError, len(predicted))
	for c, p := range predicted {
		e := -t.score(Squared, examples, p)
		if out[c] = (looError{e, e}); !t.regression() {
			n := float64(len(examples))
			out[c].Wrong = ((1-t.score(Accuracy, examples, p))*n + 1) / (n + 1)
		}
	}
	return out
}

// rank sets the leave-one-out errors of the kernels, with the ridge that has the smallest squared one, once for a part.
func (m *mixer) rank(ctx context.Context, p *mixedPart) error {
	if p.errors != nil {
		return nil
	}
	var errors []looError
	for k := range m.settings {
		var missed []looError
		if m.e.o.Inner == LeaveOneOut { // otherwise the fold may be another's, and in the making
			missed = m.e.results[m.settings[k]][p.repeat][p.folds[0]].Missed
		}
		if missed == nil {
			var err error
			if missed, err = m.leaveOneOut(ctx, svm.Full(m.matrices[k]).Select(p.sample, p.sample), p.sample); err != nil {
				return err
			}
		}
		least := looError{math.Inf(1), math.Inf(1)}
		for _, e := range missed {
			if e.Squared < least.Squared {
				least = e
			}
		}
		errors = append(errors, least)
	}
	p.errors = errors
	return nil
}

// sample returns at most Examples of the training graphs, each class in proportion,
// ascending.
func (e *engine) sample(repeat int, folds, train []int) []int {
	limit := e.o.Examples
	if len(train) <= limit {
		return train
	}
	random := rand.New(rand.NewPCG(e.splits.Seed, uint64(repeat*e.splits.Folds*e.splits.Folds+folds[0]*e.splits.Folds+folds[len(folds)-1])))
	shuffled := pick(train, random.Perm(len(train)))
	if !e.targets.regression() {
		slices.SortStableFunc(shuffled, func(a, b int) int { return cmp.Compare(e.targets.labels[a], e.targets.labels[b]) })
	}
	out := make([]int, limit)
	for k := range out { // every len/limit-th of the classes one after the other
		out[k] = shuffled[k*len(shuffled)/limit]
	}
	slices.Sort(out)
	return out
}

// leaveOneOut returns the errors of kernel ridge regression with the ridges of the options. A matrix
// that is not positive definite with a ridge does without it if some kernel is marked as indefinite.
func (m *mixer) leaveOneOut(ctx context.Context, gram svm.View, examples []int) ([]looError, error) {
	d, err := svm.Decompose(ctx, gram)
	if err != nil {
		return nil, err
	}
	var predicted []prediction
	for _, lambda := range m.e.o.Ridge {
		p, err := m.e.targets.leaveOneOut(ctx, fromDecomposition{d}, examples, []float64{lambda})
		if err != nil && !m.clip {
			return nil, err
		}
		predicted = append(predicted, p...)
	}
	return m.e.targets.missed(examples, predicted), nil
}

// columns returns targets as numbers: for two classes one column of ±1, for more one per
// class, for values the values.
func (t *targets) columns(examples []int) [][]float64 {
	if t.regression() {
		return [][]float64{pick(t.values, examples)}
	}
	out := make([][]float64, t.width())
	for c := range out {
		positive := c
		if len(out) == 1 {
			positive = 1
		}
		out[c] = make([]float64, len(examples))
		for k, i := range examples {
			out[c][k] = -1
			if t.labels[i] == positive {
				out[c][k] = 1
			}
		}
	}
	return out
}

// few sets the weights of BestFew.
func (m *mixer) few(ctx context.Context, p *mixedPart, w []float64) error {
	if err := m.rank(ctx, p); err != nil {
		return err
	}
	order := make([]int, len(w))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.errors[a].product(), p.errors[b].product()) })
	order = order[:min(bestFew, len(order))]
	for _, k := range order {
		w[k] = 1 / float64(len(order))
	}
	return nil
}

// weigh sets the weights of Weighted.
func (m *mixer) weigh(ctx context.Context, p *mixedPart, w []float64) error {
	if err := m.rank(ctx, p); err != nil {
		return err
	}
	least := math.Inf(1)
	for _, e := range p.errors {
		least = min(least, e.product())
	}
	exponent := -math.Pow(float64(len(p.sample))/weightScale, 2)
	sum := 0.0
	for k, e := range p.errors {
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
	return nil
}

// align sets the weights of Alignment.
func (m *mixer) align(p *mixedPart, w []float64) {
	n := len(p.sample)
	centred := make([]*mlg.Matrix, len(w))
	for k := range w {
		one := make([]float64, len(w))
		one[k] = 1
		centred[k] = m.mean(one, p.sample, p.sample)
		centre(centred[k])
	}
	y := mlg.NewMatrix(n, n)
	for _, z := range m.e.targets.columns(p.sample) {
		for i, a := range z {
			row := y.Row(i)
			for j, b := range z {
				row[j] += a * b
			}
		}
	}
	centre(y)
	a := make([]float64, len(w))
	gram := mlg.NewMatrix(len(w), len(w))
	for k := range w {
		a[k] = inner(centred[k], y)
		for l := range k + 1 {
			v := inner(centred[k], centred[l])
			gram.Set(k, l, v)
			gram.Set(l, k, v)
		}
	}
	v := nonNegative(gram, a)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	for k := range w {
		w[k] = 1 / float64(len(w)) // no kernel is aligned: all alike
		if sum > 0 {
			w[k] = v[k] / sum
		}
	}
}

// centre subtracts the means of rows and columns of a symmetric matrix.
func centre(m *mlg.Matrix) {
	n := m.Rows
	means := make([]float64, n)
	for i := range means {
		means[i] = mean(m.Row(i))
	}
	all := mean(means)
	for i := range n {
		row := m.Row(i)
		for j := range row {
			row[j] += all - means[i] - means[j]
		}
	}
}

func inner(a, b *mlg.Matrix) float64 {
	s := 0.0
	for i, v := range a.Data {
		s += v * b.Data[i]
	}
	return s
}

// nonNegative minimises vᵀMv − 2aᵀv over v ≥ 0 for a positive semi-definite M by coordinate
// descent, v_k = max(0, (a_k − Σ_{l≠k} M_kl v_l) / M_kk), until no coordinate changes by more
// than 1e-10 of the largest, or 10 000 sweeps, after which the weights of nearly equal
// kernels may still drift; their mean hardly changes then. Coordinates with M_kk = 0 stay 0.
func nonNegative(m *mlg.Matrix, a []float64) []float64 {
	v := make([]float64, len(a))
	const tolerance, sweeps = 1e-10, 10_000
	for range sweeps {
		change, size := 0.0, 0.0
		for k := range v {
			d := m.At(k, k)
			if !(d > 0) {
				continue
			}
			r := a[k]
			for l, x := range m.Row(k) {
				if l != k {
					r -= x * v[l]
				}
			}
			x := max(0, r/d)
			change = max(change, math.Abs(x-v[k]))
			size = max(size, x)
			v[k] = x
		}
		if change <= tolerance*size {
			break
		}
	}
	return v
}
