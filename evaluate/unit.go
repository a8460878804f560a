package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/svm"
)

// foldResult is what one kernel, or one combination of kernels, gives for one outer fold.
type foldResult struct {
	Fold int `json:"fold"`
	// Inner has the scores for each value of the learner's grid on each of the validators,
	// and Best is the position of the value with the largest mean, of equals that with the
	// strongest regularisation. Nested only.
	Inner [][]float64 `json:"inner,omitempty"`
	Best  int         `json:"best"`
	// Final is the score of a finalist on all training graphs.
	Final *float64 `json:"final,omitempty"`
	// Known has the scores as people know them: accuracies, or minus squared errors of values.
	Known [][]float64 `json:"known,omitempty"`
	// Missed has the errors of leave-one-out predictions for each value of the grid. LeaveOneOut only.
	Missed []looError `json:"missed,omitempty"`
	// Limited is the number of trainings for the fold that stopped at the limit of
	// iterations.
	Limited int `json:"limited,omitempty"`
	// Predictions for the test graphs of the fold, ascending, with the best value; nil for a
	// setting that another of its candidate beats.
	Labels []int     `json:"labels,omitempty"`
	Scores []float64 `json:"scores,omitempty"`
	Values []float64 `json:"values,omitempty"`
	// Confusions has the counts for each value of the grid. OnReported only.
	Confusions []Confusion `json:"confusions,omitempty"`
}

// count counts a training if it was limited.
func (r *foldResult) count(p []prediction) {
	if p[0].limited {
		r.Limited++
	}
}

// source gives the kernel matrices of training parts.
type source interface {
	// part returns the kernel matrix of the training graphs, which are all those outside
	// the given folds of a repeat, and a function that returns the matrix between other
	// graphs (rows) and them.
	part(ctx context.Context, repeat int, folds []int, train []int) (gram svm.View, cross func(rows []int) svm.View, err error)
}

// fixed is a source that slices a kernel matrix of all graphs. Columns of graphs that the
// kernel was not fitted to are NaN.
type fixed struct {
	m        *mlg.Matrix
	clip     bool                 // the kernel is not positive semi-definite
	inverses map[int]*svm.Inverse // for values of the grid, if any
}

func (s fixed) part(ctx context.Context, _ int, _ []int, train []int) (svm.View, func([]int) svm.View, error) {
	all := svm.Full(s.m)
	gram := all.Select(train, train)
	cross := func(rows []int) svm.View { return all.Select(rows, train) }
	if !s.clip {
		return gram, cross, nil
	}
	return clipped(ctx, gram, cross)
}

// clipped makes a training part positive semi-definite.
func clipped(ctx context.Context, gram svm.View, cross func([]int) svm.View) (svm.View, func([]int) svm.View, error) {
	c, err := svm.Clip(ctx, gram)
	if err != nil {
		return svm.View{}, nil, err
	}
	return svm.Full(c.Gram), func(rows []int) svm.View { return svm.Full(c.Map(cross(rows))) }, nil
}

// validation returns the folds on which the parameters for fold f are chosen. The relation
// is symmetric.
func validation(o *Options, folds, f int) []int {
	want := min(o.InnerFolds, folds-1)
	if o.Inner == HoldOut {
		want = 1
	}
	var out []int
	if want%2 == 1 && folds%2 == 0 {
		out = append(out, (f+folds/2)%folds)
	}
	for d := 1; len(out) < want; d++ {
		out = append(out, (f+d)%folds, (f-d+folds)%folds)
	}
	slices.Sort(out)
	return out
}

