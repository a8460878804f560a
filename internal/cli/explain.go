package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

type explainCmd struct {
	placeFlags
	Model   string  `arg:"" help:"Model file."`
	Graph   string  `arg:"" help:"A SMILES, a file, or the identifier of a training graph."`
	Which   string  `help:"Identifier or number of the graph in a file with several." placeholder:"ID"`
	Against string  `help:"Explain the similarity to this graph instead of the prediction." placeholder:"OTHER"`
	Class   string  `help:"Explain what speaks for this class, instead of the predicted one." placeholder:"NAME"`
	Numbers bool    `help:"Write the numbers of the vertices into the picture."`
	Scale   float64 `help:"Pixels of a PNG for one of the picture." default:"2"`
	Out     string  `help:"File to write: .svg, .png, .html or .json." short:"o" placeholder:"FILE"`
}

// explanation is what the command says.
type explanation struct {
	Graph      string            `json:"graph"`
	Against    string            `json:"against,omitempty"`
	Class      string            `json:"class,omitempty"`
	What       string            `json:"what"` // what the contributions are to
	Value      float64           `json:"value"`
	Labels     []string          `json:"labels,omitempty"` // of the vertices
	Vertices   []float64         `json:"vertices"`
	Levels     []explain.Level   `json:"levels"`
	Features   []explain.Level   `json:"features"`
	Counted    []float64         `json:"counted,omitempty"` // part of Vertices from kernels that count vertices
	Other      *otherSide        `json:"other,omitempty"`
	Explained  explain.Explained `json:"explained"`
	For        []support         `json:"for,omitempty"` // training graphs that speak for it
	Contrary   []support         `json:"against_it,omitempty"`
	Bias       float64           `json:"bias"`
	Prediction *predicted        `json:"prediction,omitempty"`

	g, h *graph.Graph
}

// otherSide has the contributions of the vertices of the other graph of a similarity.
type otherSide struct {
	Labels   []string        `json:"labels,omitempty"`
	Vertices []float64       `json:"vertices"`
	Levels   []explain.Level `json:"levels"`
}

// support is a training graph with what it adds to a decision value.
type support struct {
	ID         string  `json:"id"`
	Target     string  `json:"target,omitempty"`
	Similarity float64 `json:"similarity"`
	Adds       float64 `json:"adds"`
	index      int
}

// Run explains a prediction or a similarity.
func (c *explainCmd) Run(g *globals) error {
	switch ext := strings.ToLower(filepath.Ext(c.Out)); {
	case c.Out != "" && !slices.Contains([]string{".svg", ".png", ".html", ".json"}, ext):
		return usageError(fmt.Sprintf("%s: want a name that ends with .svg, .png, .html or .json", c.Out))
	case !(c.Scale > 0):
		return usageError("--scale: want a positive number")
	case c.Class != "" && c.Against != "":
		return usageError("--class and --against exclude each other")
	}
	m, err := readModel(g, c.Model)
	if err != nil {
		return err
	}
	x, err := c.pick(g, m, c.Graph, c.Which)
	if err != nil {
		return err
	}
	var e *explanation
	if c.Against != "" {
		h, pickErr := c.pick(g, m, c.Against, "")
		if pickErr != nil {
			return pickErr
		}
		e, err = c.similarity(g, m, x, h)
	} else {
		e, err = c.prediction(g, m, x)
	}
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := c.write(g, m, e); err != nil {
			return err
		}
	}
	if g.JSON {
		return printJSON(g.stdout, e)
	}
	return output(g, "", func(w io.Writer) error { e.print(w); return nil })
}

// pick returns the graph that an argument names: one of a file, a training graph, or the
// molecule of a SMILES.
func (c *explainCmd) pick(g *globals, m *model.Model, arg, which string) (*graph.Graph, error) {
	o := c.like(m)
	if at := slices.Index(m.IDs, arg); at >= 0 && m.Graphs != nil && which == "" {
		if _, err := dataset.Open(arg, o); err != nil { // no file of that name
			return m.Graphs[at], nil
		}
	}
	return readGraph(g, arg, which, o)
}

