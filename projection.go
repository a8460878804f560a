package mlg

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// maxExplicit is the largest dimension of explicit base features that enter level 0 as they
// are, without sampling: as large as the covariances that package spd is fast for.
const maxExplicit = 64

// projection turns the classes of one level into rows of features.
type projection struct {
	// Level 0: descriptors of the landmarks, or those that determine the explicit features.
	descriptors []string
	explicit    func(dst []float64, d string)
	// Level ≥ 1: the covariances of the landmarks, and the same as factors of low rank, if γ and η are
	// large enough for these.
	marks   *spd.Batch
	factors *spd.Factors

	n, p   int       // landmarks and rank
	w      []float64 // n×p: D^½ U Λ^-½, D the counts of the landmarks
	values []float64 // the eigenvalues Λ
}

// fitProjection chooses the landmarks of a level and diagonalises their Gram matrix.
func (m *LowRank) fitProjection(ctx context.Context, at *level) (*projection, error) {
	if at.number == 0 {
		if f, dim, needed := m.base.Features(at.descriptor, maxExplicit); dim > 0 {
			p := &projection{explicit: f, n: len(needed), p: dim}
			for _, i := range needed {
				p.descriptors = append(p.descriptors, at.descriptor[i])
			}
			return p, nil
		}
	}
	marks, err := m.landmarks(ctx, at)
	if err != nil {
		return nil, err
	}
	p := &projection{n: len(marks)}
	gram, err := m.landmarkGram(ctx, p, at, marks)
	if err != nil {
		return nil, err
	}
	if err := p.diagonalise(ctx, gram, marks, &m.kernel); err != nil {
		return nil, fmt.Errorf("level %d: %w", at.number, err)
	}
	if m.kernel.Landmarks != Uniform && p.p > m.kernel.Rank {
		return p, m.principal(ctx, p, at)
	}
	return p, nil
}

// landmarkGram sets the landmarks of a projection and returns their Gram matrix.
func (m *LowRank) landmarkGram(ctx context.Context, p *projection, at *level, marks []landmark) ([]float64, error) {
	n := len(marks)
	gram := make([]float64, n*n)
	chosen := make([]int32, n)
	for i, a := range marks {
		chosen[i] = a.class
	}
	if at.number == 0 {
		defer work.Trace(ctx, "landmarks")()
		p.descriptors = at.some(chosen)
		m.base.Gram(gram, p.descriptors, p.descriptors)
		_, err := selfValues(m.base, p.descriptors)
		return gram, err
	}
	if err := m.mark(ctx, p, at, chosen); err != nil {
		return nil, err
	}
	workers := make([]projector, work.Workers(ctx))
	const block = 16 // landmarks share few cells; small blocks keep all workers busy
	err := work.Each(ctx, (n+block-1)/block, 1, func(w, b int) error {
		lo, hi := b*block, min((b+1)*block, n)
		return workers[w].kernels(ctx, gram[lo*n:hi*n], m, p, at, chosen[lo:hi])
	})
	for i := range n {
		for j := range i {
			gram[j*n+i] = gram[i*n+j] // equal but for rounding
		}
	}
	return gram, err
}

// mark sets the covariances of the landmarks of a level ≥ 1, given as classes.
func (m *LowRank) mark(ctx context.Context, p *projection, at *level, chosen []int32) (err error) {
	if p.marks, err = m.covariances(ctx, at, chosen); err == nil {
		p.factor(&m.kernel)
	}
	return err
}

// diagonalise sets w and values from the Gram matrix of the landmarks, which it overwrites.
func (p *projection) diagonalise(ctx context.Context, gram []float64, marks []landmark, k *Kernel) error {
	defer work.Trace(ctx, "eigen")()
	n := p.n
	root := make([]float64, n)
	for i, a := range marks {
		root[i] = math.Sqrt(float64(a.count))
	}
	for i := range n {
		for j := range n {
			gram[i*n+j] *= root[i] * root[j]
		}
	}
	rank := k.Rank
	if k.Landmarks != Uniform {
		rank = n // principal takes the leading part
	}
	values, vectors, err := dense.LeadingEigen(ctx, gram, n, rank, work.Workers(ctx))
	if err != nil {
		return err
	}
	// Eigenvalues of a Gram matrix carry an absolute error of about n·ε·λ₁.
	kept := 0
	for kept < len(values) && values[kept] > float64(n)*epsilon*values[0] {
		kept++
	}
	p.p = max(1, kept) // a feature that is always 0 stands for none
	p.values = values[:kept]
	p.w = make([]float64, n*p.p)
	for i := range n {
		for j := range kept {
			p.w[i*p.p+j] = root[i] * vectors[i*len(values)+j] / math.Sqrt(values[j])
		}
	}
	return nil
}

// principal replaces the features of a projection by their leading principal components over
// all vertices: the rank directions of the landmarks' span that keep most of Σ_v |q(v)|².
func (m *LowRank) principal(ctx context.Context, proj *projection, at *level) error {
	c, err := m.scatter(ctx, proj, at)
	if err != nil {
		return err
	}
	defer work.Trace(ctx, "eigen")()
	p := proj.p
	values, vectors, err := dense.LeadingEigen(ctx, c, p, m.kernel.Rank, work.Workers(ctx))
	if err != nil {
		return fmt.Errorf("level %d: %w", at.number, err)
	}
	rank := len(values)
	w := make([]float64, proj.n*rank)
	for i := range proj.n {
		for j := range p {
			dense.Axpy(w[i*rank:(i+1)*rank], proj.w[i*p+j], vectors[j*rank:(j+1)*rank])
		}
	}
	proj.w, proj.p, proj.values = w, rank, values
	return nil
}

