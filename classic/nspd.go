package classic

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// NSPD is the neighbourhood subgraph pairwise distance kernel (Costa and De Grave, 2010),
//
//	k(G, G') = Σ_{r=0..R} Σ_{d=0..D} k_rd(G, G') / √(k_rd(G, G) k_rd(G', G')),
//	k_rd(G, G') = Σ_{a,b} c_rdab(G) c_rdab(G'),
//
// where c_rdab(G) is the number of ordered pairs of vertices at distance d whose balls of radius r
// have the invariants a and b. A pair (r, d) of which one of the graphs has no vertices adds
// nothing. Distances are hops.
//
// The invariant of a ball is that of the paper: its edges, each by its label and those of its ends. The label of a vertex v in the ball around h is the sorted list of
// (distance of u and v, distance of u and h, label of u) over the vertices u of the ball; distances
// are those inside the ball. Isomorphic balls have the same invariant. Fit takes O(R n b (b log b +
// e)) time per graph for balls of b vertices and e edges.
type NSPD struct {
	R          int       `json:"r" want:"0 to 64" help:"Largest radius of a neighbourhood."`
	D          int       `json:"d" want:"0 to 65536" help:"Largest distance of a pair of neighbourhoods."`
	EdgeLabels bool      `json:"edge_labels" help:"Labels of edges count, where graphs have them."`
	Labels     Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize  bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultNSPD returns the normalised kernel of radii up to 3 and distances up to 4.
func DefaultNSPD() NSPD { return NSPD{R: 3, D: 4, EdgeLabels: true, Labels: Auto, Normalize: true} }

// Name implements kernel.Kernel.
func (k NSPD) Name() string { return "nspd" }

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k NSPD) String() string  { return kernel.Text(k) }
func (k NSPD) Validate() error { return kernel.Check(k) }
func (k NSPD) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k NSPD) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k NSPD) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Levels implements kernel.Levelled: balls of one radius after the other, at all distances.
func (k NSPD) Levels() []kernel.Level {
	return stepsOf("radius", 0, k.R, func(r int) kernel.Kernel { k.R = r; return k })
}

// Stretch implements kernel.Directional.
func (k NSPD) Stretch(times int) (kernel.Kernel, bool) {
	k.R, k.D = k.R*times, k.D*times
	return k, k.Labels.discrete()
}

// recipe has a block for each radius. Small balls are frequent, and frequent features that follow each
// other are compared faster.
func (k NSPD) recipe() recipe {
	return recipe{
		labels: k.Labels, edgeLabels: k.EdgeLabels, h: k.R, sign: func() signFunc { return new(ballSigner).sign },
		weights: slices.Repeat([]float64{1}, k.R+1), normalize: k.Normalize, count: k.count, sets: k.sets,
	}
}

// count counts pairs of vertices by their distance and the colours of their balls: refinement r of
// the labels.
func (k NSPD) count() countFunc {
	s := pathCounter{search: search{most: uint64(k.D)}}
	var found [][]path // by distance
	var colours []uint64
	return func(ctx context.Context, g *coloured, out *vector) error {
		for r, colour := range g.colours {
			found = slices.Grow(found[:0], k.D+1)[:min(k.D+1, g.N())]
			for d := range found {
				found[d] = found[d][:0]
			}
			if len(found) == 0 {
				return nil
			}
			colours = append(colours[:0], colour...)
			slices.Sort(colours)
			eachRun(colours, func(c uint64, count float64) { found[0] = append(found[0], path{a: c, b: c, count: count / 2}) })
			if len(found) > 1 {
				if err := s.collect(work.Within(ctx, r, len(g.colours)), g.Graph, colour, nil, nil); err != nil {
					return err
				}
				s.eachClass(func(p path) { found[p.length] = append(found[p.length], p) })
			}
			for d, paths := range found {
				addShares(out, uint32(r), uint64(d), paths)
			}
		}
		return ctx.Err()
	}
}

// sets visits what count counts.
func (k NSPD) sets(ctx context.Context, g *coloured, visit func(u, v int, feature uint64)) error {
	return g.eachPair(ctx, nil, func(u, v int, p path) {
		if p.length <= uint64(k.D) {
			visit(u, v, hashWords(p.a, p.b, p.length))
		}
	})
}