// prediction explains what the learner says of a graph.
func (c *explainCmd) prediction(g *globals, m *model.Model, x *graph.Graph) (*explanation, error) {
	if m.Learner == nil {
		return nil, fmt.Errorf("%s has no learner in it: --against OTHER explains a similarity", c.Model)
	}
	p, err := m.Predict(g.ctx, []*graph.Graph{x}, 3)
	if err != nil {
		return nil, err
	}
	said := describe(m, x, 0, p[0], 3)
	e := &explanation{Graph: said.ID, What: "value", Prediction: &said, g: x}
	class := 0
	switch {
	case m.Classes != nil:
		e.Class = cmp.Or(c.Class, said.Class)
		if class = slices.Index(m.Classes, e.Class); class < 0 {
			return nil, usageError(fmt.Sprintf("--class %s: want one of %s", e.Class, strings.Join(m.Classes, ", ")))
		}
		e.What = "margin for " + e.Class
	case c.Class != "":
		return nil, usageError("--class: the model predicts values")
	}
	got, err := explain.Decision(g.ctx, m.Kernel, x, m.Learner.For(class))
	if err != nil {
		return nil, err
	}
	e.Value, e.Bias, e.Explained = got.Value, got.Bias, got.Explained
	e.fill(got.Contributions)
	slices.SortStableFunc(got.Graphs, func(a, b explain.GraphTerm) int { return cmp.Compare(b.Value, a.Value) })
	side := func(terms []explain.GraphTerm, sign float64) (out []support) {
		for _, t := range terms {
			if t.Value*sign <= 0 || len(out) == 3 {
				break
			}
			s := support{ID: m.IDs[t.Graph], Similarity: t.K, Adds: t.Value, index: t.Graph}
			if m.Targets != nil {
				s.Target = m.Targets[t.Graph]
			}
			out = append(out, s)
		}
		return out
	}
	e.For = side(got.Graphs, 1)
	slices.Reverse(got.Graphs)
	e.Contrary = side(got.Graphs, -1)
	return e, nil
}

// similarity explains how similar two graphs are.
func (c *explainCmd) similarity(g *globals, m *model.Model, x, h *graph.Graph) (*explanation, error) {
	got, err := explain.Similarity(g.ctx, m.Kernel, x, h)
	if err != nil {
		return nil, err
	}
	e := &explanation{Graph: graphName(x, 0), Against: graphName(h, 0), What: "log similarity", Value: got.K, Explained: got.Explained, g: x, h: h}
	e.fill(got.G)
	e.Other = &otherSide{Labels: h.Labels(), Vertices: got.H.Vertices, Levels: got.H.Through}
	return e, nil
}

func (e *explanation) fill(c explain.Contributions) {
	e.Labels, e.Vertices, e.Levels, e.Features, e.Counted = e.g.Labels(), c.Vertices, c.Through, c.Features, c.Counted
}

// headline says what is explained.
func (e *explanation) headline() string {
	switch {
	case e.Against != "":
		return fmt.Sprintf("%s and %s: similarity %.4f", e.Graph, e.Against, e.Value)
	case e.Class != "":
		return fmt.Sprintf("%s: %s %.3f", e.Graph, e.What, e.Value)
	}
	return fmt.Sprintf("%s: value %s", e.Graph, figure("", e.Value))
}

// share says how much is explained.
func (e *explanation) share() string {
	s := fmt.Sprintf("%.0f %% of what the kernels add is explained", 100*e.Explained.Share)
	if e.Explained.Share < 1 {
		s += "; the rest comes from kernels that count larger structures than vertices"
	}
	return s
}

