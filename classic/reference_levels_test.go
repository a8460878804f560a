package classic

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// referenceLevels adds up a base kernel over the levels that two graphs have, which are by graph and level.
func referenceLevels(base string, of [][]*graph.Graph) [][]float64 {
	k, err := baseKernel(base)
	if err != nil {
		panic(err)
	}
	sum := pairsOf(len(of), func(i, j int) float64 { return 0 })
	for level := 0; ; level++ {
		var members []int
		var graphs []*graph.Graph
		for i, levels := range of {
			if level < len(levels) {
				members, graphs = append(members, i), append(graphs, levels[level])
			}
		}
		if members == nil {
			return sum
		}
		for i, row := range reference(k, graphs) {
			for j, v := range row {
				sum[members[i]][members[j]] += v
			}
		}
	}
}

// referenceRefined returns graphs with the colours of every refinement as labels.
func referenceRefined(labels Labelling, h int, graphs []*graph.Graph) [][]*graph.Graph {
	out := make([][]*graph.Graph, len(graphs))
	for i, g := range graphs {
		for _, colour := range referenceColours(labels, h, g) {
			out[i] = append(out[i], g.Relabel(colour))
		}
	}
	return out
}

// referenceCodes returns graphs with sums of rows of a Hadamard matrix as labels.
func referenceCodes(labels Labelling, h int, graphs []*graph.Graph) [][]*graph.Graph {
	row := map[string]int{}
	for _, g := range graphs {
		for v := range g.N() {
			if l := referenceLabel(labels, g, v); row[l] == 0 {
				row[l] = len(row) + 1
			}
		}
	}
	matrix := [][]int{{1}}
	for len(matrix) < len(row) {
		var next [][]int
		for _, sign := range []int{1, -1} {
			for _, r := range matrix {
				var double []int
				for _, s := range []int{1, sign} {
					for _, x := range r {
						double = append(double, s*x)
					}
				}
				next = append(next, double)
			}
		}
		matrix = next
	}
	out := make([][]*graph.Graph, len(graphs))
	for i, g := range graphs {
		code := make([][]int, g.N())
		for v := range code {
			code[v] = matrix[row[referenceLabel(labels, g, v)]-1]
		}
		for range h + 1 {
			var texts []string
			next := make([][]int, g.N())
			for v := range code {
				texts = append(texts, fmt.Sprint(code[v]))
				next[v] = slices.Clone(code[v])
				for _, u := range g.Neighbors(v) {
					for j, x := range code[u] {
						next[v][j] += x
					}
				}
			}
			out[i] = append(out[i], g.Relabel(texts))
			code = next
		}
	}
	return out
}

// referenceCores takes vertices with fewer than i neighbours away until none is left.
func referenceCores(least int, graphs []*graph.Graph) [][]*graph.Graph {
	out := make([][]*graph.Graph, len(graphs))
	for i, g := range graphs {
		for k := least; ; k++ {
			core := g
			for changed := true; changed; {
				var keep []int32
				for v := range core.N() {
					if core.Degree(v) >= k {
						keep = append(keep, int32(v))
					}
				}
				changed = len(keep) < core.N()
				core = core.Induced(keep)
			}
			if core.N() == 0 && k > 0 {
				break
			}
			out[i] = append(out[i], core)
		}
	}
	return out
}

func oneHop(float64) float64 { return 1 }

// referenceNSPD counts pairs of balls by their invariants, which are written out.
func referenceNSPD(k NSPD, graphs []*graph.Graph) [][]float64 {
	type block struct{ r, d int }
	counts := make([]map[block]map[string]float64, len(graphs))
	for i, g := range graphs {
		counts[i] = map[block]map[string]float64{}
		dist := floydWarshall(g, oneHop)
		for r := range k.R + 1 {
			for u := range g.N() {
				for v := range g.N() {
					if d := dist[u][v]; d <= float64(k.D) {
						b := block{r, int(d)}
						if counts[i][b] == nil {
							counts[i][b] = map[string]float64{}
						}
						counts[i][b][referenceBall(k, g, dist, u, r)+" / "+referenceBall(k, g, dist, v, r)]++
					}
				}
			}
		}
	}
	return pairsOf(len(graphs), func(i, j int) float64 {
		sum := 0.0
		for b, f := range counts[i] {
			if h := counts[j][b]; h != nil {
				sum += mapDot(f, h) / math.Sqrt(mapDot(f, f)*mapDot(h, h))
			}
		}
		return sum
	})
}

