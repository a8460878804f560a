package model

import (
	"context"
	"fmt"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
)

// nci1 returns a model of NCI1 as train writes it, for a kernel, and its graphs.
func nci1(b *testing.B, k kernel.Kernel) (*Model, *dataset.Dataset) {
	b.Helper()
	ctx := context.Background()
	ds, err := dataset.Read(ctx, graphtest.Datasets(b)+"/NCI1", dataset.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	o := DefaultLearnOptions()
	o.ForSVM()
	o.C, o.Unscored = []float64{1}, true
	m, _, err := Learn(ctx, ds, choose.Each(k), o)
	if err != nil {
		b.Fatal(err)
	}
	return m, ds
}

// benchKernels are the paper's kernel, a large one of the default candidates, and one that is
// fitted again on loading.
func benchKernels() map[string]kernel.Kernel {
	large := mlg.Default()
	large.Samples, large.Rank, large.Combine = 600, 32, mlg.Sum
	oa := classic.DefaultWL()
	oa.Variant, oa.H = classic.Assignment, 4
	return map[string]kernel.Kernel{"paper": mlg.Default(), "rank32-sum": large, "wl-oa": oa}
}

// BenchmarkDecode reads a model of 4110 graphs, and reports its size.
func BenchmarkDecode(b *testing.B) {
	for name, k := range benchKernels() {
		b.Run(name, func(b *testing.B) {
			m, _ := nci1(b, k)
			data := encoded(b, m)
			b.ReportMetric(float64(len(data))/1e6, "MB")
			for b.Loop() {
				if _, err := Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPredict predicts 256 graphs from a model of 4110.
func BenchmarkPredict(b *testing.B) {
	for name, k := range benchKernels() {
		b.Run(name, func(b *testing.B) {
			m, ds := nci1(b, k)
			block := ds.Graphs[:256]
			if _, err := m.Predict(b.Context(), block[:1], PredictOptions{Nearest: 3}); err != nil { // fits a baseline
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := m.Predict(b.Context(), block, PredictOptions{Nearest: 3}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(block)*b.N)/b.Elapsed().Seconds(), "graphs/s")
		})
	}
}

// BenchmarkTop finds the 10 largest of a million values.
func BenchmarkTop(b *testing.B) {
	r := graphtest.Rand(1)
	x := make([]float64, 1_000_000)
	for i := range x {
		x[i] = r.Float64()
	}
	for _, k := range []int{10, 1000} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				nearest.Largest(x, k)
			}
		})
	}
}
