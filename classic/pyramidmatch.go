package classic

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// PyramidMatch is the pyramid match graph kernel (Nikolentzos, Meladianos, Vazirgiannis: Matching
// node embeddings for graph similarity, AAAI 2017). A vertex is a point in the unit cube. Its
// coordinates are the absolute values of its entries in the eigenvectors of the weighted adjacency
// matrix whose eigenvalues are largest in absolute value. At level l, up to L = Depth, every
// coordinate is divided into 2^l cells, and
//
//	k(G, G') = I_L + Σ_{l=0..L-1} (I_l − I_{l+1}) / 2^(L−l),   I_l = Σ_{a, i, c} min(H_laic(G), H_laic(G')).
//
// H_laic counts the vertices with label a whose coordinate i is in cell c. Vertices that first meet
// in a coarse cell count less. A graph with n < Dim vertices has n coordinates.
//
// Eigenvectors of equal eigenvalues are not unique. Where λ² has m of them, every one of these
// coordinates is √(Π_vv/m), with the projection Π onto their span. That is the root of the mean
// square over all choices, and the absolute value where m = 1. So the order of vertices does not
// matter. Eigenvalues are equal when their squares differ by at most 1e-8 of the largest. A
// coordinate less than 1e-6 under the end of a cell is in the next cell. Both are far above
// rounding errors. A graph takes O(n³) time, and n is at most 8192.
type PyramidMatch struct {
	Depth     int       `json:"depth" want:"0 to 20" help:"Level of the finest cells. It has 2^depth cells on each coordinate."`
	Dim       int       `json:"dim" want:"1 to 100" help:"Number of eigenvectors."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultPyramidMatch returns the normalised kernel of 4 levels and 6 eigenvectors.
func DefaultPyramidMatch() PyramidMatch {
	return PyramidMatch{Depth: 4, Dim: 6, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel, as String, Validate, Fit, Decode and Resolve do.
func (k PyramidMatch) Name() string    { return "pyramid-match" }
func (k PyramidMatch) String() string  { return kernel.Text(k) }
func (k PyramidMatch) Validate() error { return kernel.Check(k) }
func (k PyramidMatch) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k PyramidMatch) Decode(data []byte) (kernel.Map, error) { return decode(k, data) }
func (k PyramidMatch) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}

// Stretch implements kernel.Directional. No parameter is a number of hops.
func (k PyramidMatch) Stretch(int) (kernel.Kernel, bool) { return k, k.Labels.discrete() }

// features counts vertices by label, coordinate and cell. In k, I_0 has the factor 2^−L and I_l the
// factor 2^(l−1−L), so that counts times max(1, 2^(l−1)) are compared by their minimum.
func (k PyramidMatch) recipe() recipe {
	return recipe{
		labels: k.Labels, normalize: k.Normalize, minimum: true,
		weights: []float64{math.Ldexp(1, -k.Depth)}, count: k.count,
	}
}

const (
	maxEigenvectors = 8192 // vertices of a graph
	sameEigenvalue  = 1e-8
	cellEnd         = 1e-6
)

func (k PyramidMatch) count() countFunc {
	var cells keySorter
	var labels localColours
	return func(ctx context.Context, g *coloured, out *vector) error {
		points, dim, err := coordinates(ctx, g.Graph, k.Dim)
		if err != nil {
			return err
		}
		if total := math.Ldexp(float64(g.N()*dim), k.Depth); total > math.MaxUint32 {
			return fmt.Errorf("%d vertices with %d coordinates at level %d, want a smaller depth", g.N(), dim, k.Depth)
		}
		cells.keys = cells.keys[:0]
		labels.set(g.colours[0])
		side := math.Ldexp(1, k.Depth)
		for i, x := range points {
			cell := min(uint64((x+cellEnd)*side), uint64(side)-1)
			cells.keys = append(cells.keys, uint64(labels.local[i/dim])<<32|uint64(i%dim)<<k.Depth|cell)
		}
		cells.sort(0)
		for l := k.Depth; l >= 0; l-- {
			factor := math.Ldexp(1, max(0, l-1))
			eachRun(cells.keys, func(key uint64, count float64) {
				out.addKey(0, factor*count, uint64(l), labels.colour[key>>32], key&math.MaxUint32)
			})
			for i, key := range cells.keys { // two cells of a level are one of the level below
				at := key & (1<<l - 1)
				cells.keys[i] = key - at + at>>1
			}
		}
		return nil
	}
}

// coordinates returns the points of the vertices, row by row, and their dimension.
func coordinates(ctx context.Context, g *graph.Graph, most int) (points []float64, dim int, err error) {
	n := g.N()
	if n > maxEigenvectors {
		return nil, 0, fmt.Errorf("%d vertices, want at most %d: the time for eigenvectors grows with the cube", n, maxEigenvectors)
	}
	dim = min(most, n)
	for p := min(dim+2, n); n > 0; p = min(2*p, n) {
		a := squaredAdjacency(ctx, g)
		if err := ctx.Err(); err != nil {
			return nil, dim, err
		}
		values, vectors, err := dense.LeadingEigen(ctx, a, n, p, 1)
		if err != nil {
			return nil, dim, err
		}
		if points, complete := rootMeanSquares(values, vectors, n, dim); complete {
			return points, dim, nil
		}
	}
	return nil, dim, ctx.Err()
}

// rootMeanSquares returns the first coordinates of n vertices, given leading eigenvalues and their
// vectors. The result is not complete when there may be more vectors of the last eigenvalue that is
// needed.
func rootMeanSquares(values, vectors []float64, n, dim int) (points []float64, complete bool) {
	p, equal := len(values), sameEigenvalue*values[0]
	points = make([]float64, n*dim)
	for first, end := 0, 0; first < dim; first = end {
		zero := values[first] <= equal // the span of all vectors that are left
		for end = first + 1; end < p && values[end-1]-values[end] <= equal; end++ {
		}
		if end == p && p < n && !zero {
			return nil, false
		}
		if zero {
			end = n
		}
		for v := range n {
			row := vectors[v*p : (v+1)*p]
			square := 0.0
			if zero {
				square = max(0, 1-dense.DotInOrder(row[:first], row[:first]))
			} else {
				square = dense.DotInOrder(row[first:end], row[first:end])
			}
			for i := first; i < min(end, dim); i++ {
				points[v*dim+i] = math.Sqrt(square / float64(end-first))
			}
		}
	}
	return points, true
}

// squaredAdjacency returns the square of the weighted adjacency matrix, divided by the square of
// the largest weight. Its eigenvalues are squares. So the largest absolute values come first. It is
// not complete if the context ends.
func squaredAdjacency(ctx context.Context, g *graph.Graph) []float64 {
	n := g.N()
	a := make([]float64, n*n)
	largest := 0.0
	for u := range n {
		for _, w := range g.Weights(u) {
			largest = max(largest, w)
		}
	}
	weight := func(w []float64, i int) float64 {
		if w == nil {
			return 1
		}
		return w[i] / largest
	}
	for u := 0; u < n && ctx.Err() == nil; u++ {
		row, wu := a[u*n:(u+1)*n], g.Weights(u)
		for i, m := range g.Neighbors(u) {
			wm := g.Weights(int(m))
			for j, v := range g.Neighbors(int(m)) {
				row[v] += float64(weight(wu, i) * weight(wm, j))
			}
		}
	}
	return a
}
