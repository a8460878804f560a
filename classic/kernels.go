package classic

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
	for _, x := range []struct {
		kernel   kernel.Kernel
		compares string
	}{
		{DefaultComposition(), "numbers of vertices and edges by label, for what adds up"},
		{DefaultHistogram(), "labels of vertices by their numbers: the baseline"},
		{edges, "labels of edges by their numbers"},
		{DefaultWL(), "labels refined by neighbours (Weisfeiler-Lehman subtrees)"},
		{edge, "the colours of wl at the ends of edges"},
		{assignment, "the colours of wl by optimal assignment of vertices"},
		{refined, "the colours of wl at the ends of shortest paths"},
		{DefaultShortestPath(), "shortest paths by their length and the labels at their ends"},
		{DefaultGraphlet(), "all subgraphs of k vertices"},
		{DefaultGraphletMix(), "a sample of subgraphs of 3 to k vertices"},
		{DefaultRandomWalk(), "random walks with labels"},
		{DefaultPlainWalk(), "random walks without labels"},
		{DefaultNSPD(), "pairs of neighbourhoods by their distance"},
		{DefaultOddSth(), "trees of shortest paths"},
		{DefaultSubgraphMatching(), "isomorphisms between connected subgraphs"},
		{DefaultPropagation(), "labels or attributes that spread along edges"},
		{DefaultGraphHopper(), "shortest paths, vertex by vertex"},
		{DefaultPyramidMatch(), "vertices as points, given by eigenvectors"},
		{DefaultNeighborhoodHash(), "hashes of neighbourhoods"},
		{DefaultCore(), "the cores of graphs, each by another kernel"},
		{DefaultNumberGaussian(), "attributes alone, such as the number of a row: gaussian(temperature)"},
		{DefaultHadamard(), "sums of labels over neighbours, by another kernel"},
	} {
		kernel.Register(x.kernel, x.compares)
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
