package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
)

type evaluateCmd struct {
	dataFlags
	kernelFlags
	Data string `arg:"" help:"Dataset with targets; with --paper also a folder that has the paper's datasets."`

	Kernel   []string  `help:"Kernels to compare, each with its flags: mlg, flg, lg, wl, wl-edge, wl-oa, wl-sp, sp, graphlet, rw, labels." default:"mlg,wl" enum:"mlg,flg,lg,wl,wl-edge,wl-oa,wl-sp,sp,graphlet,rw,labels" group:"Evaluation"`
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
	if err := checkPicture("--plot", c.Plot); err != nil {
		return err
	}
	if ext := strings.ToLower(filepath.Ext(c.Report)); c.Report != "" && ext != ".html" && ext != ".htm" {
		return usageError(fmt.Sprintf("--report %s: want a name that ends with .html", c.Report))
	}
	if g.JSON && c.Markdown {
		return usageError("--json and --markdown exclude each other")
	}
	if err := checkFolders(c.Report, c.Plot); err != nil {
		return err
	}
	switch {
	case c.Default && c.Paper:
		return usageError("--default and --paper exclude each other")
	case c.Default && c.Select == evaluate.OnReported.String():
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
	report, err := c.evaluate(g, ds, candidates, c.options(g, c.Select))
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

// options returns the options with the given selection.
func (c *evaluateCmd) options(g *globals, selection string) evaluate.Options {
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats, o.Seed, o.Folder, o.Workers = c.Folds, c.Repeats, c.Splits, c.Keep, g.workers()
	if c.Paper {
		o.C = evaluate.PaperC()
	}
	if len(c.C) > 0 {
		o.C = c.C
	}
	if c.InnerN > 0 {
		o.InnerFolds = c.InnerN
	}
	// kong has checked the names
	if selection != "auto" {
		o.Selection, _ = evaluate.ParseSelection(selection)
	}
	o.Fitting, _ = evaluate.ParseFitting(c.Fit)
	if c.Default {
		o.ForCandidates()
	}
	learning(&o, c.Learner, c.Inner, c.Score)
	return o
}

// evaluate evaluates kernels on a dataset.
func (c *evaluateCmd) evaluate(g *globals, ds *dataset.Dataset, candidates []evaluate.Candidate, o evaluate.Options) (*evaluate.Report, error) {
	start := time.Now()
	o.Clock = func() time.Duration { return time.Since(start) }
	bar := newBar(g)
	defer bar.done()
	o.Progress = func(done, total int) { bar.show("evaluate", int64(done), int64(total), "folds") }
	if c.Keep != "" {
		g.kept.set("--run %s has the finished parts; the same command goes on", c.Keep)
	}
	return evaluate.Run(g.ctx, ds, candidates, o)
}

// pictures writes what --plot and --report ask for.
func (c *evaluateCmd) pictures(g *globals, ds *dataset.Dataset, report *evaluate.Report) error {
	if c.Plot != "" {
		p, err := accuracyBars(fmt.Sprintf("Kernels on %s", report.Dataset), report)
		if err := savePicture(g, c.Plot, p, err); err != nil {
			return err
		}
		g.note("%s: scores drawn", c.Plot)
	}
	if c.Report != "" {
		bar := newBar(g)
		bar.show("report", 0, 0, "")
		page, err := c.report(g, ds, report)
		bar.done()
		if err != nil {
			return err
		}
		if err := saveReport(g, c.Report, page); err != nil {
			return err
		}
		g.note("%s: report written", c.Report)
	}
	return nil
}

// learning sets what is not auto, and takes from options for ridges what support vector machines
// cannot do.
func learning(o *evaluate.Options, learner, inner, score string) {
	const auto = "auto"
	// kong has checked the names
	if learner != auto {
		if o.Learner, _ = evaluate.ParseLearner(learner); o.Learner == evaluate.SVM && o.Score == evaluate.Squared {
			o.Inner, o.Score = evaluate.KFold, evaluate.Accuracy
		}
	}
	if inner != auto {
		o.Inner, _ = evaluate.ParseInner(inner)
	}
	if score != auto {
		o.Score, _ = evaluate.ParseScore(score)
	}
}

// candidates returns the default candidates or the kernels of the flags.
func (c *evaluateCmd) candidates(g *globals, ds *dataset.Dataset) ([]evaluate.Candidate, error) {
	if c.Default {
		return evaluate.DefaultCandidates(dataset.Info(ds))
	}
	var out []evaluate.Candidate
	// Progress of single kernels would disturb that of the whole.
	quiet := *g
	quiet.Quiet = true
	bar := newBar(&quiet)
	for _, name := range c.Kernel {
		k, err := c.kernel(&quiet, name, ds.Graphs, bar)
		if err != nil {
			return nil, err
		}
		if (name == "mlg" || name == "flg") && c.Combine == mlg.GeometricMean.String() {
			k = evaluate.Indefinite(k)
		}
		_, parameters, _ := strings.Cut(fmt.Sprint(k), " ")
		if name == "mlg" || name == "flg" {
			parameters += fmt.Sprintf(" seed=%d", c.Seed)
		}
		out = append(out, evaluate.Candidate{Name: name, Settings: []evaluate.Setting{{Parameters: parameters, Kernel: k}}})
	}
	return out, nil
}
