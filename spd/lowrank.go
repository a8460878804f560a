package spd

import (
	"math"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/internal/dense"
)

// Factors is a set of matrices
//
//	B = γI + YᵀY
//
// of order p whose Y have few rows, laid out for the kernel with matrices
//
//	A = γI + QᵀX⁻¹Q
//
// where Q has few rows, m, as well. With G = QQᵀ and H_i = I + YYᵀ/(iγ) the kernel of A and B is
//
//	k = (|X|·|X + G/γ|)^¼ · (|H₁|/|H₂|²)^¼ / |X + G/(2γ) − UUᵀ|^½,   U = QVᵀ,   V = C⁻¹Y/(2γ),   H₂ = CCᵀ,
//
// by |γI + QᵀX⁻¹Q| = γ^p |X + G/γ|/|X| and (2γI + YᵀY)⁻¹ = I/(2γ) − VᵀV. Everything is of order m
// or of the rank of Y; no matrix of order p is factored.
//
// Rounding errors of the determinants are those of matrices with the condition numbers that A+B
// has in the worst case: Q's rows squared over γ and the least eigenvalue of X.
type Factors struct {
	p, n   int
	gamma  float64
	ranks  []int // by tile: the greatest rank in it, at least 1
	groups []factorGroup
	roots  quarters // (|H₁|/|H₂|²)^¼

	meanRank float64
}

// factorGroup is a run of tiles whose U is computed at a time.
type factorGroup struct {
	lo, hi  int       // tiles
	columns int       // of U, a multiple of 2·dense.PanelWidth
	panels  []float64 // Vᵀ in panels of p×dense.PanelWidth; entry b of lane l of a tile is column 8b + l behind those of the tiles before
}

// groupColumns is the greatest number of columns of more than one tile, whose U stays in the
// second-level cache.
const groupColumns = 480

// Factor returns the matrices of a batch as Factors for γ. The rank of a matrix is found by
// diagonal pivoting, which stops when no diagonal entry of what is left of B − γI exceeds
// rankTolerance times the greatest of B. The rest is taken for the rounding error that B had on
// entry.
func Factor(b *Batch, gamma float64) *Factors {
	if !(gamma > 0) {
		misuse("γ = %v, want it positive", gamma)
	}
	p := b.p
	tiles := len(b.roots.e) / Lanes
	f := &Factors{
		p: p, n: b.n, gamma: gamma, ranks: slices.Repeat([]int{1}, tiles),
		roots: newQuarters(tiles * Lanes),
	}
	v := make([][]float64, tiles*Lanes)
	var s factorScratch
	packed := make([]float64, Size(p))
	for i := range b.n {
		var root quarter
		v[i], root = s.factor(b.At(i, packed), p, gamma)
		f.roots.set(i, root)
		f.ranks[i/Lanes] = max(f.ranks[i/Lanes], len(v[i])/p)
	}
	for lo := 0; lo < tiles; {
		g := factorGroup{lo: lo, hi: lo}
		columns := 0
		for g.hi < min(tiles, lo+blockTiles) && (g.hi == lo || columns+Lanes*f.ranks[g.hi] <= groupColumns) {
			columns += Lanes * f.ranks[g.hi]
			g.hi++
		}
		const step = 2 * dense.PanelWidth // rows of U start at multiples of 64 bytes
		g.columns = (columns + step - 1) / step * step
		g.panels = dense.Grow(nil, p*g.columns)
		at := 0
		for t := lo; t < g.hi; t++ {
			for l := range Lanes {
				x := v[t*Lanes+l]
				for b := range len(x) / p {
					c := at + b*Lanes + l
					panel := g.panels[c/dense.PanelWidth*dense.PanelWidth*p:]
					for k, y := range x[b*p : (b+1)*p] {
						panel[k*dense.PanelWidth+c%dense.PanelWidth] = y
					}
				}
			}
			at += Lanes * f.ranks[t]
		}
		f.groups = append(f.groups, g)
		f.meanRank += float64(columns) / float64(Lanes*tiles)
		lo = g.hi
	}
	return f
}

// rankTolerance is a few units in the last place of the sums that make up B.
const rankTolerance = 0x1p-50

// factorScratch is the work space of factor.
type factorScratch struct {
	diag, h, tmp []float64
	used         []bool
}

