// Package graphtest makes graphs for tests: a suite of random and special graphs on which
// every kernel is tried, and the folder of real datasets.
package graphtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// Rand returns a seeded source of random numbers.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6d6c67)) }

// Options describes random graphs.
type Options struct {
	N        int     // vertices
	Edge     float64 // probability of an edge
	Labels   int     // number of labels, 0 for none
	Dim      int     // number of attributes
	Weighted bool
}

// Random returns a random graph.
func Random(r *rand.Rand, o Options) *graph.Graph {
	b := graph.NewBuilder(o.N)
	for u := range o.N {
		if o.Labels > 0 {
			b.SetLabel(u, fmt.Sprint(r.IntN(o.Labels)))
		}
		if o.Dim > 0 {
			row := make([]float64, o.Dim)
			for i := range row {
				row[i] = r.NormFloat64()
			}
			b.SetAttributes(u, row)
		}
		for v := range u {
			if r.Float64() >= o.Edge {
				continue
			}
			w := 1.0
			if o.Weighted {
				w = float64(1+r.IntN(40)) / 16
			}
			b.AddWeightedEdge(u, v, w)
		}
	}
	return must(b)
}

func must(b *graph.Builder) *graph.Graph {
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

// Labeled gives g's vertices random labels and, when dim > 0, attributes.
func Labeled(r *rand.Rand, g *graph.Graph, labels, dim int) *graph.Graph {
	b := graph.NewBuilder(g.N())
	for e := range g.Edges() {
		b.AddWeightedEdge(e.U, e.V, e.Weight)
	}
	for v := range g.N() {
		if labels > 0 {
			b.SetLabel(v, fmt.Sprint(r.IntN(labels)))
		}
		if dim > 0 {
			row := make([]float64, dim)
			for i := range row {
				row[i] = r.NormFloat64()
			}
			b.SetAttributes(v, row)
		}
	}
	return must(b)
}

// Path returns a path with n vertices.
func Path(n int) *graph.Graph {
	b := graph.NewBuilder(n)
	for v := 1; v < n; v++ {
		b.AddEdge(v-1, v)
	}
	return must(b)
}

// Cycle returns a cycle with n vertices.
func Cycle(n int) *graph.Graph {
	b := graph.NewBuilder(n)
	for v := range n {
		b.AddEdge(v, (v+1)%n)
	}
	return must(b)
}

// Complete returns the complete graph with n vertices.
func Complete(n int) *graph.Graph {
	b := graph.NewBuilder(n)
	for v := range n {
		for u := range v {
			b.AddEdge(u, v)
		}
	}
	return must(b)
}

// Star returns a star with the given number of leaves.
func Star(leaves int) *graph.Graph {
	b := graph.NewBuilder(leaves + 1)
	for v := range leaves {
		b.AddEdge(0, v+1)
	}
	return must(b)
}

// Grid returns a grid of rows×cols vertices.
func Grid(rows, cols int) *graph.Graph {
	b := graph.NewBuilder(rows * cols)
	for i := range rows {
		for j := range cols {
			if j > 0 {
				b.AddEdge(i*cols+j-1, i*cols+j)
			}
			if i > 0 {
				b.AddEdge((i-1)*cols+j, i*cols+j)
			}
		}
	}
	return must(b)
}

// Union returns the disjoint union of graphs without labels and attributes.
func Union(gs ...*graph.Graph) *graph.Graph {
	n := 0
	for _, g := range gs {
		n += g.N()
	}
	b := graph.NewBuilder(n)
	at := 0
	for _, g := range gs {
		for e := range g.Edges() {
			b.AddWeightedEdge(at+e.U, at+e.V, e.Weight)
		}
		at += g.N()
	}
	return must(b)
}

// Suite returns the graphs on which the properties of kernels are tried: weighted,
// disconnected, with isolated vertices, with one vertex and none, complete, a long path, all
// with labels and two attributes.
func Suite(seed uint64) []*graph.Graph {
	r := Rand(seed)
	gs := []*graph.Graph{
		Random(r, Options{N: 7, Edge: 0.4}),
		Random(r, Options{N: 9, Edge: 0.3, Weighted: true}),
		Random(r, Options{N: 11, Edge: 0.1}), // isolated vertices
		Union(Cycle(5), Path(3), Path(1)),
		Path(1),
		Path(0),
		Complete(6),
		Path(24),
		Star(7),
		Union(Cycle(3), Cycle(3)),
		Cycle(6),
	}
	for i, g := range gs {
		gs[i] = Labeled(r, g, 3, 2)
	}
	return gs
}

// Shuffle returns g with its vertices in random order, and the permutation: vertex v of g is
// vertex perm[v] of the result.
func Shuffle(r *rand.Rand, g *graph.Graph) (*graph.Graph, []int) {
	perm := r.Perm(g.N())
	order := make([]int32, g.N())
	for v, p := range perm {
		order[p] = int32(v)
	}
	return g.Induced(order).With(g.ID(), g.Target()), perm
}

// Long ends a test that takes long in short mode, go test -short, which make test and make check are.
// make test-full runs it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
}

// Slow ends a test that takes about a second or more where tests have to be quick: with MLG_TESTS=quick, which
// is make check, and with the race detector unless MLG_TESTS=full, which is make test-full.
func Slow(t testing.TB) {
	t.Helper()
	if tests := os.Getenv("MLG_TESTS"); tests == "quick" || Race && tests != "full" {
		t.Skip("slow")
	}
}

// Unraced ends a slow test that would take minutes with the race detector.
func Unraced(t testing.TB) {
	t.Helper()
	if Slow(t); Race {
		t.Skip("takes minutes with the race detector")
	}
}

// Assembled ends a test that would take minutes without assembly.
func Assembled(t testing.TB) {
	t.Helper()
	if !assembly {
		t.Skip("takes minutes without assembly")
	}
}

// Missing ends a test that needs what this machine does not have. It is skipped, and fails where
// CI=true: there everything is tested.
func Missing(t testing.TB, format string, what ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("not tested: "+format, what...)
	}
	t.Skipf(format, what...)
}

// NoDevice ends a test that needs a GPU, which could not be opened. It is skipped, also where
// CI=true, and fails where MLG_DEVICE=cuda says that there is one.
func NoDevice(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("MLG_DEVICE") == "cuda" {
		t.Fatal(why)
	}
	t.Skipf("no GPU: %v", why)
}

// Table returns the file of a real table of molecules, from MLG_TABLES or beside the repository.
func Table(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(shared("MLG_TABLES", "tables"), name)
	if _, err := os.Stat(path); err != nil {
		Missing(t, "no table %s; set MLG_TABLES to the folder that holds lipo.csv, delaney.csv, …", path)
	}
	return path
}

// Dataset returns the folder of a real dataset.
func Dataset(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Datasets(t), name)
	if _, err := os.Stat(path); err != nil {
		Missing(t, "no dataset %s; set MLG_DATASETS to the folder that holds MUTAG, ENZYMES, …", path)
	}
	return path
}

// Datasets returns the folder of the real datasets, from MLG_DATASETS or beside the
// repository.
func Datasets(t testing.TB) string {
	t.Helper()
	dir := shared("MLG_DATASETS", "datasets")
	if _, err := os.Stat(dir); err != nil {
		Missing(t, "no datasets in %s; set MLG_DATASETS to the folder that holds MUTAG, ENZYMES, …", dir)
	}
	return dir
}

// shared returns the folder that a variable names, or one of real data beside the repository.
func shared(variable, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "shared", name)
}
