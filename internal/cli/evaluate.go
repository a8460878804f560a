package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/paper"
	"github.com/mlgkernel/mlg/work"
)

// choiceFlags say how parameters are chosen.
type choiceFlags struct {
	Folds   int       `help:"Number of folds. With svm, train chooses on one fold less, as each training part of an evaluation does." default:"10"`
	Splits  uint64    `help:"Seed of the splits." default:"0" name:"split-seed"`
	Learner string    `help:"ridge or svm. ridge is a kernel ridge regression for each class, with calibrated probabilities. For values it is a Gaussian process and gives deviations. auto: ridge, or svm with --c or --paper." default:"auto" enum:"auto,svm,ridge"`
	Score   string    `help:"What the choice of a classifier maximises: accuracy, balanced (mean accuracy of the classes), or with ridge squared (minus the squared error). auto: squared with ridge, else accuracy." default:"auto" enum:"auto,accuracy,balanced,squared"`
	C       []float64 `help:"Values of C to choose from, of a support vector machine. One value fixes it. By default 0.1,0.3,…,100; with evaluate --paper 0.001,0.01,…,1000." placeholder:"C"`
}

type evaluateCmd struct {
	Data string `arg:"" help:"Dataset with targets. With --paper also a folder of datasets."`

	Default     bool   `help:"Evaluate what train does: its list of kernels as a weighted sum, as a mean, and the best one." xor:"kernels" group:"Evaluation"`
	All         bool   `help:"With --default: every kernel of the list too." group:"Evaluation"`
	Paper       bool   `help:"Evaluate the paper's kernels with its grids." xor:"kernels" group:"Evaluation"`
	Split       string `help:"How graphs are dealt to folds: stratified (each class evenly), random, scaffold or cluster (similar graphs together), column=NAME (equal values together, or its parts train and test), time=NAME (earlier graphs predict later ones), or a file of --save-splits." default:"stratified" placeholder:"HOW" group:"Evaluation"`
	SaveSplits  string `help:"Write the folds: .json." name:"save-splits" placeholder:"FILE" ends:".json" group:"Evaluation"`
	Repeats     int    `help:"Number of repeats." default:"10" group:"Evaluation"`
	Inner       string `help:"How a training part chooses parameters: kfold, holdout or loo (leave-one-out). auto: loo with ridge, for mlg with --paper, and without folds; else kfold." default:"auto" enum:"auto,kfold,holdout,loo" placeholder:"HOW" group:"Evaluation"`
	InnerN      int    `help:"With --inner kfold: validation folds. 0 means all." default:"0" name:"inner-folds" group:"Evaluation"`
	Select      string `help:"Where parameters are chosen: nested (in the training part) or reported (on the reported folds, as in many papers). auto: nested, with --paper both." default:"auto" placeholder:"WHERE" enum:"auto,nested,reported" group:"Evaluation"`
	Fit         string `help:"What kernels are fitted to: transductive (all graphs, without targets) or inductive (the training fold)." default:"transductive" placeholder:"HOW" enum:"transductive,inductive" group:"Evaluation"`
	choiceFlags `group:"Training"`
	Keep        string `help:"Folder of finished parts, to go on from there." name:"run" placeholder:"FOLDER" group:"Evaluation"`
	Markdown    bool   `help:"Print Markdown." group:"Evaluation"`
	Report      string `help:"Write a report with pictures: .html." placeholder:"FILE" ends:".html .htm" group:"Evaluation"`
	Plot        string `help:"Draw the scores: .svg or .png." placeholder:"FILE" ends:".svg .png" group:"Evaluation"`
	learnFlags
	kernelsFlag
}

// Run evaluates kernels.
func (c *evaluateCmd) Run(g *globals) error {
	switch {
	case (c.Default || c.Paper) && c.Kernel != nil:
		return usageError("--kernel cannot be used with --default or --paper, which have their own kernels")
	case c.All && !c.Default:
		return usageError("--all needs --default")
	case c.Default && c.Select == reported:
		return usageError("--default needs --select nested: it combines kernels inside the training part")
	case c.Paper && (c.Split != stratified || c.SaveSplits != ""):
		return usageError("--split and --save-splits cannot be used with --paper")
	case c.Paper:
		return c.paper(g)
	}
	if c.Kernel == nil {
		c.Kernel = []kernelArg{defaultKernel(), "wl"}
	}
	if _, err := kernels(c.Kernel); err != nil {
		return err
	}
	tasks, err := c.tasks(g, c.Data, "auto")
	if err != nil {
		return err
	}
	share(tasks)
	return eachTask(g, tasks, func(t task) error {
		one := *c
		one.Plot, one.Report, one.Keep, one.SaveSplits = t.file(c.Plot), t.file(c.Report), t.file(c.Keep), t.file(c.SaveSplits)
		return one.target(g, t)
	})
}

