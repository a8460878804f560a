package mlg

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// assembler computes covariances of quotients; it holds the buffers of one worker.
type assembler struct {
	q graph.Quotient
	e eliminator
	y []float64
	s []float64
}

// covariance returns S = γI + ZᵀA⁻¹Z, packed, of a quotient whose cells have the given features.
func (a *assembler) covariance(ctx context.Context, quotient []uint32, below features, k *Kernel) ([]float64, error) {
	a.q.Decode(quotient)
	m, p := a.q.Cells(), below.width
	a.y = dense.Grow(a.y, m*p)
	for i, c := range a.q.Class {
		scale := float64(a.q.Size[i]) / float64(1+a.q.Tag[i])
		row := a.y[i*p : (i+1)*p]
		for j, v := range below.row(c) {
			row[j] = scale * v
		}
	}
	a.e.sparse.ctx = ctx
	a.s = dense.Grow(a.s, spd.Size(p))
	clear(a.s)
	if !a.e.gram(a.s, &a.q, k.Eta, a.y, p) {
		return nil, cmp.Or(ctx.Err(), errOverflow)
	}
	for i := range p {
		a.s[spd.Index(i, i)] += k.Gamma
	}
	return a.s, nil
}

// covariances returns the matrices S of some classes of a level ≥ 1.
func (m *LowRank) covariances(ctx context.Context, at *level, chosen []int32) (*spd.Batch, error) {
	defer work.Trace(ctx, "landmarks")()
	b := spd.NewBatch(len(chosen), at.below.width)
	workers := make([]assembler, work.Workers(ctx))
	err := work.Each(ctx, len(chosen), 16, func(w, i int) error {
		packed, err := workers[w].covariance(ctx, at.quotient[chosen[i]], at.below, &m.kernel)
		if err != nil {
			return err
		}
		return b.Set(i, packed)
	})
	return b, err
}

// Covariances are the features of graphs, their matrices S under a model: for each level that enters the
// kernel, one packed matrix per graph.
type Covariances struct {
	levels []*spd.Batch
}

// Len returns the number of graphs.
func (c *Covariances) Len() int { return c.levels[0].Len() }

// order returns the greatest order of the matrices.
func (c *Covariances) order() int {
	p := 0
	for _, b := range c.levels {
		p = max(p, b.Order())
	}
	return p
}

// Levels returns the matrices of each level that enters the kernel.
func (c *Covariances) Levels() []*spd.Batch { return c.levels }

// Orders returns the orders of the matrices S that a graph has under the model, one for each
// level that enters the kernel: the last, or with any Combine but Top all.
func (m *LowRank) Orders() []int {
	var out []int
	for l, p := range m.projections {
		if m.kernel.enters(l) {
			out = append(out, p.p)
		}
	}
	return out
}

// Select implements kernel.Features.
func (c *Covariances) Select(graphs []int) kernel.Features {
	out := &Covariances{}
	for _, b := range c.levels {
		out.levels = append(out.levels, b.Select(graphs))
	}
	return out
}

// Join implements kernel.Map.
func (m *LowRank) Join(parts ...kernel.Features) kernel.Features {
	out := &Covariances{}
	for l := range m.Orders() {
		var of []*spd.Batch
		for _, p := range parts {
			of = append(of, p.(*Covariances).levels[l])
		}
		out.levels = append(out.levels, spd.Join(of...))
	}
	return out
}

// AppendBinary implements kernel.Features: the number of graphs, and the matrices of one level after
// the other, as package spd lays them out.
func (c *Covariances) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Len()))
	for _, l := range c.levels {
		b = append(b, file.Bytes(l.Tiles())...)
	}
	return b, nil
}

// InPlace reports that the matrices are used where their bytes are; see kernel.InPlace.
func (c *Covariances) InPlace() bool { return true }

// DecodeFeatures implements kernel.Map. It is an error if a number is not finite or a matrix not
// positive definite. It keeps the data where they are aligned.
func (m *LowRank) DecodeFeatures(data []byte) (kernel.Features, error) {
	orders, size := m.Orders(), 0
	for _, p := range orders {
		size += spd.Size(p)
	}
	if len(data) < 8 || len(data)%8 != 0 {
		return nil, fmt.Errorf("%d bytes of matrices, want a multiple of 8", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	numbers := file.Floats(data[8:])
	if n > uint64(len(numbers)) || len(numbers) != (int(n)+spd.Lanes-1)/spd.Lanes*spd.Lanes*size {
		return nil, fmt.Errorf("%d numbers for the matrices of %d graphs of the orders %v", len(numbers), n, orders)
	}
	out := &Covariances{}
	for _, p := range orders {
		k := len(numbers) / size * spd.Size(p)
		b, err := spd.Interleaved(numbers[:k], int(n), p)
		if err != nil {
			return nil, err
		}
		out.levels, numbers = append(out.levels, b), numbers[k:]
		size -= spd.Size(p)
	}
	return out, nil
}
