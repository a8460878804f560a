package mlg_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// moveEdge returns g with one edge replaced by a random other.
func moveEdge(r *rand.Rand, g *graph.Graph) *graph.Graph {
	edges := slices.Collect(g.Edges())
	drop := r.IntN(len(edges))
	b := graph.NewBuilder(g.N())
	for i, e := range edges {
		if i != drop {
			b.AddEdge(e.U, e.V)
		}
	}
	for {
		if u, v := r.IntN(g.N()), r.IntN(g.N()); u != v && !g.HasEdge(u, v) {
			b.AddEdge(u, v)
			break
		}
	}
	for v := range g.N() {
		b.SetLabel(v, g.Label(v))
	}
	h, err := b.Build()
	if err != nil {
		panic(err)
	}
	return h
}

// What the paper says of the kernel: a small change of edges changes MLG little and WL much.
// Distances √(2−2k) are measured in units of the median distance of two molecules. The
// figures perturb-*.png in bench/runs show the curves.
func TestSmallChanges(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	changed := make([]*graph.Graph, len(ds.Graphs))
	for i, g := range ds.Graphs {
		changed[i] = moveEdge(r, g)
	}
	moved := func(k kernel.Kernel) float64 {
		f, err := k.Fit(t.Context(), ds.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		gram, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cross, err := f.Cross(t.Context(), changed)
		if err != nil {
			t.Fatal(err)
		}
		distance := func(k float64) float64 { return math.Sqrt(max(0, 2-2*k)) }
		var between, along []float64
		for i := range ds.Graphs {
			along = append(along, distance(cross.At(i, i)))
			for j := range i {
				between = append(between, distance(gram.At(i, j)))
			}
		}
		slices.Sort(between)
		slices.Sort(along)
		return along[len(along)/2] / between[len(between)/2]
	}
	o := mlg.Default()
	o.Bonds = mlg.No
	o.Eta, o.Gamma, o.Radii = 1, 1, []int{1, 2, 4}
	multiscale, wl := moved(o), moved(classic.DefaultWL())
	t.Logf("one moved edge: MLG %.2f, WL %.2f of the median distance of two molecules", multiscale, wl)
	if !(multiscale < 0.6*wl) {
		t.Errorf("one moved edge moves MLG by %.2f and WL by %.2f of the median distance; want MLG to move much less", multiscale, wl)
	}
}

func Example() {
	ctx := context.Background()
	ds, err := dataset.Read(ctx, "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		panic(err)
	}
	model, err := mlg.Fit(ctx, ds.Graphs[:200], mlg.Default())
	if err != nil {
		panic(err)
	}
	k, err := model.Cross(ctx, ds.Graphs[200:]) // new graphs against the fitted ones
	if err != nil {
		panic(err)
	}
	fmt.Println(k.Rows, k.Cols)
	// Output: 34 200
}

func ExampleNewExact() {
	ctx := context.Background()
	aspirin, _ := dataset.ParseSMILES("CC(=O)Oc1ccccc1C(=O)O", dataset.DefaultOptions())
	salicylic, _ := dataset.ParseSMILES("OC(=O)c1ccccc1O", dataset.DefaultOptions())
	e, err := mlg.NewExact(ctx, []*graph.Graph{aspirin, salicylic}, mlg.Default())
	if err != nil {
		panic(err)
	}
	k, err := e.Gram(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", k.At(0, 1))
	// Output: 0.1205
}
