package mlg

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
)

// Kernel is the multiscale Laplacian kernel with all its parameters. Start from Default: a zero
// value is no default, and Validate refuses it where it makes no sense.
type Kernel struct {
	// Radii are those of the neighbourhoods N₁ ⊆ … ⊆ N_L.
	Radii []int `json:"radii" want:"at least 0" help:"Radii of the levels in hops, in ascending order. Without radii: the FLG kernel of the base kernel."`
	// Eta is in L = D − A + ηI.
	Eta float64 `json:"eta" want:"positive" help:"Regularisation of the Laplacian."`
	// Gamma is in S = U L⁻¹ Uᵀ + γI.
	Gamma float64 `json:"gamma" want:"positive" help:"Regularisation of the covariance."`
	// Base is read by vertex.Parse. Without it, vertex.Choose goes by the graphs, and see AsSum.
	Base string `json:"base" want:"a kernel on vertices" help:"Kernel on vertices, or products and sums of them in brackets. By default labels, else attributes, else degree. With labels and attributes, half of the value is by both."`
	// Bonds makes the kernel the mean of two: itself, and the same kernel of graphs whose edges
	// have become vertices. The second sees the labels of edges; see AsSum.
	Bonds Auto `json:"bonds" want:"one of auto true false" help:"Labels of edges count too: half of the value compares graphs whose edges are vertices. auto: where edges have labels."`
	// Stereo makes a part of the kernel see the stereochemistry of molecules; see AsSum.
	Stereo Auto `json:"stereo" want:"one of auto true false" help:"The stereochemistry of molecules counts too: half of what sees bonds sees R, S, E and Z. auto: where some molecule has marks."`
	// Combine says how the kernels of the levels make one.
	Combine Combine `json:"combine" want:"one of top sum product mixed gmean" help:"How levels are combined: top (the last alone), sum, product, gmean, or mixed (the mean of the first three)."`
	// Power is the exponent of the kernel.
	Power int `json:"power" want:"1 to 1048576" help:"Integer power of the kernel."`
	// Discount divides the features of a vertex in a neighbourhood by 1 + its distance.
	Discount bool `json:"discount" help:"Divide the features of a vertex by 1 + its distance to the centre."`

	// Samples is Ñ of the low-rank kernel.
	Samples int `json:"samples" want:"at least 1" help:"Vertices sampled at every level."`
	// Rank is P̃ of the low-rank kernel, the number of eigenvectors.
	Rank int `json:"rank" want:"at least 1" help:"Features kept at every level."`
	// Landmarks says how the Ñ vertices are chosen.
	Landmarks Landmarks `json:"landmarks" want:"one of uniform classes pivoted" help:"How vertices are sampled: uniform, classes or pivoted."`
	// Seed determines the sample.
	Seed uint64 `json:"seed" help:"Seed of the sample."`

	// Exact asks for the definition: Samples, Rank, Landmarks and Seed then have no effect.
	Exact bool `json:"exact" help:"Compute the definition, without sampling."`
	// PairRank truncates the joint Gram matrix of every pair of (sub)graphs.
	PairRank int `json:"pair_rank" want:"at least 0" help:"With exact: eigenvectors kept for every pair. 0 means all."`
}

// Combine is a way to make one kernel from those of the levels: k_ℓ is the FLG kernel of
// the whole graphs with 𝔎_ℓ as base kernel, ℓ = 0 … L.
type Combine string

const (
	// Top is k_L alone, the kernel of the paper.
	Top Combine = "top"
	// Sum is the mean of k_0 … k_L.
	Sum Combine = "sum"
	// Product is the product of k_0 … k_L.
	Product Combine = "product"
	// GeometricMean is the (L+1)-th root of the product. It is not positive semi-definite
	// in general (docs/explanation/math.md, Powers).
	GeometricMean Combine = "gmean"
	// Mixed is the mean of Top, Sum and Product, for the price of one of the latter:
	//
	//	k = ⅓ (k_L + Σ_ℓ k_ℓ/(L+1) + Π_ℓ k_ℓ).
	Mixed Combine = "mixed"
)

// Auto says whether something counts, or that the graphs decide.
type Auto string

