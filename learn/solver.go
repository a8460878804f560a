package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// tau stands in for the curvature of the objective along a pair of variables where the
// Gram matrix gives none or a negative one (duplicate examples, a matrix that is not
// positive semi-definite). The step is then so long that a bound stops it. The value is
// LIBSVM's, so that both take the same steps; any value far below the usual curvatures,
// which are of the order of the diagonal, does the same.
const tau = 1e-12

// checkEvery is the number of steps between two attempts to shrink, and between two looks
// at the context; for fewer variables than that it is their number.
const checkEvery = 1000

// shrinkShare is the least share of the active variables that is worth taking out at a time,
// because the rows in use have to be gathered again. 0.2 was the best of 0, 0.05, 0.1, 0.2 and 0.3
// on NCI1 (bench/runs/2026-11-15-svm).
const shrinkShare = 0.2

// ErrIterations is the error (by errors.Is) of a training that stopped at MaxIterations. The
// learner that comes with it is usable, but not optimal.
var ErrIterations = errors.New("learn: iteration limit reached before the tolerance")

// solver solves a problem for one C after the other.
//
// With the gradient F = Kβ + q of the smooth part, the slope of the objective is F_k + up_k
// when β_k rises and −(F_k − dn_k) when it falls, where
//
//	up_k = ε if β_k ≥ 0, −ε if β_k < 0, +Inf at hi_k;   dn_k = ε if β_k ≤ 0, −ε if β_k > 0, +Inf at lo_k.
//
// β is optimal exactly when no pair can be moved with gain, that is, when
//
//	gap = max_j (F_j − dn_j) − min_i (F_i + up_i) ≤ 0.
//
// Sequential minimal optimisation raises one coefficient and lowers another by the same
// amount until gap is below the tolerance. The pair is chosen by second-order information
// (Fan, Chen, Lin 2005): i is the argmin above, j the one that gives the largest decrease
// d²/(K_ii + K_jj − 2K_ij), d = F_j − dn_j − F_i − up_i, when bounds are ignored.
//
// Shrinking: a variable whose slopes both point the wrong way by more than gap is likely to
// stay at its bound (or, in regression, at 0) and is left out. All variables take part again
// when gap first comes under ten times the tolerance, and before the solver returns. The
// gradient of those left out is then brought up to date. So the result does not depend on
// shrinking beyond the tolerance.
//
// A step costs two passes over the active variables. Memory: one row of the Gram matrix
// per coefficient that was ever moved while the view was indexed or shrunk.
type solver struct {
	*problem
	rows   rowStore
	lo, hi []float64 // bounds for the present C

	beta []float64
	grad []float64 // F; during solve f is up to date, this is not

	// The active variables, and what the passes read, in the same order.
	active          []int // nil: all
	f, up, dn, diag []float64

	refBeta []float64 // β when all variables were last active; grad is F then

	steps int // of the last solve
}

// newSolver returns a solver of a problem at β = 0, for C = 0.
func newSolver(p *problem) *solver {
	n := len(p.q)
	return &solver{
		problem: p,
		rows:    newRowStore(p.gram),
		lo:      make([]float64, n),
		hi:      make([]float64, n),
		beta:    make([]float64, n),
		grad:    slices.Clone(p.q),
		f:       make([]float64, n),
		up:      make([]float64, n),
		dn:      make([]float64, n),
		diag:    make([]float64, n),
	}
}

// solve minimises from the present β, which must be feasible and grad its gradient.
// It returns ErrIterations if more than opt.MaxIterations steps would be needed.
func (s *solver) solve(ctx context.Context, opt Options) error {
	n := len(s.beta)
	period := min(n, checkEvery)
	s.activateAll()
	if k := slices.IndexFunc(s.diag, notFinite); k >= 0 {
		return fmt.Errorf("learn: Gram matrix: diagonal entry %d is %v, want a finite number", k, s.diag[k])
	}
	s.steps = 0
	restored := false // whether all variables were brought back once near the end
	countdown := period
	m, i := s.lowest()
	for {
		if countdown--; countdown <= 0 {
			countdown = period
			if err := ctx.Err(); err != nil {
				return err
			}
			if !restored && s.gap(m) <= 10*opt.Tolerance {
				restored = true
				s.restore()
				m, i = s.lowest()
			}
			if s.shrink(m, m+s.gap(m)) {
				m, i = s.lowest()
			}
		}
		j := -1
		var rowI []float64
		if !math.IsInf(m, 1) {
			rowI = s.rows.row(s.index(i))
			var gap float64
			gap, j = partner(s.f, s.dn, rowI, s.diag, m, s.diag[i], tau)
			if gap <= opt.Tolerance {
				j = -1
			} else if j < 0 { // comparisons with NaN are false
				return fmt.Errorf("learn: Gram matrix: row %d has an entry that is not finite", s.index(i))
			}
		}
		if j < 0 {
			if s.active == nil {
				break
			}
			s.restore()
			m, i = s.lowest()
			countdown = 2 // look at all once, then shrink again if there is more to do
			continue
		}
		if s.steps >= opt.MaxIterations {
			s.restore()
			return s.finish(ErrIterations)
		}
		s.steps++
		t := s.move(i, j, rowI[j], m)
		m, i = step(s.f, rowI, s.rows.row(s.index(j)), s.up, t)
	}
	return s.finish(nil)
}

