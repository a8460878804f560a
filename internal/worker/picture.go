package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// explainable returns the low-rank kernel under a handle.
func (f *fitted) explainable() (*mlg.Model, error) {
	if m, ok := f.kernel.(*mlg.Model); ok {
		return m, nil
	}
	if f.model != nil {
		if k, ok := alone(f.model); ok {
			return k, nil
		}
		return nil, errors.New("the model combines several kernels: its decisions are explained, not the similarity of two graphs")
	}
	return nil, errors.New("only the low-rank multiscale kernel is explained")
}

// pictureOptions say how graphs are drawn.
type pictureOptions struct {
	Title   string  `json:"title"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
	Numbers bool    `json:"numbers"`
	Style   string  `json:"style"`
}

// svg draws a graph, with values on its vertices unless they are nil.
func (p *pictureOptions) svg(g *graph.Graph, name string, values []float64) (string, error) {
	o := draw.DefaultOptions()
	o.Title, o.Numbers = p.Title, p.Numbers
	if p.Width > 0 {
		o.Width = p.Width
	}
	if p.Height > 0 {
		o.Height = p.Height
	}
	if p.Style != "" {
		o.Style = draw.Style(p.Style)
	}
	if values != nil {
		o.Values = draw.NewValues(name, values)
	}
	pic, err := draw.Graph(g, o)
	if err != nil {
		return "", err
	}
	return string(pic.SVG()), nil
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
	m, err := f.explainable()
	if err != nil {
		return err
	}
	gs, err := exactly(2, args.Batch, q.body)
	if err != nil {
		return err
	}
	c, err := explain.Similarity(ctx, m, gs[0], gs[1])
	if err != nil {
		return err
	}
	result := map[string]any{"comparison": c}
	values := [2][]float64{c.G.Vertices, c.H.Vertices}
	name := "contribution"
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
	if args.Level >= 0 {
		if result["matching"], err = explain.Match(ctx, m, gs[0], gs[1], args.Level); err != nil {
			return err
		}
	}
	var svg [2]string
	for i, g := range gs {
		if svg[i], err = args.Picture.svg(g, name, values[i]); err != nil {
			return err
		}
	}
	result["svg"] = svg
	a.Result = result
	return nil
}

type decisionArgs struct {
	handleArgs
	Picture pictureOptions `json:"picture"`
	Shares  bool           `json:"shares"`
	Machine int            `json:"machine"`
	Sign    float64        `json:"sign"` // −1 to speak for the other class
}

// combined explains a value of a model that combines kernels.
func (d *decisionArgs) combined(ctx context.Context, m *model.Model, g *graph.Graph, fn explain.Function, a *answer) error {
	if d.Shares {
		return errors.New("shares are known for models with one low-rank kernel only, and this one combines several; contributions are known")
	}
	p, err := explain.ModelDecision(ctx, m, g, fn)
	if err != nil {
		return err
	}
	svg, err := d.Picture.svg(g, "contribution", p.Vertices)
	if err != nil {
		return err
	}
	a.Result = map[string]any{"prediction": p, "svg": svg}
	return nil
}

// decision explains the value of one machine of a classifier, or of a regressor.
func (s *server) decision(ctx context.Context, q *request, a *answer) error {
	var args decisionArgs
	if err := arguments(q, &args); err != nil {
		return err
	}
	f, err := s.handle(args.Handle)
	if err != nil {
		return err
	}
	if f.model == nil || f.model.Learner == nil {
		return errors.New("want a model with a learner")
	}
	var fn explain.Function
	switch l := f.model.Learner; {
	case l.Classifier != nil:
		if args.Machine < 0 || args.Machine >= len(l.Classifier.Machines) {
			return fmt.Errorf("machine %d, want 0 to %d", args.Machine, len(l.Classifier.Machines)-1)
		}
		x := l.Classifier.Machines[args.Machine]
		fn = explain.Function{Support: x.Support, Coefficients: x.Coefficients, Bias: x.Bias}
	case l.Regressor != nil:
		fn = explain.Function{Support: l.Regressor.Support, Coefficients: l.Regressor.Coefficients, Bias: l.Regressor.Bias}
	default:
		fn = explain.Function{Coefficients: l.Ridge.Coefficients, Bias: l.Ridge.Bias}
		for i := range l.Ridge.Coefficients {
			fn.Support = append(fn.Support, i)
		}
	}
	if args.Sign < 0 {
		c := make([]float64, len(fn.Coefficients))
		for i, x := range fn.Coefficients {
			c[i] = -x
		}
		fn.Coefficients, fn.Bias = c, -fn.Bias
	}
	gs, err := exactly(1, args.Batch, q.body)
	if err != nil {
		return err
	}
	m, single := alone(f.model)
	if !single {
		return args.combined(ctx, f.model, gs[0], fn, a)
	}
	p, err := explain.Decision(ctx, m, gs[0], fn)
	if err != nil {
		return err
	}
	result := map[string]any{"prediction": p}
	name, values := "contribution", p.Vertices
	if args.Shares {
		sh, err := explain.DecisionShares(ctx, m, gs[0], fn)
		if err != nil {
			return err
		}
		result["shares"] = sh
		name, values = "share", sh.Vertices
	}
	if result["svg"], err = args.Picture.svg(gs[0], name, values); err != nil {
		return err
	}
	a.Result = result
	return nil
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
	svg, err := args.Picture.svg(gs[0], args.Name, args.Values)
	if err != nil {
		return err
	}
	a.Result = map[string]any{"svg": svg}
	return nil
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
	k := mlg.NewMatrix(n, n)
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
	if err != nil {
		return err
	}
	a.Result = map[string]any{"svg": string(pic.SVG())}
	return nil
}
