package dataset

import (
	"fmt"
	"hash/maphash"
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
	picked := d.pick(keep)
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

	groups [][]int
}

// Repeated is a molecule that stands several times with different values.
type Repeated struct {
	Lines   []int    `json:"lines"`
	Targets []string `json:"targets"`
}

const maxRepeated = 20 // examples

// Repeats finds molecules that stand several times: the same atoms with the same charges, isotopes and hydrogens, joined by
// the same bonds. As in kernels, stereochemistry does not count. Graphs that are no molecules are compared by labels, weights
// and attributes.
func (d *Dataset) Repeats() Repeats {
	alike := map[uint64][]int{}
	for i, g := range d.Graphs {
		key := sketch(g)
		alike[key] = append(alike[key], i)
	}
	var r Repeats
	for _, some := range alike {
		r.groups = append(r.groups, d.same(some)...)
	}
	slices.SortFunc(r.groups, func(a, b []int) int { return a[0] - b[0] })
	for _, group := range r.groups {
		r.Molecules++
		r.Graphs += len(group)
		if d.agree(group) {
			continue
		}
		if r.Different++; r.Different <= maxRepeated {
			e := Repeated{}
			for _, i := range group[:min(len(group), maxRepeated)] {
				e.Lines, e.Targets = append(e.Lines, d.lineNumber(i)), append(e.Targets, d.Graphs[i].Target())
			}
			r.Examples = append(r.Examples, e)
		}
	}
	return r
}

// sketch returns a number that is the same for isomorphic graphs, and for molecules however their hydrogens are written, and
// mostly another for others.
func sketch(g *graph.Graph) uint64 {
	at, next := make([]uint64, g.N()), make([]uint64, g.N())
	hydrogen := make([]bool, g.N())
	for v := range at {
		label := g.Label(v)
		if g.SMILES() != "" {
			label = element(label)
			hydrogen[v] = label == "H"
		}
		at[v] = maphash.String(sketchSeed, label)
	}
	for range 3 {
		for v := range at {
			next[v] = at[v] * 0x9e3779b97f4a7c15
			for i, u := range g.Neighbors(v) {
				if !hydrogen[u] {
					next[v] += mixed(at[u] ^ maphash.String(sketchSeed, g.EdgeLabel(v, i)))
				}
			}
		}
		at, next = next, at
	}
	sum := uint64(0)
	for v, x := range at {
		if !hydrogen[v] {
			sum += mixed(x)
		}
	}
	return sum
}

// element returns the element of an atom label, which may go on with charge and hydrogens.
func element(label string) string {
	for i, c := range label {
		if i > 0 && (c < 'a' || c > 'z') {
			return label[:i]
		}
	}
	return label
}

var sketchSeed = maphash.MakeSeed()

func mixed(x uint64) uint64 {
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// same returns those of some graphs that are the same molecules.
func (d *Dataset) same(some []int) [][]int {
	if len(some) < 2 {
		return nil
	}
	whole := make([]*graph.Graph, len(some))
	for k, i := range some {
		whole[k] = Identity(d.Graphs[i])
	}
	groups := graph.Duplicates(whole)
	for _, group := range groups {
		for k, i := range group {
			group[k] = some[i]
		}
	}
	return groups
}

// Identity returns the graph that is isomorphic for equal molecules only, however they are read and written. Of a
// graph that is no molecule it is the graph itself.
func Identity(g *graph.Graph) *graph.Graph {
	if g.SMILES() == "" {
		return g
	}
	if m, err := chem.Of(g); err == nil {
		if full, err := identityGraph(m); err == nil {
			return full
		}
	}
	return g
}

// identityGraph has everything that tells molecules apart in its labels.
func identityGraph(m *chem.Molecule) (*graph.Graph, error) {
	m = m.WithoutHydrogens()
	atoms, bonds := m.Aromaticity()
	b := graph.NewBuilder(len(m.Atoms))
	for i, a := range m.Atoms {
		b.SetLabel(i, fmt.Sprint(a.Element, a.Charge, a.Hydrogens, a.Isotope, atoms[i]))
	}
	for i, e := range m.Bonds {
		if bonds[i] {
			e.Order = chem.Aromatic
		}
		b.AddLabeledEdge(int(e.A), int(e.B), float64(e.Order), e.Order.String())
	}
	return b.Build()
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
				out.add(d.lineNumber(i), fmt.Sprintf("the same molecule as in %s, in another class", other))
			}
		}
	}
	var keep []int
	for i := range d.Graphs {
		if !drop[i] {
			keep = append(keep, i)
		}
	}
	merged := d.pick(keep)
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