// rows returns Y, row by row, of a packed matrix B = γI + YᵀY.
func (s *factorScratch) rows(b []float64, p int, gamma float64) (y []float64) {
	s.diag = dense.Grow(s.diag, p)
	s.used = make([]bool, p)
	most := 0.0
	for i := range p {
		d := b[Index(i, i)]
		most = max(most, d)
		s.diag[i] = d - gamma
	}
	for r := range p {
		best := -1
		for i, d := range s.diag {
			if !s.used[i] && (best < 0 || d > s.diag[best]) {
				best = i
			}
		}
		if !(s.diag[best] > rankTolerance*most) {
			break
		}
		s.used[best] = true
		root := math.Sqrt(s.diag[best])
		y = append(y, make([]float64, p)...)
		row := y[r*p:]
		for j := range p {
			if !s.used[j] {
				row[j] = b[Index(max(best, j), min(best, j))]
			}
		}
		for e := range r {
			before := y[e*p : (e+1)*p]
			x := before[best]
			for j, z := range before {
				row[j] = dense.FMA(-x, z, row[j])
			}
		}
		for j := range row {
			switch {
			case j == best:
				row[j] = root
			case s.used[j]:
				row[j] = 0
			default:
				row[j] /= root
				s.diag[j] = dense.FMA(-row[j], row[j], s.diag[j])
			}
		}
	}
	return y
}

// factor returns V, row by row, of a packed matrix B = γI + YᵀY, and (|H₁|/|H₂|²)^¼.
func (s *factorScratch) factor(b []float64, p int, gamma float64) (v []float64, root quarter) {
	v = s.rows(b, p, gamma)
	r := len(v) / p
	size := Size(r)
	s.h, s.tmp = dense.Grow(s.h, 2*size), dense.Grow(s.tmp, 2*r)
	h1, h2 := s.h[:size], s.h[size:]
	for i := range r {
		for j := range i + 1 {
			x := dense.Dot(v[i*p:(i+1)*p], v[j*p:(j+1)*p]) / gamma
			h1[Index(i, j)], h2[Index(i, j)] = x, x/2
		}
		h1[Index(i, i)]++
		h2[Index(i, i)]++
	}
	// H₂ = U D⁻¹ Uᵀ, so C = U D^-½ and the rows of V are those of Y, as far as eliminated, over
	// 2γ√d.
	d1, bad1 := ldl(h1, r, leastNormal, s.tmp)
	d2, bad2 := ldl(h2, r, leastNormal, s.tmp)
	if bad1 >= 0 || bad2 >= 0 {
		return nil, quarter{e: math.NaN()}
	}
	for i := range r {
		row := v[i*p : (i+1)*p]
		for e := range i {
			x := h2[Index(i, e)] / h2[Index(e, e)]
			for j, y := range v[e*p : (e+1)*p] {
				row[j] = dense.FMA(-x, y, row[j])
			}
		}
	}
	for i := range r {
		scale := 1 / (2 * gamma * math.Sqrt(h2[Index(i, i)]))
		for j := range p {
			v[i*p+j] *= scale
		}
	}
	m, x := split(d1.mant / (d2.mant * d2.mant))
	return v, fourthRoot(determinant{m, x + d1.expo - 2*d2.expo})
}

// Len returns the number of matrices.
func (f *Factors) Len() int { return f.n }

// Order returns the order of the matrices.
func (f *Factors) Order() int { return f.p }

// Cost returns about the number of multiply-adds that Cross takes for a pair. m is the number of rows
// of Q, of which about as many are new as there are matrices. What does not depend on the sizes counts
// as a hundred.
func (f *Factors) Cost(m int) float64 {
	x, p, r := float64(m), float64(f.p), f.meanRank
	return x*x*r/2 + x*x*x/5 + 1.5*p*r + 100
}

// Relative returns about the time of Cross for the kernel of one matrix with all of f, over that of
// the function Cross. m is the number of rows of its Q.
func (f *Factors) Relative(m int) float64 {
	p := float64(f.p)
	return f.Cost(m) / (1.3 * (p*p*p/6 + p*p/2))
}

// Cheaper reports whether Factors.Cross takes less time than Cross for such a matrix.
func (f *Factors) Cheaper(m int) bool { return m <= blockTiles && f.Relative(m) < 1 }

// Thin is a matrix of low rank but for its diagonal, A = γI + QᵀX⁻¹Q of order p.
type Thin struct {
	At   int       // the row of dst for its kernel
	Rows []int32   // the rows of Q: which of those that are given with it
	X    []float64 // packed, of the order len(Rows), positive definite
}

// lowWork is the work space of Factors.Cross.
type lowWork struct {
	entries
	u, few, tiles, h []float64
	roots            []quarter
}

var lowWorks = sync.Pool{New: func() any { return new(lowWork) }}

