package classic

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// The functions of this file compute kernels slowly and literally, by their definitions.

// reference returns the values of a kernel on all pairs of graphs, without normalisation.
func reference(k kernel.Kernel, graphs []*graph.Graph) [][]float64 {
	switch k := k.(type) {
	case Histogram:
		return pairs(graphs, func(a, b *graph.Graph) float64 { return referenceHistogram(k, a, b) })
	case Core:
		return referenceLevels(k.Base, referenceCores(k.Least, graphs))
	case Hadamard:
		return referenceLevels(k.Base, referenceCodes(k.Labels, k.H, graphs))
	case NSPD:
		return referenceNSPD(k, graphs)
	case OddSth:
		return pairs(graphs, func(a, b *graph.Graph) float64 {
			x, size := referenceTrees(k, a)
			y, _ := referenceTrees(k, b)
			sum := 0.0
			for t, n := range x {
				sum += n * y[t] * math.Pow(k.Lambda, size[t])
			}
			return sum
		})
	case SubgraphMatching:
		return pairs(graphs, func(a, b *graph.Graph) float64 { return referenceMatching(k, a, b) })
	case WL:
		if k.Base != "" {
			return referenceLevels(k.Base, referenceRefined(k.Labels, k.H, graphs))
		}
		f := make([][]map[string]float64, len(graphs))
		for i, g := range graphs {
			f[i] = referenceWL(k, g)
		}
		return pairsOf(len(graphs), func(i, j int) float64 {
			sum := 0.0
			for h := range f[i] {
				for c, x := range f[i][h] {
					if k.Variant == Assignment {
						sum += math.Min(x, f[j][h][c])
					} else {
						sum += x * f[j][h][c]
					}
				}
			}
			return sum
		})
	case ShortestPath:
		d, colours := map[*graph.Graph][][]float64{}, map[*graph.Graph][][]string{}
		for _, g := range graphs {
			colours[g] = referenceColours(k.Labels, k.H, g)
			d[g] = floydWarshall(g, func(w float64) float64 {
				if k.Weighted {
					return math.Round(w / k.Resolution)
				}
				return 1
			})
		}
		return pairs(graphs, func(a, b *graph.Graph) float64 {
			sum := 0.0
			for h := range k.H + 1 {
				sum += referencePaths(k, a, b, d[a], d[b], colours[a][h], colours[b][h])
			}
			return sum
		})
	case Graphlet:
		f := make([]map[string]float64, len(graphs))
		for i, g := range graphs {
			var total float64
			f[i], total = referenceGraphlets(k.K, k.Connected, g)
			if k.Counts {
				for t := range f[i] {
					f[i][t] = math.Round(f[i][t] * total)
				}
			}
		}
		return pairsOf(len(graphs), func(i, j int) float64 { return mapDot(f[i], f[j]) })
	case RandomWalk:
		return pairs(graphs, func(a, b *graph.Graph) float64 {
			ax := productMatrix(k.Labels, a, b)
			x := ones(len(ax))
			sum, w := 0.0, 1.0
			if k.AllPairs {
				sum = float64(a.N()*b.N() - len(ax))
			}
			steps := k.P
			if steps == 0 {
				steps = 100
			}
			for i := range steps + 1 {
				for _, v := range x {
					sum += w * v
				}
				x = multiply(ax, x)
				w *= k.Lambda
				if k.Series == Exponential {
					w /= float64(i + 1)
				}
			}
			return sum
		})
	case Propagation:
		return referencePropagation(k, graphs)
	case GraphHopper:
		return referenceHopper(k, graphs)
	case PyramidMatch:
		return referencePyramid(k, graphs)
	case NeighborhoodHash:
		return referenceHashes(k, graphs)
	case GraphletMix: // of graphs with no more sets of a size than samples
		f := make([]map[string]float64, len(graphs))
		for i, g := range graphs {
			f[i] = map[string]float64{}
			sizes := min(k.K, g.N()) - 2
			for size := 3; size <= min(k.K, g.N()); size++ {
				share, _ := referenceGraphlets(size, false, g)
				n := k.Samples / sizes
				if size-3 < k.Samples%sizes {
					n++
				}
				for t, p := range share {
					f[i][t] = p * float64(n)
				}
			}
		}
		return pairsOf(len(graphs), func(i, j int) float64 { return mapDot(f[i], f[j]) })
	case PlainWalk:
		return pairs(graphs, func(a, b *graph.Graph) float64 {
			steps := k.P
			if steps == 0 {
				steps = 200
			}
			x, y := ones(a.N()), ones(b.N())
			sum, w := 0.0, 1.0
			for i := 1; i <= steps+1; i++ {
				mx, my := 0.0, 0.0
				for _, v := range x {
					mx += v
				}
				for _, v := range y {
					my += v
				}
				sum += w * mx * my
				x, y = multiply(weightMatrix(a), x), multiply(weightMatrix(b), y)
				w *= k.Lambda
				if k.Series == Exponential {
					w /= float64(i)
				}
			}
			return sum
		})
	}
	panic(fmt.Sprintf("no reference for %T", k))
}

