package baseline

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mlgkernel/mlg/graph"
)

// sample returns the types of k.Samples sets of vertices that are drawn uniformly.
func (k Graphlet) sample(ctx context.Context, g *graph.Graph, t *graphletTable, s *subgraphCounter) ([]uint64, error) {
	rng := rand.New(rand.NewPCG(k.Seed, 0))
	draw := func(vs []int32) {
		for i := range vs {
			vs[i] = int32(rng.IntN(g.N()))
		}
	}
	if k.Connected {
		trees := newTreeSampler(g, k.K)
		if trees.total() == 0 {
			return make([]uint64, len(t.graph)), nil
		}
		draw = func(vs []int32) { trees.draw(rng, vs) }
	}
	count := make([]uint64, len(t.graph))
	vs := make([]int32, k.K)
	// Nearly all proposals may fail, as on disjoint triangles for K = 4: then exact
	// counting is cheap.
	limit := 1000*k.Samples + 100000
	for drawn, tried := 0, 0; drawn < k.Samples; tried++ {
		if tried%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if tried > limit {
			return s.induced(ctx, g, t, k.Connected)
		}
		draw(vs)
		mask, ok := inducedMask(g, vs)
		if !ok {
			continue
		}
		typ := t.typ[mask]
		// A connected set comes up once for each of its spanning trees.
		if k.Connected && rng.Uint64N(t.trees[typ]) != 0 {
			continue
		}
		count[typ]++
		drawn++
	}
	return count, nil
}

// inducedMask returns the graph that vs induce, and whether they are distinct.
func inducedMask(g *graph.Graph, vs []int32) (uint32, bool) {
	m := uint32(0)
	for j, v := range vs {
		for i, u := range vs[:j] {
			if u == v {
				return 0, false
			}
			if g.HasEdge(int(u), int(v)) {
				m |= pairBit(i, j)
			}
		}
	}
	return m, true
}

// treeSampler draws the trees with k vertices of a graph uniformly. A tree is a star
// around a vertex, a path around its middle, or (k = 5) a path of 3 vertices with two
// leaves at one end; each has its table of cumulated weights, in which a tree weighs 2.
type treeSampler struct {
	g                *graph.Graph
	k                int
	star, path, fork []float64 // cumulated, by vertex, by arc or vertex, by arc
	arc              [][2]int32
}

func newTreeSampler(g *graph.Graph, k int) *treeSampler {
	s := &treeSampler{g: g, k: k}
	weigh := func(cum *[]float64, w float64) { *cum = append(*cum, last(*cum)+w) }
	for v := range g.N() {
		d := g.Degree(v)
		weigh(&s.star, 2*binomialFloat(d, k-1))
		sum := 0.0
		for _, u := range g.Neighbors(v) {
			du := g.Degree(int(u))
			sum += float64(du - 1)
			switch k {
			case 4: // every path from both ends of its middle edge
				s.arc = append(s.arc, [2]int32{int32(v), u})
				weigh(&s.path, float64(d-1)*float64(du-1))
			case 5:
				s.arc = append(s.arc, [2]int32{int32(v), u})
				weigh(&s.fork, 2*binomialFloat(d-1, 2)*float64(du-1))
			}
		}
		if k == 5 { // every path in both directions
			weigh(&s.path, sum*sum)
		}
	}
	return s
}

func last(cum []float64) float64 {
	if len(cum) == 0 {
		return 0
	}
	return cum[len(cum)-1]
}

func (s *treeSampler) total() float64 { return last(s.star) + last(s.path) + last(s.fork) }

// below returns a random number from 0 up to but not including x > 0.
func below(rng *rand.Rand, x float64) float64 {
	for {
		if r := rng.Float64() * x; r < x { // the product may round up to x
			return r
		}
	}
}

// pick returns a position in a table of cumulated weights, of probability as its weight.
func pick(rng *rand.Rand, cum []float64) int {
	r := below(rng, last(cum))
	return sort.Search(len(cum), func(i int) bool { return cum[i] > r })
}

// draw writes the vertices of a tree into vs. A proposal that is no tree repeats a vertex.
func (s *treeSampler) draw(rng *rand.Rand, vs []int32) {
	neighbour := func(v int32) int32 {
		n := s.g.Neighbors(int(v))
		return n[rng.IntN(len(n))]
	}
	r := below(rng, s.total())
	if r < last(s.star) {
		v := int32(pick(rng, s.star))
		vs[0] = v
		for i := 1; i < len(vs); i++ {
			for vs[i] = neighbour(v); slices.Contains(vs[1:i], vs[i]); {
				vs[i] = neighbour(v)
			}
		}
		return
	}
	if r < last(s.star)+last(s.fork) {
		a := s.arc[pick(rng, s.fork)] // centre with two more leaves, and the vertex that goes on
		vs[0], vs[1] = a[0], a[1]
		for vs[2] = a[1]; vs[2] == a[1]; {
			vs[2] = neighbour(a[0])
		}
		for vs[3] = a[1]; vs[3] == a[1] || vs[3] == vs[2]; {
			vs[3] = neighbour(a[0])
		}
		for vs[4] = a[0]; vs[4] == a[0]; {
			vs[4] = neighbour(a[1])
		}
		return
	}
	i := pick(rng, s.path)
	if s.k == 4 {
		a := s.arc[i]
		vs[0], vs[1] = a[0], a[1]
		for vs[2] = a[1]; vs[2] == a[1]; {
			vs[2] = neighbour(a[0])
		}
		for vs[3] = a[0]; vs[3] == a[0]; {
			vs[3] = neighbour(a[1])
		}
		return
	}
	// Two neighbours of the middle, each with probability proportional to degree − 1.
	v := int32(i)
	vs[0] = v
	for j := 1; j <= 2; j++ {
		sum := 0
		for _, u := range s.g.Neighbors(i) {
			sum += s.g.Degree(int(u)) - 1
		}
		x := rng.IntN(sum)
		for _, u := range s.g.Neighbors(i) {
			if x -= s.g.Degree(int(u)) - 1; x < 0 {
				vs[j] = u
				break
			}
		}
	}
	for j := 1; j <= 2; j++ {
		for vs[j+2] = v; vs[j+2] == v; {
			vs[j+2] = neighbour(vs[j])
		}
	}
}
