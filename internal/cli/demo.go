package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
)

type demoCmd struct {
	Report string `help:"Report to write." default:"mlg-demo.html" complete:"file" ends:""`
}

// The molecules that the demonstration looks at.
const (
	demoQuery     = "morphine" // its neighbours
	demoExplained = "diazepam" // its prediction
)

// demoResult is what the demonstration finds.
type demoResult struct {
	Dataset     string            `json:"dataset"`
	Graphs      int               `json:"graphs"`
	Classes     int               `json:"classes"`
	GramSeconds float64           `json:"gram_seconds"`
	Evaluation  *evaluate.Report  `json:"evaluation"`
	Query       string            `json:"query"`
	Neighbours  []model.Neighbour `json:"neighbours"`
	Prediction  *demoPrediction   `json:"prediction"`
	Report      string            `json:"report"`

	gram     *kernel.Matrix
	info     dataset.Summary
	compared string
}

// demoPrediction is the prediction for a molecule by a learner that has not seen it.
type demoPrediction struct {
	ID        string               `json:"id"`
	Target    string               `json:"target"`
	Predicted string               `json:"predicted"`
	RunnerUp  string               `json:"runner_up"`
	Why       *explain.Explanation `json:"why"` // the predicted class against the runner-up
	graph     *graph.Graph
	trainings int
	ridge     float64
}

// Run does the whole job on the built-in molecules.
func (c *demoCmd) Run(g *globals) error {
	ds, err := dataset.Read(g.ctx, "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		return err
	}
	k := mlg.Default()
	info := dataset.Info(ds)
	r := &demoResult{Dataset: "builtin:drugs", Graphs: info.Graphs, Classes: info.Classes, Query: demoQuery, Report: c.Report, info: info}

	g.bar.show("gram", 0, 0, "")
	start := time.Now()
	m, err := model.New(g.ctx, ds.Graphs, k)
	if err != nil {
		return err
	}
	if r.gram, err = m.Kernel.Gram(g.ctx); err != nil {
		return err
	}
	read := dataset.DefaultOptions()
	m.ReadBy(read)
	r.compared = m.Compared()
	r.GramSeconds = time.Since(start).Seconds()

	if r.Evaluation, err = demoEvaluation(g, ds, k); err != nil {
		return err
	}
	query := slices.Index(m.IDs, demoQuery)
	found, err := (&source{Model: m}).search(g.ctx, ds.Graphs[query:query+1], 5, query)
	if err != nil {
		return err
	}
	r.Neighbours = found[0]
	g.bar.show("explain", 0, 0, "")
	if r.Prediction, err = demoPredict(g, ds, k); err != nil {
		return err
	}
	g.bar.show("report", 0, 0, "")
	page, err := r.page(g, m, query)
	if err != nil {
		return err
	}
	if err := saveReport(g.quietly(), c.Report, page); err != nil {
		return err
	}
	if g.JSON {
		return printJSON(g.stdout, r)
	}
	r.print(g)
	return nil
}

// demoEvaluation compares three kernels by a small nested cross-validation.
func demoEvaluation(g *globals, ds *dataset.Dataset, k mlg.Kernel) (*evaluate.Report, error) {
	e := evaluate.DefaultOptions()
	e.Folds, e.Repeats = 5, 2
	start := time.Now()
	e.Clock = func() time.Duration { return time.Since(start) }
	return evaluate.Run(g.work(), ds, choose.Each(k, classic.DefaultWL()), e)
}

// demoPredict trains without one molecule, predicts its class, and explains the decision between
// that class and the next best one.
func demoPredict(g *globals, ds *dataset.Dataset, k mlg.Kernel) (*demoPrediction, error) {
	held := slices.Index(ds.IDs(), demoExplained)
	x := ds.Graphs[held]
	rest := &dataset.Dataset{Name: ds.Name, Graphs: slices.Concat(ds.Graphs[:held], ds.Graphs[held+1:])}
	m, plan, err := model.Learn(g.ctx, rest, choose.Each(k), model.DefaultLearnOptions())
	if err != nil {
		return nil, err
	}
	said, err := m.Predict(g.ctx, []*graph.Graph{x}, model.DefaultPredictOptions())
	if err != nil {
		return nil, err
	}
	best := nearest.Largest(said[0].Decision, 2)
	predicted, other := m.Classes[best[0].Index], m.Classes[best[1].Index]
	why, err := explain.Prediction(g.ctx, m, x, explain.Options{Class: predicted, Against: other})
	if err != nil {
		return nil, err
	}
	return &demoPrediction{ID: x.ID(), Target: x.Target(), Predicted: predicted, RunnerUp: other, Why: why,
		graph: x, trainings: len(rest.Graphs), ridge: plan.Parameter}, nil
}

