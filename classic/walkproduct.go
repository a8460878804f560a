package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/work"
)

// sortedGraph is a graph whose vertices are sorted by label.
type sortedGraph struct {
	off, adj []int32
	label    []uint64 // by vertex, ascending
	runs     []labelRun

	// For walks of any length:
	rho    float64 // bound of the largest eigenvalue of its product with itself
	lambda float64 // weight of a step
}

// labelRun is the range of vertices from start to end that have a label.
type labelRun struct {
	label      uint64
	start, end int32
}

func newSortedGraph(g *coloured) *sortedGraph {
	n, label := g.N(), g.colours[0]
	order := make([]int32, n)
	for v := range order {
		order[v] = int32(v)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(label[a], label[b]) })
	place := make([]int32, n)
	for i, v := range order {
		place[v] = int32(i)
	}
	w := &sortedGraph{off: make([]int32, 1, n+1), adj: make([]int32, 0, 2*g.M()), label: make([]uint64, 0, n)}
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

func (w *sortedGraph) n() int { return len(w.label) }

func (w *sortedGraph) neighbors(v int) []int32 { return w.adj[w.off[v]:w.off[v+1]] }

// compare orders graphs by content, so that a pair can be worked on in the same order
// whichever way it is given.
func (w *sortedGraph) compare(o *sortedGraph) int {
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
	walk RandomWalk
	a, b *sortedGraph
	run  []labelRun // by vertex of a: the vertices of b with its label
	row  []int      // by vertex of a: where its row starts
	x, z []float64  // buffers
	y    []float64
}

// reset takes two graphs.
func (p *product) reset(a, b *sortedGraph) {
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
	resized(&p.y, b.n())
}

// fits returns an error if two vectors over the product, for every worker, do not fit into memory.
func (p *product) fits(ctx context.Context) error {
	const small = 64 << 20 // not worth a look at what is free
	need := 16 * float64(p.row[p.a.n()])
	if need < small {
		return nil
	}
	what := fmt.Sprintf("rw for graphs of %d and %d vertices", p.a.n(), p.b.n())
	return work.CheckMemory(what, need*float64(work.Workers(ctx)), work.Memory(ctx), "take a kernel that counts, such as wl, or labels that tell more vertices apart")
}

// multiply sets to = A× from.
func (p *product) multiply(ctx context.Context, to, from []float64) error {
	a, b, y := p.a, p.b, p.y
	for u := range a.n() {
		if u%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		z := to[p.row[u]:p.row[u+1]]
		if len(z) == 0 {
			continue
		}
		clear(y)
		for _, v := range a.neighbors(u) {
			x := from[p.row[v]:p.row[v+1]]
			run := y[p.run[v].start:p.run[v].end]
			run = run[:len(x)]
			for i, s := range x {
				run[i] += s
			}
		}
		for i := range z {
			s := 0.0
			for _, v := range b.neighbors(int(p.run[u].start) + i) {
				s += y[v]
			}
			z[i] = s
		}
	}
	return nil
}

// rho returns a bound of the largest eigenvalue ρ(G, G) of the product of a graph with itself. For
// two graphs,
//
//	ρ(G, G')² ≤ ρ(G, G) ρ(G', G'),
//
// as the numbers of pairs of closed walks with the same labels are dot products.
func (p *product) rho(ctx context.Context, g *sortedGraph) (float64, error) {
	p.reset(g, g)
	if err := p.fits(ctx); err != nil {
		return 0, err
	}
	n := p.row[g.n()]
	scale := 1.0 // no row sum of the product is larger
	for v := range g.n() {
		d := float64(len(g.neighbors(v)))
		scale = max(scale, d*d)
	}
	if n == 0 {
		return 0, nil
	}
	rho, err := collatz(resized(&p.x, n), resized(&p.z, n), func(y, x []float64) error {
		err := p.multiply(ctx, y, x)
		for i := range y {
			y[i] /= scale
		}
		return err
	})
	return max(0, rho) * scale * (1 + 1e-12), err // rounding in the sums
}

// walks returns Σ_i μ_i 1ᵀA×^i 1. Powers of two are taken out of numbers of walks that grow beyond
// 2⁵¹², and put into weights that fall below 2⁻⁵¹². That changes no digit.
func (p *product) walks(ctx context.Context, a, b *sortedGraph) (float64, error) {
	p.reset(a, b)
	if err := p.fits(ctx); err != nil {
		return 0, err
	}
	n, k := p.row[p.a.n()], p.walk
	lambda, terms := k.Lambda, k.P+1
	if k.P == 0 {
		if lambda = a.lambda; b.lambda != lambda {
			lambda = math.Sqrt(a.lambda) * math.Sqrt(b.lambda)
		}
		terms = k.Series.terms(lambda * math.Sqrt(a.rho*b.rho))
	}
	power, next := 0, 0 // taken out of x_j = A×^j 1 and of x_{j+1}
	large := false      // x_{j+1} may get large
	multiply := func(z, x []float64) error {
		err := p.multiply(ctx, z, x)
		if next = power; large {
			next += 256
			for i := range z {
				z[i] *= 0x1p-256
			}
		}
		return err
	}
	sum, weight, given := 0.0, 1.0, 0 // given: power that is put into the weight
	err := moments(terms, resized(&p.x, n), resized(&p.z, n), multiply, func(i int, m float64) {
		if i == 0 && k.AllPairs {
			m = float64(a.n()) * float64(b.n())
		}
		if i%2 == 0 { // x_j·x_j
			sum += math.Ldexp(float64(weight*m), 2*power-given)
			large = m > 0x1p512
		} else { // x_j·x_{j+1}
			sum += math.Ldexp(float64(weight*m), power+next-given)
			power = next
		}
		if weight = k.Series.next(weight, lambda, i); weight < 0x1p-512 {
			weight, given = weight*0x1p256, given+256
		}
	})
	return sum, err
}
