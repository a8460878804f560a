package vertex

import (
	"math"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
)

// configurationRecord compares atoms and bonds with descriptors behind their labels (chem.Stereo):
//
//	½ [the same kind of element or bond] + ½ [the same descriptor],
//
// where what has no descriptor shares none. Its features are fixed numbers, whatever the training graphs hold. So no
// descriptor is rare, and a mirror image changes places of features, not values.
type configurationRecord struct{}

// Validate has nothing to look at.
func (configurationRecord) Validate() error { return nil }
func (configurationRecord) kernel() Kernel {
	return &vectors{name: "configuration", rows: configurations, kernel: dense.DotInOrder, linear: true, dim: len(kinds) + 1 + len(descriptors)}
}

var (
	// kinds are elements and bonds with a feature of their own. The others share one.
	kinds = []string{"H", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Se", "Br", "I", "-", "=", "#", ":"}
	// descriptors are those of chem.Descriptor.
	descriptors = []string{"R", "S", "r", "s", "M", "P", "Z", "E", "?"}
)

// configurations returns the features of vertices, row by row: a kind, and a descriptor.
func configurations(g *graph.Graph) ([]float64, error) {
	if g.N() > 0 && !g.HasLabels() {
		return nil, missing("configuration", "labels")
	}
	dim := len(kinds) + 1 + len(descriptors)
	rows := make([]float64, g.N()*dim)
	for v := range g.N() {
		row := rows[v*dim:][:dim]
		label, descriptor, _ := strings.Cut(strings.TrimPrefix(g.Label(v), graph.EdgeVertexPrefix), " ")
		kind := slices.Index(kinds, kindOf(label))
		if kind < 0 {
			kind = len(kinds)
		}
		row[kind] = math.Sqrt(0.5)
		if d := slices.Index(descriptors, descriptor); d >= 0 {
			row[len(kinds)+1+d] = math.Sqrt(0.5)
		}
	}
	return rows, nil
}

// kindOf returns the element at the beginning of the label of an atom, or the label of a bond.
func kindOf(label string) string {
	for i, c := range label {
		if i > 0 && (c < 'a' || c > 'z') {
			return label[:i]
		}
	}
	return label
}
