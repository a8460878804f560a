package nystrom

import (
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/store"
)

// Embedding turns records of a space (package store) into vectors. It is not changed by its
// methods, which may be called concurrently.
type Embedding struct {
	Basis
	space *store.Space
	marks *store.Block // the landmarks
}

// Fit chooses landmarks among the model's training graphs.
func Fit(ctx context.Context, s *store.Space, o Options) (*Embedding, error) {
	train, err := s.Train(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.Block(train.Data)
	if err != nil {
		return nil, err
	}
	self := slices.Repeat([]float64{s.Self()}, all.Len())
	b, _, err := Choose(ctx, self, func(p int, dst []float64) error {
		return strips(ctx, all.Len(), func(lo, hi int) error {
			return s.Compare(ctx, dst[lo:hi], all, p, p+1, all, lo, hi)
		})
	}, o)
	if err != nil {
		return nil, err
	}
	var marks []float64
	for _, p := range b.Landmarks {
		marks = append(marks, train.Data[p*s.Size():(p+1)*s.Size()]...)
	}
	e := &Embedding{Basis: *b, space: s}
	e.marks, err = s.Block(marks)
	return e, err
}

// Transform returns the vectors of records, one after the other. That of a record depends on
// the embedding and the record alone, to the bit. It takes O(dim²) time for each besides dim
// kernel values.
func (e *Embedding) Transform(ctx context.Context, records []float64) ([]float64, error) {
	size, d := e.space.Size(), e.Dim()
	if len(records)%size != 0 {
		return nil, fmt.Errorf("%d numbers, want a multiple of %d, the size of a record", len(records), size)
	}
	n := len(records) / size
	out := make([]float64, n*d)
	err := strips(ctx, n, func(lo, hi int) error {
		block, err := e.space.Block(records[lo*size : hi*size])
		if err != nil {
			return err
		}
		if err := e.space.Compare(ctx, out[lo*d:], block, 0, hi-lo, e.marks, 0, d); err != nil {
			return err
		}
		e.Solve(out[lo*d : hi*d])
		return nil
	})
	return out, err
}
