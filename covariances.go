package mlg

import (
	"fmt"

	"github.com/mlgkernel/mlg/spd"
)

// Orders returns the orders of the matrices S that a graph has under the model, one for each
// level that enters the kernel: the last, or with any Combine but Top all.
func (m *Model) Orders() []int {
	used := m.levels
	if m.o.Combine == Top {
		used = used[len(used)-1:]
	}
	out := make([]int, len(used))
	for i := range used {
		out[i] = used[i].p
	}
	return out
}

// Packed copies the packed matrices of graph i, level after level, to dst, which has Size
// numbers for each of the orders of the model, or is nil, and returns it.
func (c *Covariances) Packed(i int, dst []float64) []float64 {
	size := 0
	for _, b := range c.levels {
		size += spd.Size(b.Order())
	}
	if dst == nil {
		dst = make([]float64, size)
	}
	if len(dst) != size {
		panic(fmt.Sprintf("mlg: %d numbers for the matrices of a graph, want %d", len(dst), size))
	}
	for at, l := 0, 0; l < len(c.levels); l++ {
		n := spd.Size(c.levels[l].Order())
		c.levels[l].At(i, dst[at:at+n])
		at += n
	}
	return dst
}

// Covariances is the inverse of Packed: it returns the covariances of graphs whose packed
// matrices are given, those of one graph after those of another. It is an error if a number
// is not finite or a matrix not positive definite. Kernel values have the bits that they have
// for what Transform returned. It runs in the calling goroutine.
func (m *Model) Covariances(packed []float64) (*Covariances, error) {
	orders := m.Orders()
	size := 0
	for _, p := range orders {
		size += spd.Size(p)
	}
	if len(packed)%size != 0 {
		return nil, fmt.Errorf("%d numbers for matrices of the orders %v, want a multiple of %d", len(packed), orders, size)
	}
	if err := checkFinite("covariance entry", packed); err != nil {
		return nil, err
	}
	n := len(packed) / size
	c := &Covariances{}
	for _, p := range orders {
		c.levels = append(c.levels, spd.NewBatch(n, p))
	}
	for i := range n {
		rest := packed[i*size : (i+1)*size]
		for _, b := range c.levels {
			k := spd.Size(b.Order())
			if err := b.Set(i, rest[:k]); err != nil {
				return nil, err
			}
			rest = rest[k:]
		}
	}
	return c, nil
}

// Rectangle sets dst[(i−i0)·stride + (j−j0)] to the kernel of graph i of a and graph j of b,
// for i0 ≤ i < i1 and j0 ≤ j < j1, in the calling goroutine. The bits of a value are those
// that Gram and Compare give. Where both ranges are the same range of the same covariances,
// each pair is computed once.
func (m *Model) Rectangle(dst []float64, stride int, a *Covariances, i0, i1 int, b *Covariances, j0, j1 int) {
	var buf []float64
	if a != b || i0 != j0 || i1 != j1 {
		const height, width = 64, 1024 // what a strip reads stays in the cache
		for i := i0; i < i1; i += height {
			for j := j0; j < j1; j += width {
				m.rectangle(dst[(i-i0)*stride+j-j0:], stride, a, i, min(i+height, i1), b, j, min(j+width, j1), &buf)
			}
		}
		return
	}
	for i := i0; i < i1; i += gramStrip {
		hi := min(i+gramStrip, i1)
		m.rectangle(dst[(i-i0)*stride:], stride, a, i, hi, a, i0, hi, &buf)
	}
	mirror(dst, stride, 0, i1-i0, 0, i1-i0)
}

// CovariancesOf returns covariances from batches of matrices, one for each of the orders of
// the model. The batches are kept.
func (m *Model) CovariancesOf(levels []*spd.Batch) (*Covariances, error) {
	orders := m.Orders()
	if len(levels) != len(orders) {
		return nil, fmt.Errorf("matrices of %d levels, want %d", len(levels), len(orders))
	}
	for i, b := range levels {
		if b.Order() != orders[i] || b.Len() != levels[0].Len() {
			return nil, fmt.Errorf("part %d: %d matrices of order %d, want %d of order %d", i, b.Len(), b.Order(), levels[0].Len(), orders[i])
		}
	}
	return &Covariances{levels}, nil
}
