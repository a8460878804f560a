// Command threads writes any number of graphs of online threads as Graph JSON Lines:
//
//	go run ./bench/threads -n 2000 -seed 1 > threads.jsonl
//
// A vertex is a person, an edge says that one answered another. There are no labels. The two classes, half of the
// graphs each, are questions to a few experts, who have most of the edges, and discussions, in which whoever has many
// answers gets more. Graphs have 430 vertices on average, at most 3800, and about 1.16 edges for each: hubs with
// hundreds of leaves. Equal arguments give equal bytes.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

func main() {
	n := flag.Int("n", 2000, "number of graphs")
	seed := flag.Uint64("seed", 1, "seed of the draw")
	flag.Parse()
	if err := run(os.Stdout, *n, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "threads:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, n int, seed uint64) error {
	w := bufio.NewWriterSize(out, 1<<20)
	r := rand.New(rand.NewPCG(seed, 0x746872)) // "thr"
	var line []byte
	for i := range n {
		t := newThread(r, i%2 == 0)
		b := graph.NewBuilder(t.n)
		for _, e := range t.edges {
			b.AddEdge(e[0], e[1])
		}
		g, err := b.Build()
		if err != nil {
			return err
		}
		if line, err = dataset.AppendJSON(line[:0], g.With(fmt.Sprintf("t%d", i+1), t.class)); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

const (
	leastSize, mostSize = 6, 3800
	meanSize            = 430
	spread              = 0.95 // of the logarithm of sizes
	extra               = 0.17 // edges for each vertex besides those of a tree
)

// thread is a graph as it grows.
type thread struct {
	class string
	n     int
	edges [][2]int
	known map[[2]int]bool // edges, the smaller vertex first
	ends  []int           // of all edges: a random one is a vertex in proportion to its degree
}

func newThread(r *rand.Rand, questions bool) *thread {
	size := math.Exp(math.Log(meanSize) - spread*spread/2 + spread*r.NormFloat64())
	t := &thread{class: "discussion", n: min(max(int(size), leastSize), mostSize), known: map[[2]int]bool{}}
	hubs, answered := 1, 0.45 // how often a newcomer answers a hub, not somebody
	if questions {
		t.class, hubs, answered = "questions", 1+r.IntN(4), 0.85
	}
	for v := 1; v < t.n; v++ {
		to := 0
		switch {
		case v <= hubs: // those know the first
		case r.Float64() < answered:
			to = r.IntN(hubs)
		default:
			to = t.ends[r.IntN(len(t.ends))]
		}
		t.join(to, v)
	}
	for range int(extra * float64(t.n)) {
		t.join(t.ends[r.IntN(len(t.ends))], r.IntN(t.n))
	}
	return t
}

func (t *thread) join(u, v int) {
	e := [2]int{min(u, v), max(u, v)}
	if u != v && !t.known[e] {
		t.known[e] = true
		t.edges = append(t.edges, e)
		t.ends = append(t.ends, u, v)
	}
}
