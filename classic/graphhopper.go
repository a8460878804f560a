package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Similarity says how a GraphHopper compares the rows x and y of two vertices.
type Similarity string

const (
	Linear   Similarity = "linear"   // x·y
	Gaussian Similarity = "gaussian" // exp(−μ |x − y|²)
	Bridge   Similarity = "bridge"   // max(0, 1 − |x − y|/4); for several attributes not positive semi-definite
)

// GraphHopper is the GraphHopper kernel (Feragen, Kasenburg, Petersen, de Bruijne, Borgwardt:
// Scalable kernels for graphs with continuous attributes, NIPS 2013). It compares pairs of shortest
// paths with equally many vertices, vertex by vertex,
//
//	k(G, G') = Σ_{π, π': |π| = |π'|} Σ_i s(π_i, π'_i) = Σ_{v, v'} ⟨M(v), M(v')⟩ s(v, v'),
//
// over all shortest paths from every vertex to every vertex, itself included. M(v)_ij counts the
// paths of j+1 vertices that have v at place i, and s is Similarity. A label stands for the row
// that has a 1 for it and 0 for all others, so Linear compares labels for equality.
//
// Paths are shortest in hops or, with Weighted, by the sum of edge weights (see ShortestPath).
// M(v)_ij = M(v)_{j−i,j}, of which one is kept. Labels, and attributes with Linear, have the
// explicit features Σ_v M(v) x_v. A graph takes O(n (n + m) δ) time, δ the number of vertices of
// its longest path. A pair of graphs with attributes takes O(n n' δ²) time with Gaussian and
// Bridge.
type GraphHopper struct {
	Similarity Similarity `json:"similarity" want:"one of linear gaussian bridge" help:"How vertices are compared: linear, gaussian or bridge."`
	Mu         float64    `json:"mu" want:"positive" help:"With gaussian: factor of the square of the distance."`
	Weighted   bool       `json:"weighted" help:"Lengths are sums of edge weights, not hops."`
	Resolution float64    `json:"resolution" want:"positive" help:"With weighted: unit to which weights are rounded."`
	Labels     Labelling  `json:"labels" want:"one of auto labels degrees unlabeled attributes" help:"What vertices are compared by: auto (labels, else degrees), labels, degrees, unlabeled or attributes."`
	Normalize  bool       `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultGraphHopper returns the normalised kernel that compares labels for equality along paths in
// hops.
func DefaultGraphHopper() GraphHopper {
	return GraphHopper{Similarity: Linear, Mu: 1, Resolution: 1e-6, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel, as String, Validate, Fit, Decode and Resolve do.
func (k GraphHopper) Name() string    { return "graph-hopper" }
func (k GraphHopper) String() string  { return kernel.Text(k) }
func (k GraphHopper) Validate() error { return kernel.Check(k) }
func (k GraphHopper) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k GraphHopper) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k GraphHopper) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Semidefinite reports whether the kernel is positive semi-definite for all graphs; see
// kernel.Semidefinite.
func (k GraphHopper) Semidefinite() bool { return k.Similarity != Bridge || k.Labels != Attributes }

func (k GraphHopper) recipe() recipe {
	m := recipe{labels: k.Labels, normalize: k.Normalize}
	if k.Labels == Attributes && k.Similarity != Linear {
		return pairwise(m, k.prepare, k.comparer)
	}
	// Two labels have the similarity c when they differ and 1 when they do not. Places before the
	// middle stand for those behind it too.
	c := k.apart(math.Sqrt2)
	m.weights = []float64{1 - c, 2 * (1 - c), c, 2 * c}
	m.count = func() countFunc {
		var s hopCounter
		return func(ctx context.Context, g *coloured, out *vector) error {
			key := s.labelRows(g)
			if k.Labels == Attributes {
				key = s.attributeRows(g)
			}
			if err := s.collect(ctx, g.Graph, k); err != nil {
				return err
			}
			total := make([]float64, s.entries)
			for r, row := range s.rows {
				eachPlace(row, func(i, j int, at int) {
					if row[at] != 0 {
						out.addKey(middle(i, j), row[at], uint64(i), uint64(j), key(r))
						total[at] += row[at]
					}
				})
			}
			if c > 0 {
				eachPlace(total, func(i, j int, at int) {
					if total[at] != 0 {
						out.addKey(2+middle(i, j), total[at], uint64(i), uint64(j))
					}
				})
			}
			return nil
		}
	}
	return m
}

// middle returns 0 for the place in the middle of a path, and 1 for those before it.
func middle(i, j int) uint32 {
	if 2*i == j {
		return 0
	}
	return 1
}

// apart returns the similarity of vertices at a distance, 0 for Linear.
func (k GraphHopper) apart(distance float64) float64 {
	switch k.Similarity {
	case Gaussian:
		return math.Exp(-k.Mu * distance * distance)
	case Bridge:
		return max(0, 1-distance/4)
	}
	return 0
}

// hops are the paths of a graph by vertex.
type hops struct {
	*graph.Graph
	entries int
	places  []float64 // entries×n: M(v)_ij for 2i ≤ j
	doubled []float64 // n×entries: twice these for 2i < j, which stand for 2i > j too
}

// prepare makes of a graph what compare compares.
func (k GraphHopper) prepare() func(context.Context, *coloured) (*hops, error) {
	var s hopCounter
	return func(ctx context.Context, g *coloured) (*hops, error) {
		n := g.N()
		s.reset(n, func(v int, add func(row int, factor float64)) { add(v, 1) })
		if err := s.collect(ctx, g.Graph, k); err != nil {
			return nil, err
		}
		h := &hops{g.Graph, s.entries, make([]float64, n*s.entries), make([]float64, n*s.entries)}
		for v, row := range s.rows {
			eachPlace(row, func(i, j int, at int) {
				h.places[at*n+v] = row[at]
				h.doubled[v*s.entries+at] = float64(1+middle(i, j)) * row[at]
			})
		}
		return h, nil
	}
}

// order orders graphs by content, so that a pair is added up in the same order whichever way it is
// given. The graph with shorter paths comes first.
func (h *hops) order(o *hops) int {
	c := cmp.Or(cmp.Compare(h.entries, o.entries), cmp.Compare(h.N(), o.N()), slices.Compare(h.places, o.places))
	for v := 0; v < h.N() && c == 0; v++ {
		c = slices.Compare(h.Attributes(v), o.Attributes(v))
	}
	return c
}

// comparer returns a function that computes Σ_{v, v'} ⟨M(v), M(v')⟩ s(v, v').
func (k GraphHopper) comparer() func(context.Context, *hops, *hops) (float64, error) {
	var paths []float64
	return func(ctx context.Context, a, b *hops) (float64, error) {
		if a.order(b) > 0 {
			a, b = b, a
		}
		resized(&paths, a.N()*b.N())
		dense.Multiply(paths, a.doubled, b.places[:a.entries*b.N()], a.N(), a.entries, b.N())
		sum := 0.0
		for v := range a.N() {
			x := a.Attributes(v)
			for u := range b.N() {
				square := 0.0
				for i, y := range b.Attributes(u) {
					square += float64((x[i] - y) * (x[i] - y))
				}
				if s := k.apart(math.Sqrt(square)); s > 0 {
					sum += float64(s * paths[v*b.N()+u])
				}
			}
		}
		return sum, ctx.Err()
	}
}

// maxPlaces bounds the numbers that are kept of the paths of a graph, and of those from one vertex.
const maxPlaces = 1 << 24

// hopCounter counts the shortest paths of one graph after the other by the places that vertices have on
// them. A vertex counts in one or several rows. Entry at place(i, j) of a row is for place i ≤ j/2 of
// paths with j+1 vertices.
type hopCounter struct {
	labels   pathCounter // its colours and its search
	put      func(v int, add func(row int, factor float64))
	rows     [][]float64
	entries  int
	up, down [][]float64 // by vertex and number of steps: paths from the start to it, and from it on
	depth    []int       // by vertex: most steps of a path from the start
}

func (s *hopCounter) reset(rows int, put func(v int, add func(row int, factor float64))) {
	s.put, s.entries = put, 0
	s.rows = slices.Grow(s.rows[:0], rows)[:rows]
	for r := range s.rows {
		s.rows[r] = s.rows[r][:0]
	}
}

// labelRows makes a row of each label that a graph has, and returns their colours.
func (s *hopCounter) labelRows(g *coloured) (key func(row int) uint64) {
	s.labels.set(g.colours[0])
	s.reset(len(s.labels.colour), func(v int, add func(int, float64)) { add(int(s.labels.local[v]), 1) })
	return func(row int) uint64 { return s.labels.colour[row] }
}

// attributeRows makes a row of each attribute, and returns their numbers.
func (s *hopCounter) attributeRows(g *coloured) (key func(row int) uint64) {
	s.reset(g.AttributeDim(), func(v int, add func(int, float64)) {
		for i, x := range g.Attributes(v) {
			add(i, x)
		}
	})
	return func(row int) uint64 { return uint64(row) }
}

// place returns the entry of place i of paths with j+1 vertices, i ≤ j/2.
func place(i, j int) int { return (j+1)*(j+1)/4 + i }

// Stretch implements kernel.Directional. No parameter is a number of hops.
func (k GraphHopper) Stretch(int) (kernel.Kernel, bool) { return k, k.Labels.discrete() }

// eachPlace calls f with the places of a row, in ascending order.
func eachPlace(row []float64, f func(i, j, at int)) {
	for i, j, at := 0, 0, 0; at < len(row); at++ {
		f(i, j, at)
		if i++; 2*i > j {
			i, j = 0, j+1
		}
	}
}

// collect counts the paths of a graph into the rows.
func (s *hopCounter) collect(ctx context.Context, g *graph.Graph, k GraphHopper) error {
	length, _, err := ShortestPath{Weighted: k.Weighted, Resolution: k.Resolution}.lengths(g)
	if err != nil {
		return err
	}
	s.up = slices.Grow(s.up[:0], g.N())[:g.N()]
	s.down = slices.Grow(s.down[:0], g.N())[:g.N()]
	resized(&s.depth, g.N())
	for u := range g.N() {
		if err := ctx.Err(); err != nil {
			return err
		}
		work.Reached(ctx, u, g.N())
		order := s.labels.search.from(g, u, length)
		if err := s.grow(g, order, length); err != nil {
			return err
		}
		for i := len(order) - 1; i >= 0; i-- { // from the far ends back
			v := order[i]
			s.before(g, v, length, func(p int32) { addShifted(&s.down[p], s.down[v]) })
		}
		for _, v := range order {
			s.before(g, v, length, func(p int32) { addShifted(&s.up[v], s.up[p]) })
			s.add(int(v))
		}
	}
	return nil
}

// grow makes room for the paths from the first vertex of order, and notes those of no step.
func (s *hopCounter) grow(g *graph.Graph, order []int32, length [][]uint64) error {
	most := 0
	for _, v := range order {
		s.depth[v] = 0
		s.before(g, v, length, func(p int32) { s.depth[v] = max(s.depth[v], s.depth[p]+1) })
		most = max(most, s.depth[v])
		s.up[v], s.down[v] = s.up[v][:0], append(s.down[v][:0], 1)
	}
	s.up[order[0]] = append(s.up[order[0]], 1)
	need := place(0, most+1)
	if need*len(s.rows) > maxPlaces || len(order)*(most+1) > maxPlaces {
		return fmt.Errorf("shortest paths of %d vertices in a component of %d need more than %d numbers; want shorter paths",
			most+1, len(order), maxPlaces)
	}
	if need > s.entries {
		s.entries = need
		for r, row := range s.rows {
			s.rows[r] = append(row, make([]float64, need-len(row))...)
		}
	}
	return nil
}

// before calls f with the vertices before v on shortest paths.
func (s *hopCounter) before(g *graph.Graph, v int32, length [][]uint64, f func(p int32)) {
	dist := s.labels.search.dist
	for i, p := range g.Neighbors(int(v)) {
		step := uint64(1)
		if length != nil {
			step = length[v][i]
		}
		if dist[p]+step == dist[v] {
			f(p)
		}
	}
}

// addShifted adds numbers of paths that have one more step.
func addShifted(to *[]float64, from []float64) {
	if need := len(from) + 1; need > len(*to) {
		*to = append(*to, make([]float64, need-len(*to))...)
	}
	for i, x := range from {
		(*to)[i+1] += x
	}
}

// add adds the paths through v: those with i steps before it and at least as many behind.
func (s *hopCounter) add(v int) {
	s.put(v, func(row int, factor float64) {
		to, down := s.rows[row], s.down[v]
		for i, x := range s.up[v] {
			if x == 0 {
				continue
			}
			for more := i; more < len(down); more++ {
				to[place(i, i+more)] += float64(factor * float64(x*down[more]))
			}
		}
	})
}
