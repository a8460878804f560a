package explorer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
)

// reportRequest asks for all that is known of the data as one document.
type reportRequest struct {
	Color  string `json:"color,omitempty" default:"target" want:"one of target column prediction error size" help:"what the colours of the map show, as in colors"`
	Column string `json:"column,omitempty" help:"the column that they show, as in colors"`
	Layout string `json:"layout,omitempty" default:"neighbours" want:"one of neighbours pca" help:"layout of the map"`
	Graphs []int  `json:"graphs,omitempty" want:"0 to 100000" help:"graphs that were selected"`
	Why    string `json:"why,omitempty" help:"what they have in common"`
	Text   string `json:"text,omitempty" help:"notes on the data"`
	Notes  []note `json:"notes,omitempty" want:"0 to 100000" help:"notes on graphs"`
	kernelRequest
}

type note struct {
	Index int    `json:"index"`
	Text  string `json:"text"`
}

const (
	mostDrawn = 24 // graphs in a picture of a report
	mostNoted = 500
)

// reported is what a report is made of.
type reported struct {
	places *placement
	colors *coloring
	score  *evaluation
	trust  *trustAnswer // nil for a model whose file has no predictions of single graphs
	parts  *structureAnswer
}

// postReport makes one HTML file of the map, the quality of predictions, the structure of the data, and of what was selected and
// noted.
func postReport(q *request, in *reportRequest) (*file, error) {
	if err := q.s.data.hasAll(in.Graphs); err != nil {
		return nil, err
	}
	for k, x := range in.Notes {
		if err := q.s.data.has(x.Index, fmt.Sprintf("notes[%d]", k)); err != nil {
			return nil, err
		}
	}
	get := func(x *session, ctx context.Context) (out reported, err error) {
		if out.places, err = x.placed(ctx); err != nil {
			return out, err
		}
		if x.s.data.task != noTask || in.Color != "target" {
			if out.colors, err = coloredBy(in.Color, in.Column)(x, ctx); err != nil {
				return out, err
			}
		}
		if out.score, err = x.heldOut(ctx); err != nil {
			return out, err
		}
		if out.score.Graphs > 0 {
			t, err := x.tested(ctx, splitsOf[0])
			if err != nil {
				return out, err
			}
			out.trust = t.answer(splitsOf[0])
		}
		out.parts, err = x.structured(ctx)
		return out, err
	}
	return on(get, func(_ context.Context, x *session, r reported, in *reportRequest) (*file, error) {
		page, err := x.document(r, in)
		if err != nil {
			return nil, err
		}
		data, err := page.HTML()
		return &file{"text/html; charset=utf-8", x.s.data.Name + ".html", data}, err
	})(q, in)
}

