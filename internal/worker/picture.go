package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
)

// pictureOptions say how graphs are drawn.
type pictureOptions struct {
	Title   string  `json:"title"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
	Numbers bool    `json:"numbers"`
	Style   string  `json:"style"`
}

// options returns the options of the pictures, with values on the vertices unless they are nil.
func (p *pictureOptions) options(name string, values []float64) draw.Options {
	o := draw.DefaultOptions()
	o.Title, o.Numbers = p.Title, p.Numbers
	if p.Width > 0 {
		o.Size.Width = p.Width
	}
	if p.Height > 0 {
		o.Size.Height = p.Height
	}
	if p.Style != "" {
		o.Style = draw.Style(p.Style)
	}
	if values != nil {
		o.Values = draw.NewValues(name, values)
	}
	return o
}

// picture puts a picture into the result of an answer; err is what drawing it returned.
func (a *answer) picture(result map[string]any, p *draw.Picture, err error) error {
	if err != nil {
		return err
	}
	result["svg"] = string(p.SVG())
	a.Result = result
	return nil
}

// similarity explains the similarity of two graphs.
func (s *server) similarity(ctx context.Context, q *request, a *answer) error {
	var args struct {
		handleArgs
		Picture pictureOptions `json:"picture"`
		Shares  bool           `json:"shares"`
		Level   int            `json:"match"` // level of the matching, −1 for none
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	f, err := s.handle(args.Handle)
	if err != nil {
		return err
	}
	ctx = f.work(ctx)
	gs, err := exactly(2, args.Batch, q.body)
	if err != nil {
		return err
	}
	c, err := explain.Similarity(ctx, f.model.Kernel, gs[0], gs[1])
	if err != nil {
		return err
	}
	result := map[string]any{"comparison": c}
	values := [2][]float64{c.G.Vertices, c.H.Vertices}
	name := "contribution"
	m, single := alone(f.model)
	if (args.Shares || args.Level >= 0) && !single {
		return errSingle
	}
	if args.Shares {
		name = "share"
		var shares [2]*explain.Shares
		for i := range gs {
			if shares[i], err = explain.SimilarityShares(ctx, m, gs[i], gs[1-i]); err != nil {
				return err
			}
			values[i] = shares[i].Vertices
		}
		result["shares"] = shares
	}
	var matched [][2]int
	if args.Level >= 0 {
		matching, err := explain.Match(ctx, m, gs[0], gs[1], args.Level)
		if err != nil {
			return err
		}
		result["matching"] = matching
		for _, p := range matching.Pairs {
			matched = append(matched, [2]int{p.G, p.H})
		}
	}
	o := args.Picture.options(name, slices.Concat(values[0], values[1]))
	p, err := draw.Pair(o.Title, [2]draw.Panel{{Graph: gs[0], Title: gs[0].ID(), Values: values[0]}, {Graph: gs[1], Title: gs[1].ID(), Values: values[1]}}, matched, o)
	return a.picture(result, p, err)
}

var errSingle = errors.New("shares and matchings are known for one low-rank multiscale kernel only; contributions are known")

// decision explains what a learner says of a graph: what speaks for a class, against all others or
// against one, or its value.
func (s *server) decision(ctx context.Context, q *request, a *answer) error {
	var args struct {
		handleArgs
		Picture pictureOptions `json:"picture"`
		Shares  bool           `json:"shares"`
		Class   int            `json:"class"`   // a place among the classes
		Against int            `json:"against"` // another, −1 for all others
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	held, err := s.handle(args.Handle)
	if err != nil {
		return err
	}
	ctx = held.work(ctx)
	m := held.model
	if m.Learner == nil {
		return errors.New("want a model with a learner")
	}
	f := m.Learner.For(0)
	if n := len(m.Classes); n > 0 {
		if args.Class < 0 || args.Class >= n || args.Against < -1 || args.Against >= n || args.Against == args.Class {
			return fmt.Errorf("classes %d and %d, want two different ones from 0 to %d", args.Class, args.Against, n-1)
		}
		if f = m.Learner.For(args.Class); args.Against >= 0 {
			f = m.Learner.Between(args.Class, args.Against)
		}
	}
	gs, err := exactly(1, args.Batch, q.body)
	if err != nil {
		return err
	}
	p, err := explain.Decision(ctx, m.Kernel, gs[0], f)
	if err != nil {
		return err
	}
	result := map[string]any{"prediction": p}
	name, values := "contribution", p.Vertices
	if args.Shares {
		low, single := alone(m)
		if !single {
			return errSingle
		}
		shares, err := explain.DecisionShares(ctx, low, gs[0], f)
		if err != nil {
			return err
		}
		result["shares"] = shares
		name, values = "share", shares.Vertices
	}
	pic, err := draw.Graph(gs[0], args.Picture.options(name, values))
	return a.picture(result, pic, err)
}

// draw draws a graph.
func (s *server) draw(_ context.Context, q *request, a *answer) error {
	var args struct {
		Batch   batchLayout    `json:"batch"`
		Picture pictureOptions `json:"picture"`
		Name    string         `json:"name"`
		Values  []float64      `json:"values"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	gs, err := exactly(1, args.Batch, q.body)
	if err != nil {
		return err
	}
	p, err := draw.Graph(gs[0], args.Picture.options(args.Name, args.Values))
	return a.picture(map[string]any{}, p, err)
}

// drawMatrix draws a kernel matrix as a heat map or as the map of its two leading components.
func (s *server) drawMatrix(_ context.Context, q *request, a *answer) error {
	var args struct {
		Rows    int      `json:"rows"`
		Kind    string   `json:"kind"`
		Title   string   `json:"title"`
		Classes []string `json:"classes"`
		Width   float64  `json:"width"`
		Height  float64  `json:"height"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	n := args.Rows
	if n < 0 || n > 1<<16 || len(q.body) != 8*n*n {
		return fmt.Errorf("a matrix of %d bytes, want %d rows of as many numbers", len(q.body), n)
	}
	k := kernel.NewMatrix(n, n)
	for i := range k.Data {
		k.Data[i] = float64At(q.body, i)
	}
	size := draw.DefaultSize
	if args.Width > 0 && args.Height > 0 {
		size = draw.Size{Width: args.Width, Height: args.Height}
	}
	var pic *draw.Picture
	var err error
	switch args.Kind {
	case "heatmap":
		pic, err = draw.HeatMap(args.Title, k, args.Classes, size)
	case "map":
		pic, err = draw.Map(args.Title, k, args.Classes, size)
	default:
		err = fmt.Errorf("kind %q, want heatmap or map", args.Kind)
	}
	return a.picture(map[string]any{}, pic, err)
}
