package evaluate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Run evaluates candidates on a dataset. The report has one row for each candidate and each
// combination that the options ask for, and, always, the majority class (or mean value) and
// the kernel of label histograms. A candidate with the name "labels" takes its place;
// otherwise combinations do not use it.
//
// Kernels get the graphs without their targets. Every graph of the dataset needs a target.
func Run(ctx context.Context, d *dataset.Dataset, candidates []choose.Candidate, o Options) (*Report, error) {
	e, err := newEvaluation(d, candidates, &o)
	if err != nil {
		return nil, err
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.report(), nil
}

// evaluation is one run.
type evaluation struct {
	choose.Chooser // of all training parts
	o              *Options
	data           *dataset.Dataset
	graphs         []*graph.Graph         // without targets
	parts          []*choose.TrainingPart // of the folds of all repeats
	settings       []*method              // kernels
	combined       []*method              // those of the settings that combinations use
	sums           []*method              // combinations that are sums of kernels
	rows           []reportRow            // of the report
	folder         *folder                // nil keeps nothing
	keep           bool                   // the matrices of factors

	mu    sync.Mutex  // of the times of methods
	meter *work.Meter // of all sessions, where kernels are fitted for each
}

// method is a kernel or a sum of kernels: what has results of its own.
type method struct {
	name, parameters string
	kernel           kernel.Kernel // nil for a sum
	// combination says how a sum weighs the kernels that are combined.
	combination choose.Combination
	share       choose.Share // choose.Candidate.Share
	faint       bool         // choose.Ingredient.Faint

	results []foldResult // by training part
	seconds
}

// seconds are the times that a method took.
type seconds struct {
	KernelSeconds float64 `json:"kernel_seconds"` // for fitting, and for the matrices that are kept
	LearnSeconds  float64 `json:"learn_seconds"`
}

// reportRow is a row of the report: the methods among which every fold chooses one.
type reportRow struct {
	name    string
	methods []*method
}

// newEvaluation checks what is to be evaluated. It deals the graphs to folds unless the options have some.
func newEvaluation(d *dataset.Dataset, candidates []choose.Candidate, o *Options) (*evaluation, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Memory = cmp.Or(o.Memory, work.Available())
	e := &evaluation{o: o, data: d, graphs: choose.Untargeted(d)}
	e.Options = &o.Options
	var err error
	if e.Targets, err = choose.ReadTargets(d, o.Task); err != nil {
		return nil, err
	}
	o.AddRidges(e.Targets, candidates)
	if o.Groups != nil {
		if len(o.Groups.Of) != len(d.Graphs) {
			return nil, fmt.Errorf("groups by %s of %d graphs, want %d", o.Groups.By, len(o.Groups.Of), len(d.Graphs))
		}
		e.Targets.Groups = o.Groups
	}
	if e.Targets.Regression() && o.OnReported {
		return nil, errors.New("parameters can be chosen on the reported folds for classes only, but the targets are values")
	}
	if e.Splits = o.Splits; o.Splits == nil {
		if e.Splits, err = e.Targets.Deal(o.Folds, o.Repeats, o.Seed); err != nil {
			return nil, err
		}
	}
	if n := len(e.Splits.Fold[0]); n != len(d.Graphs) {
		return nil, fmt.Errorf("splits for %d graphs, want %d as in the data", n, len(d.Graphs))
	}
	if !e.Splits.Tuned() && !o.OnReported && !o.LeaveOneOut {
		return nil, fmt.Errorf("the splits (%s) leave fewer than two folds to choose parameters on: %d in all, want at least 3 folds or leave-one-out",
			e.Splits.Scheme, e.Splits.Folds)
	}
	for repeat := range e.Splits.Repeats() {
		for f := range e.Splits.Folds {
			e.parts = append(e.parts, e.TrainingPart(repeat, f))
		}
	}
	if err := e.addMethods(candidates); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		e.folder, err = newFolder(e, o.Folder)
	}
	return e, err
}

