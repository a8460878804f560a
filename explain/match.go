package explain

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Matching pairs vertices of two graphs so that the sum of their similarities at a level is
// as large as it can be. The smaller graph is matched in full.
type Matching struct {
	Level int    `json:"level"`
	Pairs []Pair `json:"pairs"` // by vertex of G, ascending
	// Total is the sum of the similarities of the pairs.
	Total float64 `json:"total"`
}

// Pair is a vertex of G, one of H, and their similarity 𝔎_ℓ.
type Pair struct {
	G          int     `json:"g"`
	H          int     `json:"h"`
	Similarity float64 `json:"similarity"`
}

// matchFeatures matches vertices by their features at a level, the rows of x and y. Vertices of one
// class have the same similarities; which of several equally good matchings comes back depends on
// the order of the vertices alone.
func matchFeatures(ctx context.Context, x, y *kernel.Matrix, level int) (*Matching, error) {
	if err := CheckMatch(x.Rows, y.Rows); err != nil {
		return nil, err
	}
	s := kernel.NewMatrix(x.Rows, y.Rows)
	for v := range x.Rows {
		for w := range y.Rows {
			s.Set(v, w, VertexSimilarity(x.Row(v), y.Row(w)))
		}
	}
	return matching(ctx, s, level)
}

// VertexSimilarity approximates the kernel 𝔎_ℓ of two vertices by the dot product of their features.
// Equal features, as those of vertices of one class, have similarity 1: what the features leave out of
// such a vertex is the same on both sides. Features that are all 0 are like nothing.
func VertexSimilarity[T float32 | float64](a, b []T) float64 {
	equal, dot := true, 0.0
	for d, v := range a {
		dot += float64(v) * float64(b[d])
		equal = equal && v == b[d]
	}
	if equal && dot > 0 {
		return 1
	}
	return min(dot, 1)
}

// MatchExact matches vertices by 𝔎_ℓ at a level, 0 … L, of an exact multiscale kernel k, which may have a form;
// with bonds by its mean with that of the graphs whose edges are vertices.
func MatchExact(ctx context.Context, g, h *graph.Graph, k kernel.Kernel, level int) (*Matching, error) {
	var levels []kernel.Level
	if x, ok := k.(kernel.Levelled); ok {
		levels = x.Levels()
	}
	if level < 0 || level >= len(levels) {
		return nil, fmt.Errorf("level %d, want 0 … %d", level, len(levels)-1)
	}
	if err := CheckMatch(g.N(), h.N()); err != nil {
		return nil, err
	}
	s := kernel.NewMatrix(g.N(), h.N())
	sum, err := kernel.NewCollection([]*graph.Graph{g, h}).Sum(levels[level].Kernel)
	if err != nil {
		return nil, err
	}
	for i, t := range sum.Sum.Terms { // one, or more with bonds
		f := sum.Factors[sum.Positions(i)[0]]
		two, err := f.Training() // their first vertices are those of the graphs
		if err != nil {
			return nil, err
		}
		o, ok := f.InForm().(mlg.Kernel)
		if !ok {
			return nil, fmt.Errorf("%s does not compare vertices", f)
		}
		e, err := mlg.NewExact(ctx, two, o)
		if err != nil {
			return nil, err
		}
		k, err := e.MLS(ctx, 0, 1)
		if err != nil {
			return nil, err
		}
		for v := range s.Rows {
			for w := range s.Cols {
				s.Set(v, w, s.At(v, w)+t.Weight*k.At(v, w))
			}
		}
	}
	return matching(ctx, s, level)
}

// CheckMatch returns an error if the similarities of the vertices of two graphs, which have g and h of them, do not fit into
// memory, for two kernels and their sum.
func CheckMatch(g, h int) error { return work.CheckMatrices(3, g, h, "match smaller graphs") }

func matching(ctx context.Context, s *kernel.Matrix, level int) (*Matching, error) {
	cols, err := assign(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &Matching{Level: level, Pairs: []Pair{}}
	for v, w := range cols {
		if w >= 0 {
			k := s.At(v, w)
			out.Pairs = append(out.Pairs, Pair{G: v, H: w, Similarity: k})
			out.Total += k
		}
	}
	return out, nil
}

// assign gives each row of a its own column, or each column its own row where there are
// fewer columns, such that the sum of the entries is as large as possible. It returns the
// column of each row, −1 for none, or an error that names an entry that is not finite.
//
// It is the Hungarian method by shortest augmenting paths, in O(r²c) time for r rows and
// c ≥ r columns.
func assign(ctx context.Context, a *kernel.Matrix) ([]int, error) {
	if k := slices.IndexFunc(a.Data, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }); k >= 0 {
		return nil, fmt.Errorf("entry (%d, %d) of the matrix to assign is %v, want a finite number", k/a.Cols, k%a.Cols, a.Data[k])
	}
	if a.Rows > a.Cols {
		t := kernel.NewMatrix(a.Cols, a.Rows)
		for i := range a.Rows {
			for j, x := range a.Row(i) {
				t.Set(j, i, x)
			}
		}
		out := slices.Repeat([]int{-1}, a.Rows)
		rows, err := hungarian(ctx, t)
		for j, i := range rows {
			out[i] = j
		}
		return out, err
	}
	return hungarian(ctx, a)
}

// hungarian solves the assignment problem with the costs −a_ij for at most as many rows as
// columns. Potentials u and v keep the reduced costs −a_ij − u_i − v_j at 0 for assigned
// pairs and above otherwise. Each row in turn starts a shortest path over reduced costs, on
// which assigned columns lead on to their rows; it ends at a free column, the assignments
// along it are exchanged, and the potentials raised by what the path has left over.
func hungarian(ctx context.Context, a *kernel.Matrix) ([]int, error) {
	rows, cols := a.Rows, a.Cols
	column := make([]int, rows)           // of a row
	row := slices.Repeat([]int{-1}, cols) // of a column, −1 when free
	u, v := make([]float64, rows), make([]float64, cols)
	dist := make([]float64, cols) // length of the shortest path to a column
	from := make([]int, cols)     // row before the column on that path
	done := make([]bool, cols)
	meter := work.NewMeter(ctx, "matching", rows)
	for start := range rows {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for j := range cols {
			dist[j], done[j] = math.Inf(1), false
		}
		i, length, end := start, 0.0, -1
		for end < 0 {
			next := -1
			for j, x := range a.Row(i) {
				if done[j] {
					continue
				}
				if d := length - x - u[i] - v[j]; d < dist[j] {
					dist[j], from[j] = d, i
				}
				if next < 0 || dist[j] < dist[next] {
					next = j
				}
			}
			length = dist[next]
			if row[next] < 0 {
				end = next
				break
			}
			done[next] = true
			i = row[next]
		}
		u[start] += length
		for j := range cols {
			if done[j] {
				u[row[j]] += length - dist[j]
				v[j] -= length - dist[j]
			}
		}
		for j := end; ; {
			i := from[j]
			row[j] = i
			if i == start {
				column[i] = j
				break
			}
			column[i], j = j, column[i]
		}
		meter.Add(1)
	}
	return column, nil
}
