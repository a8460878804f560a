package suggest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// ReplayOptions say how a table is replayed. Start from DefaultReplayOptions.
type ReplayOptions struct {
	// Options are those of every batch; K graphs are measured in a round.
	Options
	Start   int           // graphs that are measured at first, drawn at random
	Rounds  int           // batches after that
	Repeats int           // with other draws
	Against []Acquisition // what the acquisition of the options is compared with
	// Candidates are the kernels from which every model chooses, by Choice.
	Candidates []choose.Candidate
	Choice     choose.Options
	// Folder, when set, keeps what each method found in each repeat. A run with the same data and options goes on from there.
	// Damaged, when set, is called with a file of it that is damaged. What it kept is computed again.
	Folder  string
	Damaged func(path string, err error)
}

// DefaultReplayOptions returns 10 graphs at first and in each of 15 rounds, 5 times, against the best predictions
// and random choice.
func DefaultReplayOptions() ReplayOptions {
	o := ReplayOptions{Options: DefaultOptions(), Start: 10, Rounds: 15, Repeats: 5, Against: []Acquisition{Mean, Random}, Choice: choose.DefaultOptions()}
	o.K = 10
	return o
}

// Replayed is what would have been found.
type Replayed struct {
	Goal    string `json:"goal"`
	Graphs  int    `json:"graphs" help:"different graphs with a value"`
	Start   int    `json:"start"`
	Batch   int    `json:"batch" help:"graphs that are measured in a round"`
	Rounds  int    `json:"rounds"`
	Repeats int    `json:"repeats"`
	Best1   int    `json:"best1" help:"graphs among the best 1 %, or in the range"`
	Best5   int    `json:"best5" help:"graphs among the best 5 %, or in the range"`

	Starts  [][]string `json:"starts" help:"by repeat: identifiers of the graphs that are measured at first"`
	Methods []Method   `json:"methods"`
}

// Method is an acquisition function with what it found.
type Method struct {
	Acquisition Acquisition `json:"acquisition"`
	// Needed is how many graphs had to be measured until half of the best 1 % were among them. Repeats that end
	// earlier count with all that they measured; Reached is the number of the others.
	Needed  Mean95  `json:"needed" help:"measurements until half of the best 1 % are found"`
	Reached int     `json:"reached" help:"repeats that got so far"`
	Rounds  []Round `json:"rounds"`
	// Each is needed by repeat.
	Each []float64 `json:"each"`
}

// Round is what was found so far.
type Round struct {
	Measured int    `json:"measured"`
	Best     Mean95 `json:"best"`   // value
	Found1   Mean95 `json:"found1"` // share of the best 1 %
	Found5   Mean95 `json:"found5"` // share of the best 5 %
}

// Mean95 is a mean over repeats with its interval of 95 %, by Student's t. A single repeat has none.
type Mean95 struct {
	Mean     float64           `json:"mean"`
	Interval *metrics.Interval `json:"interval,omitempty"`
}

func meanOf(x []float64) Mean95 {
	return Mean95{metrics.Mean(x), metrics.ConfidenceInterval(x, 0, 0.95)}
}

// Needs returns by how many measurements fewer a method reaches half of the best 1 % than another.
func (r *Replayed) Needs(a, b *Method) Mean95 {
	var saved []float64
	for k := range a.Each {
		saved = append(saved, b.Each[k]-a.Each[k])
	}
	return meanOf(saved)
}

// run is one method in one repeat.
type run struct {
	Fingerprint string
	// Best, Found1 and Found5 are after every round, the first before it.
	Best, Found1, Found5 []float64
	Needed               float64
	Reached              bool
}

// replay is the data that all runs share.
type replay struct {
	ReplayOptions
	graphs []*graph.Graph // different ones, with their values as targets
	values []float64
	top1   []bool
	top5   []bool
	all    *kernel.Collection // with the matrices of factors
	count1 int
	count5 int
	fewest int // of top1: half
}

