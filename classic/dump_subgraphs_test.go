package classic

import (
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// addSubgraphs adds kernels of subgraphs and with base kernels to those that TestDump writes. A key that ends with
// "-firstN" is for the first N graphs, where GraKeL takes long.
func addSubgraphs(ks map[string]kernel.Kernel) {
	nspd, odd, matching := DefaultNSPD(), DefaultOddSth(), DefaultSubgraphMatching()
	nspd.EdgeLabels, matching.EdgeLabels = false, false
	matching.Weights = []float64{1, 1, 1}
	ks["nspd"], ks["odd-sth"], ks["subgraph-matching-first40"] = nspd, odd, matching
	walk := DefaultRandomWalk()
	walk.P, walk.Lambda, walk.AllPairs = 0, 0.01, true
	ks["rw-labelled-first8"] = walk
	steps := walk
	steps.P = 4
	ks["rw-labelled-4-first8"] = steps
	ks["hadamard"] = DefaultHadamard()
	ks["core"] = Core{Base: "sp ordered", Normalize: true}
	ks["core-wl"] = Core{Base: "wl", Normalize: true}
	refined := DefaultWL()
	refined.H, refined.Base = 2, "sp ordered"
	ks["wl-of-sp"] = refined
	refined.Base = walk.String()
	ks["wl-of-rw-first8"] = refined
}

// firstOf returns the graphs that a key is for.
func firstOf(key string, graphs []*graph.Graph) []*graph.Graph {
	_, number, _ := strings.Cut(key, "-first")
	n, err := strconv.Atoi(number)
	if err != nil {
		return graphs
	}
	return graphs[:min(n, len(graphs))]
}
