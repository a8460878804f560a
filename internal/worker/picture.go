package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// pixelArgs ask for a picture as PNG in place of SVG, with so many pixels for one of the picture.
type pixelArgs struct {
	PNG float64 `json:"png"`
}

// picture puts a picture into an answer; err is what drawing it returned.
func (c *call) picture(result map[string]any, p *draw.Picture, args pixelArgs, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if args.PNG != 0 {
		png, err := p.PNG(args.PNG)
		c.putBytes("png", png)
		return nil, err
	}
	result["svg"] = string(p.SVG())
	return result, nil
}

// Pictures are described by draw.Options, by the names of its fields.
type similarityArgs struct {
	pixelArgs
	Picture draw.Options `json:"picture"`
	Slopes  bool         `json:"slopes"`
	Level   int          `json:"match"` // level of the matching, −1 for none
}

// similarity explains the similarity of two graphs.
func (c *call) similarity(args similarityArgs) (any, error) {
	gs, err := c.exactly(2)
	if err != nil {
		return nil, err
	}
	compared, err := explain.Similarity(c.ctx, c.fitted.model.Kernel, gs[0], gs[1], args.Slopes)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"comparison": compared}
	var matched [][2]int
	if args.Level >= 0 {
		scales := explain.ScalesOf(c.fitted.model.Kernel)
		if scales == nil {
			return nil, explain.ErrNoScales
		}
		if top := len(scales.Radii()) - 1; args.Level > top {
			return nil, &param.Error{Name: "match", Value: strconv.Itoa(args.Level), Want: fmt.Sprintf("0 … %d", top)}
		}
		levels, err := scales.Levels(c.ctx, gs[0], gs[1])
		if err != nil {
			return nil, err
		}
		matching := levels[args.Level].Matching
		result["matching"] = matching
		for _, p := range matching.Pairs {
			matched = append(matched, [2]int{p.G, p.H})
		}
	}
	p, err := draw.Comparison(gs[0], gs[1], compared, matched, args.Picture)
	return c.picture(result, p, args.pixelArgs, err)
}

type decisionArgs struct {
	pixelArgs
	Picture draw.Options `json:"picture"`
	Slopes  bool         `json:"slopes"`
	Class   int          `json:"class"`   // a place among the classes, −1 for the predicted one
	Against int          `json:"against"` // another, −1 for all others
}

// decision explains the prediction for a graph: the margin for a class, against all others or
// against one, or the value.
func (c *call) decision(args decisionArgs) (any, error) {
	if err := c.single(); err != nil {
		return nil, err
	}
	m := c.fitted.model
	o := explain.Options{Slopes: args.Slopes}
	if n := len(m.Classes); args.Class >= n || args.Against >= n {
		return nil, fmt.Errorf("classes %d and %d, want them below %d", args.Class, args.Against, n)
	}
	if args.Class >= 0 {
		o.Class = m.Classes[args.Class]
	}
	if args.Against >= 0 {
		o.Against = m.Classes[args.Against]
	}
	gs, err := c.exactly(1)
	if err != nil {
		return nil, err
	}
	e, err := explain.Prediction(c.ctx, m, gs[0], o)
	if err != nil {
		return nil, err
	}
	drawn, err := draw.Explanation(gs[0], e, args.Picture)
	return c.picture(map[string]any{"prediction": e, "class": slices.Index(m.Classes, e.Class)}, drawn, args.pixelArgs, err)
}

type drawArgs struct {
	pixelArgs
	Picture draw.Options `json:"picture"`
	Name    string       `json:"name"`
	Values  []float64    `json:"values"`
}

// draw draws a graph.
func (c *call) draw(args drawArgs) (any, error) {
	gs, err := c.exactly(1)
	if err != nil {
		return nil, err
	}
	if args.Values != nil {
		args.Picture.Values = draw.NewValues(args.Name, args.Values)
	}
	p, err := draw.Graph(gs[0], args.Picture)
	return c.picture(map[string]any{}, p, args.pixelArgs, err)
}

type matrixArgs struct {
	pixelArgs
	Rows    int       `json:"rows"`
	Kind    string    `json:"kind"`
	Title   string    `json:"title"`
	Classes []string  `json:"classes"`
	Size    draw.Size `json:"size"`
}

// drawMatrix draws a kernel matrix as a heat map or as the map of its two leading components.
func (c *call) drawMatrix(args matrixArgs) (any, error) {
	n := args.Rows
	if n < 0 || n > 1<<16 || len(c.body) != 8*n*n {
		return nil, fmt.Errorf("a matrix of %d bytes, want %d rows of as many numbers", len(c.body), n)
	}
	k := &kernel.Matrix{Rows: n, Cols: n, Data: file.Floats(c.body)}
	pictures := map[string]func(context.Context, string, *kernel.Matrix, []string, draw.Size) (*draw.Picture, error){
		"heatmap": draw.HeatMap, "map": draw.Map}
	f, ok := pictures[args.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q, want heatmap or map", args.Kind)
	}
	p, err := f(c.ctx, args.Title, k, args.Classes, args.Size)
	return c.picture(map[string]any{}, p, args.pixelArgs, err)
}
