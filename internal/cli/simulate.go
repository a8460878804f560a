package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/suggest"
	"github.com/mlgkernel/mlg/work"
)

// simulateFlags say how a table is replayed.
type simulateFlags struct {
	Simulate bool        `help:"Replay a dataset as if most values were not known: how many of the best does it find, how many random choice?"`
	Start    int         `help:"Graphs that are known at first." default:"10" least:"3"`
	Rounds   int         `help:"Number of rounds." default:"15" least:"1"`
	Repeats  int         `help:"Number of repeats." default:"5" least:"1"`
	Quick    bool        `help:"Train one good kernel in every round, not a sum."`
	Kernel   []kernelArg `help:"Kernel. Repeat the flag for several." placeholder:"TEXT" sep:"none"`
	Keep     string      `help:"Folder of finished parts, to go on from there." name:"run" placeholder:"FOLDER"`
	Report   string      `help:"Write a report with pictures: .html." placeholder:"FILE" ends:".html .htm"`
	Plot     string      `help:"Draw what is found: .svg or .png." placeholder:"FILE" ends:".svg .png"`
}

// check refuses arguments that do not go together.
func (c *suggestCmd) check() error {
	own := c.Quick || c.Kernel != nil || c.Report != "" || c.Plot != "" || c.Keep != ""
	switch {
	case !c.Simulate && own:
		return usageError("--quick, --kernel, --run, --report and --plot need --simulate: a model has its kernel")
	case !c.Simulate && c.Pool == "":
		return usageError("want a model and a pool to choose from, or --simulate with a dataset")
	case c.Simulate && (c.Pool != "" || c.Cost != "" || c.Budget != 0 || c.Exclude != "" || c.Class != "" || c.CSV):
		return usageError("--simulate takes a dataset with values, and neither a pool, --cost, --budget, --exclude, --class nor --csv")
	case c.Quick && c.Kernel != nil:
		return usageError("--quick and --kernel cannot be used together")
	}
	return nil
}

// simulate replays a dataset.
func (c *suggestCmd) simulate(g *globals, wanted suggest.Options) error {
	read := learnFlags{Duplicates: "merge"}
	read.placeFlags = c.placeFlags
	usual := dataset.DefaultOptions()
	read.Hydrogens, read.EdgeWeight = usual.Hydrogens, usual.EdgeWeight
	tasks, err := read.tasks(g, c.Model, "regression")
	if err != nil {
		return err
	}
	if len(tasks) > 1 {
		return usageError(fmt.Sprintf("%s has %d targets; --target names one of them", c.Model, len(tasks)))
	}
	ds := tasks[0].Dataset
	o := suggest.DefaultReplayOptions()
	k := cmp.Or(c.Count, o.K)
	o.Options = wanted
	o.K, o.Start, o.Rounds, o.Repeats = k, c.Start, c.Rounds, c.Repeats
	if o.Candidates, err = c.candidates(ds, &o.Choice); err != nil {
		return err
	}
	o.Choice.Memory = cmp.Or(int64(g.MaxMemory*1e9), work.Available())
	o.Folder, o.Damaged = c.Keep, func(path string, err error) {
		g.note("%s is damaged (%v), so what it kept is computed again", path, err)
	}
	if c.Keep != "" {
		g.kept.set("--run %s has the finished parts; the same command goes on from there", c.Keep)
	}
	r, err := suggest.Replay(g.work(), ds, o)
	if err != nil {
		return err
	}
	err = output(g, c.Out, func(w io.Writer) error {
		if g.JSON {
			return printJSON(w, r)
		}
		return printReplay(w, ds.Name, r)
	})
	if err != nil {
		return err
	}
	if err := savePicture(g, c.Plot, pngScale, func() (*draw.Picture, error) { return replayChart(r, best5) }); err != nil || c.Report == "" {
		return err
	}
	page, err := replayReport(ds.Name, r)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Report, err)
	}
	return saveReport(g, c.Report, page)
}

// candidates returns the kernels that are chosen from in every round.
func (c *suggestCmd) candidates(ds *dataset.Dataset, o *choose.Options) ([]choose.Candidate, error) {
	if len(c.Kernel) != 1 && !c.Quick {
		o.ForCandidates()
	}
	all, _ := choose.Afford(ds.Graphs, choose.DefaultCandidates(dataset.Info(ds)))
	switch {
	case c.Quick:
		return []choose.Candidate{choose.Quick(all)}, nil
	case c.Kernel == nil:
		return all, nil
	}
	own, err := (&trainCmd{kernelsFlag: kernelsFlag{c.Kernel}}).own()
	return choose.Each(own...), err
}

// methodNames say what acquisition functions do in a replay.
var methodNames = map[suggest.Acquisition]string{suggest.Mean: "best predictions", suggest.Random: "random choice"}

func methodName(m *suggest.Method) string {
	return cmp.Or(methodNames[m.Acquisition], string(m.Acquisition))
}

// meanText writes a mean with its interval; within some bounds.
func meanText(m suggest.Mean95, scale float64, low, high float64, form func(float64) string) string {
	if m.Interval == nil {
		return form(scale * m.Mean)
	}
	return fmt.Sprintf("%s (%s–%s)", form(scale*m.Mean), form(scale*max(low, m.Interval.Low)), form(scale*min(high, m.Interval.High)))
}

func whole(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }

