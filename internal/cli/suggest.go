package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
	"github.com/mlgkernel/mlg/suggest"
	"github.com/mlgkernel/mlg/work"
)

type suggestCmd struct {
	placeFlags
	Model string `arg:"" help:"Model file. With --simulate a dataset with values."`
	Pool  string `arg:"" help:"What to choose from: a dataset, - (standard input), or a store." optional:""`

	goalFlags `group:"What is wanted"`
	Cost      string  `help:"Column of the pool with costs, for a store a CSV file with id and cost." placeholder:"NAME" group:"What is wanted"`
	Budget    float64 `help:"Largest sum of costs. Without --cost a graph costs 1." placeholder:"SUM" group:"What is wanted"`
	Exclude   string  `help:"Dataset of unwanted graphs, for a store a CSV file with id." placeholder:"DATA" group:"What is wanted"`

	simulateFlags `group:"Simulation"`

	CSV bool   `help:"Print a table as CSV." name:"csv"`
	Out string `help:"Write to this file instead of standard output." short:"o" placeholder:"FILE" ends:""`

	several bool // goals of several targets
}

// goalFlags say what is wanted.
type goalFlags struct {
	Count       int      `help:"Number of graphs. 0: 20, with --budget all that it allows, with --simulate 10 a round." short:"k" name:"count" default:"0" least:"0"`
	Goal        []string `help:"For values: max (the default), min, a number to reach, a range such as 1:3, 1: or :3, or learn (what tells most about all). Of several targets: --goal logD=1:3 --goal sol=max." placeholder:"GOAL" sep:"none"`
	Class       string   `help:"For classes: the wanted one, else uncertain ones." placeholder:"NAME"`
	Acquisition string   `help:"How graphs are compared: ei (expected improvement), probability, bound, thompson, mean, variance, uncertainty or random. By default as suits the goal." default:"" placeholder:"HOW" enum:",ei,probability,bound,thompson,mean,variance,uncertainty,random"`
	Beta        float64  `help:"With --acquisition bound: number of deviations." default:"2"`
	Seed        uint64   `help:"Seed of what is drawn." default:"0"`
}

// wanted returns the options of the flags.
func (f *goalFlags) wanted(budget float64) (suggest.PoolOptions, error) {
	o := suggest.DefaultPoolOptions()
	if err := f.goals(&o); err != nil {
		return o, usageError("--goal: " + err.Error())
	}
	o.Acquisition, o.Class, o.Beta, o.Seed = suggest.Acquisition(f.Acquisition), f.Class, f.Beta, f.Seed
	if !(f.Beta >= 0) || math.IsInf(f.Beta, 1) {
		return o, usageError(fmt.Sprintf("--beta %g: want 0 or more", f.Beta))
	}
	switch {
	case budget < 0 || math.IsNaN(budget):
		return o, usageError(fmt.Sprintf("--budget %g: want more than 0", budget))
	case budget > 0:
		o.Budget, o.K = budget, f.Count
	default:
		o.K = cmp.Or(f.Count, o.K)
	}
	return o, nil
}

// goals reads what is wanted: one goal of the one target, or one for each of several.
func (f *goalFlags) goals(o *suggest.PoolOptions) (err error) {
	if len(f.Goal) == 1 && !strings.Contains(f.Goal[0], "=") {
		o.Goal, err = suggest.ParseGoal(f.Goal[0])
		return err
	}
	for _, text := range f.Goal {
		w, err := suggest.ParseWanted(text)
		if err != nil {
			return err
		}
		o.Goals = append(o.Goals, w)
	}
	return nil
}

// wants returns the endpoints of a model that goals are about: that of --target, or those that --goal names. A single one has
// all goals and acquisition functions.
func (c *suggestCmd) wants(m *model.Model, o *suggest.PoolOptions) (*model.Model, error) {
	if len(o.Goals) == 0 {
		return c.endpoint(c.Model, m)
	}
	if len(c.Target) > 0 {
		return nil, usageError("--target and names in --goal cannot be used together")
	}
	m, err := o.Wants(m)
	if err != nil {
		return nil, usageError("--goal: " + err.Error())
	}
	return m, nil
}