// addMethods makes the methods and the rows of the report.
func (e *evaluation) addMethods(candidates []choose.Candidate) error {
	list := []choose.Candidate{choose.LabelHistogram()}
	added := true // the label histogram is not one of the candidates
	for _, c := range candidates {
		if c.Name == list[0].Name {
			list[0], added = c, false
		} else {
			list = append(list, c)
		}
	}
	for i, c := range list {
		settings := make([]*method, len(c.Settings))
		for k, s := range c.Settings {
			settings[k] = &method{name: c.Name, parameters: s.Parameters, kernel: s.Kernel, share: c.Share, faint: c.Ridges != nil}
		}
		combined := i > 0 || !added
		if !combined || !e.o.Combined || len(e.o.Combinations) == 0 {
			if err := e.addRow(c.Name, settings); err != nil {
				return err
			}
		}
		e.settings = append(e.settings, settings...)
		if combined {
			e.combined = append(e.combined, settings...)
		}
	}
	for _, how := range e.o.Combinations {
		if len(e.combined) == 0 {
			return errors.New("no candidates to combine")
		}
		methods := e.combined
		if how.Summed() {
			methods = []*method{{name: how.String(), parameters: how.String(), combination: how}}
			e.sums = append(e.sums, methods...)
			for _, m := range e.combined {
				if err := kernel.CheckNormalized(m.kernel); err != nil {
					return err
				}
			}
		}
		if err := e.addRow(how.String(), methods); err != nil {
			return err
		}
	}
	for _, m := range slices.Concat(e.settings, e.sums) {
		m.results = make([]foldResult, len(e.parts))
	}
	return nil
}

// addRow adds a row of the report.
func (e *evaluation) addRow(name string, methods []*method) error {
	if name == "" || name == majorityName || slices.ContainsFunc(e.rows, func(x reportRow) bool { return x.name == name }) {
		return fmt.Errorf("candidate or combination %q: the name is in use, want another one", name)
	}
	if len(methods) == 0 {
		return fmt.Errorf("candidate %s has no settings", name)
	}
	e.rows = append(e.rows, reportRow{name, methods})
	return nil
}

// run evaluates all methods.
func (e *evaluation) run(ctx context.Context) error {
	var kernels []kernel.Kernel
	for _, m := range e.settings {
		kernels = append(kernels, m.kernel)
	}
	e.keep = e.o.Keeps(len(e.graphs), kernel.Distinct(kernels...), work.Workers(ctx))
	if !e.o.Inductive {
		return e.session(e.parts, cmp.Or(e.o.Collection, kernel.NewCollection(e.graphs)), nil, nil).evaluate(ctx)
	}
	e.meter = work.NewMeter(ctx, "evaluate", len(e.parts)*(len(e.settings)+len(e.sums)+e.predictions()))
	return work.Tasks(ctx, len(e.parts), func(ctx context.Context, i int) error {
		p := e.parts[i]
		train, test := e.Splits.Without(p.Repeat, p.Fold), e.Splits.Test(p.Repeat, p.Fold)
		at := make([]int, len(e.graphs)) // graphs that are in neither get no place
		for k, g := range slices.Concat(train, test) {
			at[g] = k
		}
		fitTo := kernel.NewCollection(choose.Pick(e.graphs, train))
		return e.session(e.parts[i:i+1], fitTo, choose.Pick(e.graphs, test), at).evaluate(ctx)
	})
}

// session evaluates methods on training parts for which kernels are fitted to the same graphs: all
// parts, or else one.
type session struct {
	*evaluation
	parts  []*choose.TrainingPart
	graphs choose.Graphs
	mixer  *choose.Mixer // of the kernels that are combined
	took   map[*method]*seconds
}

// TrainingParts returns the number of training parts.
func (o *Options) TrainingParts() int {
	if o.Splits != nil {
		return o.Splits.Folds * o.Splits.Repeats()
	}
	return o.Folds * o.Repeats
}

// sessions returns the number of sessions that run at the same time.
func (o *Options) sessions(workers int) int {
	if o.Inductive { // as work.Tasks has them
		return min(workers, o.TrainingParts())
	}
	return 1
}

