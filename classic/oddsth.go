package classic

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
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
// The features of a graph are its different trees. They are hashed from the leaves up, and so never
// written out. The value of a tree is the number of (v, u) that have it times λ^(|T|/2). Fit
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

// String, Validate, Fit, Decode and Resolve implement kernel.Kernel and kernel.Resolver.
func (k OddSth) String() string  { return kernel.Text(k) }
func (k OddSth) Validate() error { return kernel.Check(k) }
func (k OddSth) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k OddSth) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k OddSth) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Levels implements kernel.Levelled: trees of one height after the other, none for trees of any height.
func (k OddSth) Levels() []kernel.Level {
	return stepsOf("height", 1, k.H, func(h int) kernel.Kernel { k.H = h; return k })
}

// Stretch implements kernel.Directional.
func (k OddSth) Stretch(times int) (kernel.Kernel, bool) {
	k.H *= times
	return k, k.Labels.discrete()
}

func (k OddSth) recipe() recipe {
	return recipe{labels: k.Labels, normalize: k.Normalize, count: k.count}
}

// tree is a tree by its hash.
type tree struct {
	hash     uint64
	vertices float64
}

// count counts the trees of a graph. The hash of a tree is that of the label of its root and the
// hashes of its children.
func (k OddSth) count() countFunc {
	var ball graph.Scratch
	var depth []int32 // by vertex: its distance to the root
	var at []tree     // by vertex: its tree
	var trees []tree
	var key []uint64
	return func(ctx context.Context, g *coloured, out *vector) error {
		height := k.H
		if height == 0 {
			height = g.N()
		}
		depth, at, trees = slices.Grow(depth[:0], g.N())[:g.N()], slices.Grow(at[:0], g.N())[:g.N()], trees[:0]
		for v := range g.N() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			work.Reached(ctx, v, g.N())
			dag := ball.Ball(g.Graph, v, height)
			for i, d := range ball.Distances() {
				depth[dag[i]] = d
			}
			for _, u := range slices.Backward(dag) { // children first
				key = append(key[:0], g.colours[0][u])
				vertices := 1.0
				for _, c := range g.Neighbors(int(u)) {
					if ball.In(c) && depth[c] == depth[u]+1 {
						key = append(key, at[c].hash)
						vertices += at[c].vertices
					}
				}
				slices.Sort(key[1:])
				at[u] = tree{hashWords(key...), vertices}
				trees = append(trees, at[u])
			}
		}
		slices.SortFunc(trees, func(a, b tree) int { return cmp.Compare(a.hash, b.hash) })
		for i, j := 0, 0; i < len(trees); i = j {
			for j = i + 1; j < len(trees) && trees[j].hash == trees[i].hash; j++ {
			}
			out.add(trees[i].hash, float64(j-i)*math.Pow(k.Lambda, trees[i].vertices/2))
		}
		return nil
	}
}
