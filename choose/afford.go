package choose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Limit is how much a kernel of DefaultCandidates may do for all graphs together, so that it takes
// about three minutes of one core at most.
type Limit struct {
	Kernel  string
	Counts  string // what it does
	Most    float64
	Instead string // what happens above
}

// Limits are those of Afford, which documents show.
var Limits = []Limit{
	{"mlg", "vertices in neighbourhoods, with the fill of their factors", 3e8, "smaller radii, else left out"},
	{"mlg base=heat", "edges within 16 steps of vertices", 1e9, "left out"},
	{"nspd", "pairs of vertices within d steps", 1e8, "left out"},
	{"nspd", "pairs in balls of radius r, if all were as large as the largest", 2e10, "left out"},
	{"nspd", "vertices in a ball of radius r", classic.MaxBall, "left out"},
	{"sp", "pairs of vertices, if all graphs were as large as the largest", 2e10, "left out"},
	{"sp", "pairs of labels with a distance", 1e8, "left out"},
}

// Positions in Limits.
const (
	limitNeighbourhoods = iota
	limitHeat
	limitPairs
	limitBalls
	limitBall
	limitPaths
	limitClasses
)

// Afford returns candidates without kernels that take too much for such graphs, by Limits. Kernels
// with radii get smaller ones where that suffices. It says what changed, in words. It goes by numbers
// of vertices and edges alone, and looks at some vertices of some graphs, the same every time.
func Afford(graphs []*graph.Graph, candidates []Candidate) (list []Candidate, changes []string) {
	b := newBudget(graphs)
	if b == nil {
		return candidates, nil
	}
	if slices.ContainsFunc(graphs, (*graph.Graph).Directed) {
		arcs := make([]*graph.Graph, len(graphs))
		for i, g := range graphs {
			arcs[i] = g.SubdivideArcs()
		}
		if b.arcs = newBudget(arcs); b.arcs != nil {
			b.arcs.hops = kernel.ArcLength
		}
	}
	for _, c := range candidates {
		kept := c
		kept.Settings = nil
		for _, s := range c.Settings {
			k, ok := b.afford(s)
			if ok {
				kept.Settings = append(kept.Settings, Setting{s.Parameters, k})
			}
		}
		if len(kept.Settings) > 0 {
			list = append(list, kept)
		}
	}
	return list, b.changes
}

// budget measures what kernels do for graphs.
type budget struct {
	graphs  []sampledGraph
	share   float64 // all graphs for each that is looked at
	known   map[string]verdict
	changes []string

	vertices, largest, degree float64 // of all graphs, of the largest, and the largest degree

	hops int     // of these graphs for each of those that a kernel names
	arcs *budget // of graphs whose arcs have become vertices; nil if none are directed
}

// verdict is a kernel as it can be afforded, nil if it cannot, and why it is not what it was.
type verdict struct {
	kernel kernel.Kernel
	why    string
}

// sampledGraph is a graph with some of its vertices, one of each class of twins.
type sampledGraph struct {
	*graph.Graph
	twin     []int32
	distinct float64 // vertices that have no twin before them
	cycles   float64 // independent cycles for each of these, at most 1
	some     []int32
}

const (
	smallGraph    = 128 // vertices of graphs that need no look if they are few
	sampledGraphs = 200
	sampledStarts = 16 // vertices of a graph from which balls are looked at
	heatReach     = 16 // steps of the Lanczos process, about
	// fillWeight is the time for (a neighbourhood's share of cycles times its vertices)³, in the time for one vertex.
	fillWeight = 7.5e-6
)

// newBudget returns nil if everything can be afforded.
func newBudget(graphs []*graph.Graph) *budget {
	b := &budget{known: map[string]verdict{}, share: 1, hops: 1}
	squares := 0.0
	for _, g := range graphs {
		n := float64(g.N())
		b.vertices += n
		squares += n * n
		b.largest = max(b.largest, n)
		for v := range g.N() {
			b.degree = max(b.degree, float64(g.Degree(v)))
		}
	}
	if b.largest <= smallGraph && squares <= Limits[limitPairs].Most {
		return nil
	}
	bySize := slices.Clone(graphs)
	slices.SortStableFunc(bySize, func(g, h *graph.Graph) int { return g.N() - h.N() })
	count := min(len(graphs), sampledGraphs)
	b.share = float64(len(graphs)) / float64(count)
	for i := range count {
		b.graphs = append(b.graphs, newSampledGraph(bySize[(2*i+1)*len(graphs)/(2*count)]))
	}
	return b
}