// memory returns Memory, or 4 GB where it is not known.
func (o *Options) memory() int64 { return cmp.Or(o.Memory, 4<<30) }

// Keeps reports whether the matrices of so many factors on n graphs are kept, in half of the memory. Otherwise
// the blocks that are asked for are computed each time.
func (o *Options) Keeps(n, factors, workers int) bool {
	return keptBytes(n, factors)*int64(o.sessions(workers)) <= o.memory()/2
}

func keptBytes(n, factors int) int64 { return 8 * int64(n) * int64(n) * int64(factors) }

// session returns a session for kernels that are fitted to a collection. Its graphs and then more of them
// are all graphs, in the order at, nil for theirs.
func (e *evaluation) session(parts []*choose.TrainingPart, fitTo *kernel.Collection, more []*graph.Graph, at []int) *session {
	ingredients := make([]choose.Ingredient, len(e.combined))
	for k, m := range e.combined {
		ingredients[k] = choose.Ingredient{Kernel: m.kernel, Share: m.share, Faint: m.faint}
	}
	s := &session{evaluation: e, parts: parts, took: map[*method]*seconds{}}
	s.graphs.In = fitTo.Derived(more, at, e.keep)
	s.mixer = e.Mixer(ingredients, s.graphs, func(k, repeat, fold int) *choose.Scores {
		return &e.combined[k].results[repeat*e.Splits.Folds+fold].Scores
	})
	return s
}

// evaluate scores all methods on every training part. Then those that are chosen predict the folds.
func (s *session) evaluate(ctx context.Context) error {
	methods, quiet := slices.Concat(s.settings, s.sums), work.Quiet(ctx)
	meter := s.begin(ctx, "choosing", len(methods))
	for _, m := range methods {
		s.took[m] = &seconds{}
		known, err := s.folder.read(s, m)
		if err != nil {
			return err
		}
		if known != nil {
			s.take(m, known)
		}
		if s.o.OnReported {
			meter.Add(len(s.parts))
		} else if err := s.score(quiet, m, meter); err != nil {
			return err
		}
	}
	meter = s.begin(ctx, "evaluate", s.predictions())
	for _, row := range s.rows {
		if err := s.test(quiet, row, meter); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range methods {
		m.KernelSeconds += s.took[m].KernelSeconds
		m.LearnSeconds += s.took[m].LearnSeconds
	}
	return nil
}

// take takes the results of a method.
func (s *session) take(m *method, known *storedResults) {
	for i, p := range s.parts {
		m.results[s.at(p)] = known.Folds[i]
	}
	*s.took[m] = known.seconds
}

// at returns the position of a training part among all.
func (e *evaluation) at(p *choose.TrainingPart) int { return p.Repeat*e.Splits.Folds + p.Fold }

// begin begins a stage that takes so many steps for every part of the session. All stages of all sessions are one where
// kernels are fitted for each.
func (s *session) begin(ctx context.Context, stage string, steps int) *work.Meter {
	if s.meter != nil {
		return s.meter
	}
	return work.NewMeter(ctx, stage, steps*len(s.parts))
}

// predictions returns how many steps of progress it takes to predict the fold of a part for all rows of the report.
func (e *evaluation) predictions() int {
	n := 0
	for _, row := range e.rows {
		n += e.steps(row)
	}
	return n
}

// steps returns how many steps of progress it takes to predict a fold for a row.
func (e *evaluation) steps(row reportRow) int {
	if !e.o.OnReported {
		return row.methods[0].steps()
	}
	n := 0
	for _, m := range row.methods {
		n += m.steps()
	}
	return n
}

// steps returns how many steps of progress a prediction by a method is. A sum also weighs its kernels, which takes
// about three times as long.
func (m *method) steps() int {
	if m.kernel == nil {
		return 4
	}
	return 1
}

// clock returns seconds.
func (e *evaluation) clock() float64 {
	if e.o.Clock == nil {
		return 0
	}
	return float64(e.o.Clock()) / float64(time.Second)
}
