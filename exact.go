package mlg

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/graph"
)

// Exact computes the MLS and MLG kernels of a collection of graphs by their definitions
// (docs/math.md, section 1), without sampling or truncation. Values are shared between
// vertices and subgraphs with the same canonical quotient.
//
// Its methods may be called concurrently.
type Exact struct {
	graphs []*graph.Graph
	base   Base
	o      Options
	scales []*scale // levels 0 … L
	robust bool     // the first stage is computed by eq. (2)

	mu   sync.Mutex
	lazy []values // levels 0 … L, on demand
	tops [][][]uint32
}

// NewExact sorts the vertices of the graphs into neighbourhood classes at every level.
func NewExact(ctx context.Context, graphs []*graph.Graph, o Options) (*Exact, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	robust, _, err := precision(&o, len(o.Radii))
	if err != nil {
		return nil, err
	}
	e := &Exact{graphs: graphs, base: o.Base, o: o, robust: robust}
	if e.base == nil {
		e.base = ChooseBase(graphs)
	}
	s, err := describe(ctx, graphs, e.base, 0, &e.o)
	if err != nil {
		return nil, err
	}
	e.scales = []*scale{s}
	for l := range o.Radii {
		if s, err = neighbourhoods(ctx, graphs, s, l+1, &e.o); err != nil {
			return nil, err
		}
		e.scales = append(e.scales, s)
	}
	return e, nil
}

// Base returns the base kernel.
func (e *Exact) Base() Base { return e.base }

// stageRobust reports whether the kernels whose base kernel is 𝔎_level are computed by eq. (2).
func (e *Exact) stageRobust(level int) bool { return e.robust && (level == 0 || e.o.PairRank > 0) }

// ErrorEstimate returns about how large the relative error of kernel values may be, in the
// worst case. It is NaN with PairRank.
func (e *Exact) ErrorEstimate() float64 {
	_, estimate, _ := precision(&e.o, len(e.o.Radii))
	return estimate
}

// Classes returns the number of distinct neighbourhoods at a level, 0 … L.
func (e *Exact) Classes(level int) int { return e.scales[level].classes() }

// Memory returns the bytes that Gram needs for its tables of kernel values: those of two
// levels at a time.
func (e *Exact) Memory() int64 {
	var most int64
	for l := 1; l < len(e.scales); l++ {
		need := tableBytes(e.scales[l].classes())
		if l > 1 {
			need += tableBytes(e.scales[l-1].classes())
		}
		most = max(most, need)
	}
	return most + tableBytes(len(e.graphs))
}

// Gram returns the MLG kernel of all pairs of graphs. It goes level by level: the values of
// all pairs of classes of a level come from those of the level below. With c_ℓ classes of m
// cells at level ℓ it takes O(Σ c_ℓ² m³) time, and the memory that Memory tells; it returns
// an error when that is more than Options.MaxMemory.
func (e *Exact) Gram(ctx context.Context) (*Matrix, error) {
	if need := e.Memory(); need > e.o.MaxMemory {
		return nil, fmt.Errorf("the exact Gram matrix needs %.1f GB for tables of kernel values, more than MaxMemory = %.1f GB; raise it, take fewer levels or smaller radii, or use the low-rank kernel",
			float64(need)/1e9, float64(e.o.MaxMemory)/1e9)
	}
	n := len(e.graphs)
	out := NewMatrix(n, n)
	all := e.o.newCombiner(out.Data, nil, len(e.scales))
	var below values = e.baseTable()
	var rank []int32
	for l, s := range e.scales {
		if l > 0 {
			order, r := ordering(s.sig, s.hash)
			stage := fmt.Sprintf("pairs %d/%d", l, len(e.o.Radii))
			t, err := pairs(ctx, stage, s.sig, order, rank, below, e.stageRobust(l-1), &e.o)
			if err != nil {
				return nil, err
			}
			below, rank = t, r
		}
		if e.o.Combine == Top && l < len(e.scales)-1 {
			continue
		}
		k, err := e.top(ctx, l, rank, below)
		if err != nil {
			return nil, err
		}
		all.add(k.Data)
	}
	all.finish()
	return out, nil
}

// baseTable gives the values of the base kernel, from a table where that is small.
func (e *Exact) baseTable() values {
	s := e.scales[0]
	v := &baseValues{e.base, s.desc}
	n := s.classes()
	const few = 4096
	if n > few {
		return v
	}
	return &cached{v, sync.OnceValues(func() (*Matrix, error) {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		m := NewMatrix(n, n)
		return m, v.block(m.Data, all, all)
	})}
}