// unit evaluates a source on a part. Trainings go through the pool; LearnSeconds adds up how
// long each of them took.
func (e *engine) unit(ctx context.Context, m int, s source, p part, u *storedUnit) error {
	out := make([]foldResult, len(p.folds))
	for k, f := range p.folds {
		out[k].Fold = f
		if p.final {
			out[k] = e.results[m][p.repeat][f]
		}
	}
	u.Results = out
	var busy sync.Mutex
	each := func(n int, f func(k int) error) error {
		return e.pool.each(ctx, n, func(k int) error {
			start := e.clock()
			err := f(k)
			seconds := e.clock() - start
			busy.Lock()
			u.LearnSeconds += seconds
			busy.Unlock()
			return err
		})
	}
	repeat := p.repeat
	switch {
	case e.o.Selection == OnReported:
		return each(len(out), func(k int) error { return e.reported(ctx, s, repeat, &out[k]) })
	case p.final:
		return each(len(out), func(k int) error { return e.final(ctx, m, s, repeat, &out[k]) })
	case e.o.Inner == LeaveOneOut:
		return each(len(out), func(k int) error {
			if err := e.ridgeScores(ctx, s, repeat, &out[k]); err != nil {
				return err
			}
			if e.methods[m].average { // as its kernels were chosen
				products := make([]float64, len(out[k].Missed))
				for c, x := range out[k].Missed {
					products[c] = -x.product()
				}
				out[k].Best = e.o.best(products)
			}
			return e.test(ctx, m, s, repeat, &out[k])
		})
	}
	if err := e.foldScores(ctx, s, repeat, out, each); err != nil {
		return err
	}
	return each(len(out), func(k int) error { return e.test(ctx, m, s, repeat, &out[k]) })
}

