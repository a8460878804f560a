package mlg

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/spd"
)

// maxExplicit is the largest dimension of explicit base features that enter level 0 as they
// are, without sampling: as large as the covariances that package spd is fast for.
const maxExplicit = 64

// Fit builds the low-rank MLG kernel of the paper from training graphs: level by level it
// chooses landmarks, diagonalises their Gram matrix, and gives every neighbourhood class the
// row q of its projection on their leading eigenvectors (docs/math.md, Low rank). Targets
// are not looked at.
//
// With c classes of m cells at a level, Ñ landmarks of rank P it takes O(c(m P² + Ñ P³) + Ñ³) time,
// for m and cells of the landmarks well below P only O(c Ñ (m³ + m P)), and O(c P) memory; large
// sparse quotients cost what their sparse factors cost, not m³.
func Fit(ctx context.Context, graphs []*graph.Graph, o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := &Model{o: o, base: o.Base}
	if m.base == nil {
		m.base = ChooseBase(graphs)
	}
	train, err := m.run(ctx, graphs, true)
	if err != nil {
		return nil, err
	}
	m.train = train
	return m, nil
}

// Model is a fitted low-rank MLG kernel: all that is needed to give a new graph the same
// features as a training graph. It is not changed by its methods, which may be called
// concurrently.
type Model struct {
	o      Options
	base   Base
	levels []projection // 0 … L
	counts []int        // classes of the training graphs by level; nil when read from a file
	train  *Covariances
}

// projection turns the classes of one level into rows of features.
type projection struct {
	// Level 0: descriptors of the landmarks, or, when explicit, of all training vertices.
	desc     []string
	explicit func(dst []float64, d string)
	// Level ≥ 1: covariances of the landmarks, and the same as factors of low rank, if γ and η
	// are large enough for these.
	marks   *spd.Batch
	factors *spd.Factors

	n, p   int       // landmarks and rank
	w      []float64 // n×p: D^½ U Λ^-½, D the counts of the landmarks
	values []float64 // the eigenvalues Λ
}

// Covariances are the matrices S of graphs under a model: for each level that enters the
// kernel, one packed matrix per graph with its log-determinant.
type Covariances struct {
	levels []*spd.Batch
}

// Len returns the number of graphs.
func (c *Covariances) Len() int { return c.levels[0].Len() }

// Matrix returns the packed lower triangle of S of graph i, for the last level that enters
// the kernel, its order and its log-determinant.
func (c *Covariances) Matrix(i int) (packed []float64, order int, logDet float64) {
	b := c.levels[len(c.levels)-1]
	return b.At(i, nil), b.Order(), b.LogDet(i)
}

// Base returns the base kernel.
func (m *Model) Base() Base { return m.base }

// Options returns the options that the model was fitted with.
func (m *Model) Options() Options { return m.o }

// Classes returns the number of distinct neighbourhoods of the training graphs at a level,
// 0 … L; 0 for a model that was made from a Snapshot.
func (m *Model) Classes(level int) int {
	if m.counts == nil {
		return 0
	}
	return m.counts[level]
}

// Samples returns the number of distinct landmarks at a level, 0 … L.
func (m *Model) Samples(level int) int { return m.levels[level].n }

// Rank returns the number of features at a level, 0 … L.
func (m *Model) Rank(level int) int { return m.levels[level].p }

// Eigenvalues returns those of the landmarks' Gram matrix at a level that were kept,
// descending; nil at level 0 when the base features are explicit.
func (m *Model) Eigenvalues(level int) []float64 { return m.levels[level].values }

// Train returns the covariances of the training graphs.
func (m *Model) Train() *Covariances { return m.train }

// Transform returns the covariances of graphs. Those of a graph depend on the model and the
// graph alone, not on its vertex order or on the other graphs, to the bit.
func (m *Model) Transform(ctx context.Context, graphs []*graph.Graph) (*Covariances, error) {
	return m.run(ctx, graphs, false)
}