// finish copies the gradient back and looks for entries that are not finite: the
// comparisons of the loops pass over them.
func (s *solver) finish(err error) error {
	copy(s.grad, s.f)
	if k := slices.IndexFunc(s.grad, notFinite); k >= 0 {
		return fmt.Errorf("learn: Gram matrix: row or column %d has an entry that is not finite", k)
	}
	return err
}

func (s *solver) index(k int) int {
	if s.active != nil {
		return s.active[k]
	}
	return k
}

// move makes the best step along the pair of active positions (i, j), within the piece of
// the objective on which both now lie, and returns its length.
func (s *solver) move(i, j int, kij, m float64) float64 {
	a, b := s.index(i), s.index(j)
	curvature := max(s.diag[i]+s.diag[j]-2*kij, tau)
	t := (s.f[j] - s.dn[j] - m) / curvature
	top, bottom := s.hi[a], s.lo[b]
	if s.epsilon > 0 && s.beta[a] < 0 {
		top = 0
	}
	if s.epsilon > 0 && s.beta[b] > 0 {
		bottom = 0
	}
	t = min(t, top-s.beta[a], s.beta[b]-bottom)
	// A variable that a bound stops is set to it, not to a rounded sum.
	if t == top-s.beta[a] {
		s.beta[a] = top
	} else {
		s.beta[a] += t
	}
	if t == s.beta[b]-bottom {
		s.beta[b] = bottom
	} else {
		s.beta[b] -= t
	}
	s.up[i], s.dn[i] = s.slopes(a)
	s.up[j], s.dn[j] = s.slopes(b)
	return t
}

// slopes returns up_k and dn_k.
func (s *solver) slopes(k int) (up, dn float64) {
	b := s.beta[k]
	switch {
	case b >= s.hi[k]:
		up = math.Inf(1)
	case b < 0:
		up = -s.epsilon
	default:
		up = s.epsilon
	}
	switch {
	case b <= s.lo[k]:
		dn = math.Inf(1)
	case b > 0:
		dn = -s.epsilon
	default:
		dn = s.epsilon
	}
	return up, dn
}

// lowest returns the active position i of min F_i + up_i and the minimum m.
func (s *solver) lowest() (m float64, i int) {
	return step(s.f, s.f, s.f, s.up, 0) // a step of length 0 changes nothing
}

// gap returns max_j (F_j − dn_j) − m over the active variables.
func (s *solver) gap(m float64) float64 {
	g := math.Inf(-1)
	for k, f := range s.f {
		if d := f - s.dn[k] - m; d > g {
			g = d
		}
	}
	return g
}

// activateAll makes all variables active; grad must be up to date.
func (s *solver) activateAll() {
	n := len(s.beta)
	if s.active != nil {
		s.active = nil
		s.rows.use(nil)
	}
	s.f, s.up, s.dn, s.diag = s.f[:n], s.up[:n], s.dn[:n], s.diag[:n]
	copy(s.f, s.grad)
	for k := range n {
		s.up[k], s.dn[k] = s.slopes(k)
		s.diag[k] = s.rows.gram.At(k, k)
	}
}

// shrink leaves out the active variables that are unlikely to move, given
// m = min F + up and top = max F − dn, if they are many enough. It tells whether it did.
func (s *solver) shrink(m, top float64) bool {
	idle := 0
	for k, f := range s.f {
		if f+s.up[k] > top && f-s.dn[k] < m {
			idle++
		}
	}
	if float64(idle) <= shrinkShare*float64(len(s.f)) {
		return false
	}
	if s.active == nil {
		copy(s.grad, s.f)
		s.refBeta = append(s.refBeta[:0], s.beta...)
		s.active = make([]int, len(s.f))
		for k := range s.active {
			s.active[k] = k
		}
	}
	w := 0
	for k, f := range s.f {
		if f+s.up[k] > top && f-s.dn[k] < m {
			continue
		}
		s.f[w], s.up[w], s.dn[w], s.diag[w], s.active[w] = f, s.up[k], s.dn[k], s.diag[k], s.active[k]
		w++
	}
	s.f, s.up, s.dn, s.diag, s.active = s.f[:w], s.up[:w], s.dn[:w], s.diag[:w], s.active[:w]
	s.rows.use(s.active)
	return true
}

// restore brings the gradient of the variables left out up to date,
//
//	F = F_ref + K(β − β_ref),
//
// where ref is the last point at which all were active, and makes all active.
func (s *solver) restore() {
	if s.active == nil {
		return
	}
	n := len(s.beta)
	out := make([]int, 0, n-len(s.active)) // the variables left out
	next := 0
	for k := range n {
		if next < len(s.active) && s.active[next] == k {
			s.grad[k] = s.f[next]
			next++
			continue
		}
		out = append(out, k)
	}
	var rows [][]float64
	var w []float64
	for k, b := range s.beta {
		if d := b - s.refBeta[k]; d != 0 {
			rows = append(rows, s.rows.gram.base(k))
			w = append(w, d)
		}
	}
	columns := compose(s.rows.gram.cols, out, n, "column")
	f := make([]float64, len(out))
	gather(f, s.grad, out)
	addRows(f, w, rows, columns)
	for k, o := range out {
		s.grad[o] = f[k]
	}
	s.activateAll()
}

