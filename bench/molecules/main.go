// Command molecules writes any number of molecule-like graphs as Graph JSON Lines, made from
// those of a dataset by seeded edits:
//
//	go run ./bench/molecules -n 1000000 -seed 1 DATASET > million.jsonl
//
// A graph is a random one of the dataset with one to eight edits: an atom changes its label,
// a leaf is added or taken off, a ring is closed or opened. Atoms keep at most four bonds
// where they had no more, and the graph stays as connected as it was. New labels have the
// frequencies of the dataset. The target is that of the graph it was made from. Equal
// arguments give equal bytes.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

func main() {
	n := flag.Int("n", 1000, "number of graphs")
	seed := flag.Uint64("seed", 1, "seed of the edits")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), *n, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "molecules:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, path string, n int, seed uint64) error {
	ds, err := dataset.Read(context.Background(), path, dataset.DefaultOptions())
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 1<<20)
	r := rand.New(rand.NewPCG(seed, 0x6d6f6c)) // "mol"
	var labels []string                        // by vertex of the dataset
	for _, g := range ds.Graphs {
		labels = append(labels, g.Labels()...)
	}
	if len(labels) == 0 {
		return fmt.Errorf("%s: no vertex labels", path)
	}
	var line []byte
	for i := range n {
		g := ds.Graphs[r.IntN(len(ds.Graphs))]
		m := newMolecule(g)
		for range 1 + r.IntN(8) {
			m.edit(r, labels)
		}
		x, err := m.build(fmt.Sprintf("m%d", i+1), g.Target())
		if err != nil {
			return err
		}
		if line, err = dataset.AppendJSON(line[:0], x); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// molecule is a graph that can be changed.
type molecule struct {
	label []string
	adj   [][]int
}

func newMolecule(g *graph.Graph) *molecule {
	m := &molecule{label: slices.Clone(g.Labels()), adj: make([][]int, g.N())}
	for v := range m.adj {
		for _, u := range g.Neighbors(v) {
			m.adj[v] = append(m.adj[v], int(u))
		}
	}
	return m
}

const valence = 4

// edit changes something; what turns out to be impossible is left.
func (m *molecule) edit(r *rand.Rand, labels []string) {
	n := len(m.label)
	v := r.IntN(n)
	switch r.IntN(5) {
	case 0: // another atom
		m.label[v] = labels[r.IntN(len(labels))]
	case 1: // a new leaf
		if len(m.adj[v]) < valence {
			m.label = append(m.label, labels[r.IntN(len(labels))])
			m.adj = append(m.adj, nil)
			m.join(v, n)
		}
	case 2: // one leaf less
		if len(m.adj[v]) == 1 && n > 4 {
			m.part(v, m.adj[v][0])
			m.remove(v)
		}
	case 3: // a ring of 5 or 6
		d := m.distances(v)
		for range 10 {
			u := r.IntN(n)
			if (d[u] == 4 || d[u] == 5) && len(m.adj[v]) < valence && len(m.adj[u]) < valence {
				m.join(v, u)
				return
			}
		}
	case 4: // a ring opened
		if len(m.adj[v]) == 0 {
			return
		}
		u := m.adj[v][r.IntN(len(m.adj[v]))]
		m.part(v, u)
		if m.distances(v)[u] < 0 { // it was a bridge
			m.join(v, u)
		}
	}
}

func (m *molecule) join(u, v int) {
	m.adj[u] = append(m.adj[u], v)
	m.adj[v] = append(m.adj[v], u)
}

func (m *molecule) part(u, v int) {
	for _, e := range [][2]int{{u, v}, {v, u}} {
		list := m.adj[e[0]]
		last := len(list) - 1
		list[slices.Index(list, e[1])] = list[last]
		m.adj[e[0]] = list[:last]
	}
}

// remove takes out a vertex without edges; the last one gets its number.
func (m *molecule) remove(v int) {
	last := len(m.label) - 1
	for _, u := range m.adj[last] {
		m.adj[u][slices.Index(m.adj[u], last)] = v
	}
	m.label[v], m.adj[v] = m.label[last], m.adj[last]
	m.label, m.adj = m.label[:last], m.adj[:last]
}

// distances returns the distances from v, −1 where there is no path.
func (m *molecule) distances(v int) []int {
	d := slices.Repeat([]int{-1}, len(m.adj))
	d[v] = 0
	queue := []int{v}
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		for _, u := range m.adj[x] {
			if d[u] < 0 {
				d[u] = d[x] + 1
				queue = append(queue, u)
			}
		}
	}
	return d
}

func (m *molecule) build(id, target string) (*graph.Graph, error) {
	b := graph.NewBuilder(len(m.label))
	b.SetID(id)
	b.SetTarget(target)
	for v, l := range m.label {
		b.SetLabel(v, l)
		for _, u := range m.adj[v] {
			if v < u {
				b.AddEdge(v, u)
			}
		}
	}
	return b.Build()
}
