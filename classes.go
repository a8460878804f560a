package mlg

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

// classes are the vertices of a collection of graphs at one level, sorted into classes. Level 0
// has classes of equal descriptors of the base kernel; level ℓ has classes of equal canonical
// quotients of the neighbourhoods N_ℓ(v), whose cells have classes of level ℓ-1.
type classes struct {
	of         [][]int32  // by graph and vertex: its class
	hash       []uint64   // by class: hash of its content, which does not depend on the collection
	count      []int32    // by class: number of vertices
	quotient   [][]uint32 // by class, as graph.Scratch.Signature encodes it; level ≥ 1
	descriptor []string   // by class; level 0
}

func (c *classes) len() int { return len(c.hash) }

// all returns the numbers of all classes.
func (c *classes) all() []int32 {
	out := make([]int32, c.len())
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// some returns the descriptors of some classes of level 0.
func (c *classes) some(chosen []int32) []string {
	out := make([]string, len(chosen))
	for i, k := range chosen {
		out[i] = c.descriptor[k]
	}
	return out
}

// compare orders classes by their number of cells and the hash of their content, which do not depend
// on the rest of the collection.
func (c *classes) compare(a, b int32) int {
	size := 0
	if c.quotient != nil {
		size = cmp.Compare(cells(c.quotient[a]), cells(c.quotient[b]))
	}
	return cmp.Or(size, cmp.Compare(c.hash[a], c.hash[b]), cmp.Compare(a, b))
}

// sort numbers the classes of a level ≥ 1 in order.
func (c *classes) sort() {
	order := c.all()
	slices.SortFunc(order, c.compare)
	old := *c
	c.quotient, c.hash, c.count = nil, nil, nil
	rank := make([]int32, len(order))
	for r, k := range order {
		rank[k] = int32(r)
		c.quotient = append(c.quotient, old.quotient[k])
		c.hash = append(c.hash, old.hash[k])
		c.count = append(c.count, old.count[k])
	}
	for _, row := range c.of {
		for v, k := range row {
			row[v] = rank[k]
		}
	}
}

// cells returns the number of cells of a quotient, with which its encoding starts.
func cells(quotient []uint32) int { return int(quotient[0]) }

// describe sorts the vertices of the graphs into classes of equal descriptors. dim is the number of
// attributes that the graphs must have. If it is 0, the first graph that has attributes decides.
func describe(ctx context.Context, graphs []*graph.Graph, b vertex.Kernel, dim int) (*classes, error) {
	defer work.Trace(ctx, "classes")()
	descriptors := make([][]string, len(graphs))
	before := "as in training"
	vertices := 0
	for _, g := range graphs {
		vertices += g.N()
		if dim == 0 && g.AttributeDim() > 0 {
			dim, before = g.AttributeDim(), "as in the graphs before"
		}
	}
	meter := work.NewMeter(ctx, "vertices", vertices)
	err := work.Each(ctx, len(graphs), 16, func(_, i int) error {
		defer meter.Add(graphs[i].N())
		if d := graphs[i].AttributeDim(); d > 0 && d != dim {
			return kernel.AboutGraph(graphs, i, fmt.Errorf("number of attributes per vertex is %d, want %d %s", d, dim, before))
		}
		var err error
		if descriptors[i], err = b.Describe(graphs[i]); err != nil {
			return kernel.AboutGraph(graphs, i, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := &classes{of: make([][]int32, len(graphs))}
	at := make(map[string]int32)
	for i, row := range descriptors {
		c.of[i] = make([]int32, len(row))
		for v, d := range row {
			k, ok := at[d]
			if !ok {
				k = int32(len(c.descriptor))
				at[d] = k
				c.descriptor = append(c.descriptor, d)
				h := fnv.New64a()
				h.Write([]byte(d))
				c.hash = append(c.hash, h.Sum64())
				c.count = append(c.count, 0)
			}
			c.count[k]++
			c.of[i][v] = k
		}
	}
	return c, nil
}

// neighbourhoods sorts the vertices of the graphs into classes of equal neighbourhoods of
// level ℓ ≥ 1; below is the level below.
func neighbourhoods(ctx context.Context, graphs []*graph.Graph, below *classes, level int, k *Kernel) (*classes, error) {
	defer work.Trace(ctx, "classes")()
	var table graph.Classes
	of := make([][]int32, len(graphs))
	total := 0
	for _, g := range graphs {
		total += g.N()
	}
	workers := make([]classifier, work.Workers(ctx))
	meter := work.NewMeter(ctx, fmt.Sprintf("classes %d/%d", level, len(k.Radii)), total)
	err := work.Each(ctx, len(graphs), 8, func(w, i int) error {
		of[i] = make([]int32, graphs[i].N())
		c := &workers[w]
		c.meter = meter
		return c.classify(ctx, of[i], graphs[i], below.of[i], below.hash, &table, k.Radii[level-1], k.Discount)
	})
	if err != nil {
		return nil, err
	}
	return numbered(&table, of), nil
}

// numbered returns the classes of a table; of has their provisional numbers.
func numbered(table *graph.Classes, of [][]int32) *classes {
	n := table.Number(of)
	return &classes{of: of, quotient: n.Sig, hash: n.Hash, count: n.Count}
}

// classifier finds the classes of the vertices of one graph; it holds the buffers of one worker.
type classifier struct {
	ball, refine graph.Scratch
	key          []uint64
	component    []int32
	size         []int32 // by component: its vertices
	set          []int32
	twin         []int32
	known        vertexSets
	meter        *work.Meter // of vertices
}

// classify sets dst, by vertex, to its class in the table.
func (c *classifier) classify(ctx context.Context, dst []int32, g *graph.Graph, below []int32, hash []uint64, table *graph.Classes, radius int, discount bool) error {
	n := g.N()
	c.keys(below, hash)
	c.component, _ = c.ball.Components(g, c.component)
	c.size = append(c.size[:0], make([]int32, n)...)
	for _, k := range c.component {
		c.size[k]++
	}
	c.twin = g.Twins(c.twin)
	c.known.clear()
	told, met := 0, 0
	for v := range n {
		if met > patience {
			c.meter.Add(v - told)
			told, met = v, 0
			if err := c.check(ctx, table, radius); err != nil {
				return err
			}
		}
		if u := int(c.twin[v]); u < v {
			one := !discount && (radius > 1 || radius == 1 && g.HasEdge(u, v)) // set of vertices
			if one || below[u] == below[v] && !g.Weighted() {                  // or an exchange of the two changes nothing
				dst[v] = dst[u]
				continue
			}
		}
		set := c.ball.Ball(g, v, radius)
		met += len(set)
		if discount { // with distances to the centre equal sets need not be equal
			dst[v] = table.Intern(c.refine.Signature(g, set, c.key, below, c.ball.Distances()))
			continue
		}
		k := c.component[v]
		whole, sum := len(set) == int(c.size[k]), uint64(k)
		if !whole {
			sum = setSum(set)
		}
		if dst[v] = c.known.find(set, sum, whole, &c.ball); dst[v] < 0 {
			dst[v] = table.Intern(c.refine.Signature(g, set, c.key, below, nil))
			c.known.add(set, sum, dst[v])
		}
	}
	c.meter.Add(n - told)
	return ctx.Err()
}

// patience is the number of vertices in balls after which classify tells how far it has come, and
// looks whether there is memory for the rest.
const patience = 1 << 20

// check returns an error if nobody waits for the result any more, or if neighbourhoods take more
// memory than there is.
func (c *classifier) check(ctx context.Context, table *graph.Classes, radius int) error {
	const small = 256 << 20 // not worth a look at what is free
	need := table.Bytes() + 4*int64(len(c.known.all))
	if need < small || ctx.Err() != nil {
		return ctx.Err()
	}
	if free := work.Available(); need > work.Memory(ctx) || free > 0 && need/2 > free { // what is taken is not free
		return fmt.Errorf("the neighbourhoods of radius %d take more than %.2g GB of memory, and there is no more: take smaller radii", radius, float64(need)/1e9)
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

// vertexSets are the sets of vertices of one graph that have been classified. They serve to
// recognise equal balls: by a sum over their vertices or, if a ball is a whole component, by the
// number of the component.
type vertexSets struct {
	last  map[uint64]int32
	start []int32 // by set: where its vertices begin
	all   []int32
	class []int32
}

func (s *vertexSets) clear() {
	if s.last == nil {
		s.last = make(map[uint64]int32)
	}
	clear(s.last)
	s.start, s.all, s.class = append(s.start[:0], 0), s.all[:0], s.class[:0]
}

func setSum(set []int32) uint64 {
	sum := uint64(len(set))
	for _, u := range set {
		x := (uint64(u) + 1) * 0x9e3779b97f4a7c15
		sum += (x ^ x>>29) * 0xbf58476d1ce4e5b9
	}
	return sum
}

// find returns the class of a set of vertices, the current one of ball, or −1 if it was not
// classified before.
func (s *vertexSets) find(set []int32, sum uint64, whole bool, ball *graph.Scratch) int32 {
	at, ok := s.last[sum]
	if !ok {
		return -1
	}
	old := s.all[s.start[at]:s.start[at+1]]
	if len(old) != len(set) {
		return -1
	}
	if whole { // a ball that is as large as the component and touches it
		old = old[:1]
	}
	for _, u := range old {
		if !ball.In(u) {
			return -1
		}
	}
	return s.class[at]
}

func (s *vertexSets) add(set []int32, sum uint64, class int32) {
	s.last[sum] = int32(len(s.class))
	s.class = append(s.class, class)
	s.all = append(s.all, set...)
	s.start = append(s.start, int32(len(s.all)))
}

// wholeGraphs sorts graphs whose vertices have the given classes into classes of equal canonical
// quotients; the class of graph i is of[0][i].
func wholeGraphs(ctx context.Context, graphs []*graph.Graph, below *classes) (*classes, error) {
	defer work.Trace(ctx, "classes")()
	var table graph.Classes
	of := make([]int32, len(graphs))
	workers := make([]classifier, work.Workers(ctx))
	err := work.Each(ctx, len(graphs), 8, func(w, i int) error {
		c := &workers[w]
		c.keys(below.of[i], below.hash)
		c.set = c.set[:0]
		for v := range graphs[i].N() {
			c.set = append(c.set, int32(v))
		}
		of[i] = table.Intern(c.refine.Signature(graphs[i], c.set, c.key, below.of[i], nil))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return numbered(&table, [][]int32{of}), nil
}
