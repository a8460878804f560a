package mlg

import (
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// vertexKernel is a positive semi-definite kernel between vertex v of g and vertex w of h.
type vertexKernel func(g *graph.Graph, v int, h *graph.Graph, w int) float64

// flgKernel returns the FLG kernel of two graphs for a base kernel on their vertices. With
// K the joint Gram matrix of the n₁+n₂ vertices and Q its rank-revealing factor, K = QQᵀ,
// the rows of Q are the features. γ must be positive.
//
// Where γη ≥ 1e-6 it is computed by Cholesky factorisations (docs/explanation/math.md, eq. 3), whose
// error grows like ε/(γη), and below that from the eigenvectors of K. It takes
// O((n₁+n₂)³) time.
func flgKernel(g, h *graph.Graph, kappa vertexKernel, eta, gamma float64) (float64, error) {
	k, err := jointGram(g, h, kappa, eta, gamma)
	if err != nil {
		return 0, err
	}
	if gamma*eta >= minGammaEta {
		return flgSylvester(g, h, k, eta, gamma)
	}
	return flgEigen(g, h, k, 0, eta, gamma)
}

// flgTruncated is flgKernel with only the rank leading eigenvectors of the joint Gram
// matrix, the cheaper variant of the paper.
func flgTruncated(g, h *graph.Graph, kappa vertexKernel, rank int, eta, gamma float64) (float64, error) {
	if rank < 1 {
		return 0, fmt.Errorf("rank = %d, want at least 1", rank)
	}
	k, err := jointGram(g, h, kappa, eta, gamma)
	if err != nil {
		return 0, err
	}
	return flgEigen(g, h, k, rank, eta, gamma)
}

func jointGram(g, h *graph.Graph, kappa vertexKernel, eta, gamma float64) ([]float64, error) {
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

// flgEigen is the definition in the basis of the eigenvectors of the joint Gram matrix with
// eigenvalues above rounding error, or of the leading rank of them when rank > 0.
func flgEigen(g, h *graph.Graph, k []float64, rank int, eta, gamma float64) (float64, error) {
	q, p, err := rankRevealing(k, g.N()+h.N(), rank)
	if err != nil {
		return 0, err
	}
	split := g.N() * p
	return FLG(g, &kernel.Matrix{Rows: g.N(), Cols: p, Data: q[:split]}, h, &kernel.Matrix{Rows: h.N(), Cols: p, Data: q[split:]}, eta, gamma)
}

var errNotPSD = errors.New("a covariance is not positive definite: the base kernel is not positive semi-definite")
