package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
)

type explainCmd struct {
	placeFlags
	Model   string  `arg:"" help:"Model file."`
	Graph   string  `arg:"" help:"A SMILES, a file, or the identifier of a training graph."`
	Which   string  `help:"Identifier or number of the graph in a file with several." placeholder:"ID"`
	Against string  `help:"Explain the similarity to this graph instead of the prediction." xor:"what" placeholder:"OTHER"`
	Class   string  `help:"Explain what speaks for this class, instead of the predicted one." xor:"what" placeholder:"NAME"`
	Slopes  bool    `help:"Show slopes instead of contributions: how the value changes when a vertex counts more. Slopes do not add up."`
	Numbers bool    `help:"Write the names of the vertices, or their numbers, into the picture."`
	Scale   float64 `help:"Pixels of a PNG for one unit of the picture." default:"2"`
	Out     string  `help:"File to write: .svg, .png, .html or .json." short:"o" placeholder:"FILE" ends:".svg .png .html .json"`
}

// explained is the explanation of a prediction, or of a similarity.
type explained interface {
	headline() string
	meaning() string // what the numbers of the vertices mean
	vertices() []*table.Table
	print(w io.Writer)
	picture(o draw.Options) (*draw.Picture, error)
	report(m *model.Model) ([]draw.Section, error)
}

// Run explains a prediction or a similarity.
func (c *explainCmd) Run(g *globals) error {
	if !(c.Scale > 0) {
		return usageError("--scale: want a positive number")
	}
	m, err := readModel(c.Model)
	if err == nil && c.Against == "" {
		m, err = c.endpoint(c.Model, m)
	}
	if err != nil {
		return err
	}
	x, err := c.pick(g, m, c.Graph, c.Which)
	if err != nil {
		return err
	}
	var e explained
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
	if at := slices.Index(m.IDs, arg); at >= 0 && which == "" {
		if _, noFile := os.Stat(arg); noFile != nil {
			return m.Graphs[at], nil
		}
	}
	list, err := readGraphs(g, arg, c.like(m))
	if _, noFile := os.Stat(arg); err != nil && noFile != nil && which == "" {
		return nil, fmt.Errorf("%w; %s has no training graph %q either", err, c.Model, arg)
	}
	if err != nil {
		return nil, err
	}
	if which != "" {
		d := dataset.Dataset{Graphs: list}
		at, err := position(d.IDs(), arg, which)
		return list[at], err
	}
	if len(list) > 1 {
		g.note("%s has %d graphs; this explains the first, %s (--which chooses another)", arg, len(list), graphName(list[0], 0))
	}
	return list[0], nil
}

// explainedPrediction has the training graphs that speak for and against it as well.
type explainedPrediction struct {
	*explain.Explanation
	Labels     []string   `json:"labels,omitempty"`
	For        []support  `json:"for,omitempty"`
	Contrary   []support  `json:"against_it,omitempty"`
	Prediction *predicted `json:"prediction"`

	graph *graph.Graph
}

// support is a training graph with what it adds to a value.
type support struct {
	model.Neighbour
	Adds float64 `json:"adds"`
}

// prediction explains the prediction for a graph.
func (c *explainCmd) prediction(g *globals, m *model.Model, x *graph.Graph) (explained, error) {
	if m.Task() == model.SearchOnly {
		return nil, fmt.Errorf("%s has no learner, so there is no prediction to explain; --against OTHER explains a similarity", c.Model)
	}
	x = x.With(graphName(x, 0), x.Target())
	got, err := explain.Prediction(g.ctx, m, x, explain.Options{Class: c.Class, Slopes: c.Slopes, Predict: model.DefaultPredictOptions()})
	var class explain.ErrClass
	if errors.As(err, &class) {
		return nil, usageError("--class: " + class.Error())
	}
	if err != nil {
		return nil, err
	}
	said := predicted{Answer: model.Answer{ID: x.ID(), Target: x.Target()}}
	said.describe(m, &got.Prediction)
	e := &explainedPrediction{Explanation: got, Labels: x.Labels(), Prediction: &said, graph: x}
	slices.SortStableFunc(got.Graphs, func(a, b explain.GraphTerm) int { return cmp.Compare(b.Value, a.Value) })
	side := func(terms []explain.GraphTerm, sign float64) (out []support) {
		for _, t := range terms {
			if t.Value*sign <= 0 || len(out) == 3 {
				break
			}
			n := m.Neighbours([]nearest.Hit{{Index: t.Graph, Similarity: t.K}})
			out = append(out, support{n[0], t.Value})
		}
		return out
	}
	e.For = side(got.Graphs, 1)
	slices.Reverse(got.Graphs)
	e.Contrary = side(got.Graphs, -1)
	return e, nil
}

