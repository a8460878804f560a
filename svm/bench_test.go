package svm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// pathC are the values of C of the path benchmarks.
var pathC = []float64{0.001, 0.01, 0.1, 1, 10, 100, 1000}

func BenchmarkTrainClassifier(b *testing.B) {
	gram, labels := dataset(b, "NCI1", 3)
	for _, c := range pathC {
		b.Run(fmt.Sprintf("NCI1/C=%g", c), func(b *testing.B) {
			opt := DefaultOptions()
			opt.C = c
			for b.Loop() {
				if _, err := TrainClassifier(ctx, Full(gram), labels, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPath compares a path with warm starts to as many cold trainings.
func BenchmarkPath(b *testing.B) {
	for _, name := range []string{"MUTAG", "ENZYMES", "PROTEINS", "NCI1"} {
		gram, labels := dataset(b, name, 3)
		b.Run(name+"/warm", func(b *testing.B) {
			for b.Loop() {
				if _, err := Path(ctx, Full(gram), labels, pathC, DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/cold", func(b *testing.B) {
			for b.Loop() {
				for _, c := range pathC {
					opt := DefaultOptions()
					opt.C = c
					if _, err := TrainClassifier(ctx, Full(gram), labels, opt); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
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
				if _, err := TrainClassifier(ctx, view, trainLabels, opt); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("copy/C=%g", c), func(b *testing.B) {
			for b.Loop() {
				if _, err := TrainClassifier(ctx, Full(view.Matrix()), trainLabels, opt); err != nil {
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
				if _, err := Decompose(ctx, Full(gram)); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, loo := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/one-ridge/leave-one-out=%v", name, loo), func(b *testing.B) {
				for b.Loop() {
					if _, err := TrainRidgeClassifier(ctx, Full(gram), labels, 0.1, loo); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRidgePath(b *testing.B) {
	gram, labels := dataset(b, "ENZYMES", 3)
	d, err := Decompose(ctx, Full(gram))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ENZYMES/7-ridges", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.RidgePath(labels, pathC); err != nil {
				b.Fatal(err)
			}
		}
	})
}