// pairs returns the values of all pairs; those under the diagonal are copied.
func pairs(graphs []*graph.Graph, f func(a, b *graph.Graph) float64) [][]float64 {
	m := pairsOf(len(graphs), func(i, j int) float64 {
		if j < i {
			return 0
		}
		return f(graphs[i], graphs[j])
	})
	for i := range m {
		for j := range i {
			m[i][j] = m[j][i]
		}
	}
	return m
}

func pairsOf(n int, f func(i, j int) float64) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range m[i] {
			m[i][j] = f(i, j)
		}
	}
	return m
}

func mapDot(a, b map[string]float64) float64 {
	sum := 0.0
	for k, x := range a {
		sum += x * b[k]
	}
	return sum
}

// referenceLabel is the label of a vertex by the rule of Labelling.
func referenceLabel(s Labelling, g *graph.Graph, v int) string {
	switch {
	case s == Unlabeled:
		return "same"
	case s == Degrees, s == Auto && !g.HasLabels():
		return strconv.Itoa(len(g.Neighbors(v)))
	}
	return g.Label(v)
}

func referenceHistogram(k Histogram, a, b *graph.Graph) float64 {
	sum := 0.0
	if k.Edges {
		for e := range a.Edges() {
			for f := range b.Edges() {
				if e.Label == f.Label {
					sum++
				}
			}
		}
		return sum
	}
	for u := range a.N() {
		for v := range b.N() {
			if k.Labels == Attributes {
				sum += dense.DotInOrder(a.Attributes(u), b.Attributes(v))
			} else if referenceLabel(k.Labels, a, u) == referenceLabel(k.Labels, b, v) {
				sum++
			}
		}
	}
	return sum
}

// referenceColours returns the colours by refinement. A colour is the unfolding of a vertex
// written out, each level in quotes.
func referenceColours(labels Labelling, h int, g *graph.Graph) [][]string {
	colour := make([]string, g.N())
	for v := range colour {
		colour[v] = referenceLabel(labels, g, v)
	}
	out := [][]string{colour}
	for range h {
		next := make([]string, g.N())
		for v := range next {
			var near []string
			for _, u := range g.Neighbors(v) {
				near = append(near, strconv.Quote(colour[u]))
			}
			sort.Strings(near)
			next[v] = shorten(strconv.Quote(colour[v]) + ":" + strings.Join(near, ","))
		}
		colour = next
		out = append(out, colour)
	}
	return out
}

// referenceWL returns the histograms by refinement.
func referenceWL(k WL, g *graph.Graph) []map[string]float64 {
	var out []map[string]float64
	for _, colour := range referenceColours(k.Labels, k.H, g) {
		h := map[string]float64{}
		if k.Variant == Edge {
			for e := range g.Edges() {
				a, b := colour[e.U], colour[e.V]
				h[fmt.Sprintf("%q %q", min(a, b), max(a, b))]++
			}
		} else {
			for _, c := range colour {
				h[c]++
			}
		}
		out = append(out, h)
	}
	return out
}

// shorten numbers strings, so that unfoldings stay short; equal strings get equal numbers.
func shorten(s string) string {
	n, ok := shortNames[s]
	if !ok {
		n = "#" + strconv.Itoa(len(shortNames))
		shortNames[s] = n
	}
	return n
}

var shortNames = map[string]string{}

