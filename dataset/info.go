package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// Summary is what [Info] finds in a dataset.
type Summary struct {
	Name     string `json:"name"`
	Graphs   int    `json:"graphs"`
	Vertices int    `json:"vertices"` // in all graphs
	Edges    int    `json:"edges"`    // in all graphs, without their directions
	Directed int    `json:"directed"` // graphs with arcs
	Arcs     int    `json:"arcs"`     // in all graphs
	Loops    int    `json:"loops"`    // arcs from a vertex to itself
	// Classes is the number of different targets, 0 when the targets are values to be
	// predicted by regression or when there are none.
	Classes    int      `json:"classes"`
	NodeLabels int      `json:"node_labels"` // different ones
	Attributes int      `json:"attributes"`  // real attributes per vertex
	Marked     int      `json:"marked"`      // molecules with marks of stereochemistry
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

	// Of rows of a table:
	Structures []string `json:"structures,omitempty"`
	Numbers    []string `json:"numbers,omitempty"`
	Categories []string `json:"categories,omitempty"`

	Columns  []Column `json:"columns,omitempty"` // beside the graphs
	Open     []string `json:"open,omitempty"`    // columns that may be the target, if it is not clear which one is
	Skipped  LeftOut  `json:"skipped"`           // records that could not be read
	Salts    int      `json:"salts"`             // molecules of several fragments: salts and solvates
	Mixtures int      `json:"mixtures"`          // other molecules of several fragments
	Repeats  *Repeats `json:"repeats,omitempty"` // molecules that stand several times; Survey counts them
}

// Survey is [Info] with what takes longer: what columns hold, salts, and molecules that stand several times.
func Survey(d *Dataset) Summary {
	s := Info(d)
	s.Columns, s.Skipped = d.Columns.Describe(), d.Skipped
	if d.Columns != nil {
		s.Open = d.Columns.Roles.Open
	}
	for _, g := range d.Graphs {
		if g.Parts() != nil || !strings.Contains(g.SMILES(), ".") {
			continue // the structures of a row
		}
		if m, err := chem.Of(g); err != nil || len(m.Fragments()) < 2 {
			continue
		} else if m.Salt() {
			s.Salts++
		} else {
			s.Mixtures++
		}
	}
	if chem.Molecules(d.Graphs) {
		r := d.Repeats()
		s.Repeats = &r
	}
	return s
}

// Info summarises a dataset.
func Info(d *Dataset) Summary {
	s := Summary{Name: d.Name, Graphs: len(d.Graphs), Warnings: append([]string{}, d.Warnings...), LabelCounts: map[string]int{}}
	edgeLabels := map[string]bool{}
	var scratch graph.Scratch
	var component []int32
	for _, g := range d.Graphs {
		s.Vertices += g.N()
		s.Edges += g.M()
		if g.Directed() {
			s.Directed++
			s.Arcs += g.ArcCount()
			for a := range g.Arcs() {
				if a.U == a.V {
					s.Loops++
				}
			}
		}
		if chem.Marked(g) {
			s.Marked++
		}
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
			for e := range g.Arcs() {
				edgeLabels[e.Label] = true
			}
		}
		if g.N() == 0 {
			s.Empty++
			continue
		}
		_, _, ok := g.Coordinates(0)
		s.Coordinates = s.Coordinates || ok
		var parts int
		if component, parts = scratch.Components(g, component); parts == 1 {
			s.Connected++
		}
	}
	s.Structures, s.Numbers, s.Categories = graph.PartNames(d.Graphs)
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
	targets, _ := numbersAlone(d.Targets())
	var counts map[string]int
	counts, s.Targets = count(targets)
	if s.TargetRange = ValueRange(targets); s.TargetRange == nil {
		s.Classes, s.ClassCounts = len(counts), counts
	}
}

// count returns how often each target occurs, and how many there are.
func count(targets []string) (counts map[string]int, n int) {
	counts = map[string]int{}
	for _, t := range targets {
		if t != "" {
			counts[t]++
			n++
		}
	}
	return counts, n
}

// ValueRange returns the range of targets that are values, and nil for classes. Targets are values
// if they are numbers and one of them is not whole. Whole numbers are values if there are more than
// 20 different ones, which are more than a fifth of all, or more than 5, which are more than half.
func ValueRange(targets []string) []float64 {
	counts, n := count(targets)
	lo, hi := math.Inf(1), math.Inf(-1)
	for t := range counts {
		x, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil
		}
		lo, hi = min(lo, x), max(hi, x)
	}
	if valueLike(counts, n) {
		return []float64{lo, hi}
	}
	return nil
}

// mostly is the share of numbers in a column from which on other texts, such as ">10", are no values of it.
const mostly = 0.8

// Learnable returns values as a learner uses them: "" for a value that is [Missing], and for texts
// among numbers. It reports whether they are numbers.
func Learnable(values []string) (out []string, numeric bool) {
	out, _ = numbersAlone(values)
	out = slices.Clone(out)
	for i, v := range out {
		if Missing(v) {
			out[i] = ""
		}
	}
	return out, allNumbers(out)
}

// numbersAlone empties what is no number among values that are mostly numbers, and not classes, and returns how many these are.
func numbersAlone(values []string) (out []string, odd int) {
	numbers, n := map[string]int{}, 0
	for _, v := range values {
		if Missing(v) {
			continue
		}
		n++
		if _, ok := finite(v); ok {
			numbers[v]++
		} else {
			odd++
		}
	}
	if odd == 0 || float64(n-odd) < mostly*float64(n) || !valueLike(numbers, n-odd) {
		return values, 0
	}
	out = slices.Clone(values)
	for i, v := range out {
		if _, ok := finite(v); !ok {
			out[i] = ""
		}
	}
	return out, odd
}

// valueLike reports whether n numbers, of which counts has the different ones, are values and not classes.
func valueLike(counts map[string]int, n int) bool {
	for t := range counts {
		if x, _ := strconv.ParseFloat(t, 64); x != float64(int64(x)) { // of numbers
			return true
		}
	}
	return len(counts) > 20 && 5*len(counts) > n || len(counts) > 5 && 2*len(counts) > n
}
