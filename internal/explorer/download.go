package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/matrix"
	"github.com/mlgkernel/mlg/model"
)

// downloadRequest names a file. Pictures of a graph need one of index and smiles.
type downloadRequest struct {
	File   string    `json:"file" want:"one of map.svg map.png matrix.svg matrix.png graph.svg graph.png table.csv gram.csv model.mlg"`
	Layout string    `json:"layout,omitempty" default:"neighbours" want:"one of neighbours pca" help:"of the map"`
	Graph  reference `json:"graph,omitempty"`
	kernelRequest
}

func getDownload(q *request, in *downloadRequest) (*file, error) {
	name, _, _ := strings.Cut(in.File, ".")
	return downloads[name](q, in)
}

// downloads make files, by their names without the extension.
var downloads = map[string]func(q *request, in *downloadRequest) (*file, error){
	"map":    on((*session).placed, mapPicture),
	"matrix": on((*session).fitted, matrixPicture),
	"graph":  on((*session).learned, graphPicture),
	"table":  on((*session).placedAndEvaluated, table),
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

func mapPicture(_ context.Context, x *session, p *placement, in *downloadRequest) (*file, error) {
	d := x.s.data
	c := draw.Scatter{Title: d.Name, X: p.neighbours[0], Y: p.neighbours[1], XAxis: "neighbours", Class: d.classOf(all(len(d.IDs))), Size: draw.Size{Width: 900, Height: 620}}
	if in.Layout == "pca" {
		c.X, c.Y = p.pca[0], p.pca[1]
		c.XAxis = fmt.Sprintf("first component (%.0f %%)", 100*p.axes.Share[0])
		c.YAxis = fmt.Sprintf("second component (%.0f %%)", 100*p.axes.Share[1])
	}
	drawn, err := c.Picture()
	return pictureFile(in.File, drawn, err)
}

func matrixPicture(_ context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	d := x.s.data
	drawn, err := draw.HeatMap(d.Name, f.gram, d.classOf(f.core), draw.Size{Width: 800, Height: 760})
	return pictureFile(in.File, drawn, err)
}

// graphPicture draws a graph, coloured by what speaks for the prediction.
func graphPicture(ctx context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	g, _, err := x.s.graph(in.Graph)
	if err != nil {
		return nil, err
	}
	o := draw.DefaultOptions()
	e, err := explainPrediction(ctx, f.Model, g, explain.Options{})
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

// placedAndEvaluated returns what a table has.
func (x *session) placedAndEvaluated(ctx context.Context) (*placement, error) {
	if _, err := x.evaluated(ctx); err != nil {
		return nil, err
	}
	return x.placed(ctx)
}

// table has all graphs with their places, nearest others and predictions.
func table(_ context.Context, x *session, p *placement, in *downloadRequest) (*file, error) {
	e, _ := x.score.peek()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(strings.Fields("index id target cross_validated nearest similarity pca_x pca_y neighbours_x neighbours_y"))
	d := x.s.data
	for i, id := range d.IDs {
		near, similarity := "", ""
		if hits := p.near[i]; len(hits) > 0 {
			near, similarity = d.IDs[hits[0].Index], fmt.Sprintf("%.6g", hits[0].Similarity)
		}
		row := []string{strconv.Itoa(i), cell(id), cell(d.target(i)), cell(e.answers[i]), cell(near), similarity}
		for _, v := range []float64{p.pca[0][i], p.pca[1][i], p.neighbours[0][i], p.neighbours[1][i]} {
			row = append(row, fmt.Sprintf("%.5g", v))
		}
		w.Write(row) // errors stay until the end
	}
	w.Flush()
	return &file{"text/csv; charset=utf-8", in.File, b.Bytes()}, w.Error()
}

// maxTableRows bounds the Gram matrix as CSV.
const maxTableRows = 2500

func gramTable(_ context.Context, x *session, f *fitted, in *downloadRequest) (*file, error) {
	if len(f.core) > maxTableRows {
		return nil, cannot("a matrix of %d rows is too large for a page, want at most %d; mlg gram writes it", len(f.core), maxTableRows)
	}
	ids := choose.Pick(x.s.data.IDs, f.core)
	for i, id := range ids {
		ids[i] = cell(id)
	}
	var b bytes.Buffer
	err := matrix.WriteCSV(&b, f.gram, ids, ids)
	return &file{"text/csv; charset=utf-8", in.File, b.Bytes()}, err
}

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