// Replay plays a table as if most of its values were not known: Start graphs are measured, a model learns from
// them and suggests K others, their values become known, and so on. Methods start from the same graphs. Kernels are
// fitted to all graphs, whose values they do not see. A graph that stands several times counts once, with its first
// value.
//
// It takes n² numbers for each factor of the candidates' kernels.
func Replay(ctx context.Context, d *dataset.Dataset, o ReplayOptions) (*Replayed, error) {
	r := &replay{ReplayOptions: o}
	if err := r.read(d); err != nil {
		return nil, err
	}
	n := len(r.graphs)
	a, err := o.Acquisition.Of(o.Goal)
	switch {
	case err != nil:
		return nil, err
	case o.Goal.Kind == Learn:
		return nil, errors.New("suggest: a replay is for what can be found: max, min, a number or a range")
	case o.Start < 3 || o.K < 1 || o.Rounds < 1 || o.Repeats < 1:
		return nil, fmt.Errorf("suggest: %d graphs at first, %d rounds of %d, %d repeats: want at least 3, 1, 1 and 1", o.Start, o.Rounds, o.K, o.Repeats)
	case o.Start >= n:
		return nil, fmt.Errorf("suggest: %d graphs at first of %d different ones with values, want fewer", o.Start, n)
	}
	r.Rounds = min(o.Rounds, (n-o.Start+o.K-1)/o.K)
	var kernels []kernel.Kernel
	for _, c := range o.Candidates {
		for _, s := range c.Settings {
			kernels = append(kernels, s.Kernel)
		}
	}
	if err := work.CheckMatrices(kernel.Distinct(kernels...)+2, n, n, "take fewer graphs, or one kernel"); err != nil {
		return nil, err
	}
	out := &Replayed{Goal: o.Goal.String(), Graphs: n, Start: o.Start, Batch: o.K, Rounds: r.Rounds, Repeats: o.Repeats, Best1: r.count1, Best5: r.count5}
	for k := range o.Repeats {
		ids := (&dataset.Dataset{Graphs: r.graphs}).IDs()
		out.Starts = append(out.Starts, choose.Pick(ids, r.order(k)[:o.Start]))
	}
	var runs [][]run // by method
	for _, a := range append([]Acquisition{a}, o.Against...) {
		if !slices.ContainsFunc(out.Methods, func(m Method) bool { return m.Acquisition == a }) {
			out.Methods, runs = append(out.Methods, Method{Acquisition: a}), append(runs, make([]run, o.Repeats))
		}
	}
	kept, todo, err := r.newFolder(out.Methods, runs)
	if err != nil {
		return nil, err
	}
	if todo > 0 {
		untargeted := choose.Untargeted(&dataset.Dataset{Graphs: r.graphs})
		r.all = kernel.NewCollection(untargeted).Derived(nil, nil, true)
		if _, err := r.all.FitAll(ctx, kernels...); err != nil {
			return nil, err
		}
	}
	meter := work.NewMeter(ctx, "replay", todo*r.Rounds)
	err = work.Tasks(ctx, len(out.Methods)*o.Repeats, func(ctx context.Context, i int) error {
		m, repeat := i%len(runs), i/len(runs)
		if runs[m][repeat].Best != nil {
			return nil
		}
		how, a := work.Of(ctx), out.Methods[m].Acquisition
		how.Progress = nil
		if err := r.run(work.With(ctx, how), a, repeat, &runs[m][repeat], meter); err != nil {
			return err
		}
		return kept.write(ctx, a, repeat, &runs[m][repeat])
	})
	if err != nil {
		return nil, err
	}
	for i := range out.Methods {
		r.summarise(&out.Methods[i], runs[i])
	}
	return out, nil
}

// read takes the different graphs that have a value, and finds the best.
func (r *replay) read(d *dataset.Dataset) error {
	t, err := choose.ReadTargets(d, choose.Regression)
	if err != nil {
		return err
	}
	var seen graph.Set
	for i, g := range d.Graphs {
		if k := len(r.graphs); seen.Add(dataset.Identity(g)) == k {
			r.graphs, r.values = append(r.graphs, g), append(r.values, t.Values[i])
		}
	}
	utilities := make([]float64, len(r.values))
	for i, v := range r.values {
		utilities[i] = r.Goal.utility(v)
	}
	falling := slices.Clone(utilities)
	slices.SortFunc(falling, func(a, b float64) int {
		if a > b {
			return -1
		} else if a < b {
			return 1
		}
		return 0
	})
	best := func(share float64) (at []bool, count int) {
		least := 0.0 // in the range
		if r.Goal.Kind != Range && len(falling) > 0 {
			least = falling[int(math.Ceil(share*float64(len(falling))))-1]
		}
		at = make([]bool, len(utilities))
		for i, u := range utilities {
			if at[i] = u >= least; at[i] {
				count++
			}
		}
		return at, count
	}
	r.top1, r.count1 = best(0.01)
	r.top5, r.count5 = best(0.05)
	if r.count1 == 0 {
		return fmt.Errorf("suggest: no graph has a value in the range %s", r.Goal)
	}
	r.fewest = (r.count1 + 1) / 2
	return nil
}