// target evaluates kernels on one target.
func (c *evaluateCmd) target(g *globals, t task) error {
	ds := t.Dataset
	candidates, err := c.candidates(g, ds)
	if err != nil {
		return err
	}
	o, err := c.options(g, ds, c.Select == reported)
	if err != nil {
		return err
	}
	o.Collection = cmp.Or(t.shared, kernel.NewCollection(choose.Untargeted(ds)))
	if o.Splits, err = c.dealt(g, ds, o.Collection); err != nil {
		return err
	}
	if c.Inner == "auto" {
		o.LeaveOneOut = o.LeaveOneOut || !o.Splits.Tuned()
	}
	if !t.fitted {
		n, workers, singles := len(ds.Graphs), g.workers(), 2 // the labels and the best kernel
		if !o.Combined {
			singles += len(candidates)
		}
		bytes := func(x choose.Options, factors int) int64 {
			all := o
			all.Options = x
			return all.Bytes(n, factors, workers)
		}
		kept, err := evaluate.KeptOf(ds, candidates, o)
		if err != nil {
			return err
		}
		hint := ""
		if kept != (evaluate.Kept{}) {
			hint = fmt.Sprintf(" (%s has %.0f %% of the scores and %.0f %% of the predictions)", c.Keep, 100*kept.Scores, 100*kept.Predictions)
		}
		if !kept.Done() {
			takes := func(c costs) time.Duration { return c.evaluate(n, singles, workers, o, kept) }
			if err := g.announce(ds, candidates, o.Options, bytes, takes, hint, fewer); err != nil {
				return err
			}
		}
	}
	report, err := c.evaluate(g, ds, candidates, o)
	if err != nil {
		return err
	}
	if err := c.pictures(g, ds, report); err != nil {
		return err
	}
	switch {
	case g.JSON:
		return report.WriteJSON(g.stdout)
	case c.Markdown:
		return report.WriteMarkdown(g.stdout)
	}
	return report.WriteText(g.stdout)
}

// Values of --select.
const nested, reported = "nested", "reported"

// options returns the options, with choices on training parts or on the reported folds.
func (c *evaluateCmd) options(g *globals, ds *dataset.Dataset, onReported bool) (evaluate.Options, error) {
	o := evaluate.DefaultOptions()
	if c.Paper {
		o.C, o.Probability = paper.C(), false // its machines are C-SVCs as they stand
	}
	if c.Paper && c.Learner == "auto" {
		o.ForSVM()
	}
	if c.Default {
		o.ForCandidates()
	}
	if c.InnerN > 0 {
		o.InnerFolds = c.InnerN
	}
	o.Repeats, o.Folder, o.OnReported, o.Inductive, o.Combined = c.Repeats, c.Keep, onReported, c.Fit == "inductive", c.Default && !c.All
	if err := c.apply(g, &o.Options, dataset.Info(ds).TargetRange != nil); err != nil {
		return o, err
	}
	if onReported && c.Score == "auto" {
		o.Score = choose.Accuracy // that of classes, not of values
	}
	switch c.Inner { // kong has checked the names
	case "loo":
		o.LeaveOneOut = true
	case "kfold":
		o.LeaveOneOut = false
	case "holdout":
		o.LeaveOneOut, o.InnerFolds = false, 1
	}
	return o, optionError(o.Validate())
}

// evaluate evaluates kernels on a dataset.
func (c *evaluateCmd) evaluate(g *globals, ds *dataset.Dataset, candidates []choose.Candidate, o evaluate.Options) (*evaluate.Report, error) {
	start := time.Now()
	o.Clock = func() time.Duration { return time.Since(start) }
	o.Damaged = func(path string, err error) { g.note("%s: %v; it is computed again", path, err) }
	if c.Keep != "" {
		g.kept.set("--run %s has the finished parts; the same command goes on from there", c.Keep)
	}
	return evaluate.Run(g.work(), ds, candidates, o)
}

// pictures writes what --plot and --report ask for.
func (c *evaluateCmd) pictures(g *globals, ds *dataset.Dataset, report *evaluate.Report) error {
	plot := func() (*draw.Picture, error) { return accuracyBars("Kernels on "+report.Dataset, report) }
	if err := savePicture(g, c.Plot, pngScale, plot); err != nil || c.Report == "" {
		return err
	}
	g.bar.show("report", 0, 0, "")
	page, err := c.report(g, ds, report)
	if err != nil {
		return err
	}
	return saveReport(g, c.Report, page)
}

// apply sets options for classes or values, and refuses flags that have no effect.
func (f *choiceFlags) apply(g *globals, o *choose.Options, values bool) error {
	switch {
	case f.Score != "auto" && values:
		return usageError("--score is for classes, but the targets are values")
	case len(f.C) > 0 && f.Learner == "ridge":
		return usageError("--c needs --learner svm")
	}
	o.Folds, o.Seed = f.Folds, f.Splits
	o.Memory = cmp.Or(int64(g.MaxMemory*1e9), work.Available())
	if len(f.C) > 0 {
		o.C = f.C
	}
	if f.Learner == "svm" || len(f.C) > 0 {
		o.ForSVM()
	}
	switch f.Score {
	case "accuracy":
		o.Score = choose.Accuracy
	case "balanced":
		o.Score = choose.BalancedAccuracy
	case "squared":
		o.Score = choose.Squared
	}
	return optionError(o.Validate())
}

