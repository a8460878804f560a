package base

import (
	"encoding/binary"
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
// the edges that heat reaches. Vertices with the same neighbours, such as the leaves of a hub, share
// theirs. Values are rounded to 12 digits, so that vertices that a symmetry of the graph exchanges
// have the same.
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
	for v, first := range twins(g) {
		row := out[v*len(beta) : (v+1)*len(beta)]
		if first < v {
			copy(row, out[first*len(beta):])
		} else if err := q.heat(g, v, beta, row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// twins returns, for every vertex, the first one that has the same neighbours by edges of the same weights. A symmetry
// of the graph exchanges the two.
func twins(g *graph.Graph) []int {
	first, out := map[string]int{}, make([]int, g.N())
	var key []byte
	for v := range out {
		key = key[:0]
		for _, u := range g.Neighbors(v) { // ascending
			key = binary.LittleEndian.AppendUint32(key, uint32(u))
		}
		for _, w := range g.Weights(v) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(w))
		}
		at, ok := first[string(key)]
		if !ok {
			at = v
			first[string(key)] = v
		}
		out[v] = at
	}
	return out
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
	ball       []int32
	at         []int32 // by vertex: its place in the ball, −1 outside
	prev, cur  []float64
	next       []float64
	alpha, off []float64 // T
	scale      float64
	norm       float64 // of next, the residual of the last step

	values, residue, first []float64
}

func (q *quadrature) heat(g *graph.Graph, v int, beta []float64, out []float64) error {
	q.start(g)
	defer q.end()
	// The degree that exp needs on the spectrum grows like √(βλ₁); steps are added until the
	// values settle to a digit more than is kept, or as far as the rounding of eigenvalues, a few ε‖T‖, lets
	// exp(−βλ) settle: around hubs that is less. On more steps than vertices the process has seen the whole space.
	var last []float64
	for steps := 8; ; steps *= 2 {
		done := q.lanczos(g, v, steps)
		values, err := q.evaluate(beta)
		if err != nil {
			return err
		}
		settled := last != nil
		for i := range values {
			if last != nil && math.Abs(values[i]-last[i]) > max(1e-13, beta[i]*q.scale*0x1p-49)*values[i] {
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

// start prepares for a process on g.
func (q *quadrature) start(g *graph.Graph) {
	for len(q.at) < g.N() {
		q.at = append(q.at, -1)
	}
	q.ball, q.prev, q.cur, q.next = q.ball[:0], q.prev[:0], q.cur[:0], q.next[:0]
	q.alpha, q.off, q.scale = q.alpha[:0], q.off[:0], 0
}

// end leaves the ball.
func (q *quadrature) end() {
	for _, u := range q.ball {
		q.at[u] = -1
	}
}

// reach extends the vectors to the ball around v of a radius; what they have is its beginning.
func (q *quadrature) reach(g *graph.Graph, v, radius int) {
	for i, u := range q.scratch.Ball(g, v, radius) {
		if i == len(q.ball) {
			q.at[u] = int32(i)
			q.ball = append(q.ball, u)
			q.prev, q.cur, q.next = append(q.prev, 0), append(q.cur, 0), append(q.next, 0)
		}
	}
	if len(q.alpha) == 0 {
		q.cur[0] = 1
	}
}

// lanczos goes on from v to the given number of steps and reports whether the Krylov space is exhausted.
func (q *quadrature) lanczos(g *graph.Graph, v, steps int) bool {
	q.reach(g, v, steps)
	for k := len(q.alpha); k < steps; k++ {
		b := 0.0
		if k > 0 {
			b = q.norm
			q.off = append(q.off, b)
			for i := range q.next {
				q.next[i] /= b
			}
			q.prev, q.cur, q.next = q.cur, q.next, q.prev
		}
		q.multiply(g)
		a := dot(q.next, q.cur)
		for i := range q.next {
			q.next[i] -= a*q.cur[i] + b*q.prev[i]
		}
		q.alpha = append(q.alpha, a)
		q.norm = math.Sqrt(dot(q.next, q.next))
		q.scale = max(q.scale, a, q.norm)
		// The residual is rounding error: the Krylov space is the whole invariant space.
		if q.norm <= 1e-14*q.scale {
			return true
		}
	}
	return false
}

// multiply sets next = L cur on the ball.
func (q *quadrature) multiply(g *graph.Graph) {
	for i, u := range q.ball {
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
}

// evaluate returns (exp(−βT))₁₁ = Σ_i z_i² exp(−βλ_i) for each β, with the eigenvalues λ of T and the first
// entries z of their eigenvectors. It takes O(k²) time.
func (q *quadrature) evaluate(beta []float64) ([]float64, error) {
	if !q.diagonalise() {
		return nil, fmt.Errorf("the eigenvalues of a Lanczos matrix did not converge")
	}
	out := make([]float64, len(beta))
	for b, x := range beta {
		for i, l := range q.values {
			out[b] += q.first[i] * q.first[i] * math.Exp(-x*l)
		}
	}
	return out, nil
}

// diagonalise sets values to the eigenvalues of T, and first to the first entries of its eigenvectors: the
// rotations of T are applied to the first row of the identity alone.
func (q *quadrature) diagonalise() bool {
	q.values, q.residue = append(q.values[:0], q.alpha...), append(append(q.residue[:0], q.off...), 0)
	q.first = append(q.first[:0], make([]float64, len(q.alpha))...)
	q.first[0] = 1
	return dense.QL(q.values, q.residue, q.first, 1)
}
