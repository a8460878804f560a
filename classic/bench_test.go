package classic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// benchKernels are the kernels whose speed matters.
func benchKernels() []kernel.Kernel {
	wl := DefaultWL()
	edge, oa, paths := wl, wl, DefaultShortestPath()
	edge.Variant, oa.Variant, paths.H = Edge, Assignment, 5
	ks := []kernel.Kernel{DefaultHistogram(), wl, edge, oa, paths, DefaultShortestPath()}
	for k := 3; k <= 5; k++ {
		g := DefaultGraphlet()
		g.K = k
		c := g
		c.Connected = true
		ks = append(ks, g, c)
	}
	geo := DefaultPlainWalk()
	exp := geo
	exp.Series = Exponential
	ks = append(ks, DefaultPropagation(), DefaultGraphHopper(), DefaultPyramidMatch(), DefaultNeighborhoodHash())
	return append(ks, DefaultRandomWalk(), geo, exp)
}

// BenchmarkGram times Fit and Gram. MLG_BENCH_DATASETS names the datasets, by default
// MUTAG, ENZYMES and NCI1. "alloc-MB" is what one run allocates beyond the Gram matrix,
// garbage included, an upper bound of its memory.
func BenchmarkGram(b *testing.B) {
	names := os.Getenv("MLG_BENCH_DATASETS")
	if names == "" {
		names = "MUTAG,ENZYMES,NCI1"
	}
	for _, name := range strings.Split(names, ",") {
		b.Run(name, func(b *testing.B) {
			graphs := loadDataset(b, name)
			for _, k := range benchKernels() {
				b.Run(strings.ReplaceAll(k.String(), " ", ","), func(b *testing.B) {
					var before, after runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&before)
					for b.Loop() {
						f, err := k.Fit(context.Background(), graphs)
						if err != nil {
							b.Fatal(err)
						}
						if _, err := f.Gram(context.Background()); err != nil {
							b.Fatal(err)
						}
					}
					runtime.ReadMemStats(&after)
					n := float64(len(graphs))
					b.ReportMetric((float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)-8*n*n)/1e6, "alloc-MB")
				})
			}
		})
	}
}

// largeGraph returns a graph with n vertices, about 2.5 n edges and 3 labels: a random
// geometric graph weighted by distance, or a uniform random one with a hub that a fifth of the vertices have for
// a neighbour.
func largeGraph(tb testing.TB, n int, hub bool) *graph.Graph {
	rng := rand.New(rand.NewPCG(uint64(n), 11))
	b := graph.NewBuilder(n)
	for v := range n {
		b.SetLabel(v, string("HEC"[rng.IntN(3)]))
	}
	if hub {
		for v := 1; v <= n/5; v++ {
			b.AddEdge(0, v)
		}
		for range 23 * n / 10 {
			b.AddEdge(rng.IntN(n), rng.IntN(n))
		}
	} else {
		x, y := make([]float64, n), make([]float64, n)
		for v := range n {
			x[v], y[v] = rng.Float64(), rng.Float64()
		}
		for u := range n {
			for v := range u {
				if dx, dy := x[u]-x[v], y[u]-y[v]; math.Pi*(dx*dx+dy*dy)*float64(n) < 5 {
					b.AddWeightedEdge(u, v, 1e-6+math.Hypot(dx, dy))
				}
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// BenchmarkLarge times Fit and Gram on two large graphs, a geometric one and one with a hub.
func BenchmarkLarge(b *testing.B) {
	for _, n := range []int{5000} {
		graphs := []*graph.Graph{largeGraph(b, n, false), largeGraph(b, n, true)}
		ks := benchKernels()
		ordered := DefaultShortestPath()
		ordered.Ordered, ordered.Weighted = true, true
		deep := DefaultRandomWalk()
		deep.P = 10
		for _, k := range append(ks, ordered, deep, DefaultGraphletMix()) {
			if w, ok := k.(PlainWalk); ok {
				w.Lambda = 1e-4 // the hub has an eigenvalue over 30
				k = w
			}
			b.Run(fmt.Sprintf("n=%d/%s", n, strings.ReplaceAll(k.String(), " ", ",")), func(b *testing.B) {
				for b.Loop() {
					f, err := k.Fit(context.Background(), graphs)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := f.Gram(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
