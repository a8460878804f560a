package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/model"
)

// downloadRequest names a file. Pictures of a graph need one of index and smiles.
type downloadRequest struct {
	File       string     `json:"file" want:"one of map.svg map.png matrix.svg matrix.png graph.svg graph.png table.csv gram.csv model.mlg"`
	Layout     string     `json:"layout,omitempty" default:"neighbours" want:"one of neighbours pca" help:"of the map"`
	Graph      reference  `json:"graph,omitempty"`
	Parameters parameters `json:"parameters,omitempty"`
}

func getDownload(q *request, in *downloadRequest) (*file, error) {
	x, err := q.s.session(in.Parameters)
	if err != nil {
		return nil, err
	}
	name, format, _ := strings.Cut(in.File, ".")
	var p *draw.Picture
	switch name {
	case "map":
		p, err = x.mapPicture(q, in.Layout)
	case "matrix":
		p, err = x.matrixPicture(q)
	case "graph":
		p, err = x.graphPicture(q, in.Graph)
	case "table":
		return x.table(q.Context())
	case "gram":
		return x.gramTable(q)
	default:
		return x.modelFile(q)
	}
	if err != nil {
		return nil, err
	}
	if format == "svg" {
		return &file{"image/svg+xml", in.File, p.SVG()}, nil
	}
	return short(q, func(context.Context) (*file, error) {
		const scale = 2 // pixels of a PNG for one of the picture
		data, err := p.PNG(scale)
		return &file{"image/png", in.File, data}, err
	})
}

func (x *session) mapPicture(q *request, layout string) (*draw.Picture, error) {
	p, err := x.placed(q.Context())
	if err != nil {
		return nil, err
	}
	d := x.s.data
	c := draw.Scatter{Title: d.Name, X: p.neighbours[0], Y: p.neighbours[1], XAxis: "neighbours", Class: d.classOf(all(len(d.IDs))), Size: draw.Size{Width: 900, Height: 620}}
	if layout == "pca" {
		c.X, c.Y = p.pca[0], p.pca[1]
		c.XAxis = fmt.Sprintf("first component (%.0f %%)", 100*p.axes.Share[0])
		c.YAxis = fmt.Sprintf("second component (%.0f %%)", 100*p.axes.Share[1])
	}
	return short(q, func(context.Context) (*draw.Picture, error) { return c.Picture() })
}

func (x *session) matrixPicture(q *request) (*draw.Picture, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*draw.Picture, error) {
		return draw.HeatMap(x.s.data.Name, f.gram, x.s.data.classOf(f.core), draw.Size{Width: 800, Height: 760})
	})
}

// graphPicture draws a graph, coloured by what speaks for the prediction.
func (x *session) graphPicture(q *request, r reference) (*draw.Picture, error) {
	g, index, err := x.s.resolve(r)
	if err != nil {
		return nil, err
	}
	o := draw.DefaultOptions()
	if o.Title = g.ID(); index >= 0 {
		o.Title = x.s.data.IDs[index]
	}
	m, err := x.learned(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (*draw.Picture, error) {
		e, err := explainDecision(ctx, m, g, nil)
		switch {
		case errors.Is(err, explain.ErrUnexplained) || errors.Is(err, errNoLearner): // without colours
		case err != nil:
			return nil, err
		case e.Class != "":
			o.Values = draw.NewValues("contribution to "+e.Class, e.Vertices)
		default:
			o.Values = draw.NewValues("contribution to the prediction", e.Vertices)
		}
		return draw.Graph(g, o)
	})
}

// table has all graphs with their places, nearest others and predictions.
func (x *session) table(ctx context.Context) (*file, error) {
	p, err := x.placed(ctx)
	if err != nil {
		return nil, err
	}
	e, err := x.evaluated(ctx)
	if err != nil {
		return nil, err
	}
	header := []string{"index", "id", "target", "cross_validated", "nearest", "similarity", "pca_x", "pca_y", "neighbours_x", "neighbours_y"}
	d := x.s.data
	return csvFile("table.csv", header, len(d.IDs), func(i int) []string {
		near, similarity := "", ""
		if hits := p.near[i]; len(hits) > 0 {
			near, similarity = d.IDs[hits[0].Index], fmt.Sprintf("%.6g", hits[0].Similarity)
		}
		answer := ""
		if a := e.answer(i); a != nil {
			answer = *a
		}
		row := []string{strconv.Itoa(i), cell(d.IDs[i]), cell(d.target(i)), cell(answer), cell(near), similarity}
		for _, v := range []float64{p.pca[0][i], p.pca[1][i], p.neighbours[0][i], p.neighbours[1][i]} {
			row = append(row, fmt.Sprintf("%.5g", v))
		}
		return row
	})
}

// maxTableRows bounds the Gram matrix as CSV.
const maxTableRows = 2500

func (x *session) gramTable(q *request) (*file, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return nil, err
	}
	if len(f.core) > maxTableRows {
		return nil, cannot("a matrix of %d rows is too large for a page, want at most %d; mlg gram writes it", len(f.core), maxTableRows)
	}
	return short(q, func(context.Context) (*file, error) {
		header := []string{"id"}
		for _, i := range f.core {
			header = append(header, cell(x.s.data.IDs[i]))
		}
		return csvFile("gram.csv", header, len(f.core), func(a int) []string {
			row := []string{header[a+1]}
			for _, v := range f.gram.Row(a) {
				row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
			}
			return row
		})
	})
}

// csvFile writes a header and n rows.
func csvFile(name string, header []string, n int, row func(i int) []string) (*file, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(header) // errors stay until the end
	for i := range n {
		w.Write(row(i))
	}
	w.Flush()
	return &file{"text/csv; charset=utf-8", name, b.Bytes()}, w.Error()
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
func (x *session) modelFile(q *request) (*file, error) {
	m, err := x.learned(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*file, error) {
		var b bytes.Buffer
		err := model.Encode(&b, m)
		return &file{"application/octet-stream", x.s.data.Name + ".mlg", b.Bytes()}, err
	})
}
