package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// From manyGraphs on, or from as many vertices and edges as so many molecules have, the command says what it will need,
// having fitted some kernels to some graphs.
const (
	manyGraphs   = 500
	manyVertices = 25_000 // and edges
	pilotGraphs  = 200    // of many graphs; a tenth of fewer, for which all kernels are tried
	pilotFirst   = 2      // graphs that are tried first
	pilotTime    = 2e9    // nanoseconds of processors that the graphs of a pilot may take
	fewGraphs    = 20     // from so many on a tenth of them is little work
	pilotKernels = 6
	manyKernels  = 4 // that are computed for all graphs, where a sample is scored
	eliminations = 5 // of factors, each of which scores a sum
	centrePasses = 3 // through all graphs with centres: sums, graphs that are held out, and deviations
)

// What to do where memory is too small, and where it is for a training.
const (
	fewer    = "take fewer graphs, or a machine with more memory"
	byRefine = "mlg train on a sample of the graphs, then mlg refine with all, or take a machine with more memory"
)

// announce says what work on many graphs will need: the memory, and the time as costs say. It refuses what
// does not fit into memory, and says whether it would by kernel ridge regression, or else what to do.
func (g *globals) announce(ds *dataset.Dataset, candidates []choose.Candidate, o choose.Options,
	bytes func(o choose.Options, factors int) int64, takes func(c costs) time.Duration, hint, instead string) error {
	n, size := len(ds.Graphs), 0
	for _, x := range ds.Graphs {
		size += x.N() + x.M()
	}
	var kernels []kernel.Kernel
	for _, x := range candidates {
		for _, s := range x.Settings {
			kernels = append(kernels, s.Kernel)
		}
	}
	factors, what := kernel.Distinct(kernels...), fmt.Sprintf("%s for %d graphs", agree(len(kernels), "kernel", "kernels"), n)
	need := float64(bytes(o, factors))
	collect(need, float64(cmp.Or(o.Memory, work.Available())))
	if n < manyGraphs && (size < manyVertices || n < fewGraphs) {
		return nil
	}
	if o.Learner != learn.KernelRidge {
		ridge := o
		ridge.Learner, ridge.LeaveOneOut = learn.KernelRidge, true
		if less := float64(bytes(ridge, factors)); work.CheckMemory(what, less, o.Memory, "") == nil {
			instead = fmt.Sprintf("take --learner ridge, which needs %s, or fewer graphs", work.Gigabytes(less))
		}
	}
	if err := work.CheckMemory(what, need, o.Memory, instead); err != nil || g.Quiet {
		return err
	}
	line := fmt.Sprintf("%s: roughly %s of memory", what, work.Gigabytes(need))
	g.bar.show("forecast", 0, 0, "")
	cost, err := clock(time.Now).measure(g.ctx, ds, kernels, o)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err == nil: // else the sample may lack a class; the real work will tell what is wrong
		line += fmt.Sprintf(", and %s on %s", round(takes(cost).Round(time.Second)), agree(g.workers(), "thread", "threads"))
	}
	g.note("%s", table.Wrap(line+hint, 0, 2))
	return nil
}

// collect makes the collector run rarely where work needs little of the memory that there is: that takes a tenth of the
// time. Else little may be garbage, as the estimates count. Matrices are most of what is needed, and cost the collector nothing
// to look at.
func collect(need, have float64) {
	percent := choose.Garbage
	if need < have/10 {
		percent = 400
	}
	debug.SetGCPercent(percent)
}

// allowSums refuses sums for a model of m graphs that do not fit into memory, with copies as in choose.RefineBytes.
func (g *globals) allowSums(m, copies int) error {
	debug.SetGCPercent(choose.Garbage) // as RefineBytes counts
	return work.CheckMemory(sumsText(m), float64(choose.RefineBytes(m, copies)), int64(g.MaxMemory*1e9),
		"take a model that was trained on a smaller sample, or a machine with more memory")
}

func sumsText(m int) string { return "sums for a model of " + agree(m, "graph", "graphs") }

// announceSums says what sums for a model of m graphs need, when the first some of n graphs, 0 if that is not known, have
// been added in a time. What is learned at the end counts where it follows.
func (g *globals) announceSums(m, copies, some, n int, took time.Duration, learns bool) {
	what, each := "a million graphs", float64(took)/float64(some)
	if n == 0 {
		n = 1_000_000
	} else {
		what = "about " + count(float64(n), "graphs")
	}
	total := each * float64(n)
	if add, learn := choose.RefineOperations(m); learns {
		total += each * learn / add
	}
	line := fmt.Sprintf("%s: roughly %s of memory, and %s for %s on %s", sumsText(m), work.Gigabytes(float64(choose.RefineBytes(m, copies))),
		round(time.Duration(total).Round(time.Second)), what, agree(g.workers(), "thread", "threads"))
	g.note("%s", table.Wrap(line, 0, 2))
}

