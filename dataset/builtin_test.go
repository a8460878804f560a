package dataset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// TestDrugSizes checks that the number of atoms alone does not give the class: each drug
// is put into the class that is most frequent among the others of nearest size.
func TestDrugSizes(t *testing.T) {
	d, err := Read(context.Background(), "builtin:drugs", DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	right := 0.0
	for i, g := range d.Graphs {
		best := 1 << 30
		votes := map[string]int{}
		for j, h := range d.Graphs {
			dist := max(g.N()-h.N(), h.N()-g.N())
			if j == i || dist > best {
				continue
			}
			if dist < best {
				best = dist
				clear(votes)
			}
			votes[h.Target()]++
		}
		most := slices.Max(slices.Collect(maps.Values(votes)))
		winners := 0
		for _, n := range votes {
			if n == most {
				winners++
			}
		}
		if votes[g.Target()] == most {
			right += 1 / float64(winners)
		}
	}
	share := right / float64(len(d.Graphs))
	t.Logf("class from the number of atoms: %.1f %%", 100*share)
	if share > 0.40 {
		t.Errorf("the number of atoms gives %.1f %% of the classes, want at most 40 %%", 100*share)
	}
}

func TestReadBuiltins(t *testing.T) {
	for _, name := range Builtins() {
		if d := mustRead(t, name); len(d.Graphs) == 0 || d.Graphs[0].Target() == "" {
			t.Errorf("%s: %d graphs", name, len(d.Graphs))
		}
	}
	_, err := Read(context.Background(), "builtin:x", DefaultOptions())
	if err == nil || err.Error() != `no built-in collection "x", want one of builtin:drugs, builtin:scales` {
		t.Error(err)
	}
}

// wlColours returns the colours of all vertices after h iterations as texts.
func wlColours(g *graph.Graph, h int) []string {
	c := slices.Clone(g.Labels())
	for range h {
		next := make([]string, len(c))
		for v := range c {
			var around []string
			for _, u := range g.Neighbors(v) {
				around = append(around, c[u])
			}
			slices.Sort(around)
			next[v] = fmt.Sprint(c[v], around)
		}
		c = next
	}
	return c
}

// TestScalesIsBlindLocally checks the claims of the construction: graphs of the two
// classes with the same lengths have the same colours up to two iterations, and other
// colours after three.
func TestScalesIsBlindLocally(t *testing.T) {
	d := Scales(400, 7)
	for h := range 4 {
		seen := map[string]map[string]bool{} // colours by class
		for _, g := range d.Graphs {
			c := wlColours(g, h)
			slices.Sort(c)
			if seen[g.Target()] == nil {
				seen[g.Target()] = map[string]bool{}
			}
			for _, x := range c {
				seen[g.Target()][x] = true
			}
		}
		if same := maps.Equal(seen["like"], seen["unlike"]); same != (h < 3) {
			t.Errorf("%d iterations: the classes have the same colours: %v", h, same)
		}
	}
	// All that two iterations see is a function of the numbers of vertices: the multiset
	// of colours of a graph depends on its size alone.
	bySize := map[int]string{}
	for _, g := range d.Graphs {
		c := wlColours(g, 2)
		slices.Sort(c)
		text := fmt.Sprint(c)
		if old, ok := bySize[g.N()]; ok && old != text {
			t.Fatalf("two graphs of %d vertices have different colours after two iterations", g.N())
		}
		bySize[g.N()] = text
	}
	sizes := map[string]int{}
	for _, g := range d.Graphs {
		sizes[g.Target()] += g.N()
	}
	if diff := sizes["like"] - sizes["unlike"]; diff < -200 || diff > 200 { // one vertex per graph of a class
		t.Errorf("sizes %v", sizes)
	}
}

func TestScalesIsReproducible(t *testing.T) {
	a, b, c := Scales(20, 3), Scales(20, 3), Scales(20, 4)
	same := func(p, q *Dataset) bool {
		for i := range p.Graphs {
			if !slices.Equal(p.Graphs[i].Labels(), q.Graphs[i].Labels()) || !slices.Equal(edgesOf(p.Graphs[i]), edgesOf(q.Graphs[i])) {
				return false
			}
		}
		return true
	}
	if !same(a, b) || same(a, c) {
		t.Error("equal seeds must give equal graphs, others not")
	}
}
