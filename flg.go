package mlg

import (
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

const epsilon = 0x1p-52

// VertexKernel is a positive semi-definite kernel between vertex v of g and vertex w of h.
type VertexKernel func(g *graph.Graph, v int, h *graph.Graph, w int) float64

// LG returns the Laplacian graph kernel of two graphs with the same vertices, matched by
// their numbers: the Bhattacharyya kernel
//
//	k(G₁,G₂) = |(½S₁⁻¹ + ½S₂⁻¹)⁻¹|^½ / (|S₁|^¼ |S₂|^¼),  S = L⁻¹ + γI,  L = D − A + ηI
//
// (docs/math.md, eq. 1). γ may be 0. It takes O(n³) time.
func LG(g, h *graph.Graph, eta, gamma float64) (float64, error) {
	if g.N() != h.N() {
		return 0, fmt.Errorf("the LG kernel needs graphs of one size, these have %d and %d vertices; the FLG kernel has no such limit", g.N(), h.N())
	}
	n := g.N()
	one := kernel.NewMatrix(n, n)
	for i := range n {
		one.Set(i, i, 1)
	}
	return FLG(g, one, h, one, eta, gamma)
}

// FLG returns the feature space Laplacian graph kernel of two graphs whose vertices have
// the given explicit features: row v of fg belongs to vertex v of g. With U the matrix of
// features as columns,
//
//	S = U L⁻¹ Uᵀ + γI,
//
// then eq. (1) of docs/math.md. γ may be 0 when both S have full rank.
//
// It is computed from singular values: with C Cᵀ = L and Y = C⁻¹Uᵀ, |S| = Π (γ + σ_i(Y)²),
// which keeps its relative precision however small γ is. It takes O(n³ + n m²) time.
func FLG(g *graph.Graph, fg *kernel.Matrix, h *graph.Graph, fh *kernel.Matrix, eta, gamma float64) (float64, error) {
	if err := checkFLG(eta, gamma); err != nil {
		return 0, err
	}
	if fg.Rows != g.N() || fh.Rows != h.N() {
		return 0, fmt.Errorf("features of %d and %d vertices for graphs with %d and %d", fg.Rows, fh.Rows, g.N(), h.N())
	}
	if fg.Cols != fh.Cols {
		return 0, fmt.Errorf("features of %d and %d dimensions, want one number", fg.Cols, fh.Cols)
	}
	return flgFromRows(g, fg.Data, h, fh.Data, fg.Cols, eta, gamma)
}

func checkFLG(eta, gamma float64) error {
	if !(eta > 0) || math.IsInf(eta, 1) {
		return fmt.Errorf("eta = %v, want a positive, finite number", eta)
	}
	if !(gamma >= 0) || math.IsInf(gamma, 1) {
		return fmt.Errorf("gamma = %v, want a finite number that is not negative", gamma)
	}
	return nil
}

// flgFromRows is FLG for features as row-major n×m data.
func flgFromRows(g *graph.Graph, fg []float64, h *graph.Graph, fh []float64, m int, eta, gamma float64) (float64, error) {
	ng, nh := g.N(), h.N()
	y := make([]float64, (ng+nh)*m)
	copy(y, fg)
	copy(y[ng*m:], fh)
	for _, part := range []struct {
		g  *graph.Graph
		at int
	}{{g, 0}, {h, ng}} {
		n := part.g.N()
		l := part.g.Laplacian(eta, nil)
		if _, ok := dense.Cholesky(l, n); !ok {
			return 0, errors.New("the regularised Laplacian is not positive definite in float64: eta is too small beside the edge weights")
		}
		dense.ForwardSolve(l, n, y[part.at*m:(part.at+n)*m], m)
	}
	first, err := logCovariance(y[:ng*m], ng, m, gamma)
	if err != nil {
		return 0, err
	}
	second, err := logCovariance(y[ng*m:], nh, m, gamma)
	if err != nil {
		return 0, err
	}
	for i := range y {
		y[i] *= math.Sqrt2 / 2
	}
	both, err := logCovariance(y, ng+nh, m, gamma)
	if err != nil {
		return 0, err
	}
	return expKernel(first/4 + second/4 - both/2), nil
}

// expKernel returns exp(logK), where rounding may have lifted logK above 0.
func expKernel(logK float64) float64 { return math.Exp(math.Min(logK, 0)) }

// logCovariance returns log|YᵀY + γI| for the row-major n×m matrix Y.
func logCovariance(y []float64, n, m int, gamma float64) (float64, error) {
	sv, ok := dense.SingularValues(append([]float64(nil), y...), n, m)
	if !ok {
		return 0, errors.New("the singular values of the features did not converge")
	}
	rank := 0
	var sum float64
	for _, s := range sv {
		// Below this a singular value is rounding error (LAPACK's bound, max(n,m)·ε·σ₁).
		if s > float64(max(n, m))*epsilon*sv[0] {
			rank++
		}
		sum += math.Log(gamma + s*s)
	}
	if gamma == 0 {
		if rank < m {
			return 0, fmt.Errorf("gamma = 0 and the covariance has rank %d of %d; it must be positive here", rank, m)
		}
		return sum, nil
	}
	return sum + float64(m-len(sv))*math.Log(gamma), nil
}

// FLGKernel returns the FLG kernel of two graphs for a base kernel on their vertices. With
// K the joint Gram matrix of the n₁+n₂ vertices and Q its rank-revealing factor, K = QQᵀ,
// the rows of Q are the features. γ must be positive.
//
// Where γη ≥ 1e-6 it is computed by Cholesky factorisations (docs/math.md, eq. 3), whose
// error grows like ε/(γη), and below that from the eigenvectors of K. It takes
// O((n₁+n₂)³) time.
func FLGKernel(g, h *graph.Graph, kappa VertexKernel, eta, gamma float64) (float64, error) {
	k, err := jointGram(g, h, kappa, eta, gamma)
	if err != nil {
		return 0, err
	}
	if gamma*eta >= minGammaEta {
		return flgSylvester(g, h, k, eta, gamma)
	}
	return flgEigen(g, h, k, 0, eta, gamma)
}

// FLGTruncated is FLGKernel with only the rank leading eigenvectors of the joint Gram
// matrix, the cheaper variant of the paper.
func FLGTruncated(g, h *graph.Graph, kappa VertexKernel, rank int, eta, gamma float64) (float64, error) {
	if rank < 1 {
		return 0, fmt.Errorf("rank = %d, want at least 1", rank)
	}
	k, err := jointGram(g, h, kappa, eta, gamma)
	if err != nil {
		return 0, err
	}
	return flgEigen(g, h, k, rank, eta, gamma)
}

// minGammaEta is the least γη at which eq. (3) is used: its error is a small multiple of
// ε/(γη), so that 1e-6 leaves nine digits.
const minGammaEta = 1e-6

func jointGram(g, h *graph.Graph, kappa VertexKernel, eta, gamma float64) ([]float64, error) {
	if err := checkFLG(eta, gamma); err != nil {
		return nil, err
	}
	if gamma == 0 {
		return nil, errors.New("gamma = 0, want a positive number: the covariances of two graphs in the joint feature space of a base kernel are singular")
	}
	ng, n := g.N(), g.N()+h.N()
	at := func(i int) (*graph.Graph, int) {
		if i < ng {
			return g, i
		}
		return h, i - ng
	}
	k := make([]float64, n*n)
	for i := range n {
		a, v := at(i)
		for j := range i + 1 {
			b, w := at(j)
			x := kappa(a, v, b, w)
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("the base kernel of vertices %d and %d is %v, want a finite number", v, w, x)
			}
			k[i*n+j], k[j*n+i] = x, x
		}
	}
	return k, nil
}

