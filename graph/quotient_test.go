package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// whole returns the signature of a whole graph with the given classes (keys are made of them).
func whole(s *Scratch, g *Graph, class []int32) ([]uint32, uint64) {
	vs, key := make([]int32, g.N()), make([]uint64, g.N())
	for v := range vs {
		vs[v] = int32(v)
		key[v] = mix(uint64(class[v]), 77)
	}
	sig, h := s.Signature(g, vs, key, class, nil)
	return slices.Clone(sig), h
}

func randomGraph(r *rand.Rand, n int, p float64, weights int) *Graph {
	b := NewBuilder(n)
	for u := range n {
		for v := range u {
			if r.Float64() < p {
				w := 1.0
				if weights > 0 {
					w = float64(1 + r.IntN(weights))
				}
				b.AddWeightedEdge(u, v, w)
			}
		}
	}
	g, _ := b.Build()
	return g
}

// shuffled returns g with its vertices in random order, and that order.
func shuffled(r *rand.Rand, g *Graph) (*Graph, []int32) {
	var order []int32
	for _, v := range r.Perm(g.N()) {
		order = append(order, int32(v))
	}
	return g.Induced(order), order
}

func cycles(lengths ...int) *Graph {
	n := 0
	for _, k := range lengths {
		n += k
	}
	b, at := NewBuilder(n), 0
	for _, k := range lengths {
		for i := range k {
			b.AddEdge(at+i, at+(i+1)%k)
		}
		at += k
	}
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

// stable is colour refinement by the letter: rounds of sorted signatures until the number of
// colours does not grow. It returns the partition as a colour per vertex.
func stable(g *Graph, class []int32) []int {
	colour := make([]int, g.N())
	for v, c := range class {
		colour[v] = int(c)
	}
	for count := -1; ; {
		next := map[string]int{}
		var keys []string
		sig := make([]string, g.N())
		for v := range g.N() {
			var around []string
			for i, u := range g.Neighbors(v) {
				w := 1.0
				if g.Weighted() {
					w = g.Weights(v)[i]
				}
				around = append(around, string(rune(1000+colour[u]))+string(rune(2000+int(w*16))))
			}
			slices.Sort(around)
			sig[v] = string(rune(1000 + colour[v]))
			for _, a := range around {
				sig[v] += a
			}
			if _, ok := next[sig[v]]; !ok {
				next[sig[v]] = 0
				keys = append(keys, sig[v])
			}
		}
		slices.Sort(keys)
		for i, k := range keys {
			next[k] = i
		}
		for v := range colour {
			colour[v] = next[sig[v]]
		}
		if len(keys) == count {
			return colour
		}
		count = len(keys)
	}
}

// The cells are those of colour refinement by the letter, the quotient does not depend on
// the order of the vertices, and the weights are those between the cells.
func TestSignature(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, bad := range []bool{false, true} {
		if bad { // every weight has the same code: verify must repair it
			old := weightCode
			weightCode = func(float64) uint64 { return 1 }
			defer func() { weightCode = old }()
		}
		for trial := range 400 {
			n := 1 + r.IntN(30)
			weights := []int{0, 1, 3}[trial%3]
			g := randomGraph(r, n, []float64{0.05, 0.1, 0.3}[r.IntN(3)], weights)
			class := make([]int32, n)
			for v := range class {
				class[v] = int32(r.IntN(1 + trial%3))
			}
			var s Scratch
			sig, hash := whole(&s, g, class)
			var q Quotient
			q.Decode(sig)
			want := stable(g, class)
			cells := map[int]bool{}
			for _, c := range want {
				cells[c] = true
			}
			if q.Cells() != len(cells) {
				t.Fatalf("%d cells, want %d", q.Cells(), len(cells))
			}
			// cell numbers of the vertices, from the scratch
			cell := make([]int, n)
			for v := range cell {
				cell[v] = int(s.index[s.cell[v]])
			}
			total := make([]float64, q.Cells()*q.Cells())
			size := make([]int32, q.Cells())
			for v := range n {
				size[cell[v]]++
				if q.Class[cell[v]] != class[v] {
					t.Fatalf("class of the cell of vertex %d is %d, want %d", v, q.Class[cell[v]], class[v])
				}
				for u := range n {
					if (cell[u] == cell[v]) != (want[u] == want[v]) {
						t.Fatal("the partition is not that of colour refinement")
					}
				}
				for i, u := range g.Neighbors(v) {
					w := 1.0
					if g.Weighted() {
						w = g.Weights(v)[i]
					}
					total[cell[v]*q.Cells()+cell[u]] += w
				}
			}
			if !slices.Equal(size, q.Size) {
				t.Fatalf("sizes %v, want %v", q.Size, size)
			}
			got := make([]float64, len(total))
			for i := range q.Cells() {
				got[i*q.Cells()+i] = total[i*q.Cells()+i]
				for e := q.Off[i]; e < q.Off[i+1]; e++ {
					got[i*q.Cells()+int(q.Nbr[e])] = q.Weight[e]
					got[int(q.Nbr[e])*q.Cells()+i] = q.Weight[e]
				}
			}
			if !slices.Equal(got, total) {
				t.Fatalf("weights %v, want %v", got, total)
			}
			h, order := shuffled(r, g)
			var classes []int32
			for _, v := range order {
				classes = append(classes, class[v])
			}
			if s2, h2 := whole(&s, h, classes); !slices.Equal(sig, s2) || h2 != hash {
				t.Fatal("the signature depends on the order of the vertices")
			}
		}
	}
}

// Quotients of graphs that are not isomorphic: a hexagon and two triangles have the same, a
// hexagon and a pentagon have not.
func TestSignatureExamples(t *testing.T) {
	var s Scratch
	one := make([]int32, 12)
	six, h6 := whole(&s, cycles(6), one)
	two, h2 := whole(&s, cycles(3, 3), one)
	five, _ := whole(&s, cycles(5), one)
	if !slices.Equal(six, two) || h6 != h2 {
		t.Error("a hexagon and two triangles have different quotients")
	}
	if slices.Equal(six, five) {
		t.Error("a hexagon and a pentagon have the same quotient")
	}
	var q Quotient
	q.Decode(six)
	if q.Cells() != 1 || q.Size[0] != 6 || len(q.Nbr) != 0 {
		t.Errorf("quotient of a hexagon: %+v", q)
	}
}

// A long path is refined from its ends in n/2 rounds; Hopcroft's rule makes that n log n.
func TestSignatureLongPath(t *testing.T) {
	b := NewBuilder(200_001)
	for v := range 200_000 {
		b.AddEdge(v, v+1)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	var s Scratch
	sig, _ := whole(&s, g, make([]int32, g.N()))
	if sig[0] != 100_001 {
		t.Errorf("%d cells, want 100001", sig[0])
	}
}

// Signatures with equal hashes are compared in full.
func TestClassesCollide(t *testing.T) {
	var c Classes
	a, b := c.Intern([]uint32{1, 2}, 64), c.Intern([]uint32{1, 3}, 64)
	if a == b || c.Intern([]uint32{1, 2}, 64) != a || c.Intern([]uint32{1, 3}, 64) != b {
		t.Error("signatures with one hash are confused")
	}
	ids := [][]int32{{b, a}, {b}}
	n := c.Number(ids)
	if ids[0][0] != 0 || ids[0][1] != 1 || ids[1][0] != 0 || n.Count[0] != 2 || n.Count[1] != 1 || n.Sig[0][1] != 3 {
		t.Errorf("numbers %v, %+v", ids, n)
	}
}

func TestIsomorphic(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for trial := range 200 {
		g := randomGraph(r, 1+r.IntN(14), 0.3, trial%3)
		if h, _ := shuffled(r, g); !Isomorphic(g, h) {
			t.Fatal("a graph is not isomorphic to itself in another order")
		}
	}
	if Isomorphic(cycles(6), cycles(3, 3)) {
		t.Error("a hexagon is isomorphic to two triangles")
	}
	// Two strongly regular graphs with the parameters (16, 6, 2, 2): the rook's graph and
	// Shrikhande's.
	rook, shrikhande := NewBuilder(16), NewBuilder(16)
	for i := range 16 {
		for j := range i {
			x, y := (i/4-j/4+4)%4, (i%4-j%4+4)%4
			if x == 0 || y == 0 {
				rook.AddEdge(i, j)
			}
			if x == 0 && y%2 == 1 || y == 0 && x%2 == 1 || x == y && x%2 == 1 {
				shrikhande.AddEdge(i, j)
			}
		}
	}
	a, _ := rook.Build()
	b, _ := shrikhande.Build()
	if a.M() != 48 || b.M() != 48 {
		t.Fatalf("%d and %d edges, want 48", a.M(), b.M())
	}
	if Isomorphic(a, b) {
		t.Error("the rook's graph is isomorphic to Shrikhande's")
	}
	if h, _ := shuffled(r, b); !Isomorphic(b, h) {
		t.Error("Shrikhande's graph is not isomorphic to itself")
	}
	x, y := NewBuilder(2), NewBuilder(2)
	x.AddLabeledEdge(0, 1, 1, "-")
	y.AddLabeledEdge(0, 1, 1, "=")
	p, _ := x.Build()
	q, _ := y.Build()
	if Isomorphic(p, q) {
		t.Error("edge labels are ignored")
	}
	dup := Duplicates([]*Graph{cycles(6), p, cycles(3, 3), cycles(6), q, p})
	if len(dup) != 2 || !slices.Equal(dup[0], []int{0, 3}) || !slices.Equal(dup[1], []int{1, 5}) {
		t.Errorf("duplicates %v, want [[0 3] [1 5]]", dup)
	}
}

// TestIsomorphicByTrial compares small random graphs with all renumberings of each other.
func TestIsomorphicByTrial(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	labelled := func(n int) *Graph {
		b := NewBuilder(n)
		for v := range n {
			b.SetLabel(v, []string{"C", "C", "O"}[r.IntN(3)])
			for u := range v {
				if r.IntN(2) == 0 {
					b.AddLabeledEdge(u, v, float64(1+r.IntN(2)), []string{"-", "-", "="}[r.IntN(3)])
				}
			}
		}
		g, _ := b.Build()
		return g
	}
	var same func(g, h *Graph, to []int) bool
	same = func(g, h *Graph, to []int) bool {
		v := len(to)
		if v == g.N() {
			return true
		}
		for w := range h.N() {
			if slices.Contains(to, w) || g.Label(v) != h.Label(w) {
				continue
			}
			fits := true
			for u, x := range to {
				p, q := weightAndLabel(g, u, v), weightAndLabel(h, x, w)
				fits = fits && p == q
			}
			if fits && same(g, h, append(to, w)) {
				return true
			}
		}
		return false
	}
	alike := 0
	for range 20000 {
		n := 1 + r.IntN(4)
		g, h := labelled(n), labelled(n)
		want := same(g, h, nil)
		if got := Isomorphic(g, h); got != want {
			t.Fatalf("%v and %v: isomorphic %v, want %v", slices.Collect(g.Edges()), slices.Collect(h.Edges()), got, want)
		}
		if want {
			alike++
		}
	}
	if alike < 100 {
		t.Errorf("only %d pairs are isomorphic", alike)
	}
}

func weightAndLabel(g *Graph, u, v int) Edge {
	for e := range g.Edges() {
		if e.U == min(u, v) && e.V == max(u, v) {
			return Edge{Weight: e.Weight, Label: e.Label}
		}
	}
	return Edge{}
}
