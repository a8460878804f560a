package baseline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// walkGraph is a graph prepared for walks: its vertices are sorted by label.
type walkGraph struct {
	off, adj []int32
	label    []uint32 // by vertex, ascending
	runs     []labelRun
}

// labelRun is the range of vertices from start to end that have a label.
type labelRun struct {
	label      uint32
	start, end int32
}

func newWalkGraph(g *graph.Graph, label []uint32) *walkGraph {
	n := g.N()
	order := make([]int32, n)
	for v := range order {
		order[v] = int32(v)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(label[a], label[b]) })
	place := make([]int32, n)
	for i, v := range order {
		place[v] = int32(i)
	}
	w := &walkGraph{off: make([]int32, 1, n+1), adj: make([]int32, 0, 2*g.M()), label: make([]uint32, 0, n)}
	for i, v := range order {
		for _, u := range g.Neighbors(int(v)) {
			w.adj = append(w.adj, place[u])
		}
		slices.Sort(w.adj[w.off[i]:])
		w.off = append(w.off, int32(len(w.adj)))
		l := label[v]
		w.label = append(w.label, l)
		if k := len(w.runs); k == 0 || w.runs[k-1].label != l {
			w.runs = append(w.runs, labelRun{l, int32(i), int32(i)})
		}
		w.runs[len(w.runs)-1].end++
	}
	return w
}

func (w *walkGraph) n() int { return len(w.label) }

func (w *walkGraph) neighbors(v int) []int32 { return w.adj[w.off[v]:w.off[v+1]] }

// eigenvalueBound returns an upper bound of the largest eigenvalue ρ of the adjacency
// matrix A: for every positive vector x (Collatz, Wielandt)
//
//	ρ + 1 ≤ max_v ((A + I) x)_v / x_v,
//
// with x = (A + I)^i 1, which makes the bound tighter with i.
func (w *walkGraph) eigenvalueBound() float64 {
	if len(w.adj) == 0 {
		return 0
	}
	const steps = 30
	x := make([]float64, w.n())
	y := make([]float64, w.n())
	for v := range x {
		x[v] = 1
	}
	best := math.Inf(1)
	for range steps {
		bound, largest := 0.0, 0.0
		for v := range y {
			s := x[v]
			for _, u := range w.neighbors(v) {
				s += x[u]
			}
			y[v] = s
			bound = max(bound, s/x[v])
			largest = max(largest, s)
		}
		best = min(best, bound-1)
		for v := range y { // a vertex far below the largest stays positive
			y[v] = max(y[v]/largest, 1e-200)
		}
		x, y = y, x
	}
	return best * (1 + 1e-12) // rounding in the sums
}

// compare orders prepared graphs by content, so that a pair can be worked on in the same
// order whichever way it is given.
func (w *walkGraph) compare(o *walkGraph) int {
	return cmp.Or(cmp.Compare(w.n(), o.n()), slices.Compare(w.label, o.label), slices.Compare(w.off, o.off), slices.Compare(w.adj, o.adj))
}

// product walks on the direct product of two graphs: its vertices are the pairs with equal
// labels, (u, v) and (u', v') are adjacent when u ~ u' and v ~ v'. The product is never
// formed: a vector x on its vertices has a row per u over the v with the same label, and
//
//	(A× x)(u, v) = Σ_{v' ~ v} y(v'),   y(v') = Σ_{u' ~ u, label(u') = label(v')} x(u', v'),
//
// which takes O(n₁n₂ + (m₁n₂ + n₁m₂)/L) time for L equally frequent labels.
type product struct {
	a, b *walkGraph
	run  []labelRun // by vertex of a: the vertices of b with its label
	row  []int      // by vertex of a: where its row starts
	x, z []float64
	y    []float64
	bufs [2][]float64
}

// reset starts with x = 1.
func (p *product) reset(a, b *walkGraph) {
	if a.compare(b) > 0 {
		a, b = b, a
	}
	p.a, p.b = a, b
	p.run, p.row = p.run[:0], append(p.row[:0], 0)
	k := 0
	for u, l := range a.label {
		for k < len(b.runs) && b.runs[k].label < l {
			k++
		}
		r := labelRun{label: l}
		if k < len(b.runs) && b.runs[k].label == l {
			r = b.runs[k]
		}
		p.run = append(p.run, r)
		p.row = append(p.row, p.row[u]+int(r.end-r.start))
	}
	size := p.row[a.n()]
	for i := range p.bufs {
		if cap(p.bufs[i]) < size {
			p.bufs[i] = make([]float64, size)
		}
	}
	p.x, p.z = p.bufs[0][:size], p.bufs[1][:size]
	resized(&p.y, b.n())
	for i := range p.x {
		p.x[i] = 1
	}
}

// step writes A× x / scale into z.
func (p *product) step(ctx context.Context, scale float64) error {
	a, b, y := p.a, p.b, p.y
	for u := range a.n() {
		if u%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		z := p.z[p.row[u]:p.row[u+1]]
		if len(z) == 0 {
			continue
		}
		clear(y)
		for _, v := range a.neighbors(u) {
			x := p.x[p.row[v]:p.row[v+1]]
			to := y[p.run[v].start:p.run[v].end]
			to = to[:len(x)]
			for i, s := range x {
				to[i] += s
			}
		}
		for i := range z {
			s := 0.0
			for _, v := range b.neighbors(int(p.run[u].start) + i) {
				s += y[v]
			}
			z[i] = s / scale
		}
	}
	return nil
}

func dot(x, y []float64) float64 {
	s := 0.0
	y = y[:len(x)]
	for i, a := range x {
		s += float64(a * y[i])
	}
	return s
}

// walks calls f with i = 0, 1, … and 1ᵀ(A×/scale)^i 1 until f returns false. With
// x_i = (A×/scale)^i 1 these are x_i·x_i for 2i and x_i·x_{i+1} for 2i+1.
func (p *product) walks(ctx context.Context, a, b *walkGraph, scale float64, f func(i int, value float64) bool) error {
	p.reset(a, b)
	for i := 0; ; i++ {
		if !f(2*i, dot(p.x, p.x)) {
			return nil
		}
		if err := p.step(ctx, scale); err != nil {
			return err
		}
		if !f(2*i+1, dot(p.x, p.z)) {
			return nil
		}
		p.x, p.z = p.z, p.x
	}
}

// pairGram fills the upper triangle of m where want says so, and mirrors it.
func pairGram(ctx context.Context, workers int, m *mlg.Matrix, want func(i, j int) bool, value func(w, i, j int) (float64, error)) error {
	err := parallel(ctx, workers, m.Rows, 1, func(w, i int) error {
		for j := i; j < m.Cols; j++ {
			if want(i, j) {
				v, err := value(w, i, j)
				if err != nil {
					return err
				}
				m.Set(i, j, v)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return mirror(ctx, workers, m)
}

// pairCross fills m where want says so.
func pairCross(ctx context.Context, workers int, m *mlg.Matrix, want func(i, j int) bool, value func(w, i, j int) (float64, error)) error {
	return parallel(ctx, workers, m.Rows, 1, func(w, i int) error {
		for j := range m.Cols {
			if want(i, j) {
				v, err := value(w, i, j)
				if err != nil {
					return err
				}
				m.Set(i, j, v)
			}
		}
		return nil
	})
}

// normalizeAll divides by the self-similarities of rows and columns.
func normalizeAll(m *mlg.Matrix, rows, cols []float64) {
	for i := range m.Rows {
		normalizeRow(m.Row(i), rows[i], cols)
	}
}
