package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/work"
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
	stuck      bool      // there is no further step
	told       int       // of its progress
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

// turn makes the next direction from y = F(λI + FᵀD²F)⁻¹FᵀDr, which it overwrites. Only rounding can
// leave no direction.
func (s *system) turn(y []float64) {
	for i, r := range s.r {
		y[i] = (r - float64(s.scale[i]*y[i])) / s.lambda
	}
	before := s.rz
	s.rz = dense.Dot(s.r, y)
	if s.stuck = s.rz <= 0; s.stuck {
		return
	}
	share := 0.0
	if before > 0 {
		share = s.rz / before
	}
	for i, v := range y {
		s.p[i] = v + float64(share*s.p[i])
	}
}

// step goes along the direction p, from y = KDp, which it overwrites. It is stuck where DKD + λI is not
// positive definite.
func (s *system) step(y []float64) {
	for i, p := range s.p {
		y[i] = float64(s.scale[i]*y[i]) + float64(s.lambda*p)
	}
	curvature := dense.Dot(s.p, y)
	if s.stuck = curvature <= 0; s.stuck {
		return
	}
	length := s.rz / curvature
	dense.Axpy(s.u, length, s.p)
	dense.Axpy(s.r, -length, y)
	s.residual = math.Sqrt(dense.Dot(s.r, s.r)) / s.size
	s.iterations++
}

// whole is the way of a system to its solution, as progress tells it.
const whole = 100

// progress returns how much of its way to the tolerance a system has come since the last call. Residuals fall about by
// the same factor in every iteration.
func (s *system) progress(tolerance float64) int {
	before := s.told
	if tolerance < 1 {
		s.told = max(before, min(int(whole*math.Log(s.residual)/math.Log(tolerance)), whole-1))
	}
	return s.told - before
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
	most := min(mostSides, len(systems))
	g := newGradients(ctx, s, most)
	meter := work.NewMeter(ctx, "ridge", whole*len(systems))
	out := Convergence{Systems: len(systems)}
	for waiting := systems; len(waiting) > 0 || len(g.active) > 0; {
		for len(g.active) < most && len(waiting) > 0 {
			waiting[0].start()
			g.active, waiting = append(g.active, waiting[0]), waiting[1:]
		}
		if err := g.turn(ctx); err != nil {
			return out, err
		}
		if err := g.step(ctx); err != nil {
			return out, err
		}
		kept := g.active[:0]
		for _, a := range g.active {
			if notFinite(a.residual) {
				return out, fmt.Errorf("learn: ridge %v: the residual is %v, want a finite number", a.lambda, a.residual)
			}
			open := a.residual > s.options.Tolerance
			if open && !a.stuck && a.iterations < s.options.MaxIterations {
				meter.Add(a.progress(s.options.Tolerance))
				kept = append(kept, a)
				continue
			}
			a.r, a.p = nil, nil
			meter.Add(whole - a.told)
			out.Iterations, out.Residual = max(out.Iterations, a.iterations), max(out.Residual, a.residual)
			if open {
				out.Open++
			}
		}
		g.active = kept
	}
	return out, ctx.Err()
}

// gradients are systems that are solved at the same time, with memory for their products.
type gradients struct {
	solver        *RidgeSolver
	transposed    grid // Fᵀ
	active        []*system
	x, y          panels      // of examples
	before, after panels      // of landmarks, before and after (λI + FᵀD²F)⁻¹
	buffers       [][]float64 // n numbers for each worker
}

func newGradients(ctx context.Context, s *RidgeSolver, most int) *gradients {
	n, m := s.tiles.rows, s.lowRank.landmarks
	g := &gradients{solver: s, transposed: s.lowRank.transposed(), buffers: make([][]float64, work.Workers(ctx)),
		x: newPanels(n, most), y: newPanels(n, most), before: newPanels(m, most), after: newPanels(m, most)}
	for w := range g.buffers {
		g.buffers[w] = make([]float64, n)
	}
	return g
}

// load sets x to D times a vector of each system, and returns the number of panels.
func (g *gradients) load(ctx context.Context, vector func(*system) []float64) (width int, err error) {
	vectors, scales := make([][]float64, len(g.active)), make([][]float64, len(g.active))
	for c, a := range g.active {
		vectors[c], scales[c] = vector(a), a.scale
	}
	return (len(vectors) + dense.PanelWidth - 1) / dense.PanelWidth, g.x.load(ctx, vectors, scales)
}

// move calls f for each system with its vector of y.
func (g *gradients) move(ctx context.Context, f func(s *system, y []float64)) error {
	return work.Each(ctx, len(g.active), 1, func(w, c int) error {
		if a := g.active[c]; !a.stuck && a.residual > 0 {
			g.y.vector(c, g.buffers[w])
			f(a, g.buffers[w])
		}
		return nil
	})
}

// turn makes the next direction of each system from its residual.
func (g *gradients) turn(ctx context.Context) error {
	width, err := g.load(ctx, func(s *system) []float64 { return s.r })
	if err != nil {
		return err
	}
	if err := g.transposed.multiply(ctx, g.before[:width], g.x[:width]); err != nil {
		return err
	}
	solved := make([][]float64, len(g.active))
	err = work.Each(ctx, len(g.active), 1, func(_, c int) error {
		v := make([]float64, g.solver.lowRank.landmarks)
		g.before.vector(c, v)
		solved[c] = g.active[c].inner.solve(v)
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.after.load(ctx, solved, nil); err != nil {
		return err
	}
	if err := g.solver.lowRank.multiply(ctx, g.y[:width], g.after[:width]); err != nil {
		return err
	}
	return g.move(ctx, (*system).turn)
}

// step goes along the direction of each system.
func (g *gradients) step(ctx context.Context) error {
	width, err := g.load(ctx, func(s *system) []float64 { return s.p })
	if err != nil {
		return err
	}
	if err := g.solver.tiles.multiply(ctx, g.y[:width], g.x[:width]); err != nil {
		return err
	}
	return g.move(ctx, (*system).step)
}