const (
	// ByGraphs counts bonds where edges have labels, and stereochemistry where some molecule is marked (chem.Marked). Arcs
	// have their labels without it; see kernel.Form.
	ByGraphs Auto = "auto"
	Yes      Auto = "true"
	No       Auto = "false"
)

// Landmarks is a way to choose the vertices that span the low-rank feature space.
type Landmarks string

const (
	// Uniform draws vertices of all graphs uniformly without replacement, as the paper does.
	Uniform Landmarks = "uniform"
	// ByClass draws distinct neighbourhood classes uniformly without replacement. The
	// features are the leading principal components of all vertices in the landmarks' span.
	ByClass Landmarks = "classes"
	// Pivoted takes, one after the other, the class that those so far represent worst. It is the
	// greedy pivoted Cholesky factorisation of the kernel matrix of the classes, weighted by their
	// numbers of vertices. Features are as with ByClass.
	Pivoted Landmarks = "pivoted"
)

func init() {
	kernel.Register(Default(), "neighbourhoods of growing size (multiscale Laplacian)")
	flg := Default()
	flg.Radii = nil
	kernel.Register(flg, "whole graphs by their vertices: mlg without levels")
	kernel.Register(LGKernel{Eta: 0.1, Gamma: 0.1}, "Laplacians of graphs whose vertices have one order")
}

// Default returns the parameters of the paper: radii 1 and 2, η = γ = 0.1, 100 samples, rank
// 10, top level only.
func Default() Kernel {
	return Kernel{Radii: []int{1, 2}, Eta: 0.1, Gamma: 0.1, Bonds: ByGraphs, Stereo: ByGraphs, Combine: Top, Power: 1, Samples: 100, Rank: 10, Landmarks: Uniform}
}

// Name implements kernel.Kernel: "mlg", or "flg" without radii.
func (k Kernel) Name() string {
	if len(k.Radii) == 0 {
		return "flg"
	}
	return "mlg"
}

// Fixed implements param.Fixer: flg has no radii.
func (k Kernel) Fixed(parameter string) bool { return parameter == "radii" && len(k.Radii) == 0 }

// String implements kernel.Kernel.
func (k Kernel) String() string { return kernel.Text(k) }

// Validate implements kernel.Kernel.
func (k Kernel) Validate() error {
	if err := k.ranges(); err != nil {
		return err
	}
	return k.idle()
}

// ranges is Validate for each parameter by itself.
func (k Kernel) ranges() error {
	if err := kernel.Check(k); err != nil {
		return err
	}
	for l := 1; l < len(k.Radii); l++ {
		if k.Radii[l] < k.Radii[l-1] {
			return k.wrong("radii", "radii that do not decrease", nil)
		}
	}
	if k.Base != "" {
		if _, err := vertex.Parse(k.Base); err != nil {
			return k.wrong("base", "a kernel on vertices", err)
		}
	}
	return nil
}

// idle refuses parameters that have no effect on the exact or the low-rank kernel.
func (k Kernel) idle() error {
	usual := Default()
	if !k.Exact && k.PairRank != 0 {
		return k.wrong("pair_rank", "0, or exact: it has no effect on the low-rank kernel", nil)
	}
	for _, p := range []struct {
		name  string
		other bool
	}{
		{"samples", k.Samples != usual.Samples}, {"rank", k.Rank != usual.Rank},
		{"landmarks", k.Landmarks != usual.Landmarks}, {"seed", k.Seed != usual.Seed},
	} {
		if k.Exact && p.other {
			want := param.Value(param.Get(usual, p.name))
			return k.wrong(p.name, want+" with exact: it has no effect on the exact kernel", nil)
		}
	}
	return nil
}

// wrong says what is wrong with a parameter.
func (k Kernel) wrong(name, want string, why error) error {
	return param.Wrong(k.Name(), k, name, want, why)
}

// validateSingle checks ranges, for what needs one kernel on graphs as they are.
func (k Kernel) validateSingle() error {
	const want = "auto or false, because with %s the kernel is a sum, which Kernel.Fit fits"
	if k.Bonds == Yes {
		return k.wrong("bonds", fmt.Sprintf(want, "bonds"), nil)
	}
	if k.Stereo == Yes {
		return k.wrong("stereo", fmt.Sprintf(want, "stereochemistry"), nil)
	}
	return k.ranges()
}