// candidates returns the default candidates or the kernels of the flags.
func (c *evaluateCmd) candidates(g *globals, ds *dataset.Dataset) ([]choose.Candidate, error) {
	if c.Default {
		all, changes := choose.Afford(ds.Graphs, choose.DefaultCandidates(dataset.Info(ds)))
		g.noteChanges(changes)
		return all, nil
	}
	all, err := kernels(c.Kernel)
	return choose.Each(all...), err
}

// accuracyBars draws the results of an evaluation: accuracies, or the AUCs of uneven classes, with confidence intervals, or
// root mean squared errors with their deviation between repeats.
func accuracyBars(title string, r *evaluate.Report) (*draw.Picture, error) {
	c := draw.BarChart{Title: title, Axis: "accuracy in %, with 95 % interval", Size: draw.Size{Width: 720, Height: 140 + 34*float64(len(r.Results))}}
	for _, x := range r.Results {
		b := draw.Bar{Name: x.Name}
		switch {
		case r.Uneven && x.AUC != nil:
			b.Value, c.Axis = *x.AUC, "AUC"
			if i := x.Interval; i != nil {
				b.Error, c.Axis = (i.High-i.Low)/2, fmt.Sprintf("AUC, with %.0f %% interval", 100*i.Level)
			}
		case x.ClassificationSummary != nil:
			b.Value = 100 * x.Accuracy
			if x.Interval != nil {
				b.Error = 50 * (x.Interval.High - x.Interval.Low)
				c.Axis = fmt.Sprintf("accuracy in %%, with %.0f %% interval", 100*x.Interval.Level)
			}
		default:
			c.Axis = "root mean squared error, with deviation between repeats"
			b.Value, b.Error = x.RMSE, x.RMSEStd
		}
		c.Bars = append(c.Bars, b)
	}
	return c.Picture()
}

// calibrationChart draws what share of values is in the intervals of a row, by their level.
func calibrationChart(x *evaluate.Result) (*draw.Picture, error) {
	c := draw.LineChart{XAxis: "level of the interval in %", YAxis: "values in it in %", Linear: true,
		Size:   draw.Size{Width: 480, Height: 420},
		Series: []draw.Series{{Name: x.Name}, {Name: "as it should be", X: []float64{0, 100}, Y: []float64{0, 100}}}}
	for _, p := range x.Coverage {
		c.Series[0].X, c.Series[0].Y = append(c.Series[0].X, 100*p.Level), append(c.Series[0].Y, 100*p.Share)
	}
	return c.Picture()
}

// evaluationSections are the figures of an evaluation.
func evaluationSections(r *evaluate.Report) ([]draw.Section, error) {
	bars, err := accuracyBars("", r)
	if err != nil {
		return nil, err
	}
	var out []draw.Section
	for i, t := range r.Tables() {
		s := draw.Section{Heading: t.Caption}
		if i == 0 {
			s.Blocks = []draw.Block{draw.Paragraph(strings.Join(r.Facts(), " ")), draw.Figure{Picture: bars}}
		}
		s.Blocks = append(s.Blocks, draw.Table{Header: t.Header, Rows: t.Rows})
		if best := r.Best(); t.Caption == evaluate.Calibration && best.Coverage != nil {
			chart, err := calibrationChart(best)
			if err != nil {
				return nil, err
			}
			s.Blocks = append(s.Blocks, draw.Figure{Picture: chart})
		}
		out = append(out, s)
	}
	return out, nil
}

// report makes the report of an evaluation. The pictures of a kernel matrix are those of mlg
// where it was evaluated, else of the first kernel.
func (c *evaluateCmd) report(g *globals, ds *dataset.Dataset, r *evaluate.Report) (*draw.Report, error) {
	sections, err := evaluationSections(r)
	if err != nil {
		return nil, err
	}
	var shown kernelFlag
	if !c.Default && !c.Paper && !slices.Contains(c.Kernel, shown.text()) {
		shown.Kernel = &c.Kernel[0]
	}
	name := string(shown.text())
	heading := "The kernel " + name
	if len(ds.Graphs) > largestPicture {
		sections = append(sections, draw.Section{Heading: heading, Blocks: []draw.Block{draw.Paragraph(fmt.Sprintf("No pictures of the kernel matrix: more than %d graphs.", largestPicture))}})
	} else {
		m, err := shown.fit(g.quietly(), ds.Graphs)
		if err != nil {
			return nil, err
		}
		gram, err := m.Kernel.Gram(g.ctx)
		if err != nil {
			return nil, err
		}
		blocks, err := kernelFigures(g, name, m, gram, classesOf(ds))
		if err != nil {
			return nil, err
		}
		sections = append(sections, draw.Section{Heading: heading, Blocks: append([]draw.Block{draw.Code(kernelText(m))}, blocks...)})
	}
	return &draw.Report{Title: "Kernels on " + strings.TrimPrefix(r.Dataset, "builtin:"), Summary: dataText("", r.Graphs, r.Classes) + ".",
		Sections: sections, Footer: footer(commandLine())}, nil
}