// document returns the report.
func (x *session) document(r reported, in *reportRequest) (*draw.Report, error) {
	d := x.s.data
	f, _ := x.fit.peek() // the map follows from it
	thing := d.thing() + "s"
	out := &draw.Report{Title: d.Name, Summary: fmt.Sprintf("%s %s.", thousands(len(d.IDs)), thing), Footer: fmt.Sprintf("mlg serve %s. Kernel: %s.", x.s.o.Version, f.Kernel.Asked)}
	if d.task != noTask {
		out.Summary = fmt.Sprintf("%s %s, %s of them with %s.", thousands(len(d.IDs)), thing, thousands(len(d.labelled(kernel.UpTo(len(d.IDs))))), d.quantity())
	}
	if in.Text != "" {
		out.Sections = append(out.Sections, draw.Section{Heading: "Notes", Blocks: []draw.Block{draw.Paragraph(in.Text)}})
	}
	picture, err := x.mapOf(coloredMap{r.places, r.colors}, in.Layout)
	if err != nil {
		return nil, err
	}
	out.Sections = append(out.Sections, draw.Section{Heading: "Map", Blocks: []draw.Block{draw.Figure{Picture: picture,
		Caption: "Similar ones lie together. Compared: " + f.Compared() + "."}}})
	for _, section := range []func() (draw.Section, error){
		func() (draw.Section, error) { return d.qualityOf(r.score) },
		func() (draw.Section, error) { return trustOf(r.trust) },
		func() (draw.Section, error) { return d.selectedOf(in) },
		func() (draw.Section, error) { return d.groupsOf(r.parts) },
		func() (draw.Section, error) { return d.cliffsOf(r.parts), nil },
		func() (draw.Section, error) { return d.notesOf(in), nil },
	} {
		s, err := section()
		if err != nil {
			return nil, err
		}
		if len(s.Blocks) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return out, nil
}

// qualityOf says how good predictions are.
func (d *Data) qualityOf(e *evaluation) (draw.Section, error) {
	out := draw.Section{Heading: "Predictions of " + d.quantity()}
	if e == nil || len(e.Estimates) == 0 {
		return out, nil
	}
	figures := draw.Table{Header: []string{"figure", "value", "how it was found"}}
	listed := map[string]bool{}
	for _, x := range e.Estimates {
		name, value := inWords(x.Measure), signed(fmt.Sprintf("%.3g", x.Value))
		if key := fmt.Sprintln(name, value, x.Groups); !listed[key] { // the model may have the error of its choice
			figures.Rows = append(figures.Rows, []string{name, value, x.Method})
			listed[key] = true
		}
	}
	out.Blocks = append(out.Blocks, figures)
	if len(e.Values) > 0 {
		picture, err := draw.Scatter{Title: "Predicted by a learner that has not seen the graph", XAxis: "measured " + d.quantity(), YAxis: "predicted",
			X: e.Measured, Y: e.Values, Names: []string{}, Class: make([]string, len(e.Values)), Size: draw.Size{Width: 620, Height: 480}}.Picture()
		if err != nil {
			return out, err
		}
		out.Blocks = append(out.Blocks, draw.Figure{Picture: picture})
	}
	if e.Confusion != nil {
		t := draw.Table{Caption: "Rows: the true class. Columns: the predicted class.", Header: append([]string{""}, e.Confusion.Classes...)}
		for i, row := range e.Confusion.Counts {
			cells := []string{e.Confusion.Classes[i]}
			for _, n := range row {
				cells = append(cells, thousands(n))
			}
			t.Rows = append(t.Rows, cells)
		}
		out.Blocks = append(out.Blocks, t)
	}
	return out, nil
}

// trustOf draws how far predictions can be trusted.
func trustOf(a *trustAnswer) (draw.Section, error) {
	out := draw.Section{Heading: "Can they be trusted?"}
	if a == nil || a.Note != "" {
		return out, nil
	}
	lines := func(title, x, y, caption string, series ...draw.Series) error {
		picture, err := draw.LineChart{Title: title, XAxis: x, YAxis: y, Series: series, Linear: true, Size: draw.Size{Width: 520, Height: 360}}.Picture()
		out.Blocks = append(out.Blocks, draw.Figure{Picture: picture, Caption: caption})
		return err
	}
	exact := draw.Series{Name: "exact", X: []float64{0, 1}, Y: []float64{0, 1}}
	found := func(shares []share) draw.Series {
		s := draw.Series{Name: "found"}
		for _, p := range shares {
			s.X, s.Y = append(s.X, p.Expected), append(s.Y, p.Found)
		}
		return s
	}
	if len(a.Coverage) > 0 {
		if err := lines("Coverage of intervals", "probability of the interval", "share inside", "Below the line intervals are too narrow.", found(a.Coverage), exact); err != nil {
			return out, err
		}
	}
	if len(a.Reliability) > 0 {
		if err := lines("Reliability of probabilities", "probability of a class", "how often it is true", "Below the line probabilities are too high.", found(a.Reliability), exact); err != nil {
			return out, err
		}
	}
	if len(a.Likeness) > 1 {
		s := draw.Series{Name: "error"}
		for _, b := range a.Likeness {
			s.X, s.Y = append(s.X, b.Similarity), append(s.Y, b.Error)
		}
		if err := lines("Error against likeness to training", "similarity to the nearest", "error", "Each point is a tenth of the graphs.", s); err != nil {
			return out, err
		}
	}
	if len(a.Curves) > 0 {
		t := draw.Table{Header: []string{"class", "share", "AUC", "average precision"}}
		for _, c := range a.Curves {
			t.Rows = append(t.Rows, []string{c.Class, fmt.Sprintf("%.3f", c.Share), fmt.Sprintf("%.3f", c.AUC), fmt.Sprintf("%.3f", c.AveragePrecision)})
		}
		out.Blocks = append(out.Blocks, t)
	}
	return out, nil
}

// gallery draws the first of some graphs, each with a line.
func (d *Data) gallery(graphs []int, line func(k, i int) string) (draw.Block, error) {
	var panels []draw.Panel
	for k, i := range graphs[:min(len(graphs), mostDrawn)] {
		if g := d.Graphs[i]; g != nil {
			panels = append(panels, draw.Panel{Graph: g, Title: line(k, i)})
		}
	}
	o := draw.DefaultOptions()
	o.Size = draw.Size{Width: 210, Height: 150}
	picture, err := draw.Gallery("", 4, panels, o)
	return draw.Figure{Picture: picture}, err
}

// named is the name of a graph with its target.
func (d *Data) named(i int) string {
	if t := d.Targets[i]; t != "" {
		return fmt.Sprintf("%s, %s", d.IDs[i], signed(t))
	}
	return d.IDs[i]
}

func (d *Data) selectedOf(in *reportRequest) (out draw.Section, err error) {
	if len(in.Graphs) == 0 {
		return out, nil
	}
	out.Heading = fmt.Sprintf("%s selected", thousands(len(in.Graphs)))
	if in.Why != "" {
		out.Blocks = append(out.Blocks, draw.Paragraph(in.Why))
	}
	picture, err := d.gallery(in.Graphs, func(_, i int) string { return d.named(i) })
	return draw.Section{Heading: out.Heading, Blocks: append(out.Blocks, picture)}, err
}

func (d *Data) groupsOf(s *structureAnswer) (draw.Section, error) {
	out := draw.Section{Heading: "Clusters"}
	if len(s.Clusters) < 2 {
		return out, nil
	}
	typical := make([]int, len(s.Clusters))
	for k, g := range s.Clusters {
		typical[k] = g.Typical
	}
	picture, err := d.gallery(typical, func(k, i int) string {
		return fmt.Sprintf("%s like %s", thousands(len(s.Clusters[k].Members)), d.IDs[i])
	})
	out.Blocks = []draw.Block{draw.Paragraph("Groups of similar graphs, each by a typical one."), picture}
	return out, err
}

func (d *Data) cliffsOf(s *structureAnswer) draw.Section {
	out := draw.Section{Heading: "Activity cliffs"}
	t := draw.Table{Caption: "Similar pairs with different targets, the steepest first.", Header: []string{"graph", d.quantity(), "graph", d.quantity(), "similarity"}}
	for _, c := range s.Cliffs[:min(len(s.Cliffs), mostDrawn)] {
		t.Rows = append(t.Rows, []string{d.IDs[c.A], signed(d.Targets[c.A]), d.IDs[c.B], signed(d.Targets[c.B]), signed(fmt.Sprintf("%.3f", c.Similarity))})
	}
	if len(t.Rows) > 0 {
		out.Blocks = []draw.Block{t}
	}
	return out
}

func (d *Data) notesOf(in *reportRequest) draw.Section {
	out := draw.Section{Heading: "Notes on graphs"}
	notes := slices.Clone(in.Notes)
	slices.SortStableFunc(notes, func(a, b note) int { return cmp.Compare(a.Index, b.Index) })
	t := draw.Table{Header: []string{"graph", "note"}}
	for _, n := range notes[:min(len(notes), mostNoted)] {
		t.Rows = append(t.Rows, []string{d.named(n.Index), n.Text})
	}
	if len(t.Rows) > 0 {
		out.Blocks = []draw.Block{t}
	}
	return out
}
