package baseline

import (
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// A kernel has a file of its own: its record with the formula, its default, the methods of
// kernel.Kernel, and what makes features of a graph. Here it gets known.

func init() {
	edges := DefaultHistogram()
	edges.Edges = true
	edge, assignment := DefaultWL(), DefaultWL()
	edge.Variant, assignment.Variant = Edge, Assignment
	refined := DefaultShortestPath()
	refined.H = 5
	for _, k := range []kernel.Kernel{
		DefaultHistogram(), edges,
		DefaultWL(), edge, assignment,
		DefaultShortestPath(), refined,
		DefaultGraphlet(), DefaultGraphletMix(),
		DefaultRandomWalk(), DefaultPlainWalk(),
		DefaultNSPD(), DefaultOddSth(), DefaultSubgraphMatching(),
		DefaultPropagation(), DefaultGraphHopper(), DefaultPyramidMatch(), DefaultNeighborhoodHash(),
		DefaultCore(), DefaultHadamard(),
	} {
		kernel.Register(k)
	}
}

// resolve returns a kernel with the labels that the graphs have in place of Auto.
func resolve(k countKernel, graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolveLabels(k, k.recipe().labels, graphs)
}

func resolveLabels(k kernel.Kernel, labels Labelling, graphs []*graph.Graph) (kernel.Kernel, error) {
	labels, err := labels.resolve(graphs)
	if err != nil {
		return nil, err
	}
	return kernel.With(k, "labels", string(labels))
}
