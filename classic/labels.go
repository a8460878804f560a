package classic

import (
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Labelling says what a kernel takes for the labels of the vertices.
type Labelling string

const (
	Auto       Labelling = "auto"       // labels where the graphs have them, else degrees
	Labels     Labelling = "labels"     // the graphs' discrete labels
	Degrees    Labelling = "degrees"    // the number of neighbours, in decimal
	Unlabeled  Labelling = "unlabeled"  // every vertex has the same label
	Attributes Labelling = "attributes" // the rows of real attributes, compared by their dot product
)

// discrete reports whether labels of vertices are seen where graphs have some.
func (l Labelling) discrete() bool { return l == Auto || l == Labels }

// resolve replaces Auto by Labels or Degrees, as the graphs have it, and checks that all
// graphs have what is wanted. A graph without vertices fits everything; when all graphs
// are such, Auto remains.
func (l Labelling) resolve(graphs []*graph.Graph) (Labelling, error) {
	first := -1 // the graph that decided
	for i, g := range graphs {
		switch {
		case g.N() == 0:
		case l == Auto && g.HasLabels():
			l, first = Labels, i
		case l == Auto:
			l, first = Degrees, i
		case first >= 0 && l == Labels && !g.HasLabels():
			return l, &kernel.GraphError{Graph: i, Err: fmt.Errorf("graph %d has labels, graph %d has no labels; want labels in all graphs or in none", first, i)}
		case first >= 0 && l == Degrees && g.HasLabels():
			return l, &kernel.GraphError{Graph: i, Err: fmt.Errorf("graph %d has no labels, graph %d has labels; want labels in all graphs or in none", first, i)}
		case l == Labels && !g.HasLabels():
			return l, missing(i, "labels")
		case l == Attributes && g.AttributeDim() == 0:
			return l, missing(i, "attributes")
		}
	}
	return l, nil
}

// missing says that graph i lacks what a kernel compares.
func missing(i int, what string) error {
	err := fmt.Errorf("graph %d has no %s, which the kernel compares", i, what)
	return &kernel.GraphError{Graph: i, Err: &graph.Missing{What: what, Err: err}}
}

// label returns the label of a vertex.
func (l Labelling) label(g *graph.Graph, v int) string {
	switch l {
	case Labels:
		return g.Label(v)
	case Degrees:
		return strconv.Itoa(g.Degree(v))
	}
	return ""
}
