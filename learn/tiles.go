package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Sizes of tiles. The double precision copy of stripRows rows of a tile stays in the second-level
// cache while panels pass. With more rows a small matrix would have too few strips for its workers.
const (
	tileSide  = 256
	stripRows = 128
)

// grid is a matrix in single precision, in tiles of tileSide×tileSide numbers in row-major order. The
// tiles at the end are filled up with zeros. Single precision changes an entry by a share of at most
// 2⁻²⁴.
type grid struct {
	rows, cols int
	// tile returns tile (i, j), or the transpose of it.
	tile func(i, j int) (values []float32, transposed bool)
}

// transposed returns the transpose of a grid, which shares its tiles.
func (g grid) transposed() grid {
	return grid{g.cols, g.rows, func(i, j int) ([]float32, bool) {
		values, transposed := g.tile(j, i)
		return values, !transposed
	}}
}

// newGrid returns a grid of zeros.
func newGrid(rows, cols int) grid {
	tiles := make([][]float32, tileCount(rows)*tileCount(cols))
	for t := range tiles {
		tiles[t] = make([]float32, tileSide*tileSide)
	}
	return grid{rows, cols, func(i, j int) ([]float32, bool) { return tiles[i*tileCount(cols)+j], false }}
}

// at returns the entry in row i and column j.
func (g grid) at(i, j int) float64 {
	values, transposed := g.tile(i/tileSide, j/tileSide)
	if transposed {
		i, j = j, i
	}
	return float64(values[i%tileSide*tileSide+j%tileSide])
}

// tileCount returns the number of tiles along n rows or columns.
func tileCount(n int) int { return (n + tileSide - 1) / tileSide }

// panels are vectors, dense.PanelWidth of them side by side in each panel. Vectors are filled up with
// zeros to whole tiles, and the last panel with vectors of zeros.
type panels [][]float64

// newPanels returns panels for vectors of n numbers.
func newPanels(n, vectors int) panels {
	p := make(panels, (vectors+dense.PanelWidth-1)/dense.PanelWidth)
	for k := range p {
		p[k] = make([]float64, tileCount(n)*tileSide*dense.PanelWidth)
	}
	return p
}

// load sets the first vectors to D_c v_c, for scales on the diagonal of D_c, nil for ones. The vectors
// behind them keep what they have, which no product of others depends on.
func (p panels) load(ctx context.Context, vectors, scales [][]float64) error {
	n := 0
	if len(vectors) > 0 {
		n = len(vectors[0])
	}
	return work.Each(ctx, tileCount(n), 1, func(_, strip int) error {
		first, end := strip*tileSide, min((strip+1)*tileSide, n)
		for c, v := range vectors {
			column := p[c/dense.PanelWidth][first*dense.PanelWidth+c%dense.PanelWidth:]
			for i, x := range v[first:end] {
				if scales != nil {
					x *= scales[c][first+i]
				}
				column[i*dense.PanelWidth] = x
			}
		}
		return nil
	})
}

// vector copies vector c to dst.
func (p panels) vector(c int, dst []float64) {
	panel := p[c/dense.PanelWidth][c%dense.PanelWidth:]
	for i := range dst {
		dst[i] = panel[i*dense.PanelWidth]
	}
}

// multiply sets dst = G·x. The sum over the columns of one tile is by fused multiply-adds in turn. The
// sums of tiles are added in turn. So the bits depend neither on the number of goroutines nor on the
// other vectors.
func (g grid) multiply(ctx context.Context, dst, x panels) error {
	type memory struct {
		tile    [stripRows * tileSide]float64
		product [stripRows * dense.PanelWidth]float64
	}
	workers := make([]*memory, work.Workers(ctx))
	return work.Each(ctx, tileCount(g.rows)*(tileSide/stripRows), 1, func(w, strip int) error {
		if workers[w] == nil {
			workers[w] = new(memory)
		}
		m, first := workers[w], strip*stripRows
		if first >= g.rows {
			return nil
		}
		for k := range dst {
			clear(dst[k][first*dense.PanelWidth:][:stripRows*dense.PanelWidth])
		}
		for j := range tileCount(g.cols) {
			values, transposed := g.tile(first/tileSide, j)
			if transposed {
				widenColumns(&m.tile, values[first%tileSide:])
			} else {
				widen(m.tile[:], values[first%tileSide*tileSide:])
			}
			for k, panel := range x {
				dense.MultiplyPanel(m.product[:], dense.PanelWidth, m.tile[:], tileSide,
					panel[j*tileSide*dense.PanelWidth:][:tileSide*dense.PanelWidth], stripRows, tileSide)
				sums := dst[k][first*dense.PanelWidth:][:len(m.product)]
				for i, v := range m.product {
					sums[i] += v
				}
			}
		}
		return nil
	})
}

// widen copies numbers to double precision.
func widen(dst []float64, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float64(v)
	}
}

// widenColumns sets rows of dst to the first stripRows columns of a tile. It goes through eight rows of
// the tile at once, so that it writes whole cache lines.
func widenColumns(dst *[stripRows * tileSide]float64, tile []float32) {
	row := func(i int) []float32 { return tile[i*tileSide:][:stripRows] }
	for i := 0; i < tileSide; i += 8 {
		r0, r1, r2, r3 := row(i), row(i+1), row(i+2), row(i+3)
		r4, r5, r6, r7 := row(i+4), row(i+5), row(i+6), row(i+7)
		for c := range r0 {
			d := dst[c*tileSide+i:][:8]
			d[0], d[1], d[2], d[3] = float64(r0[c]), float64(r1[c]), float64(r2[c]), float64(r3[c])
			d[4], d[5], d[6], d[7] = float64(r4[c]), float64(r5[c]), float64(r6[c]), float64(r7[c])
		}
	}
}

