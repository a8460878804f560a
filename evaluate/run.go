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

	mu   sync.Mutex
	done int // outer folds of methods
}

// method is a kernel or a sum of kernels: what has results of its own.
type method struct {
	name, parameters string
	kernel           kernel.Kernel // nil for a sum
	// siblings are the settings of the candidate to which a kernel belongs; with Options.Combined all that
	// are combined. Of these one predicts a fold.
	siblings []*method
	// combination says how a sum weighs the kernels that are combined.
	combination choose.Combination
	counts      bool // choose.Candidate.Counts
	// keep says that the matrix of a kernel is needed by most combinations later on.
	keep bool

	results                     []foldResult // by training part
	kernelSeconds, learnSeconds float64
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
	e := &evaluation{o: o, data: d, graphs: choose.Untargeted(d)}
	e.Options = &o.Options
	var err error
	if e.Targets, err = choose.ReadTargets(d, o.Task); err != nil {
		return nil, err
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
			settings[k] = &method{name: c.Name, parameters: s.Parameters, kernel: s.Kernel, siblings: settings, counts: c.Counts}
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
	if e.o.Combined && len(e.o.Combinations) > 0 {
		for _, m := range e.combined {
			m.siblings = e.combined
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
			for _, m := range e.combined { // MeanBest needs few, and knows them beforehand
				if err := kernel.CheckNormalized(m.kernel); err != nil {
					return err
				}
				m.keep = m.keep || how != choose.MeanBest || !e.o.LeaveOneOut
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
	if !e.o.Inductive {
		return e.session(e.parts, cmp.Or(e.o.Collection, kernel.NewCollection(e.graphs))).evaluate(ctx)
	}
	// Some folds at a time, each with its share of the workers.
	lanes := min(kernel.Workers(ctx), len(e.parts))
	inner := kernel.WithWorkers(ctx, kernel.Workers(ctx)/lanes)
	return kernel.Each(kernel.WithWorkers(ctx, lanes), len(e.parts), 1, func(_, i int) error {
		train := e.Splits.Without(e.parts[i].Repeat, e.parts[i].Fold)
		return e.session(e.parts[i:i+1], kernel.NewCollection(choose.Pick(e.graphs, train))).evaluate(inner)
	})
}

// session evaluates methods on training parts on which a kernel has one matrix: all of them if it is
// fitted to all graphs, or else one.
type session struct {
	*evaluation
	parts []*choose.TrainingPart
	grams *kernel.Grams // of the graphs that kernels are fitted to
}

func (e *evaluation) session(parts []*choose.TrainingPart, fitTo *kernel.Collection) *session {
	var kernels []kernel.Kernel
	for _, m := range e.settings {
		kernels = append(kernels, m.kernel)
	}
	return &session{e, parts, fitTo.Grams(nil, kernels...)}
}

// evaluate evaluates all methods. The mixer keeps the matrices that combinations need.
func (s *session) evaluate(ctx context.Context) error {
	kernels := s.combined
	counts := make([]bool, len(kernels))
	for k, m := range kernels {
		counts[k] = m.counts
	}
	mixer := s.Mixer(counts, func(ctx context.Context, k int) (*choose.Matrix, error) { return s.matrix(ctx, kernels[k]) },
		func(k, repeat, fold int) *choose.Scores {
			return &kernels[k].results[repeat*s.Splits.Folds+fold].Scores
		})
	for _, m := range s.settings {
		err := s.evaluateMethod(ctx, m, func() (choose.Gram, error) {
			if m.keep {
				return mixer.Load(ctx, slices.Index(kernels, m))
			}
			return s.matrix(ctx, m)
		})
		if err != nil {
			return err
		}
	}
	for _, m := range s.sums {
		sum := choose.Mixture{Mixer: mixer, How: m.combination}
		if err := s.evaluateMethod(ctx, m, func() (choose.Gram, error) { return sum, nil }); err != nil {
			return err
		}
	}
	return nil
}

// matrix computes the matrix of a kernel.
func (s *session) matrix(ctx context.Context, m *method) (*choose.Matrix, error) {
	if !s.o.Inductive {
		return choose.Fit(ctx, m.kernel, s.grams)
	}
	p := s.parts[0]
	train, test := s.Splits.Without(p.Repeat, p.Fold), s.Splits.Test(p.Repeat, p.Fold)
	return choose.FitTo(ctx, m.kernel, s.grams, s.graphs, train, test)
}

// evaluateMethod takes the results of a method from the folder, or computes and keeps them.
func (s *session) evaluateMethod(ctx context.Context, m *method, gram func() (choose.Gram, error)) error {
	results, err := s.folder.read(s, m)
	if err != nil {
		return err
	}
	if results == nil {
		if results, err = s.compute(ctx, m, gram); err != nil {
			return err
		}
		if err := s.folder.write(ctx, s, m, results); err != nil {
			return err
		}
	} else if m.kernel != nil && !m.keep {
		s.grams.Drop(m.kernel)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.parts {
		m.results[p.Repeat*s.Splits.Folds+p.Fold] = results.Folds[i]
	}
	m.kernelSeconds += results.KernelSeconds
	m.learnSeconds += results.LearnSeconds
	s.done += len(s.parts)
	if s.o.Progress != nil {
		s.o.Progress(s.done, (len(s.settings)+len(s.sums))*len(s.evaluation.parts))
	}
	return nil
}

// clock returns seconds.
func (e *evaluation) clock() float64 {
	if e.o.Clock == nil {
		return 0
	}
	return float64(e.o.Clock()) / float64(time.Second)
}