// order is that in which random choice measures the graphs of a repeat. Every method starts as it does.
func (r *replay) order(repeat int) []int {
	return rand.New(rand.NewPCG(r.Seed, uint64(repeat))).Perm(len(r.graphs))
}

// run plays one repeat of a method. Random choice goes on after the rounds, until half of the best are found.
func (r *replay) run(ctx context.Context, a Acquisition, repeat int, out *run, meter *work.Meter) error {
	order := r.order(repeat)
	measured, rest := slices.Clone(order[:r.Start]), slices.Clone(order[r.Start:])
	for round := 0; ; round++ {
		r.note(out, measured)
		if round >= r.Rounds && (a != Random || out.Reached) || len(rest) == 0 {
			break
		}
		next := rest[:min(r.K, len(rest))]
		if a != Random {
			var err error
			slices.Sort(measured)
			slices.Sort(rest)
			if next, err = r.suggest(ctx, a, measured, rest, mix(r.Seed^mix(uint64(repeat)<<32|uint64(round)))); err != nil {
				return err
			}
		}
		next = slices.Clone(next)
		measured = append(measured, next...)
		rest = slices.DeleteFunc(rest, func(i int) bool { return slices.Contains(next, i) })
		if round < r.Rounds {
			meter.Add(1)
		}
	}
	return nil
}

// note adds what is known of the measured graphs.
func (r *replay) note(out *run, measured []int) {
	best, top1, top5 := -1, 0, 0
	for _, i := range measured {
		if best < 0 || r.Goal.utility(r.values[i]) > r.Goal.utility(r.values[best]) {
			best = i
		}
		if r.top1[i] {
			top1++
		}
		if r.top5[i] {
			top5++
		}
	}
	if len(out.Best) <= r.Rounds {
		out.Best = append(out.Best, r.values[best])
		out.Found1 = append(out.Found1, float64(top1)/float64(r.count1))
		out.Found5 = append(out.Found5, float64(top5)/float64(r.count5))
	}
	if !out.Reached {
		out.Needed, out.Reached = float64(len(measured)), top1 >= r.fewest
	}
}

// suggest learns from some graphs and returns the next of the others, as Search does for a pool.
func (r *replay) suggest(ctx context.Context, a Acquisition, measured, rest []int, seed uint64) ([]int, error) {
	lo := model.LearnOptions{Options: r.Choice}
	lo.Task, lo.Collection = choose.Regression, r.all.Derived(nil, measured, false)
	known := &dataset.Dataset{Graphs: choose.Pick(r.graphs, measured)}
	m, plan, err := model.Learn(ctx, known, r.Candidates, lo)
	if err != nil {
		return nil, err
	}
	all, err := r.all.Fit(ctx, plan.Kernel())
	if err != nil {
		return nil, err
	}
	features, err := all.Train(ctx)
	if err != nil {
		return nil, err
	}
	o := PoolOptions{Options: r.Options, Keep: 500}
	o.Acquisition, o.Seed, o.Cost, o.Budget = a, seed, nil, math.Inf(1)
	s, err := NewSearch(ctx, m, o)
	if err != nil {
		return nil, err
	}
	b := Block{IDs: make([]string, len(rest)), Graphs: choose.Pick(r.graphs, rest), Features: features.Select(rest)}
	scored, err := s.Score(ctx, b)
	if err != nil {
		return nil, err
	}
	s.Add(scored)
	found, err := s.Result(ctx, func(at []int) (kernel.Features, error) { return b.Features.Select(at), nil })
	if err != nil {
		return nil, err
	}
	var next []int
	for _, x := range found.Batch {
		next = append(next, rest[x.Index])
	}
	return next, nil
}

// summarise takes means over repeats.
func (r *replay) summarise(m *Method, runs []run) {
	for _, x := range runs {
		m.Each = append(m.Each, x.Needed)
		if x.Reached {
			m.Reached++
		}
	}
	m.Needed = meanOf(m.Each)
	for k := range r.Rounds + 1 {
		var best, found1, found5 []float64
		for _, x := range runs {
			at := min(k, len(x.Best)-1) // all graphs were measured before
			best, found1, found5 = append(best, x.Best[at]), append(found1, x.Found1[at]), append(found5, x.Found5[at])
		}
		m.Rounds = append(m.Rounds, Round{min(r.Start+k*r.K, len(r.graphs)), meanOf(best), meanOf(found1), meanOf(found5)})
	}
}
