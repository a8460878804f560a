package store

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/spd"
)

// Space is the kernel of a model, all of whose factors are low-rank kernels, as a function of
// records. Its methods may be called concurrently.
type Space struct {
	sum         *kernel.FittedSum
	models      []*mlg.Model // the factors of sum
	sizes       []int        // by factor: numbers in a record
	size        int          // of a record
	fingerprint string
}

// NewSpace returns the space of a model. It is an error if a factor of its kernel is not a
// low-rank kernel: others have no matrices S.
func NewSpace(m *model.Model) (*Space, error) {
	f, err := m.Fingerprint()
	if err != nil {
		return nil, err
	}
	s := &Space{sum: m.Kernel, fingerprint: hex.EncodeToString(f[:])}
	for _, f := range m.Kernel.Factors {
		low := model.LowRank(f)
		if low == nil {
			return nil, fmt.Errorf("%s is not a low-rank kernel, and a store can keep only those", f)
		}
		size := 0
		for _, p := range low.Orders() {
			size += spd.Size(p)
		}
		s.models, s.sizes, s.size = append(s.models, low), append(s.sizes, size), s.size+size
	}
	return s, nil
}

// String writes the kernel out.
func (s *Space) String() string { return s.sum.Sum.String() }

// Fingerprint identifies the model, in hexadecimal digits: see model.Model.Fingerprint.
func (s *Space) Fingerprint() string { return s.fingerprint }

// Size returns the number of numbers in a record.
func (s *Space) Size() int { return s.size }

// Self returns the kernel of a record with itself, which is the same for all.
func (s *Space) Self() float64 { return s.sum.Self() }

// Transform returns the records of graphs, one after the other. The record of a graph
// depends on the model and the graph alone, to the bit.
func (s *Space) Transform(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	b, err := s.transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return s.records(b, 0, b.Len()), nil
}

func (s *Space) transform(ctx context.Context, graphs []*graph.Graph) (*Block, error) {
	a, err := s.sum.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return s.block(a), nil
}

// block returns features as a block.
func (s *Space) block(a kernel.Features) *Block {
	b := &Block{}
	for i := range s.models {
		b.factors = append(b.factors, s.sum.Factor(a, i).(*mlg.Covariances))
	}
	return b
}

// Train returns the records of the model's training graphs.
func (s *Space) Train(ctx context.Context) (Memory, error) {
	a, err := s.sum.Train(ctx)
	if err != nil {
		return Memory{}, err
	}
	return Memory{s.size, s.records(s.block(a), 0, a.Len())}, nil
}

// Source is a collection of records.
type Source interface {
	// Len returns the number of records.
	Len() int
	// Records returns the records lo … hi-1, one after the other. They must not be changed.
	Records(lo, hi int) ([]float64, error)
}

// Memory is a Source in memory.
type Memory struct {
	Size int       // numbers in a record
	Data []float64 // the records, one after the other
}

// Len implements Source.
func (m Memory) Len() int { return len(m.Data) / m.Size }

// Records implements Source.
func (m Memory) Records(lo, hi int) ([]float64, error) {
	return m.Data[lo*m.Size : hi*m.Size : hi*m.Size], nil
}

// Block is a number of records, laid out to be compared. It keeps nothing of the records
// that it was made of, and is not changed by anything.
type Block struct {
	factors []*mlg.Covariances
}

// Len returns the number of records.
func (b *Block) Len() int { return b.factors[0].Len() }

// order returns the order of the first matrices of a record.
func (b *Block) order() int { return b.factors[0].Levels()[0].Order() }

// Block returns the block of records, one after the other. It is an error if they are not
// records of the space: of another length, not finite, or with a matrix that is not positive
// definite. It runs in the calling goroutine.
func (s *Space) Block(records []float64) (*Block, error) {
	if len(records)%s.size != 0 {
		return nil, fmt.Errorf("%d numbers, want a multiple of %d, the size of a record", len(records), s.size)
	}
	b := &Block{}
	at := 0
	for k, m := range s.models {
		mine := records
		if len(s.models) > 1 {
			mine = nil
			for lo := at; lo < len(records); lo += s.size {
				mine = append(mine, records[lo:lo+s.sizes[k]]...)
			}
		}
		c, err := m.Covariances(mine)
		if err != nil {
			return nil, err
		}
		b.factors = append(b.factors, c)
		at += s.sizes[k]
	}
	return b, nil
}

// records is the inverse of Block for the records lo … hi-1.
func (s *Space) records(b *Block, lo, hi int) []float64 {
	out := make([]float64, (hi-lo)*s.size)
	rest := out
	for i := lo; i < hi; i++ {
		for k, c := range b.factors {
			c.Packed(i, rest[:s.sizes[k]])
			rest = rest[s.sizes[k]:]
		}
	}
	return out
}

// tiles returns the number of numbers in the matrices of n graphs as package spd lays them out.
func (s *Space) tiles(n int) int { return (n + spd.Lanes - 1) / spd.Lanes * spd.Lanes * s.size }

// encode returns the matrices of a block, one kernel and level after the other, each as package
// spd lays them out.
func (s *Space) encode(b *Block) []byte {
	out := make([]byte, 0, 8*s.tiles(b.Len()))
	for _, c := range b.factors {
		for _, level := range c.Levels() {
			out = append(out, file.Bytes(level.Tiles())...)
		}
	}
	return out
}

// decode is the inverse of encode for n graphs. The block keeps the numbers.
func (s *Space) decode(tiles []float64, n int) (*Block, error) {
	b := &Block{}
	for _, m := range s.models {
		var levels []*spd.Batch
		for _, p := range m.Orders() {
			size := s.tiles(n) / s.size * spd.Size(p)
			batch, err := spd.Interleaved(tiles[:size], n, p)
			if err != nil {
				return nil, err
			}
			levels, tiles = append(levels, batch), tiles[size:]
		}
		b.factors = append(b.factors, mlg.CovariancesOf(levels))
	}
	return b, nil
}

// Compare sets dst[(i−i0)·(j1−j0) + (j−j0)] to the kernel of record i of a and record j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine and on the device of the context. A value
// depends on its two records alone and has the bits that the model's Gram and Cross give. Where both
// ranges are the same range of one block, each pair is computed once.
func (s *Space) Compare(ctx context.Context, dst []float64, a *Block, i0, i1 int, b *Block, j0, j1 int) error {
	x, y := &kernel.Block{I0: i0, I1: i1, J0: j0, J1: j1}, dst[:(i1-i0)*(j1-j0)]
	_, err := s.sum.Combine(kernel.WithWorkers(ctx, 1), y, func(f int) ([]float64, error) {
		values := make([]float64, len(y))
		part := *x
		part.A, part.B = a.factors[f], b.factors[f]
		return values, s.models[f].Fill(ctx, values, j1-j0, part)
	})
	return err
}
