package mlg

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/spd"
)

// Attribution says how a function f of kernel values k(G, H_i) depends on the vertices of G.
// Every vertex v of G has a factor s_v that multiplies its base features q₀(v); derivatives
// are taken at s = 1 with the model and the graphs H_i fixed (docs/explain.md).
type Attribution struct {
	// Levels are those whose kernels k_ℓ enter the combination: L alone, or 0 … L.
	Levels []int
	// LevelLogK has log k_ℓ(G, H_i) in row ℓ of Levels and column i.
	LevelLogK *kernel.Matrix
	// LogK has log k(G, H_i), combined over levels.
	LogK []float64
	// Through has, for each of Levels and each vertex v, the part of ∂f/∂s_v that enters f
	// through k_ℓ. The parts add up to ∂f/∂s_v.
	Through [][]float64
	// Features has, for each level 0 … L and each vertex v, the derivative of f with respect
	// to a factor of the features q_ℓ(v) alone, those of the levels below being what they
	// are: what the neighbourhood N_ℓ(v) as a whole contributes. At level 0 it is ∂f/∂s_v.
	Features [][]float64
}

// Attribute differentiates a function f of the values log k(G, H_i) with respect to factors
// of the base features of the vertices of g, by reverse accumulation through all levels. The
// H_i are graphs that the model has transformed. slopes receives log k(G, H_i) and returns
// ∂f/∂log k(G, H_i): 1 for f = log k, c_i·exp(log k_i) for f = Σ c_i k_i.
//
// The base features of all vertices of g are multiplied by a factor σ ≥ 0 first: derivatives are
// those with respect to log s_v at s = σ. For σ = 1 they are ∂f/∂s_v.
//
// With n vertices in c classes at a level, Ñ landmarks and rank P it takes O(c Ñ P³ + n Ñ P²)
// time, and what solving with the Laplacians of the n neighbourhoods takes.
func (m *Model) Attribute(ctx context.Context, g *graph.Graph, factor float64, others *Covariances, slopes func(logK []float64) []float64) (*Attribution, error) {
	if !(factor >= 0) || math.IsInf(factor, 1) {
		return nil, fmt.Errorf("factor of the base features %v, want a finite number that is not negative", factor)
	}
	t, err := m.record(ctx, g, factor)
	if err != nil {
		return nil, err
	}
	n, top := others.Len(), len(m.kernel.Radii)
	a := &Attribution{LevelLogK: kernel.NewMatrix(len(t.whole.levels), n), Features: make([][]float64, top+1)}
	for c, b := range t.whole.levels {
		a.Levels = append(a.Levels, top+1-len(t.whole.levels)+c)
		spd.LogCross(a.LevelLogK.Row(c), n, b, 0, 1, others.levels[c], 0, n)
	}
	var share []float64 // ∂log k(G, H_i)/∂log k_ℓ(G, H_i), laid out as LevelLogK
	a.LogK, share = m.kernel.combineLogs(a.LevelLogK)
	for i, x := range a.LogK {
		if math.IsNaN(x) {
			return nil, fmt.Errorf("kernel with graph %d: %w", i, errPrecision)
		}
	}
	slope := slopes(a.LogK)
	if len(slope) != n {
		panic(fmt.Sprintf("mlg: Attribute: %d slopes for %d kernel values", len(slope), n))
	}

	r := newReverse(m, g, t, len(a.Levels))
	a.Through = make([][]float64, r.channels)
	var adj []float64 // of the features of this level, by vertex and channel
	for level := top; level >= 0; level-- {
		p := m.projections[level].p
		below := make([]float64, g.N()*r.channels*p)
		if level < top {
			if err := r.neighbourhoods(ctx, below, adj, level+1); err != nil {
				return nil, err
			}
		}
		adj = below
		if c := level - a.Levels[0]; c >= 0 {
			w := make([]float64, n)
			for i := range w {
				w[i] = slope[i] * share[c*n+i]
			}
			if err := r.wholeGraph(adj, level, c, others.levels[c], w); err != nil {
				return nil, err
			}
		}
		a.Features[level] = make([]float64, g.N())
		for c := range r.channels {
			part := make([]float64, g.N())
			for v := range part {
				part[v] = dense.Dot(adj[(v*r.channels+c)*p:][:p], t.row(level, v))
				a.Features[level][v] += part[v]
			}
			a.Through[c] = part // that of level 0 remains
		}
	}
	return a, nil
}

// combineLogs combines the levels, rows of l, into log k. share has ∂log k/∂log k_ℓ.
func (k *Kernel) combineLogs(l *kernel.Matrix) (logK, share []float64) {
	logK, share = make([]float64, l.Cols), make([]float64, len(l.Data))
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
				share[c*l.Cols+i] = w * math.Exp(l.At(c, i)-most)
				sum += share[c*l.Cols+i]
			}
			for c := range l.Rows {
				share[c*l.Cols+i] = power * (share[c*l.Cols+i] + product) / sum
			}
			logK[i] = power * (most + math.Log(sum))
			continue
		}
		w := power
		if k.Combine == GeometricMean {
			w /= float64(l.Rows)
		}
		for c := range l.Rows {
			share[c*l.Cols+i] = w
			logK[i] += w * l.At(c, i)
		}
	}
	return logK, share
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

