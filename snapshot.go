package mlg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// Snapshot is a fitted low-rank kernel as plain data, to be stored. FromSnapshot makes a
// model of it whose results have the same bits. Matrices are row-major; covariances are
// packed lower triangles, one after the other.
type Snapshot struct {
	Kernel Kernel          // with its base kernel
	Levels []LevelSnapshot // 0 … L
	Graphs int             // training graphs
	// Train has the covariances of the training graphs for each level that enters the
	// kernel: the last, or with any Combine but Top all.
	Train [][]float64
}

// LevelSnapshot is what turns the neighbourhoods of one level into P features.
type LevelSnapshot struct {
	// Explicit says that the base kernel's own features are used (level 0 only). Descriptors
	// then has training vertices with every one-hot feature in their order, and W and Values
	// are empty.
	Explicit    bool      `json:"explicit"`
	Descriptors []string  `json:"-"` // level 0: of the landmarks
	Marks       []float64 `json:"-"` // level ≥ 1: covariances of the landmarks

	N      int       `json:"landmarks"` // explicit: descriptors
	P      int       `json:"features"`
	W      []float64 `json:"-"` // N×P: features = kernel with the landmarks × W
	Values []float64 `json:"-"` // eigenvalues, descending; none where the only feature is always 0
}

// Snapshot returns the model as plain data.
func (m *Model) Snapshot() *Snapshot {
	s := &Snapshot{Kernel: m.kernel, Graphs: m.train.Len()}
	s.Kernel.Base = m.base.String()
	for i := range m.projections {
		p := &m.projections[i]
		level := LevelSnapshot{
			Explicit: p.explicit != nil, Descriptors: slices.Clone(p.descriptors),
			N: p.n, P: p.p, W: slices.Clone(p.w), Values: slices.Clone(p.values),
		}
		if p.marks != nil {
			level.Marks = packedAll(p.marks)
		}
		s.Levels = append(s.Levels, level)
	}
	for _, b := range m.train.levels {
		s.Train = append(s.Train, packedAll(b))
	}
	return s
}

// packedAll returns the matrices of a batch, one after the other.
func packedAll(b *spd.Batch) []float64 {
	size := spd.Size(b.Order())
	out := make([]float64, b.Len()*size)
	for i := range b.Len() {
		b.At(i, out[i*size:(i+1)*size])
	}
	return out
}

// FromSnapshot returns the model of a snapshot. Everything is checked, so that a damaged
// snapshot gives an error and not a model that panics. Nothing of the snapshot is kept.
func FromSnapshot(s *Snapshot) (*Model, error) {
	k := s.Kernel
	if err := k.Validate(); err != nil {
		return nil, err
	}
	b, err := base.Parse(k.Base)
	if err != nil {
		return nil, err
	}
	if len(s.Levels) != len(k.Radii)+1 {
		return nil, fmt.Errorf("%d levels for %d radii, want one more", len(s.Levels), len(k.Radii))
	}
	k.Radii = slices.Clone(k.Radii)
	m := &Model{kernel: k, base: b, train: &Covariances{}}
	order := 0 // features of the level below
	for i, l := range s.Levels {
		p, err := l.projection(i, order, b)
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		p.factor(&k)
		m.projections = append(m.projections, *p)
		order = p.p
	}
	orders := m.Orders()
	if len(s.Train) != len(orders) {
		return nil, fmt.Errorf("training covariances of %d levels, want %d", len(s.Train), len(orders))
	}
	for i, p := range orders {
		b, err := batchOf(s.Train[i], s.Graphs, p)
		if err != nil {
			return nil, fmt.Errorf("training graphs, part %d: %w", i, err)
		}
		m.train.levels = append(m.train.levels, b)
	}
	return m, nil
}

// projection returns the projection of level i; order is that of the covariances of landmarks above
// level 0.
func (l *LevelSnapshot) projection(i, order int, b base.Kernel) (*projection, error) {
	p := &projection{descriptors: slices.Clone(l.Descriptors), n: l.N, p: l.P, w: slices.Clone(l.W), values: slices.Clone(l.Values)}
	var err error
	if i == 0 {
		if l.N != len(l.Descriptors) || len(l.Marks) > 0 {
			return nil, fmt.Errorf("%d landmarks with %d descriptors and %d covariance entries, want one descriptor each", l.N, len(l.Descriptors), len(l.Marks))
		}
		_, err = base.Check(b, l.Descriptors)
	} else {
		if l.Explicit || len(l.Descriptors) > 0 {
			return nil, errors.New("explicit features or descriptors, which only level 0 can have")
		}
		p.marks, err = batchOf(l.Marks, l.N, order)
	}
	if err != nil {
		return nil, err
	}
	if !l.Explicit {
		return p, l.check()
	}
	if len(l.W) > 0 || len(l.Values) > 0 || l.P > maxExplicit {
		return nil, fmt.Errorf("%d explicit features with %d weights and %d eigenvalues, want at most %d and no weights", l.P, len(l.W), len(l.Values), maxExplicit)
	}
	p.explicit, p.p, _ = b.Features(p.descriptors, maxExplicit)
	if p.p != l.P || p.p == 0 {
		return nil, fmt.Errorf("%d explicit features, but the descriptors have %d", l.P, p.p)
	}
	return p, nil
}

// check checks the linear part of a level.
func (l *LevelSnapshot) check() error {
	if l.P < 1 || l.P > max(1, l.N) {
		return fmt.Errorf("%d features of %d landmarks, want at least 1 and not more than landmarks", l.P, l.N)
	}
	if len(l.W) != l.N*l.P {
		return fmt.Errorf("%d weights, want %d×%d", len(l.W), l.N, l.P)
	}
	if len(l.Values) != l.P && !(l.P == 1 && len(l.Values) == 0) {
		return fmt.Errorf("%d eigenvalues of %d features", len(l.Values), l.P)
	}
	for i, v := range l.Values {
		if !(v > 0) || math.IsInf(v, 1) || i > 0 && v > l.Values[i-1] {
			return fmt.Errorf("eigenvalue %d is %v, want positive, finite numbers in descending order", i, v)
		}
	}
	for i, v := range l.W {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("weight %d is %v, want a finite number", i, v)
		}
	}
	return nil
}

// batchOf returns the batch of n packed matrices of one order.
func batchOf(packed []float64, n, order int) (*spd.Batch, error) {
	size := spd.Size(order)
	if n < 0 || n > len(packed) || len(packed) != n*size {
		return nil, fmt.Errorf("%d numbers for %d covariances of order %d, want %d each", len(packed), n, order, size)
	}
	b := spd.NewBatch(n, order)
	err := kernel.Each(context.Background(), n, 16, func(_, i int) error {
		return b.Set(i, packed[i*size:(i+1)*size])
	})
	return b, err
}
