package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/nystrom"
)

// embedFit fits a kernel to graphs and chooses landmarks among them (package nystrom): always the
// graph that is represented worst, at most so many, and fewer when none is further off than
// tolerance times the largest k(G, G). It takes a row of the kernel matrix for each.
func (s *server) embedFit(ctx context.Context, q *request, a *answer) error {
	var args struct {
		kernelArgs
		Rank      int     `json:"components"`
		Tolerance float64 `json:"tolerance"`
	}
	if err := arguments(q, &args); err != nil {
		return err
	}
	if args.Rank < 1 {
		return fmt.Errorf("components = %d, want at least 1", args.Rank)
	}
	if !(args.Tolerance >= 0 && args.Tolerance < 1) {
		return fmt.Errorf("tolerance = %v, want 0 or more and less than 1", args.Tolerance)
	}
	m, res, err := args.fit(ctx, q.body)
	if err != nil {
		return err
	}
	ctx = args.work(ctx)
	self := slices.Repeat([]float64{1}, len(m.Graphs))
	if !normalized(m) {
		if self, err = diagonal(ctx, m, m.Graphs); err != nil {
			return err
		}
	}
	b, rows, err := nystrom.Choose(ctx, self, func(p int, dst []float64) error {
		k, err := m.Kernel.Cross(ctx, m.Graphs[p:p+1])
		if err == nil {
			copy(dst, k.Row(0))
		}
		return err
	}, nystrom.Options{Dim: args.Rank, Tolerance: args.Tolerance, Pivots: nystrom.Greedy})
	if err != nil {
		return err
	}
	a.put("vectors", []int{rows.Rows, rows.Cols}, rows.Data)
	landmarks := make([]int64, b.Dim())
	for i, p := range b.Landmarks {
		landmarks[i] = int64(p)
	}
	a.put("landmarks", []int{len(landmarks)}, landmarks)
	res.Handle = s.keep(&fitted{m, b, args.Workers})
	a.Result = struct {
		*fitResult
		Error float64 `json:"error"`
	}{res, slices.Max(b.Residual)}
	return nil
}

// embed returns the vectors of new graphs.
func (s *server) embed(ctx context.Context, q *request, a *answer) error {
	f, graphs, err := s.withGraphs(q)
	if err != nil {
		return err
	}
	if f.basis == nil {
		return errors.New("want the handle of an embedding")
	}
	k, err := f.model.Kernel.Cross(f.work(ctx), graphs)
	if err != nil {
		return err
	}
	x, err := f.basis.Vectors(ctx, k)
	if err != nil {
		return err
	}
	a.put("vectors", []int{x.Rows, x.Cols}, x.Data)
	return nil
}
