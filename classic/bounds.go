package classic

import "math"

// Bound is a number above which a kernel returns an error, whatever the memory.
type Bound struct {
	Kernel string
	Counts string // what is counted, in one graph
	Most   float64
}

// Bounds are those of the kernels, which documents show.
var Bounds = []Bound{
	{"nspd", "vertices within r steps of a vertex", MaxBall},
	{"pyramid-match", "vertices", maxEigenvectors},
	{"pyramid-match", "vertices times eigenvectors times 2^depth", math.MaxUint32},
	{"hadamard", "vertices times different labels", maxCodes},
	{"graph-hopper", "labels, or attributes, times a quarter of the square of the vertices on the longest path", maxPlaces},
	{"graph-hopper", "vertices of a component times vertices on its longest path", maxPlaces},
	{"graph-hopper weighted", "vertices times the largest weight over resolution", maxLength},
	{"sp weighted", "vertices times the largest weight over resolution", maxLength},
	{"propagation", "attributes over width", maxLength},
	{"wl-oa", "vertices times colourings", math.MaxUint32},
	{"graphlet", "subgraphs of k vertices", math.MaxUint64},
	{"subgraph-matching", "vertices of a match (weights)", maxMatch},
}

// maxLength bounds whole numbers that are computed in float64.
const maxLength = 1 << 53
