package baseline

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
)

// benchKernels are the kernels whose speed matters.
func benchKernels() []mlg.Kernel {
	wl := DefaultWL()
	edge, oa := wl, wl
	edge.Variant, oa.Variant = Edge, Assignment
	return []mlg.Kernel{DefaultHistogram(), wl, edge, oa, DefaultShortestPath()}
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
