package mlg

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/spd"
)

// prepared is a neighbourhood class or a whole graph, prepared for comparison with others by
// eq. (3) of docs/explanation/math.md on its quotient. With A = N L_q, s the factors size·discount of
// the cells, K the kernel of the level below between the cells:
//
//	D = A + s K s/(2γ),   E = A + s K s/γ,
//	log k(1,2) = ¼(log|A₁| + log|E₁| + log|A₂| + log|E₂|) − ½ log|D₁₂|,
//
// where D₁₂ is the joint D of the two. Where weights lie far apart, D and E are those of the
// congruent form C⁻¹ D C⁻ᵀ = I + C⁻¹ s K s C⁻ᵀ/(2γ) with A = C Cᵀ, whose |A| is 1: beside large
// weights, A itself has lost η and K/γ.
type prepared struct {
	cells []int32   // by cell: its number at the level below
	scale []float64 // by cell: s
	chol  []float64 // C, or nil for D as it is
	d     []float64 // D, packed lower triangle
	logD  float64
	self  float64 // ¼(log|A| + log|E|)

	lead, follow power // exp(self − ½ log|D|) and exp(self), which may leave the range
}

// power is exp(x) as mantissa·2^exponent, which does not overflow.
type power struct {
	mantissa float64
	exponent int
}

func newPower(x float64) power {
	e := math.Floor(x / math.Ln2)
	return power{mantissa: math.Exp(x - e*math.Ln2), exponent: int(e)}
}

// preparer prepares quotients; it holds buffers of one worker.
type preparer struct {
	q       graph.Quotient
	a, k, e []float64
	sums    []float64
}

func (p *preparer) prepare(quotient []uint32, below values, kern *Kernel) (*prepared, error) {
	p.q.Decode(quotient)
	m := p.q.Cells()
	it := &prepared{cells: slices.Clone(p.q.Class)}
	for i, n := range p.q.Size {
		it.scale = append(it.scale, float64(n)/float64(1+p.q.Tag[i]))
	}
	p.a = laplacian(&p.q, kern.Eta, p.a)
	p.k, p.e = dense.Grow(p.k, m*m), dense.Grow(p.e, m*m)
	below.block(p.k, it.cells, it.cells)
	for i := range m {
		for j := range m {
			p.k[i*m+j] *= it.scale[i] * it.scale[j] / (2 * kern.Gamma)
		}
	}
	wide := kern.wide(&p.q, p.a)
	copy(p.e, p.a)
	p.sums = rowSums(&p.q, kern.Eta, p.sums)
	logA, okA := factorLaplacian(p.a, p.sums, m)
	if wide {
		it.chol, logA = slices.Clone(p.a), 0
		dense.ForwardSolve(it.chol, m, p.k, m)
		transpose(p.k, m)
		dense.ForwardSolve(it.chol, m, p.k, m)
		clear(p.e)
		for i := range m {
			p.e[i*m+i] = 1
		}
	}
	it.d = make([]float64, spd.Size(m))
	for i := range m {
		for j := range i + 1 {
			it.d[spd.Index(i, j)] = p.e[i*m+j] + p.k[i*m+j]
			p.e[i*m+j] += 2 * p.k[i*m+j]
		}
	}
	logE, okE := dense.Cholesky(p.e, m)
	unpack(p.e, it.d, m)
	logD, okD := dense.Cholesky(p.e, m)
	if !okA {
		return nil, errOverflow
	}
	if !okE || !okD {
		return nil, errPrecision
	}
	it.self = (logA + logE) / 4
	it.logD = logD
	it.lead, it.follow = newPower(it.self-logD/2), newPower(it.self)
	return it, nil
}

var errPrecision = errors.New("a covariance is not positive definite in float64: the base kernel is not positive semi-definite, or gamma or eta is too small for the kernel values")

var errOverflow = errors.New("a sum of edge weights, or eta times a number of vertices, is too large for float64")

// transpose transposes a square matrix of order m.
func transpose(a []float64, m int) {
	for i := range m {
		for j := range i {
			a[i*m+j], a[j*m+i] = a[j*m+i], a[i*m+j]
		}
	}
}