// foldScores sets Inner and Best by KFold or HoldOut. One training without two folds serves
// both where both are asked for.
func (e *engine) foldScores(ctx context.Context, s source, repeat int, out []foldResult, each func(int, func(int) error) error) error {
	n := e.splits.Folds
	asked := make([]bool, n)
	for _, r := range out {
		asked[r.Fold] = true
	}
	type pair struct{ f, g int } // f < g
	var pairs []pair
	for f := range n {
		for _, g := range validation(e.o, n, f) {
			if f < g && (asked[f] || asked[g]) {
				pairs = append(pairs, pair{f, g})
			}
		}
	}
	grid := e.o.grid()
	// by pair: predictions of fold f and of fold g, each by grid value
	predicted := make([][2][]prediction, len(pairs))
	err := each(len(pairs), func(k int) error {
		f, g := pairs[k].f, pairs[k].g
		train := e.splits.Without(repeat, f, g)
		gram, cross, err := s.part(ctx, repeat, []int{f, g}, train)
		if err != nil {
			return err
		}
		var views []svm.View
		var sides []int
		for side, fold := range []int{f, g} {
			if other := []int{g, f}[side]; asked[other] { // the choice for the other fold
				views = append(views, cross(e.splits.Test(repeat, fold)))
				sides = append(sides, side)
			}
		}
		p, err := e.targets.learn(ctx, e.o, gram, train, grid, views)
		if err != nil {
			return fmt.Errorf("repeat %d, folds %d and %d left out: %w", repeat, f, g, err)
		}
		for i, side := range sides {
			predicted[k][side] = p[i]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k := range out {
		r := &out[k]
		r.Inner, r.Known = make([][]float64, len(grid)), make([][]float64, len(grid))
		for _, other := range e.validators(r.Fold) {
			i := slices.Index(pairs, pair{min(r.Fold, other), max(r.Fold, other)})
			side := 0
			if other > r.Fold {
				side = 1
			}
			examples := e.splits.Test(repeat, other)
			r.count(predicted[i][side])
			for c := range grid {
				e.note(r, c, examples, predicted[i][side][c])
			}
		}
		e.choose(repeat, r)
	}
	return nil
}

// tieBreak is the share of the squared error by which equal scores of leave-one-out predictions are told apart. On
// data that are easy to classify, all values of the grid may be right everywhere, and the smallest C, which
// suits a ridge, is of no use to a support vector machine.
const tieBreak = 1e-9

// score returns what the choice of parameters maximises.
func (e *engine) score(examples []int, p prediction) float64 {
	s := e.targets.score(e.o.Score, examples, p)
	if e.o.Inner == LeaveOneOut && e.o.Score != Squared && !e.targets.regression() {
		s += tieBreak * e.targets.score(Squared, examples, p)
	}
	return s
}

// note adds the score of predictions of a validator's examples with value c of the grid.
func (e *engine) note(r *foldResult, c int, examples []int, p prediction) {
	score, known := 0.0, 0.0
	if len(examples) > 0 { // otherwise none of the fold is in the sample: it has no weight
		how := e.o.Score
		if how == Squared {
			how = Accuracy
		}
		score, known = e.score(examples, p), e.targets.score(how, examples, p)
	}
	r.Inner[c] = append(r.Inner[c], score)
	r.Known[c] = append(r.Known[c], known)
}

// validators returns the folds whose scores make the choice for fold f: those that are
// predicted from the rest of the training part, or all others with LeaveOneOut.
func (e *engine) validators(f int) []int {
	if e.o.Inner == LeaveOneOut {
		o := Options{InnerFolds: math.MaxInt}
		return validation(&o, e.splits.Folds, f)
	}
	return validation(e.o, e.splits.Folds, f)
}

// choose sets Best.
func (e *engine) choose(repeat int, r *foldResult) {
	scores := make([]float64, len(r.Inner))
	weight := e.weights(repeat, r.Fold)
	for c, inner := range r.Inner {
		scores[c] = weighted(inner, weight)
	}
	r.Best = e.o.best(scores)
}

// weights returns the sizes of the validators of fold f.
func (e *engine) weights(repeat, f int) []float64 {
	var out []float64
	for _, g := range e.validators(f) {
		out = append(out, float64(len(e.scored(repeat, f, g))))
	}
	return out
}

// scored returns the examples of validator g that are scored for fold f.
func (e *engine) scored(repeat, f, g int) []int {
	test := e.splits.Test(repeat, g)
	if e.o.Inner != LeaveOneOut || e.training(repeat, f) <= e.o.Examples {
		return test
	}
	key := [2]int{repeat, f}
	e.mu.Lock()
	defer e.mu.Unlock()
	sample, ok := e.samples[key]
	if !ok {
		sample = e.sample(repeat, []int{f}, e.splits.Without(repeat, f))
		e.samples[key] = sample
	}
	return slices.DeleteFunc(test, func(i int) bool {
		_, in := slices.BinarySearch(sample, i)
		return !in
	})
}

// training returns the number of training graphs of a fold.
func (e *engine) training(repeat, f int) int {
	return len(e.graphs) - len(e.splits.Test(repeat, f))
}

// weighted returns the mean of scores with weights.
func weighted(scores, weight []float64) float64 {
	sum, total := 0.0, 0.0
	for i, w := range weight {
		sum += w * scores[i]
		total += w
	}
	return sum / total
}

// ridges returns the ridges that the values of the grid stand for.
func (e *engine) ridges() []float64 {
	out := slices.Clone(e.o.grid())
	if e.o.Learner == SVM {
		for i, c := range out {
			out[i] = 1 / (2 * c)
		}
	}
	return out
}

// ridgeScores sets Inner and Best by leave-one-out.
func (e *engine) ridgeScores(ctx context.Context, s source, repeat int, r *foldResult) error {
	train := e.sample(repeat, []int{r.Fold}, e.splits.Without(repeat, r.Fold))
	gram, _, err := s.part(ctx, repeat, []int{r.Fold}, train)
	if err != nil {
		return err
	}
	ridges := e.ridges()
	predicted, err := e.targets.leaveOneOut(ctx, fromGram{gram}, train, ridges)
	if err != nil {
		return fmt.Errorf("repeat %d, fold %d left out: %w", repeat, r.Fold, err)
	}
	r.Missed = e.targets.missed(train, predicted)
	r.Inner, r.Known = make([][]float64, len(ridges)), make([][]float64, len(ridges))
	for _, other := range e.validators(r.Fold) {
		examples := e.scored(repeat, r.Fold, other)
		at := make([]int, len(examples)) // their positions in train
		for k, i := range examples {
			at[k], _ = slices.BinarySearch(train, i)
		}
		for c, p := range predicted {
			part := prediction{}
			if e.targets.regression() {
				part.values = pick(p.values, at)
			} else {
				part.labels = pick(p.labels, at)
				if w := e.targets.width(); p.scores != nil {
					for _, k := range at {
						part.scores = append(part.scores, p.scores[k*w:(k+1)*w]...)
					}
				}
			}
			e.note(r, c, examples, part)
		}
	}
	e.choose(repeat, r)
	return nil
}

// leads reports whether the result of a method for a fold may be wanted: settings are evaluated in
// turn, and of those of one candidate, or of its finalists, the first with the best score is
// chosen.
func (e *engine) leads(m, repeat int, r *foldResult) bool {
	if m >= len(e.settings) {
		return true
	}
	score := (*foldResult).finalScore
	if r.Final == nil {
		if e.staged(m, repeat, r.Fold) {
			return false
		}
		weight := e.weights(repeat, r.Fold)
		score = func(x *foldResult) float64 {
			if x.Inner == nil { // not evaluated
				return math.Inf(-1)
			}
			return weighted(x.Inner[x.Best], weight)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for k := m - 1; k >= 0 && e.settings[k].candidate == e.settings[m].candidate; k-- {
		if score(&e.results[k][repeat][r.Fold]) >= score(r) {
			return false
		}
	}
	return true
}

// test trains on the whole training part with the best value and predicts the test fold, if the
// method leads.
func (e *engine) test(ctx context.Context, m int, s source, repeat int, r *foldResult) error {
	if !e.leads(m, repeat, r) {
		return nil
	}
	p, err := e.outer(ctx, s, repeat, r.Fold, e.o.grid()[r.Best:r.Best+1])
	if err != nil {
		return err
	}
	r.count(p)
	r.Labels, r.Scores, r.Values = p[0].labels, p[0].scores, p[0].values
	return nil
}

// reported predicts the test fold with every value of the grid.
func (e *engine) reported(ctx context.Context, s source, repeat int, r *foldResult) error {
	p, err := e.outer(ctx, s, repeat, r.Fold, e.o.grid())
	if err != nil {
		return err
	}
	r.count(p)
	truth := pick(e.targets.labels, e.splits.Test(repeat, r.Fold))
	for _, x := range p {
		r.Confusions = append(r.Confusions, NewConfusion(truth, x.labels, len(e.targets.classes)))
	}
	return nil
}

// outer trains on the training part of an outer fold and predicts the fold.
func (e *engine) outer(ctx context.Context, s source, repeat, f int, grid []float64) ([]prediction, error) {
	train := e.splits.Without(repeat, f)
	gram, cross, err := s.part(ctx, repeat, []int{f}, train)
	if err != nil {
		return nil, err
	}
	p, err := e.targets.learn(ctx, e.o, gram, train, grid, []svm.View{cross(e.splits.Test(repeat, f))})
	if err != nil {
		return nil, fmt.Errorf("repeat %d, fold %d left out: %w", repeat, f, err)
	}
	return p[0], nil
}

// best returns the position of the largest score of a grid: of equals the smallest C or the
// largest ridge.
func (o *Options) best(scores []float64) int {
	best := 0
	for i, v := range scores {
		if v > scores[best] || v == scores[best] && o.Learner == Ridge {
			best = i
		}
	}
	return best
}

// pool bounds how many pieces of work run at a time.
type pool chan struct{}

// each calls f(0) … f(n-1), as many at a time as the pool allows, and returns the error of
// the smallest i. After an error or the end of ctx no more are started.
func (p pool) each(ctx context.Context, n int, f func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		select {
		case p <- struct{}{}:
		case <-ctx.Done():
			errs[i] = context.Cause(ctx)
		}
		if errs[i] != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-p }()
			if err := f(i); err != nil {
				errs[i] = err
				cancel(err)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
