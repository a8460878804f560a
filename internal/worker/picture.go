package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// picture puts a picture into a result; err is what drawing it returned.
func picture(result map[string]any, p *draw.Picture, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	result["svg"] = string(p.SVG())
	return result, nil
}

// Pictures are described by draw.Options, by the names of its fields.
type similarityArgs struct {
	Picture draw.Options `json:"picture"`
	Shares  bool         `json:"shares"`
	Level   int          `json:"match"` // level of the matching, −1 for none
}

// similarity explains the similarity of two graphs.
func (c *call) similarity(args similarityArgs) (any, error) {
	gs, err := c.exactly(2)
	if err != nil {
		return nil, err
	}
	compared, err := explain.Similarity(c.ctx, c.fitted.model.Kernel, gs[0], gs[1])
	if err != nil {
		return nil, err
	}
	result := map[string]any{"comparison": compared}
	name, values := "contribution", [2][]float64{compared.G.Vertices, compared.H.Vertices}
	m, single := alone(c.fitted.model)
	if args.Shares && !single || args.Level >= 0 && m == nil {
		return nil, errSingle
	}
	if args.Shares {
		name = "share"
		var shares [2]*explain.Shares
		for i := range gs {
			if shares[i], err = explain.SimilarityShares(c.ctx, m, gs[i], gs[1-i]); err != nil {
				return nil, err
			}
			values[i] = shares[i].Vertices
		}
		result["shares"] = shares
	}
	var matched [][2]int
	if args.Level >= 0 {
		matching, err := explain.Match(c.ctx, m, gs[0], gs[1], args.Level)
		if err != nil {
			return nil, err
		}
		result["matching"] = matching
		for _, p := range matching.Pairs {
			matched = append(matched, [2]int{p.G, p.H})
		}
	}
	o := args.Picture
	o.Values = draw.NewValues(name, slices.Concat(values[0], values[1]))
	var panels [2]draw.Panel
	for i, g := range gs {
		panels[i] = draw.Panel{Graph: g, Title: g.ID(), Values: values[i]}
	}
	p, err := draw.Pair(o.Title, panels, matched, o)
	return picture(result, p, err)
}

var errSingle = errors.New("shares are known for one low-rank multiscale kernel only (bonds=False), " +
	"matchings where there is one; contributions are known")

type decisionArgs struct {
	Picture draw.Options `json:"picture"`
	Shares  bool         `json:"shares"`
	Class   int          `json:"class"`   // a place among the classes
	Against int          `json:"against"` // another, −1 for all others
}

// decision explains what a learner says of a graph: what speaks for a class, against all others or
// against one, or its value.
func (c *call) decision(args decisionArgs) (any, error) {
	m := c.fitted.model
	if m.Learner == nil {
		return nil, errors.New("want a model with a learner")
	}
	f := m.Learner.For(0)
	if n := len(m.Classes); n > 0 {
		if args.Class < 0 || args.Class >= n || args.Against < -1 || args.Against >= n || args.Against == args.Class {
			return nil, fmt.Errorf("classes %d and %d, want two different ones from 0 to %d", args.Class, args.Against, n-1)
		}
		if f = m.Learner.For(args.Class); args.Against >= 0 {
			f = m.Learner.Between(args.Class, args.Against)
		}
	}
	gs, err := c.exactly(1)
	if err != nil {
		return nil, err
	}
	p, err := explain.Decision(c.ctx, m.Kernel, gs[0], f)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"prediction": p}
	o := args.Picture
	o.Values = draw.NewValues("contribution", p.Vertices)
	if args.Shares {
		low, single := alone(m)
		if !single {
			return nil, errSingle
		}
		shares, err := explain.DecisionShares(c.ctx, low, gs[0], f)
		if err != nil {
			return nil, err
		}
		result["shares"] = shares
		o.Values = draw.NewValues("share", shares.Vertices)
	}
	drawn, err := draw.Graph(gs[0], o)
	return picture(result, drawn, err)
}

type drawArgs struct {
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
	return picture(map[string]any{}, p, err)
}

type matrixArgs struct {
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
	return picture(map[string]any{}, p, err)
}
