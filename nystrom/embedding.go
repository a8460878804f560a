package nystrom

import (
	"context"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Embedding turns features of graphs into vectors. It is not changed by its methods, which may be called
// concurrently.
type Embedding struct {
	basis
	kernel kernel.Map
	marks  kernel.Features // of the landmarks
}

// Fit chooses landmarks among graphs with the given features. It returns the vectors of the graphs too, a row each.
func Fit(ctx context.Context, m kernel.Map, train kernel.Features, o Options) (*Embedding, *kernel.Matrix, error) {
	self, err := kernel.Self(ctx, m, train)
	if err != nil {
		return nil, nil, err
	}
	rowOnly := work.Quiet(ctx) // choose tells how far it has come
	b, x, err := choose(ctx, self, func(p int, dst []float64) error {
		row, err := kernel.Between(rowOnly, m, kernel.Range(train, p, p+1), train)
		if err == nil {
			copy(dst, row.Data)
		}
		return err
	}, o)
	if err != nil {
		return nil, nil, err
	}
	return &Embedding{*b, m, train.Select(b.Landmarks)}, x, nil
}

// Transform returns the vectors of graphs with the given features, one after the other. That of a graph
// depends on the embedding and the graph alone, to the bit. It takes O(dim²) time for each besides dim
// kernel values.
func (e *Embedding) Transform(ctx context.Context, a kernel.Features) ([]float64, error) {
	d := e.Dim()
	out := make([]float64, a.Len()*d)
	err := strips(ctx, a.Len(), func(lo, hi int) error {
		x := out[lo*d : hi*d]
		if err := e.kernel.Fill(ctx, x, d, kernel.Block{A: a, I0: lo, I1: hi, B: e.marks, J0: 0, J1: d}); err != nil {
			return err
		}
		e.solve(x)
		return nil
	})
	return out, err
}
