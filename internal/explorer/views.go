package explorer

import (
	"context"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// mapAnswer has the positions of all graphs.
type mapAnswer struct {
	PCA        positions `json:"pca"`
	Neighbours positions `json:"neighbours"`
	Radii      []int     `json:"radii" help:"radii of the scales that can be shown"`
	Compared   string    `json:"compared" help:"what the kernel compares, in words"`
	Scales     string    `json:"scales" help:"what scales and vertices leave out, in words; empty for nothing"`
	Views      mapViews  `json:"views"`
	Early      bool      `json:"early" help:"the map of neighbours is not there yet; the other one stands in its place"`
}

type mapRequest struct {
	Part string `json:"part,omitempty" default:"all" want:"one of early all" help:"early: only the principal components, as long as there is no map of neighbours"`
	kernelRequest
}

// mapViews say in a sentence why the kernel has nothing to show in a view, and nothing where it has.
type mapViews struct {
	Scales  string `json:"scales" help:"scales, matched vertices and similar vertices"`
	Predict string `json:"predict" help:"predictions"`
}

// What there is to say of kernels that have no features of vertices, and of those that have no levels either.
const (
	noFeatures = "Scales and similar vertices need features of vertices, as the kernel mlg has them without exact."
	withLevels = noFeatures + " Pair shows the levels of this kernel."
	noLevels   = "Scales, matched vertices and similar vertices need a multiscale kernel such as mlg, and this kernel is none."
)

// noScales says why a kernel has no features of vertices.
func noScales(k kernel.Kernel) string {
	if len(explain.LevelsOf(k)) > 1 {
		return withLevels
	}
	return noLevels
}

// views says why the kernel has nothing to show.
func (x *session) views(f *fitted) (out mapViews) {
	if f.scales == nil {
		out.Scales = noScales(f.Kernel.Asked)
	}
	switch {
	case x.s.data.task == noTask:
		out.Predict = "The data have no targets, so there is nothing to predict."
		if x.s.data.mayHaveTargets() {
			out.Predict = "No column is chosen as the target, so nothing is predicted."
		}
	case x.saved && f.Task() == model.SearchOnly:
		out.Predict = "The model cannot predict: mlg fit makes models without a learner. mlg train makes models that predict."
	}
	return out
}

// positions have the digits that a screen can show.
type positions struct {
	X     []float32 `json:"x"`
	Y     []float32 `json:"y"`
	Share []float64 `json:"share,omitempty" help:"share of the variance of each principal component"`
}

func getMap(q *request, in *mapRequest) (*mapAnswer, error) {
	get := func(x *session, ctx context.Context) (*placement, error) {
		if _, there := x.places.peek(); there || in.Part == "all" {
			return x.placed(ctx)
		}
		return x.sketched(ctx)
	}
	return on(get, mapOfPlaces)(q, in)
}

func mapOfPlaces(_ context.Context, x *session, p *placement, _ *mapRequest) (*mapAnswer, error) {
	f, _ := x.fit.peek() // the places follow from it
	near := p.neighbours
	if p.near == nil {
		near = p.pca
	}
	return &mapAnswer{
		Early:      p.near == nil,
		PCA:        positions{rounded(p.pca[0]), rounded(p.pca[1]), p.axes.Share[:]},
		Neighbours: positions{rounded(near[0]), rounded(near[1]), nil},
		Radii:      f.scales.Radii()[1:],
		Compared:   f.Compared(),
		Scales:     f.unseen(x.s.data.molecules),
		Views:      x.views(f),
	}, nil
}

type matrixRequest struct {
	Cells int `json:"cells,omitempty" default:"600" want:"1 to 800" help:"largest number of rows"`
	kernelRequest
}

// matrixAnswer is the Gram matrix in the order of classes and clusters.
type matrixAnswer struct {
	Order   []int   `json:"order"`
	Size    int     `json:"size" help:"rows of cells"`
	PerCell int     `json:"per_cell" help:"a cell is the mean of so many rows and columns of the matrix"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Cells   string  `json:"cells" help:"base64 text of size × size bytes, 0 for low and 255 for high"`
}

func getMatrix(_ context.Context, x *session, order []int, in *matrixRequest) (*matrixAnswer, error) {
	f, _ := x.fit.peek() // the order follows from it
	c, per := cells(f.gram, order, in.Cells)
	low, high := draw.OffDiagonal(c)
	bytes := make([]byte, len(c.Data))
	for i, v := range c.Data {
		if high > low {
			v = (v - low) / (high - low)
		}
		bytes[i] = byte(math.Round(255 * min(max(v, 0), 1)))
	}
	return &matrixAnswer{choose.Pick(f.core, order), c.Rows, per, low, high, base64.StdEncoding.EncodeToString(bytes)}, nil
}

// cells returns the matrix of mean values of blocks of rows and columns in a given order, at
// most limit of each.
func cells(k *kernel.Matrix, order []int, limit int) (*kernel.Matrix, int) {
	per := (len(order) + limit - 1) / limit
	n := (len(order) + per - 1) / per
	out := kernel.NewMatrix(n, n)
	count := make([]float64, n*n)
	for a, i := range order {
		for b, j := range order {
			at := a/per*n + b/per
			out.Data[at] += k.At(i, j)
			count[at]++
		}
	}
	for at := range out.Data {
		out.Data[at] /= count[at]
	}
	return out, per
}

type gramRequest struct {
	Rows    string `json:"rows,omitempty" help:"range of graphs, such as 0-99; by default the first hundred"`
	Columns string `json:"columns,omitempty" help:"range of graphs, such as 0-99; by default the first hundred"`
	kernelRequest
}

type gramAnswer struct {
	Rows    []int       `json:"rows"`
	Columns []int       `json:"columns"`
	Values  [][]float64 `json:"values"`
}

// maxBlock bounds the entries of a block of the Gram matrix.
const maxBlock = 250_000

func getGram(ctx context.Context, _ *session, f *fitted, in *gramRequest) (*gramAnswer, error) {
	rows, err := span("rows", in.Rows, f.Examples())
	if err != nil {
		return nil, err
	}
	cols, err := span("columns", in.Columns, f.Examples())
	if err != nil {
		return nil, err
	}
	if len(rows)*len(cols) > maxBlock {
		return nil, badRequest("rows", "the block has %d × %d entries, want at most %d", len(rows), len(cols), maxBlock)
	}
	b, err := f.block(ctx, rows, cols)
	if err != nil {
		return nil, err
	}
	return &gramAnswer{rows, cols, slices.Collect(slices.Chunk(b.Data, b.Cols))}, nil
}

// span reads a range "from-to" of n graphs, both included; without it the first hundred.
func span(name, text string, n int) ([]int, error) {
	if text == "" {
		return kernel.UpTo(min(100, n)), nil
	}
	a, b, ranged := strings.Cut(text, "-")
	if !ranged {
		b = a
	}
	from, err := strconv.Atoi(a)
	to, errTo := strconv.Atoi(b)
	if err != nil || errTo != nil || from < 0 || to < from || to >= n {
		return nil, badRequest(name, "%s: %q, want a range such as 0-99 within 0-%d", name, text, n-1)
	}
	return kernel.UpTo(n)[from : to+1], nil
}

type evaluateRequest struct {
	Part          string `json:"part,omitempty" default:"all" want:"one of early kernel all" help:"early: of a learner of some graphs as long as there is no other; kernel: of the kernel alone; all: also of the baselines, which takes as long again"`
	CrossValidate bool   `json:"cross_validate,omitempty" help:"train a learner for the kernel of a model anew and cross-validate it, instead of what the file of the model says"`
	kernelRequest
}

func getEvaluate(q *request, in *evaluateRequest) (*evaluation, error) {
	get := func(x *session, ctx context.Context) (*evaluation, error) {
		switch {
		case x.saved && !in.CrossValidate:
			return x.evaluated(ctx)
		case in.Part == "early":
			return x.evaluatedSoon(ctx)
		case in.Part == "kernel":
			return x.crossValidated(ctx)
		}
		return x.compared(ctx)
	}
	return on(get, func(_ context.Context, _ *session, e *evaluation, _ *evaluateRequest) (*evaluation, error) {
		return e, nil
	})(q, in)
}

type evaluateSomeRequest struct {
	Graphs []int  `json:"graphs" help:"positions in the data: what is said is about those of them that were predicted"`
	Part   string `json:"part,omitempty" default:"kernel" want:"one of early kernel" help:"as in GET evaluate"`
	kernelRequest
}

// postEvaluate is getEvaluate for some graphs.
func postEvaluate(q *request, in *evaluateSomeRequest) (*evaluation, error) {
	if err := q.s.data.hasAll(in.Graphs); err != nil {
		return nil, err
	}
	get := (*session).heldOut
	if in.Part == "early" {
		get = (*session).evaluatedSoon
	}
	return on(get, func(_ context.Context, x *session, e *evaluation, _ *evaluateSomeRequest) (*evaluation, error) {
		return e.among(x, in.Graphs), nil
	})(q, in)
}

type stopAnswer struct {
	Status string `json:"status" want:"one of ok"`
}

func postStop(q *request, _ *struct{}) (stopAnswer, error) {
	q.s.life.hurry()
	return stopAnswer{"ok"}, nil
}

type progressRequest struct {
	Upload string `json:"upload,omitempty" help:"the key of an upload"`
	kernelRequest
}

type progressAnswer struct {
	State string `json:"state" want:"one of idle waiting running"`
	work.Progress
	Upload *uploadProgress `json:"upload" help:"the file of that key while the server reads it; otherwise null"`
}

// getProgress starts nothing and touches nothing.
func getProgress(q *request, in *progressRequest) (*progressAnswer, error) {
	_, key, err := q.s.choose(in.Kernel)
	if err != nil {
		return nil, err
	}
	out := &progressAnswer{State: "idle"}
	if p := q.s.heavy.progress(key); p != nil {
		out = &progressAnswer{State: "running", Progress: *p}
	} else if q.s.heavy.waiting.Load() > 0 {
		out.State = "waiting"
	}
	out.Upload = q.s.uploaded(in.Upload)
	return out, nil
}
