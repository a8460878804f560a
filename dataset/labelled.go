package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// Labelled returns the graphs that have a value in a column, with the value as their target, and
// the records that it leaves out. Without a column, the graphs keep their targets. Graphs whose
// value is [Missing] are left out. With NumberKind, graphs whose value is not a number, such as
// ">100", are left out too. Classes (ClassKind) may be any text. With "", the values of the column
// decide. A number beyond ±[MaxTarget] is an error.
func (d *Dataset) Labelled(column string, kind Kind) (*Dataset, LeftOut, error) {
	targets := d.Targets()
	if column != "" {
		var err error
		if targets, err = d.Column(column); err != nil {
			return nil, LeftOut{}, err
		}
	}
	var out LeftOut
	var keep []int
	if kind == "" {
		if _, odd := numbersAlone(targets); odd > 0 {
			kind = NumberKind
		}
	}
	place := ""
	if column != "" {
		place = fmt.Sprintf(" in the column %q", column)
	}
	for i, t := range targets {
		switch {
		case Missing(t):
			out.add(d.lineNumber(i), "no value"+place)
			continue
		case kind == NumberKind:
			if _, ok := finite(t); !ok {
				out.add(d.lineNumber(i), quote([]byte(t))+wantNumber+place)
				continue
			}
		}
		keep = append(keep, i)
	}
	if err := d.checkSizes(targets, keep, kind, place); err != nil {
		return nil, out, err
	}
	if out.Count == 0 && column == "" {
		return d, out, nil
	}
	picked := d.Select(keep)
	for k, i := range keep {
		picked.Graphs[k] = d.Graphs[i].With(d.Graphs[i].ID(), targets[i])
	}
	return picked, out, nil
}

// MaxTarget is the largest number to learn. Learners and measures take fourth powers of targets and
// sum them over graphs, which must stay below the largest float64, about 1e308.
const MaxTarget = 1e60

// checkSizes returns an error if targets that are numbers are too large to learn from.
func (d *Dataset) checkSizes(targets []string, keep []int, kind Kind, place string) error {
	values := make([]string, len(keep))
	for k, i := range keep {
		values[k] = targets[i]
	}
	if kind == ClassKind || kind == "" && ValueRange(values) == nil {
		return nil
	}
	for _, i := range keep {
		if x, _ := finite(targets[i]); math.Abs(x) > MaxTarget {
			return fmt.Errorf("%s: line %d: %s%s, want a number from %g to %g", d.Name, d.lineNumber(i), quote([]byte(targets[i])), place, -MaxTarget, MaxTarget)
		}
	}
	return nil
}

const wantNumber = ", want a number"

