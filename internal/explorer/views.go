package explorer

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/kernel"
)

// kernelRequest chooses a kernel.
type kernelRequest struct {
	Parameters parameters `json:"parameters,omitempty"`
}

// mapAnswer has the positions of all graphs.
type mapAnswer struct {
	PCA        componentsMap `json:"pca"`
	Neighbours positions     `json:"neighbours"`
	Radii      []int         `json:"radii" help:"of the scales that can be shown"`
}

type positions struct {
	X []decimal `json:"x"`
	Y []decimal `json:"y"`
}

type componentsMap struct {
	positions
	Share [2]float64 `json:"share" help:"of the variance"`
}

func getMap(q *request, in *kernelRequest) (*mapAnswer, error) {
	x, p, err := computed(q, in.Parameters, (*session).placed)
	if err != nil {
		return nil, err
	}
	return &mapAnswer{componentsMap{decimals(p.pca), p.axes.Share}, decimals(p.neighbours), append([]int{}, x.radii...)}, nil
}

// decimal is a number of which JSON gets five digits, which no screen exceeds.
type decimal float64

// MarshalJSON writes five significant digits.
func (v decimal) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'g', 5, 64), nil
}

func decimals(at [2][]float64) positions {
	p := positions{make([]decimal, len(at[0])), make([]decimal, len(at[1]))}
	for i := range p.X {
		p.X[i], p.Y[i] = decimal(at[0][i]), decimal(at[1][i])
	}
	return p
}

type matrixRequest struct {
	Cells int `json:"cells,omitempty" default:"600" want:"1 to 800" help:"largest number of rows"`
	kernelRequest
}

// matrixAnswer is the Gram matrix in the order of classes and clusters.
type matrixAnswer struct {
	Order   []int   `json:"order"`
	Size    int     `json:"size" help:"rows of cells"`
	PerCell int     `json:"per_cell" help:"rows and columns of the matrix whose mean a cell is"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Cells   string  `json:"cells" help:"base64 text of size × size bytes, 0 for low and 255 for high"`
}

func getMatrix(q *request, in *matrixRequest) (*matrixAnswer, error) {
	x, f, err := computed(q, in.Parameters, (*session).fitted)
	if err != nil {
		return nil, err
	}
	order, err := x.ordered(q.Context())
	if err != nil {
		return nil, err
	}
	return short(q, func(context.Context) (*matrixAnswer, error) {
		c, per := cells(f.gram, order, in.Cells)
		low, high := math.Inf(1), math.Inf(-1)
		for i := range c.Rows {
			for j, v := range c.Row(i) {
				if i != j || c.Rows == 1 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		bytes := make([]byte, len(c.Data))
		for i, v := range c.Data {
			if high > low {
				v = (v - low) / (high - low)
			}
			bytes[i] = byte(math.Round(255 * min(max(v, 0), 1)))
		}
		return &matrixAnswer{pick(f.core, order), c.Rows, per, low, high, base64.StdEncoding.EncodeToString(bytes)}, nil
	})
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
	Rows    string `json:"rows,omitempty" help:"graphs, as in 0-99; by default the first hundred"`
	Columns string `json:"columns,omitempty" help:"graphs, as in 0-99; by default the first hundred"`
	kernelRequest
}

type gramAnswer struct {
	Rows    []int       `json:"rows"`
	Columns []int       `json:"columns"`
	Values  [][]float64 `json:"values"`
}

// maxBlock bounds the entries of a block of the Gram matrix.
const maxBlock = 250_000

func getGram(q *request, in *gramRequest) (*gramAnswer, error) {
	rows, err := q.s.span("rows", in.Rows)
	if err != nil {
		return nil, err
	}
	cols, err := q.s.span("columns", in.Columns)
	if err != nil {
		return nil, err
	}
	if len(rows)*len(cols) > maxBlock {
		return nil, badRequest("a block of %d × %d, want at most %d entries", len(rows), len(cols), maxBlock)
	}
	_, f, err := computed(q, in.Parameters, (*session).fitted)
	if err != nil {
		return nil, err
	}
	return short(q, func(ctx context.Context) (*gramAnswer, error) {
		b, err := f.block(ctx, rows, cols)
		if err != nil {
			return nil, err
		}
		a := &gramAnswer{rows, cols, make([][]float64, len(rows))}
		for i := range a.Values {
			a.Values[i] = b.Row(i)
		}
		return a, nil
	})
}

// span reads a range "from-to" of graphs, both included; without it the first hundred.
func (s *Server) span(name, text string) ([]int, error) {
	every := all(len(s.data.IDs))
	if text == "" {
		return every[:min(100, len(every))], nil
	}
	a, b, ranged := strings.Cut(text, "-")
	if !ranged {
		b = a
	}
	from, err := strconv.Atoi(a)
	to, errTo := strconv.Atoi(b)
	if err != nil || errTo != nil || from < 0 || to < from || to >= len(every) {
		return nil, badRequest("%s: %q, want a range such as 0-99 within 0-%d", name, text, len(every)-1)
	}
	return every[from : to+1], nil
}

func getEvaluate(q *request, in *kernelRequest) (*evaluation, error) {
	_, e, err := computed(q, in.Parameters, (*session).evaluated)
	return e, err
}

type progressAnswer struct {
	State string `json:"state" want:"one of idle waiting running"`
	Stage string `json:"stage"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

// getProgress starts nothing and touches nothing.
func getProgress(q *request, in *kernelRequest) (*progressAnswer, error) {
	x, err := q.s.lookup(in.Parameters)
	if err != nil || x == nil {
		return &progressAnswer{State: "idle"}, err
	}
	if p := x.progress.Load(); p != nil {
		return &progressAnswer{"running", p.Stage, p.Done, p.Total}, nil
	}
	if q.s.heavy.waiting.Load() > 0 {
		return &progressAnswer{State: "waiting"}, nil
	}
	return &progressAnswer{State: "idle"}, nil
}
