package explorer

import (
	"cmp"
	"context"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

type colorsRequest struct {
	By     string `json:"by" want:"one of target column prediction error size" help:"what to colour by; color_by of info lists the possible ones"`
	Column string `json:"column,omitempty" help:"the column, by default column_name of info"`
	kernelRequest
}

// coloring gives every graph a class or a value, which the map shows by colours.
type coloring struct {
	By      string      `json:"by" want:"one of target column prediction error size"`
	Name    string      `json:"name" help:"what the colours show"`
	Kind    string      `json:"kind" want:"one of class value"`
	Classes []classInfo `json:"classes"`
	Class   []int       `json:"class" help:"class of each graph: a position in classes, −1 for none; empty for values"`
	Values  []*float64  `json:"values" help:"value of each graph, null for none; empty for classes"`
	Range   []float64   `json:"range" help:"least and largest value"`
	Center  *float64    `json:"center" help:"the middle value of a scale with two sides; otherwise null"`
	Unknown *unknown    `json:"unknown" help:"graphs without a class or value; null for none"`
	Note    string      `json:"note"`
}

// unknown are graphs that have no colour of their own.
type unknown struct {
	Count int    `json:"count"`
	Name  string `json:"name" help:"as in: not measured"`
}

// countUnknown counts the graphs that have no colour of their own.
func (c *coloring) countUnknown() *coloring {
	out := unknown{Name: map[string]string{"target": "not measured", "column": "no value", "error": "not measured"}[c.By]}
	out.Name = cmp.Or(out.Name, "not predicted")
	for _, k := range c.Class {
		if k < 0 {
			out.Count++
		}
	}
	for _, v := range c.Values {
		if v == nil {
			out.Count++
		}
	}
	if out.Count > 0 {
		c.Unknown = &out
	}
	return c
}

// colorBy lists what colors knows.
func (d *Data) colorBy() []string {
	out := []string{}
	if d.task != noTask {
		out = append(out, "target")
	}
	if len(d.columns) > 0 {
		out = append(out, "column")
	}
	if d.task != noTask && (d.Task() != model.SearchOnly || !d.saved) {
		out = append(out, "prediction", "error")
	}
	return append(out, "size")
}

func getColors(q *request, in *colorsRequest) (*coloring, error) {
	return on(coloredBy(in.By, in.Column), func(_ context.Context, _ *session, c *coloring, _ *colorsRequest) (*coloring, error) {
		return c, nil
	})(q, in)
}

// coloredBy returns what computes colours.
func coloredBy(by, column string) func(x *session, ctx context.Context) (*coloring, error) {
	return func(x *session, ctx context.Context) (*coloring, error) {
		d := x.s.data
		if !slices.Contains(d.colorBy(), by) {
			return nil, &apiError{422, fmt.Sprintf("the data cannot be coloured by %s", by), "by"}
		}
		out := &coloring{By: by, Name: d.quantity(), Kind: "class",
			Classes: []classInfo{}, Class: []int{}, Values: []*float64{}, Range: []float64{}}
		var p *predictions
		if by == "prediction" || by == "error" {
			var err error
			if p, err = x.predicted(ctx); err != nil {
				return nil, err
			}
			out.Note = p.note
		}
		switch {
		case by == "size":
			out.Name = "vertices"
			out.setValues(len(d.IDs), func(i int) float64 { return float64(d.Graphs[i].N()) })
		case by == "column":
			c, err := d.column(cmp.Or(column, d.colorName, d.columns[0].name))
			if err != nil {
				return nil, err
			}
			out.Name = c.name
			out.setColumn(c)
		case by == "target":
			out.setTask(d, d.class, d.value, func(i int) bool { return d.Targets[i] != "" })
		case by == "prediction":
			out.Name = "predicted " + out.Name
			out.setTask(d, p.class, p.value, func(i int) bool { return p.known(i) })
		case d.task == regression:
			out.Name = fmt.Sprintf("predicted − measured %s", out.Name)
			out.Center = new(float64)
			out.setValues(len(d.IDs), func(i int) float64 {
				if d.Targets[i] == "" {
					return math.NaN()
				}
				return p.value[i] - d.value[i]
			})
		default:
			out.Name = "right or wrong"
			class := slices.Repeat([]int{-1}, len(d.IDs))
			for i, c := range p.class {
				if c >= 0 && d.class[i] >= 0 {
					class[i] = 0
					if c != d.class[i] {
						class[i] = 1
					}
				}
			}
			out.setClasses([]string{"right", "wrong"}, class)
			for k, c := range draw.Judged {
				out.Classes[k].Color = hex(c)
			}
		}
		return out.countUnknown(), nil
	}
}

// setTask shows classes or values, as the task is, of those graphs that have some.
func (c *coloring) setTask(d *Data, class []int, value []float64, known func(i int) bool) {
	if d.task == classification {
		c.setClasses(d.classes, class)
		return
	}
	c.setValues(len(d.IDs), func(i int) float64 {
		if !known(i) {
			return math.NaN()
		}
		return value[i]
	})
}

// setClasses shows classes; −1 is no class.
func (c *coloring) setClasses(names []string, class []int) {
	c.Kind, c.Class = "class", class
	c.Classes = classInfos(names, class)
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// classInfos counts classes and gives them their colours.
func classInfos(names []string, class []int) []classInfo {
	out := []classInfo{}
	for i, name := range names {
		out = append(out, classInfo{name, 0, hex(draw.ClassColor(i))})
	}
	for _, k := range class {
		if k >= 0 {
			out[k].Count++
		}
	}
	return out
}

// setValues shows values; NaN is no value.
func (c *coloring) setValues(n int, value func(i int) float64) {
	c.Kind = "value"
	low, high := math.Inf(1), math.Inf(-1)
	for i := range n {
		v := value(i)
		if math.IsNaN(v) {
			c.Values = append(c.Values, nil)
			continue
		}
		low, high = min(low, v), max(high, v)
		c.Values = append(c.Values, &v)
	}
	if low <= high {
		c.Range = []float64{low, high}
	}
}

// maxColors is the number of values of a column that have a colour each.
const maxColors = 30

// setColumn shows a column: numbers as values, texts as classes, the most frequent ones if there are many.
func (c *coloring) setColumn(from *column) {
	values := from.values
	if from.numeric {
		c.setValues(len(values), from.number)
		return
	}
	count := map[string]int{}
	for _, v := range values {
		if v != "" {
			count[v]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
	names, _ := draw.Classes(frequent[:min(maxColors, len(frequent))])
	if len(count) > len(names) {
		c.Note = fmt.Sprintf("values without a colour: %s more", thousands(len(count)-len(names)))
	}
	class := make([]int, len(values))
	for i, v := range values {
		class[i] = slices.Index(names, v)
	}
	c.setClasses(names, class)
}

// predictions has the prediction for every graph.
type predictions struct {
	class []int     // −1 for nothing; empty for regression
	value []float64 // NaN for nothing; empty for classes
	note  string
}

func (p *predictions) known(i int) bool {
	return p.class != nil && p.class[i] >= 0 || p.value != nil && !math.IsNaN(p.value[i])
}

// predicted returns predictions of learners that have not seen the graphs. They come from cross-validation. Graphs that
// are not in it are predicted by the learner of all others. Where nothing is held out, the model predicts its own
// training graphs.
func (x *session) predicted(ctx context.Context) (*predictions, error) {
	e, err := x.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	r, learned := &x.everyone, x.learnedHere
	if x.saved && len(e.Index) == 0 {
		r, learned = &x.known, x.learned
	}
	f, err := learned(ctx)
	if err != nil {
		return nil, err
	}
	return compute(ctx, x, r, "predict", func(ctx context.Context) (*predictions, error) {
		return x.predictAll(ctx, f, e)
	})
}

// predictAll takes what an evaluation predicts, and has a learner predict the other graphs.
func (x *session) predictAll(ctx context.Context, f *fitted, e *evaluation) (*predictions, error) {
	d, p := x.s.data, &predictions{}
	n := len(d.IDs)
	if d.task == classification {
		p.class = slices.Repeat([]int{-1}, n)
	} else {
		p.value = slices.Repeat([]float64{math.NaN()}, n)
	}
	taken := make([]bool, n)
	for k, i := range e.Index {
		taken[i] = true
		if d.task == classification {
			p.class[i] = slices.Index(d.classes, e.Predicted[k])
		} else {
			p.value[i] = e.Values[k]
		}
	}
	var rest []int
	for i := range n {
		if !taken[i] {
			rest = append(rest, i)
		}
	}
	switch {
	case f.Task() == model.SearchOnly || len(rest) == 0:
		return p, nil
	case len(e.Index) == 0:
		p.note = "the model was trained with these graphs; cross-validation would predict each without it"
	default:
		p.note = fmt.Sprintf("%s of %s graphs are cross-validated; the others have no target", thousands(len(e.Index)), thousands(n))
	}
	meter := work.NewMeter(ctx, "predict", len(rest))
	for rows := range slices.Chunk(rest, 256) {
		cross, err := f.block(ctx, rows, nil)
		if err != nil {
			return nil, err
		}
		said, err := f.PredictCross(ctx, nil, nil, cross, model.PredictOptions{})
		if err != nil {
			return nil, err
		}
		for k, i := range rows {
			if d.task == classification {
				p.class[i] = slices.Index(d.classes, said[k].Class)
			} else {
				p.value[i] = said[k].Value
			}
		}
		meter.Add(len(rows))
	}
	return p, nil
}
