package mlg

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
)

// scale is one level of a collection of graphs: its vertices sorted into neighbourhood
// classes. Level 0 has classes of equal descriptors of the base kernel; level ℓ has classes
// of equal canonical quotients of the neighbourhoods N_ℓ(v), whose cells have classes of
// level ℓ-1.
type scale struct {
	class [][]int32  // by graph and vertex
	hash  []uint64   // by class: hash of its content, which does not depend on the collection
	count []int32    // by class: number of vertices
	sig   [][]uint32 // by class: its quotient, as graph.Scratch.Signature encodes it; level ≥ 1
	desc  []string   // by class: its descriptor; level 0
}

func (s *scale) classes() int { return len(s.hash) }

// cells returns the number of cells of a quotient, with which its encoding starts.
func cells(sig []uint32) int { return int(sig[0]) }

// describe sorts the vertices of the graphs into classes of equal descriptors. dim is the
// number of attributes that the graphs must have, if any, 0 when the first to have some
// decides.
func describe(ctx context.Context, graphs []*graph.Graph, base Base, dim int, o *Options) (*scale, error) {
	desc := make([][]string, len(graphs))
	before := "as in training"
	for _, g := range graphs {
		if dim == 0 && g.AttributeDim() > 0 {
			dim, before = g.AttributeDim(), "as in the graphs before"
		}
	}
	err := parallel(ctx, o.Workers, len(graphs), 16, func(_, i int) error {
		if d := graphs[i].AttributeDim(); d > 0 && d != dim {
			return fmt.Errorf("%s: %d attributes per vertex, want %d %s", graphName(graphs, i), d, dim, before)
		}
		var err error
		if desc[i], err = base.Describe(graphs[i]); err != nil {
			return fmt.Errorf("%s: %w", graphName(graphs, i), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s := &scale{class: make([][]int32, len(graphs))}
	at := make(map[string]int32)
	for i, row := range desc {
		s.class[i] = make([]int32, len(row))
		for v, d := range row {
			c, ok := at[d]
			if !ok {
				c = int32(len(s.desc))
				at[d] = c
				s.desc = append(s.desc, d)
				s.hash = append(s.hash, hashString(d))
				s.count = append(s.count, 0)
			}
			s.count[c]++
			s.class[i][v] = c
		}
	}
	return s, nil
}

func graphName(graphs []*graph.Graph, i int) string {
	if id := graphs[i].ID(); id != "" {
		return fmt.Sprintf("graph %d (%s)", i, id)
	}
	return fmt.Sprintf("graph %d", i)
}

// hashString is 64-bit FNV-1a: the same in every process.
func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// classifier is what one worker needs to find the classes of one graph.
type classifier struct {
	ball, refine graph.Scratch
	key          []uint64
	comp         []int32
	compSize     []int32
	compClass    []int32
	set          []int32
	tag, far     []int32

	// Sets of vertices of this graph that have been classified, to recognise equal balls.
	first map[uint64]int32
	next  []int32
	start []int32
	all   []int32
	class []int32
}

// neighbourhoods sorts the vertices of the graphs into classes of equal neighbourhoods of
// the given level, 1 … L; below is the level below.
func neighbourhoods(ctx context.Context, graphs []*graph.Graph, below *scale, level int, o *Options) (*scale, error) {
	var table graph.Classes
	s := &scale{class: make([][]int32, len(graphs))}
	workers := make([]classifier, o.Workers)
	m := newMeter(o.Progress, fmt.Sprintf("classes %d/%d", level, len(o.Radii)), int64(len(graphs)))
	err := parallel(ctx, o.Workers, len(graphs), 8, func(w, i int) error {
		s.class[i] = make([]int32, graphs[i].N())
		if err := workers[w].run(ctx, graphs[i], below.class[i], below.hash, s.class[i], &table, level, o); err != nil {
			return fmt.Errorf("%s: %w", graphName(graphs, i), err)
		}
		m.add(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	n := table.Number(s.class)
	s.sig, s.hash, s.count = n.Sig, n.Hash, n.Count
	return s, nil
}

func (c *classifier) run(ctx context.Context, g *graph.Graph, below []int32, hash []uint64, dst []int32, table *graph.Classes, level int, o *Options) error {
	n := g.N()
	c.keys(below, hash)
	c.comp, _ = c.ball.Components(g, c.comp)
	c.compSize = append(c.compSize[:0], make([]int32, n)...)
	c.compClass = append(c.compClass[:0], make([]int32, n)...)
	for _, k := range c.comp {
		c.compSize[k]++
	}
	if c.first == nil {
		c.first = make(map[uint64]int32)
	}
	clear(c.first)
	c.next, c.start, c.all, c.class = c.next[:0], append(c.start[:0], 0), c.all[:0], c.class[:0]
	for v := range n {
		if v&1023 == 1023 && ctx.Err() != nil {
			return ctx.Err()
		}
		set, tag, err := c.neighbourhood(g, v, level, o)
		if err != nil {
			return err
		}
		if tag != nil { // with distances to the centre equal sets need not be equal
			sig, h := c.refine.Signature(g, set, c.key, below, tag)
			dst[v] = table.Intern(sig, h)
			continue
		}
		// A whole component is classified once, and so is every other set of vertices.
		k := c.comp[v]
		whole := len(set) == int(c.compSize[k]) && o.Neighbourhoods == nil
		if whole && c.compClass[k] > 0 {
			dst[v] = c.compClass[k] - 1
			continue
		}
		var sum uint64
		if !whole {
			if id, found := c.known(set, &sum); found {
				dst[v] = id
				continue
			}
		}
		sig, h := c.refine.Signature(g, set, c.key, below, nil)
		dst[v] = table.Intern(sig, h)
		if whole {
			c.compClass[k] = dst[v] + 1
		} else {
			c.remember(set, sum, dst[v])
		}
	}
	return nil
}

// keys sets key, by vertex, to the hash of its class.
func (c *classifier) keys(class []int32, hash []uint64) {
	c.key = c.key[:0]
	for _, k := range class {
		c.key = append(c.key, hash[k])
	}
}

// neighbourhood returns N_level(v) and, when features are discounted, the distances of its
// vertices from v.
func (c *classifier) neighbourhood(g *graph.Graph, v, level int, o *Options) (set, tag []int32, err error) {
	if o.Neighbourhoods == nil {
		set = c.ball.Ball(g, v, o.Radii[level-1])
		if o.Discount {
			tag = c.ball.Distances()
		}
		return set, tag, nil
	}
	c.set = o.Neighbourhoods(g, v, level, c.set[:0])
	if o.Discount {
		c.tag = c.tag[:0]
		c.far = append(c.far[:0], make([]int32, g.N())...)
		for i, u := range c.ball.Ball(g, v, g.N()) {
			c.far[u] = c.ball.Distances()[i] + 1
		}
	}
	if !c.ball.Mark(g, c.set) {
		return nil, nil, fmt.Errorf("neighbourhood of vertex %d at level %d is %v, want vertices in [0, %d) without repetition", v, level, c.set, g.N())
	}
	if !c.ball.In(int32(v)) {
		return nil, nil, fmt.Errorf("neighbourhood of vertex %d at level %d does not hold it", v, level)
	}
	if !o.Discount {
		return c.set, nil, nil
	}
	for _, u := range c.set {
		if c.far[u] == 0 {
			return nil, nil, fmt.Errorf("neighbourhood of vertex %d at level %d holds vertex %d, which no path reaches: its discount is not defined", v, level, u)
		}
		c.tag = append(c.tag, c.far[u]-1)
	}
	return c.set, c.tag, nil
}

// known returns the class of a set of vertices, the current one of c.ball, if it has been
// classified before, and otherwise the sum under which to remember it.
func (c *classifier) known(set []int32, sum *uint64) (class int32, found bool) {
	*sum = uint64(len(set))
	for _, u := range set {
		x := (uint64(u) + 1) * 0x9e3779b97f4a7c15
		*sum += (x ^ x>>29) * 0xbf58476d1ce4e5b9
	}
	at, ok := c.first[*sum]
	if !ok {
		return 0, false
	}
	for ; at >= 0; at = c.next[at] {
		old := c.all[c.start[at]:c.start[at+1]]
		if len(old) != len(set) {
			continue
		}
		same := true
		for _, u := range old {
			if !c.ball.In(u) {
				same = false
				break
			}
		}
		if same {
			return c.class[at], true
		}
	}
	return 0, false
}

func (c *classifier) remember(set []int32, sum uint64, class int32) {
	at, ok := c.first[sum]
	if !ok {
		at = -1
	}
	c.next = append(c.next, at)
	c.first[sum] = int32(len(c.class))
	c.class = append(c.class, class)
	c.all = append(c.all, set...)
	c.start = append(c.start, int32(len(c.all)))
}

// wholeGraphs returns the canonical quotients of whole graphs whose vertices have the
// classes of the given level.
func wholeGraphs(ctx context.Context, graphs []*graph.Graph, below *scale, o *Options) ([][]uint32, error) {
	out := make([][]uint32, len(graphs))
	workers := make([]classifier, o.Workers)
	err := parallel(ctx, o.Workers, len(graphs), 8, func(w, i int) error {
		c := &workers[w]
		c.keys(below.class[i], below.hash)
		c.set = c.set[:0]
		for v := range graphs[i].N() {
			c.set = append(c.set, int32(v))
		}
		sig, _ := c.refine.Signature(graphs[i], c.set, c.key, below.class[i], nil)
		out[i] = append([]uint32(nil), sig...)
		return nil
	})
	return out, err
}

// Doubling is the construction of the paper for ρ = 2: N₁(v) is the ball of radius r₀, and
//
//	N_ℓ(v) = ∪ N_{ℓ-1}(w), w ∈ N_{ℓ-1}(v).
//
// These are the balls of the radii r₀·2^(ℓ-1), which is how Options.Radii gives them faster.
func Doubling(r0 int) Neighbourhoods {
	return func(g *graph.Graph, v, level int, dst []int32) []int32 {
		var s graph.Scratch
		from := len(dst)
		dst = append(dst, int32(v))
		in := map[int32]bool{int32(v): true}
		// N_ℓ is 2^(ℓ-1) steps of balls of radius r₀, each from all vertices so far.
		for range 1 << (level - 1) {
			for _, w := range dst[from:] {
				for _, u := range s.Ball(g, int(w), r0) {
					if !in[u] {
						in[u] = true
						dst = append(dst, u)
					}
				}
			}
		}
		return dst
	}
}
