package draw

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// ringBlocks returns the blocks of a molecule with two rings and more.
func ringBlocks(t testing.TB, g *graph.Graph) (all []*block) {
	t.Helper()
	m := readMolecule(g)
	adj := adjacencyOf(g)
	systems, ok := adj.ringSystems()
	if !ok {
		t.Fatalf("%s: no layout", g.ID())
	}
	for _, s := range systems {
		all = append(all, s.blocks(adj, m)...)
	}
	return slices.DeleteFunc(all, func(b *block) bool { return len(b.rings) < 2 })
}

// The faces of every drug and structure are cycles that have each bond twice, one more than there are rings, as Euler says.
func TestEmbeddings(t *testing.T) {
	for _, g := range append(drugs(t), structures(t)...) {
		for _, b := range ringBlocks(t, g) {
			all := b.embeddings()
			if len(all) == 0 {
				t.Errorf("%s: no drawing without crossings of %d rings", g.ID(), len(b.rings))
			}
			for _, faces := range all {
				checkFaces(t, g.ID(), b, faces)
			}
		}
	}
}

func checkFaces(t *testing.T, name string, b *block, faces [][]int) {
	t.Helper()
	if len(faces) != len(b.rings)+1 {
		t.Fatalf("%s: %d faces of %d rings", name, len(faces), len(b.rings))
	}
	seen := map[[2]int]int{}
	for _, f := range faces {
		for i, v := range f {
			w := f[(i+1)%len(f)]
			seen[[2]int{min(v, w), max(v, w)}]++
			if slices.Contains(f[:i], v) {
				t.Fatalf("%s: face %v passes atom %d twice", name, f, v)
			}
		}
	}
	for _, e := range b.edges {
		if seen[e] != 2 {
			t.Fatalf("%s: bond %v is in %d faces", name, e, seen[e])
		}
	}
	if len(seen) != len(b.edges) {
		t.Fatalf("%s: faces have %d bonds, the rings %d", name, len(seen), len(b.edges))
	}
}

// graphBlock returns a graph that is one block.
func graphBlock(t *testing.T, n int, edges ...[2]int) *block {
	t.Helper()
	adj := make(adjacency, n)
	for _, e := range edges {
		adj[e[0]], adj[e[1]] = append(adj[e[0]], e[1]), append(adj[e[1]], e[0])
	}
	systems, ok := adj.ringSystems()
	if !ok || len(systems) != 1 {
		t.Fatalf("%d ring systems", len(systems))
	}
	blocks := systems[0].blocks(adj, &molecule{atoms: make([]atom, n), at: make([][]int, n)})
	if len(blocks) != 1 {
		t.Fatalf("%d blocks", len(blocks))
	}
	return blocks[0]
}

// The graphs of Kuratowski and Petersen have no drawing without crossings; K4 has one, and a pair of vertices with three ways
// between them has one as well.
func TestPlanar(t *testing.T) {
	var k4, k5, k33, petersen [][2]int
	for i := range 5 {
		for j := range i {
			k5 = append(k5, [2]int{j, i})
			if i < 4 {
				k4 = append(k4, [2]int{j, i})
			}
		}
		petersen = append(petersen, [2]int{i, (i + 1) % 5}, [2]int{i, i + 5}, [2]int{i + 5, (i+2)%5 + 5})
	}
	for i := range 3 {
		for j := 3; j < 6; j++ {
			k33 = append(k33, [2]int{i, j})
		}
	}
	for _, c := range []struct {
		name  string
		n     int
		edges [][2]int
		want  int
	}{
		{"K4", 4, k4, 1},
		{"K5", 5, k5, 0},
		{"K3,3", 6, k33, 0},
		{"Petersen", 10, petersen, 0},
		{"theta", 5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {4, 2}}, 1},
		// Of four ways between two vertices one has one of the three others opposite.
		{"four ways", 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {4, 2}, {0, 5}, {5, 2}}, 3},
	} {
		b := graphBlock(t, c.n, c.edges...)
		all := b.embeddings()
		if len(all) != c.want {
			t.Errorf("%s: %d embeddings, want %d", c.name, len(all), c.want)
		}
		for _, faces := range all {
			checkFaces(t, c.name, b, faces)
		}
	}
}

// Graphs that were drawn on a plane are found to be planar: triangulated polygons with vertices inside, some edges removed.
func TestPlanarRandom(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		triangles := [][3]int{{0, 1, 2}, {0, 2, 1}}
		edges := [][2]int{{0, 1}, {1, 2}, {0, 2}}
		n := 3
		for range 3 + rng.IntN(12) { // a vertex into a triangle
			k := rng.IntN(len(triangles))
			f := triangles[k]
			triangles[k] = [3]int{f[0], f[1], n}
			triangles = append(triangles, [3]int{f[1], f[2], n}, [3]int{f[2], f[0], n})
			edges = append(edges, [2]int{f[0], n}, [2]int{f[1], n}, [2]int{f[2], n})
			n++
		}
		b := graphBlock(t, n, edges...)
		all := b.embeddings()
		if len(all) != 1 { // triangulations are 3-connected
			t.Fatalf("seed %d: %d embeddings, want 1", seed, len(all))
		}
		checkFaces(t, "triangulation", b, all[0])
	}
}

// Epoxymorphinans have one drawing without crossings, with the nitrogen on faces of six and eight atoms. The outer face is
// another one, so that all of a group on the nitrogen would lie in a ring of eight. Without the oxygen bridge (butorphanol) the
// nitrogen can be outside, with the third ring in a ring of eight; without the third ring (pentazocine) nothing has to go inside.
func TestNitrogenInside(t *testing.T) {
	want := map[string]int{"naloxone": 8, "naltrexone": 8, "nalbuphine": 8, "buprenorphine": 8, "butorphanol": 12, "pentazocine": 12}
	for _, g := range drugs(t) {
		if want[g.ID()] == 0 {
			continue
		}
		m := readMolecule(g)
		b := ringBlocks(t, g)[0]
		largest := 0
		for _, faces := range b.embeddings() {
			for _, f := range faces {
				if slices.ContainsFunc(f, func(v int) bool { return m.atoms[v].symbol == "N" }) {
					largest = max(largest, len(f))
				}
			}
		}
		if largest != want[g.ID()] {
			t.Errorf("%s: the nitrogen lies on a face of %d atoms, want %d", g.ID(), largest, want[g.ID()])
		}
	}
}
