package vertex

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/param"
)

// heatRecord is the dot product of the vectors of diffusion kernel values
//
//	h_v = (exp(−β(D−A))_vv for each β),
//
// how much of a unit of heat is still at the vertex after the time β. Graphs up to 128 vertices are
// diagonalised; on larger ones every value comes
// from Gauss quadrature by the Lanczos process around the vertex, in time proportional to
// the edges that heat reaches, with the leaves of a hub as one vertex. Values are rounded to 12
// digits, so that vertices that a symmetry of the graph exchanges have the same.
type heatRecord struct {
	Times []float64 `json:"times" want:"positive" help:"Times β at which the heat that stays at a vertex is compared."`
}

// Validate implements record.
func (k heatRecord) Validate() error {
	if n := len(k.Times); n == 0 || n > maxKernels {
		return &param.Error{Of: "heat", Name: "times", Value: fmt.Sprintf("%d numbers", n), Want: fmt.Sprintf("1 to %d", maxKernels)}
	}
	return param.Check("heat", k)
}

func (k heatRecord) kernel() Kernel {
	rows := func(g *graph.Graph) ([]float64, error) { return heatValues(g, k.Times) }
	return &vectors{name: written("heat", k), rows: rows, kernel: dense.DotInOrder, linear: true, dim: len(k.Times)}
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
	f, err := fold(g)
	if err != nil {
		return nil, err
	}
	var q quadrature
	rows := make([]float64, f.N()*len(beta))
	for c := range f.N() {
		if err := q.heat(f, c, beta, rows[c*len(beta):][:len(beta)]); err != nil {
			return nil, err
		}
	}
	for v, c := range f.class {
		copy(out[v*len(beta):][:len(beta)], rows[c*len(beta):])
	}
	return out, nil
}

// folded is a graph with one vertex for each class of vertices that have the same neighbours by edges of the
// same weights, such as the leaves of a hub. On functions that are constant on classes, L = D−A acts as the
// matrix M of the classes with M_cc = d_c and M_cd = −w_cd √(s_c s_d): d are degrees, s sizes, w weights of the
// edges between two vertices. A function on one class that sums to 0 is an eigenvector of d_c. So for v in c
//
//	exp(−βL)_vv = exp(−βM)_cc / s_c + (1 − 1/s_c) exp(−β d_c).
type folded struct {
	*graph.Graph           // its weights are w_cd √(s_c s_d)
	class        []int     // by vertex
	size, degree []float64 // by class
}

// fold returns the classes of g, numbered by their first vertices.
func fold(g *graph.Graph) (*folded, error) {
	f := &folded{class: make([]int, g.N())}
	numbers := map[string]int{}
	var first []int // by class
	var key []byte
	for v := range f.class {
		key = key[:0]
		degree := float64(g.Degree(v))
		for _, u := range g.Neighbors(v) { // ascending
			key = binary.LittleEndian.AppendUint32(key, uint32(u))
		}
		if weights := g.Weights(v); weights != nil {
			degree = 0
			for _, w := range weights {
				degree += w
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(w))
			}
		}
		c, ok := numbers[string(key)]
		if !ok {
			c = len(first)
			numbers[string(key)] = c
			first, f.size, f.degree = append(first, v), append(f.size, 0), append(f.degree, degree)
		}
		f.class[v] = c
		f.size[c]++
	}
	b := graph.NewBuilder(len(first))
	for c, v := range first {
		weights := g.Weights(v)
		for i, u := range g.Neighbors(v) {
			if d := f.class[u]; c < d && int(u) == first[d] {
				w := math.Sqrt(f.size[c] * f.size[d])
				if weights != nil {
					w *= weights[i]
				}
				b.AddWeightedEdge(c, d, w)
			}
		}
	}
	var err error
	f.Graph, err = b.Build()
	return f, err
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

// quadrature computes e_cᵀ exp(−βM) e_c by the Lanczos process: with T the tridiagonal
// matrix after k steps from e_c, the value is (exp(−βT))₁₁, exact for polynomials of
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

// heat writes the values of the vertices of class c.
func (q *quadrature) heat(f *folded, c int, beta []float64, out []float64) error {
	q.start(f.Graph)
	defer q.end()
	// The degree that exp needs on the spectrum grows like √(βλ₁); steps are added until the
	// values settle to a digit more than is kept, or as far as the rounding of eigenvalues, a few ε‖T‖, lets
	// exp(−βλ) settle: around hubs that is less. On more steps than vertices the process has seen the whole space.
	var last []float64
	for steps := 8; ; steps *= 2 {
		done := q.lanczos(f, c, steps)
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
		if done || settled || steps > 2*f.N() {
			share := 1 / f.size[c]
			for i, x := range values {
				out[i] = round12(x*share + (1-share)*math.Exp(-beta[i]*f.degree[c]))
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

// lanczos goes on from c to the given number of steps and reports whether the Krylov space is exhausted.
func (q *quadrature) lanczos(f *folded, c, steps int) bool {
	q.reach(f.Graph, c, steps)
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
		q.multiply(f)
		a := dense.DotInOrder(q.next, q.cur)
		for i := range q.next {
			q.next[i] -= a*q.cur[i] + b*q.prev[i]
		}
		q.alpha = append(q.alpha, a)
		q.norm = math.Sqrt(dense.DotInOrder(q.next, q.next))
		q.scale = max(q.scale, a, q.norm)
		// The residual is rounding error: the Krylov space is the whole invariant space.
		if q.norm <= 1e-14*q.scale {
			return true
		}
	}
	return false
}

// multiply sets next = M cur on the ball.
func (q *quadrature) multiply(f *folded) {
	for i, c := range q.ball {
		s := f.degree[c] * q.cur[i]
		weights := f.Weights(int(c))
		for j, d := range f.Neighbors(int(c)) {
			a := q.at[d]
			if a < 0 {
				continue // outside the ball the vector is still zero
			}
			w := 1.0
			if weights != nil {
				w = weights[j]
			}
			s -= w * q.cur[a]
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
