package dataset

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// Summary is what [Info] finds in a dataset.
type Summary struct {
	Name     string `json:"name"`
	Graphs   int    `json:"graphs"`
	Vertices int    `json:"vertices"` // in all graphs
	Edges    int    `json:"edges"`    // in all graphs
	// Classes is the number of different targets, 0 when the targets are values to be
	// predicted by regression or when there are none.
	Classes    int      `json:"classes"`
	NodeLabels int      `json:"node_labels"` // different ones
	Attributes int      `json:"attributes"`  // real attributes per vertex
	Warnings   []string `json:"warnings"`

	ClassCounts  map[string]int `json:"class_counts,omitempty"`
	LabelCounts  map[string]int `json:"label_counts,omitempty"` // vertices by label
	EdgeLabels   int            `json:"edge_labels"`            // different ones
	Weighted     bool           `json:"weighted"`               // some weight is not 1
	Coordinates  bool           `json:"coordinates"`            // some graph can be drawn as given
	Targets      int            `json:"targets"`                // graphs with a target
	TargetRange  []float64      `json:"target_range,omitempty"` // least and largest value, for regression
	MeanVertices float64        `json:"mean_vertices"`
	MaxVertices  int            `json:"max_vertices"`
	MeanEdges    float64        `json:"mean_edges"`
	MaxEdges     int            `json:"max_edges"`
	MeanDegree   float64        `json:"mean_degree"` // over all vertices
	MaxDegree    int            `json:"max_degree"`
	Isolated     int            `json:"isolated"`  // vertices without an edge
	Connected    int            `json:"connected"` // connected graphs; an empty graph is none
	Empty        int            `json:"empty"`     // graphs without vertices
}

// Info summarises a dataset.
func Info(d *Dataset) Summary {
	s := Summary{Name: d.Name, Graphs: len(d.Graphs), Warnings: []string{}, LabelCounts: map[string]int{}}
	for _, w := range d.Warnings {
		s.Warnings = append(s.Warnings, w.String())
	}
	edgeLabels := map[string]bool{}
	for _, g := range d.Graphs {
		s.Vertices += g.N()
		s.Edges += g.M()
		s.MaxVertices = max(s.MaxVertices, g.N())
		s.MaxEdges = max(s.MaxEdges, g.M())
		s.Attributes = max(s.Attributes, g.AttributeDim())
		s.Weighted = s.Weighted || g.Weighted()
		for v := range g.N() {
			s.MaxDegree = max(s.MaxDegree, g.Degree(v))
			if g.Degree(v) == 0 {
				s.Isolated++
			}
			if g.HasLabels() {
				s.LabelCounts[g.Label(v)]++
			}
		}
		if g.HasEdgeLabels() {
			for e := range g.Edges() {
				edgeLabels[e.Label] = true
			}
		}
		if g.N() == 0 {
			s.Empty++
			continue
		}
		_, _, ok := g.Coordinates(0)
		s.Coordinates = s.Coordinates || ok
		if connected(g) {
			s.Connected++
		}
	}
	s.NodeLabels, s.EdgeLabels = len(s.LabelCounts), len(edgeLabels)
	if s.Graphs > 0 {
		s.MeanVertices = float64(s.Vertices) / float64(s.Graphs)
		s.MeanEdges = float64(s.Edges) / float64(s.Graphs)
	}
	if s.Vertices > 0 {
		s.MeanDegree = 2 * float64(s.Edges) / float64(s.Vertices)
	}
	s.targets(d)
	return s
}

func (s *Summary) targets(d *Dataset) {
	counts := map[string]int{}
	for _, g := range d.Graphs {
		if g.Target() != "" {
			s.Targets++
			counts[g.Target()]++
		}
	}
	if r := valueRange(counts, s.Targets); r != nil {
		s.TargetRange = r
		return
	}
	s.Classes, s.ClassCounts = len(counts), counts
}

