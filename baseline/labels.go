package baseline

import (
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

// Source says what a kernel takes for the labels of the vertices.
type Source int

const (
	Auto       Source = iota // labels where the graphs have them, else degrees
	Labels                   // the graphs' discrete labels
	Degrees                  // the number of neighbours, in decimal
	Unlabeled                // every vertex has the same label
	Attributes               // the rows of real attributes, compared by their dot product
)

var sourceNames = [...]string{"auto", "labels", "degrees", "unlabeled", "attributes"}

// String returns the name of the source in lower case.
func (s Source) String() string {
	if s < 0 || int(s) >= len(sourceNames) {
		return "Source(" + strconv.Itoa(int(s)) + ")"
	}
	return sourceNames[s]
}

// validate checks a source for a kernel that does, or does not, take attributes.
func (s Source) validate(kernel string, attributes bool) error {
	want := "Auto, Labels, Degrees or Unlabeled"
	last := Unlabeled
	if attributes {
		want, last = "Auto, Labels, Degrees, Unlabeled or Attributes", Attributes
	}
	if s < Auto || s > last {
		return fmt.Errorf("%s: Labels is %v, want %s", kernel, s, want)
	}
	return nil
}

// resolve replaces Auto by Labels or Degrees, as the graphs have it, and checks that all
// graphs have what is wanted. A graph without vertices fits everything; when all graphs
// are such, Auto remains.
func (s Source) resolve(graphs []*graph.Graph) (Source, error) {
	for i, g := range graphs {
		if g.N() == 0 {
			continue
		}
		if s == Auto {
			switch {
			case g.HasLabels():
				s = Labels
			case g.AttributeDim() > 0:
				return s, fmt.Errorf("graph %d has attributes but no discrete labels, which this kernel compares; set Labels to Degrees or Unlabeled to do without", i)
			default:
				s = Degrees
			}
			for j, h := range graphs[i:] {
				if h.N() > 0 && h.HasLabels() != g.HasLabels() {
					return s, fmt.Errorf("graph %d has %s, graph %d has %s; want labels in all graphs or in none", i, labelled(g), i+j, labelled(h))
				}
			}
		}
		if s == Labels && !g.HasLabels() {
			return s, fmt.Errorf("graph %d has no labels, want discrete labels as in the other graphs", i)
		}
		if s == Attributes && g.AttributeDim() == 0 {
			return s, fmt.Errorf("graph %d has no attributes, want a row of numbers per vertex", i)
		}
	}
	return s, nil
}

// resolveNew checks new graphs against the source that Fit found. Where Fit saw degrees
// because the training graphs had no labels, labels of new graphs are an error.
func resolveNew(wanted, fitted Source, graphs []*graph.Graph) (Source, error) {
	if wanted == Auto && fitted == Degrees {
		for i, g := range graphs {
			if g.N() > 0 && g.HasLabels() {
				return fitted, fmt.Errorf("graph %d has labels, the training graphs have none", i)
			}
		}
	}
	return fitted.resolve(graphs)
}

func labelled(g *graph.Graph) string {
	if g.HasLabels() {
		return "labels"
	}
	return "no labels"
}

// labelOf returns the label of a vertex.
func (s Source) labelOf(g *graph.Graph, v int) string {
	switch s {
	case Labels:
		return g.Label(v)
	case Degrees:
		return strconv.Itoa(g.Degree(v))
	}
	return ""
}

// labelDict numbers labels 0, 1, 2, … in the order in which they come.
type labelDict map[string]uint32

// intern returns the number of a label, a new one when it has none.
func (d labelDict) intern(l string) uint32 {
	id, ok := d[l]
	if !ok {
		id = uint32(len(d))
		d[l] = id
	}
	return id
}

// numbers returns a function that numbers the labels of a new graph, leaving d as it is:
// labels that d does not know get numbers from len(d) on.
func (d labelDict) numbers() func(l string) uint32 {
	private := labelDict{}
	return func(l string) uint32 {
		if id, ok := d[l]; ok {
			return id
		}
		return uint32(len(d)) + private.intern(l)
	}
}

// fit returns the numbers of the labels of all graphs, adding those that are new.
func (d labelDict) fit(s Source, graphs []*graph.Graph) [][]uint32 {
	total := 0
	for _, g := range graphs {
		total += g.N()
	}
	flat := make([]uint32, 0, total)
	out := make([][]uint32, len(graphs))
	for i, g := range graphs {
		start := len(flat)
		for v := range g.N() {
			flat = append(flat, d.intern(s.labelOf(g, v)))
		}
		out[i] = flat[start:]
	}
	return out
}

// of returns the numbers of the labels of a new graph, as numbers gives them.
func (d labelDict) of(s Source, g *graph.Graph) []uint32 {
	number := d.numbers()
	out := make([]uint32, g.N())
	for v := range out {
		out[v] = number(s.labelOf(g, v))
	}
	return out
}
