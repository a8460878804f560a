package classic

import (
	"context"
	"math/bits"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// NeighborhoodHash is the neighbourhood hash kernel (Hido, Kashima: A linear-time graph kernel,
// ICDM 2009). The label of a vertex is a number of Bits bits, at first a hash of Seed and its text.
// In every round all vertices get new labels from the old ones,
//
//	h_r(v) = ROT₁(h_{r-1}(v)) ⊕ ⨁_{u ~ v} h_{r-1}(u),
//
// where ROT rotates bits to the left and ⊕ is exclusive or. Pairs of neighbours with the same label
// cancel out. With Counts they do not: o neighbours that have the same label l stand for ROT_o(l ⊕
// o) together. (With Counts, an end a of an edge to b and an end b of an edge to a get the same
// label.) Then
//
//	k(G, G') = 1/R Σ_{r=1..R} c_r / (n + n' − c_r),   c_r = Σ_l min(c_rl(G), c_rl(G')).
//
// c_rl counts the vertices with label l after round r, so c_r is the number of vertices that can be
// matched, and k(G, G) = 1. Two graphs without vertices have the value 1, and one with another
// graph 0. Few bits let different labels and neighbourhoods collide. Edge weights and edge labels
// play no part.
//
// A graph takes O(R (n + m)) time, O(R (n + m log d)) with Counts, and a pair O(R (n + n')).
type NeighborhoodHash struct {
	R      int       `json:"r" want:"1 to 1000" help:"Number of rounds."`
	Counts bool      `json:"counts" help:"Neighbours with equal labels count by their number."`
	Bits   int       `json:"bits" want:"1 to 64" help:"Number of bits of a label."`
	Seed   uint64    `json:"seed" help:"Seed of the labels' hashes."`
	Labels Labelling `json:"labels" want:"one of auto labels degrees unlabeled" help:"Labels of the vertices: auto (labels, else degrees), labels, degrees or unlabeled."`
}

// DefaultNeighborhoodHash returns the kernel of 3 rounds on 32 bits.
func DefaultNeighborhoodHash() NeighborhoodHash {
	return NeighborhoodHash{R: 3, Bits: 32, Seed: 1, Labels: Auto}
}

// Name implements kernel.Kernel, as String, Validate, Fit, Decode and Resolve do.
func (k NeighborhoodHash) Name() string    { return "neighborhood-hash" }
func (k NeighborhoodHash) String() string  { return kernel.Text(k) }
func (k NeighborhoodHash) Validate() error { return kernel.Check(k) }
func (k NeighborhoodHash) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k NeighborhoodHash) Decode(data []byte) (kernel.Map, error) { return decode(k, data) }
func (k NeighborhoodHash) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) {
	return resolve(k, graphs)
}

// Levels implements kernel.Levelled: one round after the other.
func (k NeighborhoodHash) Levels() []kernel.Level {
	return stepsOf("round", 1, k.R, func(r int) kernel.Kernel { k.R = r; return k })
}

// Stretch implements kernel.Directional.
func (k NeighborhoodHash) Stretch(times int) (kernel.Kernel, bool) {
	k.R *= times
	return k, k.Labels.discrete()
}

func (k NeighborhoodHash) recipe() recipe {
	compare := func() func(context.Context, [][]labelCount, [][]labelCount) (float64, error) { return matchedShare }
	return pairwise(recipe{labels: k.Labels}, k.rounds, compare)
}

// labelCount is a label and the number of vertices that have it.
type labelCount struct {
	label uint64
	count int
}

// rounds returns, by round, the labels of a graph in ascending order.
func (k NeighborhoodHash) rounds() func(context.Context, *coloured) ([][]labelCount, error) {
	var label, next, near []uint64
	return func(ctx context.Context, g *coloured) ([][]labelCount, error) {
		resized(&label, g.N())
		resized(&next, g.N())
		for v := range label {
			label[v] = hashText(k.Seed, g.label(v)) >> (64 - k.Bits)
		}
		out := make([][]labelCount, k.R)
		for r := range out {
			for v := range next {
				near = near[:0]
				for _, u := range g.Neighbors(v) {
					near = append(near, label[u])
				}
				next[v] = k.rotated(label[v], 1) ^ k.joined(near)
			}
			label, next = next, label
			near = append(near[:0], label...)
			slices.Sort(near)
			eachRun(near, func(l uint64, count float64) { out[r] = append(out[r], labelCount{l, int(count)}) })
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// joined returns the labels of neighbours as one number. It may reorder them.
func (k NeighborhoodHash) joined(near []uint64) uint64 {
	x := uint64(0)
	if !k.Counts {
		for _, l := range near {
			x ^= l
		}
		return x
	}
	slices.Sort(near)
	eachRun(near, func(l uint64, count float64) {
		x ^= k.rotated((l^uint64(count))&(1<<k.Bits-1), int(count))
	})
	return x
}

// rotated rotates a label of Bits bits to the left.
func (k NeighborhoodHash) rotated(l uint64, by int) uint64 {
	if k.Bits == 64 {
		return bits.RotateLeft64(l, by)
	}
	by %= k.Bits
	return (l<<by | l>>(k.Bits-by)) & (1<<k.Bits - 1)
}

// matchedShare returns the mean over the rounds of c/(n + n' − c).
func matchedShare(_ context.Context, a, b [][]labelCount) (float64, error) {
	sum := 0.0
	for r := range a {
		common, all := 0, 0
		x, y := a[r], b[r]
		for len(x) > 0 && len(y) > 0 {
			switch {
			case x[0].label < y[0].label:
				all += x[0].count
				x = x[1:]
			case x[0].label > y[0].label:
				all += y[0].count
				y = y[1:]
			default:
				common += min(x[0].count, y[0].count)
				all += max(x[0].count, y[0].count)
				x, y = x[1:], y[1:]
			}
		}
		for _, l := range x {
			all += l.count
		}
		for _, l := range y {
			all += l.count
		}
		if all == 0 { // no vertices
			return 1, nil
		}
		sum += float64(common) / float64(all)
	}
	return sum / float64(len(a)), nil
}
