package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"gonum.org/v1/gonum/floats"
)

type explainCmd struct {
	placeFlags
	Model   string  `arg:"" help:"Model file."`
	Graph   string  `arg:"" help:"A SMILES, a file, or the identifier of a training graph."`
	Which   string  `help:"Identifier or number of the graph in a file with several." placeholder:"ID"`
	Against string  `help:"Explain the similarity to this graph instead of the prediction." xor:"what" placeholder:"OTHER"`
	Class   string  `help:"Explain what speaks for this class, instead of the predicted one." xor:"what" placeholder:"NAME"`
	Numbers bool    `help:"Write the numbers of the vertices into the picture."`
	Scale   float64 `help:"Pixels of a PNG for one of the picture." default:"2"`
	Out     string  `help:"File to write: .svg, .png, .html or .json." short:"o" placeholder:"FILE" ends:".svg .png .html .json"`
}

// explanation is what the command says.
type explanation struct {
	Graph   string  `json:"graph"`
	Against string  `json:"against,omitempty"`
	Class   string  `json:"class,omitempty"`
	What    string  `json:"what"` // what the contributions are to
	Value   float64 `json:"value"`
	oneSide
	Other      *oneSide          `json:"other,omitempty"` // of a similarity
	Explained  explain.Explained `json:"explained"`
	For        []support         `json:"for,omitempty"` // training graphs that speak for it
	Contrary   []support         `json:"against_it,omitempty"`
	Bias       float64           `json:"bias"`
	Prediction *predicted        `json:"prediction,omitempty"`
}

// oneSide has the contributions of the vertices of a graph.
type oneSide struct {
	Labels []string `json:"labels,omitempty"`
	explain.Contributions
	graph *graph.Graph
}

// support is a training graph with what it adds to a decision value.
type support struct {
	model.Neighbour
	Adds float64 `json:"adds"`
}

