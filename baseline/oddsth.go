package baseline

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// OddSth is the kernel of ordered decompositional DAGs with subtrees (Da San Martino, Navarin and
// Sperduti, 2012),
//
//	k(G, G') = Σ_{v∈G, v'∈G'} Σ_{u∈D_v, u'∈D_v'} [T_v(u) = T_v'(u')] λ^|T_v(u)|.
//
// D_v is the DAG of all shortest paths from v with up to H steps: a vertex u at distance i from v
// has as children its neighbours at distance i + 1. T_v(u) is the visit of D_v from u on: a tree of
// labels in which a vertex occurs as often as it is reached. |T| is its number of vertices. Trees
// are equal whatever the order of children.
//
// The features of a graph are its different trees. They are numbered from the leaves up, and so
// never written out. The value of a tree is the number of (v, u) that have it times λ^(|T|/2). Fit
// takes O(n (n + m) log d) time for a graph.
type OddSth struct {
	H         int       `json:"h" want:"0 to 65536" help:"Height of the trees; 0 for any."`
	Lambda    float64   `json:"lambda" want:"positive" help:"Weight of a vertex of a tree."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultOddSth returns the normalised kernel of trees of height 3 with λ = 1.
func DefaultOddSth() OddSth { return OddSth{H: 3, Lambda: 1, Labels: Auto, Normalize: true} }

// Name implements kernel.Kernel.
func (k OddSth) Name() string { return "odd-sth" }

// String, Validate, Fit and Resolve implement kernel.Kernel and kernel.Resolver.
func (k OddSth) String() string  { return kernel.Text(k) }
func (k OddSth) Validate() error { return kernel.Check(k) }
func (k OddSth) Fit(ctx context.Context, graphs []*graph.Graph) (kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k OddSth) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

func (k OddSth) features() featureMap {
	return featureMap{labels: k.Labels, normalize: k.Normalize, count: k.count}
}

// count numbers the trees of a graph. Its keys are the label of the root and the numbers of the
// children's trees.
func (k OddSth) count() countFunc {
	var ball graph.Scratch
	var trees dictionary
	var size []float64    // by tree
	var depth, at []int32 // by vertex: its distance to the root, and its tree
	var key []uint32
	return func(ctx context.Context, g *coloured, out *features) error {
		trees.reset()
		size = size[:0]
		height := k.H
		if height == 0 {
			height = g.N()
		}
		depth, at = slices.Grow(depth[:0], g.N())[:g.N()], slices.Grow(at[:0], g.N())[:g.N()]
		for v := range g.N() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			dag := ball.Ball(g.Graph, v, height)
			for i, d := range ball.Distances() {
				depth[dag[i]] = d
			}
			for _, u := range slices.Backward(dag) { // children first
				key = append(key[:0], g.colours[0][u])
				vertices := 1.0
				for _, c := range g.Neighbors(int(u)) {
					if ball.In(c) && depth[c] == depth[u]+1 {
						key = append(key, uint32(at[c]))
						vertices += size[at[c]]
					}
				}
				slices.Sort(key[1:])
				tree := int(trees.intern(key, hashWords(key)))
				at[u] = int32(tree)
				if tree == len(size) {
					size = append(size, vertices)
					out.addChain(key...)
				}
				out.entries[tree].val++
			}
		}
		for i, n := range size {
			out.entries[i].val *= math.Pow(k.Lambda, n/2)
		}
		return nil
	}
}
