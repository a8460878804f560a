package explorer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
)

// The ways to leave graphs out: alone, or with all that share a scaffold or are alike.
var splitsOf = []string{"random", choose.ByScaffold, choose.ByCluster}

type trustRequest struct {
	By string `json:"by,omitempty" default:"random" want:"one of random scaffold cluster" help:"what was left out together: single graphs, molecules with one scaffold, or similar graphs"`
	kernelRequest
}

// partRequest is a trustRequest about some graphs.
type partRequest struct {
	By     string `json:"by,omitempty" default:"random" want:"one of random scaffold cluster" help:"as in trust"`
	Graphs []int  `json:"graphs" help:"positions in the data: what is said is about these alone; others count for training"`
	kernelRequest
}

const (
	leastTrusted = 10 // graphs

	trustBins   = 10
	curvePoints = 120
	mostCurves  = 12 // classes with curves, the most common ones
)

// trustAnswer says how far predictions can be trusted that learners made of graphs which they had not seen.
type trustAnswer struct {
	By          string       `json:"by"`
	Method      string       `json:"method" help:"how the predictions were made"`
	Note        string       `json:"note" help:"why there is nothing to say; otherwise empty"`
	Graphs      int          `json:"graphs"`
	Score       *float64     `json:"score" help:"root mean squared error of values, or share of right classes; null for none"`
	Usual       *float64     `json:"usual" help:"the same of the mean value, or of the largest class"`
	Coverage    []share      `json:"coverage" help:"of values: the share that lies in intervals of a probability"`
	Reliability []share      `json:"reliability" help:"of classes: how often a class is the true one, by its probability; each graph counts for every class"`
	Curves      []classCurve `json:"curves" help:"of classes: thresholds of the probability of a class, for the most common classes; of two classes only the smaller one"`
	Likeness    []errorBin   `json:"likeness" help:"errors by the similarity to the most similar graph in training"`
}

// share is what was expected and what was found.
type share struct {
	Expected float64 `json:"expected"`
	Found    float64 `json:"found"`
	Count    int     `json:"count"`
}

type classCurve struct {
	Class string  `json:"class"`
	Share float64 `json:"share" help:"of the graphs that are of the class"`
	AUC   float64 `json:"auc"`
	// Precision is averaged over thresholds.
	AveragePrecision float64        `json:"average_precision"`
	Curve            *metrics.Curve `json:"curve"`
}

// errorBin is about graphs that are about as similar to training.
type errorBin struct {
	Similarity float64 `json:"similarity" help:"mean"`
	Error      float64 `json:"error" help:"root mean squared error of values, or share of wrong classes"`
	Count      int     `json:"count"`
}

// tested are predictions of graphs that were left out in some way.
type tested struct {
	left
	note    string // why there are none
	method  string
	similar []float64 // of each graph to the most similar one in training
}

func getTrust(q *request, in *trustRequest) (*trustAnswer, error) {
	get := func(x *session, ctx context.Context) (*tested, error) { return x.tested(ctx, in.By) }
	return on(get, func(_ context.Context, _ *session, t *tested, _ *trustRequest) (*trustAnswer, error) {
		return t.answer(in.By), nil
	})(q, in)
}

// postTrust is getTrust for some graphs.
func postTrust(q *request, in *partRequest) (*trustAnswer, error) {
	if err := q.s.data.hasAll(in.Graphs); err != nil {
		return nil, err
	}
	get := func(x *session, ctx context.Context) (*tested, error) { return x.tested(ctx, in.By) }
	return on(get, func(_ context.Context, _ *session, t *tested, _ *partRequest) (*trustAnswer, error) {
		return t.among(in.Graphs).answer(in.By), nil
	})(q, in)
}

// among returns what is there of some graphs.
func (t *tested) among(graphs []int) *tested {
	if t.note != "" {
		return t
	}
	some, at := t.left.among(graphs)
	if len(at) < leastTrusted {
		return &tested{note: fmt.Sprintf("%d of these graphs have predictions, which are too few to judge them.", len(at))}
	}
	return &tested{left: *some, method: t.method, similar: choose.Pick(t.similar, at)}
}

// answer judges the predictions.
func (t *tested) answer(by string) *trustAnswer {
	out := &trustAnswer{By: by, Note: t.note, Method: t.method, Graphs: len(t.graphs), Coverage: []share{}, Reliability: []share{}, Curves: []classCurve{}, Likeness: []errorBin{}}
	if t.note == "" {
		out.judge(&t.targets, t.held, t.similar)
	}
	return out
}

