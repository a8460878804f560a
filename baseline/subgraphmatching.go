package baseline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// SubgraphMatching is the kernel of common subgraphs (Kriege and Mutzel, 2012) with labels that are
// equal or not:
//
//	k(G, G') = Σ_φ λ_|φ|.
//
// φ runs over the isomorphisms between connected induced subgraphs of G and G' that keep the labels
// of vertices and edges. |φ| is the number of vertices that φ maps. λ_1, λ_2, … are the Weights;
// matches of more vertices count nothing.
//
// Two subgraphs of a type t have |Aut(t)| isomorphisms, so the numbers of subgraphs by type are
// explicit features. They take time in proportion to the number of connected induced subgraphs of a
// graph.
type SubgraphMatching struct {
	Weights    []float64 `json:"weights" want:"at least 0" help:"Weights of matches of 1, 2, … vertices, up to 7 of them."`
	EdgeLabels bool      `json:"edge_labels" help:"Labels of edges count, where graphs have them."`
	Labels     Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize  bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// maxMatch is the largest number of vertices of a match.
const maxMatch = 7

// DefaultSubgraphMatching returns the normalised kernel of matches of up to 5 vertices, all of
// weight 1.
func DefaultSubgraphMatching() SubgraphMatching {
	return SubgraphMatching{Weights: []float64{1, 1, 1, 1, 1}, EdgeLabels: true, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel.
func (k SubgraphMatching) Name() string { return "subgraph-matching" }

// String, Validate, Fit and Resolve implement kernel.Kernel and kernel.Resolver.
func (k SubgraphMatching) String() string { return kernel.Text(k) }
func (k SubgraphMatching) Validate() error {
	if n := len(k.Weights); n < 1 || n > maxMatch {
		return fmt.Errorf("%s: weights has %d numbers, want 1 to %d", k.Name(), n, maxMatch)
	}
	return kernel.Check(k)
}
func (k SubgraphMatching) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k SubgraphMatching) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}

// features has a block for each size and number of automorphisms, which divides the factorial of
// the size.
func (k SubgraphMatching) features() featureMap {
	m := featureMap{labels: k.Labels, edgeLabels: k.EdgeLabels, normalize: k.Normalize}
	blocks := map[[2]int]uint32{}
	factorial := 1
	for i, w := range k.Weights {
		factorial *= i + 1
		for automorphisms := 1; automorphisms <= factorial && w > 0; automorphisms++ {
			if factorial%automorphisms == 0 {
				blocks[[2]int{i + 1, automorphisms}] = uint32(len(m.weights))
				m.weights = append(m.weights, w*float64(automorphisms))
			}
		}
	}
	m.count = func() countFunc {
		s := subgraphTypes{weights: k.Weights, blocks: blocks}
		return s.count
	}
	return m
}

// subgraphTypes counts connected induced subgraphs by type.
type subgraphTypes struct {
	weights []float64
	blocks  map[[2]int]uint32 // by size and number of automorphisms

	*coloured
	near  []bool  // by vertex: in the set or next to it
	set   []int32 // vertices of the subgraph at hand
	sets  int     // so far
	order []int32 // the same, by colour
	key   []uint32

	seen  dictionary // subgraphs as they were met
	class []int      // by number in seen
	types dictionary // canonical ones
	block []uint32   // by type
	found []float64  // by type: number in the graph
	used  []int      // types that the graph has
}

// maxSeen bounds the subgraphs that are remembered with their types.
const maxSeen = 1 << 20

func (s *subgraphTypes) count(ctx context.Context, g *coloured, out *features) error {
	if s.seen.len() > maxSeen {
		*s = subgraphTypes{weights: s.weights, blocks: s.blocks}
	}
	s.coloured, s.sets = g, 0
	resized(&s.near, g.N())
	for v := range g.N() {
		var next []int32
		s.near[v] = true
		for _, u := range g.Neighbors(v) {
			s.near[u] = true
			if int(u) > v {
				next = append(next, u)
			}
		}
		s.set = append(s.set[:0], int32(v))
		if err := s.grow(ctx, next); err != nil {
			return err
		}
		s.near[v] = false
		for _, u := range g.Neighbors(v) {
			s.near[u] = false
		}
	}
	for _, t := range s.used {
		start, end := s.types.start[t], len(s.types.words)
		if t+1 < s.types.len() {
			end = s.types.start[t+1]
		}
		out.addKey(s.block[t], s.found[t], s.types.words[start:end]...)
		s.found[t] = 0
	}
	s.used = s.used[:0]
	return nil
}

// grow counts the set at hand and all larger ones that contain it. A set grows by the vertices in
// next: vertices after its first one that are adjacent to it, and were not in it or adjacent to it
// before (Wernicke, 2006).
func (s *subgraphTypes) grow(ctx context.Context, next []int32) error {
	if s.sets++; s.sets%1024 == 0 && ctx.Err() != nil {
		return ctx.Err()
	}
	if s.weights[len(s.set)-1] > 0 {
		s.add()
	}
	if len(s.set) == len(s.weights) {
		return nil
	}
	for i, w := range next {
		more := slices.Clone(next[i+1:])
		at := len(more)
		for _, u := range s.Neighbors(int(w)) {
			if u > s.set[0] && !s.near[u] {
				s.near[u] = true
				more = append(more, u)
			}
		}
		s.set = append(s.set, w)
		if err := s.grow(ctx, more); err != nil {
			return err
		}
		s.set = s.set[:len(s.set)-1]
		for _, u := range more[at:] {
			s.near[u] = false
		}
	}
	return nil
}

// add counts the set at hand under its type.
func (s *subgraphTypes) add() {
	s.order = append(s.order[:0], s.set...)
	colour := s.colours[0]
	slices.SortFunc(s.order, func(a, b int32) int { return cmp.Compare(colour[a], colour[b]) })
	s.key = s.key[:0]
	for _, v := range s.order {
		s.key = append(s.key, colour[v])
	}
	for j, v := range s.order {
		for _, u := range s.order[:j] {
			label := uint32(0)
			if i, ok := slices.BinarySearch(s.Neighbors(int(v)), u); ok {
				label = 1 + s.edgeLabel(int(v), i)
			}
			s.key = append(s.key, label)
		}
	}
	id := int(s.seen.intern(s.key, hashWords(s.key)))
	if id == len(s.class) {
		s.class = append(s.class, s.typeOf(s.key, len(s.set)))
	}
	t := s.class[id]
	if s.found[t] == 0 {
		s.used = append(s.used, t)
	}
	s.found[t]++
}

// typeOf returns the type of a subgraph with n vertices: the least of its keys over all orders of
// vertices with the same label. The number of orders that give this key is the number of its
// automorphisms.
func (s *subgraphTypes) typeOf(key []uint32, n int) int {
	label, edge := key[:n], key[n:]
	least := slices.Clone(edge)
	automorphisms := 0
	order := make([]int, 0, n)
	at := make([]uint32, len(edge))
	var extend func(used int)
	extend = func(used int) {
		j := len(order)
		if j == n {
			switch slices.Compare(at, least) {
			case -1:
				copy(least, at)
				automorphisms = 1
			case 0:
				automorphisms++
			}
			return
		}
		for v := range n {
			if used>>v&1 == 1 || label[v] != label[j] {
				continue
			}
			for i, u := range order {
				lo, hi := min(u, v), max(u, v)
				at[j*(j-1)/2+i] = edge[hi*(hi-1)/2+lo]
			}
			order = append(order, v)
			extend(used | 1<<v)
			order = order[:j]
		}
	}
	extend(0)
	canonical := append(slices.Clone(label), least...)
	t := int(s.types.intern(canonical, hashWords(canonical)))
	if t == len(s.block) {
		s.block = append(s.block, s.blocks[[2]int{n, automorphisms}])
		s.found = append(s.found, 0)
	}
	return t
}
