package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
)

type trainCmd struct {
	Data string `arg:"" help:"Dataset with targets."`
	Out  string `help:"Model file to write." short:"o" required:"" placeholder:"FILE" ends:""`

	Quick       bool   `help:"Train one good kernel instead of weighing the default candidates. The ridge is still chosen." group:"Training"`
	Task        string `help:"What is learned: classification or regression. auto: by the targets." default:"auto" enum:"auto,classification,regression" group:"Training"`
	Groups      string `help:"Column whose values group the graphs. The error for graphs of new groups is shown as well. Without it, molecules with one scaffold are a group, or graphs that the kernel finds similar." placeholder:"COLUMN" group:"Training"`
	choiceFlags `group:"Training"`
	learnFlags
	kernelsFlag
}

// trained is the command's report on a model.
type trained struct {
	File        string             `json:"file"`
	Data        string             `json:"data"`
	Target      string             `json:"target,omitempty"` // the column
	Graphs      int                `json:"graphs"`
	Skipped     dataset.LeftOut    `json:"skipped"`  // rows that cannot be read
	LeftOut     dataset.LeftOut    `json:"left_out"` // rows without a value, and molecules whose classes disagree
	Classes     []string           `json:"classes,omitempty"`
	Combination choose.Combination `json:"combination"`
	Shared      bool               `json:"shared,omitempty"` // the weights are those of several targets
	Kernels     []trainedPart      `json:"kernels"`
	Parameter   string             `json:"parameter"` // "C" or "ridge"
	Value       float64            `json:"value"`
	Edge        bool               `json:"edge,omitempty"` // the ridge is the smallest or largest of its grid
	Estimate    choose.Estimate    `json:"estimate"`
	Groups      *choose.Estimate   `json:"group_estimate,omitempty"` // when whole groups are left out
	*process
	Changes  []string                `json:"changes,omitempty"` // kernels of the default list that are left out or smaller, and why
	Compared []choose.ProcedureScore `json:"compared"`          // the ways of combination that were compared
	Baseline float64                 `json:"baseline"`          // that of the largest class, or the deviation of the values
	Limited  int                     `json:"limited"`
	Bytes    int64                   `json:"bytes"`
	Seconds  float64                 `json:"seconds"`

	molecules bool
}

// process says how far the deviations of a Gaussian process can be trusted.
type process struct {
	Noise          float64           `json:"noise"`           // standard deviation
	ReplicateNoise float64           `json:"replicate_noise"` // of the values of equal graphs
	Replicates     int               `json:"replicates"`      // degrees of freedom of that
	Wider          float64           `json:"wider"`           // factor of the deviations of new groups
	Clipped        int               `json:"clipped"`         // graphs whose variance is below 0
	Calibration    []choose.Estimate `json:"calibration"`
}

type trainedPart struct {
	Candidate string  `json:"candidate"`
	Setting   string  `json:"setting,omitempty"` // unless it has the candidate's name
	Kernel    string  `json:"kernel"`
	Weight    float64 `json:"weight"`
}

// name tells a kernel from all others.
func (k *trainedPart) name() string {
	return cmp.Or(k.Setting, k.Candidate)
}

// Run chooses a kernel, trains and writes a model.
func (c *trainCmd) Run(g *globals) error {
	if strings.HasSuffix(c.Out, ".gz") {
		return usageError(c.Out + ": model files are not compressed, want a name without .gz")
	}
	if c.Quick && c.Kernel != nil {
		return usageError("--quick and --kernel cannot be used together")
	}
	if _, err := c.own(); err != nil {
		return err
	}
	tasks, err := c.tasks(g, c.Data, c.Task)
	if err != nil {
		return err
	}
	start := time.Now()
	ds, endpoints := joined(tasks)
	o, candidates, changes, err := c.plan(g, ds, tasks)
	if err != nil {
		return err
	}
	if err := c.announce(g, ds, len(tasks), candidates, o, changes); err != nil {
		return err
	}
	if c.Groups != "" {
		values, err := cellsOf(ds, c.Groups)
		if err != nil {
			return fmt.Errorf("--groups: %w", err)
		}
		o.Groups = &choose.Groups{By: c.Groups, Of: numbered(values)}
	}
	read := c.dataFlags.options()
	read.TargetColumn = targetNames(endpoints)
	m, plans, err := model.LearnAll(g.work(), ds, endpoints, candidates, model.LearnOptions{
		Options: o, Reader: &read,
		Created: map[string]string{"data": ds.Name, "split-seed": fmt.Sprint(c.Splits)},
	})
	if err != nil {
		return hintOfValues(err)
	}
	for i, plan := range plans {
		if n := len(plan.Classes); 3*n > len(plan.Labels) && n > 0 {
			g.note("%s%d classes for %d graphs; if the targets are values, use --task regression", tasks[i].label(), n, len(plan.Labels))
		}
	}
	if err := g.write(c.Out, func() error { return model.Write(g.ctx, c.Out, m) }); err != nil {
		return err
	}
	reports := make([]trained, len(plans))
	for i, p := range plans {
		reports[i] = c.report(tasks[i], p, m.Endpoints()[i], changes, time.Since(start))
	}
	switch {
	case g.JSON && len(reports) > 1:
		return printJSON(g.stdout, reports)
	case g.JSON:
		return printJSON(g.stdout, reports[0])
	case len(reports) > 1:
		return printAll(g.stdout, ds, reports)
	}
	return c.print(g.stdout, &reports[0], plans[0])
}

