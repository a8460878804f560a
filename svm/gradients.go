package svm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// system is a ridge regression without bias on some examples,
//
//	(D K D + λI) u = D z,   β = D u.
//
// The scale of example i on the diagonal of D is 0 if it is held out, and the root of its weight
// otherwise. So (K + λW⁻¹) β = z on the examples that are not held out.
type system struct {
	scale  []float64 // D
	lambda float64
	inner  inverse   // (λI + FᵀD²F)⁻¹
	target []float64 // z

	u          []float64
	residual   float64 // |Dz − (DKD + λI)u|, relative to |Dz|
	iterations int
	r, p       []float64 // while it is solved: residual and direction
	rz, size   float64   // rᵀP⁻¹r and |Dz|
}

// start sets u = 0.
func (s *system) start() {
	s.u, s.p = make([]float64, len(s.target)), make([]float64, len(s.target))
	s.r = make([]float64, len(s.target))
	for i, z := range s.target {
		s.r[i] = s.scale[i] * z
	}
	s.size = math.Sqrt(dense.Dot(s.r, s.r))
	if s.size > 0 {
		s.residual = 1
	}
}

// turn makes the next direction from y = F(λI + FᵀD²F)⁻¹FᵀDr, which it overwrites. It reports whether
// there is one. There is always one but for rounding.
func (s *system) turn(y []float64) bool {
	for i, r := range s.r {
		y[i] = (r - float64(s.scale[i]*y[i])) / s.lambda
	}
	before := s.rz
	s.rz = dense.Dot(s.r, y)
	if s.rz <= 0 {
		return false
	}
	share := 0.0
	if before > 0 {
		share = s.rz / before
	}
	for i, v := range y {
		s.p[i] = v + float64(share*s.p[i])
	}
	return true
}

// step goes along the direction p, from y = KDp, which it overwrites. It reports whether it could: it
// cannot where DKD + λI is not positive definite.
func (s *system) step(y []float64) bool {
	for i, p := range s.p {
		y[i] = float64(s.scale[i]*y[i]) + float64(s.lambda*p)
	}
	curvature := dense.Dot(s.p, y)
	if curvature <= 0 {
		return false
	}
	length := s.rz / curvature
	dense.Axpy(s.u, length, s.p)
	dense.Axpy(s.r, -length, y)
	s.residual = math.Sqrt(dense.Dot(s.r, s.r)) / s.size
	s.iterations++
	return true
}

// Convergence tells how far conjugate gradients came.
type Convergence struct {
	Systems    int     // that were solved: for each fold, ridge and target, and one more for the bias
	Open       int     // of these, with a residual above the tolerance
	Iterations int     // most of one system
	Residual   float64 // largest of a system, relative to its right-hand side
}

// mostSides is the number of systems that are solved at the same time. With so many the time for
// making single precision double is small beside that of products.
const mostSides = 10 * dense.PanelWidth

// conjugate solves systems by preconditioned conjugate gradients, which share each product with K. A
// system that is solved makes room for the next. What a system gets does not depend on the others.
func (s *RidgeSolver) conjugate(ctx context.Context, systems []*system) (Convergence, error) {
	n, m := s.tiles.rows, s.factor.landmarks
	most := min(mostSides, len(systems))
	x, y := newPanels(n, most), newPanels(n, most)
	inner, products := newPanels(m, most), newPanels(m, most)
	buffers := make([][]float64, kernel.Workers(ctx))
	for w := range buffers {
		buffers[w] = make([]float64, n)
	}
	transposed := s.factor.transposed()
	meter := kernel.NewMeter(ctx, "ridge", len(systems))
	out := Convergence{Systems: len(systems)}
	var active []*system
	for waiting := systems; len(waiting) > 0 || len(active) > 0; {
		for len(active) < most && len(waiting) > 0 {
			waiting[0].start()
			active, waiting = append(active, waiting[0]), waiting[1:]
		}
		stuck := make([]bool, len(active))
		// each sets vectors of the systems from those in panels.
		each := func(from panels, f func(s *system, y []float64) bool) error {
			return kernel.Each(ctx, len(active), 1, func(w, c int) error {
				if !stuck[c] && active[c].residual > 0 {
					from.vector(c, buffers[w])
					stuck[c] = !f(active[c], buffers[w])
				}
				return nil
			})
		}
		width := (len(active) + dense.PanelWidth - 1) / dense.PanelWidth
		vectors, scales := make([][]float64, len(active)), make([][]float64, len(active))
		for c, a := range active {
			vectors[c], scales[c] = a.r, a.scale
		}
		if err := x.load(ctx, vectors, scales); err != nil {
			return out, err
		}
		if err := transposed.multiply(ctx, inner[:width], x[:width]); err != nil {
			return out, err
		}
		err := kernel.Each(ctx, len(active), 1, func(_, c int) error {
			v := make([]float64, m)
			inner.vector(c, v)
			vectors[c] = active[c].inner.solve(v)
			return nil
		})
		if err != nil {
			return out, err
		}
		if err := products.load(ctx, vectors, nil); err != nil {
			return out, err
		}
		if err := s.factor.multiply(ctx, y[:width], products[:width]); err != nil {
			return out, err
		}
		if err := each(y, (*system).turn); err != nil {
			return out, err
		}
		for c, a := range active {
			vectors[c] = a.p
		}
		if err := x.load(ctx, vectors, scales); err != nil {
			return out, err
		}
		if err := s.tiles.multiply(ctx, y[:width], x[:width]); err != nil {
			return out, err
		}
		if err := each(y, (*system).step); err != nil {
			return out, err
		}
		kept := active[:0]
		for c, a := range active {
			if notFinite(a.residual) {
				return out, fmt.Errorf("svm: ridge %v: the residual is %v, want a finite number", a.lambda, a.residual)
			}
			if a.residual > s.options.Tolerance && !stuck[c] && a.iterations < s.options.MaxIterations {
				kept = append(kept, a)
				continue
			}
			a.r, a.p = nil, nil
			meter.Add(1)
			out.Iterations = max(out.Iterations, a.iterations)
			out.Residual = max(out.Residual, a.residual)
			if a.residual > s.options.Tolerance {
				out.Open++
			}
		}
		active = slices.Clip(kept)
	}
	return out, ctx.Err()
}
