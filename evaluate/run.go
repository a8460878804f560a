package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// Run evaluates candidates on a dataset. The report has one row for each candidate and each
// combination that the options ask for, and, always, the majority class (or mean value) and
// the kernel of label histograms. A candidate with the name "labels" takes its place;
// otherwise combinations do not use it.
//
// Kernels get the graphs without their targets. Every graph of the dataset needs a target.
func Run(ctx context.Context, d *dataset.Dataset, candidates []Candidate, o Options) (*Report, error) {
	e, err := newEngine(d, candidates, &o)
	if err != nil {
		return nil, err
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.report(), nil
}

// run evaluates all methods.
func (e *engine) run(ctx context.Context) error {
	e.total = len(e.methods)*e.splits.Repeats()*e.splits.Folds + e.finalSteps()
	if e.o.Fitting == Inductive {
		return e.inductive(ctx)
	}
	return e.transductive(ctx)
}

// engine is one run.
type engine struct {
	o          *Options
	data       *dataset.Dataset
	info       dataset.Summary
	graphs     []*graph.Graph // without targets
	targets    *targets
	splits     *Splits
	candidates []Candidate
	settings   []namedSetting
	// first is the first setting that combinations use: the label histogram that Run adds
	// comes before it.
	first     int
	store     *store
	finalists int // settings that are scored again, at most
	pool      pool

	mu          sync.Mutex
	done, total int // steps of progress
	// samples by repeat and fold, where LeaveOneOut scores a part of the training graphs only
	samples map[[2]int][]int
	// results by method (settings, then averages, then learned combinations), repeat and fold
	results [][][]foldResult
	methods []method
}

// namedSetting is a setting with the candidate it belongs to.
type namedSetting struct {
	Setting
	candidate int
}

// method is a setting or a learned combination: what has results of its own.
type method struct {
	name, parameters string
	kernel           mlg.Kernel // of a setting, nil for a combination
	combination      Combination
	of               []int // the settings that are combined
	average          bool  // of one candidate

	kernelSeconds, learnSeconds float64
}

func newEngine(d *dataset.Dataset, candidates []Candidate, o *Options) (*engine, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	e := &engine{o: o, data: d, info: dataset.Info(d), pool: make(pool, o.Workers), finalists: finalists, samples: map[[2]int][]int{}}
	for _, g := range d.Graphs {
		e.graphs = append(e.graphs, g.With(g.ID(), ""))
	}
	var err error
	if e.targets, err = readTargets(d, e.info, o.Task); err != nil {
		return nil, err
	}
	if e.targets.regression() && o.Selection == OnReported {
		return nil, errors.New("evaluate: Selection = OnReported is for classification only")
	}
	if e.splits = o.Splits; e.splits != nil {
		err = e.splits.Validate(len(e.graphs))
	} else if e.targets.regression() {
		e.splits, err = ValueSplits(e.targets.values, o.Folds, o.Repeats, o.Seed)
	} else {
		e.splits, err = StratifiedSplits(e.targets.labels, o.Folds, o.Repeats, o.Seed)
	}
	if err != nil {
		return nil, err
	}
	if e.splits.Folds < 3 && o.Selection == Nested && o.Inner != LeaveOneOut {
		return nil, fmt.Errorf("%d folds leave one for training when one validates, want at least 3 or leave-one-out", e.splits.Folds)
	}
	histogram := LabelHistogram(e.info)
	e.candidates = []Candidate{histogram}
	e.first = len(histogram.Settings)
	names := map[string]bool{majorityName: true}
	for _, c := range candidates {
		if c.Name == histogram.Name {
			e.candidates[0], e.first = c, 0
			continue
		}
		e.candidates = append(e.candidates, c)
	}
	for i, c := range e.candidates {
		if c.Name == "" || names[c.Name] {
			return nil, fmt.Errorf("candidate %d has the name %q, want a name of its own", i, c.Name)
		}
		names[c.Name] = true
		if len(c.Settings) == 0 {
			return nil, fmt.Errorf("candidate %s has no settings", c.Name)
		}
		for _, s := range c.Settings {
			e.settings = append(e.settings, namedSetting{s, i})
			e.methods = append(e.methods, method{name: c.Name, parameters: s.Parameters, kernel: s.Kernel})
		}
	}
	for i, c := range e.candidates {
		if o.Averages && len(c.Settings) > bestFew {
			m := method{name: c.Name + ", ten best", parameters: "mean of ten", combination: BestFew, of: e.settingsOf(i), average: true}
			if names[m.name] {
				return nil, fmt.Errorf("candidate %s has the name of the average of %s", m.name, c.Name)
			}
			names[m.name] = true
			e.methods = append(e.methods, m)
		}
	}
	if len(o.Combinations) > 0 && e.first == len(e.settings) {
		return nil, errors.New("no candidates to combine")
	}
	for _, c := range o.Combinations {
		if names[c.String()] {
			return nil, fmt.Errorf("combination %s has the name of another row", c)
		}
		names[c.String()] = true
		if c.learned() {
			e.methods = append(e.methods, method{name: c.String(), parameters: c.String(), combination: c, of: e.combined()})
		}
	}
	for range e.methods {
		rows := make([][]foldResult, e.splits.Repeats())
		for r := range rows {
			rows[r] = make([]foldResult, e.splits.Folds)
		}
		e.results = append(e.results, rows)
	}
	if o.Folder != "" {
		if e.store, err = newStore(e, o.Folder); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// settingsOf returns the settings of a candidate.
func (e *engine) settingsOf(candidate int) []int {
	var out []int
	for m, s := range e.settings {
		if s.candidate == candidate {
			out = append(out, m)
		}
	}
	return out
}

// combined returns the settings that combinations use.
func (e *engine) combined() []int {
	var out []int
	for m := e.first; m < len(e.settings); m++ {
		out = append(out, m)
	}
	return out
}

// readTargets turns the texts of the targets into class numbers or values. Classes are in
// the order of their values if all are numbers, else in that of their names.
func readTargets(d *dataset.Dataset, info dataset.Summary, task Task) (*targets, error) {
	if len(d.Graphs) == 0 {
		return nil, errors.New("no graphs")
	}
	regression := task == Regression || task == AutoTask && info.TargetRange != nil
	numbers := make(map[string]float64)
	numeric := true
	for i, g := range d.Graphs {
		t := g.Target()
		if t == "" {
			return nil, fmt.Errorf("graph %d (%s) has no target, want one for every graph", i, g.ID())
		}
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			if regression {
				return nil, fmt.Errorf("graph %d (%s): target %q, want a finite number for regression", i, g.ID(), t)
			}
			numeric = false
		}
		numbers[t] = x
	}
	t := &targets{}
	if regression {
		for _, g := range d.Graphs {
			t.values = append(t.values, numbers[g.Target()])
		}
		return t, nil
	}
	for name := range numbers {
		t.classes = append(t.classes, name)
	}
	slices.SortFunc(t.classes, func(a, b string) int {
		if numeric {
			return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
	if len(t.classes) < 2 {
		return nil, fmt.Errorf("all graphs have the target %q, want at least two classes", t.classes[0])
	}
	at := make(map[string]int)
	for c, name := range t.classes {
		at[name] = c
	}
	for _, g := range d.Graphs {
		t.labels = append(t.labels, at[g.Target()])
	}
	return t, nil
}

// transductive computes one kernel matrix per setting, evaluates it on all folds, and keeps
// it only if combinations need it.
func (e *engine) transductive(ctx context.Context) error {
	all := make([]int, e.splits.Folds)
	for f := range all {
		all[f] = f
	}
	units := func(m int, parts []part, s func() (source, error)) error {
		missing, err := e.load(m, parts)
		if err != nil || len(missing) == 0 {
			return err
		}
		var spent seconds
		start := e.clock()
		src, err := s()
		if err != nil {
			return err
		}
		spent.kernel = e.clock() - start
		if x, ok := src.(fixed); ok && missing[0].final {
			if src, spent.learn, err = e.invert(ctx, m, x, parts, missing); err != nil {
				return fmt.Errorf("%s %s: %w", e.methods[m].name, e.methods[m].parameters, err)
			}
		}
		return concurrently(len(missing), func(k int) error {
			if k > 0 {
				return e.compute(ctx, m, src, missing[k], seconds{})
			}
			return e.compute(ctx, m, src, missing[k], spent)
		})
	}
	matrices := make([]*mlg.Matrix, len(e.settings))
	matrix := func(i int) (*mlg.Matrix, error) {
		if matrices[i] != nil {
			return matrices[i], nil
		}
		k, err := e.gram(ctx, e.methods[i].kernel)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.methods[i].parameters, err)
		}
		return k, nil
	}
	keep := slices.ContainsFunc(e.o.Combinations, Combination.learned)
	setting := func(i int) func() (source, error) {
		return func() (source, error) {
			k, err := matrix(i)
			if err != nil {
				return nil, err
			}
			if keep && i >= e.first {
				matrices[i] = k
			}
			return fixed{m: k, clip: !semidefinite(e.methods[i].kernel)}, nil
		}
	}
	for i := range e.settings {
		if err := units(i, e.parts(all), setting(i)); err != nil {
			return err
		}
	}
	for _, of := range e.families() {
		parts := e.finalParts(of)
		for _, i := range of {
			if err := units(i, parts[i], setting(i)); err != nil {
				return err
			}
		}
	}
	unit := func(i int) (*mlg.Matrix, error) {
		k, err := matrix(i)
		if err != nil {
			return nil, err
		}
		return k, unitDiagonal(k, e.methods[i].parameters)
	}
	var mix *mixer // of all combinations
	for m := len(e.settings); m < len(e.methods); m++ {
		x := &e.methods[m]
		parts := e.parts(all)
		err := units(m, parts, func() (source, error) {
			if x.average {
				own := newMixer(e, x.of)
				return own.of(BestFew), own.fill(ctx, true, parts, unit)
			}
			if mix == nil {
				mix = newMixer(e, x.of)
				if err := mix.fill(ctx, false, nil, unit); err != nil {
					return nil, err
				}
			}
			return mix.of(x.combination), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gram fits a kernel to all graphs.
func (e *engine) gram(ctx context.Context, k mlg.Kernel) (*mlg.Matrix, error) {
	f, err := k.Fit(ctx, e.graphs)
	if err != nil {
		return nil, err
	}
	return f.Gram(ctx)
}

// inductive goes through the folds, as many at a time as there are workers, and fits every
// kernel to the training part.
func (e *engine) inductive(ctx context.Context) error {
	folds := e.splits.Folds
	single := make([][]int, folds)
	for f := range single {
		single[f] = []int{f}
	}
	missing := make(map[[2]int][]int) // by repeat and fold: methods
	for m := range e.methods {
		parts, err := e.load(m, e.parts(single...))
		if err != nil {
			return err
		}
		for _, p := range parts {
			key := [2]int{p.repeat, p.folds[0]}
			missing[key] = append(missing[key], m)
		}
	}
	lanes := make(pool, e.o.Workers)
	return lanes.each(ctx, e.splits.Repeats()*folds, func(i int) error {
		p := part{repeat: i / folds, folds: single[i%folds]}
		return e.fold(ctx, p, missing[[2]int{p.repeat, p.folds[0]}])
	})
}

// fold evaluates methods on one outer fold, fitting to its training part.
func (e *engine) fold(ctx context.Context, p part, methods []int) error {
	matrices := make([]*mlg.Matrix, len(e.settings))
	combined := slices.ContainsFunc(methods, func(m int) bool { return m >= len(e.settings) && !e.methods[m].average })
	unit := func(i int) (*mlg.Matrix, error) {
		if matrices[i] != nil {
			return matrices[i], nil
		}
		k, err := e.fitted(ctx, e.methods[i].kernel, p, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.methods[i].parameters, err)
		}
		return k, nil
	}
	var mix *mixer // of all combinations
	for m := range e.methods {
		wanted := slices.Contains(methods, m)
		if x := &e.methods[m]; m >= len(e.settings) {
			if !wanted {
				continue
			}
			start := e.clock()
			own := mix
			if own == nil || x.average {
				own = newMixer(e, x.of)
				if err := own.fill(ctx, x.average, []part{p}, unit); err != nil {
					return err
				}
			}
			if !x.average {
				mix = own
			}
			if err := e.compute(ctx, m, own.of(x.combination), p, seconds{kernel: e.clock() - start}); err != nil {
				return err
			}
			continue
		}
		used := combined && m >= e.first
		if !wanted && !used {
			continue
		}
		start := e.clock()
		k, err := e.fitted(ctx, e.methods[m].kernel, p, used)
		if err != nil {
			return fmt.Errorf("%s: %w", e.methods[m].parameters, err)
		}
		spent := seconds{kernel: e.clock() - start}
		if used {
			matrices[m] = k
		}
		if wanted {
			if err := e.compute(ctx, m, fixed{m: k, clip: !semidefinite(e.methods[m].kernel)}, p, spent); err != nil {
				return err
			}
		}
	}
	p.final = true
	for _, of := range e.families() {
		for _, m := range e.finalistsOf(of, p.repeat, p.folds[0]) {
			missing, err := e.load(m, []part{p})
			if err != nil {
				return err
			}
			if missing == nil {
				continue
			}
			start := e.clock()
			k, err := e.fitted(ctx, e.methods[m].kernel, p, false)
			if err != nil {
				return fmt.Errorf("%s: %w", e.methods[m].parameters, err)
			}
			if err := e.compute(ctx, m, fixed{m: k, clip: !semidefinite(e.methods[m].kernel)}, p, seconds{kernel: e.clock() - start}); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitted fits a kernel to the training part of a fold and returns the matrix between all
// graphs and those of the training part; columns of test graphs are NaN, so that nothing
// can be learned from them.
func (e *engine) fitted(ctx context.Context, k mlg.Kernel, p part, unit bool) (*mlg.Matrix, error) {
	train, test := e.splits.Without(p.repeat, p.folds...), e.splits.Test(p.repeat, p.folds[0])
	f, err := k.Fit(ctx, pick(e.graphs, train))
	if err != nil {
		return nil, err
	}
	gram, err := f.Gram(ctx)
	if err != nil {
		return nil, err
	}
	if unit {
		if err := unitDiagonal(gram, k.String()); err != nil {
			return nil, err
		}
	}
	cross, err := f.Cross(ctx, pick(e.graphs, test))
	if err != nil {
		return nil, err
	}
	n := len(e.graphs)
	out := mlg.NewMatrix(n, n)
	for i := range out.Data {
		out.Data[i] = math.NaN()
	}
	scatter := func(rows []int, m *mlg.Matrix) {
		for a, i := range rows {
			row, from := out.Row(i), m.Row(a)
			for b, j := range train {
				row[j] = from[b]
			}
		}
	}
	scatter(train, gram)
	scatter(test, cross)
	return out, nil
}

// part is some outer folds of a repeat, for which a setting is evaluated or, as a finalist, scored
// again.
type part struct {
	repeat int
	folds  []int
	final  bool
}

// parts returns groups of folds in every repeat.
func (e *engine) parts(groups ...[]int) []part {
	var out []part
	for r := range e.splits.Repeats() {
		for _, folds := range groups {
			out = append(out, part{repeat: r, folds: folds})
		}
	}
	return out
}

// finalParts returns, for each setting of a family, the folds for which it is a finalist.
func (e *engine) finalParts(of []int) map[int][]part {
	out := map[int][]part{}
	for r := range e.splits.Repeats() {
		folds := map[int][]int{}
		for f := range e.splits.Folds {
			for _, m := range e.finalistsOf(of, r, f) {
				folds[m] = append(folds[m], f)
			}
		}
		for m, f := range folds {
			out[m] = append(out[m], part{r, f, true})
		}
	}
	return out
}

// load takes what is stored of a method and returns the parts that are not.
func (e *engine) load(m int, parts []part) (missing []part, err error) {
	for _, p := range parts {
		u, err := e.store.read(e, m, p)
		if err != nil {
			return nil, err
		}
		if u == nil {
			missing = append(missing, p)
			continue
		}
		e.accept(m, p, u)
	}
	return missing, nil
}

// seconds is the time that kernel matrices and trainings took.
type seconds struct{ kernel, learn float64 }

// compute evaluates a method on a part, stores and accepts the result. spent is the time that was
// spent on it before.
func (e *engine) compute(ctx context.Context, m int, s source, p part, spent seconds) error {
	u := &storedUnit{KernelSeconds: spent.kernel, LearnSeconds: spent.learn}
	if err := e.unit(ctx, m, s, p, u); err != nil {
		return fmt.Errorf("%s %s: %w", e.methods[m].name, e.methods[m].parameters, err)
	}
	if err := e.store.write(ctx, e, m, p, u); err != nil {
		return err
	}
	e.accept(m, p, u)
	return nil
}

// accept takes the results of a part.
func (e *engine) accept(m int, p part, u *storedUnit) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range u.Results {
		e.results[m][p.repeat][r.Fold] = r
	}
	e.methods[m].kernelSeconds += u.KernelSeconds
	e.methods[m].learnSeconds += u.LearnSeconds
	for _, f := range p.folds {
		if p.final {
			e.done += e.steps(p.repeat, f)
		} else {
			e.done++
		}
	}
	if e.o.Progress != nil {
		e.o.Progress(e.done, e.total)
	}
}

// clock returns seconds.
func (e *engine) clock() float64 {
	if e.o.Clock == nil {
		return 0
	}
	return float64(e.o.Clock()) / float64(time.Second)
}

// concurrently calls f(0) … f(n-1), all at a time, and returns the error of the smallest i.
func concurrently(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