// tested returns predictions where graphs were left out in some way.
func (x *session) tested(ctx context.Context, by string) (*tested, error) {
	t, err := x.trained(ctx)
	if err != nil {
		return nil, err
	}
	f, err := x.fitted(ctx)
	if err != nil {
		return nil, err
	}
	none := func(text string) (*tested, error) { return &tested{note: text}, nil }
	if t.plan == nil {
		return none("There are too few graphs with targets to test predictions.")
	}
	plan, held, groups := t.plan, t.plan.Held, (*choose.Groups)(nil)
	switch by {
	case choose.ByScaffold:
		if groups = plan.Targets.Groups; groups == nil || plan.GroupEstimate == nil {
			return none("There are too few scaffolds to leave whole ones out.")
		}
		held = plan.HeldGroups
	case choose.ByCluster:
		c, err := x.clustered(ctx, f, t)
		if err != nil {
			return nil, err
		}
		if c.plan == nil {
			return none("There are too few groups of similar graphs to leave whole ones out.")
		}
		plan, held, groups = c.plan, c.plan.HeldGroups, c.groups
	}
	return compute(ctx, x, &x.trusted[slices.Index(splitsOf, by)], "trust", func(ctx context.Context) (*tested, error) {
		out := &tested{left: left{t.known, plan.Targets, held}, method: t.plan.Estimates()[0].Method}
		if groups != nil {
			out.method = plan.GroupEstimate.Method
		}
		var err error
		out.similar, err = t.likeness(ctx, f, groups.Folds(x.learning().Seed))
		return out, err
	})
}

// clustering is what is predicted when groups of similar graphs are left out.
type clustering struct {
	plan   *choose.Plan // nil if there are too few
	groups *choose.Groups
}

// clustered leaves out groups of similar graphs. The kernel makes them.
func (x *session) clustered(ctx context.Context, f *fitted, t *training) (*clustering, error) {
	return compute(ctx, x, &x.clusters, "learn", func(ctx context.Context) (*clustering, error) {
		if len(t.known) < leastGrouped {
			return &clustering{}, nil
		}
		all, err := choose.Clusters(ctx, f.Kernel, clusterSample, groupFolds)
		if err != nil {
			return nil, err
		}
		groups, o := &choose.Groups{By: all.By, Of: choose.Pick(all.Of, t.known)}, x.learningKernel()
		if groups.Folds(o.Seed) == nil {
			return &clustering{}, nil
		}
		o.Groups = groups
		k := f.Kernel.Asked
		if f.whole() {
			k = kernel.Precomputed{Kernel: k, Matrix: f.among(t.known)}
		} else {
			o.Collection = f.Kernel.In.Derived(nil, t.known, false)
		}
		ds := &dataset.Dataset{Graphs: choose.Pick(t.Graphs, t.known)}
		plan, err := choose.Endpoint{Data: ds, Targets: &t.plan.Targets}.Choose(ctx, choose.Each(k), o.Options)
		if err != nil || plan.GroupEstimate == nil {
			return &clustering{}, err
		}
		return &clustering{plan, groups}, nil
	})
}

const (
	leastGrouped = 20 // graphs for groups
	groupFolds   = 5
)

// among returns the matrix of some graphs of the core.
func (f *fitted) among(graphs []int) *kernel.Matrix {
	at := make([]int, len(graphs))
	for k, i := range graphs {
		at[k], _ = slices.BinarySearch(f.core, i)
	}
	return f.gram.Select(at, at)
}

