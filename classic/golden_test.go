package classic

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// goldenKernel returns the kernel of a key of baselines.json, without normalisation, and
// whether its values are counts.
func goldenKernel(t *testing.T, key string) (k kernel.Kernel, counts bool) {
	t.Helper()
	scan := func(format string, args ...any) bool {
		n, err := fmt.Sscanf(key, format, args...)
		return err == nil && n == len(args)
	}
	wl := DefaultWL()
	wl.Normalize = false
	sp := DefaultShortestPath()
	sp.Normalize = false
	gl := DefaultGraphlet()
	gl.Normalize = false
	rw := DefaultRandomWalk()
	rw.Normalize = false
	var which string
	switch {
	case scan("wl_h%d", &wl.H):
		return wl, true
	case scan("wl_edge_h%d", &wl.H):
		wl.Variant = Edge
		return wl, true
	case scan("wl_oa_h%d", &wl.H):
		wl.Variant = Assignment
		return wl, true
	case key == "shortest_path":
		return sp, true
	case scan("graphlet_k%d_%s", &gl.K, &which):
		gl.Connected = which == "connected"
		return gl, false
	case scan("p_random_walk_p%d_lambda%g", &rw.P, &rw.Lambda):
		return rw, false
	}
	t.Fatalf("no kernel for %q", key)
	return nil, false
}

func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/baselines.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []map[string]json.RawMessage
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for c, values := range cases {
		var raw []struct {
			N      int
			Labels []int
			Edges  [][3]float64
		}
		if err := json.Unmarshal(values["graphs"], &raw); err != nil {
			t.Fatal(err)
		}
		var graphs []*graph.Graph
		for _, r := range raw {
			b := graph.NewBuilder(r.N)
			for v, l := range r.Labels {
				b.SetLabel(v, fmt.Sprint(l))
			}
			for _, e := range r.Edges {
				b.AddWeightedEdge(int(e[0]), int(e[1]), e[2])
			}
			g, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			graphs = append(graphs, g)
		}
		for key, value := range values {
			if key == "graphs" {
				continue
			}
			var want [][]float64
			if err := json.Unmarshal(value, &want); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			k, counts := goldenKernel(t, key)
			got := fitGram(t, k, graphs)
			checked++
			for i := range want {
				for j, w := range want[i] {
					if g := got.At(i, j); counts && g != w || math.Abs(g-w) > 1e-12*math.Max(1, math.Abs(w)) {
						t.Errorf("case %d, %s: k(%d, %d) = %v, want %v", c, key, i, j, g, w)
					}
				}
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d matrices checked, want at least 40", checked)
	}
}

func fitGram(t testing.TB, k kernel.Kernel, graphs []*graph.Graph) *kernel.Matrix {
	t.Helper()
	f, err := k.Fit(context.Background(), graphs)
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	m, err := f.Gram(context.Background())
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	return m
}