// valueRange returns the range of targets that are values and not classes: numbers of
// which some is not whole, or of which more than half are different and more than 20.
func valueRange(counts map[string]int, n int) []float64 {
	fraction := false
	var lo, hi float64
	first := true
	for t := range counts {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil
		}
		fraction = fraction || x != float64(int64(x))
		if first || x < lo {
			lo = x
		}
		if first || x > hi {
			hi = x
		}
		first = false
	}
	if fraction || len(counts) > 20 && 2*len(counts) > n {
		return []float64{lo, hi}
	}
	return nil
}

func connected(g *graph.Graph) bool {
	seen := make([]bool, g.N())
	stack := []int32{0}
	seen[0] = true
	n := 1
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, u := range g.Neighbors(int(v)) {
			if !seen[u] {
				seen[u] = true
				n++
				stack = append(stack, u)
			}
		}
	}
	return n == g.N()
}

// String renders the summary as lines of at most 80 columns.
func (s Summary) String() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		wrap(&b, fmt.Sprintf("%-12s", name), fmt.Sprintf(format, args...))
	}
	row("dataset", "%s", s.Name)
	extra := ""
	if s.Empty > 0 {
		extra = fmt.Sprintf(", %d without vertices", s.Empty)
	}
	row("graphs", "%d, %d of them connected%s", s.Graphs, s.Connected, extra)
	row("vertices", "%d in all, %.2f on average, at most %d; %d isolated", s.Vertices, s.MeanVertices, s.MaxVertices, s.Isolated)
	row("edges", "%d in all, %.2f on average, at most %d", s.Edges, s.MeanEdges, s.MaxEdges)
	row("degree", "%.2f on average, at most %d", s.MeanDegree, s.MaxDegree)
	switch {
	case s.TargetRange != nil:
		row("targets", "values from %g to %g", s.TargetRange[0], s.TargetRange[1])
	case s.Classes > 0:
		row("classes", "%d: %s", s.Classes, tally(s.ClassCounts))
	default:
		row("targets", "none")
	}
	if s.Targets > 0 && s.Targets < s.Graphs {
		row("", "%d graphs have no target", s.Graphs-s.Targets)
	}
	if s.NodeLabels > 0 {
		row("node labels", "%d: %s", s.NodeLabels, tally(s.LabelCounts))
	} else {
		row("node labels", "none")
	}
	row("attributes", "%s", orNone(s.Attributes, "%d per vertex"))
	row("edge labels", "%s", orNone(s.EdgeLabels, "%d"))
	row("weights", "%s", map[bool]string{true: "given", false: "all 1"}[s.Weighted])
	for i, w := range s.Warnings {
		name := ""
		if i == 0 {
			name = "warnings"
		}
		row(name, "%s", w)
	}
	return b.String()
}

func orNone(n int, format string) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf(format, n)
}

// tally lists up to 20 keys with their counts, the most frequent first.
func tally(counts map[string]int) string {
	keys := slices.Sorted(maps.Keys(counts))
	sort.SliceStable(keys, func(i, j int) bool { return counts[keys[i]] > counts[keys[j]] })
	var out []string
	for i, k := range keys {
		if i == 20 {
			out = append(out, "…")
			break
		}
		if k == "" {
			k = `""`
		}
		out = append(out, fmt.Sprintf("%s (%d)", k, counts[k]))
	}
	return strings.Join(out, ", ")
}

// wrap writes a text behind a name, broken at blanks so that no line has more than 80
// columns, unless a word is longer.
func wrap(b *strings.Builder, name, text string) {
	const width = 80
	line := []rune(name)
	empty := true
	for _, w := range strings.Fields(text) {
		word := []rune(w)
		if !empty && len(line)+1+len(word) > width {
			b.WriteString(strings.TrimRight(string(line), " ") + "\n")
			line = []rune(strings.Repeat(" ", len([]rune(name))))
			empty = true
		}
		if !empty {
			line = append(line, ' ')
		}
		line = append(line, word...)
		empty = false
	}
	b.WriteString(strings.TrimRight(string(line), " ") + "\n")
}