// flgSylvester is eq. (3):
//
//	k = (|L₁||L₂|)^¼ |L₁ + K₁₁/γ|^¼ |L₂ + K₂₂/γ|^¼ / |diag(L₁,L₂) + K/(2γ)|^½.
func flgSylvester(g, h *graph.Graph, k []float64, eta, gamma float64) (float64, error) {
	ng, n := g.N(), g.N()+h.N()
	joint := make([]float64, n*n)
	for i, x := range k {
		joint[i] = x / (2 * gamma)
	}
	var logK float64
	for _, part := range []struct {
		g  *graph.Graph
		at int
	}{{g, 0}, {h, ng}} {
		m := part.g.N()
		l := part.g.Laplacian(eta, nil)
		e := make([]float64, m*m)
		for i := range m {
			for j := range m {
				at := (part.at+i)*n + part.at + j
				joint[at] += l[i*m+j]
				e[i*m+j] = l[i*m+j] + k[at]/gamma
			}
		}
		logL, ok := dense.Cholesky(l, m)
		logE, okE := dense.Cholesky(e, m)
		if !ok || !okE {
			return 0, errNotPSD
		}
		logK += (logL + logE) / 4
	}
	logJ, ok := dense.Cholesky(joint, n)
	if !ok {
		return 0, errNotPSD
	}
	return expKernel(logK - logJ/2), nil
}

var errNotPSD = errors.New("a covariance is not positive definite: the base kernel is not positive semi-definite")

// flgEigen is the definition in the basis of the eigenvectors of the joint Gram matrix with
// eigenvalues above rounding error, or of the leading rank of them when rank > 0.
func flgEigen(g, h *graph.Graph, k []float64, rank int, eta, gamma float64) (float64, error) {
	q, p, err := rankRevealing(k, g.N()+h.N(), rank)
	if err != nil {
		return 0, err
	}
	return flgFromRows(g, q[:g.N()*p], h, q[g.N()*p:], p, eta, gamma)
}