func newSampledGraph(g *graph.Graph) sampledGraph {
	s := sampledGraph{Graph: g, twin: g.Twins(nil)}
	var distinct []int32
	edges := 0.0
	for v, u := range s.twin {
		if int(u) < v {
			continue
		}
		distinct = append(distinct, u)
		for _, w := range g.Neighbors(v) {
			if s.twin[w] == w {
				edges += 0.5
			}
		}
	}
	s.distinct = float64(len(distinct))
	s.cycles = min(1, max(0, edges/max(1, s.distinct)-1))
	count := min(len(distinct), sampledStarts)
	for i := range count {
		s.some = append(s.some, distinct[(2*i+1)*len(distinct)/(2*count)])
	}
	return s
}

// total adds up f over the balls of a radius around all distinct vertices of all graphs. A ball that is
// a whole component counts once.
func (b *budget) total(radius int, f func(g *sampledGraph, ball []int32) float64) float64 {
	var scratch graph.Scratch
	var component, size []int32
	sum := 0.0
	for i := range b.graphs {
		g := &b.graphs[i]
		var parts int
		component, parts = scratch.Components(g.Graph, component)
		size = append(size[:0], make([]int32, parts)...)
		for v, c := range component {
			if g.twin[v] == int32(v) {
				size[c]++
			}
		}
		part := 0.0
		for _, v := range g.some {
			ball := slices.DeleteFunc(slices.Clone(scratch.Ball(g.Graph, int(v), radius)), func(u int32) bool { return g.twin[u] != u })
			x := f(g, ball)
			if whole := size[component[v]]; len(ball) == int(whole) {
				x /= float64(whole)
			}
			part += x
		}
		sum += part * g.distinct / float64(max(1, len(g.some)))
	}
	return sum * b.share
}

// neighbourhoods is what mlg does with radii.
func (b *budget) neighbourhoods(radii []int) float64 {
	sum := 0.0
	for _, r := range radii {
		sum += b.total(r*b.hops, func(g *sampledGraph, ball []int32) float64 {
			n := float64(len(ball))
			return n + fillWeight*math.Pow(g.cycles*n, 3)
		})
	}
	return sum
}

// heat is what the kernel on vertices "heat" does.
func (b *budget) heat() float64 {
	// The ball of a vertex counts for every vertex, also where it is the whole component.
	return b.mean(heatReach, func(g *sampledGraph, ball []int32) (arcs float64) {
		for _, u := range ball {
			if g.twin[u] != u {
				continue
			}
			for _, w := range g.Neighbors(int(u)) {
				if g.twin[w] == w {
					arcs++
				}
			}
		}
		return arcs * g.distinct
	})
}

// mean adds up over all graphs the mean of f over the balls of a radius around some vertices.
func (b *budget) mean(radius int, f func(g *sampledGraph, ball []int32) float64) float64 {
	var scratch graph.Scratch
	sum := 0.0
	for i := range b.graphs {
		g := &b.graphs[i]
		part := 0.0
		for _, v := range g.some {
			part += f(g, scratch.Ball(g.Graph, int(v), radius))
		}
		sum += part / float64(max(1, len(g.some)))
	}
	return sum * b.share
}

// pairs is the number of ordered pairs of vertices within so many steps.
func (b *budget) pairs(steps int) float64 {
	return b.mean(steps, func(g *sampledGraph, ball []int32) float64 { return float64(len(ball)) * float64(g.N()) })
}

// classes is about the largest number of pairs of labels with a distance.
func (b *budget) classes() float64 {
	var scratch graph.Scratch
	sum := 0.0
	for i := range b.graphs {
		g := &b.graphs[i]
		labels, n, far := map[string]bool{}, float64(g.N()), 0.0
		for v := range g.N() {
			if g.HasLabels() {
				labels[g.Label(v)] = true
			} else {
				labels[fmt.Sprint(g.Degree(v))] = true
			}
		}
		for _, v := range g.some {
			scratch.Ball(g.Graph, int(v), g.N())
			for _, d := range scratch.Distances() {
				far = max(far, float64(d))
			}
		}
		l := float64(len(labels))
		sum += min(n*n/2, l*l/2*far)
	}
	return sum * b.share
}