// Semidefinite reports whether the kernel is positive semi-definite for every collection.
// With PairRank every pair of graphs has a feature space of its own.
func (k Kernel) Semidefinite() bool {
	return k.Combine != GeometricMean && !(k.Exact && k.PairRank > 0)
}

// enters reports whether a level enters the kernel.
func (k Kernel) enters(level int) bool { return k.Combine != Top || level == len(k.Radii) }

// base returns the kernel on vertices for graphs.
func (k Kernel) base(graphs []*graph.Graph) (vertex.Kernel, error) {
	text := k.Base
	if text == "" {
		text = vertex.Choose(graphs)
	}
	return vertex.Parse(text)
}

// AsSum implements kernel.Compound. With Bonds the kernel is ½ k(G, H) + ½ k(G′, H′), where G′ is G
// with a vertex on every edge (graph.Graph.Subdivide). The first half compares elements and
// skeletons, the second half bonds as well. The first alone would take molecules that differ in a
// double bond for equal. The second alone would take them for nearly as different as any others.
//
// With Stereo half of the last part is multiplied by the similarity of whole molecules by elements, bonds and their
// descriptors (chem.Stereo): flg with the base configuration, whose features are fixed. The levels would not do. Their
// landmarks hold few of the descriptors, and a projection on the leading eigenvectors loses what is rare.
//
// Where vertices have labels and attributes, and no Base is asked for, all this is half of the kernel and looks at labels. The
// other half has the base [same label] · exp(−|x−y|²/2d) for standardised attributes x and y of d dimensions. It alone would
// lose what labels say where attributes say nothing, such as positions in space.
func (k Kernel) AsSum(graphs []*graph.Graph, in kernel.Form) (kernel.Sum, bool) {
	bonds := k.Bonds == Yes || k.Bonds == ByGraphs && k.seesEdges(graphs, in)
	stereo := k.Stereo == Yes || k.Stereo == ByGraphs && bonds && slices.ContainsFunc(graphs, chem.Marked)
	k.Bonds, k.Stereo = No, ByGraphs
	both := k
	if d := vertex.Both(graphs, in.Incident || in.Directed); d > 0 && !in.Subdivide && k.Base == "" { // vertices on edges have no attributes
		k.Base, both.Base = "labels", "labels * gaussian sigma="+param.Number(math.Sqrt(float64(d)))
	}
	sum := kernel.SumOf(k)
	switch {
	case bonds && stereo:
		s := kernel.Subdivided(k)
		sum = kernel.Weighted([]float64{0.5, 0.25, 0.25}, []kernel.Kernel{k, s, kernel.Product(s, k.configuration())})
	case bonds:
		sum = kernel.Mean(k, kernel.Subdivided(k))
	case stereo:
		sum = kernel.Mean(k, kernel.Product(k, k.configuration()))
	case both.Base == k.Base:
		return kernel.Sum{}, false
	}
	if both.Base != k.Base {
		sum = kernel.Mean(kernel.Standardized(both), sum) // what matches vertices takes the first, which sees both
	}
	return sum, true
}

// seesEdges reports whether graphs have labels of edges that the kernel sees where edges are vertices. Those of arcs it sees
// anyway, and vertices on edges have no attributes.
func (k Kernel) seesEdges(graphs []*graph.Graph, in kernel.Form) bool {
	return slices.ContainsFunc(graphs, (*graph.Graph).HasEdgeLabels) && (in.Undirected || !slices.ContainsFunc(graphs, (*graph.Graph).Directed)) &&
		!slices.ContainsFunc(vertex.Elementary(k.Base), func(name string) bool { return name == "attributes" || name == "gaussian" })
}

// configuration returns the kernel that tells stereoisomers apart. It has no levels, and computes its definition without
// Exact, as its features are explicit.
func (k Kernel) configuration() kernel.Kernel {
	c := Default()
	c.Radii, c.Bonds, c.Base, c.Eta, c.Gamma = nil, No, "configuration", k.Eta, k.Gamma
	return kernel.WithStereo(kernel.Subdivided(c))
}

