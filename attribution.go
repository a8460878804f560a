package mlg

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// Attribute returns the slopes ∂f/∂s_v at s = 1 of a function f of the kernel values k(G, H_i) with
// graphs H_i, given as features, and ∂f/∂log k(G, H_i). Every vertex v of G has a factor s_v that
// multiplies its base features q₀(v); the model and the H_i are fixed
// (docs/explanation/explain.md). Derivatives are carried through all levels by reverse
// accumulation. It panics if there are not as many slopes as graphs H_i.
//
// With n vertices in c classes at a level, Ñ landmarks and rank P it takes O(c Ñ P³ + n Ñ P²)
// time, and what solving with the Laplacians of the n neighbourhoods takes.
func (m *LowRank) Attribute(ctx context.Context, g *graph.Graph, others kernel.Features, slopes []float64) ([]float64, error) {
	train := others.(*Covariances)
	t, err := m.record(ctx, g)
	if err != nil {
		return nil, err
	}
	n, top := train.Len(), len(m.kernel.Radii)
	if len(slopes) != n {
		panic(fmt.Sprintf("mlg: Attribute: %d slopes for %d graphs", len(slopes), n))
	}
	first := top + 1 - len(t.whole.levels) // the first level that enters the kernel
	logs := kernel.NewMatrix(len(t.whole.levels), n)
	for c, b := range t.whole.levels {
		spd.LogCross(logs.Row(c), n, b, 0, 1, train.levels[c], 0, n)
	}
	for i, x := range logs.Data {
		if math.IsNaN(x) {
			return nil, fmt.Errorf("kernel with graph %d: %w", i%n, errPrecision)
		}
	}
	share := m.kernel.levelShares(logs)
	r := newReverse(m, g, t)
	var adj []float64 // of the features of this level, by vertex
	for level := top; level >= 0; level-- {
		below := make([]float64, g.N()*m.projections[level].p)
		if level < top {
			if err := r.neighbourhoods(ctx, below, adj, level+1); err != nil {
				return nil, err
			}
		}
		adj = below
		if c := level - first; c >= 0 {
			w := make([]float64, n)
			for i := range w {
				w[i] = slopes[i] * share.At(c, i)
			}
			if err := r.wholeGraph(adj, level, t.whole.levels[c], train.levels[c], w); err != nil {
				return nil, err
			}
		}
	}
	out, p := make([]float64, g.N()), m.projections[0].p
	for v := range out {
		out[v] = dense.Dot(adj[v*p:][:p], t.row(0, v))
	}
	return out, nil
}

// levelShares returns ∂log k/∂log k_ℓ for the logarithms of the kernels of the levels, rows of l.
func (k *Kernel) levelShares(l *kernel.Matrix) *kernel.Matrix {
	share := kernel.NewMatrix(l.Rows, l.Cols)
	power := float64(k.Power)
	for i := range l.Cols {
		if k.Combine == Sum || k.Combine == Mixed {
			// log k = t·log of a sum of exponentials; the largest is taken out of the sum.
			most, all := math.Inf(-1), 0.0
			for c := range l.Rows {
				most = max(most, l.At(c, i))
				all += l.At(c, i)
			}
			most = max(most, all)
			top, each, product := 0.0, 1/float64(l.Rows), 0.0
			if k.Combine == Mixed {
				top, each, product = 1.0/3, each/3, math.Exp(all-most)/3
			}
			sum := product
			for c := range l.Rows {
				w := each
				if c == l.Rows-1 {
					w += top
				}
				share.Set(c, i, w*math.Exp(l.At(c, i)-most))
				sum += share.At(c, i)
			}
			for c := range l.Rows {
				share.Set(c, i, power*(share.At(c, i)+product)/sum)
			}
			continue
		}
		w := power
		if k.Combine == GeometricMean {
			w /= float64(l.Rows)
		}
		for c := range l.Rows {
			share.Set(c, i, w)
		}
	}
	return share
}

// recording is what a graph leaves on its way up through a model.
type recording struct {
	levels []recorded // 0 … L
	whole  Covariances
}

// recorded is a level with, above 0, the covariances of its classes and their kernel with the
// landmarks.
type recorded struct {
	*level
	covariances *spd.Batch
	kernels     []float64
}

// row returns the features of a vertex.
func (r *recording) row(level, v int) []float64 {
	at := r.levels[level]
	return at.row(at.of[0][v])
}