// afford returns a setting's kernel as it can be afforded, and whether it can. It notes what changed in
// settings that are one kernel.
func (b *budget) afford(s Setting) (kernel.Kernel, bool) {
	sum := kernel.SumOf(s.Kernel)
	out := kernel.Sum{}
	changed, alone := false, true
	why := ""
	for _, t := range sum.Terms {
		alone = alone && len(t.Factors) == 1
		t.Factors = slices.Clone(t.Factors)
		for i, f := range t.Factors {
			key := fmt.Sprint(f.Kernel, f.Subdivide)
			a, ok := b.known[key]
			if !ok {
				a = b.one(f)
				b.known[key] = a
			}
			if a.why != "" {
				changed, why = true, a.why
			}
			if a.kernel == nil {
				b.note(alone, s, why)
				return nil, false
			}
			t.Factors[i].Kernel = a.kernel
		}
		out.Terms = append(out.Terms, t)
	}
	if !changed {
		return s.Kernel, true
	}
	b.note(alone, s, why)
	if _, ok := s.Kernel.(kernel.Sum); !ok {
		return out.Terms[0].Factors[0].Kernel, true
	}
	return out, true
}

// note notes a change of a setting that is no product.
func (b *budget) note(alone bool, s Setting, why string) {
	if alone {
		b.changes = append(b.changes, s.Parameters+" "+why)
	}
}

// reason says why something is over a limit, "" if it is not.
func reason(limit int, x float64) string {
	l := Limits[limit]
	if x <= l.Most {
		return ""
	}
	return fmt.Sprintf("%s %s, want at most %s", l.number(x), l.Counts, l.Text())
}

// number writes a number with two digits.
func (Limit) number(x float64) string {
	if x < 1e5 {
		return fmt.Sprintf("%.0f", x)
	}
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(fmt.Sprintf("%.2g", x))
}

// Text returns Most as documents write it.
func (l Limit) Text() string { return l.number(l.Most) }

// one decides about one kernel.
func (b *budget) one(f kernel.Factor) verdict {
	if b.arcs != nil && !f.Undirected && kernel.SeesDirections(f.Kernel) {
		return b.arcs.one(f)
	}
	var why string
	switch k := f.Kernel.(type) {
	case mlg.Kernel:
		return b.multiscale(k, f.Subdivide)
	case classic.NSPD:
		ball := min(b.largest, 1+b.degree)
		why = cmp.Or(reason(limitBall, ball), reason(limitBalls, b.vertices*ball*ball), reason(limitPairs, b.pairs(k.D*b.hops)))
	case classic.ShortestPath:
		why = cmp.Or(reason(limitPaths, b.vertices*b.largest), reason(limitClasses, b.classes()))
	}
	if why != "" {
		return tooMuch(why)
	}
	return verdict{f.Kernel, ""}
}

func tooMuch(why string) verdict { return verdict{nil, "is left out: " + why} }

// multiscale decides about a multiscale kernel. It takes smaller radii until they can be afforded.
func (b *budget) multiscale(k mlg.Kernel, subdivided bool) verdict {
	if k.Base == "heat" {
		if why := reason(limitHeat, b.heat()); why != "" {
			return tooMuch(why)
		}
	}
	radii, first := slices.Clone(k.Radii), ""
	for {
		did := b.neighbourhoods(radii)
		if subdivided { // a ball has vertices for edges too
			did *= 3
		}
		why := reason(limitNeighbourhoods, did)
		first = cmp.Or(first, why)
		switch n := len(radii); {
		case first == "":
			return verdict{k, ""}
		case why == "":
			k.Radii = radii
			return verdict{k, fmt.Sprintf("gets radii=%s: %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(radii), " ", ","), "[]"), first)}
		case n > 1:
			radii = radii[:n-1]
		case radii[0] > 1:
			radii[0] /= 2
		default:
			return tooMuch(first)
		}
	}
}
