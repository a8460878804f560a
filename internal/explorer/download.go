package explorer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// pictureScale is the number of pixels of a PNG for one of the picture.
const pictureScale = 2

// downloads are the files that can be saved. What a request names is looked up here.
var downloads = map[string]func(*session, *request) (raw, error){
	"map.svg":    func(x *session, q *request) (raw, error) { return x.mapPicture(q, "svg") },
	"map.png":    func(x *session, q *request) (raw, error) { return x.mapPicture(q, "png") },
	"matrix.svg": func(x *session, q *request) (raw, error) { return x.matrixPicture(q, "svg") },
	"matrix.png": func(x *session, q *request) (raw, error) { return x.matrixPicture(q, "png") },
	"graph.svg":  func(x *session, q *request) (raw, error) { return x.graphPicture(q, "svg") },
	"graph.png":  func(x *session, q *request) (raw, error) { return x.graphPicture(q, "png") },
	"table.csv": func(x *session, q *request) (raw, error) {
		data, err := x.table(q.Context())
		return raw{"text/csv; charset=utf-8", "table.csv", data}, err
	},
	"gram.csv":  (*session).gramTable,
	"model.mlg": (*session).modelFile,
}

func (s *Server) getDownload(q *request) (any, error) {
	name := q.PathValue("file")
	make, ok := downloads[name]
	if !ok {
		return nil, notFound("no file %q to download", name)
	}
	out, err := make(q.x, q)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// picture writes a picture in the format asked for.
func picture(p *draw.Picture, name, format string) (raw, error) {
	if format == "svg" {
		return raw{"image/svg+xml", name + ".svg", p.SVG()}, nil
	}
	data, err := p.PNG(pictureScale)
	return raw{"image/png", name + ".png", data}, err
}

func (x *session) mapPicture(q *request, format string) (raw, error) {
	layout := "neighbours"
	if l, ok := q.query["layout"]; ok {
		layout = l
	}
	p, err := x.placed(q.Context())
	if err != nil {
		return raw{}, err
	}
	src := x.s.src
	c := draw.Scatter{Title: src.Name, X: p.neighbours[0], Y: p.neighbours[1], Class: src.Targets, Size: draw.Size{Width: 900, Height: 620}}
	if src.task != classification {
		c.Class = nil
	}
	switch layout {
	case "neighbours":
		c.XAxis, c.YAxis = "neighbours", ""
	case "pca":
		c.X, c.Y = p.pca[0], p.pca[1]
		c.XAxis = fmt.Sprintf("first component (%.0f %%)", 100*p.share[0])
		c.YAxis = fmt.Sprintf("second component (%.0f %%)", 100*p.share[1])
	default:
		return raw{}, badRequest("query: layout=%q, want pca or neighbours", layout)
	}
	return short(q, func(context.Context) (raw, error) {
		pic, err := c.Picture()
		if err != nil {
			return raw{}, err
		}
		return picture(pic, "map", format)
	})
}

func (x *session) matrixPicture(q *request, format string) (raw, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return raw{}, err
	}
	return short(q, func(context.Context) (raw, error) {
		pic, err := draw.HeatMap(x.s.src.Name, f.gram, x.s.src.classNames(f.core), draw.Size{Width: 800, Height: 760})
		if err != nil {
			return raw{}, err
		}
		return picture(pic, "matrix", format)
	})
}

func (x *session) graphPicture(q *request, format string) (raw, error) {
	r, err := q.queried()
	if err != nil {
		return raw{}, err
	}
	g, index, err := x.s.resolve(r)
	if err != nil {
		return raw{}, err
	}
	name := g.ID()
	if index >= 0 {
		name = x.s.src.IDs[index]
	}
	o := draw.DefaultOptions()
	o.Title = name
	f, err := x.fitted(q.Context())
	if err != nil {
		return raw{}, err
	}
	m, err := x.learned(q.Context())
	if err != nil {
		return raw{}, err
	}
	return short(q, func(ctx context.Context) (raw, error) {
		if m.Learner != nil { // coloured by what speaks for the prediction
			p, err := m.Predict(ctx, []*graph.Graph{g}, 0)
			if err != nil {
				return raw{}, err
			}
			e, err := x.s.explain(ctx, f, m.Learner, g, p[0].Class)
			switch {
			case errors.Is(err, explain.ErrUnexplained): // without colours
			case err != nil:
				return raw{}, err
			case e.Class != "":
				o.Values = draw.NewValues("contribution to "+e.Class, e.Vertices)
			default:
				o.Values = draw.NewValues("contribution to the prediction", e.Vertices)
			}
		}
		pic, err := draw.Graph(g, o)
		if err != nil {
			return raw{}, err
		}
		return picture(pic, "graph", format)
	})
}

// maxTableRows bounds the Gram matrix as CSV.
const maxTableRows = 2500

func (x *session) gramTable(q *request) (raw, error) {
	f, err := x.fitted(q.Context())
	if err != nil {
		return raw{}, err
	}
	if len(f.core) > maxTableRows {
		return raw{}, &apiError{422, fmt.Sprintf("a matrix of %d rows is too large for a page, want at most %d; mlg gram writes it", len(f.core), maxTableRows)}
	}
	return short(q, func(context.Context) (raw, error) {
		b := []byte("id")
		for _, i := range f.core {
			b = append(append(b, ','), field(x.s.src.IDs[i])...)
		}
		for a, i := range f.core {
			b = append(append(b, '\n'), field(x.s.src.IDs[i])...)
			for _, v := range f.gram.Row(a) {
				b = strconv.AppendFloat(append(b, ','), v, 'g', -1, 64)
			}
		}
		return raw{"text/csv; charset=utf-8", "gram.csv", append(b, '\n')}, nil
	})
}

// modelFile is the fitted model with its learner and what cross-validation said.
func (x *session) modelFile(q *request) (raw, error) {
	m, err := x.learned(q.Context())
	if err != nil {
		return raw{}, err
	}
	out := *m
	if e, ok := x.score.peek(); ok && !x.saved {
		for _, r := range e.Rows {
			if r.Name == "mlg" && r.Accuracy != nil {
				out.Estimates = []model.Estimate{{Measure: "accuracy", Value: *r.Accuracy, Method: fmt.Sprintf("%d-fold cross-validation", e.Folds)}}
			}
			if r.Name == "mlg" && r.RMSE != nil {
				out.Estimates = []model.Estimate{{Measure: "rmse", Value: *r.RMSE, Method: fmt.Sprintf("%d-fold cross-validation", e.Folds)}}
			}
		}
	}
	return short(q, func(context.Context) (raw, error) {
		var b bytes.Buffer
		err := model.Encode(&b, &out)
		name := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
				return r
			}
			return '_'
		}, x.s.src.Name)
		return raw{"application/octet-stream", name + ".mlg", b.Bytes()}, err
	})
}