func floydWarshall(g *graph.Graph, length func(w float64) float64) [][]float64 {
	n := g.N()
	d := pairsOf(n, func(i, j int) float64 {
		if i == j {
			return 0
		}
		return math.Inf(1)
	})
	for e := range g.Edges() {
		d[e.U][e.V] = length(e.Weight)
		d[e.V][e.U] = d[e.U][e.V]
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = math.Min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

// referencePaths compares all pairs of pairs of vertices, given their distances and colours.
func referencePaths(k ShortestPath, a, b *graph.Graph, da, db [][]float64, ca, cb []string) float64 {
	sum := 0.0
	for u := range a.N() {
		for v := range a.N() {
			if u == v || !k.Ordered && u > v || math.IsInf(da[u][v], 1) {
				continue
			}
			for x := range b.N() {
				for y := range b.N() {
					if x == y || !k.Ordered && x > y || da[u][v] != db[x][y] {
						continue
					}
					if k.Labels == Attributes {
						sum += dense.DotInOrder(a.Attributes(u), b.Attributes(x)) * dense.DotInOrder(a.Attributes(v), b.Attributes(y))
						continue
					}
					if ca[u] == cb[x] && ca[v] == cb[y] || !k.Ordered && ca[u] == cb[y] && ca[v] == cb[x] {
						sum++
					}
				}
			}
		}
	}
	return sum
}

// referenceGraphlets enumerates all sets of k vertices and names a subgraph by the least
// of its adjacency matrices over all orders of its vertices.
func referenceGraphlets(k int, connected bool, g *graph.Graph) (share map[string]float64, total float64) {
	count := map[string]float64{}
	names := map[string]string{}
	set := make([]int, 0, k)
	var rec func(from int)
	rec = func(from int) {
		if len(set) == k {
			if connected && !connectedSet(g, set) {
				return
			}
			var as strings.Builder
			for _, u := range set {
				for _, v := range set {
					fmt.Fprint(&as, btoi(g.HasEdge(u, v)))
				}
			}
			name, ok := names[as.String()]
			if !ok {
				permutations(k, func(p []int) {
					var s strings.Builder
					for i := range k {
						for j := range k {
							fmt.Fprint(&s, btoi(g.HasEdge(set[p[i]], set[p[j]])))
						}
					}
					if name == "" || s.String() < name {
						name = s.String()
					}
				})
				names[as.String()] = name
			}
			count[name]++
			total++
			return
		}
		for v := from; v < g.N(); v++ {
			set = append(set, v)
			rec(v + 1)
			set = set[:len(set)-1]
		}
	}
	rec(0)
	for name := range count {
		count[name] /= total
	}
	return count, total
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func connectedSet(g *graph.Graph, set []int) bool {
	reached := make([]bool, len(set))
	reached[0] = true
	for range set {
		for i, u := range set {
			for j, v := range set {
				reached[j] = reached[j] || reached[i] && g.HasEdge(u, v)
			}
		}
	}
	return !slices.Contains(reached, false)
}

// productMatrix forms the adjacency matrix of the direct product of equal labels.
func productMatrix(s Labelling, a, b *graph.Graph) [][]float64 {
	var vs [][2]int
	for u := range a.N() {
		for v := range b.N() {
			if referenceLabel(s, a, u) == referenceLabel(s, b, v) {
				vs = append(vs, [2]int{u, v})
			}
		}
	}
	return pairsOf(len(vs), func(i, j int) float64 {
		return float64(btoi(a.HasEdge(vs[i][0], vs[j][0]) && b.HasEdge(vs[i][1], vs[j][1])))
	})
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

func multiply(m [][]float64, x []float64) []float64 {
	y := make([]float64, len(m))
	for i := range m {
		y[i] = dense.DotInOrder(m[i], x)
	}
	return y
}

// eigenvalues returns the eigenvalues of a symmetric matrix by Jacobi rotations.
func eigenvalues(m *kernel.Matrix) []float64 {
	n := m.Rows
	a := pairsOf(n, m.At)
	for range 60 {
		off := 0.0
		for p := range n {
			for q := range p {
				if a[p][q] == 0 {
					continue
				}
				off += a[p][q] * a[p][q]
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for i := range n {
					x, y := a[i][p], a[i][q]
					a[i][p], a[i][q] = c*x-s*y, s*x+c*y
				}
				for i := range n {
					x, y := a[p][i], a[q][i]
					a[p][i], a[q][i] = c*x-s*y, s*x+c*y
				}
			}
		}
		if off == 0 {
			break
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = a[i][i]
	}
	sort.Float64s(out)
	return out
}

// weightMatrix returns the weighted adjacency matrix.
func weightMatrix(g *graph.Graph) [][]float64 {
	m := make([][]float64, g.N())
	for v := range m {
		m[v] = make([]float64, g.N())
	}
	for e := range g.Edges() {
		m[e.U][e.V], m[e.V][e.U] = e.Weight, e.Weight
	}
	return m
}
