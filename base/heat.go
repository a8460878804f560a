package base

import (
	"fmt"
	"math"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
)

// heat is the dot product of the vectors of diffusion kernel values
//
//	h_v = (exp(−β(D−A))_vv for each β),
//
// how much of a unit of heat is still at the vertex after the time β. Each β must be
// positive. Graphs up to 128 vertices are diagonalised; on larger ones every value comes
// from Gauss quadrature by the Lanczos process around the vertex, in time proportional to
// the edges that heat reaches. Values are rounded to 12 digits, so that vertices that a
// symmetry of the graph exchanges have the same.
func heat(beta []float64) (Kernel, error) {
	var names []string
	for _, b := range beta {
		if err := positive("heat: β", b); err != nil {
			return nil, err
		}
		names = append(names, fmt.Sprint(b))
	}
	rows := func(g *graph.Graph) ([]float64, error) { return heatValues(g, beta) }
	return &vectors{name: "heat(" + strings.Join(names, ",") + ")", rows: rows, kernel: dot, linear: true, dim: len(beta)}, nil
}

const heatDense = 128

// heatValues returns exp(−β(D−A))_vv, row-major by vertex and β.
func heatValues(g *graph.Graph, beta []float64) ([]float64, error) {
	n := g.N()
	out := make([]float64, n*len(beta))
	if n <= heatDense {
		values, vectors, ok := dense.Eigen(g.Laplacian(0, nil), n)
		if !ok {
			return nil, fmt.Errorf("the eigenvalues of the Laplacian did not converge")
		}
		decay := make([]float64, n)
		for b, t := range beta {
			for i, l := range values {
				decay[i] = math.Exp(-t * l)
			}
			for v := range n {
				var s float64
				for i, x := range vectors[v*n : (v+1)*n] {
					s += x * x * decay[i]
				}
				out[v*len(beta)+b] = round12(s)
			}
		}
		return out, nil
	}
	var q quadrature
	for v := range n {
		if err := q.heat(g, v, beta, out[v*len(beta):(v+1)*len(beta)]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func round12(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 11-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 1) || scale == 0 {
		return x
	}
	return math.Round(x*scale) / scale
}

// quadrature computes e_vᵀ exp(−βL) e_v by the Lanczos process: with T the tridiagonal
// matrix after k steps from e_v, the value is (exp(−βT))₁₁, exact for polynomials of
// degree 2k−1. The vectors live on the ball that k steps reach.
type quadrature struct {
	scratch    graph.Scratch
	at         []int32
	prev, cur  []float64
	next       []float64
	alpha, off []float64
}

func (q *quadrature) heat(g *graph.Graph, v int, beta []float64, out []float64) error {
	// The degree that exp needs on the spectrum grows like √(βλ₁); steps are added until the
	// values settle to a digit more than is kept. On more steps than vertices the process
	// has seen the whole space.
	var last []float64
	for steps := 8; ; steps *= 2 {
		done := q.lanczos(g, v, steps)
		values, err := q.evaluate(beta)
		if err != nil {
			return err
		}
		settled := last != nil
		for i := range values {
			if last != nil && math.Abs(values[i]-last[i]) > 1e-13*values[i] {
				settled = false
			}
		}
		if done || settled || steps > 2*g.N() {
			for i, x := range values {
				out[i] = round12(x)
			}
			return nil
		}
		last = values
	}
}

// lanczos runs the given number of steps and reports whether the Krylov space is exhausted.
func (q *quadrature) lanczos(g *graph.Graph, v, steps int) bool {
	ball := q.scratch.Ball(g, v, steps)
	n := len(ball)
	if len(q.at) < g.N() {
		q.at = make([]int32, g.N())
		for i := range q.at {
			q.at[i] = -1
		}
	}
	for i, u := range ball {
		q.at[u] = int32(i)
	}
	defer func() {
		for _, u := range ball {
			q.at[u] = -1
		}
	}()
	q.prev = append(q.prev[:0], make([]float64, n)...)
	q.cur = append(q.cur[:0], make([]float64, n)...)
	q.next = append(q.next[:0], make([]float64, n)...)
	q.cur[0] = 1
	q.alpha, q.off = q.alpha[:0], q.off[:0]
	scale := 0.0
	for k := range steps {
		for i, u := range ball {
			s := 0.0
			wt := g.Weights(int(u))
			x := q.cur[i]
			for j, w := range g.Neighbors(int(u)) {
				weight := 1.0
				if wt != nil {
					weight = wt[j]
				}
				y := 0.0 // outside the ball the vector is still zero
				if a := q.at[w]; a >= 0 {
					y = q.cur[a]
				}
				s += weight * (x - y)
			}
			q.next[i] = s
		}
		a := dot(q.next, q.cur)
		b := 0.0
		if k > 0 {
			b = q.off[k-1]
		}
		for i := range q.next {
			q.next[i] -= a*q.cur[i] + b*q.prev[i]
		}
		q.alpha = append(q.alpha, a)
		norm := math.Sqrt(dot(q.next, q.next))
		scale = max(scale, a, norm)
		// The residual is rounding error: the Krylov space is the whole invariant space.
		if norm <= 1e-14*scale {
			return true
		}
		if k == steps-1 {
			break
		}
		q.off = append(q.off, norm)
		for i := range q.next {
			q.next[i] /= norm
		}
		q.prev, q.cur, q.next = q.cur, q.next, q.prev
	}
	return false
}

// evaluate returns (exp(−βT))₁₁ for each β.
func (q *quadrature) evaluate(beta []float64) ([]float64, error) {
	k := len(q.alpha)
	t := make([]float64, k*k)
	for i := range k {
		t[i*k+i] = q.alpha[i]
		if i+1 < k {
			t[i*k+i+1], t[(i+1)*k+i] = q.off[i], q.off[i]
		}
	}
	values, vectors, ok := dense.Eigen(t, k)
	if !ok {
		return nil, fmt.Errorf("the eigenvalues of a Lanczos matrix did not converge")
	}
	out := make([]float64, len(beta))
	for b, x := range beta {
		for i, l := range values {
			out[b] += vectors[i] * vectors[i] * math.Exp(-x*l)
		}
	}
	return out, nil
}
