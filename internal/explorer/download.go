package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
)

// downloadRequest names a file. Pictures of a graph need one of index and smiles.
type downloadRequest struct {
	File   string    `json:"file" want:"one of map.svg map.png matrix.svg matrix.png graph.svg graph.png table.csv gram.csv model.mlg"`
	Layout string    `json:"layout,omitempty" default:"neighbours" want:"one of neighbours pca" help:"layout of the map"`
	Color  string    `json:"color,omitempty" default:"target" want:"one of target column prediction error size" help:"what the colours of the map show, as in colors"`
	Column string    `json:"column,omitempty" help:"the column that they show, as in colors"`
	Graph  reference `json:"graph,omitempty"`
	Slopes bool      `json:"slopes,omitempty" help:"colour the graph by slopes, as in explain"`
	kernelRequest
}

func getDownload(q *request, in *downloadRequest) (*file, error) {
	name, _, _ := strings.Cut(in.File, ".")
	if name == "map" {
		return on(mapColors(in.Color, in.Column), mapPicture)(q, in)
	}
	return downloads[name](q, in)
}

// downloads make files, by their names without the extension.
var downloads = map[string]func(q *request, in *downloadRequest) (*file, error){
	"matrix": on((*session).fitted, matrixPicture),
	"graph":  on((*session).learned, graphPicture),
	"table":  on((*session).placedAndEvaluated, tableFile),
	"gram":   on((*session).fitted, gramTable),
	"model":  on((*session).learned, modelFile),
}

// pictureFile writes a picture in the format that the name of its file says.
func pictureFile(name string, p *draw.Picture, err error) (*file, error) {
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".svg") {
		return &file{"image/svg+xml", name, p.SVG()}, nil
	}
	const scale = 2 // pixels of a PNG for one of the picture
	data, err := p.PNG(scale)
	return &file{"image/png", name, data}, err
}

// coloredMap is a map with its colours, which are nil without any.
type coloredMap struct {
	*placement
	colors *coloring
}

// mapColors computes a map with colours by something.
func mapColors(by, column string) func(x *session, ctx context.Context) (coloredMap, error) {
	return func(x *session, ctx context.Context) (out coloredMap, err error) {
		if out.placement, err = x.placed(ctx); err == nil && (by != "target" || x.s.data.task != noTask) {
			out.colors, err = coloredBy(by, column)(x, ctx)
		}
		return out, err
	}
}

func mapPicture(_ context.Context, x *session, p coloredMap, in *downloadRequest) (*file, error) {
	drawn, err := x.mapOf(p, in.Layout)
	return pictureFile(in.File, drawn, err)
}

// mapOf draws the map.
func (x *session) mapOf(p coloredMap, layout string) (*draw.Picture, error) {
	d := x.s.data
	c := draw.Scatter{Title: d.Name, X: p.neighbours[0], Y: p.neighbours[1], XAxis: "neighbours",
		Size: draw.Size{Width: 900, Height: 620}}
	p.colors.paint(&c)
	if layout == "pca" {
		c.X, c.Y = p.pca[0], p.pca[1]
		c.XAxis = fmt.Sprintf("first component (%.0f %%)", 100*p.axes.Share[0])
		c.YAxis = fmt.Sprintf("second component (%.0f %%)", 100*p.axes.Share[1])
	}
	return c.Picture()
}

func matrixPicture(ctx context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	d := x.s.data
	drawn, err := draw.HeatMap(ctx, d.Name, f.gram, d.classOf(f.core), draw.Size{Width: 800, Height: 760})
	return pictureFile(in.File, drawn, err)
}

// graphPicture draws a graph, coloured by what speaks for the prediction.
func graphPicture(ctx context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	g, _, err := x.s.graph(in.Graph)
	if err != nil {
		return nil, err
	}
	o := draw.DefaultOptions()
	e, err := explainPrediction(ctx, x.s.data.naming(f.Model), g, explain.Options{Slopes: in.Slopes})
	if errors.Is(err, errNoLearner) { // without colours
		o.Title = g.ID()
		drawn, err := draw.Graph(g, o)
		return pictureFile(in.File, drawn, err)
	}
	if err != nil {
		return nil, err
	}
	drawn, err := draw.Explanation(g, e, o)
	return pictureFile(in.File, drawn, err)
}

// paint colours the points of a map.
func (c *coloring) paint(s *draw.Scatter) {
	switch {
	case c == nil: // as points without a class
		s.Names, s.Class = []string{}, make([]string, len(s.X))
	case c.Kind == "value":
		s.Value = &draw.PointValues{Name: c.Name, TwoSided: c.Center != nil}
		for _, v := range c.Values {
			if v == nil {
				v = &notANumber
			}
			s.Value.Of = append(s.Value.Of, *v)
		}
	default:
		s.Names = []string{}
		for _, k := range c.Classes {
			s.Names = append(s.Names, k.Name)
		}
		if c.By == "error" {
			s.Colors = draw.Judged
		}
		for _, k := range c.Class {
			name := ""
			if k >= 0 {
				name = s.Names[k]
			}
			s.Class = append(s.Class, name)
		}
	}
}