// unpack writes a packed lower triangle into the lower triangle of a row-major matrix.
func unpack(dst, packed []float64, m int) {
	at := 0
	for i := range m {
		copy(dst[i*m:i*m+i+1], packed[at:at+i+1])
		at += i + 1
	}
}

// featurePair returns log k of two quotients by the definition, with one row per cell instead of
// per vertex. explicit are the features of the classes below; without them they are
// those of jointFeatures.
func featurePair(a, b *graph.Quotient, below values, explicit *features, kern *Kernel) (float64, error) {
	var q []float64 // row a of N q: the size of the cell over its discount, times its features
	var p int
	if explicit != nil {
		p = explicit.width
		for _, x := range []*graph.Quotient{a, b} {
			for i, c := range x.Class {
				scale := float64(x.Size[i]) / float64(1+x.Tag[i])
				for _, v := range explicit.row(c) {
					q = append(q, scale*v)
				}
			}
		}
	} else {
		var err error
		if q, p, err = jointFeatures(a, b, below, kern.PairRank); err != nil {
			return 0, err
		}
	}
	one, two := laplacian(a, kern.Eta, nil), laplacian(b, kern.Eta, nil)
	return logFLG(one, two, rowSums(a, kern.Eta, nil), rowSums(b, kern.Eta, nil), q, p, kern.Gamma)
}

// jointFeatures returns the rows of N q for the eigenvectors of the joint Gram matrix of two
// quotients. It takes all eigenvectors above rounding error, or the leading rank of them. With λ, u
// the eigenpairs of s̃ K s̃, s̃ = √size·discount, a vertex of cell a has the features
// √(λ/size_a)·u_a.
func jointFeatures(a, b *graph.Quotient, below values, rank int) (q []float64, p int, err error) {
	cells, sizes := slices.Concat(a.Class, b.Class), slices.Concat(a.Size, b.Size)
	n := len(cells)
	weight := make([]float64, n)
	for i, tag := range slices.Concat(a.Tag, b.Tag) {
		weight[i] = math.Sqrt(float64(sizes[i])) / float64(1+tag)
	}
	k := make([]float64, n*n)
	below.block(k, cells, cells)
	for i := range n {
		for j := range n {
			k[i*n+j] *= weight[i] * weight[j]
		}
	}
	if q, p, err = rankRevealing(k, n, rank); err != nil {
		return nil, 0, err
	}
	for i, size := range sizes {
		for j := range p {
			q[i*p+j] *= math.Sqrt(float64(size))
		}
	}
	return q, p, nil
}

// rankRevealing returns the rows of Q, n×p, with QQᵀ = K up to rounding error, from the
// eigenvectors of K. With maxRank > 0 it returns the closest Q with maxRank columns. The truncated
// kernels of a level need not be positive semi-definite, so negative eigenvalues are then dropped.
func rankRevealing(k []float64, n, maxRank int) (q []float64, p int, err error) {
	values, vectors, ok := dense.Eigen(k, n)
	if !ok {
		return nil, 0, errors.New("the eigenvalues of a base kernel did not converge")
	}
	if n == 0 {
		return nil, 0, nil
	}
	// Eigenvalues of a Gram matrix carry an absolute error of about n·ε·λ₁. One that is
	// negative by much more than that is no rounding error.
	noise := float64(n) * epsilon * math.Abs(values[n-1])
	if maxRank == 0 && values[0] < -1e3*noise {
		return nil, 0, fmt.Errorf("the base kernel is not positive semi-definite: its Gram matrix has the eigenvalues %.3g and %.3g", values[0], values[n-1])
	}
	for p < n && (maxRank == 0 || p < maxRank) && values[n-1-p] > noise {
		p++
	}
	q = make([]float64, n*p)
	for j := range p {
		r := math.Sqrt(values[n-1-j])
		for i := range n {
			q[i*p+j] = vectors[i*n+n-1-j] * r
		}
	}
	return q, p, nil
}