// Triangle is the Gram matrix of many examples: its lower triangle in single precision. It needs a
// quarter of the memory of a kernel.Matrix. Single precision changes an entry by a share of at most
// 2⁻²⁴.
type Triangle struct{ grid }

// TriangleBytes returns the memory that a Triangle of n examples need, about 2n² bytes.
func TriangleBytes(n int) int64 {
	t := int64(tileCount(n))
	return t * (t + 1) / 2 * tileSide * tileSide * 4
}

// NewTriangle computes the Gram matrix of features. A value that is not finite is an error.
func NewTriangle(ctx context.Context, m kernel.Map, a kernel.Features) (*Triangle, error) {
	t := zeroTriangle(a.Len())
	return t, kernel.Blocks(ctx, m, a, a, t.put)
}

// zeroTriangle returns a matrix of zeros for n examples.
func zeroTriangle(n int) *Triangle {
	tiles := make([][]float32, tileCount(n)*(tileCount(n)+1)/2)
	for t := range tiles {
		tiles[t] = make([]float32, tileSide*tileSide)
	}
	return &Triangle{grid{n, n, func(i, j int) ([]float32, bool) {
		if j > i {
			return tiles[j*(j+1)/2+i], true
		}
		return tiles[i*(i+1)/2+j], false
	}}}
}

// put takes the values on and below the diagonal from row i0 and column j0 on.
func (t *Triangle) put(i0, j0 int, values *kernel.Matrix) error {
	for r := range values.Rows {
		i, row := i0+r, values.Row(r)
		for j, end := j0, min(j0+len(row), i0+r+1); j < end; {
			tile, _ := t.tile(i/tileSide, j/tileSide)
			diagonal := i/tileSide == j/tileSide
			for stop := min(end, (j/tileSide+1)*tileSide); j < stop; j++ {
				v := float32(row[j-j0])
				if notFinite(float64(v)) {
					return fmt.Errorf("learn: Gram matrix: row %d, column %d is %v, want a number below %v", i, j, row[j-j0], math.MaxFloat32)
				}
				tile[i%tileSide*tileSide+j%tileSide] = v
				if diagonal { // such a tile is whole
					tile[j%tileSide*tileSide+i%tileSide] = v
				}
			}
		}
	}
	return nil
}

// Select returns the matrix of some of the examples, in that order; nil means all, and then it is t itself.
func (t *Triangle) Select(ctx context.Context, at []int) (*Triangle, error) {
	if at == nil {
		return t, nil
	}
	out := zeroTriangle(len(at))
	strips := tileCount(len(at))
	return out, work.Each(ctx, strips*(strips+1)/2, 1, func(_, k int) error {
		a := 0
		for ; k > a; a++ { // k counts the tiles of the lower triangle, row by row
			k -= a + 1
		}
		tile, _ := out.tile(a, k)
		for i, row := range at[a*tileSide : min((a+1)*tileSide, len(at))] {
			for j, column := range at[k*tileSide : min((k+1)*tileSide, len(at))] {
				values, transposed := t.tile(row/tileSide, column/tileSide)
				r, c := row%tileSide, column%tileSide
				if transposed {
					r, c = c, r
				}
				tile[i*tileSide+j] = values[r*tileSide+c]
			}
		}
		return nil
	})
}

// At returns the entry in row i and column j.
func (t *Triangle) At(i, j int) float64 { return t.at(i, j) }

// row copies row i to dst.
func (t *Triangle) row(i int, dst []float64) []float64 {
	for j := range dst {
		dst[j] = t.at(i, j)
	}
	return dst
}

// Multiply returns K·x for several vectors, which share the way through the matrix. It takes 2n²
// operations for each.
func (t *Triangle) Multiply(ctx context.Context, x [][]float64) ([][]float64, error) {
	for _, v := range x {
		if len(v) != t.rows {
			panic(fmt.Sprintf("learn: product of a matrix of order %d and %d numbers", t.rows, len(v)))
		}
	}
	in, out := newPanels(t.rows, len(x)), newPanels(t.rows, len(x))
	if err := in.load(ctx, x, nil); err != nil {
		return nil, err
	}
	if err := t.multiply(ctx, out, in); err != nil {
		return nil, err
	}
	y := make([][]float64, len(x))
	return y, work.Each(ctx, len(y), 1, func(_, c int) error {
		y[c] = make([]float64, t.rows)
		out.vector(c, y[c])
		return nil
	})
}

// Nearest returns the largest entry of every row outside the diagonal. A single row has its own.
func (t *Triangle) Nearest() []float64 {
	out := make([]float64, t.rows)
	for i := range out {
		out[i] = t.at(i, (i+1)%t.rows)
	}
	for a := range tileCount(t.rows) {
		for b := range a + 1 {
			tile, _ := t.tile(a, b)
			for i := a * tileSide; i < min((a+1)*tileSide, t.rows); i++ {
				for k, v := range tile[(i-a*tileSide)*tileSide:][:min(tileSide, i-b*tileSide)] { // below the diagonal
					x := float64(v)
					out[i], out[b*tileSide+k] = max(out[i], x), max(out[b*tileSide+k], x)
				}
			}
		}
	}
	return out
}