var notANumber = math.NaN()

// placedAndEvaluated returns the contents of the table.
func (x *session) placedAndEvaluated(ctx context.Context) (*placement, error) {
	if _, err := x.heldOut(ctx); err != nil {
		return nil, err
	}
	return x.placed(ctx)
}

func tableFile(ctx context.Context, x *session, p *placement, in *downloadRequest) (*file, error) {
	return x.table(ctx, p, kernel.UpTo(len(x.s.data.IDs)), in.File)
}

// table has graphs with their places, nearest others and predictions.
func (x *session) table(ctx context.Context, p *placement, graphs []int, name string) (*file, error) {
	e, err := x.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	d := x.s.data
	head := strings.Fields("index id target cross_validated nearest similarity pca_x pca_y neighbours_x neighbours_y vertices edges")
	for _, c := range d.columns {
		head = append(head, cell(c.name))
	}
	if d.smiles != nil {
		head = append(head, "smiles")
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(head) // errors stay until the end
	for _, i := range graphs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near, similarity := "", ""
		if hits := p.near[i]; len(hits) > 0 {
			near, similarity = d.IDs[hits[0].Index], fmt.Sprintf("%.6g", hits[0].Similarity)
		}
		answer, _ := e.answer(i)
		row := []string{strconv.Itoa(i), cell(d.IDs[i]), cell(d.Targets[i]), cell(answer), cell(near), similarity}
		for _, v := range []float64{p.pca[0][i], p.pca[1][i], p.neighbours[0][i], p.neighbours[1][i]} {
			row = append(row, fmt.Sprintf("%.5g", v))
		}
		row = append(row, strconv.Itoa(d.Graphs[i].N()), strconv.Itoa(d.Graphs[i].M()))
		for _, c := range d.columns {
			row = append(row, cell(c.values[i]))
		}
		if d.smiles != nil {
			row = append(row, cell(d.smiles[i]))
		}
		w.Write(row)
	}
	w.Flush()
	return &file{"text/csv; charset=utf-8", name, b.Bytes()}, w.Error()
}

type exportRequest struct {
	Graphs []int  `json:"graphs" help:"positions in the data, from 0"`
	Format string `json:"format" want:"one of csv smi jsonl" help:"the table, SMILES, or Graph JSON Lines"`
	kernelRequest
}

// postExport writes some of the graphs.
func postExport(q *request, in *exportRequest) (*file, error) {
	d := q.s.data
	if n := len(in.Graphs); n < 1 || n > len(d.IDs) {
		return nil, badRequest("graphs", "graphs: %d, want 1 to %d", n, len(d.IDs))
	}
	seen := make([]bool, len(d.IDs))
	if err := d.hasAll(in.Graphs); err != nil {
		return nil, err
	}
	for _, i := range in.Graphs {
		if seen[i] {
			return nil, badRequest("graphs", "graph %d is given twice", i)
		}
		seen[i] = true
	}
	name := d.Name + "." + in.Format
	switch {
	case in.Format == "csv":
		return on((*session).placedAndEvaluated, func(ctx context.Context, x *session, p *placement, in *exportRequest) (*file, error) {
			return x.table(ctx, p, in.Graphs, name)
		})(q, in)
	case in.Format == "smi" && d.smiles == nil:
		return nil, &apiError{422, "the graphs were not read from SMILES", "format"}
	}
	return short(q, func(ctx context.Context) (*file, error) {
		out := &file{kind: "text/plain; charset=utf-8", name: name}
		for _, i := range in.Graphs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if in.Format == "smi" {
				out.data = fmt.Appendf(out.data, "%s\t%s\n", d.smiles[i], strings.Join(strings.Fields(d.IDs[i]), " "))
				continue
			}
			var err error
			if out.data, err = dataset.AppendJSON(out.data, d.Graphs[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// maxTableRows bounds the Gram matrix as CSV.
const maxTableRows = 2500

func gramTable(ctx context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	if len(f.core) > maxTableRows {
		return nil, cannot("a matrix of %d rows is too large to download, want at most %d; mlg gram writes larger ones", len(f.core), maxTableRows)
	}
	ids := choose.Pick(x.s.data.IDs, f.core)
	for i, id := range ids {
		ids[i] = cell(id)
	}
	var b bytes.Buffer
	err := matrixfile.WriteCSV(writerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return b.Write(p)
	}), f.gram, ids, ids)
	return &file{"text/csv; charset=utf-8", in.File, b.Bytes()}, err
}

// writerFunc is an io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// cell returns the text of a cell of a table. One that a spreadsheet would take for a formula
// gets an apostrophe, unless it is a number.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}

// modelFile is the fitted model with its learner.
func modelFile(_ context.Context, x *session, f *fitted, _ *downloadRequest) (*file, error) {
	var b bytes.Buffer
	err := model.Encode(&b, f.Model)
	return &file{"application/octet-stream", x.s.data.Name + ".mlg", b.Bytes()}, err
}