// replayTable has a row for each method.
func replayTable(r *suggest.Replayed) (head []string, rows [][]string) {
	head = []string{"method", "half of best 1 %", "best 1 %", "best 5 %", "best value"}
	for i := range r.Methods {
		m := &r.Methods[i]
		end := m.Rounds[r.Rounds]
		needed := meanText(m.Needed, 1, 0, float64(r.Graphs), whole)
		if m.Reached < r.Repeats {
			needed = "more than " + whole(m.Needed.Mean)
		}
		share := func(x suggest.Mean95) string { return meanText(x, 100, 0, 1, whole) + " %" }
		rows = append(rows, []string{methodName(m), needed, share(end.Found1), share(end.Found5), figure("", end.Best.Mean)})
	}
	return head, rows
}

// replaySummary says what was played, and what was saved.
func replaySummary(name string, r *suggest.Replayed) (played, saved string) {
	played = fmt.Sprintf("%s: %d graphs, goal %s; %d measured at first, then %d a round, %s, %s. The best 1 %% are %s, the best 5 %% %d.",
		name, r.Graphs, r.Goal, r.Start, r.Batch, agree(r.Rounds, "round", "rounds"), agree(r.Repeats, "repeat", "repeats"), agree(r.Best1, "graph", "graphs"), r.Best5)
	first, last := &r.Methods[0], &r.Methods[len(r.Methods)-1]
	if first == last || last.Acquisition != suggest.Random {
		return played, ""
	}
	less, what := r.Needs(first, last), "fewer"
	if less.Mean < 0 {
		less.Mean, what = -less.Mean, "more"
		if i := less.Interval; i != nil {
			less.Interval = &metrics.Interval{Level: i.Level, Low: -i.High, High: -i.Low}
		}
	}
	saved = fmt.Sprintf("To find half of the best 1 %%, %s needs %s measurements %s than random choice.", methodName(first), signed(less), what)
	if first.Reached < r.Repeats {
		saved += fmt.Sprintf(" It got so far in %d of %s.", first.Reached, agree(r.Repeats, "repeat", "repeats"))
	}
	return played, saved
}

// signed writes a mean with an interval that may begin below 0.
func signed(m suggest.Mean95) string {
	if m.Interval == nil {
		return whole(m.Mean)
	}
	return fmt.Sprintf("%s (%s to %s)", whole(m.Mean), whole(m.Interval.Low), whole(m.Interval.High))
}

// printReplay prints what was found.
func printReplay(w io.Writer, name string, r *suggest.Replayed) error {
	played, saved := replaySummary(name, r)
	fmt.Fprintf(w, "%s\n\n", table.Wrap(played, 0, 2))
	head, rows := replayTable(r)
	fmt.Fprintf(w, "measurements for half of the best 1 %%, and found after %d measurements:\n", r.Methods[0].Rounds[r.Rounds].Measured)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintf(w, "%-16s %18s %16s %16s %10s\n", row[0], row[1], row[2], row[3], row[4])
	}
	if saved != "" {
		fmt.Fprintf(w, "\n%s\n", table.Wrap(saved, 0, 2))
	}
	if r.Repeats > 1 {
		fmt.Fprintln(w, "In brackets: 95 % intervals of the means over repeats.")
	}
	return nil
}

// charted is what a replay is drawn by.
type charted struct {
	axis, caption string
	of            func(x suggest.Round) float64
}

var (
	best1 = charted{"found of the best 1 %, %", "Share of the best 1 % that is among the measured graphs, mean over repeats.",
		func(x suggest.Round) float64 { return 100 * x.Found1.Mean }}
	best5 = charted{"found of the best 5 %, %", "Share of the best 5 % that is among the measured graphs, mean over repeats.",
		func(x suggest.Round) float64 { return 100 * x.Found5.Mean }}
	bestValue = charted{"best value", "Best value among the measured graphs, mean over repeats.",
		func(x suggest.Round) float64 { return x.Best.Mean }}
)

// replayChart draws what is found by the number of measurements, a line for each method.
func replayChart(r *suggest.Replayed, what charted) (*draw.Picture, error) {
	c := draw.LineChart{XAxis: "measurements", YAxis: what.axis, Linear: true, Size: draw.Size{Width: 720, Height: 420}}
	for i := range r.Methods {
		s := draw.Series{Name: methodName(&r.Methods[i])}
		for _, x := range r.Methods[i].Rounds {
			s.X, s.Y = append(s.X, float64(x.Measured)), append(s.Y, what.of(x))
		}
		c.Series = append(c.Series, s)
	}
	return c.Picture()
}

// replayReport makes the report of a replay.
func replayReport(name string, r *suggest.Replayed) (*draw.Report, error) {
	played, saved := replaySummary(name, r)
	head, rows := replayTable(r)
	blocks := []draw.Block{draw.Table{Caption: fmt.Sprintf("What is found after %d measurements, with 95 %% intervals of the means over repeats; and measurements until half of the best 1 %% are found.",
		r.Methods[0].Rounds[r.Rounds].Measured), Header: head, Rows: rows}}
	for _, what := range []charted{best1, best5, bestValue} {
		picture, err := replayChart(r, what)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, draw.Figure{Picture: picture, Caption: what.caption})
	}
	return &draw.Report{Title: "What suggestions find in " + name, Summary: played + " " + saved,
		Sections: []draw.Section{{Heading: "Found", Blocks: blocks}}, Footer: footer(commandLine())}, nil
}