// record transforms one graph as Transform does, and keeps what it computes on the way. Every class
// is compared through its covariance, which derivatives need.
func (m *LowRank) record(ctx context.Context, g *graph.Graph) (*recording, error) {
	graphs, r := []*graph.Graph{g}, &recording{}
	return r, m.climb(ctx, graphs, func(at *level) error {
		now := recorded{level: at}
		if at.number == 0 {
			if err := m.project(ctx, at); err != nil {
				return err
			}
		} else {
			var err error
			if now.covariances, err = m.covariances(ctx, at, at.all()); err != nil {
				return err
			}
			p, n := &m.projections[at.number], at.len()
			now.kernels = make([]float64, n*p.n)
			spd.Cross(now.kernels, p.n, now.covariances, 0, n, p.marks, 0, p.n)
			at.features = features{make([]float64, n*p.p), p.p}
			dense.Multiply(at.rows, now.kernels, p.w, n, p.n, p.p)
		}
		r.levels = append(r.levels, now)
		return m.enter(ctx, graphs, at, &r.whole)
	})
}

// reverse carries adjoints, derivatives of f with respect to recorded quantities, down the levels.
// Adjoints of features are laid out by vertex and feature.
type reverse struct {
	m *LowRank
	g *graph.Graph
	t *recording

	vertices []int32  // 0 … n−1
	keys     []uint64 // the same

	ball, cells graph.Scratch
	quot        graph.Quotient
	solver      eliminator
	x, y        []float64
	full        []float64
}

func newReverse(m *LowRank, g *graph.Graph, t *recording) *reverse {
	r := &reverse{m: m, g: g, t: t}
	for v := range g.N() {
		r.vertices, r.keys = append(r.vertices, int32(v)), append(r.keys, uint64(v))
	}
	return r
}

// wholeGraph adds to adj the adjoint of the features of a level that comes from S_G of the whole
// graph. With the matrices S_i of the training graphs and the weights w_i = ∂f/∂log k_ℓ(G, H_i),
//
//	∂f/∂S_G = Σ_i w_i·¼(S_G⁻¹ − 2(S_G + S_i)⁻¹).
func (r *reverse) wholeGraph(adj []float64, level int, whole, train *spd.Batch, w []float64) error {
	d := make([]float64, spd.Size(whole.Order()))
	if !new(gradient).add([][]float64{d}, [][]float64{w}, whole.At(0, nil), train) {
		return errPrecision
	}
	return r.pull(adj, d, r.vertices, nil, level)
}

// neighbourhoods adds to below the adjoint of the features of level−1 that comes from those
// of level, adj: through q = k W, k = k(S, landmark) and S of every neighbourhood.
func (r *reverse) neighbourhoods(ctx context.Context, below, adj []float64, level int) error {
	proj := &r.m.projections[level]
	at := r.t.levels[level]
	size := spd.Size(r.m.projections[level-1].p)
	// Vertices of one class share its covariance, hence all inverses.
	members := make([][]int32, at.len())
	for v, c := range at.of[0] {
		members[c] = append(members[c], int32(v))
	}
	d := make([]float64, r.g.N()*size)
	workers := make([]gradient, work.Workers(ctx))
	err := work.Each(ctx, len(members), 1, func(wi, c int) error {
		k := at.kernels[c*proj.n : (c+1)*proj.n]
		var dst, weights [][]float64
		for _, v := range members[c] {
			a := adj[int(v)*proj.p:][:proj.p]
			w := make([]float64, proj.n)
			for i := range w {
				w[i] = k[i] * dense.Dot(a, proj.w[i*proj.p:(i+1)*proj.p])
			}
			weights = append(weights, w)
			dst = append(dst, d[int(v)*size:][:size])
		}
		if !workers[wi].add(dst, weights, at.covariances.At(c, nil), proj.marks) {
			return errPrecision
		}
		return nil
	})
	if err != nil {
		return err
	}
	for v := range r.g.N() {
		if err := ctx.Err(); err != nil {
			return err
		}
		set, tag := r.ball.Ball(r.g, v, r.m.kernel.Radii[level-1]), []int32(nil)
		if r.m.kernel.Discount {
			tag = r.ball.Distances()
		}
		if err := r.pull(below, d[v*size:(v+1)*size], set, tag, level-1); err != nil {
			return err
		}
	}
	return nil
}

