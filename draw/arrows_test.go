package draw

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// Arcs have heads at the ends that they lead to, and names stand at vertices.
func TestArrowheads(t *testing.T) {
	picture := func(directed bool, arcs ...[2]int) string {
		b := graph.NewBuilder(3)
		for v, x := range []float64{0, 1, 2} {
			b.SetCoordinates(v, x, 0)
			b.SetName(v, []string{"main", "read", "write"}[v])
		}
		if directed {
			b.SetDirected()
		}
		for _, a := range arcs {
			b.AddEdge(a[0], a[1])
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		o.Numbers = true
		p, err := Graph(g, o)
		if err != nil {
			t.Fatal(err)
		}
		return string(p.SVG())
	}
	plain := picture(false, [2]int{0, 1}, [2]int{1, 2})
	there, back := picture(true, [2]int{0, 1}, [2]int{1, 2}), picture(true, [2]int{1, 0}, [2]int{1, 2})
	heads := func(svg string) int { return strings.Count(svg, "<polygon") + strings.Count(svg, "Z\"") }
	if heads(there) != heads(plain)+2 || heads(back) != heads(there) || there == back {
		t.Errorf("%d heads, %d turned, %d without directions", heads(there), heads(back), heads(plain))
	}
	if both := picture(true, [2]int{0, 1}, [2]int{1, 0}, [2]int{1, 2}, [2]int{2, 2}); heads(both) != heads(plain)+3 {
		t.Errorf("%d heads of three arcs and a self-loop", heads(both))
	}
	for _, name := range []string{"main", "read", "write"} {
		if !strings.Contains(there, ">"+name+"<") {
			t.Errorf("no name %s in the picture", name)
		}
	}
}
