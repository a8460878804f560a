package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/svm"
)

type demoCmd struct {
	Report string `help:"Report to write." default:"mlg-demo.html" complete:"file"`
}

// The molecules that the demonstration looks at.
const (
	demoQuery     = "morphine" // its neighbours
	demoExplained = "diazepam" // its prediction
)

// demoResult is what the demonstration finds.
type demoResult struct {
	Dataset     string           `json:"dataset"`
	Graphs      int              `json:"graphs"`
	Classes     int              `json:"classes"`
	GramSeconds float64          `json:"gram_seconds"`
	Evaluation  *evaluate.Report `json:"evaluation"`
	Query       string           `json:"query"`
	Neighbours  []demoNeighbour  `json:"neighbours"`
	Prediction  *demoPrediction  `json:"prediction"`
	Report      string           `json:"report"`

	info dataset.Summary
}

type demoNeighbour struct {
	ID         string  `json:"id"`
	Target     string  `json:"target"`
	Similarity float64 `json:"similarity"`
	graph      *graph.Graph
}

// demoPrediction is that of a molecule by a learner that has not seen it.
type demoPrediction struct {
	ID         string          `json:"id"`
	Target     string          `json:"target"`
	Predicted  string          `json:"predicted"`
	RunnerUp   string          `json:"runner_up"`
	Decision   float64         `json:"decision"` // positive for the predicted class against the runner-up
	Shares     *explain.Shares `json:"shares"`
	graph      *graph.Graph
	trainings  int
	strongest  []int // vertices by share, largest first
	parameters float64
}

// Run does the whole job on the built-in molecules.
func (c *demoCmd) Run(g *globals) error {
	if err := checkFolders(c.Report); err != nil {
		return err
	}
	ds, err := dataset.Read(g.ctx, "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		return err
	}
	bar := newBar(g)
	defer bar.done()
	o := mlg.Default()
	info := dataset.Info(ds)
	r := &demoResult{Dataset: "builtin:drugs", Graphs: info.Graphs, Classes: info.Classes, Query: demoQuery, Report: c.Report, info: info}

	bar.show("gram", 0, 0, "")
	start := time.Now()
	model, err := mlg.Fit(g.ctx, ds.Graphs, o)
	if err != nil {
		return err
	}
	gram, err := model.Gram(g.ctx)
	if err != nil {
		return err
	}
	r.GramSeconds = time.Since(start).Seconds()

	if r.Evaluation, err = demoEvaluation(g, ds, o, bar); err != nil {
		return err
	}
	query := slices.Index(ds.IDs(), demoQuery)
	for _, i := range nearest(gram, query, 5) {
		x := ds.Graphs[i]
		r.Neighbours = append(r.Neighbours, demoNeighbour{x.ID(), x.Target(), gram.At(query, i), x})
	}
	bar.show("explain", 0, 0, "")
	if r.Prediction, err = demoPredict(g, ds, o); err != nil {
		return err
	}
	bar.show("report", 0, 0, "")
	page, err := r.page(ds, model, gram, query)
	if err != nil {
		return err
	}
	if err := saveReport(g, c.Report, page); err != nil {
		return err
	}
	bar.done()
	if g.JSON {
		return printJSON(g.stdout, r)
	}
	r.print(g)
	return nil
}

// demoEvaluation compares three kernels by a small nested cross-validation.
func demoEvaluation(g *globals, ds *dataset.Dataset, o mlg.Kernel, bar *bar) (*evaluate.Report, error) {
	e := evaluate.DefaultOptions()
	e.Folds, e.Repeats = 5, 2
	start := time.Now()
	e.Clock = func() time.Duration { return time.Since(start) }
	e.Progress = func(done, total int) { bar.show("evaluate", int64(done), int64(total), "folds") }
	wl := baseline.DefaultWL()
	return evaluate.Run(g.ctx, ds, []choose.Candidate{
		{Name: "mlg", Settings: []choose.Setting{{Parameters: o.String(), Kernel: o}}},
		{Name: "wl", Settings: []choose.Setting{{Parameters: "h=5", Kernel: wl}}},
	}, e)
}

// demoC is the price of an error of the learner that the demonstration explains.
const demoC = 10