// Levels implements kernel.Levelled: the kernel of each level without those above it.
func (k Kernel) Levels() []kernel.Level {
	out := make([]kernel.Level, len(k.Radii)+1)
	for l := range out {
		x := k
		x.Radii, x.Combine = k.Radii[:l], Top
		out[l] = kernel.Level{Name: "vertices alone", Kernel: x}
		if l > 0 {
			out[l].Name = fmt.Sprintf("radius %d", k.Radii[l-1])
		}
	}
	return out
}

// Stretch implements kernel.Directional.
func (k Kernel) Stretch(times int) (kernel.Kernel, bool) {
	k.Radii = slices.Clone(k.Radii)
	for i := range k.Radii {
		k.Radii[i] *= times
	}
	base, err := vertex.Parse(k.Base)
	if k.Base == "" || err != nil { // Validate says what is wrong
		return k, true
	}
	k.Base = vertex.Stretch(base, times).String()
	return k, slices.ContainsFunc(vertex.Elementary(k.Base), func(name string) bool { return name == "labels" || name == "wl" })
}

// Choose implements kernel.LabelChooser. Labels tell the vertices on arcs from others.
func (k Kernel) Choose(graphs []*graph.Graph) kernel.Kernel {
	if k.Base != "" {
		return k
	}
	switch chosen := vertex.Choose(graphs); chosen {
	case "attributes": // those of the vertices on arcs are 0
		k.Base = "0.5 attributes + 0.5 labels"
	case "degree":
		k.Base = "degree * labels"
	}
	return k
}

// Fit implements kernel.Kernel. With Exact it is the kernel of NewExact, else the low-rank kernel, whose map is
// a *LowRank.
func (k Kernel) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if err := k.idle(); err != nil {
		return nil, err
	}
	if sum, ok := k.AsSum(graphs, kernel.Form{}); ok {
		return sum.Fit(ctx, graphs)
	}
	k.Bonds = No
	if k.Exact {
		return fitExact(ctx, graphs, k)
	}
	return fit(ctx, graphs, k)
}

// LGKernel is the Laplacian graph kernel, for graphs of one size.
type LGKernel struct {
	Eta   float64 `json:"eta" want:"positive" help:"Regularisation of the Laplacian."`
	Gamma float64 `json:"gamma" want:"at least 0" help:"Regularisation of the covariance."`
}

// Name implements kernel.Kernel.
func (k LGKernel) Name() string { return "lg" }

// String implements kernel.Kernel.
func (k LGKernel) String() string { return kernel.Text(k) }

// Validate implements kernel.Kernel.
func (k LGKernel) Validate() error { return kernel.Check(k) }

// Fit checks that the graphs have one size.
func (k LGKernel) Fit(_ context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	for i, g := range graphs {
		if g.N() != graphs[0].N() {
			return nil, fmt.Errorf("the LG kernel needs graphs of one size: %s has %d vertices, %s has %d; the FLG kernel has no such limit",
				kernel.GraphName(graphs, 0), graphs[0].N(), kernel.GraphName(graphs, i), g.N())
		}
	}
	return &kernel.Fitted{Map: mapLG{k}, Train: &kernel.Graphs{List: graphs}}, nil
}

// Decode implements kernel.Kernel: nothing is fitted.
func (k LGKernel) Decode([]byte) (kernel.Map, error) { return mapLG{k}, k.Validate() }

// mapLG compares graphs as they are.
type mapLG struct{ kernel LGKernel }

func (m mapLG) Transform(_ context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	return &kernel.Graphs{List: graphs}, nil
}

func (m mapLG) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	rows, cols := b.A.(*kernel.Graphs).List, b.B.(*kernel.Graphs).List
	for i := b.I0; i < b.I1; i++ {
		for j := b.J0; j < b.J1; j++ {
			k, err := LG(rows[i], cols[j], m.kernel.Eta, m.kernel.Gamma)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return kernel.AboutGraph(rows, i, err)
			}
			if rows[i] == cols[j] {
				k = 1
			}
			dst[(i-b.I0)*stride+j-b.J0] = k
		}
	}
	return nil
}

func (m mapLG) Join(parts ...kernel.Features) kernel.Features       { return kernel.JoinGraphs(parts...) }
func (m mapLG) AppendBinary(b []byte) ([]byte, error)               { return b, nil }
func (m mapLG) DecodeFeatures(data []byte) (kernel.Features, error) { return kernel.DecodeGraphs(data) }
