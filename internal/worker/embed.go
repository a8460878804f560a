package worker

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// embedding maps graphs to vectors whose dot products approximate a kernel: Nyström's method
// over landmark graphs p₁ … p_r that pivoted Cholesky chooses,
//
//	x(G) = C⁻¹ [k(G, p₁) … k(G, p_r)]ᵀ,   C Cᵀ = K of the landmarks.
//
// The dot product of two landmarks is exact, and the next landmark is always the training
// graph G whose |x(G)|² is furthest from k(G, G).
type embedding struct {
	fitted mlg.Fitted
	pivots []int
	chol   []float64 // C, r×r, lower triangle
	bound  float64   // largest k(G, G) − |x(G)|² of a training graph
}

// newEmbedding chooses at most rank landmarks; fewer when no training graph is further off
// than tolerance times the largest k(G, G). It takes rank rows of the kernel matrix. rows is
// the matrix of the vectors of the training graphs.
func newEmbedding(ctx context.Context, f mlg.Fitted, graphs []*graph.Graph, self []float64, rank int, tolerance float64) (e *embedding, rows *mlg.Matrix, err error) {
	n := len(graphs)
	e = &embedding{fitted: f}
	rest := append([]float64(nil), self...)
	scale := 0.0
	for _, d := range self {
		scale = max(scale, d)
	}
	var factor [][]float64 // by landmark: the column of the training graphs' vectors
	for len(factor) < min(rank, n) {
		p := 0
		for i, d := range rest {
			if d > rest[p] {
				p = i
			}
		}
		if !(rest[p] > tolerance*scale) {
			break
		}
		k, err := f.Cross(ctx, graphs[p:p+1])
		if err != nil {
			return nil, nil, err
		}
		col := append([]float64(nil), k.Row(0)...)
		root := math.Sqrt(rest[p])
		for _, c := range factor {
			for i := range col {
				col[i] -= c[p] * c[i]
			}
		}
		for i := range col {
			col[i] /= root
			rest[i] -= col[i] * col[i]
		}
		col[p] = root
		for _, q := range e.pivots { // what is left of landmarks is rounding
			col[q] = 0
		}
		rest[p] = 0
		factor = append(factor, col)
		e.pivots = append(e.pivots, p)
	}
	r := len(factor)
	rows = mlg.NewMatrix(n, r)
	for j, c := range factor {
		for i := range n {
			rows.Set(i, j, c[i])
		}
	}
	e.chol = make([]float64, r*r)
	for i, p := range e.pivots {
		copy(e.chol[i*r:], rows.Row(p)[:i+1])
	}
	for _, d := range rest {
		e.bound = max(e.bound, d)
	}
	return e, rows, nil
}

// vectors returns the vectors of graphs, a row each.
func (e *embedding) vectors(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	k, err := e.fitted.Cross(ctx, graphs)
	if err != nil {
		return nil, err
	}
	r := len(e.pivots)
	out := mlg.NewMatrix(len(graphs), r)
	for g := range graphs {
		x := out.Row(g)
		for i, p := range e.pivots {
			s := k.At(g, p)
			for j := range i {
				s -= e.chol[i*r+j] * x[j]
			}
			x[i] = s / e.chol[i*r+i]
		}
	}
	return out, nil
}

// embedFit fits a kernel to graphs and chooses landmarks.
func (s *server) embedFit(ctx context.Context, q *request, a *answer) error {
	args := struct {
		Spec      Spec        `json:"spec"`
		Batch     batchLayout `json:"batch"`
		Rank      int         `json:"components"`
		Tolerance float64     `json:"tolerance"`
	}{Spec: DefaultSpec()}
	if err := arguments(q, &args); err != nil {
		return err
	}
	if args.Rank < 1 {
		return fmt.Errorf("components = %d, want at least 1", args.Rank)
	}
	if !(args.Tolerance >= 0 && args.Tolerance < 1) {
		return fmt.Errorf("tolerance = %v, want 0 or more and less than 1", args.Tolerance)
	}
	graphs, n, err := decodeGraphs(args.Batch, q.body)
	if err != nil {
		return err
	}
	f, res, err := s.fitSpec(ctx, &args.Spec, graphs)
	if err != nil {
		return err
	}
	self := make([]float64, len(graphs))
	for i := range self {
		self[i] = 1
	}
	if !args.Spec.Normalize {
		if self, err = args.Spec.self(ctx, graphs); err != nil {
			return err
		}
	}
	e, rows, err := newEmbedding(ctx, f, graphs, self, args.Rank, args.Tolerance)
	if err != nil {
		return err
	}
	a.put("vectors", []int{rows.Rows, rows.Cols}, rows.Data)
	pivots := make([]int64, len(e.pivots))
	for i, p := range e.pivots {
		pivots[i] = int64(p)
	}
	a.put("landmarks", []int{len(pivots)}, pivots)
	res.Handle, res.notes = s.keep(&fitted{embed: e}), n
	a.Result = struct {
		*fitResult
		Error float64 `json:"error"`
	}{res, e.bound}
	return nil
}

// embed returns the vectors of new graphs.
func (s *server) embed(ctx context.Context, q *request, a *answer) error {
	f, graphs, err := s.withGraphs(q)
	if err != nil {
		return err
	}
	if f.embed == nil {
		return errors.New("want the handle of an embedding")
	}
	x, err := f.embed.vectors(ctx, graphs)
	if err != nil {
		return err
	}
	a.put("vectors", []int{x.Rows, x.Cols}, x.Data)
	return nil
}
