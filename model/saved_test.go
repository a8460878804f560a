package model

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// TestSavedPredictions: every kernel with every parameter, alone, on subdivided and on standardised graphs, in a sum
// and in a product, with a classifier and with a regressor, predicts the same bits before saving and after loading.
// In short mode a kernel with a changed parameter is tried alone only.
func TestSavedPredictions(t *testing.T) {
	graphtest.Slow(t)
	graphs := unicyclic(t, 14)
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "sum" { // made of the others
			continue
		}
		t.Run(name, func(t *testing.T) { savedForms(t, k, graphs, true) })
		for _, p := range param.Of(k) {
			t.Run(name+"/"+p.Name, func(t *testing.T) { savedForms(t, kerneltest.Changed(t, k, p), graphs, !testing.Short()) })
		}
	}
}

// unicyclic returns connected graphs with labels, attributes and weights of one size, as the LG kernel wants them,
// also when they are subdivided; light enough for the series of random walks.
func unicyclic(t *testing.T, n int) []*graph.Graph {
	t.Helper()
	const size = 6
	r := graphtest.Rand(1)
	var out []*graph.Graph
	for range n {
		b := graph.NewBuilder(size)
		b.AddLabeledEdge(size-2, size-1, 0.5, "=") // closes a ring
		for v := range size {
			b.SetLabel(v, []string{"C", "N"}[r.IntN(2)])
			b.SetAttributes(v, []float64{r.NormFloat64(), r.NormFloat64()})
			if v > 0 {
				b.AddLabeledEdge(r.IntN(min(v, size-2)), v, float64(1+r.IntN(8))/16, []string{"-", "="}[r.IntN(2)])
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// savedForms saves models of a kernel in every form, or only alone.
func savedForms(t *testing.T, k kernel.Kernel, graphs []*graph.Graph, every bool) {
	t.Helper()
	if err := k.Validate(); err != nil {
		t.Fatal(err)
	}
	if m, ok := k.(mlg.Kernel); ok && m.PairRank > 0 && len(m.Radii) > 1 { // every pair has its eigenvectors
		m.Radii = m.Radii[:1]
		k = m
	}
	forms := map[string]kernel.Kernel{"alone": k, "subdivided": kernel.Subdivided(k), "incident": kernel.Incident(k), "standardised": kernel.Standardized(k)}
	if h, ok := k.(classic.Histogram); ok && h.Edges { // there are none whose labels could be counted
		delete(forms, "subdivided")
	}
	if _, ok := k.(classic.NumberGaussian); ok { // edges have no attributes
		delete(forms, "subdivided")
	}
	if raw, err := kernel.With(k, "normalize", "false"); err == nil { // numbers and shares, say, differ only so
		forms["raw"] = raw
	}
	if kernel.CheckNormalized(k) == nil {
		wl := classic.DefaultWL()
		forms["sum"] = kernel.Weighted([]float64{0.75, 0.25}, []kernel.Kernel{k, kernel.Subdivided(wl)})
		forms["product"] = kernel.Mean(kernel.Product(kernel.Standardized(k), wl), k)
	}
	for form, k := range forms {
		if !every && form != "alone" && form != "raw" {
			continue
		}
		t.Run(form, func(t *testing.T) {
			for _, values := range []bool{false, true} {
				var named []*graph.Graph
				for i, g := range graphs {
					target := fmt.Sprint(i % 3)
					if values {
						target = fmt.Sprint(i * i % 7)
					}
					named = append(named, g.With(fmt.Sprint("g", i), target))
				}
				m := of(t, named[:9], k)
				if values {
					regress(t, m)
					checkDeviations(t, m, graphs)
				} else {
					classify(t, m, true)
				}
				roundTrip(t, m, named[9:])
			}
		})
	}
}

// checkDeviations compares the deviations of all graphs with those by the definition, from a kernel matrix of all of them.
// Those of the training graphs are the first columns.
func checkDeviations(t *testing.T, m *Model, graphs []*graph.Graph) {
	t.Helper()
	gram, err := m.Kernel.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross, err := m.Kernel.Cross(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	p, n := m.Learner.Process, gram.Rows
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, gram.At(i, j))
		}
		a.SetSym(i, i, gram.At(i, i)+p.Ridge)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(a); err != nil {
		t.Fatal(err)
	}
	one := mat.NewVecDense(n, slices.Repeat([]float64{1}, n))
	got := deviations(t, m, graphs)
	for i, g := range graphs {
		self, err := m.Kernel.Compare(t.Context(), g, g)
		if err != nil {
			t.Fatal(err)
		}
		if i < n && math.Abs(self/gram.At(i, i)-1) > 1e-9 {
			t.Errorf("kernel of graph %d with itself is %v, and %v in the matrix", i, self, gram.At(i, i))
		}
		k := mat.NewVecDense(n, cross.Row(i))
		r := 1 - mat.Inner(one, &inverse, k)
		want := p.Scale * math.Sqrt(max(0, self-mat.Inner(k, &inverse, k)+r*r/mat.Inner(one, &inverse, one))+p.Ridge)
		if math.Abs(got[i]/want-1) > 1e-4 { // an explicit inverse loses digits where kernel values are large
			t.Errorf("deviation of graph %d is %v, want %v", i, got[i], want)
		}
	}
}