func (e *explainedPrediction) headline() string { return e.Headline() }

// strongest lists the vertices with the largest contributions by absolute value.
func strongest(g *graph.Graph, c explain.Contributions, slopes bool) *table.Table {
	size := make([]float64, len(c.Vertices))
	for i, v := range c.Vertices {
		size[i] = math.Abs(v)
	}
	what := "contribution"
	if slopes {
		what = "slope"
	}
	t := &table.Table{Caption: g.ID(), Header: []string{"vertex", "label", what}}
	shown := nearest.Largest(size, 10)
	rest := c.Sum
	for _, h := range shown {
		t.Add(table.ClipMiddle(vertexName(g, c.Parts, h.Index), 24), table.Clip(g.Label(h.Index), 12), fmt.Sprintf("%+.5f", c.Vertices[h.Index]))
		rest -= c.Vertices[h.Index]
	}
	if more := len(size) - len(shown); more > 0 {
		t.Add(agree(more, "other", "others"), "", fmt.Sprintf("%+.5f", rest))
	}
	for _, p := range c.Parts {
		t.Add("all of "+p.Name, "", fmt.Sprintf("%+.5f", p.Sum))
	}
	t.Add("sum", "", fmt.Sprintf("%+.5f", c.Sum))
	return t
}

// vertexName names a vertex; one of a row by its structure, and its number there.
func vertexName(g *graph.Graph, parts []explain.Part, v int) string {
	for _, p := range parts {
		if v >= p.First && v < p.First+p.Vertices {
			return fmt.Sprintf("%s %d", p.Name, v-p.First)
		}
	}
	return g.Name(v)
}

func (e *explainedPrediction) vertices() []*table.Table {
	return []*table.Table{strongest(e.graph, e.Contributions, e.Slopes)}
}

// meaning says what the numbers of the vertices mean.
func (e *explainedPrediction) meaning() string {
	s := "the sum of the contributions is the " + e.What
	switch {
	case e.Slopes:
		return "slopes: how the " + e.What + " changes when a vertex counts more. They do not add up."
	case e.Class == "":
		s = "the sum of the contributions is the difference from the mean of the training graphs"
	}
	if e.Together > 1 {
		s += fmt.Sprintf("; the graph is large, and %d neighbouring vertices at a time share a contribution", e.Together)
	}
	return s
}

// training lists the training graphs that speak for and against.
func (e *explainedPrediction) training() (out []*table.Table) {
	for i, side := range [][]support{e.For, e.Contrary} {
		caption := "training graphs speaking " + []string{"for it", "against it"}[i]
		if e.Class == "" { // a value
			caption = "training graphs that make the value " + []string{"larger", "smaller"}[i]
		}
		t := &table.Table{Caption: caption, Header: []string{"graph", "target", "similarity", "adds"}}
		for _, s := range side {
			t.Add(table.ClipMiddle(s.ID, 28), table.Clip(s.Target, 20), fmt.Sprintf("%.3f", s.Similarity), fmt.Sprintf("%+.4f", s.Adds))
		}
		out = append(out, t)
	}
	return out
}

func (e *explainedPrediction) print(w io.Writer) {
	fmt.Fprintln(w, e.headline())
	if p := e.Prediction; p.Class != e.Class {
		fmt.Fprintf(w, "  (predicted: %s)\n", p.Class)
	}
	if e.Prediction.Unlike {
		fmt.Fprintln(w, "  ! unlike the training graphs: treat this as a guess")
	}
	fmt.Fprintf(w, "\n%s\n", table.Wrap(e.meaning(), 0, 0))
	e.vertices()[0].Write(w, "  ")
	for _, t := range e.training() {
		if len(t.Rows) > 0 {
			fmt.Fprintf(w, "\n%s\n", t.Caption)
			t.Write(w, "  ")
		}
	}
}