// run computes the covariances of graphs level by level; when fitting, it makes the
// projections on the way.
func (m *Model) run(ctx context.Context, graphs []*graph.Graph, fit bool) (*Covariances, error) {
	o := &m.o
	end := o.trace("classes")
	dim := 0
	if !fit {
		dim = m.Attributes()
	}
	s, err := describe(ctx, graphs, m.base, dim, o)
	end()
	if err != nil {
		return nil, err
	}
	out := &Covariances{}
	var q []float64 // by class of the level below: its features
	for level := range len(o.Radii) + 1 {
		if level > 0 {
			end := o.trace("classes")
			s, err = neighbourhoods(ctx, graphs, s, level, o)
			end()
			if err != nil {
				return nil, err
			}
		}
		if fit {
			proj, err := m.projection(ctx, s, level, q)
			if err != nil {
				return nil, err
			}
			m.levels = append(m.levels, *proj)
			m.counts = append(m.counts, s.classes())
		}
		if q, err = m.rows(ctx, s, level, q); err != nil {
			return nil, err
		}
		if o.Combine == Top && level < len(o.Radii) {
			continue
		}
		b, err := m.top(ctx, graphs, s, level, q)
		if err != nil {
			return nil, err
		}
		out.levels = append(out.levels, b)
	}
	return out, nil
}

// projection chooses the landmarks of a level and diagonalises their Gram matrix.
func (m *Model) projection(ctx context.Context, s *scale, level int, below []float64) (*projection, error) {
	o := &m.o
	if level == 0 {
		if f, dim := m.base.Features(s.desc, maxExplicit); dim > 0 {
			return &projection{desc: s.desc, explicit: f, n: len(s.desc), p: dim}, nil
		}
	}
	var marks []landmark
	if o.Landmarks == Pivoted {
		var err error
		if marks, err = m.pivoted(ctx, s, level, below); err != nil {
			return nil, err
		}
	} else {
		marks = draw(s, o.Landmarks, o.Samples, o.Seed, level)
	}
	n := len(marks)
	proj := &projection{n: n}
	end := o.trace("landmarks")
	k := make([]float64, n*n)
	if level == 0 {
		for _, a := range marks {
			proj.desc = append(proj.desc, s.desc[a.class])
		}
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		if err := (&baseValues{m.base, proj.desc}).block(k, all, all); err != nil {
			return nil, err
		}
		end()
	} else {
		classes := make([]int32, n)
		for i, a := range marks {
			classes[i] = a.class
		}
		var err error
		if proj.marks, err = m.covariances(ctx, s, classes, level, below); err != nil {
			return nil, err
		}
		proj.factor(o)
		end() // kernels traces its parts
		workers := make([]featurer, o.Workers)
		const block = 16 // landmarks share few cells; small blocks keep all workers busy
		err = parallel(ctx, o.Workers, (n+block-1)/block, 1, func(w, b int) error {
			lo, hi := b*block, min((b+1)*block, n)
			return workers[w].kernels(k[lo*n:hi*n], m, proj, s, level, classes[lo:hi], below)
		})
		if err != nil {
			return nil, err
		}
		for i := range n {
			for j := range i {
				k[j*n+i] = k[i*n+j] // equal but for rounding
			}
		}
	}
	root := make([]float64, n)
	for i, a := range marks {
		root[i] = math.Sqrt(float64(a.count))
	}
	for i := range n {
		for j := range n {
			k[i*n+j] *= root[i] * root[j]
		}
	}
	end = o.trace("eigen")
	rank := o.Rank
	if o.Landmarks != Uniform {
		rank = n // principal takes the leading part
	}
	values, vectors, err := leadingEigen(k, n, rank, o.Workers)
	if err != nil {
		return nil, fmt.Errorf("level %d: %w", level, err)
	}
	// Eigenvalues of a Gram matrix carry an absolute error of about n·ε·λ₁.
	p := 0
	for p < len(values) && values[p] > float64(n)*epsilon*values[0] {
		p++
	}
	proj.p = max(1, p) // a feature that is always 0 stands for none
	proj.values = values[:p]
	proj.w = make([]float64, n*proj.p)
	for i := range n {
		for j := range p {
			proj.w[i*proj.p+j] = root[i] * vectors[i*len(values)+j] / math.Sqrt(values[j])
		}
	}
	end()
	if o.Landmarks != Uniform && proj.p > o.Rank {
		if err := m.principal(ctx, proj, s, level, below); err != nil {
			return nil, err
		}
	}
	return proj, nil
}

