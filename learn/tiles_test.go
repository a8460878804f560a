package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// workerCounts are those that must agree to the bit.
var workerCounts = []int{1, 2, 7}

// singles returns a random symmetric matrix that single precision holds.
func singles(rng *rand.Rand, n int) *kernel.Matrix {
	m := kernel.NewMatrix(n, n)
	for i := range n {
		for j := range i + 1 {
			v := float64(float32(rng.NormFloat64()))
			m.Set(i, j, v)
			m.Set(j, i, v)
		}
	}
	return m
}

// vectors returns random vectors.
func vectors(rng *rand.Rand, count, n int) [][]float64 {
	out := make([][]float64, count)
	for c := range out {
		out[c] = make([]float64, n)
		for i := range out[c] {
			out[c][i] = rng.NormFloat64()
		}
	}
	return out
}

func tilesOf(t testing.TB, gram *kernel.Matrix) *Triangle {
	t.Helper()
	tiles := zeroTriangle(gram.Rows)
	if err := tiles.put(0, 0, gram); err != nil {
		t.Fatal(err)
	}
	return tiles
}

func TestTilesMultiply(t *testing.T) {
	for _, n := range []int{1, 5, 255, 256, 257, 600} {
		for _, sides := range []int{1, 12, 13, 30} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(sides)))
			gram, x := singles(rng, n), vectors(rng, sides, n)
			tiles := tilesOf(t, gram)
			var first [][]float64
			for _, workers := range workerCounts {
				got, err := tiles.Multiply(work.WithWorkers(t.Context(), workers), x)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
				}
				if !slices.EqualFunc(got, first, slices.Equal) {
					t.Errorf("n = %d: %d workers have other bits than one", n, workers)
				}
			}
			alone, err := tiles.Multiply(t.Context(), x[sides-1:])
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(alone[0], first[sides-1]) {
				t.Errorf("n = %d: a vector has other bits alone", n)
			}
			// The tiles hold the numbers of the matrix, so only sums round: n steps of half a unit in
			// the last place of at most Σ|k x|.
			for c := range x {
				for i, v := range first[c] {
					sum, size := 0.0, 0.0
					for j, k := range gram.Row(i) {
						sum += k * x[c][j]
						size += math.Abs(k * x[c][j])
					}
					if math.Abs(v-sum) > float64(2*n)*0x1p-53*size {
						t.Fatalf("n = %d: product %d has %v at %d, want %v", n, c, v, i, sum)
					}
				}
			}
		}
	}
}

// A kernel fills the tiles block by block, or whole.
func TestNewTiles(t *testing.T) {
	for _, n := range []int{3, 300, 700} {
		gram := singles(rand.New(rand.NewPCG(uint64(n), 5)), n)
		fitted, err := kernel.Precomputed{Matrix: gram}.Fit(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []kernel.Map{fitted.Map, wholeMap{fitted.Map}} {
			tiles, err := NewTriangle(t.Context(), m, fitted.Train)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range n {
					if tiles.At(i, j) != gram.At(i, j) {
						t.Fatalf("n = %d: row %d, column %d is %v, want %v", n, i, j, tiles.At(i, j), gram.At(i, j))
					}
				}
			}
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := NewTriangle(cancelled, fitted.Map, fitted.Train); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), 1e300} {
			gram.Set(n-1, 1, bad)
			if _, err := NewTriangle(t.Context(), fitted.Map, fitted.Train); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row %d, column 1", n-1)) {
				t.Errorf("%v: %v", bad, err)
			}
		}
	}
}

// wholeMap computes its matrix in one block.
type wholeMap struct{ kernel.Map }

func (wholeMap) Whole() {}

func TestTilesBytes(t *testing.T) {
	for _, n := range []int{0, 1, 256, 257, 1000} {
		var bytes int64
		seen := map[*float32]bool{}
		tiles := zeroTriangle(n)
		for i := range tileCount(n) {
			for j := range tileCount(n) {
				tile, _ := tiles.tile(i, j)
				if !seen[&tile[0]] {
					seen[&tile[0]] = true
					bytes += 4 * int64(len(tile))
				}
			}
		}
		if got := TriangleBytes(n); got != bytes {
			t.Errorf("n = %d: %d bytes, want %d", n, got, bytes)
		}
	}
}

func BenchmarkTilesMultiply(b *testing.B) {
	const n = 16000
	tiles := zeroTriangle(n)
	for i := range tileCount(n) {
		for j := range i + 1 {
			tile, _ := tiles.tile(i, j)
			for k := range tile {
				tile[k] = float32(k%17) / 16
			}
		}
	}
	for _, sides := range []int{1, 12, 36, 120} {
		x := vectors(rand.New(rand.NewPCG(1, 2)), sides, n)
		b.Run(fmt.Sprintf("n=%d/sides=%d", n, sides), func(b *testing.B) {
			for b.Loop() {
				if _, err := tiles.Multiply(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*n*n*float64(sides)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFlop/s")
		})
	}
}

// Some of the examples have the entries of the whole matrix.
func TestTilesSelect(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := singles(rng, 600)
	tiles := zeroTriangle(600)
	if err := tiles.put(0, 0, m); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 255, 256, 257, 530} {
		at := rng.Perm(600)[:n]
		got, err := tiles.Select(t.Context(), at)
		if err != nil || got.rows != n {
			t.Fatalf("%d examples: %d rows, error %v", n, got.rows, err)
		}
		for i, r := range at {
			for j, c := range at {
				if got.At(i, j) != m.At(r, c) {
					t.Fatalf("%d examples, entry (%d, %d): %v, want %v", n, i, j, got.At(i, j), m.At(r, c))
				}
			}
		}
	}
	if all, err := tiles.Select(t.Context(), nil); all != tiles || err != nil {
		t.Errorf("all of them are another matrix, error %v", err)
	}
}