func (e *explainedPrediction) picture(o draw.Options) (*draw.Picture, error) {
	return draw.Explanation(e.graph, e.Explanation, o)
}

// report returns the sections of a page besides the picture and the numbers: the training graphs
// that speak for and against.
func (e *explainedPrediction) report(m *model.Model) ([]draw.Section, error) {
	out := draw.Section{Heading: "Training graphs"}
	if e.Prediction.Unlike {
		out.Blocks = append(out.Blocks, draw.Paragraph("The graph is unlike the training graphs: treat the prediction as a guess."))
	}
	training := e.training()
	for i, side := range [][]support{e.For, e.Contrary} {
		if len(side) == 0 {
			continue
		}
		out.Blocks = append(out.Blocks, draw.Table(*training[i]))
		var panels []draw.Panel
		for _, x := range side {
			panels = append(panels, draw.Panel{Graph: m.Graphs[x.Index], Title: x.ID})
		}
		p, err := smallGraphs(panels)
		if err != nil {
			return nil, err
		}
		out.Blocks = append(out.Blocks, draw.Figure{Picture: p})
	}
	return []draw.Section{out}, nil
}

// explainedSimilarity is about two graphs.
type explainedSimilarity struct {
	Graph string `json:"graph"`
	Other string `json:"other"`
	*explain.Comparison

	graphs [2]*graph.Graph
}

// similarity explains how similar two graphs are.
func (c *explainCmd) similarity(g *globals, m *model.Model, x, h *graph.Graph) (explained, error) {
	x, h = x.With(graphName(x, 0), ""), h.With(graphName(h, 0), "")
	got, err := explain.Similarity(g.ctx, m.Kernel, x, h, c.Slopes)
	return &explainedSimilarity{Graph: x.ID(), Other: h.ID(), Comparison: got, graphs: [2]*graph.Graph{x, h}}, err
}

func (e *explainedSimilarity) headline() string {
	return fmt.Sprintf("%s and %s: similarity %.4f", e.Graph, e.Other, e.K)
}

func (e *explainedSimilarity) vertices() []*table.Table {
	return []*table.Table{strongest(e.graphs[0], e.G, e.Slopes), strongest(e.graphs[1], e.H, e.Slopes)}
}

func (e *explainedSimilarity) meaning() string {
	if e.Slopes {
		return "slopes: how the logarithm of the similarity changes when a vertex counts more. They do not add up."
	}
	return "the sum of the contributions of each graph is the similarity"
}

func (e *explainedSimilarity) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n%s\n", e.headline(), table.Wrap(e.meaning(), 0, 0))
	for _, t := range e.vertices() {
		fmt.Fprintf(w, "\n%s\n", t.Caption)
		t.Write(w, "  ")
	}
}

func (e *explainedSimilarity) picture(o draw.Options) (*draw.Picture, error) {
	return draw.Comparison(e.graphs[0], e.graphs[1], e.Comparison, nil, o)
}

func (e *explainedSimilarity) report(*model.Model) ([]draw.Section, error) { return nil, nil }

// write writes the picture, report or data.
func (c *explainCmd) write(g *globals, m *model.Model, e explained) error {
	o := draw.DefaultOptions()
	o.Numbers = c.Numbers
	switch strings.ToLower(filepath.Ext(c.Out)) {
	case ".json":
		b, err := json.MarshalIndent(e, "", "  ")
		return save(g, c.Out, append(b, '\n'), err)
	case ".html":
		p, err := e.picture(o)
		if err != nil {
			return err
		}
		more, err := e.report(m)
		if err != nil {
			return err
		}
		numbers := draw.Section{Heading: "Vertices"}
		for _, t := range e.vertices() {
			numbers.Blocks = append(numbers.Blocks, draw.Table(*t))
		}
		return saveReport(g, c.Out, &draw.Report{
			Title:    e.headline(),
			Summary:  "Orange vertices speak for it, blue ones against; " + e.meaning() + ".",
			Sections: append([]draw.Section{{Heading: "Picture", Blocks: []draw.Block{draw.Figure{Picture: p}}}, numbers}, more...),
			Footer:   footer(commandLine()),
		})
	}
	return savePicture(g, c.Out, c.Scale, func() (*draw.Picture, error) { return e.picture(o) })
}
