package mlg_test

import (
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
)

// variants are the options that the suite is run with.
func variants() map[string]mlg.Kernel {
	out := make(map[string]mlg.Kernel)
	add := func(name string, f func(o *mlg.Kernel)) {
		o := mlg.Default()
		o.Base, o.Bonds = "labels", mlg.No
		f(&o)
		out[name] = o
	}
	for _, b := range []string{"labels", "attributes", "gaussian", "degree", "heat", "wl", "labels*gaussian", "labels+wl*heat"} {
		add("base "+b, func(o *mlg.Kernel) { o.Base = b })
	}
	add("flg", func(o *mlg.Kernel) { o.Radii = nil })
	add("radii 0,1,1,3", func(o *mlg.Kernel) { o.Radii = []int{0, 1, 1, 3} })
	add("sum", func(o *mlg.Kernel) { o.Combine = mlg.Sum })
	add("product", func(o *mlg.Kernel) { o.Combine = mlg.Product })
	add("mixed", func(o *mlg.Kernel) { o.Combine = mlg.Mixed })
	add("gmean", func(o *mlg.Kernel) { o.Combine = mlg.GeometricMean })
	add("power", func(o *mlg.Kernel) { o.Power = 3 })
	add("discount", func(o *mlg.Kernel) { o.Discount = true })
	return out
}

func TestExactProperties(t *testing.T) {
	graphtest.Slow(t)
	for name, o := range variants() {
		t.Run(name, func(t *testing.T) {
			o.Exact = true
			kerneltest.Run(t, kerneltest.Expect{Kernel: o, OrderFree: true})
		})
	}
	t.Run("pair rank", func(t *testing.T) {
		o := mlg.Default()
		o.Base, o.Bonds, o.Exact, o.PairRank = "labels", mlg.No, true, 4
		// The cut may fall between nearly equal eigenvalues.
		kerneltest.Run(t, kerneltest.Expect{Kernel: o, OrderFree: true, Tolerance: 1e-6})
	})
}

func TestLowRankProperties(t *testing.T) {
	graphtest.Slow(t)
	for name, o := range variants() {
		for _, how := range []mlg.Landmarks{mlg.Uniform, mlg.ByClass, mlg.Pivoted} {
			switch name {
			case "base labels", "base gaussian", "sum", "discount":
			default:
				if how != mlg.Uniform {
					continue
				}
			}
			o := o
			o.Landmarks = how
			run := func(name string, samples, rank int) {
				t.Run(name, func(t *testing.T) {
					if samples > 1000 {
						graphtest.Assembled(t)
					}
					o := o
					o.Samples, o.Rank = samples, rank
					kerneltest.Run(t, kerneltest.Expect{Kernel: o, OrderFree: samples > 1000, Tolerance: 1e-9})
				})
			}
			run(name+" "+string(how)+" all", 1<<20, 1<<20)
			run(name+" "+string(how)+" low", 12, 5)
		}
	}
}

func TestLGProperties(t *testing.T) {
	r := graphtest.Rand(3)
	var gs []*graph.Graph
	for range 6 {
		gs = append(gs, graphtest.Random(r, graphtest.Options{N: 8, Edge: 0.3, Weighted: true}))
	}
	k := mlg.LGKernel{Eta: 0.1, Gamma: 0.1}
	f, err := k.Fit(t.Context(), gs)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range gs {
		for j := range gs {
			if v := m.At(i, j); !(v > 0 && v <= 1) || (i == j) != (v == 1) {
				t.Errorf("k(%d,%d) = %v", i, j, v)
			}
		}
	}
	if _, err := k.Fit(t.Context(), append(gs, graphtest.Path(3))); err == nil {
		t.Error("graphs of different sizes were accepted")
	}
}

// Kernels that are fitted together share the classes of their vertices, and give the bits that each gives alone.
func TestSharedClasses(t *testing.T) {
	graphs, fresh := graphtest.Suite(1), graphtest.Suite(2)
	var kernels []kernel.Kernel
	for _, change := range []func(k *mlg.Kernel){
		func(*mlg.Kernel) {}, func(k *mlg.Kernel) { k.Eta = 1 }, func(k *mlg.Kernel) { k.Combine = mlg.Sum },
		func(k *mlg.Kernel) { k.Discount = true }, func(k *mlg.Kernel) { k.Radii = []int{1, 3} }, func(k *mlg.Kernel) { k.Radii = []int{2, 2} },
		func(k *mlg.Kernel) { k.Base = "degree" }, func(k *mlg.Kernel) { k.Base = "degree"; k.Eta = 1 }, func(k *mlg.Kernel) { k.Gamma = 1 },
	} {
		k := mlg.Default()
		k.Base, k.Samples, k.Rank = "labels*attributes", 20, 5
		change(&k)
		kernels = append(kernels, k)
	}
	kernels = append(kernels, kernel.Subdivided(kernels[6]), kernel.Incident(kernels[6]))
	sum, err := kernel.NewCollection(graphs).Fit(t.Context(), kernel.Mean(kernels...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := sum.Cross(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	alone := make([]*kernel.Matrix, len(kernels))
	for i, k := range kernels {
		fitted, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		if alone[i], err = fitted.Cross(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
	}
	want, err := sum.Combine(t.Context(), nil, func(i int) ([]float64, error) { return alone[i].Data, nil })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Data, want) {
		t.Error("values differ")
	}
}
