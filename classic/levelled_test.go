package classic

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// The last level of a kernel is the kernel. Of kernels that count vertices the first one sees labels alone, so
// a path and a star are equal to it, and not to those above. Other kernels begin with a step.
func TestLevelled(t *testing.T) {
	labelled := func(edge func(v int) (int, int)) *graph.Graph {
		b := graph.NewBuilder(6)
		for v := range 6 {
			b.SetLabel(v, map[bool]string{true: "B", false: "A"}[v == 0])
		}
		for v := range 5 {
			b.AddEdge(edge(v))
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	graphs := []*graph.Graph{
		labelled(func(v int) (int, int) { return v, v + 1 }), // a path
		labelled(func(v int) (int, int) { return 0, v + 1 }), // a star
	}
	for text, counts := range map[string]bool{
		"wl h=3": true, "wl-oa h=3": true, "propagation steps=3": true, "hadamard h=3": true,
		"neighborhood-hash r=4": false, "nspd r=3": false, "odd-sth h=4": false, "nspd r=3 d=0": true,
		"wl-edge h=3": false, "wl-sp h=3": false, "sp h=3": false, "hadamard h=3 base=sp": false,
	} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		levels := k.(kernel.Levelled).Levels()
		if len(levels) != 4 || levels[3].Kernel.String() != k.String() {
			t.Fatalf("%s: levels %v", text, levels)
		}
		for i, l := range levels {
			m, err := kernel.NewCollection(graphs).Gram(t.Context(), l.Kernel)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && l.Kernel.String() == levels[i-1].Kernel.String() {
				t.Errorf("%s: %s is the level below", text, l.Name)
			}
			if equal := math.Abs(m.At(0, 1)-1) < 1e-12; counts && equal != (i == 0) {
				t.Errorf("%s, %s: %v", text, l.Name, m.At(0, 1))
			}
		}
	}
}

// Trees of any height and sums have no levels, nor has a kernel whose graphs decide how many there would be.
func TestWithoutLevels(t *testing.T) {
	for _, text := range []string{"odd-sth h=0", "wl + nspd", "core", "wl * sp"} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := k.(kernel.Levelled); ok && len(l.Levels()) > 0 {
			t.Errorf("%s: levels %v", text, l.Levels())
		}
	}
}
