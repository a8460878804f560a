package model

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// bounded finds the k nearest of a row of similarities of a normalised kernel with bounds:
// for a metric d of the kernel (docs/math.md, Metric) and pivots p,
//
//	d(q, x) ≥ max_p |d(q, p) − d(p, x)|,
//
// so that x whose bound exceeds the distance of the k-th best so far need not be looked at.
// pivots has the rows of similarities of the pivots. It returns the positions and how many
// similarities it looked at, without those of the pivots.
func bounded(row []float64, pivots []int, rows *mlg.Matrix, k int, d func(similarity float64) float64) (best []int, looked int) {
	var toPivot []float64
	for _, p := range pivots {
		toPivot = append(toPivot, d(row[p]))
	}
	values := make([]float64, 0, len(row)) // those looked at
	at := []int{}
	limit := math.Inf(1)
	for x, s := range row {
		bound := 0.0
		for i := range pivots {
			bound = max(bound, math.Abs(toPivot[i]-d(rows.At(i, x))))
		}
		const rounding = 1e-6 // of d near 0, where it is a root
		if bound > limit+rounding {
			continue
		}
		looked++
		values, at = append(values, s), append(at, x)
		if looked >= k && (s > values[Top(values, k)[k-1]] || looked == k || looked%64 == 0) {
			limit = d(values[Top(values, k)[k-1]])
		}
	}
	for _, i := range Top(values, k) {
		best = append(best, at[i])
	}
	return best, looked
}

// divergence is the metric of one Bhattacharyya kernel and of products, chord that of any
// normalised kernel.
func divergence(s float64) float64 { return math.Sqrt(max(0, -2*math.Log(s))) }
func chord(s float64) float64      { return math.Sqrt(max(0, 2-2*s)) }

// farthest returns n pivots, each as far as possible from those before.
func farthest(k *mlg.Matrix, n int, d func(float64) float64) []int {
	out := []int{0}
	near := slices.Repeat([]float64{math.Inf(1)}, k.Rows)
	for len(out) < n {
		next := 0
		for i := range near {
			if near[i] = min(near[i], d(k.At(i, out[len(out)-1]))); near[i] > near[next] {
				next = i
			}
		}
		out = append(out, next)
	}
	return out
}

// Bounds give the result of brute force, with both metrics.
func TestBoundedSearch(t *testing.T) {
	graphs := drugs(t).Graphs
	for _, c := range []struct {
		combine mlg.Combine
		metric  func(float64) float64
	}{{mlg.Top, divergence}, {mlg.Product, divergence}, {mlg.Sum, chord}, {mlg.Top, chord}} {
		o := small()
		o.Combine = c.combine
		m, err := mlg.Fit(t.Context(), graphs, o)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pivots := farthest(k, 8, c.metric)
		rows := mlg.NewMatrix(len(pivots), k.Cols)
		for i, p := range pivots {
			copy(rows.Row(i), k.Row(p))
		}
		total := 0
		for i := range graphs {
			got, looked := bounded(k.Row(i), pivots, rows, 5, c.metric)
			if want := Top(k.Row(i), 5); !slices.Equal(got, want) {
				t.Fatalf("%s: graph %d is like %v, want %v", c.combine, i, got, want)
			}
			total += looked
		}
		t.Logf("%s: %.0f %% of the kernel values are needed", c.combine, 100*float64(total)/float64(len(k.Data)))
	}
}

// BenchmarkBounds reports the share of kernel values that bounds leave to be computed, for
// the 10 nearest of each of 100 graphs of NCI1: what pruning could save at most.
func BenchmarkBounds(b *testing.B) {
	ds, err := dataset.Read(b.Context(), graphtest.Datasets(b)+"/NCI1", dataset.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		combine mlg.Combine
		metric  func(float64) float64
	}{{"top", mlg.Top, divergence}, {"sum", mlg.Sum, chord}} {
		b.Run(c.name, func(b *testing.B) {
			o := mlg.DefaultOptions()
			o.Combine = c.combine
			m, err := mlg.Fit(b.Context(), ds.Graphs, o)
			if err != nil {
				b.Fatal(err)
			}
			k, err := m.Gram(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() { // it forgets metrics; the figures need no repetition
			}
			for _, n := range []int{4, 16, 64} {
				pivots := farthest(k, n, c.metric)
				rows := mlg.NewMatrix(n, k.Cols)
				for i, p := range pivots {
					copy(rows.Row(i), k.Row(p))
				}
				looked := 0
				const queries = 100
				for q := range queries {
					_, l := bounded(k.Row(q*41), pivots, rows, 10, c.metric)
					looked += l
				}
				b.ReportMetric(100*float64(looked)/float64(queries*k.Cols), fmt.Sprintf("%%-needed/%d-pivots", n))
			}
		})
	}
}