// noteChanges says which of the default candidates are left out or smaller, as the graphs are large.
func (g *globals) noteChanges(changes []string) {
	if len(changes) > 0 {
		g.note("Some kernels would take too long for these graphs:")
	}
	for _, x := range changes {
		g.note("  %s", table.Wrap(x, 2, 4))
	}
}

// scored returns the number of graphs, of n, whose matrices a choice among kernels looks at.
func scored(n int, o choose.Options) int {
	if o.LeaveOneOut {
		return min(n, o.Examples)
	}
	return n
}

// clock tells the time.
type clock func() time.Time

// costs are what parts of the work take, as the times of some of the single kernels that a choice is made of say, on
// a few graphs.
type costs struct {
	fit   time.Duration // kernels, to all graphs
	pair  float64       // nanoseconds for the values of all factors of one pair of graphs
	score time.Duration // a kernel, on the graphs that are scored, with one thread
	speed float64       // operations of one thread in a nanosecond, when a matrix is factorised

	kernels, factors int
}

// measure finds out what kernels cost for a dataset.
//
//	fitting    t(m) + (n − m)·slope for m graphs that take the time t(m): a part for the landmarks, and a part for every graph
//	pairs      as measured for m graphs
//
// It begins with two graphs and takes more as long as there is time, so that large graphs have a forecast soon.
//
//	scores     as measured for as many graphs as ridge regressions look at, else t(m)·(n/m)²
func (now clock) measure(ctx context.Context, ds *dataset.Dataset, kernels []kernel.Kernel, o choose.Options) (c costs, err error) {
	n := len(ds.Graphs)
	pilot, tries := pilotGraphs, pilotKernels
	if n < manyGraphs { // one kernel may take most of the time for large graphs
		pilot, tries = n/10, math.MaxInt
	}
	few := &dataset.Dataset{Name: ds.Name}
	for _, i := range rand.New(rand.NewPCG(0, 0)).Perm(n)[:pilot] {
		few.Graphs = append(few.Graphs, ds.Graphs[i])
	}
	target := few.Graphs[0].Target()
	same := func(g *graph.Graph) bool { return g.Target() == target }
	if other := slices.IndexFunc(ds.Graphs, func(g *graph.Graph) bool { return !same(g) }); other >= 0 {
		few.Graphs[pilotFirst-1] = ds.Graphs[other] // a learner needs two classes
	}
	all, err := kernel.NewCollection(few.Graphs).Sum(kernel.Mean(kernels...))
	if err != nil {
		return c, err
	}
	singles, some := len(all.Factors), min(tries, len(all.Factors))
	var tried kernel.Sum
	for i := range some {
		f := all.Factors[(2*i+1)*singles/(2*some)].Factor
		tried.Terms = append(tried.Terms, kernel.Term{Weight: 1 / float64(some), Factors: []kernel.Factor{f}})
	}
	p, err := now.try(ctx, few.Graphs, tried)
	if err != nil {
		return c, err
	}
	few.Graphs = few.Graphs[:p.graphs]
	c.kernels, c.factors = len(kernels), singles
	share := float64(singles) / float64(some)
	c.fit = time.Duration(share * (p.fit + p.slope*float64(n-p.graphs)))
	c.pair = share * p.matrix / float64(p.graphs*p.graphs)
	err = now.learning(ctx, &c, few, p.gram, n, o)
	return c, err
}

// trial is what a kernel took for some graphs, in nanoseconds.
type trial struct {
	graphs      int
	fit, matrix float64
	slope       float64 // of fit
	gram        *kernel.Matrix
}

// try fits a kernel to the first of graphs, and to more of them as long as there is time.
func (now clock) try(ctx context.Context, graphs []*graph.Graph, k kernel.Kernel) (trial, error) {
	left := pilotTime / float64(work.Workers(ctx))
	before, last := trial{}, trial{}
	for size := min(pilotFirst, len(graphs)); ; {
		fitted, took, err := now.fit(ctx, graphs[:size], k)
		if err != nil {
			return last, err
		}
		start := now()
		gram, err := fitted.Gram(ctx)
		if err != nil {
			return last, err
		}
		before, last = last, trial{graphs: size, fit: float64(took), matrix: float64(now().Sub(start)), gram: gram}
		left -= last.fit + last.matrix
		more := left / max(1, (last.fit+last.matrix)/float64(size)) // graphs for which there is time
		next := min(len(graphs), 4*size, int(min(more, math.MaxInt32)))
		if next < 2*size && (next < len(graphs) || next == size) {
			break
		}
		size = next
	}
	if before.graphs == 0 && last.graphs > 1 { // one graph says which part of the time does not grow
		_, took, err := now.fit(ctx, graphs[:1], k)
		if err != nil {
			return last, err
		}
		before = trial{graphs: 1, fit: float64(took)}
	}
	last.slope = last.fit / float64(last.graphs)
	if before.graphs > 0 {
		last.slope = max(0, min((last.fit-before.fit)/float64(last.graphs-before.graphs), last.slope))
	}
	return last, nil
}