// pull adds to adj the adjoint of the features q of a set of vertices that comes from the adjoint
// of their covariance S = γI + ZᵀL⁻¹Z. Its rows are Z_u = q(u)/(1+tag_u). With D = ∂f/∂S, packed in
// d,
//
//	∂f/∂Z = 2 L⁻¹ Z D,   ∂f/∂q(u) = (∂f/∂Z)_u/(1+tag_u).
func (r *reverse) pull(adj, d []float64, set, tag []int32, level int) error {
	n, p := len(set), r.m.projections[level].p
	// Every vertex has a colour, and so a cell, of its own.
	sig, _ := r.cells.Signature(r.g, set, r.keys, r.vertices, tag)
	r.quot.Decode(sig)
	r.x = dense.Grow(r.x, n*p)
	for i, u := range r.quot.Class {
		f := 1 / float64(1+r.quot.Tag[i])
		for c, v := range r.t.row(level, int(u)) {
			r.x[i*p+c] = f * v
		}
	}
	solved, ok := r.solver.solve(&r.quot, r.m.kernel.Eta, r.x, p)
	if !ok {
		return errOverflow
	}
	r.full, r.y = dense.Grow(r.full, p*p), dense.Grow(r.y, p)
	for i := range p {
		for j := range i + 1 {
			r.full[i*p+j], r.full[j*p+i] = d[spd.Index(i, j)], d[spd.Index(i, j)]
		}
	}
	for i := range n {
		clear(r.y)
		for c, v := range solved[i*p : (i+1)*p] {
			if v != 0 {
				dense.Axpy(r.y, v, r.full[c*p:(c+1)*p])
			}
		}
		dense.Axpy(adj[int(r.quot.Class[i])*p:][:p], 2/float64(1+r.quot.Tag[i]), r.y)
	}
	return nil
}

// gradient computes derivatives of log-kernels; it holds the buffers of one worker.
type gradient struct{ inv, m, row []float64 }

// add adds to each packed matrix of dst, with its weights w,
//
//	Σ_i w_i ∂log k(S, B_i)/∂S = Σ_i w_i·¼(S⁻¹ − 2(S + B_i)⁻¹)
//
// for the matrices B_i of b. Here inverses are what is asked for. ok is false when rounding
// makes a matrix singular.
func (g *gradient) add(dst, w [][]float64, s []float64, b *spd.Batch) (ok bool) {
	p := b.Order()
	g.m, g.inv, g.row = dense.Grow(g.m, len(s)), dense.Grow(g.inv, len(s)), dense.Grow(g.row, p)
	copy(g.inv, s)
	if !negInverse(g.inv, p, g.row) {
		return false
	}
	for j, d := range dst {
		var sum float64
		for _, x := range w[j] {
			sum += x
		}
		dense.Axpy(d, -sum/4, g.inv)
	}
	for i := range b.Len() {
		used := false
		for j := range dst {
			used = used || w[j][i] != 0
		}
		if !used {
			continue
		}
		b.At(i, g.m)
		for e, x := range s {
			g.m[e] += x
		}
		if !negInverse(g.m, p, g.row) {
			return false
		}
		for j, d := range dst {
			dense.Axpy(d, w[j][i]/2, g.m)
		}
	}
	return true
}

// negInverse overwrites the packed positive definite matrix a of order p with −a⁻¹ by the
// symmetric sweep operator: sweeping row k out replaces a by
//
//	a_ij − a_ik a_kj/a_kk,   a_ik/a_kk,   −1/a_kk        i, j ≠ k
//
// which is Gauss-Jordan elimination, stable without pivoting for such matrices. Zeros are
// passed over: covariances of one-hot features have many. t holds p numbers.
func negInverse(a []float64, p int, t []float64) (ok bool) {
	for k := range p {
		copy(t, a[spd.Index(k, 0):][:k+1])
		for i := k + 1; i < p; i++ {
			t[i] = a[spd.Index(i, k)]
		}
		d := t[k]
		if !(d > 0) || math.IsInf(d, 1) {
			return false
		}
		inv := 1 / d
		t[k] = -1 // turns the sweep of column k into a_ik/a_kk
		for i := range p {
			x := t[i]
			if x == 0 || i == k {
				continue
			}
			row := a[spd.Index(i, 0):][:i+1]
			if k <= i {
				row[k] = 0
			}
			dense.Axpy(row, -x*inv, t)
		}
		row := a[spd.Index(k, 0):][:k+1]
		for j := range k {
			row[j] = t[j] * inv
		}
		row[k] = -inv
	}
	return true
}
