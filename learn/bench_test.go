package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/kernel"
)

// pathC are the values of C of the path benchmarks.
var pathC = []float64{0.001, 0.01, 0.1, 1, 10, 100, 1000}

func BenchmarkTrain(b *testing.B) {
	gram, labels := dataset(b, "NCI1", 3)
	for _, c := range pathC {
		b.Run(fmt.Sprintf("NCI1/C=%g", c), func(b *testing.B) {
			opt := DefaultOptions()
			opt.C = c
			for b.Loop() {
				if _, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPath compares a path with warm starts to as many cold trainings: of three
// kernels, for large and small factors between the values of C.
func BenchmarkPath(b *testing.B) {
	wl, labels := classic.DefaultWL(), classic.DefaultWL()
	wl.H, labels.H = 3, 0
	for _, k := range []struct {
		name   string
		kernel kernel.Kernel
	}{{"wl h=3", wl}, {"labels", labels}, {"mlg", mlg.Default()}} {
		for _, name := range []string{"MUTAG", "ENZYMES", "PROTEINS", "NCI1"} {
			gram, labels := datasetGram(b, name, k.kernel)
			for _, cs := range [][]float64{pathC, {0.01, 0.0316, 0.1, 0.316, 1, 3.16, 10}} {
				b.Run(fmt.Sprintf("%s/%s/C=%g-%g", k.name, name, cs[0], cs[6]), func(b *testing.B) {
					warm, cold := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
					for b.Loop() {
						start := time.Now()
						if _, err := TrainPath(ctx, Full(gram), Targets{Labels: labels}, cs, DefaultOptions()); err != nil {
							b.Fatal(err)
						}
						middle := time.Now()
						for _, c := range cs {
							opt := DefaultOptions()
							opt.C = c
							if _, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt); err != nil {
								b.Fatal(err)
							}
						}
						warm, cold = min(warm, middle.Sub(start)), min(cold, time.Since(middle))
					}
					b.ReportMetric(1e3*warm.Seconds(), "path-ms")
					b.ReportMetric(cold.Seconds()/warm.Seconds(), "cold/path")
				})
			}
		}
	}
}

// BenchmarkFold trains on nine tenths of a Gram matrix, as a view and as a copy.
func BenchmarkFold(b *testing.B) {
	gram, labels := dataset(b, "NCI1", 3)
	var train, trainLabels []int
	for _, k := range rand.New(rand.NewPCG(1, 1)).Perm(len(labels))[:len(labels)*9/10] {
		train = append(train, k)
		trainLabels = append(trainLabels, labels[k])
	}
	view := Full(gram).Select(train, train)
	for _, c := range []float64{0.1, 1, 10, 100} {
		opt := DefaultOptions()
		opt.C = c
		b.Run(fmt.Sprintf("view/C=%g", c), func(b *testing.B) {
			for b.Loop() {
				if _, err := Train(ctx, view, Targets{Labels: trainLabels}, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("copy/C=%g", c), func(b *testing.B) {
			for b.Loop() {
				if _, err := Train(ctx, Full(view.Matrix()), Targets{Labels: trainLabels}, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecompose compares what one ridge costs by Cholesky with a decomposition for all.
func BenchmarkDecompose(b *testing.B) {
	for _, name := range []string{"ENZYMES", "PROTEINS"} {
		gram, labels := dataset(b, name, 3)
		b.Run(name+"/decompose", func(b *testing.B) {
			for b.Loop() {
				if _, err := decompose(ctx, Full(gram)); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, loo := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/one-ridge/leave-one-out=%v", name, loo), func(b *testing.B) {
				for b.Loop() {
					opt := DefaultOptions()
					opt.Kind, opt.Ridge, opt.LeaveOneOut = KernelRidge, 0.1, loo
					if _, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRidgePath(b *testing.B) {
	gram, labels := dataset(b, "ENZYMES", 3)
	opt := DefaultOptions()
	opt.Kind, opt.LeaveOneOut = KernelRidge, true
	b.Run("ENZYMES/7-ridges", func(b *testing.B) {
		for b.Loop() {
			if _, err := TrainPath(ctx, Full(gram), Targets{Labels: labels}, pathC, opt); err != nil {
				b.Fatal(err)
			}
		}
	})
}