// Cross sets dst[a[i].At·stride + j] to the kernel of a[i] and matrix j of f. The Q of a[i] is made
// of rows of q, p numbers each. A value depends on γ and the two matrices alone. It is NaN if
// rounding makes a matrix singular. It may differ by rounding errors from that of the function
// Cross, and is 1 for equal matrices only up to these.
func (f *Factors) Cross(dst []float64, stride int, q []float64, a []Thin) {
	if !f.Check(stride, q, a) {
		return
	}
	p := f.p
	rows := len(q) / p
	s := lowWorks.Get().(*lowWork)
	defer lowWorks.Put(s)
	most := s.prepare(a, q, f)
	w := getWork(most)
	defer works.Put(w)
	for k := range f.groups {
		g := &f.groups[k]
		s.u = dense.Grow(s.u, rows*g.columns)
		for c := 0; c < g.columns; c += dense.PanelWidth { // U = QVᵀ
			dense.MultiplyPanel(s.u[c:], g.columns, q, p, g.panels[c*p:][:p*dense.PanelWidth], rows, p)
		}
		n := g.hi - g.lo
		size := len(s.g) * Lanes
		s.few = dense.Grow(s.few, n*size)
		s.place(g.columns)
		at := 0
		for t, r := range f.ranks[g.lo:g.hi] {
			less(s.few[t*size:][:size], s.g, s.at, s.u[at:], r)
			at += Lanes * r
		}
		from, to := g.lo*Lanes, min(g.hi*Lanes, f.n)
		roots := f.roots.slice(from, g.hi*Lanes)
		mant, expo := w.mant[:n*Lanes], w.expo[:n*Lanes]
		where := s.where
		for i := range a {
			m := Size(len(a[i].Rows))
			s.tiles = dense.Grow(s.tiles, n*m*Lanes)
			for t := range n {
				gather(s.tiles[t*m*Lanes:][:m*Lanes], s.few[t*size:][:size], where[:m])
			}
			where = where[m:]
			w.dets(mant, expo, nil, s.tiles, len(a[i].Rows), leastNormal)
			values(mant, mant, expo, s.roots[i], roots)
			copy(dst[a[i].At*stride+from:][:to-from], mant)
		}
	}
}

// Check panics if the arguments of Cross do not fit together. It reports whether there is anything to
// compute.
func (f *Factors) Check(stride int, q []float64, a []Thin) bool {
	if len(a) == 0 || f.n == 0 {
		return false
	}
	if len(q)%f.p != 0 {
		misuse("%d numbers in rows of %d", len(q), f.p)
	}
	if stride < f.n {
		misuse("stride %d for %d values", stride, f.n)
	}
	for i := range a {
		if m := len(a[i].Rows); m == 0 || len(a[i].X) != Size(m) {
			misuse("matrix %d of %d rows with %d numbers, want %d", i, m, len(a[i].X), Size(m))
		}
	}
	return true
}

// prepare sets the entries of X + G/(2γ) of all matrices, and s.roots to (|X|·|X + G/γ|)^¼. It
// returns the greatest order.
func (s *lowWork) prepare(a []Thin, q []float64, f *Factors) int {
	most, total := 0, 0
	for i := range a {
		m := len(a[i].Rows)
		most = max(most, m)
		total += Size(m)
	}
	s.entries.clear(total)
	s.h, s.roots = dense.Grow(s.h, Size(most)), s.roots[:0]
	w := getWork(most)
	defer works.Put(w)
	p := f.p
	for i := range a {
		m := len(a[i].Rows)
		size := Size(m)
		u, h := w.u[:size], s.h[:size]
		e := 0
		for r, c := range a[i].Rows {
			for _, d := range a[i].Rows[:r+1] {
				k, known := s.find(c, d, a[i].X[e])
				if !known {
					s.product = append(s.product, dense.Dot(q[int(c)*p:][:p], q[int(d)*p:][:p])/f.gamma)
					s.g = append(s.g, a[i].X[e]+s.product[k]/2)
				}
				h[e] = a[i].X[e] + s.product[k]
				e++
			}
		}
		copy(u, a[i].X)
		d1, bad1 := ldl(u, m, leastNormal, w.u[size:])
		d2, bad2 := ldl(h, m, leastNormal, w.u[size:])
		if bad1 >= 0 || bad2 >= 0 {
			s.roots = append(s.roots, quarter{e: math.NaN()})
			continue
		}
		mant, expo := split(d1.mant * d2.mant)
		s.roots = append(s.roots, fourthRoot(determinant{mant, expo + d1.expo + d2.expo}))
	}
	s.even()
	return most
}
