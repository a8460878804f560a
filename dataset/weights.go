package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// EdgeWeight says where the weights of the edges come from.
type EdgeWeight string

// The sources of weights.
const (
	UnitWeight  EdgeWeight = "unit"   // every weight is 1
	GivenWeight EdgeWeight = "weight" // the weight that was read, 1 where there was none
	OrderWeight EdgeWeight = "order"  // the bond order, or the edge label as a number
)

// ParseEdgeWeight returns the source of the given name.
func ParseEdgeWeight(name string) (EdgeWeight, error) {
	switch w := EdgeWeight(name); w {
	case UnitWeight, GivenWeight, OrderWeight:
		return w, nil
	}
	return "", fmt.Errorf("edge weight %q, want unit, weight or order", name)
}

// bondOrder is the order that a bond symbol of SMILES stands for.
var bondOrder = map[string]float64{"-": 1, "/": 1, "\\": 1, "=": 2, "#": 3, "$": 4, ":": 1.5}

// Apply returns g with the weights that w says. For OrderWeight every edge needs a label
// that is a bond symbol (- = # : $ stand for 1, 2, 3, 1.5 and 4) or a positive number.
func (w EdgeWeight) Apply(g *graph.Graph) (*graph.Graph, error) {
	switch w {
	case GivenWeight:
		return g, nil
	case UnitWeight:
		if !g.Weighted() {
			return g, nil
		}
		return g.Reweight(func(graph.Edge) float64 { return 1 })
	case OrderWeight:
		if g.M() == 0 {
			return g, nil
		}
		if !g.HasEdgeLabels() {
			return nil, fmt.Errorf("edges have no labels to take weights from")
		}
		var bad error
		h, err := g.Reweight(func(e graph.Edge) float64 {
			if o, ok := bondOrder[e.Label]; ok {
				return o
			}
			x, err := strconv.ParseFloat(strings.TrimSpace(e.Label), 64)
			if (err != nil || !positive(x)) && bad == nil {
				bad = fmt.Errorf("edge (%d, %d): label %q is no weight, want a bond symbol - = # : $ or a positive number", e.U, e.V, e.Label)
			}
			if bad != nil {
				return 1
			}
			return x
		})
		if bad != nil {
			return nil, bad
		}
		return h, err
	}
	return nil, fmt.Errorf("edge weight %q, want unit, weight or order", w)
}

// Reweight returns the dataset with the weights that w says. The error names the graph.
func (d *Dataset) Reweight(w EdgeWeight) (*Dataset, error) {
	out := &Dataset{Name: d.Name, Warnings: d.Warnings, Graphs: make([]*graph.Graph, len(d.Graphs))}
	ids := d.IDs()
	for i, g := range d.Graphs {
		h, err := w.Apply(g)
		if err != nil {
			return nil, fmt.Errorf("%s: graph %s: %w", d.Name, ids[i], err)
		}
		out.Graphs[i] = h
	}
	return out, nil
}