// addShares adds the numbers of ordered pairs, divided by the root of the sum of their squares. An
// unordered pair with a ≠ b stands for two classes, each with its number. One with a = b stands for
// one class with twice the number.
func addShares(out *vector, r uint32, d uint64, paths []path) {
	weight := func(p path) float64 {
		if p.a == p.b {
			return 4
		}
		return 2
	}
	sum := 0.0
	for _, p := range paths {
		sum += weight(p) * p.count * p.count
	}
	for _, p := range paths {
		out.addKey(r, p.count*math.Sqrt(weight(p)/sum), p.a, p.b, d)
	}
	out.shares = append(out.shares, len(out.entries))
}

// MaxBall is the largest number of vertices of a ball of NSPD. The time for a ball grows with the
// square of this number.
const MaxBall = 4096

// ballSigner writes down the invariants of balls.
type ballSigner struct {
	graph.Scratch
	place []int32  // by vertex of the graph: its place in the ball
	off   []int    // by place: where its neighbours in the ball start
	near  []int32  // places of neighbours
	label []uint64 // parallel to near
	queue []int32
	hops  []int32
	row   []uint64
	rows  []uint64 // by place: label of the vertex in the ball
	edges []uint64
}

// sign appends the invariant of the ball of radius r around h: its number of vertices, their different
// labels and its edges.
func (s *ballSigner) sign(ctx context.Context, dst []uint64, g *coloured, h, r int) ([]uint64, error) {
	ball := s.Ball(g.Graph, h, r)
	if len(ball) > MaxBall {
		return nil, fmt.Errorf("%d vertices within %d steps of vertex %d, want at most %d, or a smaller r", len(ball), r, h, MaxBall)
	}
	s.load(g, ball)
	s.rows = s.rows[:0]
	centre := s.Distances()
	for i := range ball {
		if i%64 == 63 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.walk(i, len(ball))
		s.row = s.row[:0]
		for j, u := range ball {
			s.row = append(s.row, hashWords(uint64(s.hops[j])<<32|uint64(centre[j]), g.colours[0][u]))
		}
		slices.Sort(s.row)
		s.rows = append(s.rows, hashWords(s.row...))
	}
	s.edges = s.edges[:0]
	for i, a := range s.rows {
		for k := s.off[i]; k < s.off[i+1]; k++ {
			if b := s.rows[s.near[k]]; int(s.near[k]) > i {
				s.edges = append(s.edges, hashWords(min(a, b), max(a, b), s.label[k]))
			}
		}
	}
	slices.Sort(s.edges)
	slices.Sort(s.rows)
	dst = append(append(dst, uint64(len(ball))), slices.Compact(s.rows)...)
	return append(dst, s.edges...), nil
}

// load makes the adjacency lists of the ball.
func (s *ballSigner) load(g *coloured, ball []int32) {
	s.place = slices.Grow(s.place[:0], g.N())[:g.N()]
	for i, v := range ball {
		s.place[v] = int32(i)
	}
	s.off, s.near, s.label = append(s.off[:0], 0), s.near[:0], s.label[:0]
	for _, v := range ball {
		for j, u := range g.Neighbors(int(v)) {
			if s.In(u) {
				s.near, s.label = append(s.near, s.place[u]), append(s.label, g.edgeLabel(int(v), j))
			}
		}
		s.off = append(s.off, len(s.near))
	}
}

// walk finds the distances in the ball of n vertices from that at a place.
func (s *ballSigner) walk(from, n int) {
	s.hops = slices.Grow(s.hops[:0], n)[:n]
	for i := range s.hops {
		s.hops[i] = -1
	}
	s.hops[from] = 0
	s.queue = append(s.queue[:0], int32(from))
	for at := 0; at < len(s.queue); at++ {
		v := s.queue[at]
		for _, u := range s.near[s.off[v]:s.off[v+1]] {
			if s.hops[u] < 0 {
				s.hops[u] = s.hops[v] + 1
				s.queue = append(s.queue, u)
			}
		}
	}
}
