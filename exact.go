package mlg

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/base"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Exact computes the MLS and MLG kernels of a collection of graphs by their definitions
// (docs/math.md, section 1), without sampling or truncation. Values are shared between
// vertices and subgraphs with the same canonical quotient.
//
// Its methods may be called concurrently.
type Exact struct {
	graphs []*graph.Graph
	base   base.Kernel
	kernel Kernel
	levels []*classes // 0 … L
	robust bool       // the first stage is computed by eq. (2)
	memory int64      // bytes for tables of values

	mu   sync.Mutex
	lazy []values // levels 0 … L, on demand
	tops [][][]uint32
}

// NewExact sorts the vertices of the graphs into neighbourhood classes at every level. Tables of
// kernel values may take the memory that the context says (kernel.Work).
func NewExact(ctx context.Context, graphs []*graph.Graph, k Kernel) (*Exact, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	robust, _, err := precision(&k, len(k.Radii))
	if err != nil {
		return nil, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return nil, err
	}
	e := &Exact{graphs: graphs, base: b, kernel: k, robust: robust, memory: kernel.WorkOf(ctx).Memory}
	c, err := describe(ctx, graphs, b, 0)
	if err != nil {
		return nil, err
	}
	e.levels = []*classes{c}
	for l := range k.Radii {
		if c, err = neighbourhoods(ctx, graphs, c, l+1, &k); err != nil {
			return nil, err
		}
		e.levels = append(e.levels, c)
	}
	return e, nil
}

// stageRobust reports whether the kernels whose base kernel is 𝔎_level are computed by eq. (2).
func (e *Exact) stageRobust(level int) bool { return e.robust && (level == 0 || e.kernel.PairRank > 0) }

// ErrorEstimate returns about how large the relative error of kernel values may be, in the
// worst case. It is NaN with PairRank.
func (e *Exact) ErrorEstimate() float64 {
	_, estimate, _ := precision(&e.kernel, len(e.kernel.Radii))
	return estimate
}

// Classes returns the number of distinct neighbourhoods at a level, 0 … L.
func (e *Exact) Classes(level int) int { return e.levels[level].len() }

// Memory returns the bytes that Gram needs for its tables of kernel values: those of two
// levels at a time.
func (e *Exact) Memory() int64 {
	var most int64
	for l := 1; l < len(e.levels); l++ {
		need := tableBytes(e.levels[l].len())
		if l > 1 {
			need += tableBytes(e.levels[l-1].len())
		}
		most = max(most, need)
	}
	return most + tableBytes(len(e.graphs))
}