// demoPredict trains without one molecule, predicts its class, and divides the decision
// between that class and the next best one among its atoms.
func demoPredict(g *globals, ds *dataset.Dataset, o mlg.Kernel) (*demoPrediction, error) {
	held := slices.Index(ds.IDs(), demoExplained)
	train := slices.Concat(ds.Graphs[:held], ds.Graphs[held+1:])
	var classes []string
	for _, x := range train {
		classes = append(classes, x.Target())
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	labels := make([]int, len(train))
	for i, x := range train {
		labels[i] = slices.Index(classes, x.Target())
	}
	model, err := mlg.Fit(g.ctx, train, o)
	if err != nil {
		return nil, err
	}
	gram, err := model.Gram(g.ctx)
	if err != nil {
		return nil, err
	}
	so := svm.DefaultOptions()
	so.C = demoC
	learner, err := svm.Train(g.ctx, svm.Full(gram), svm.Targets{Labels: labels}, so)
	if err != nil {
		return nil, err
	}
	x := ds.Graphs[held]
	cross, err := model.Cross(g.ctx, []*graph.Graph{x})
	if err != nil {
		return nil, err
	}
	values, err := learner.Values(svm.Full(cross))
	if err != nil {
		return nil, err
	}
	// The runner-up is the class against which the predicted one wins by least.
	predicted := learner.Class(values.Row(0))
	best, other, sign, least := -1, 0, 1.0, 0.0
	for i, v := range values.Row(0) {
		a, b := learner.Pair(i)
		s := 1.0
		switch predicted {
		case learner.Classes[a]:
		case learner.Classes[b]:
			s, b = -1, a
		default:
			continue
		}
		if best < 0 || s*v < least {
			best, other, sign, least = i, learner.Classes[b], s, s*v
		}
	}
	m := learner.Functions[best]
	f := svm.Function{Support: m.Support, Coefficients: make([]float64, len(m.Coefficients)), Bias: sign * m.Bias}
	for i, v := range m.Coefficients {
		f.Coefficients[i] = sign * v
	}
	shares, err := explain.DecisionShares(g.ctx, model, x, f)
	if err != nil {
		return nil, err
	}
	p := &demoPrediction{ID: x.ID(), Target: x.Target(), Predicted: classes[predicted], RunnerUp: classes[other], Decision: least,
		Shares: shares, graph: x, trainings: len(train), parameters: demoC}
	for v := range x.N() {
		p.strongest = append(p.strongest, v)
	}
	slices.SortStableFunc(p.strongest, func(a, b int) int { return cmp.Compare(shares.Vertices[b], shares.Vertices[a]) })
	return p, nil
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
	p("   (1.000 means the same atoms, bonded alike: the kernel of the paper does not\n   see bond orders, --edge-weight order does.)\n")
	x := r.Prediction
	p("\n%s\n", g.bold("4. Explain a prediction"))
	p("   Trained without it, %s is taken for a %s", x.ID, x.Predicted)
	if x.Predicted == x.Target {
		p(", rightly.\n")
	} else {
		p("; it is a %s.\n", x.Target)
	}
	p("   Atoms that speak most for %s, against %s:\n   ", x.Predicted, x.RunnerUp)
	var atoms []string
	for _, v := range x.strongest[:min(6, len(x.strongest))] {
		atoms = append(atoms, fmt.Sprintf("%s%d %+.2f", x.graph.Label(v), v+1, x.Shares.Vertices[v]))
	}
	p("%s\n", strings.Join(atoms, ", "))
	where := r.Report
	if abs, err := filepath.Abs(where); err == nil {
		where = abs
	}
	p("\nPictures of all this: %s\n", where)
	p("\nTry next, on your own file in place of builtin:drugs:\n")
	p("  mlg info builtin:drugs\n  mlg evaluate builtin:drugs --kernel mlg,wl,sp --report report.html\n")
	p("  mlg gram builtin:drugs -o gram.npy --picture gram.svg\n  mlg train builtin:drugs -o drugs.mlg\n  mlg help\n")
}

// demoNote says what the kernel of the demonstration sees.
const demoNote = "Atoms are compared by their elements, then neighbourhoods of radius 1 by their atoms, those of radius 2 by the smaller ones, and molecules by those. Bond orders do not count, as in the paper; with --edge-weight order they do."

// page makes the report.
func (r *demoResult) page(ds *dataset.Dataset, model *mlg.Model, gram *kernel.Matrix, query int) (*draw.Report, error) {
	figures, err := kernelFigures("mlg", model, gram, ds.Targets())
	if err != nil {
		return nil, err
	}
	results, err := evaluationSections(r.Evaluation)
	if err != nil {
		return nil, err
	}
	results[0].Heading = "Classes of molecules not seen in training"

	molecules := []draw.Panel{{Graph: ds.Graphs[query], Title: r.Query}}
	table := draw.Table{Header: []string{"similarity", "molecule", "class"}}
	for _, n := range r.Neighbours {
		molecules = append(molecules, draw.Panel{Graph: n.graph, Title: fmt.Sprintf("%s  %.3f", n.ID, n.Similarity)})
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%.4f", n.Similarity), n.ID, n.Target})
	}
	neighbours, err := smallGraphs(molecules)
	if err != nil {
		return nil, err
	}
	x := r.Prediction
	o := draw.DefaultOptions()
	o.Title, o.Values = x.ID, draw.NewValues("share of the decision", x.Shares.Vertices)
	molecule, err := draw.Graph(x.graph, o)
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
			draw.Paragraph(fmt.Sprintf("A support vector machine (C = %g) that was trained on the other %d molecules decides between %s and the next best class, %s, with the value %+.2f; a molecule without any features would get %+.2f. The difference is divided among the atoms: orange ones speak for %s, blue ones against it.",
				x.parameters, x.trainings, x.Predicted, x.RunnerUp, x.Shares.Value, x.Shares.Baseline, x.Predicted)),
			draw.Figure{Picture: molecule, Caption: fmt.Sprintf("The shares of the atoms add up to %+.2f.", x.Shares.Sum)}}})
	return &draw.Report{Title: "mlg demo: 234 drug molecules",
		Summary:  fmt.Sprintf("%d well-known drugs in %d chemical classes, compared, classified, searched and explained by the multiscale Laplacian graph kernel.", r.Graphs, r.Classes),
		Sections: sections, Footer: footer([]string{"demo"})}, nil
}

// nearest returns the k columns with the largest values of row i, other than i itself.
func nearest(m *kernel.Matrix, i, k int) []int {
	var out []int
	for _, h := range kernel.Largest(m.Row(i), k+1) {
		if h.Index != i && len(out) < k {
			out = append(out, h.Index)
		}
	}
	return out
}