// Lines lists the lines of the first records, up to most, each with the value that is no number.
func (l LeftOut) Lines(most int) string {
	var out []string
	for _, x := range l.First[:min(most, len(l.First))] {
		text := strconv.Itoa(x.Line)
		if value, _, odd := strings.Cut(x.Reason, wantNumber); odd {
			text += " (" + value + ")"
		}
		out = append(out, text)
	}
	if l.Count > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// lineNumber returns the line of a graph, or its number where no line is known.
func (d *Dataset) lineNumber(i int) int {
	if d.Columns != nil && d.Columns.lines[i] > 0 {
		return d.Columns.lines[i]
	}
	return i + 1
}

// Repeats are molecules that stand several times in a collection.
type Repeats struct {
	Molecules int        `json:"molecules"` // that stand several times
	Graphs    int        `json:"graphs"`    // all of these together
	Different int        `json:"different"` // molecules with different values
	Examples  []Repeated `json:"examples,omitempty"`
	// Structures are the columns that have to agree, where a row has more than one structure.
	Structures []string `json:"structures,omitempty"`

	// Stereoisomers are molecules that several rows have with different stereochemistry, or with and without. Rows with
	// the same are not counted twice.
	Stereoisomers int        `json:"stereoisomers"`
	StereoGraphs  int        `json:"stereo_graphs"`    // all of these together
	StereoApart   int        `json:"stereo_different"` // those with different values
	StereoSome    []Repeated `json:"stereo_examples,omitempty"`

	groups [][]int
}

// Repeated is a molecule that stands several times with different values.
type Repeated struct {
	Lines   []int    `json:"lines"`
	Targets []string `json:"targets"`
}

const maxRepeated = 20 // examples

// Repeats finds molecules that stand several times, or rows of the same ones where a row has more than one: the same atoms with the same charges, isotopes and hydrogens, joined by
// the same bonds, with the same stereochemistry. Beside these it finds molecules that differ in stereochemistry alone. Graphs
// that are no molecules are compared by labels, weights and attributes.
func (d *Dataset) Repeats() Repeats {
	type row struct {
		sketch uint64
		others string // further structures, as they are written
	}
	alike := map[row][]int{}
	var r Repeats
	var others [][]string
	if d.Columns != nil && d.Columns.Roles.Others != nil {
		r.Structures = append([]string{d.Columns.Roles.Structure.Column}, d.Columns.Roles.Others...)
		for _, name := range d.Columns.Roles.Others {
			others = append(others, d.Columns.Values(name))
		}
	}
	for i, g := range d.Graphs {
		key := row{sketch: sketch(g)}
		for _, values := range others {
			key.others += values[i] + "\n"
		}
		alike[key] = append(alike[key], i)
	}
	var isomers [][]int // one row of each isomer
	for _, some := range alike {
		for _, group := range d.same(some, constitution) {
			first := slices.Clone(group)
			for _, equal := range d.same(group, Identity) {
				r.groups = append(r.groups, equal)
				first = slices.DeleteFunc(first, func(i int) bool { return slices.Contains(equal[1:], i) })
			}
			if len(first) > 1 {
				isomers = append(isomers, first)
			}
		}
	}
	byFirst := func(a, b []int) int { return a[0] - b[0] }
	slices.SortFunc(r.groups, byFirst)
	slices.SortFunc(isomers, byFirst)
	r.Molecules, r.Graphs, r.Different, r.Examples = d.count(r.groups)
	r.Stereoisomers, r.StereoGraphs, r.StereoApart, r.StereoSome = d.count(isomers)
	return r
}

// count counts groups of graphs, and returns examples of those with different values.
func (d *Dataset) count(groups [][]int) (molecules, graphs, different int, examples []Repeated) {
	for _, group := range groups {
		molecules++
		graphs += len(group)
		if d.agree(group) {
			continue
		}
		if different++; different <= maxRepeated {
			e := Repeated{}
			for _, i := range group[:min(len(group), maxRepeated)] {
				e.Lines, e.Targets = append(e.Lines, d.lineNumber(i)), append(e.Targets, d.Graphs[i].Target())
			}
			examples = append(examples, e)
		}
	}
	return molecules, graphs, different, examples
}

// same returns the groups of two or more of some graphs whose graphs of a kind are isomorphic.
func (d *Dataset) same(some []int, of func(*graph.Graph) *graph.Graph) [][]int {
	if len(some) < 2 {
		return nil
	}
	whole, known := make([]*graph.Graph, len(some)), map[string]*graph.Graph{}
	for k, i := range some {
		text := d.Graphs[i].SMILES() // often the same in many rows
		for _, p := range d.Graphs[i].Parts() {
			text += "\n" + p.Name + "\n" + p.Graph.SMILES() + strings.Join(p.Graph.Labels(), " ")
		}
		if whole[k] = known[text]; whole[k] == nil {
			if whole[k] = of(d.Graphs[i]); text != "" {
				known[text] = whole[k]
			}
		}
	}
	groups := graph.Duplicates(whole)
	for _, group := range groups {
		for k, i := range group {
			group[k] = some[i]
		}
	}
	return groups
}

// agree reports whether the targets of some graphs that have one are the same.
func (d *Dataset) agree(group []int) bool {
	first := ""
	for _, i := range group {
		t := d.Graphs[i].Target()
		if first != "" && t != "" && !sameValue(t, first) {
			return false
		}
		if t != "" {
			first = t
		}
	}
	return true
}

func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}

// Merged returns the collection with every molecule once: with the mean of its values, or with its
// class. Molecules whose classes disagree are left out and reported. The first graph of a molecule
// stays. regression says whether the targets are values or classes.
func (d *Dataset) Merged(r Repeats, regression bool) (*Dataset, LeftOut) {
	var out LeftOut
	what := "molecule"
	if !chem.Molecules(d.Graphs) {
		what = "graph"
	}
	drop := make([]bool, len(d.Graphs))
	target := d.Targets()
	for _, group := range r.groups {
		for _, i := range group[1:] {
			drop[i] = true
		}
		switch {
		case d.agree(group):
		case regression:
			target[group[0]] = d.mean(group)
		default:
			drop[group[0]] = true
			for _, i := range group {
				other := d.line(d.opposite(group, i))
				out.add(d.lineNumber(i), fmt.Sprintf("the same %s as in %s, in another class", what, other))
			}
		}
	}
	var keep []int
	for i := range d.Graphs {
		if !drop[i] {
			keep = append(keep, i)
		}
	}
	merged := d.Select(keep)
	for k, i := range keep {
		merged.Graphs[k] = d.Graphs[i].With(d.Graphs[i].ID(), target[i])
	}
	return merged, out
}

// opposite returns the first of some graphs whose target is another than that of graph i.
func (d *Dataset) opposite(group []int, i int) int {
	k := slices.IndexFunc(group, func(j int) bool { return !sameValue(d.Graphs[j].Target(), d.Graphs[i].Target()) })
	return group[max(k, 0)]
}

// mean returns the mean of the targets of some graphs that are numbers.
func (d *Dataset) mean(group []int) string {
	sum, n := 0.0, 0
	for _, i := range group {
		if x, err := strconv.ParseFloat(d.Graphs[i].Target(), 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			sum, n = sum+x, n+1
		}
	}
	return strconv.FormatFloat(sum/float64(max(n, 1)), 'g', -1, 64)
}