// Gram returns the MLG kernel of all pairs of graphs. It goes level by level: the values of
// all pairs of classes of a level come from those of the level below. With c_ℓ classes of m
// cells at level ℓ it takes O(Σ c_ℓ² m³) time, and the memory that Memory tells; it returns
// an error when that is more than it may take.
func (e *Exact) Gram(ctx context.Context) (*kernel.Matrix, error) {
	if need := e.Memory(); need > e.memory {
		return nil, fmt.Errorf("the exact Gram matrix needs %.3g GB for tables of kernel values, more than the %.3g GB that it may take; allow more, take fewer levels or smaller radii, or use the low-rank kernel",
			float64(need)/1e9, float64(e.memory)/1e9)
	}
	n := len(e.graphs)
	out := kernel.NewMatrix(n, n)
	all := e.kernel.newCombiner(out.Data, nil, len(e.levels))
	var below values = e.baseTable()
	var rank []int32
	for l, s := range e.levels {
		if l > 0 {
			order, r := ordering(s.quotient, s.hash)
			stage := fmt.Sprintf("pairs %d/%d", l, len(e.kernel.Radii))
			t, err := pairs(ctx, stage, s.quotient, order, rank, below, e.stageRobust(l-1), &e.kernel)
			if err != nil {
				return nil, err
			}
			below, rank = t, r
		}
		if e.kernel.Combine == Top && l < len(e.levels)-1 {
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
	s := e.levels[0]
	v := &baseValues{e.base, s.descriptor}
	n := s.len()
	const most = 4096
	if n > most {
		return v
	}
	return &cached{v, sync.OnceValues(func() (*kernel.Matrix, error) {
		all := s.all()
		m := kernel.NewMatrix(n, n)
		return m, v.block(m.Data, all, all)
	})}
}

// cached is a full matrix of values, computed when first asked for.
type cached struct {
	values
	matrix func() (*kernel.Matrix, error)
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
func (e *Exact) top(ctx context.Context, level int, rank []int32, below values) (*kernel.Matrix, error) {
	quotients, err := wholeGraphs(ctx, e.graphs, e.levels[level])
	if err != nil {
		return nil, err
	}
	// Graphs with the same quotient are one object.
	var table graph.Classes
	ids := [][]int32{make([]int32, len(quotients))}
	for i, q := range quotients {
		ids[0][i] = table.Intern(q, quotientHash(q, e.levels[level].hash))
	}
	num := table.Number(ids)
	order, r := ordering(num.Sig, num.Hash)
	stage := "graphs"
	if e.kernel.Combine != Top {
		stage = fmt.Sprintf("graphs %d/%d", level, len(e.kernel.Radii))
	}
	t, err := pairs(ctx, stage, num.Sig, order, rank, below, e.stageRobust(level), &e.kernel)
	if err != nil {
		return nil, err
	}
	n := len(quotients)
	m := kernel.NewMatrix(n, n)
	for i := range n {
		for j := range n {
			m.Set(i, j, t.at(r[ids[0][i]], r[ids[0][j]]))
		}
	}
	return m, nil
}

// quotientHash hashes a quotient by the content of its classes.
func quotientHash(quotient []uint32, class []uint64) uint64 {
	var q graph.Quotient
	q.Decode(quotient)
	h := uint64(len(quotient))
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
		for l := 1; l < len(e.levels); l++ {
			e.lazy = append(e.lazy, newLazy(e.levels[l].quotient, e.lazy[l-1], e.stageRobust(l-1), &e.kernel, e.memory))
		}
	}
	return e.lazy[level]
}

// MLS returns 𝔎_ℓ, level ℓ = 0 … L, of vertex v of graph i and vertex w of graph j. Only the
// values that it needs are computed, and kept for later calls within the memory that they may take.
func (e *Exact) MLS(level, i, v, j, w int) (float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.levels[level]
	var k [1]float64
	err := e.onDemand(level).block(k[:], s.of[i][v:v+1], s.of[j][w:w+1])
	return k[0], err
}

// Kernel returns the MLG kernel of graphs i and j, as Gram does, computing only the values
// that it needs.
func (e *Exact) Kernel(i, j int) (float64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tops == nil {
		e.tops = make([][][]uint32, len(e.levels))
	}
	var out [1]float64
	all := e.kernel.newCombiner(out[:], nil, len(e.levels))
	for l := range e.levels {
		if e.kernel.Combine == Top && l < len(e.levels)-1 {
			continue
		}
		if e.tops[l] == nil {
			var err error
			if e.tops[l], err = wholeGraphs(context.Background(), e.graphs, e.levels[l]); err != nil {
				return 0, err
			}
		}
		two := [][]uint32{e.tops[l][i], e.tops[l][j]}
		k := 1.0
		if !slices.Equal(two[0], two[1]) {
			var err error
			if k, err = newLazy(two, e.onDemand(l), e.stageRobust(l), &e.kernel, e.memory).at(0, 1); err != nil {
				return 0, err
			}
		}
		all.add([]float64{k})
	}
	all.finish()
	return out[0], nil
}

// Cross returns the kernel matrix between graphs (rows) and those that e was made for: pair by
// pair where that is less work, and otherwise from the Gram matrix of all of them.
func (e *Exact) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	train := len(e.graphs)
	all := append(append(make([]*graph.Graph, 0, train+len(graphs)), e.graphs...), graphs...)
	both, err := NewExact(ctx, all, e.kernel)
	if err != nil {
		return nil, err
	}
	out := kernel.NewMatrix(len(graphs), train)
	if both.pairwise(train) {
		for i := range graphs {
			for j := range train {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				k, err := both.Kernel(train+i, j)
				if err != nil {
					return nil, err
				}
				out.Set(i, j, k)
			}
		}
		return out, nil
	}
	k, err := both.Gram(ctx)
	if err != nil {
		return nil, err
	}
	for i := range graphs {
		copy(out.Row(i), k.Row(train + i)[:train])
	}
	return out, nil
}

// pairwise reports whether the kernels between the first graphs and the others take less work
// pair by pair than level by level. A pair on demand costs about ten times one of a table,
// which shares its factorisations and is computed in batches.
func (e *Exact) pairwise(first int) bool {
	const factor = 10
	var lazy, full float64
	for l := 1; l < len(e.levels); l++ {
		c := e.levels[l]
		seen := make([]int32, c.len()) // 1: among the first, 2: among the others
		var inside float64
		for g, row := range c.of {
			side := int32(1)
			if g >= first {
				side = 2
			}
			for _, k := range row {
				seen[k] |= side
			}
			inside += float64(len(row)) * float64(len(row)) / 2
		}
		var a, b float64
		for _, x := range seen {
			a += float64(x & 1)
			b += float64(x >> 1)
		}
		n := float64(len(seen))
		lazy += factor * (a*b + inside)
		full += n * n / 2
	}
	return lazy < full
}
