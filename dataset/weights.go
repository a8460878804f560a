package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// EdgeWeight says where the weights of the edges come from.
type EdgeWeight string

// The weights. Any other text is a key of the data of edges in networks. For OrderWeight every edge needs a label that is a bond symbol (- = # : $
// stand for 1, 2, 3, 1.5 and 4) or a positive number.
const (
	UnitWeight     EdgeWeight = "unit"     // every weight is 1
	GivenWeight    EdgeWeight = "weight"   // the weight that was read, 1 where there was none
	OrderWeight    EdgeWeight = "order"    // the bond order, or the edge label as a number
	DistanceWeight EdgeWeight = "distance" // weights are distances: nearest neighbours have edges of weight 1 (graph.Nearest)
)

var edgeWeights = []EdgeWeight{UnitWeight, GivenWeight, OrderWeight, DistanceWeight}

// key returns the key that has the weights, "" for the usual ones.
func (w EdgeWeight) key() string {
	if slices.Contains(edgeWeights, w) {
		return ""
	}
	return string(w)
}

// DistancesWarning is the warning of Read about weights that are most likely distances.
const DistancesWarning = "the graphs are complete and their edge weights are distances; graphs of nearest neighbours compare better"

// distances reports whether the weights of all graphs of five or more vertices are distances.
func distances(graphs []*graph.Graph) bool {
	some := false
	for _, g := range graphs {
		if g.N() < 5 {
			continue
		}
		if some = g.Distances(); !some {
			return false
		}
	}
	return some
}

// apply returns g with its weights.
func (w EdgeWeight) apply(g *graph.Graph) (*graph.Graph, error) {
	switch {
	case w == DistanceWeight:
		return g.Nearest(), nil
	case w == UnitWeight && g.Weighted():
		return g.Reweight(func(graph.Edge) (float64, error) { return 1, nil })
	case w != OrderWeight || g.M() == 0:
		return g, nil
	case !g.HasEdgeLabels():
		return nil, errors.New("edges have no labels to take weights from")
	}
	return g.Reweight(func(e graph.Edge) (float64, error) {
		if order, ok := chem.BondOrder(e.Label); ok {
			return order, nil
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(e.Label), 64)
		if err != nil || !positive(x) {
			return 0, fmt.Errorf("edge (%d, %d): label %q is not a weight, want a bond symbol - = # : $ or a positive number", e.U, e.V, e.Label)
		}
		return x, nil
	})
}
