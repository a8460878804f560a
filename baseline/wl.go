package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// Variant says what a WL kernel counts in every refinement.
type Variant string

const (
	Subtree    Variant = "wl"      // vertices by colour
	Edge       Variant = "wl-edge" // edges by the colours of their ends
	Assignment Variant = "wl-oa"   // vertices by colour, optimally assigned to each other
)

// WL is the family of Weisfeiler-Lehman kernels. The colour of a vertex in refinement 0 is
// its label; two vertices have the same colour in refinement i when they have the same colour
// in refinement i-1 and their neighbours have the same colours with the same multiplicities.
// Then
//
//	k(G, G') = Σ_{i=0..H} Σ_c f(c_i(G), c_i(G')),
//
// where c_i(G) counts what Variant says, and f is the product, or for Assignment the
// minimum. Weights and edge labels play no part. ShortestPath counts paths in the same way.
//
// Colours are equal when their full signatures are; hashes only speed up the search.
// Fit takes O(H (n + m) log d) time per graph, d the largest degree.
type WL struct {
	Variant   Variant   `json:"-"` // its name is that of the kernel
	H         int       `json:"h" want:"0 to 65536" help:"Number of refinements."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultWL returns the normalised subtree kernel with 5 refinements.
func DefaultWL() WL { return WL{Variant: Subtree, H: 5, Labels: Auto, Normalize: true} }

// Name implements kernel.Kernel.
func (k WL) Name() string { return string(k.Variant) }

// String, Fit and Resolve implement kernel.Kernel and kernel.Resolver.
func (k WL) String() string { return kernel.Text(k) }
func (k WL) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k WL) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Validate implements kernel.Kernel.
func (k WL) Validate() error {
	if k.Variant != Subtree && k.Variant != Edge && k.Variant != Assignment {
		return fmt.Errorf("wl: variant = %q, want %s, %s or %s", k.Variant, Subtree, Edge, Assignment)
	}
	return kernel.Check(k)
}

func (k WL) features() featureMap {
	m := featureMap{labels: k.Labels, h: k.H, minimum: k.Variant == Assignment, normalize: k.Normalize}
	if k.Variant == Edge {
		m.count = countEdges
	} else {
		m.vertices, m.count = true, countVertices
	}
	return m
}

// countEdges counts edges by the colours of their ends.
func countEdges() countFunc {
	var s keySorter
	return func(ctx context.Context, g *coloured, out *features) error {
		for _, colour := range g.colours {
			s.keys = s.keys[:0]
			for u := range g.N() {
				for _, v := range g.Neighbors(u) {
					if int(v) > u {
						a, b := colour[u], colour[v]
						s.keys = append(s.keys, uint64(min(a, b))<<32|uint64(max(a, b)))
					}
				}
			}
			s.sort()
			eachRun(s.keys, func(key uint64, count float64) { out.addKey(0, count, uint32(key>>32), uint32(key)) })
		}
		return ctx.Err()
	}
}