// cached is a full matrix of values, computed when first asked for.
type cached struct {
	values
	matrix func() (*Matrix, error)
}

func (c *cached) block(dst []float64, rows, cols []int32) error {
	m, err := c.matrix()
	if err != nil {
		return err
	}
	for i, r := range rows {
		row := m.Row(int(r))
		for j, k := range cols {
			dst[i*len(cols)+j] = row[k]
		}
	}
	return nil
}

// top returns the FLG kernel of all pairs of whole graphs with the values of a level as base
// kernel.
func (e *Exact) top(ctx context.Context, level int, rank []int32, below values) (*Matrix, error) {
	sigs, err := wholeGraphs(ctx, e.graphs, e.scales[level], &e.o)
	if err != nil {
		return nil, err
	}
	// Graphs with the same quotient are one object.
	var classes graph.Classes
	ids := [][]int32{make([]int32, len(sigs))}
	for i, s := range sigs {
		ids[0][i] = classes.Intern(s, signatureHash(s, e.scales[level].hash))
	}
	num := classes.Number(ids)
	order, r := ordering(num.Sig, num.Hash)
	stage := "graphs"
	if e.o.Combine != Top {
		stage = fmt.Sprintf("graphs %d/%d", level, len(e.o.Radii))
	}
	t, err := pairs(ctx, stage, num.Sig, order, rank, below, e.stageRobust(level), &e.o)
	if err != nil {
		return nil, err
	}
	n := len(sigs)
	m := NewMatrix(n, n)
	for i := range n {
		for j := range n {
			m.Set(i, j, t.at(r[ids[0][i]], r[ids[0][j]]))
		}
	}
	return m, nil
}

// signatureHash hashes a signature by the content of its classes.
func signatureHash(sig []uint32, class []uint64) uint64 {
	var q graph.Quotient
	q.Decode(sig)
	h := uint64(len(sig))
	for i, c := range q.Class {
		h = (h ^ class[c] ^ uint64(q.Size[i])<<32) * 0x9e3779b97f4a7c15
		for e := q.Off[i]; e < q.Off[i+1]; e++ {
			h = (h ^ h>>31 ^ uint64(q.Nbr[e]) ^ math.Float64bits(q.Weight[e])) * 0xbf58476d1ce4e5b9
		}
		h ^= h >> 29
	}
	return h
}

// onDemand returns values of a level that are computed when they are asked for.
func (e *Exact) onDemand(level int) values {
	if e.lazy == nil {
		e.lazy = []values{e.baseTable()}
		for l := 1; l < len(e.scales); l++ {
			e.lazy = append(e.lazy, newLazy(e.scales[l].sig, e.lazy[l-1], e.stageRobust(l-1), &e.o))
		}
	}
	return e.lazy[level]
}

// MLS returns 𝔎_ℓ, level ℓ = 0 … L, of vertex v of graph i and vertex w of graph j. Only the
// values that it needs are computed, and kept for later calls within Options.MaxMemory.
func (e *Exact) MLS(level, i, v, j, w int) (float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.scales[level]
	var k [1]float64
	err := e.onDemand(level).block(k[:], s.class[i][v:v+1], s.class[j][w:w+1])
	return k[0], err
}

// Kernel returns the MLG kernel of graphs i and j, as Gram does, computing only the values
// that it needs.
func (e *Exact) Kernel(i, j int) (float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tops == nil {
		e.tops = make([][][]uint32, len(e.scales))
	}
	var out [1]float64
	all := e.o.newCombiner(out[:], nil, len(e.scales))
	for l := range e.scales {
		if e.o.Combine == Top && l < len(e.scales)-1 {
			continue
		}
		if e.tops[l] == nil {
			var err error
			if e.tops[l], err = wholeGraphs(context.Background(), e.graphs, e.scales[l], &e.o); err != nil {
				return 0, err
			}
		}
		two := [][]uint32{e.tops[l][i], e.tops[l][j]}
		k := 1.0
		if !slices.Equal(two[0], two[1]) {
			var err error
			if k, err = newLazy(two, e.onDemand(l), e.stageRobust(l), &e.o).at(0, 1); err != nil {
				return 0, err
			}
		}
		all.add([]float64{k})
	}
	all.finish()
	return out[0], nil
}