// strongest returns the vertices with the largest contributions by absolute value.
func strongest(values []float64, n int) []int {
	size := make([]float64, len(values))
	for i, v := range values {
		size[i] = math.Abs(v)
	}
	var out []int
	for _, h := range kernel.Largest(size, n) {
		out = append(out, h.Index)
	}
	return out
}

// print writes the explanation as text.
func (e *explanation) print(w io.Writer) {
	fmt.Fprintln(w, e.headline())
	if p := e.Prediction; p != nil && p.Class != e.Class {
		fmt.Fprintf(w, "  (predicted: %s)\n", p.Class)
	}
	if e.Prediction != nil && e.Prediction.Unlike {
		fmt.Fprintln(w, "  ! unlike anything in training: a guess at best")
	}
	fmt.Fprintf(w, "\ncontributions to the %s:\n(how it changes when a vertex counts more)\n", clip(e.What, 60))
	list := func(g *graph.Graph, name string, values []float64) {
		if e.Against != "" {
			fmt.Fprintf(w, "  %s\n", name)
		}
		for _, v := range strongest(values, 8) {
			fmt.Fprintf(w, "  %6d  %-12s %+.5f\n", v, clip(g.Label(v), 12), values[v])
		}
	}
	list(e.g, e.Graph, e.Vertices)
	if e.Other != nil {
		list(e.h, e.Against, e.Other.Vertices)
	}
	fmt.Fprintf(w, "\nthrough the kernels of\n")
	for _, l := range e.Levels {
		fmt.Fprintf(w, "  %-20s %+.5f\n", levelName(l.Level), l.Sum)
	}
	if e.Counted != nil {
		fmt.Fprintf(w, "  %-20s %+.5f\n", "counts of vertices", total(e.Counted))
	}
	for _, side := range []struct {
		what string
		list []support
	}{{"speaking for it", e.For}, {"speaking against it", e.Contrary}} {
		if len(side.list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\ntraining graphs %s\n", side.what)
		for _, s := range side.list {
			fmt.Fprintf(w, "  %+.4f  %-28s %-20s like %.3f\n", s.Adds, clip(s.ID, 28), clip(s.Target, 20), s.Similarity)
		}
	}
	fmt.Fprintf(w, "\n%s\n", breakLines(e.share(), 0, 0))
	const most = 8
	parts := slices.Clone(e.Explained.Terms)
	slices.SortStableFunc(parts, func(a, b explain.Term) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	for _, k := range parts[:min(most, len(parts))] {
		if len(parts) > 1 || k.Share < 1 {
			fmt.Fprintf(w, "  %+.4f  %3.0f %%  %s\n", k.Value, 100*k.Share, breakLines(k.Kernel, 17, 17))
		}
	}
	if len(parts) > most {
		fmt.Fprintf(w, "  … and %d more kernels\n", len(parts)-most)
	}
}

func total(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

func levelName(level int) string {
	if level == 0 {
		return "level 0 (vertices)"
	}
	return fmt.Sprintf("level %d", level)
}

// write writes the picture, report or data.
func (c *explainCmd) write(g *globals, m *model.Model, e *explanation) error {
	var err error
	switch strings.ToLower(filepath.Ext(c.Out)) {
	case ".json":
		var b []byte
		if b, err = json.MarshalIndent(e, "", "  "); err == nil {
			err = saveFile(g, c.Out, append(b, '\n'))
		}
	case ".html":
		var r *draw.Report
		if r, err = c.report(m, e); err == nil {
			err = saveReport(g, c.Out, r)
		}
	default:
		p, drawErr := c.picture(e, e.headline())
		err = savePicture(g, c.Out, c.Scale, p, drawErr)
	}
	if err == nil {
		g.note("wrote %s", c.Out)
	}
	return err
}

// picture draws the graph, or the two, with contributions as colours.
func (c *explainCmd) picture(e *explanation, title string) (*draw.Picture, error) {
	o := draw.DefaultOptions()
	o.Title, o.Numbers = title, c.Numbers
	name := "contribution to the " + e.What
	if e.Other == nil {
		o.Values = draw.NewValues(name, e.Vertices)
		return draw.Graph(e.g, o)
	}
	o.Values = draw.NewValues(name, slices.Concat(e.Vertices, e.Other.Vertices))
	return draw.Pair(title, [2]draw.Panel{{Graph: e.g, Title: e.Graph, Values: e.Vertices}, {Graph: e.h, Title: e.Against, Values: e.Other.Vertices}}, nil, o)
}

// report returns an HTML page with the picture, the numbers and the training graphs that
// speak for and against.
func (c *explainCmd) report(m *model.Model, e *explanation) (*draw.Report, error) {
	p, err := c.picture(e, "") // the page has the title
	if err != nil {
		return nil, err
	}
	vertices := draw.Table{Header: []string{"vertex", "label", "contribution"}}
	for _, v := range strongest(e.Vertices, 12) {
		vertices.Rows = append(vertices.Rows, []string{fmt.Sprint(v), e.g.Label(v), fmt.Sprintf("%+.5f", e.Vertices[v])})
	}
	levels := draw.Table{Header: []string{"through the kernels of", "sum"}}
	for _, l := range e.Levels {
		levels.Rows = append(levels.Rows, []string{levelName(l.Level), fmt.Sprintf("%+.5f", l.Sum)})
	}
	if e.Counted != nil {
		levels.Rows = append(levels.Rows, []string{"counts of vertices", fmt.Sprintf("%+.5f", total(e.Counted))})
	}
	kernels := draw.Table{Header: []string{"adds", "explained", "kernel"}}
	for _, k := range e.Explained.Terms {
		kernels.Rows = append(kernels.Rows, []string{fmt.Sprintf("%+.4f", k.Value), fmt.Sprintf("%.0f %%", 100*k.Share), k.Kernel})
	}
	r := &draw.Report{
		Title:   e.headline(),
		Summary: fmt.Sprintf("Colours are contributions to the %s: how it changes when a vertex counts more, orange up and blue down.", e.What),
		Sections: []draw.Section{
			{Heading: "Picture", Blocks: []draw.Block{draw.Figure{Picture: p, Caption: e.headline()}}},
			{Heading: "Contributions", Blocks: []draw.Block{vertices, levels}},
			{Heading: "Kernels", Blocks: []draw.Block{draw.Paragraph(e.share() + "."), kernels}},
		},
		Footer: fmt.Sprintf("mlg explain %s %s", c.Model, c.Graph),
	}
	if c.Against != "" {
		r.Footer += " --against " + c.Against
	}
	training, err := e.training(m)
	if len(training) > 0 {
		r.Sections = append(r.Sections, draw.Section{Heading: "Training graphs", Blocks: training})
	}
	return r, err
}

// training is what a report says of the training graphs; nothing for a similarity.
func (e *explanation) training(m *model.Model) (blocks []draw.Block, err error) {
	if e.Prediction != nil && e.Prediction.Unlike {
		blocks = append(blocks, draw.Paragraph("The graph is unlike anything in training: the prediction is a guess at best."))
	}
	for _, side := range []struct {
		caption string
		list    []support
	}{{"Speaking for it", e.For}, {"Speaking against it", e.Contrary}} {
		if len(side.list) == 0 {
			continue
		}
		t := draw.Table{Caption: side.caption, Header: []string{"adds", "graph", "target", "similarity"}}
		var panels []draw.Panel
		for _, x := range side.list {
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%+.4f", x.Adds), x.ID, x.Target, fmt.Sprintf("%.3f", x.Similarity)})
			if m.Graphs != nil {
				panels = append(panels, draw.Panel{Graph: m.Graphs[x.index], Title: x.ID})
			}
		}
		blocks = append(blocks, t)
		if m.Graphs != nil {
			p, err := smallGraphs(panels)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, draw.Figure{Picture: p, Caption: side.caption})
		}
	}
	return blocks, nil
}