// joined returns the graphs that any task has, without targets of their own, and the tasks as endpoints of them.
func joined(tasks []task) (*dataset.Dataset, []choose.Endpoint) {
	if len(tasks) == 1 {
		return tasks[0].Dataset, []choose.Endpoint{{Name: tasks[0].target, Data: tasks[0].Dataset}}
	}
	place := map[int]int{}
	var rows []int
	for _, t := range tasks {
		rows = append(rows, t.Rows()...)
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for k, i := range rows {
		place[i] = k
	}
	var out []choose.Endpoint
	for _, t := range tasks {
		e := choose.Endpoint{Name: t.target, Data: t.Dataset}
		if len(t.Graphs) < len(rows) {
			for _, i := range t.Rows() {
				e.At = append(e.At, place[i])
			}
		}
		out = append(out, e)
	}
	return tasks[0].read.Select(rows), out
}

// targetNames are the columns of endpoints, as --target names them.
func targetNames(endpoints []choose.Endpoint) string {
	var out []string
	for _, e := range endpoints {
		out = append(out, e.Name)
	}
	return strings.Join(out, ",")
}

// announce says what the training will need, and what is left out of the default candidates.
func (c *trainCmd) announce(g *globals, ds *dataset.Dataset, targets int, candidates []choose.Candidate, o choose.Options, changes []string) error {
	g.noteChanges(changes)
	hint := ""
	if !c.Quick && c.Kernel == nil {
		hint = " (--quick takes one kernel)"
	}
	instead := byRefine
	if targets > 1 || o.Learner != learn.KernelRidge { // mlg refine takes models of one target
		instead = fewer
	}
	n, workers := len(ds.Graphs), g.workers()
	return g.announce(ds, candidates, o, func(o choose.Options, factors int) int64 { return o.Bytes(n, factors, workers) },
		func(c costs) time.Duration { return c.train(n, targets, workers, o) }, hint, instead)
}

// own returns the kernels of the flags.
func (c *trainCmd) own() ([]kernel.Kernel, error) {
	all, err := kernels(c.Kernel)
	for _, k := range all {
		if !kernel.Semidefinite(k) {
			return nil, usageError(fmt.Sprintf("--kernel: %s cannot be kept in a model, because it is not positive semi-definite", k))
		}
	}
	return all, err
}

// plan returns what is chosen from, and how, and what is left out of the default candidates.
func (c *trainCmd) plan(g *globals, ds *dataset.Dataset, tasks []task) (choose.Options, []choose.Candidate, []string, error) {
	o := choose.DefaultOptions()
	o.Task = map[string]choose.Task{"classification": choose.Classification, "regression": choose.Regression}[c.Task]
	values := o.Task == choose.Regression || o.Task == choose.AutoTask && !slices.ContainsFunc(tasks, func(t task) bool {
		return dataset.Info(t.Dataset).TargetRange == nil
	})
	if len(c.Kernel) != 1 && !c.Quick {
		o.ForCandidates()
	}
	if err := c.apply(g, &o, values); err != nil {
		return o, nil, nil, err
	}
	if c.Kernel != nil {
		own, err := c.own()
		if err != nil {
			return o, nil, nil, err
		}
		candidates, err := c.few(tasks, values, &o, choose.Each(own...))
		return o, candidates, nil, err
	}
	all, changes := choose.Afford(ds.Graphs, choose.DefaultCandidates(dataset.Info(ds)))
	if c.Quick {
		all, changes = []choose.Candidate{choose.Quick(all)}, nil
	}
	candidates, err := c.few(tasks, values, &o, all)
	return o, candidates, changes, err
}

// report says what was chosen for a task, and how good it may be.
func (c *trainCmd) report(t task, p *choose.Plan, m *model.Model, changes []string, took time.Duration) trained {
	ds := t.Dataset
	r := trained{
		File: c.Out, Data: ds.Name, Target: t.target, Skipped: ds.Skipped, LeftOut: t.left, Graphs: len(ds.Graphs), Classes: p.Classes, Combination: p.Combination, Shared: p.Shared,
		Parameter: choose.ParameterName(p.Learner), Value: p.Parameter, Edge: p.Edge, Estimate: p.Estimate, Groups: p.GroupEstimate, Compared: p.Procedures, Changes: changes, Baseline: baselineScore(p),
		Limited: p.Limited, Bytes: fileSize(c.Out), Seconds: took.Seconds(), molecules: chem.Molecules(ds.Graphs),
	}
	for _, s := range p.Settings {
		k := trainedPart{Candidate: s.Candidate, Kernel: s.Kernel.String(), Weight: s.Weight}
		if s.Parameters != s.Candidate {
			k.Setting = s.Parameters
		}
		r.Kernels = append(r.Kernels, k)
	}
	if x := m.Learner.Process; x != nil {
		r.process = &process{x.Noise(), x.ReplicateNoise, x.Replicates, x.Wider, x.Clipped, p.Calibration()}
	}
	slices.SortStableFunc(r.Kernels, func(a, b trainedPart) int { return cmp.Compare(b.Weight, a.Weight) })
	return r
}

// print writes the report on a model of one target.
func (c *trainCmd) print(w io.Writer, r *trained, p *choose.Plan) error {
	fmt.Fprintln(w, dataText(r.Data+": ", r.Graphs, r.Classes))
	r.printChoice(w, p)
	if r.Estimate.Measure == "" {
		printFew(w)
	} else {
		r.printEstimate(w, p)
	}
	if strings.Contains(r.Estimate.Method, "nested") && c.Kernel == nil && !c.Quick {
		other := "--split time=COLUMN for later graphs"
		if r.molecules {
			other = "--split scaffold for molecules with other rings"
		}
		text := fmt.Sprintf("For a fully nested estimate: mlg evaluate %s --default. Add %s", c.Data, other)
		fmt.Fprintf(w, "  %s\n", table.Wrap(text, 2, 2))
	}
	if r.Edge {
		fmt.Fprintf(w, "  %s\n", table.Wrap(fmt.Sprintf("ridge %g is at the edge of those that were tried; one beyond it may be better", r.Value), 2, 2))
	}
	if r.Limited > 0 {
		fmt.Fprintf(w, "  %s stopped at the solver's limit of iterations\n", agree(r.Limited, "training", "trainings"))
	}
	if p.Classes == nil && r.Estimate.Measure != "" {
		r.printCalibration(w)
	}
	_, err := fmt.Fprintf(w, "\n%s: %s, %s\n", r.File, count(float64(r.Bytes), "B"), round(time.Duration(r.Seconds*float64(time.Second))))
	return err
}

// printChoice says what was compared and chosen.
func (r *trained) printChoice(w io.Writer, p *choose.Plan) {
	if len(r.Compared) > 1 {
		on := ""
		if p.Compared < r.Graphs {
			on = fmt.Sprintf(" on a sample of %d graphs", p.Compared)
		}
		fmt.Fprintf(w, "\nways to combine the candidates, %s%s:\n", r.Compared[0].Measure, on)
		for _, s := range r.Compared {
			mark := ""
			if s.Combination == r.Combination {
				mark = "  ← taken"
			}
			fmt.Fprintf(w, "  %-14s %7s%s\n", s.Combination, figure(s.Measure, s.Value), mark)
		}
	}
	fmt.Fprintf(w, "\nkernel, %s = %g:\n", r.Parameter, r.Value)
	r.printKernel(w)
}

// printKernel lists the kernels with their weights.
func (r *trained) printKernel(w io.Writer) {
	for _, k := range r.Kernels {
		fmt.Fprintf(w, "  %5.3f  %s", k.Weight, k.name())
		if len(r.Kernels) == 1 && k.Kernel != k.Candidate {
			fmt.Fprintf(w, ": %s", table.Wrap(k.Kernel, 11+len([]rune(k.name())), 9))
		}
		fmt.Fprintln(w)
	}
}

// printEstimate says how good the model may be.
func (r *trained) printEstimate(w io.Writer, p *choose.Plan) {
	value, deviation := figure(r.Estimate.Measure, r.Estimate.Value), figure(r.Estimate.Measure, r.Estimate.Deviation)
	if p.Classes == nil {
		value, deviation = table.Spread(4, r.Estimate.Value, r.Estimate.Deviation)
	}
	fmt.Fprintf(w, "\n%s %s", r.Estimate.Measure, value)
	if r.Estimate.Deviation > 0 {
		fmt.Fprintf(w, " ± %s", deviation)
	}
	alone := "largest class"
	if p.Classes == nil {
		alone = "mean value"
	}
	fmt.Fprintf(w, " (%s alone: %s)\n", alone, figure(r.Estimate.Measure, r.Baseline))
	var others []string
	for _, f := range r.Estimate.Others {
		others = append(others, f.Measure+" "+figure(f.Measure, f.Value))
	}
	if others != nil {
		fmt.Fprintf(w, "  %s\n", table.Wrap(strings.Join(others, ", "), 2, 2))
	}
	fmt.Fprintf(w, "  by %s\n", table.Wrap(r.Estimate.Method, 5, 5))
	if e := r.Groups; e != nil {
		value, deviation := figure(e.Measure, e.Value), figure(e.Measure, e.Deviation)
		if p.Classes == nil {
			value, deviation = table.Spread(4, e.Value, e.Deviation)
		}
		_, seen, _ := strings.Cut(e.Method, "; ")
		text := fmt.Sprintf("%s %s ± %s when %s are left out; %s", e.Measure, value, deviation, wholeGroups(e.Groups), seen)
		fmt.Fprintf(w, "  %s\n", table.Wrap(strings.TrimSuffix(text, "; "), 2, 2))
	}
}

// wholeGroups says what is left out together.
func wholeGroups(by string) string {
	switch by {
	case choose.ByScaffold:
		return "whole scaffolds"
	case choose.ByCluster:
		return "whole clusters of similar graphs"
	}
	return "whole groups by " + by
}

// printCalibration says how far deviations can be trusted.
func (r *trained) printCalibration(w io.Writer) {
	if r.process == nil {
		fmt.Fprintf(w, "\n%s\n", table.Wrap(noDeviations, 0, 2))
		return
	}
	text := fmt.Sprintf("Gaussian process, noise %s; %s:", figure("", r.Noise), r.Calibration[0].Method)
	fmt.Fprintf(w, "\n%s\n", table.Wrap(text, 0, 2))
	groups := ""
	for _, e := range r.Calibration {
		if e.Groups != groups {
			groups = e.Groups
			fmt.Fprintf(w, "when %s are left out, with deviations %.2f times as wide:\n", wholeGroups(groups), r.Wider)
		}
		value := figure("", e.Value)
		if strings.HasPrefix(e.Measure, "coverage") {
			value = fmt.Sprintf("%.1f %%", 100*e.Value)
		}
		fmt.Fprintf(w, "  %-26s %8s\n", e.Measure, value)
	}
	if r.Replicates > 0 {
		text := fmt.Sprintf("equal graphs have values that differ by %s (standard deviation, %s)", figure("", r.ReplicateNoise),
			agree(r.Replicates, "degree of freedom", "degrees of freedom"))
		fmt.Fprintf(w, "  %s\n", table.Wrap(text, 2, 2))
	}
	if r.Clipped > 0 {
		fmt.Fprintf(w, "  %s\n", table.Wrap(clippedText(r.Clipped), 2, 2))
	}
}

// clippedText says that variances of some graphs are not what the deviations say.
func clippedText(graphs int) string {
	return fmt.Sprintf("the variance of %s is below 0 and counts as 0: the kernel is not positive semi-definite", agree(graphs, "graph", "graphs"))
}

// dataText says what is learned from, behind a name.
func dataText(name string, graphs int, classes []string) string {
	if classes == nil {
		return name + agree(graphs, "graph", "graphs") + ", values"
	}
	return fmt.Sprintf("%s%d graphs, %d classes", name, graphs, len(classes))
}

// baselineScore is the accuracy of always saying the largest class (balanced: one in the
// number of classes; AUC: a half), or the error of always saying the mean.
func baselineScore(p *choose.Plan) float64 {
	if p.Classes == nil {
		_, _, scale := learn.StandardScores(p.Values, nil)
		if slices.Min(p.Values) == slices.Max(p.Values) {
			scale = 0
		}
		return scale
	}
	if p.Estimate.Measure == "AUC" {
		return 0.5
	}
	if p.Estimate.Measure != "accuracy" {
		return 1 / float64(len(p.Classes))
	}
	counts := make([]int, len(p.Classes))
	most := 0
	for _, l := range p.Labels {
		counts[l]++
		most = max(most, counts[l])
	}
	return float64(most) / float64(len(p.Labels))
}

// figure writes a score: accuracies in per cent.
func figure(measure string, v float64) string {
	switch {
	case strings.HasSuffix(measure, "accuracy"):
		return fmt.Sprintf("%.1f %%", 100*v)
	case measure == "AUC" || measure == "average precision":
		return fmt.Sprintf("%.3f", v)
	case strings.HasPrefix(measure, "enrichment"):
		return fmt.Sprintf("%.1f", v)
	}
	if v == 0 || math.Abs(v) >= 1e-3 && math.Abs(v) < 1e6 {
		return fmt.Sprintf("%.4g", v)
	}
	return fmt.Sprintf("%.3e", v)
}