// Run explains a prediction or a similarity.
func (c *explainCmd) Run(g *globals) error {
	if !(c.Scale > 0) {
		return usageError("--scale: want a positive number")
	}
	m, err := readModel(c.Model)
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
	if at := slices.Index(m.IDs, arg); at >= 0 && m.Graphs != nil && which == "" {
		if _, noFile := os.Stat(arg); noFile != nil {
			return m.Graphs[at], nil
		}
	}
	list, err := readGraphs(g, arg, c.like(m))
	if err != nil {
		return nil, err
	}
	if which != "" {
		d := dataset.Dataset{Graphs: list}
		at, err := position(d.IDs(), arg, which)
		return list[at], err
	}
	if len(list) > 1 {
		g.note("%s has %d graphs; this is about the first, %s (--which takes another)", arg, len(list), graphName(list[0], 0))
	}
	return list[0], nil
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
	e := &explanation{Graph: said.ID, What: "value", Prediction: &said}
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
	e.Value, e.Bias, e.Explained, e.oneSide = got.Value, got.Bias, got.Explained, oneSide{x.Labels(), got.Contributions, x}
	slices.SortStableFunc(got.Graphs, func(a, b explain.GraphTerm) int { return cmp.Compare(b.Value, a.Value) })
	side := func(terms []explain.GraphTerm, sign float64) (out []support) {
		for _, t := range terms {
			if t.Value*sign <= 0 || len(out) == 3 {
				break
			}
			s := support{model.Neighbour{ID: m.IDs[t.Graph], Index: t.Graph, Similarity: t.K}, t.Value}
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
	return &explanation{Graph: graphName(x, 0), Against: graphName(h, 0), What: "log similarity", Value: got.K,
		Explained: got.Explained, oneSide: oneSide{x.Labels(), got.G, x}, Other: &oneSide{h.Labels(), got.H, h}}, nil
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

// tables returns the strongest vertices of the graph, or of the two, the sums of the levels, and
// the training graphs that speak for and against.
func (e *explanation) tables() (vertices []*table.Table, levels *table.Table, training []*table.Table) {
	for i, side := range []*oneSide{&e.oneSide, e.Other} {
		if side == nil {
			continue
		}
		t := &table.Table{Caption: []string{e.Graph, e.Against}[i], Header: []string{"vertex", "label", "contribution"}}
		for _, v := range strongest(side.Vertices, 10) {
			t.Add(strconv.Itoa(v), table.Clip(side.graph.Label(v), 12), fmt.Sprintf("%+.5f", side.Vertices[v]))
		}
		vertices = append(vertices, t)
	}
	levels = &table.Table{Header: []string{"through the kernels of", "sum"}}
	for _, l := range e.Through {
		name := fmt.Sprintf("level %d", l.Level)
		if l.Level == 0 {
			name += " (vertices)"
		}
		levels.Add(name, fmt.Sprintf("%+.5f", l.Sum))
	}
	if e.Counted != nil {
		levels.Add("counts of vertices", fmt.Sprintf("%+.5f", floats.Sum(e.Counted)))
	}
	for i, side := range [][]support{e.For, e.Contrary} {
		t := &table.Table{Caption: "training graphs speaking " + []string{"for it", "against it"}[i],
			Header: []string{"graph", "target", "similarity", "adds"}}
		for _, s := range side {
			t.Add(table.Clip(s.ID, 28), table.Clip(s.Target, 20), fmt.Sprintf("%.3f", s.Similarity), fmt.Sprintf("%+.4f", s.Adds))
		}
		training = append(training, t)
	}
	return vertices, levels, training
}

// print writes the explanation as text.
func (e *explanation) print(w io.Writer) {
	vertices, levels, training := e.tables()
	fmt.Fprintln(w, e.headline())
	if p := e.Prediction; p != nil && p.Class != e.Class {
		fmt.Fprintf(w, "  (predicted: %s)\n", p.Class)
	}
	if e.Prediction != nil && e.Prediction.Unlike {
		fmt.Fprintln(w, "  ! unlike anything in training: a guess at best")
	}
	fmt.Fprintf(w, "\ncontributions to the %s:\n(how it changes when a vertex counts more)\n", table.Clip(e.What, 60))
	for _, t := range vertices {
		if e.Other != nil {
			fmt.Fprintf(w, "%s\n", t.Caption)
		}
		t.Write(w, "  ")
	}
	fmt.Fprintln(w)
	levels.Write(w, "  ")
	for _, t := range training {
		if len(t.Rows) > 0 {
			fmt.Fprintf(w, "\n%s\n", t.Caption)
			t.Write(w, "  ")
		}
	}
	fmt.Fprintf(w, "\n%s\n", table.Wrap(e.share(), 0, 0))
	const most = 8
	parts := slices.Clone(e.Explained.Terms)
	slices.SortStableFunc(parts, func(a, b explain.Term) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	for _, k := range parts[:min(most, len(parts))] {
		if len(parts) > 1 || k.Share < 1 {
			fmt.Fprintf(w, "  %+.4f  %3.0f %%  %s\n", k.Value, 100*k.Share, table.Wrap(k.Kernel, 17, 17))
		}
	}
	if len(parts) > most {
		fmt.Fprintf(w, "  … and %d more kernels\n", len(parts)-most)
	}
}

// write writes the picture, report or data.
func (c *explainCmd) write(g *globals, m *model.Model, e *explanation) error {
	switch strings.ToLower(filepath.Ext(c.Out)) {
	case ".json":
		b, err := json.MarshalIndent(e, "", "  ")
		return save(g, c.Out, append(b, '\n'), err)
	case ".html":
		r, err := c.report(m, e)
		if err != nil {
			return err
		}
		return saveReport(g, c.Out, r)
	}
	return savePicture(g, c.Out, c.Scale, func() (*draw.Picture, error) { return c.picture(e, e.headline()) })
}

// picture draws the graph, or the two, with contributions as colours.
func (c *explainCmd) picture(e *explanation, title string) (*draw.Picture, error) {
	o := draw.DefaultOptions()
	o.Title, o.Numbers = title, c.Numbers
	name := "contribution to the " + e.What
	if e.Other == nil {
		o.Values = draw.NewValues(name, e.Vertices)
		return draw.Graph(e.graph, o)
	}
	o.Values = draw.NewValues(name, slices.Concat(e.Vertices, e.Other.Vertices))
	return draw.Pair(title, [2]draw.Panel{{Graph: e.graph, Title: e.Graph, Values: e.Vertices}, {Graph: e.Other.graph, Title: e.Against, Values: e.Other.Vertices}}, nil, o)
}

// report returns an HTML page with the picture, the numbers and the training graphs that
// speak for and against.
func (c *explainCmd) report(m *model.Model, e *explanation) (*draw.Report, error) {
	p, err := c.picture(e, "") // the page has the title
	if err != nil {
		return nil, err
	}
	vertices, levels, training := e.tables()
	kernels := draw.Table{Header: []string{"adds", "explained", "kernel"}}
	for _, k := range e.Explained.Terms {
		kernels.Rows = append(kernels.Rows, []string{fmt.Sprintf("%+.4f", k.Value), fmt.Sprintf("%.0f %%", 100*k.Share), k.Kernel})
	}
	var contributions, graphs []draw.Block
	for _, t := range vertices {
		contributions = append(contributions, draw.Table(*t))
	}
	if e.Prediction != nil && e.Prediction.Unlike {
		graphs = append(graphs, draw.Paragraph("The graph is unlike anything in training: the prediction is a guess at best."))
	}
	for i, side := range [][]support{e.For, e.Contrary} {
		if len(side) == 0 {
			continue
		}
		graphs = append(graphs, draw.Table(*training[i]))
		if m.Graphs == nil {
			continue
		}
		var panels []draw.Panel
		for _, x := range side {
			panels = append(panels, draw.Panel{Graph: m.Graphs[x.Index], Title: x.ID})
		}
		p, err := smallGraphs(panels)
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, draw.Figure{Picture: p})
	}
	r := &draw.Report{
		Title:   e.headline(),
		Summary: fmt.Sprintf("Colours are contributions to the %s: how it changes when a vertex counts more, orange up and blue down.", e.What),
		Sections: []draw.Section{
			{Heading: "Picture", Blocks: []draw.Block{draw.Figure{Picture: p, Caption: e.headline()}}},
			{Heading: "Contributions", Blocks: append(contributions, draw.Table(*levels))},
			{Heading: "Kernels", Blocks: []draw.Block{draw.Paragraph(e.share() + "."), kernels}},
		},
		Footer: footer(commandLine()),
	}
	if len(graphs) > 0 {
		r.Sections = append(r.Sections, draw.Section{Heading: "Training graphs", Blocks: graphs})
	}
	return r, nil
}