func referenceBall(k NSPD, g *graph.Graph, dist [][]float64, h, r int) string {
	var ball []int32
	labels := make([]string, g.N())
	for v := range g.N() {
		labels[v] = referenceLabel(k.Labels, g, v)
		if dist[h][v] <= float64(r) {
			ball = append(ball, int32(v))
		}
	}
	inner := g.Induced(ball)
	within := floydWarshall(inner, oneHop)
	label := make([]string, len(ball))
	for v := range ball {
		var triples []string
		for u := range ball {
			triples = append(triples, fmt.Sprintf("%v %v %q", within[v][u], dist[h][ball[u]], labels[ball[u]]))
		}
		sort.Strings(triples)
		label[v] = strings.Join(triples, ";")
	}
	edges := []string{}
	for e := range inner.Edges() {
		a, b := label[e.U], label[e.V]
		if !k.EdgeLabels {
			e.Label = ""
		}
		edges = append(edges, min(a, b)+"|"+max(a, b)+"|"+e.Label)
	}
	if len(edges) == 0 {
		return label[0]
	}
	sort.Strings(edges)
	return shorten(strings.Join(edges, "\n"))
}

// referenceTrees returns the numbers of trees of all DAGs, written out, and their numbers of vertices.
func referenceTrees(k OddSth, g *graph.Graph) (count map[string]float64, size map[string]float64) {
	count, size = map[string]float64{}, map[string]float64{}
	dist := floydWarshall(g, oneHop)
	for root := range g.N() {
		inside := func(u int) bool { return dist[root][u] < math.Inf(1) && (k.H == 0 || dist[root][u] <= float64(k.H)) }
		var visit func(u int) (string, float64)
		visit = func(u int) (string, float64) {
			n := 1.0
			var children []string
			for _, c := range g.Neighbors(u) {
				if inside(int(c)) && dist[root][c] == dist[root][u]+1 {
					text, below := visit(int(c))
					children = append(children, text)
					n += below
				}
			}
			sort.Strings(children)
			return fmt.Sprintf("%q(%s)", referenceLabel(k.Labels, g, u), strings.Join(children, ",")), n
		}
		for u := range g.N() {
			if inside(u) {
				text, n := visit(u)
				count[text]++
				size[text] = n
			}
		}
	}
	return count, size
}

// referenceMatching adds up the values of all maps between connected induced subgraphs, one pair of vertices after the
// other.
func referenceMatching(k SubgraphMatching, a, b *graph.Graph) float64 {
	sum := 0.0
	compare := func(x, y string, labels []string, values []float64) float64 {
		if i, j := slices.Index(labels, x), slices.Index(labels, y); i >= 0 && j >= 0 {
			return values[i*len(labels)+j]
		}
		return float64(btoi(x == y))
	}
	edge := func(g *graph.Graph, u, v int) (label string, ok bool) {
		for i, w := range g.Neighbors(u) {
			if int(w) == v && k.EdgeLabels {
				return g.EdgeLabel(u, i), true
			} else if int(w) == v {
				return "", true
			}
		}
		return "", false
	}
	var from, to []int
	var extend func(value float64)
	extend = func(value float64) {
		n := len(from)
		if n > 0 && k.Weights[n-1] != 0 && connectedSet(a, from) {
			sum += k.Weights[n-1] * value
		}
		if n == len(k.Weights) {
			return
		}
		start := 0
		if n > 0 {
			start = from[n-1] + 1
		}
		for u := start; u < a.N(); u++ {
			for v := range b.N() {
				product := value * compare(referenceLabel(k.Labels, a, u), referenceLabel(k.Labels, b, v), k.Vertices, k.VertexValues)
				if product == 0 || slices.Contains(to, v) {
					continue
				}
				for i := range from {
					x, ok := edge(a, u, from[i])
					y, okToo := edge(b, v, to[i])
					if ok != okToo {
						product = 0
					} else if ok {
						product *= compare(x, y, k.Edges, k.EdgeValues)
					}
				}
				if product != 0 {
					from, to = append(from, u), append(to, v)
					extend(product)
					from, to = from[:n], to[:n]
				}
			}
		}
	}
	extend(1)
	return sum
}
