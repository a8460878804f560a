package classic

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// Variant says what a WL kernel counts in every refinement.
type Variant string

const (
	Subtree    Variant = "wl"      // vertices by colour
	Edge       Variant = "wl-edge" // edges by the colours of their ends
	Assignment Variant = "wl-oa"   // vertices by colour, optimally assigned to each other
)

// WL is the family of Weisfeiler-Lehman kernels. The colour of a vertex in refinement 0 is its
// label. Two vertices have the same colour in refinement i when they have the same colour in
// refinement i-1 and their neighbours have the same colours with the same multiplicities. Then
//
//	k(G, G') = Σ_{i=0..H} b(G_i, G'_i),
//
// where G_i is G with the colours of refinement i as labels, and b is Base, a kernel that is not
// normalised. Without Base, Subtree counts vertices by colour, as the kernel "labels" does. Edge
// counts edges by the colours of their ends. Assignment is Σ_c min(c(G_i), c(G'_i)) over the
// numbers c of vertices by colour. Weights and edge labels count where the base kernel sees them.
//
// Colours are hashes of their signatures. Colouring takes O(H (n + m log d)) time for a graph, d the largest degree. With shortest paths as base
// kernel it is ShortestPath with H.
type WL struct {
	Variant   Variant   `json:"-"` // its name is that of the kernel
	H         int       `json:"h" want:"0 to 65536" help:"Number of refinements."`
	Base      string    `json:"base,omitempty" want:"a kernel" help:"Kernel of the graphs with colours as labels, such as sp or (nspd r=1). By default vertices are counted by colour."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultWL returns the normalised subtree kernel with 5 refinements.
func DefaultWL() WL {
	return WL{Variant: Subtree, H: 5, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel.
func (k WL) Name() string { return string(k.Variant) }

// String, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k WL) String() string                                       { return kernel.Text(k) }
func (k WL) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }
func (k WL) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if l, ok := k.levels(); ok {
		return fitLevels(ctx, l, graphs)
	}
	return fit(ctx, k.counts(), graphs)
}
func (k WL) Decode(data []byte) (kernel.Map, error) {
	if l, ok := k.levels(); ok {
		return decodeLevels(l, data)
	}
	return decode(k.counts(), data)
}

// Levels implements kernel.Levelled: the colours of one refinement after the other.
func (k WL) Levels() []kernel.Level {
	return levelsOf("refinement", k.H, func(h int) kernel.Kernel { k.H = h; return k })
}

// levelsOf returns the kernels with 0 to h steps of a name.
func levelsOf(step string, h int, of func(h int) kernel.Kernel) []kernel.Level {
	return append([]kernel.Level{{Name: "labels alone", Kernel: of(0)}}, stepsOf(step, 1, h, of)...)
}

// stepsOf returns the kernels with some numbers of steps of a name.
func stepsOf(step string, from, to int, of func(h int) kernel.Kernel) (out []kernel.Level) {
	for h := from; h <= to; h++ {
		out = append(out, kernel.Level{Name: fmt.Sprintf("%s %d", step, h), Kernel: of(h)})
	}
	return out
}

// counts returns the kernel of explicit features: without a base kernel this one, and with shortest
// paths as base kernel ShortestPath.
func (k WL) counts() countKernel {
	b, err := kernel.Parse(k.Base)
	if p, ok := b.(ShortestPath); ok && err == nil && k.Validate() == nil && p.H == 0 && (p.Labels == Auto || p.Labels == Labels) {
		p.H, p.Labels, p.Normalize = k.H, k.Labels, k.Normalize
		return p
	}
	return k
}

// levels returns the kernel of the refinements, where it has no explicit features.
func (k WL) levels() (levelled, bool) {
	_, same := k.counts().(WL)
	return levelled{k, k.Base, k.Normalize, refinements(k.Labels, k.H, nil)}, same && k.Base != ""
}

// Fixed implements param.Fixer: other variants than Subtree have no base kernel.
func (k WL) Fixed(parameter string) bool { return parameter == "base" && k.Variant != Subtree }

// Stretch implements kernel.Directional.
func (k WL) Stretch(times int) (kernel.Kernel, bool) {
	k.H *= times
	k.Base = stretched(k.Base, times)
	return k, k.Labels.discrete()
}

// Validate implements kernel.Kernel.
func (k WL) Validate() error {
	if k.Variant != Subtree && k.Variant != Edge && k.Variant != Assignment {
		return &param.Error{Of: "wl", Name: "variant", Value: strconv.Quote(string(k.Variant)), Want: "wl, wl-edge or wl-oa"}
	}
	if k.Variant != Subtree && k.Base != "" {
		return &param.Error{Of: k.Name(), Name: "base", Value: strconv.Quote(k.Base), Want: "none"}
	}
	if k.Base == "" {
		return kernel.Check(k)
	}
	return checkBase(k, k.Base)
}

func (k WL) recipe() recipe {
	m := recipe{labels: k.Labels, h: k.H, minimum: k.Variant == Assignment, normalize: k.Normalize}
	if k.Variant == Edge {
		m.count = countEdges
	} else {
		m.sets, m.count = eachVertex, countVertices
	}
	return m
}

// countEdges counts edges by the colours of their ends.
func countEdges() countFunc {
	var s keySorter
	return func(ctx context.Context, g *coloured, out *vector) error {
		for _, colour := range g.colours {
			s.keys = s.keys[:0]
			for u := range g.N() {
				for _, v := range g.Neighbors(u) {
					if int(v) > u {
						s.keys = append(s.keys, hashWords(min(colour[u], colour[v]), max(colour[u], colour[v])))
					}
				}
			}
			s.sort(0)
			eachRun(s.keys, out.add)
		}
		return ctx.Err()
	}
}
