package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/paper"
	"github.com/mlgkernel/mlg/svm"
)

type evaluateCmd struct {
	dataFlags
	kernelFlags
	Data string `arg:"" help:"Dataset with targets; with --paper also a folder that has the paper's datasets."`

	Kernel   []string  `help:"Kernels to compare, each with its flags: ${kernel_list}." default:"mlg,wl" enum:"${kernels}" group:"Evaluation"`
	Default  bool      `help:"Evaluate the fixed list of candidates and their combinations, instead of --kernel." group:"Evaluation"`
	Paper    bool      `help:"Evaluate the kernels of the paper's Table 1 with its parameter grids, instead of --kernel, and print its Tables 1 to 3 beside the figures of the paper." group:"Evaluation"`
	Folds    int       `help:"Number of folds." default:"10" group:"Evaluation"`
	Repeats  int       `help:"Number of repeats." default:"10" group:"Evaluation"`
	Splits   uint64    `help:"Seed of the splits." default:"0" name:"split-seed" group:"Evaluation"`
	Inner    string    `help:"Choice of parameters inside the training part: kfold, holdout, loo; auto: loo with --default, and for mlg with --paper, else kfold." default:"auto" enum:"auto,kfold,holdout,loo" group:"Evaluation"`
	InnerN   int       `help:"With --inner kfold: validation folds; 0 means all." default:"0" name:"inner-folds" group:"Evaluation"`
	Select   string    `help:"nested, or reported: on the folds that are reported, as papers often do; auto: both with --paper, else nested." default:"auto" enum:"auto,nested,reported" group:"Evaluation"`
	Fit      string    `help:"transductive: on all graphs without targets; inductive: on the training fold." default:"transductive" enum:"transductive,inductive" group:"Evaluation"`
	Learner  string    `help:"svm or ridge; auto: ridge with --default, else svm." default:"auto" enum:"auto,svm,ridge" group:"Evaluation"`
	Score    string    `help:"What the choice of parameters maximises: accuracy, balanced; with ridge also squared: minus the squared error; auto: squared with --default and ridge, else accuracy." default:"auto" enum:"auto,accuracy,balanced,squared" group:"Evaluation"`
	C        []float64 `help:"Values of C to choose from; 0.1,0.3,…,100 by default, with --paper 0.001,0.01,…,1000." placeholder:"C,…" group:"Evaluation"`
	Keep     string    `help:"Folder that keeps the results of finished parts, to resume." name:"run" placeholder:"FOLDER" group:"Evaluation"`
	Markdown bool      `help:"Print Markdown." group:"Evaluation"`
	Report   string    `help:"Write a report with pictures: .html." placeholder:"FILE" group:"Evaluation"`
	Plot     string    `help:"Draw the scores with their intervals: .svg or .png." placeholder:"FILE" group:"Evaluation"`
}

// Run evaluates kernels.
func (c *evaluateCmd) Run(g *globals) error {
	if err := cmp.Or(checkPicture("--plot", c.Plot), checkFile("--report", c.Report, ".html", ".htm")); err != nil {
		return err
	}
	switch {
	case g.JSON && c.Markdown:
		return usageError("--json and --markdown exclude each other")
	case c.Default && c.Paper:
		return usageError("--default and --paper exclude each other")
	case (c.Default || c.Paper) && !slices.Equal(c.Kernel, defaultKernels):
		return usageError("--kernel is for an evaluation without --default and --paper, which have their kernels")
	case c.Default && c.Select == reported:
		return usageError("--default combines kernels inside the training part: want --select nested")
	case c.Paper:
		return c.paper(g)
	}
	ds, err := c.read(g, c.Data)
	if err != nil {
		return err
	}
	candidates, err := c.candidates(g, ds)
	if err != nil {
		return err
	}
	report, err := c.evaluate(g, ds, candidates, c.options(g, c.Select == reported))
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

// defaultKernels are those of --kernel.
var defaultKernels = []string{"mlg", "wl"}

// optionError turns an error about a field of options, as in "choose: Folds = 1, want …", into one
// about its flag.
func optionError(err error) error {
	_, text, _ := strings.Cut(err.Error(), ": ")
	if name, rest, ok := strings.Cut(text, " = "); ok {
		text = "--" + strings.ToLower(name) + " = " + rest
	}
	return usageError(text)
}

// Values of --select.
const nested, reported = "nested", "reported"

// options returns the options, with choices on training parts or on the reported folds.
func (c *evaluateCmd) options(g *globals, onReported bool) evaluate.Options {
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats, o.Seed, o.Folder = c.Folds, c.Repeats, c.Splits, c.Keep
	if c.Paper {
		o.C = paper.C()
	}
	if len(c.C) > 0 {
		o.C = c.C
	}
	if c.InnerN > 0 {
		o.InnerFolds = c.InnerN
	}
	o.OnReported, o.Inductive = onReported, c.Fit == "inductive"
	if c.Default {
		o.ForCandidates()
	}
	learning(&o.Options, c.Learner, c.Inner, c.Score)
	return o
}

// evaluate evaluates kernels on a dataset.
func (c *evaluateCmd) evaluate(g *globals, ds *dataset.Dataset, candidates []choose.Candidate, o evaluate.Options) (*evaluate.Report, error) {
	if err := o.Validate(); err != nil {
		return nil, optionError(err)
	}
	start := time.Now()
	o.Clock = func() time.Duration { return time.Since(start) }
	o.Progress = func(done, total int) { g.bar.show("evaluate", int64(done), int64(total), "folds") }
	if c.Keep != "" {
		g.kept.set("--run %s has the finished parts; the same command goes on", c.Keep)
	}
	return evaluate.Run(g.ctx, ds, candidates, o)
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

// learning sets what is not auto, and takes from options for ridges what support vector machines
// cannot do.
func learning(o *choose.Options, learner, inner, score string) {
	// kong has checked the names
	switch learner {
	case "ridge":
		o.Learner = svm.KernelRidge
	case "svm":
		if o.Learner = svm.SVM; o.Score == choose.Squared {
			o.LeaveOneOut, o.Score = false, choose.Accuracy
		}
	}
	switch inner {
	case "loo":
		o.LeaveOneOut = true
	case "kfold":
		o.LeaveOneOut = false
	case "holdout":
		o.LeaveOneOut, o.InnerFolds = false, 1
	}
	switch score {
	case "accuracy":
		o.Score = choose.Accuracy
	case "balanced":
		o.Score = choose.BalancedAccuracy
	case "squared":
		o.Score = choose.Squared
	}
}

// candidates returns the default candidates or the kernels of the flags.
func (c *evaluateCmd) candidates(g *globals, ds *dataset.Dataset) ([]choose.Candidate, error) {
	if c.Default {
		return choose.DefaultCandidates(dataset.Info(ds)), nil
	}
	kernels, err := c.kernels(g.quietly(), c.Kernel, ds.Graphs)
	if err != nil {
		return nil, err
	}
	var out []choose.Candidate
	for i, k := range kernels {
		_, parameters, _ := strings.Cut(k.String(), " ")
		out = append(out, choose.Candidate{Name: c.Kernel[i], Settings: []choose.Setting{{Parameters: parameters, Kernel: k}}})
	}
	return out, nil
}