// widen changes the bounds to those for C, which must not decrease, and multiplies β by a factor to
// make a good start (bench/runs/2026-11-15-svm compares the starts). It depends on how many of the
// non-zero coefficients are at their bounds. If more than half are, they will mostly be at the new
// bounds, and the factor is the largest that is feasible. If less than a quarter are, the others
// hardly change, and the factor is 1: any other would take all of them away from where they are
// optimal. Between, it is the one that gives the least objective,
//
//	t = −(qᵀβ + εΣ|β|) / βᵀKβ.
func (s *solver) widen(c float64) {
	t := math.Inf(1)
	support, bounded := 0, 0
	linear, quadratic := 0.0, 0.0
	for k, b := range s.beta {
		lo, hi := c*s.low[k], c*s.high[k]
		if b != 0 {
			support++
			if b == s.lo[k] || b == s.hi[k] {
				bounded++
			}
			t = min(t, max(lo/b, hi/b))
			linear += float64(s.q[k]*b) + float64(s.epsilon*math.Abs(b))
			quadratic += float64(b * (s.grad[k] - s.q[k]))
		}
		s.lo[k], s.hi[k] = lo, hi
	}
	if support == 0 {
		return
	}
	switch {
	case 4*bounded < support:
		t = min(t, 1)
	case 2*bounded <= support && quadratic > 0:
		t = min(t, max(0, -linear/quadratic))
	}
	const rounding = 4 * 0x1p-53 // of the quotient that gave t and of the product here
	for k, b := range s.beta {
		b *= t
		switch { // a variable that comes to a bound is there exactly
		case b > 0 && b >= s.hi[k]*(1-rounding):
			b = s.hi[k]
		case b < 0 && b <= s.lo[k]*(1-rounding):
			b = s.lo[k]
		}
		s.beta[k] = b
		s.grad[k] = float64(t*(s.grad[k]-s.q[k])) + s.q[k]
	}
}

// objective returns the value of the problem at β; grad must be up to date.
func (s *solver) objective() float64 {
	v := 0.0
	for k, b := range s.beta {
		v += float64(0.5*b*(s.grad[k]+s.q[k])) + float64(s.epsilon*math.Abs(b))
	}
	return v
}

// bias returns the multiplier of the constraint Σβ = 0, which is the constant of the
// decision function: the mean of −(F + up) over the variables inside a piece, where
// optimality asks for equality, or else the middle of the interval that it allows.
func (s *solver) bias() float64 {
	sum, free := 0.0, 0
	m, top := math.Inf(1), math.Inf(-1)
	for k, f := range s.grad {
		up, dn := s.slopes(k)
		if up+dn == 0 {
			sum += f + up
			free++
		}
		m, top = min(m, f+up), max(top, f-dn)
	}
	if free > 0 {
		return 0 - sum/float64(free) // not −sum, which can be −0
	}
	return 0 - (m+top)/2
}

// rowStore hands out rows of a Gram matrix cut to the active variables. A row that is not
// contiguous in the matrix is copied when it is first asked for after a change of the
// active variables.
type rowStore struct {
	gram    View
	columns []int // of the underlying matrix, for the active variables; nil: all in order
	round   int32 // number of changes
	copies  [][]float64
	made    []int32 // round in which a copy was made
}

func newRowStore(gram View) rowStore {
	n, _ := gram.Dims()
	return rowStore{gram: gram, columns: gram.cols, round: 1, copies: make([][]float64, n), made: make([]int32, n)}
}

// use changes the active variables; nil means all.
func (r *rowStore) use(active []int) {
	r.columns = compose(r.gram.cols, active, len(r.copies), "column")
	r.round++
}

// row returns row k of the Gram matrix for the active variables.
func (r *rowStore) row(k int) []float64 {
	if r.columns == nil {
		return r.gram.base(k)
	}
	if r.made[k] != r.round {
		r.made[k] = r.round
		r.copies[k] = slices.Grow(r.copies[k][:0], len(r.columns))[:len(r.columns)]
		gather(r.copies[k], r.gram.base(k), r.columns)
	}
	return r.copies[k]
}

// addRows adds Σ_r w[r]·rows[r][index[k]] to f[k], four rows at a time.
func addRows(f []float64, w []float64, rows [][]float64, index []int) {
	f = f[:len(index)]
	for len(rows) >= 4 {
		r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		for k, c := range index {
			f[k] += float64(w0*r0[c]) + float64(w1*r1[c]) + float64(w2*r2[c]) + float64(w3*r3[c])
		}
		rows, w = rows[4:], w[4:]
	}
	for r, row := range rows {
		for k, c := range index {
			f[k] += float64(w[r] * row[c])
		}
	}
}