// Run looks at all graphs of the pool and prints those that are suggested.
func (c *suggestCmd) Run(g *globals) error {
	o, err := c.wanted(c.Budget)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return err
	}
	if c.Simulate {
		if len(o.Goals) > 0 {
			return usageError("--simulate has one goal, without the name of a target; --target names the column")
		}
		return c.simulate(g, o.Options)
	}
	m, err := readModel(c.Model)
	if err == nil {
		m, err = c.wants(m, &o)
	}
	if err != nil {
		return err
	}
	if m.Task() == model.SearchOnly {
		return fmt.Errorf("%s has no learner; mlg train makes a model that can suggest", c.Model)
	}
	c.several = len(o.Goals) > 0
	read := c.like(m)
	if c.Exclude != "" && file.KindOf(c.Pool) != store.Kind {
		d, err := readData(g, c.Exclude, read)
		if err != nil {
			return fmt.Errorf("--exclude: %w", err)
		}
		o.Excluded = d.Graphs
	}
	s, err := suggest.NewSearch(g.ctx, m, o)
	if err != nil {
		return err
	}
	blocks, features, done, err := c.blocks(g, m, read)
	if err != nil {
		return err
	}
	defer done()
	type scored struct {
		list []suggest.Scored
		err  error
	}
	workers := work.Workers(g.ctx)
	two := workers > 1 && workers >= runtime.GOMAXPROCS(0)
	for x, err := range ahead(g.ctx, two, blocks, func(ctx context.Context, b suggest.Block) (out scored) {
		out.list, out.err = s.Score(ctx, b)
		return out
	}) {
		if err = cmp.Or(err, x.err); err != nil {
			return fmt.Errorf("%s, after %s: %w", c.Pool, agree(s.Scored(), "graph", "graphs"), err)
		}
		s.Add(x.list)
		g.bar.show("looked at", int64(s.Scored()), 0, "graphs")
	}
	if s.Scored() == 0 {
		return fmt.Errorf("%s: no graph can be read, so nothing can be suggested", c.Pool)
	}
	r, err := s.Result(g.work(), features)
	if err != nil {
		return err
	}
	if err := output(g, c.Out, func(w io.Writer) error { return c.print(g, w, m, r) }); err != nil {
		return err
	}
	c.notes(g, r)
	return nil
}