// pivoted chooses landmarks by pivoted Cholesky.
func (m *Model) pivoted(ctx context.Context, s *scale, level int, below []float64) ([]landmark, error) {
	end := m.o.trace("landmarks")
	defer end()
	n := s.classes()
	diag := make([]float64, n)
	if level == 0 {
		v := &baseValues{m.base, s.desc}
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
			if err := v.block(diag[i:i+1], all[i:i+1], all[i:i+1]); err != nil {
				return nil, err
			}
		}
		return pivot(s, m.o.Samples, diag, func(dst []float64, c int32) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return v.block(dst, []int32{c}, all)
		})
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
		diag[i] = 1
	}
	b, err := m.covariances(ctx, s, all, level, below)
	if err != nil {
		return nil, err
	}
	return pivot(s, m.o.Samples, diag, func(dst []float64, c int32) error {
		const block = 4096
		return parallel(ctx, m.o.Workers, (n+block-1)/block, 1, func(_, k int) error {
			lo, hi := k*block, min((k+1)*block, n)
			spd.Cross(dst[lo:hi], hi-lo, b, int(c), int(c)+1, b, lo, hi)
			return nil
		})
	})
}

// former computes covariances; it holds the buffers of one worker.
type former struct {
	q graph.Quotient
	e eliminator
	y []float64
	s []float64
}

// form returns S = γI + YᵀY, packed, of a quotient whose cells have the features q, p a row.
func (f *former) form(sig []uint32, q []float64, p int, o *Options) ([]float64, error) {
	f.q.Decode(sig)
	m := f.q.Cells()
	f.y = resize(f.y, m*p)
	for i, c := range f.q.Class {
		scale := float64(f.q.Size[i]) / float64(1+f.q.Tag[i])
		row := f.y[i*p : (i+1)*p]
		for k, v := range q[int(c)*p : (int(c)+1)*p] {
			row[k] = scale * v
		}
	}
	if !f.e.run(&f.q, o.Eta, f.y, p) {
		return nil, errPrecision
	}
	f.s = resize(f.s, spd.Size(p))
	clear(f.s)
	spd.AddGram(f.s, f.y[:m*p], m, p)
	for i := range p {
		f.s[spd.Index(i, i)] += o.Gamma
	}
	return f.s, nil
}

// covariances returns the matrices S of the given classes of a level ≥ 1.
func (m *Model) covariances(ctx context.Context, s *scale, classes []int32, level int, below []float64) (*spd.Batch, error) {
	p := m.levels[level-1].p
	b := spd.NewBatch(len(classes), p)
	workers := make([]former, m.o.Workers)
	err := parallel(ctx, m.o.Workers, len(classes), 16, func(w, i int) error {
		packed, err := workers[w].form(s.sig[classes[i]], below, p, &m.o)
		if err != nil {
			return err
		}
		return b.Set(i, packed)
	})
	return b, err
}

// featureBlock is the number of classes whose kernel with the landmarks is computed at a time,
// for each worker.
const featureBlock = 64

// featurer computes features of classes, block by block; it holds the buffers of one worker.
type featurer struct {
	former
	batch   *spd.Batch
	k       []float64
	classes []int32
	cells   cellwise
}

// block writes the features of the classes lo … hi-1 of a level, at most featureBlock, to
// dst; below has those of the level below.
func (f *featurer) block(dst []float64, m *Model, proj *projection, s *scale, level, lo, hi int, below []float64) error {
	if level == 0 {
		m.baseRows(dst, s.desc[lo:hi], proj, &f.k)
		return nil
	}
	f.classes = f.classes[:0]
	for c := lo; c < hi; c++ {
		f.classes = append(f.classes, int32(c))
	}
	f.k = resize(f.k, (hi-lo)*proj.n)
	if err := f.kernels(f.k, m, proj, s, level, f.classes, below); err != nil {
		return err
	}
	end := m.o.trace("landmarks")
	spd.Project(dst, f.k, proj.w, hi-lo, proj.n, proj.p)
	end()
	return nil
}

// kernels writes the kernel of classes of a level ≥ 1, at most featureBlock, with its landmarks
// to the rows of dst. Covariances of classes with many cells are computed, and live only until
// their kernel is known; those of others are compared by their cells.
func (f *featurer) kernels(dst []float64, m *Model, proj *projection, s *scale, level int, classes []int32, below []float64) error {
	order := m.levels[level-1].p
	full := f.cells.compare(dst, proj, s, classes, below, order, &m.o)
	if len(full) == 0 {
		return nil
	}
	if f.batch == nil {
		f.batch = spd.NewBatch(featureBlock, order)
	}
	end := m.o.trace("factor")
	for k, i := range full {
		packed, err := f.form(s.sig[classes[i]], below, order, &m.o)
		if err != nil {
			return err
		}
		if err := f.batch.Set(k, packed); err != nil {
			return err
		}
	}
	end()
	end = m.o.trace("landmarks")
	for lo := 0; lo < len(full); {
		hi := lo + 1 // rows of dst that follow one another
		for hi < len(full) && full[hi] == full[hi-1]+1 {
			hi++
		}
		spd.Cross(dst[full[lo]*proj.n:], proj.n, f.batch, lo, hi, proj.marks, 0, proj.n)
		lo = hi
	}
	end()
	return nil
}