// fit fits a kernel to graphs and says how long it took.
func (now clock) fit(ctx context.Context, graphs []*graph.Graph, k kernel.Kernel) (*kernel.FittedSum, time.Duration, error) {
	start := now()
	fitted, err := kernel.NewCollection(graphs).Fit(ctx, k)
	return fitted, now().Sub(start), err
}

// learning measures how long it takes to learn from a kernel matrix of n graphs, given the matrix of a few. The time
// of ridge regressions does not depend on the numbers. So it is measured on the matrix of the few graphs, repeated.
func (now clock) learning(ctx context.Context, c *costs, few *dataset.Dataset, gram *kernel.Matrix, n int, o choose.Options) error {
	rows, size := gram.Rows, gram.Rows
	if o.LeaveOneOut {
		size = scored(n, o)
	}
	ctx = work.WithWorkers(ctx, 1)
	took := func(size int, grid []float64, kind learn.Kind) (float64, error) {
		repeated, at := &dataset.Dataset{Name: few.Name}, make([]int, size)
		for i := range size {
			at[i] = i % rows
			repeated.Graphs = append(repeated.Graphs, few.Graphs[i%rows])
		}
		targets, err := choose.ReadTargets(repeated, o.Task)
		if err != nil {
			return 0, err
		}
		opt := learn.DefaultOptions()
		opt.Kind, opt.Epsilon, opt.LeaveOneOut = kind, o.Epsilon, kind == learn.KernelRidge
		start := now()
		_, err = targets.Train(ctx, learn.Full(gram).Select(at, at), grid, opt)
		if errors.Is(err, learn.ErrDefinite) || errors.Is(err, learn.ErrIterations) {
			err = nil
		}
		return float64(now().Sub(start)), err
	}
	score, err := took(size, o.Grid(), o.Learner)
	if !o.LeaveOneOut { // as many trainings as folds
		score *= float64(o.Folds-1) * float64(n) / float64(size) * float64(n) / float64(size)
	} else if err == nil && o.Learner != learn.KernelRidge {
		score, err = took(size, o.Ridge, learn.KernelRidge)
	}
	if err != nil {
		return err
	}
	c.score = time.Duration(score)
	size = min(n, 2*size) // larger matrices are factorised at a higher speed
	one, err := took(size, o.Ridge[len(o.Ridge)-1:], learn.KernelRidge)
	c.speed = choose.Factorisation(size) / max(1, one)
	return err
}

// few is the share of factors that are computed for all graphs.
func (c costs) few() float64 { return min(1, manyKernels/float64(c.factors)) }

// train returns the time that a choice among the kernels for n graphs takes. Several targets take as long as one, but for
// what is learned in the end.
func (c costs) train(n, targets, workers int, o choose.Options) time.Duration {
	s := scored(n, o)
	pairs, scores := float64(s)*float64(s), float64(c.kernels+len(o.Combinations))/float64(min(workers, c.kernels))
	if s < n {
		all := float64(n) * float64(n)
		if m := o.Centres(n); m > 0 {
			all += centrePasses * float64(n) * float64(m) // beside all pairs, for the step of descent
		}
		pairs += all * c.few()
		scores += float64(len(o.Combinations) * eliminations)
	}
	return c.time(pairs, scores, float64(targets)*o.Operations(n)/float64(workers))
}

// evaluate returns the time of an evaluation on n graphs, whose report has so many rows of single kernels beside
// those of sums. What is kept need not be computed again. Kernels are fitted anyhow, and the values of pairs are needed as
// long as something is missing.
func (c costs) evaluate(n, singles, workers int, o evaluate.Options, kept evaluate.Kept) time.Duration {
	alone := o.Options
	alone.Combinations = nil
	sums := len(slices.DeleteFunc(slices.Clone(o.Combinations), func(how choose.Combination) bool { return !how.Summed() }))
	parts, part := o.TrainingParts(), n-n/max(2, o.Folds)
	lanes := float64(min(workers, parts))
	pairs, scores := float64(n)*float64(n), float64(c.kernels+len(o.Combinations))
	if !o.LeaveOneOut { // two parts share a training
		scores /= 2
	} else if scored(part, o.Options) < part {
		scores += float64(len(o.Combinations) * eliminations)
	}
	if o.Inductive { // every part fits kernels, and has matrices of its own
		c.fit *= time.Duration(parts)
		pairs *= float64(parts)
	}
	if !o.Keeps(n, c.factors, workers) {
		s := float64(scored(part, o.Options))
		pairs = float64(parts) * (2*s*s + float64(singles+sums)*float64(n)*float64(part)*c.few())
	}
	learn := float64(parts) * (float64(singles)*alone.Operations(part) + float64(sums)*o.Operations(part))
	pairs *= 1 - min(kept.Scores, kept.Predictions)
	return c.time(pairs, float64(parts)*scores/lanes*(1-kept.Scores), learn/float64(workers)*(1-kept.Predictions))
}

// time adds up the time for fitting, for the values of pairs, for scores of kernels, and for operations.
func (c costs) time(pairs, scores, operations float64) time.Duration {
	return c.fit + time.Duration(pairs*c.pair+scores*float64(c.score)+operations/c.speed)
}