// record is Transform of one graph whose base features are multiplied by a factor, and keeps what
// is on the way. Every class is compared through its covariance, which derivatives need.
func (m *Model) record(ctx context.Context, g *graph.Graph, factor float64) (*recording, error) {
	r := &recording{}
	return r, m.climb(ctx, []*graph.Graph{g}, &r.whole, func(at *level) error {
		if at.number == 0 {
			r.levels = append(r.levels, recorded{level: at})
			err := m.project(ctx, at)
			for i := range at.rows {
				at.rows[i] *= factor
			}
			return err
		}
		s, err := m.covariances(ctx, at, at.all())
		if err != nil {
			return err
		}
		p, n := &m.projections[at.number], at.len()
		k := make([]float64, n*p.n)
		spd.Cross(k, p.n, s, 0, n, p.marks, 0, p.n)
		at.features = features{make([]float64, n*p.p), p.p}
		dense.Multiply(at.rows, k, p.w, n, p.n, p.p)
		r.levels = append(r.levels, recorded{at, s, k})
		return nil
	})
}

// reverse carries adjoints, derivatives of f with respect to recorded quantities, down
// the levels. Each level that enters the kernel has a channel of its own, so that the parts
// of the derivative stay apart. Adjoints of features are laid out by vertex, channel and
// feature.
type reverse struct {
	m        *Model
	g        *graph.Graph
	t        *recording
	channels int

	vertices []int32  // 0 … n−1
	keys     []uint64 // the same

	ball, cells graph.Scratch
	quot        graph.Quotient
	chol        sparseFactor
	x, y        []float64
	full        []float64
}

func newReverse(m *Model, g *graph.Graph, t *recording, channels int) *reverse {
	r := &reverse{m: m, g: g, t: t, channels: channels}
	for v := range g.N() {
		r.vertices, r.keys = append(r.vertices, int32(v)), append(r.keys, uint64(v))
	}
	return r
}

// wholeGraph adds to adj the adjoint of the features of a level that comes from S_G: with
// the weights w_i = ∂f/∂log k_ℓ(G, H_i),
//
//	∂f/∂S_G = Σ_i w_i·¼(S_G⁻¹ − 2(S_G + S_i)⁻¹).
func (r *reverse) wholeGraph(adj []float64, level, channel int, others *spd.Batch, w []float64) error {
	b := r.t.whole.levels[channel]
	p := b.Order()
	d := make([]float64, spd.Size(p))
	if !new(gradient).add([][]float64{d}, [][]float64{w}, b.At(0, nil), others) {
		return errPrecision
	}
	return r.pull(adj, d, r.vertices, nil, level, channel, channel+1)
}

// neighbourhoods adds to below the adjoint of the features of level−1 that comes from those
// of level, adj: through q = k W, k = k(S, landmark) and S of every neighbourhood.
func (r *reverse) neighbourhoods(ctx context.Context, below, adj []float64, level int) error {
	proj := &r.m.projections[level]
	at := r.t.levels[level]
	first := r.first(level)
	active := r.channels - first
	size := spd.Size(r.m.projections[level-1].p)
	// Vertices of one class share its covariance, hence all inverses.
	members := make([][]int32, at.len())
	for v, c := range at.of[0] {
		members[c] = append(members[c], int32(v))
	}
	d := make([]float64, r.g.N()*active*size)
	workers := make([]gradient, kernel.Workers(ctx))
	err := kernel.Each(ctx, len(members), 1, func(wi, c int) error {
		k := at.kernels[c*proj.n : (c+1)*proj.n]
		var dst, weights [][]float64
		for _, v := range members[c] {
			for ch := range active {
				a := adj[(int(v)*r.channels+first+ch)*proj.p:][:proj.p]
				w := make([]float64, proj.n)
				for i := range w {
					w[i] = k[i] * dense.Dot(a, proj.w[i*proj.p:(i+1)*proj.p])
				}
				weights = append(weights, w)
				dst = append(dst, d[(int(v)*active+ch)*size:][:size])
			}
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
		if err := r.pull(below, d[v*active*size:(v+1)*active*size], set, tag, level-1, first, r.channels); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first channel whose level is the given one or above it.
func (r *reverse) first(level int) int {
	return max(0, level-(len(r.m.projections)-r.channels))
}

// pull adds to adj the adjoint of the features q of the vertices of a set that comes from
// that of their covariance S = γI + ZᵀL⁻¹Z, with the rows Z_u = q(u)/(1+tag_u): with D = ∂f/∂S,
//
//	∂f/∂Z = 2 L⁻¹ Z D,   ∂f/∂q(u) = (∂f/∂Z)_u/(1+tag_u).
//
// d has a packed D for each of the channels from … to−1.
func (r *reverse) pull(adj, d []float64, set, tag []int32, level, from, to int) error {
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
	if !r.chol.run(&r.quot, r.m.kernel.Eta, r.x, p) {
		return errOverflow
	}
	r.chol.back(r.x, p)
	size := spd.Size(p)
	r.full, r.y = dense.Grow(r.full, p*p), dense.Grow(r.y, p)
	for ch := from; ch < to; ch++ {
		packed := d[(ch-from)*size:][:size]
		for i := range p {
			for j := range i + 1 {
				r.full[i*p+j], r.full[j*p+i] = packed[spd.Index(i, j)], packed[spd.Index(i, j)]
			}
		}
		// Row k of x belongs to the vertex that was eliminated at step k.
		for k, i := range r.chol.perm {
			clear(r.y)
			for c, v := range r.x[k*p : (k+1)*p] {
				if v != 0 {
					dense.Axpy(r.y, v, r.full[c*p:(c+1)*p])
				}
			}
			dense.Axpy(adj[(int(r.quot.Class[i])*r.channels+ch)*p:][:p], 2/float64(1+r.quot.Tag[i]), r.y)
		}
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