// blocks gives the pool in blocks. features returns those of some of its graphs where these are not known.
func (c *suggestCmd) blocks(g *globals, m *model.Model, o dataset.Options) (
	blocks iter.Seq2[suggest.Block, error], features func(at []int) (kernel.Features, error), done func(), err error) {
	if file.KindOf(c.Pool) == store.Kind {
		return c.stored(m)
	}
	in, err := rows(g, c.Pool, o, c.Cost != "")
	if err != nil {
		return nil, nil, nil, err
	}
	most, first := max(1, min(blockGraphs, blockValues/max(1, m.Examples()))), 0
	return func(yield func(suggest.Block, error) bool) {
		for some, err := range blocksOf(in, most) {
			b := suggest.Block{First: first}
			if err == nil {
				b, err = c.block(some, first)
				first += len(b.IDs)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}, nil, func() {}, nil
}

// blocksOf gives rows some at a time.
func blocksOf(in iter.Seq2[row, error], most int) iter.Seq2[[]row, error] {
	return blocks(in, most, blockVertices, row.vertices)
}

// block returns rows as a block, without those that cannot be read.
func (c *suggestCmd) block(some []row, first int) (suggest.Block, error) {
	b := suggest.Block{First: first, Graphs: []*graph.Graph{}}
	for _, x := range some {
		if x.Graph == nil {
			continue
		}
		b.IDs, b.Graphs = append(b.IDs, x.id), append(b.Graphs, x.Graph)
		if c.Cost == "" {
			continue
		}
		if !slices.Contains(x.columns.Names, c.Cost) {
			return b, fmt.Errorf("--cost: no column %q%s", c.Cost, didYouMean(c.Cost, x.columns.Names))
		}
		text := x.columns.Value(c.Cost)
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return b, fmt.Errorf("--cost: %s has the cost %q, want a positive number", x.id, text)
		}
		b.Cost = append(b.Cost, v)
	}
	return b, nil
}

// stored gives the graphs of a store.
func (c *suggestCmd) stored(m *model.Model) (iter.Seq2[suggest.Block, error], func(at []int) (kernel.Features, error), func(), error) {
	beside, err := c.beside()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := store.Open(c.Pool)
	if err != nil {
		return nil, nil, nil, err
	}
	if same, err := suggest.SameKernel(m, s.Model()); err != nil || !same {
		s.Close()
		return nil, nil, nil, cmp.Or(err, fmt.Errorf("%s was made by another model; mlg transform %s POOL makes a store for this one", c.Pool, c.Model))
	}
	most := max(1, min(8*blockGraphs, blockValues/max(1, m.Examples())))
	blocks := func(yield func(suggest.Block, error) bool) {
		for lo := 0; lo < s.Len(); lo += most {
			b, hi := suggest.Block{First: lo}, min(lo+most, s.Len())
			var err error
			if b.IDs, _, err = s.Texts(lo, hi); err == nil {
				b.Features, err = s.Features(lo, hi)
			}
			if err == nil {
				err = beside.add(&b)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
	features := func(at []int) (kernel.Features, error) {
		order := kernel.UpTo(len(at)) // as the store has them, so that each of its pieces is read once
		slices.SortFunc(order, func(a, b int) int { return at[a] - at[b] })
		var parts []kernel.Features
		place := make([]int, len(at))
		for k, o := range order {
			place[o] = k
			a, err := s.Features(at[o], at[o]+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, a)
		}
		return m.Kernel.Join(parts...).Select(place), nil
	}
	return blocks, features, func() { s.Close() }, nil
}

// print prints the batch.
func (c *suggestCmd) print(g *globals, w io.Writer, m *model.Model, r *suggest.Result) error {
	switch {
	case g.JSON:
		return printJSON(w, r)
	case c.CSV:
		g.forPrograms()
		return suggestedCSV(csv.NewWriter(w), m, r)
	case len(m.Endpoints()) > 1:
		printSeveral(w, r)
		return nil
	}
	if len(r.Batch) > 0 {
		fmt.Fprintf(w, "rank %-15s %s %7s  %-12s %5s  why\n", "id", suggestedHead(m), "gain", "nearest", "like")
	}
	for _, x := range r.Batch {
		var said string
		switch {
		case m.Task() == model.Classification:
			said = fmt.Sprintf("%-9s %5.3f", table.Clip(x.Class, 9), *x.Probability)
		case x.Deviation != nil:
			said = fmt.Sprintf("%8s %6.3g", figure("", *x.Value), *x.Deviation)
		default:
			said = fmt.Sprintf("%8s %6s", figure("", *x.Value), "")
		}
		nearest := ""
		if len(x.Nearest) > 0 {
			nearest = x.Nearest[0].ID
		}
		fmt.Fprintf(w, "%4d %-15s %s %7.3g  %-12s %5.3f  %s\n", x.Rank, table.ClipMiddle(x.ID, 15), said, x.Acquisition, table.ClipMiddle(nearest, 12), x.Similarity, x.Why+isomerMark(x))
	}
	return nil
}

// suggestedHead is that of the columns of predictions.
func suggestedHead(m *model.Model) string {
	if m.Task() == model.Classification {
		return fmt.Sprintf("%-9s %5s", "class", "p")
	}
	return fmt.Sprintf("%8s %6s", "value", "±")
}

// suggestedCSV prints the batch for programs.
func suggestedCSV(w *csv.Writer, m *model.Model, r *suggest.Result) error {
	head := []string{"rank", "id", "smiles"}
	switch several := m.Endpoints(); {
	case len(several) > 1:
		for _, e := range several {
			head = append(head, e.Target+" predicted", e.Target+" deviation", e.Target+" true_deviation")
		}
		head = append(head, "p", "front")
	case m.Task() == model.Classification:
		head = append(head, "class", "p")
	default:
		head = append(head, "predicted", "deviation", "true_deviation")
	}
	w.Write(append(head, "acquisition", "cost", "nearest", "target", "similarity", "why")) // an error is that of Flush
	known := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, x := range r.Batch {
		row := []string{strconv.Itoa(x.Rank), x.ID, ""}
		if x.Graph != nil {
			row[2] = x.Graph.SMILES()
		}
		switch {
		case x.Targets != nil:
			for _, e := range x.Targets {
				row = append(row, number(e.Value), known(e.Deviation), known(e.True))
			}
			row = append(row, known(x.Probability), strconv.FormatBool(*x.Front))
		case m.Task() == model.Classification:
			row = append(row, x.Class, known(x.Probability))
		default:
			row = append(row, known(x.Value), known(x.Deviation), known(x.True))
		}
		n := model.Neighbour{}
		if len(x.Nearest) > 0 {
			n = x.Nearest[0]
		}
		w.Write(append(row, number(x.Acquisition), number(x.Cost), n.ID, n.Target, number(x.Similarity), x.Why))
	}
	w.Flush()
	return w.Error()
}

// gains says what the column gain has, and distances what it has where values near a number or in a range are wanted.
var (
	gains = map[suggest.Acquisition]string{
		suggest.Improvement: "expected improvement of the best, beyond the graphs above",
		suggest.Probability: "probability of a hit if the graphs above are none",
		suggest.Bound:       "best value that is likely when the graphs above are measured",
		suggest.Thompson:    "value that was drawn",
		suggest.Variance:    "what the measurement tells, in nats",
		suggest.Mean:        "value that is predicted",
		suggest.Uncertainty: "how uncertain the class is, times how unlike the graphs above",
		suggest.Random:      "a random number",
	}
	distances = map[suggest.Acquisition]string{
		suggest.Bound:    "least distance to the goal that is likely, negative",
		suggest.Thompson: "distance to the goal that was drawn, negative",
		suggest.Mean:     "distance of the prediction to the goal, negative",
	}
)

// gain says what the column gain has.
func gain(r *suggest.Result, several bool) string {
	if several && r.Acquisition == suggest.Improvement {
		return "expected improvement of the front, beyond the graphs above, where the limits hold"
	}
	if text := distances[r.Acquisition]; text != "" && r.Goal != "max" && r.Goal != "min" {
		return text
	}
	return gains[r.Acquisition]
}

// notes says what was chosen from, and how.
func (c *suggestCmd) notes(g *globals, r *suggest.Result) {
	name := c.Pool
	if name == "-" {
		name = "standard input"
	}
	text := fmt.Sprintf("%s: %s", name, agree(r.Pool, "graph", "graphs"))
	if r.Measured > 0 {
		text += fmt.Sprintf(", %d of them measured before", r.Measured)
	}
	if r.Excluded > 0 {
		text += fmt.Sprintf(", %d excluded", r.Excluded)
	}
	if r.Candidates > 0 {
		text += fmt.Sprintf("; the batch is chosen of the %d best", r.Candidates)
	}
	if c.Budget > 0 || c.Cost != "" {
		text += fmt.Sprintf(" and costs %s", figure("", r.Cost))
	}
	g.note("%s", table.Wrap(text, 0, 2))
	noteIsomers(g, r)
	if len(r.Batch) == 0 {
		g.note("nothing is left to suggest")
		return
	}
	text = fmt.Sprintf("goal %s; gain: %s", r.Goal, gain(r, c.several))
	if r.Best != nil {
		text += fmt.Sprintf("; best so far %s, as predicted", figure("", *r.Best))
	}
	g.note("%s", table.Wrap(text, 0, 2))
}