// print writes the results for a terminal of 80 columns.
func (r *demoResult) print(g *globals) {
	p := func(format string, args ...any) { fmt.Fprintf(g.stdout, format, args...) }
	p("%s: %d drug molecules in %d classes, %.0f atoms on average.\n\n", r.Dataset, r.Graphs, r.Classes, r.info.MeanVertices)
	p("%s\n", g.bold("1. Compare all with all"))
	p("   %d similarities by the multiscale Laplacian kernel in %s.\n\n", r.Graphs*(r.Graphs+1)/2, round(time.Duration(r.GramSeconds*float64(time.Second))))
	p("%s\n", g.bold("2. Recognise the class of a molecule that was not seen in training"))
	p("   %d × %d-fold cross-validation, parameters chosen inside the training part:\n", r.Evaluation.Protocol.Repeats, r.Evaluation.Protocol.Folds)
	for _, x := range r.Evaluation.Results {
		name := map[string]string{"mlg": "multiscale Laplacian", "wl": "Weisfeiler-Lehman", "labels": "label histogram"}[x.Name]
		if name == "" {
			name = x.Name
		}
		p("   %-22s %5.1f %% right\n", name, 100*x.Accuracy)
	}
	p("\n%s\n", g.bold(fmt.Sprintf("3. Search: most similar to %s", r.Query)))
	for _, n := range r.Neighbours {
		p("   %.3f  %-24s %s\n", n.Similarity, n.ID, n.Target)
	}
	p("   Compared: %s.\n   Half of a similarity leaves the orders of bonds out.\n", r.compared)
	x := r.Prediction
	p("\n%s\n", g.bold("4. Explain a prediction"))
	p("   A model that has not seen %s takes it for a %s", x.ID, x.Predicted)
	if x.Predicted == x.Target {
		p(", rightly.\n")
	} else {
		p("; it is a %s.\n", x.Target)
	}
	p("   Atoms that speak most for %s, against %s:\n   ", x.Predicted, x.RunnerUp)
	var atoms []string
	for _, h := range nearest.Largest(x.Why.Vertices, 6) {
		atoms = append(atoms, fmt.Sprintf("%s%d %+.2f", x.graph.Label(h.Index), h.Index+1, h.Similarity))
	}
	p("%s\n", strings.Join(atoms, ", "))
	where := r.Report
	if abs, err := filepath.Abs(where); err == nil {
		where = abs
	}
	p("\nPictures of all this: %s\n", where)
	p("\nTry next, on your own file in place of builtin:drugs:\n")
	p("  mlg info builtin:drugs\n  mlg evaluate builtin:drugs --kernel mlg --kernel wl --report report.html\n")
	p("  mlg gram builtin:drugs -o gram.npy --picture gram.svg\n  mlg train builtin:drugs -o drugs.mlg\n  mlg help\n")
}

// demoNote says what the kernel of the demonstration sees.
const demoNote = "Atoms are compared by their elements, then neighbourhoods of radius 1 by their atoms, those of radius 2 by the smaller ones, and molecules by those. That is half of a similarity. The other half takes bonds for vertices, with their orders as labels."

// page makes the report.
func (r *demoResult) page(g *globals, m *model.Model, query int) (*draw.Report, error) {
	figures, err := kernelFigures(g, "mlg", m, r.gram, m.Targets)
	if err != nil {
		return nil, err
	}
	results, err := evaluationSections(r.Evaluation)
	if err != nil {
		return nil, err
	}
	results[0].Heading = "Classes of molecules not seen in training"

	molecules := []draw.Panel{{Graph: m.Graphs[query], Title: r.Query}}
	table := draw.Table{Header: []string{"similarity", "molecule", "class"}}
	for _, n := range r.Neighbours {
		molecules = append(molecules, draw.Panel{Graph: m.Graphs[n.Index], Title: fmt.Sprintf("%s  %.3f", n.ID, n.Similarity)})
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%.4f", n.Similarity), n.ID, n.Target})
	}
	neighbours, err := smallGraphs(molecules)
	if err != nil {
		return nil, err
	}
	x := r.Prediction
	molecule, err := draw.Explanation(x.graph, x.Why, draw.DefaultOptions())
	if err != nil {
		return nil, err
	}
	sections := []draw.Section{{Heading: "All with all", Blocks: append([]draw.Block{
		draw.Code("mlg gram builtin:drugs -o gram.npy --picture gram.svg --map map.svg --spectrum spectrum.svg"),
		draw.Paragraph(demoNote)}, figures...)}}
	sections = append(sections, results...)
	sections = append(sections,
		draw.Section{Heading: "Most similar to " + r.Query, Blocks: []draw.Block{draw.Figure{Picture: neighbours}, table}},
		draw.Section{Heading: "Why " + x.ID + " is taken for a " + x.Predicted, Blocks: []draw.Block{
			draw.Paragraph(fmt.Sprintf("Kernel ridge regression (ridge = %g) that was trained on the other %d molecules decides "+
				"between %s and the next best class, %s, with the margin %+.2f. What each atom contributes is seen by leaving it out: orange ones speak for %s, blue ones against it.",
				x.ridge, x.trainings, x.Predicted, x.RunnerUp, x.Why.Value, x.Predicted)),
			draw.Figure{Picture: molecule, Caption: fmt.Sprintf("The contributions of the atoms add up to the margin, %+.2f.", x.Why.Sum)}}})
	return &draw.Report{Title: "mlg demo: 234 drug molecules",
		Summary:  fmt.Sprintf("%d well-known drugs in %d chemical classes, compared, classified, searched and explained by the multiscale Laplacian graph kernel.", r.Graphs, r.Classes),
		Sections: sections, Footer: footer([]string{"demo"})}, nil
}