// scatter returns Σ_v q(v) q(v)ᵀ over all vertices.
func (m *LowRank) scatter(ctx context.Context, proj *projection, at *level) ([]float64, error) {
	n, p := at.len(), proj.p
	// Sums over fixed parts, added in order, do not depend on the number of workers.
	parts := min(32, (n+featureBlock-1)/featureBlock)
	sums := make([][]float64, parts)
	workers := make([]projector, work.Workers(ctx))
	err := work.Each(ctx, parts, 1, func(w, part int) error {
		sum := make([]float64, spd.Size(p))
		q := make([]float64, featureBlock*p)
		for lo := part * n / parts; lo < (part+1)*n/parts; lo += featureBlock {
			hi := min(lo+featureBlock, (part+1)*n/parts)
			rows := q[:(hi-lo)*p]
			if err := workers[w].block(ctx, rows, m, proj, at, lo, hi); err != nil {
				return err
			}
			for i := lo; i < hi; i++ {
				f := math.Sqrt(float64(at.count[i]))
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
		return nil, err
	}
	c := make([]float64, p*p)
	for _, sum := range sums {
		for i := range p {
			for j := range i + 1 {
				c[i*p+j] += sum[spd.Index(i, j)]
				c[j*p+i] = c[i*p+j]
			}
		}
	}
	return c, nil
}

// featureBlock is the number of classes whose features are computed and added up at a time.
const featureBlock = 64

// project sets the features of all classes of a level.
func (m *LowRank) project(ctx context.Context, at *level) error {
	proj := &m.projections[at.number]
	n, p := at.len(), proj.p
	at.features = features{make([]float64, n*p), p}
	workers := make([]projector, work.Workers(ctx))
	meter := work.NewMeter(ctx, fmt.Sprintf("features %d/%d", at.number, len(m.kernel.Radii)), n)
	block := featureBlock
	if at.number > 0 { // a device may like more at a time, as long as every worker has some
		height, _ := work.Device(ctx).Block(proj.equivalent(at), proj.n, false, at.below.width)
		block = min(height, max(block, n/(4*len(workers))))
	}
	return work.Each(ctx, (n+block-1)/block, 1, func(w, b int) error {
		lo, hi := b*block, min((b+1)*block, n)
		defer meter.Add(hi - lo)
		return workers[w].block(ctx, at.rows[lo*p:hi*p], m, proj, at, lo, hi)
	})
}

// equivalent returns about the number of covariances that take as long to compare with the landmarks
// as all classes of a level.
func (p *projection) equivalent(at *level) int {
	if p.factors == nil {
		return at.len()
	}
	sum := 0.0
	for _, q := range at.quotient {
		sum += min(1, p.factors.Relative(cells(q)))
	}
	return int(math.Ceil(sum))
}

// projector computes features of classes, block by block; it holds the buffers of one worker.
type projector struct {
	assembler
	batch  *spd.Batch
	k      []float64
	rest   []float64 // kernels of classes that are compared by covariances
	chosen []int32
	cells  cellwise
}

// block writes the features of the classes lo … hi-1 of a level to dst.
func (f *projector) block(ctx context.Context, dst []float64, m *LowRank, proj *projection, at *level, lo, hi int) error {
	if proj.explicit != nil {
		for i, d := range at.descriptor[lo:hi] {
			proj.explicit(dst[i*proj.p:(i+1)*proj.p], d)
		}
		return nil
	}
	f.k = dense.Grow(f.k, (hi-lo)*proj.n)
	if at.number == 0 {
		m.base.Gram(f.k, at.descriptor[lo:hi], proj.descriptors)
	} else {
		f.chosen = f.chosen[:0]
		for c := lo; c < hi; c++ {
			f.chosen = append(f.chosen, int32(c))
		}
		if err := f.kernels(ctx, f.k, m, proj, at, f.chosen); err != nil {
			return err
		}
	}
	defer work.Trace(ctx, "landmarks")()
	dense.Multiply(dst, f.k, proj.w, hi-lo, proj.n, proj.p)
	return nil
}

// kernels writes the kernel of classes of a level ≥ 1 with its landmarks to the rows of dst. Classes
// with few cells are compared by their cells. For the others covariances are computed, which live
// only until their kernel is known.
func (f *projector) kernels(ctx context.Context, dst []float64, m *LowRank, proj *projection, at *level, chosen []int32) error {
	full, err := f.cells.compare(ctx, dst, proj, at, chosen, &m.kernel)
	if err != nil || len(full) == 0 {
		return err
	}
	if f.batch == nil || f.batch.Len() < len(full) {
		f.batch = spd.NewBatch(len(chosen), at.below.width)
	}
	end := work.Trace(ctx, "factor")
	for k, i := range full {
		packed, err := f.covariance(ctx, at.quotient[chosen[i]], at.below, &m.kernel)
		if err != nil {
			return err
		}
		if err := f.batch.Set(k, packed); err != nil {
			return err
		}
	}
	end()
	defer work.Trace(ctx, "landmarks")()
	n := proj.n
	f.rest = dense.Grow(f.rest, len(full)*n)
	if err := work.Device(ctx).Cross(ctx, f.rest, n, f.batch, 0, len(full), proj.marks, 0, n); err != nil {
		return err
	}
	for k, i := range full {
		copy(dst[i*n:(i+1)*n], f.rest[k*n:])
	}
	return nil
}