// likeness returns the largest similarity of each known graph to one in training: to those of other folds or, without folds,
// to all others.
func (t *training) likeness(ctx context.Context, f *fitted, folds []int) ([]float64, error) {
	all, err := f.Kernel.Train(ctx)
	if err != nil {
		return nil, err
	}
	some := all.Select(t.known)
	out := slices.Repeat([]float64{math.Inf(-1)}, len(t.known))
	var mu sync.Mutex
	return out, kernel.Blocks(ctx, f.Kernel, some, some, func(i0, j0 int, values *kernel.Matrix) error {
		rows, cols := slices.Repeat([]float64{math.Inf(-1)}, values.Rows), slices.Repeat([]float64{math.Inf(-1)}, values.Cols)
		for a := range rows {
			for b, v := range values.Row(a) {
				if i, j := i0+a, j0+b; i != j && (folds == nil || folds[i] != folds[j]) {
					rows[a], cols[b] = max(rows[a], v), max(cols[b], v)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for a, v := range rows {
			out[i0+a] = max(out[i0+a], v)
		}
		for b, v := range cols {
			out[j0+b] = max(out[j0+b], v)
		}
		return nil
	})
}

// judge compares predictions with what they were about. similar has the likeness of each graph to training.
func (a *trustAnswer) judge(t *choose.Targets, held choose.HeldPredictions, similar []float64) {
	var wrong []float64 // squared errors, or 1 for a wrong class
	if t.Values != nil {
		wrong = a.judgeValues(t, held)
	} else {
		wrong = a.judgeClasses(t, held)
	}
	root := func(sum float64, n int) float64 {
		if t.Values != nil {
			return math.Sqrt(sum / float64(n))
		}
		return sum / float64(n)
	}
	order := kernel.UpTo(len(similar))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(similar[i], similar[j]) })
	for b := range trustBins {
		some := order[b*len(order)/trustBins : (b+1)*len(order)/trustBins]
		if len(some) == 0 {
			continue
		}
		sum, like := 0.0, 0.0
		for _, i := range some {
			sum, like = sum+wrong[i], like+similar[i]
		}
		if like /= float64(len(some)); !math.IsInf(like, 0) {
			a.Likeness = append(a.Likeness, errorBin{like, root(sum, len(some)), len(some)})
		}
	}
}

// coverageLevels are the probabilities of intervals that are tested.
var coverageLevels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

func (a *trustAnswer) judgeValues(t *choose.Targets, held choose.HeldPredictions) []float64 {
	wrong := make([]float64, len(t.Values))
	for i, v := range t.Values {
		wrong[i] = (held.Values[i] - v) * (held.Values[i] - v)
	}
	error, usual := math.Sqrt(metrics.Mean(wrong)), metrics.Deviation(t.Values)
	a.Score, a.Usual = &error, &usual
	if held.Deviations != nil {
		for _, level := range coverageLevels {
			a.Coverage = append(a.Coverage, share{level, metrics.Covered(t.Values, held.Values, held.Deviations, level), len(t.Values)})
		}
	}
	return wrong
}

func (a *trustAnswer) judgeClasses(t *choose.Targets, held choose.HeldPredictions) []float64 {
	wrong := make([]float64, len(t.Labels))
	counts := make([]int, len(t.Classes))
	for i, c := range t.Labels {
		if counts[c]++; held.Labels[i] != c {
			wrong[i] = 1
		}
	}
	right, usual := 1-metrics.Mean(wrong), float64(slices.Max(counts))/float64(len(t.Labels))
	a.Score, a.Usual = &right, &usual
	if held.Scores == nil {
		return wrong
	}
	a.Reliability = reliability(t.Labels, held.Scores)
	classes := kernel.UpTo(len(counts))
	slices.SortStableFunc(classes, func(i, j int) int { return counts[j] - counts[i] })
	if len(classes) == 2 { // the curve of the other one is its mirror
		classes = classes[1:]
	}
	for _, c := range classes[:min(len(classes), mostCurves)] {
		positive, score := make([]bool, len(t.Labels)), make([]float64, len(t.Labels))
		for i, truth := range t.Labels {
			positive[i], score[i] = truth == c, held.Scores[i][c]
		}
		curve, ok := metrics.Thresholds(positive, score)
		if !ok {
			continue
		}
		auc, _ := metrics.AUC(positive, score)
		precision, _ := metrics.AveragePrecision(positive, score)
		a.Curves = append(a.Curves, classCurve{t.Classes[c], float64(counts[c]) / float64(len(t.Labels)), auc, precision, curve.Every(curvePoints)})
	}
	return wrong
}

// reliability says how often classes are the true ones, by their probabilities in tenths.
func reliability(truth []int, probabilities [][]float64) []share {
	var bins [trustBins]share
	for i, row := range probabilities {
		for c, p := range row {
			b := &bins[min(int(p*trustBins), trustBins-1)]
			b.Expected, b.Count = b.Expected+p, b.Count+1
			if truth[i] == c {
				b.Found++
			}
		}
	}
	out := []share{}
	for _, b := range bins {
		if b.Count > 0 {
			out = append(out, share{b.Expected / float64(b.Count), b.Found / float64(b.Count), b.Count})
		}
	}
	return out
}