// rows returns the features of all classes of a level, p a row.
func (m *Model) rows(ctx context.Context, s *scale, level int, below []float64) ([]float64, error) {
	proj := &m.levels[level]
	n, p := s.classes(), proj.p
	q := make([]float64, n*p)
	workers := make([]featurer, m.o.Workers)
	meter := newMeter(m.o.Progress, fmt.Sprintf("features %d/%d", level, len(m.o.Radii)), int64(n))
	err := parallel(ctx, m.o.Workers, (n+featureBlock-1)/featureBlock, 1, func(w, b int) error {
		lo, hi := b*featureBlock, min((b+1)*featureBlock, n)
		defer meter.add(int64(hi - lo))
		return workers[w].block(q[lo*p:hi*p], m, proj, s, level, lo, hi, below)
	})
	return q, err
}

// principal replaces the features of a projection by their leading principal components over
// all vertices: the rank directions of the landmarks' span that keep most of Σ_v |q(v)|².
func (m *Model) principal(ctx context.Context, proj *projection, s *scale, level int, below []float64) error {
	n, p := s.classes(), proj.p
	// Sums over fixed parts, added in order, do not depend on the number of workers.
	parts := min(32, (n+featureBlock-1)/featureBlock)
	sums := make([][]float64, parts)
	workers := make([]featurer, m.o.Workers)
	err := parallel(ctx, m.o.Workers, parts, 1, func(w, part int) error {
		sum := make([]float64, spd.Size(p))
		q := make([]float64, featureBlock*p)
		for lo := part * n / parts; lo < (part+1)*n/parts; lo += featureBlock {
			hi := min(lo+featureBlock, (part+1)*n/parts)
			rows := q[:(hi-lo)*p]
			if err := workers[w].block(rows, m, proj, s, level, lo, hi, below); err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				f := math.Sqrt(float64(s.count[i]))
				for j := range p {
					rows[(i-lo)*p+j] *= f
				}
			}
			spd.AddGram(sum, rows, hi-lo, p)
		}
		sums[part] = sum
		return nil
	})
	if err != nil {
		return err
	}
	end := m.o.trace("eigen")
	defer end()
	c := make([]float64, p*p)
	for _, sum := range sums {
		for i := range p {
			for j := range i + 1 {
				c[i*p+j] += sum[spd.Index(i, j)]
				c[j*p+i] = c[i*p+j]
			}
		}
	}
	values, vectors, err := leadingEigen(c, p, m.o.Rank, m.o.Workers)
	if err != nil {
		return err
	}
	rank := len(values)
	w := make([]float64, proj.n*rank)
	for i := range proj.n {
		for j := range p {
			axpy(w[i*rank:(i+1)*rank], proj.w[i*p+j], vectors[j*rank:(j+1)*rank])
		}
	}
	proj.w, proj.p, proj.values = w, rank, values
	return nil
}

// baseRows writes the features of descriptors at level 0. k is a buffer for their kernel with the
// landmarks.
func (m *Model) baseRows(dst []float64, desc []string, proj *projection, k *[]float64) {
	p := proj.p
	if proj.explicit != nil {
		for i, d := range desc {
			proj.explicit(dst[i*p:(i+1)*p], d)
		}
		return
	}
	*k = resize(*k, len(desc)*proj.n)
	m.base.Gram(*k, desc, proj.desc)
	spd.Project(dst, *k, proj.w, len(desc), proj.n, p)
}

// top returns the covariances of whole graphs whose vertices have the features q of a level.
func (m *Model) top(ctx context.Context, graphs []*graph.Graph, s *scale, level int, q []float64) (*spd.Batch, error) {
	p := m.levels[level].p
	end := m.o.trace("classes")
	sigs, err := wholeGraphs(ctx, graphs, s, &m.o)
	end()
	if err != nil {
		return nil, err
	}
	end = m.o.trace("factor")
	defer end()
	b := spd.NewBatch(len(graphs), p)
	workers := make([]former, m.o.Workers)
	err = parallel(ctx, m.o.Workers, len(graphs), 4, func(w, i int) error {
		packed, err := workers[w].form(sigs[i], q, p, &m.o)
		if err == nil {
			err = b.Set(i, packed)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", graphName(graphs, i), err)
		}
		return nil
	})
	return b, err
}
