package mlg

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// A neighbourhood of few cells has a covariance of low rank beside γI (docs/explanation/math.md,
// eq. 4):
//
//	S = γI + qᵀ D A⁻¹ D q = γI + qᵀ X⁻¹ q,   A = N L_q,   X = D⁻¹ A D⁻¹,
//
// with a row of q for each cell and D its size over its discount. Its kernel with the
// landmarks takes determinants of the number of cells, not of the number of features
// (spd.Factors), and the products of q with the landmarks are shared by the neighbourhoods
// that have a cell of the same class (eq. 6).

// minLowRank is the least γη for which this is done. It is for features of length 1, and above
// level 0 none is longer. One level lets rounding errors grow by up to amplification/(γη) (see
// precision), which is then 3e-12.
const minLowRank = 1e-4

// factor prepares a projection of a level ≥ 1 for comparing classes by their cells.
func (p *projection) factor(k *Kernel) {
	if p.marks != nil && p.n > 0 && k.Gamma*k.Eta >= minLowRank {
		p.factors = spd.Factor(p.marks, k.Gamma)
	}
}

// cellwise compares classes with landmarks by their cells; it holds the buffers of one worker.
type cellwise struct {
	q    graph.Quotient
	full []int
	mats []spd.Thin
	slot []int32 // by class below: its row of the features, and one more
	seen []int32 // the classes below that have one
	feat []float64
	a    []float64
}

// compare writes the kernel of classes with the landmarks to rows of dst. It leaves out classes
// that have too many cells to gain from it, or would lose too many digits. It returns these by
// their place among the classes.
func (l *cellwise) compare(ctx context.Context, dst []float64, proj *projection, at *level, chosen []int32, k *Kernel) (full []int, err error) {
	l.full, l.mats, l.feat = l.full[:0], l.mats[:0], l.feat[:0]
	end := work.Trace(ctx, "factor")
	for i, c := range chosen {
		if proj.factors == nil || !proj.factors.Cheaper(cells(at.quotient[c])) || !l.add(i, at.quotient[c], at.below, k) {
			l.full = append(l.full, i)
		}
	}
	for _, c := range l.seen {
		l.slot[c] = 0
	}
	l.seen = l.seen[:0]
	end()
	if len(l.mats) == 0 {
		return l.full, nil
	}
	defer work.Trace(ctx, "landmarks")()
	if err := work.Device(ctx).CrossFactors(ctx, dst, proj.n, proj.factors, l.feat, l.mats); err != nil {
		return nil, err
	}
	for _, m := range l.mats {
		for _, v := range dst[m.At*proj.n : (m.At+1)*proj.n] {
			if math.IsNaN(v) { // singular to working precision
				l.full = append(l.full, m.At)
				break
			}
		}
	}
	return l.full, nil
}

// add appends the matrix of a quotient, whose kernel goes to row at, and the features of its cells
// that are new. It returns false if weights lie too far apart or features are too large.
func (l *cellwise) add(at int, quotient []uint32, below features, k *Kernel) bool {
	l.q.Decode(quotient)
	q := &l.q
	if l.a = laplacian(q, k.Eta, l.a); k.wide(q, l.a) {
		return false
	}
	if n := len(below.rows) / below.width; len(l.slot) < n {
		l.slot = make([]int32, n)
	}
	for _, c := range q.Class {
		if row := below.row(c); l.slot[c] == 0 && k.Gamma*k.Eta < minLowRank*dense.Dot(row, row) {
			return false
		}
	}
	l.mats = slices.Grow(l.mats, 1)[:len(l.mats)+1]
	mat := &l.mats[len(l.mats)-1] // with the memory of one before
	mat.At, mat.Rows, mat.X = at, mat.Rows[:0], mat.X[:0]
	for _, c := range q.Class {
		if l.slot[c] == 0 {
			l.feat = append(l.feat, below.row(c)...)
			l.seen = append(l.seen, c)
			l.slot[c] = int32(len(l.seen))
		}
		mat.Rows = append(mat.Rows, l.slot[c]-1)
	}
	m := q.Cells()
	for i := range m {
		di := float64(1+q.Tag[i]) / float64(q.Size[i])
		for j := range i + 1 {
			mat.X = append(mat.X, l.a[i*m+j]*(di*(float64(1+q.Tag[j])/float64(q.Size[j]))))
		}
	}
	return true
}
