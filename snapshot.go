package mlg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/spd"
)

// Snapshot is a fitted low-rank kernel as plain data, to be stored beside its training graphs.
// FromSnapshot makes a model of both whose results have the same bits. Matrices are row-major.
type Snapshot struct {
	Kernel Kernel          // with its base kernel
	Levels []LevelSnapshot // 0 … L
}

// LevelSnapshot is what turns the neighbourhoods of one level into P features.
type LevelSnapshot struct {
	// Explicit says that the base kernel's own features are used (level 0 only). Descriptors
	// then has training vertices with every one-hot feature in their order, and W and Values
	// are empty.
	Explicit    bool     `json:"explicit"`
	Descriptors []string `json:"-"` // level 0: of the landmarks
	Places      []Place  `json:"-"` // level ≥ 1: of the landmarks

	N      int       `json:"landmarks"` // explicit: descriptors
	P      int       `json:"features"`
	W      []float64 `json:"-"` // N×P: features = kernel with the landmarks × W
	Values []float64 `json:"-"` // eigenvalues, descending; none where the only feature is always 0
}

// Place is a vertex of a training graph. It stands for all vertices with an equal neighbourhood.
type Place struct{ Graph, Vertex uint32 }

// Snapshot returns the model as plain data.
func (m *Model) Snapshot() *Snapshot {
	s := &Snapshot{Kernel: m.kernel}
	s.Kernel.Base = m.base.String()
	for _, p := range m.projections {
		s.Levels = append(s.Levels, LevelSnapshot{
			Explicit: p.explicit != nil, Descriptors: slices.Clone(p.descriptors), Places: slices.Clone(p.places),
			N: p.n, P: p.p, W: slices.Clone(p.w), Values: slices.Clone(p.values),
		})
	}
	return s
}

// FromSnapshot returns the model of a snapshot and of the graphs that it was fitted to. It keeps
// the graphs. It checks everything, so a damaged snapshot gives an error and not a model that
// panics.
func FromSnapshot(s *Snapshot, graphs []*graph.Graph) (*Model, error) {
	k := s.Kernel
	if err := k.Validate(); err != nil {
		return nil, err
	}
	b, err := base.Parse(k.Base)
	if err != nil {
		return nil, err
	}
	if len(s.Levels) != len(k.Radii)+1 {
		return nil, fmt.Errorf("%d levels for %d radii, want one level more than radii", len(s.Levels), len(k.Radii))
	}
	k.Radii = slices.Clone(k.Radii)
	m := &Model{kernel: k, base: b, training: &training{graphs: graphs}}
	numbers := 0
	for i, l := range s.Levels {
		p, err := l.projection(i, graphs, b)
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		m.projections = append(m.projections, *p)
		if i > 0 {
			numbers += p.n * spd.Size(m.projections[i-1].p)
		}
		if k.enters(i) {
			numbers += len(graphs) * spd.Size(p.p)
		}
	}
	if numbers > maxRestored {
		return nil, fmt.Errorf("%d landmarks at level 0 and %d training graphs with matrices of %d numbers in all, want at most %d",
			m.projections[0].n, len(graphs), numbers, maxRestored)
	}
	return m, nil
}

// maxRestored is the largest number of entries that the matrices of a snapshot's landmarks and
// training graphs may have. Without it a small file could ask for any number. A hundred thousand
// graphs of four levels of rank 64 have half as many.
const maxRestored = 1 << 31

// projection returns the projection of level i, above level 0 without the covariances of its landmarks.
func (l *LevelSnapshot) projection(i int, graphs []*graph.Graph, b base.Kernel) (*projection, error) {
	p := &projection{descriptors: slices.Clone(l.Descriptors), places: slices.Clone(l.Places), n: l.N, p: l.P,
		w: slices.Clone(l.W), values: slices.Clone(l.Values)}
	if i == 0 {
		if l.N != len(l.Descriptors) || len(l.Places) > 0 {
			return nil, fmt.Errorf("%d landmarks with %d descriptors and %d places, want one descriptor each",
				l.N, len(l.Descriptors), len(l.Places))
		}
		if _, err := base.Check(b, l.Descriptors); err != nil {
			return nil, err
		}
	} else {
		if l.Explicit || len(l.Descriptors) > 0 {
			return nil, errors.New("explicit features or descriptors, which only level 0 can have")
		}
		if l.N != len(l.Places) {
			return nil, fmt.Errorf("%d landmarks with %d places, want one each", l.N, len(l.Places))
		}
		for j, at := range l.Places {
			if int64(at.Graph) >= int64(len(graphs)) || int64(at.Vertex) >= int64(graphs[at.Graph].N()) {
				return nil, fmt.Errorf("landmark %d is vertex %d of graph %d, which is not there", j, at.Vertex, at.Graph)
			}
		}
	}
	if !l.Explicit {
		return p, l.check()
	}
	if len(l.W) > 0 || len(l.Values) > 0 || l.P > maxExplicit {
		return nil, fmt.Errorf("%d explicit features with %d weights and %d eigenvalues, want at most %d and no weights",
			l.P, len(l.W), len(l.Values), maxExplicit)
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
		return fmt.Errorf("%d features of %d landmarks, want at least 1 and no more than landmarks", l.P, l.N)
	}
	if len(l.W) != l.N*l.P {
		return fmt.Errorf("%d weights, want %d×%d", len(l.W), l.N, l.P)
	}
	if len(l.Values) != l.P && !(l.P == 1 && len(l.Values) == 0) {
		return fmt.Errorf("%d eigenvalues, want %d, one for each feature", len(l.Values), l.P)
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

// restore computes the covariances of the landmarks of a model that comes from a snapshot. It does
// so once, from the training graphs that have some of the landmarks.
func (m *Model) restore(ctx context.Context) error {
	t := m.training
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.restored {
		return nil
	}
	at := map[uint32]int{} // by training graph: its number among those with landmarks
	var graphs []*graph.Graph
	for _, p := range m.projections {
		for _, place := range p.places {
			if _, ok := at[place.Graph]; !ok {
				at[place.Graph] = len(graphs)
				graphs = append(graphs, t.graphs[place.Graph])
			}
		}
	}
	err := m.climb(ctx, graphs, func(l *level) error {
		if err := m.restoreLevel(ctx, l, at); err != nil || l.number == len(m.kernel.Radii) {
			return err
		}
		return m.project(ctx, l)
	})
	t.restored = err == nil
	return err
}

// restoreLevel computes the covariances of the landmarks of a level of training graphs. number maps
// a training graph to its number in the level; nil means that they are the same.
func (m *Model) restoreLevel(ctx context.Context, at *level, number map[uint32]int) error {
	if at.number == 0 || m.training.restored {
		return nil
	}
	p := &m.projections[at.number]
	chosen := make([]int32, p.n)
	for i, place := range p.places {
		g := int(place.Graph)
		if number != nil {
			g = number[place.Graph]
		}
		chosen[i] = at.of[g][place.Vertex]
	}
	return m.mark(ctx, p, at, chosen)
}
