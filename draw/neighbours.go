package draw

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// NeighbourMap places objects in the plane so that nearest neighbours stay together. The neighbours j
// of i are at the distances d_ij = √(2 − 2k_ij/self), where self is the kernel of an object with
// itself. They attract with the weight
//
//	w_ij = exp(−(d_ij − d_i1)/σ_i),   σ_i such that Σ_j w_ij = log₂ k,
//
// made symmetric as w_ij + w_ji − w_ij w_ji. A few objects that are drawn at random repel. Two objects
// at distance d in the plane count as neighbours with the probability 1/(1+d²), and stochastic steps
// climb the likelihood of that. This is the method of McInnes, Healy and Melville (UMAP, 2018) with
// their simplest curve, and with a weak pull to the middle. It starts from the given positions, draws
// from a fixed seed, and runs in one goroutine: equal input, equal bits. It takes O(nk) time per round.
func NeighbourMap(ctx context.Context, near [][]nearest.Hit, self float64, start [2][]float64) ([2][]float64, error) {
	n := len(near)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	pos := [2][]float64{scaled(start[0], rng), scaled(start[1], rng)}
	edges := attraction(near, self)
	rounds := 400
	if n > 1000 {
		rounds = 200
	}
	const (
		repulsions = 5
		gravity    = 0.02 // keeps groups that have nothing in common from drifting apart
	)
	meter := work.NewMeter(ctx, "map", rounds)
	push := func(v []float64, i int, by float64) { v[i] += min(max(by, -4), 4) }
	for r := range rounds {
		if err := ctx.Err(); err != nil {
			return pos, err
		}
		meter.Add(1)
		step := 1 - float64(r)/float64(rounds)
		for i := range n {
			pos[0][i] *= 1 - gravity*step
			pos[1][i] *= 1 - gravity*step
		}
		for e := range edges {
			if edges[e].due += edges[e].weight; edges[e].due < 1 {
				continue
			}
			edges[e].due--
			i, j := int(edges[e].i), int(edges[e].j)
			dx, dy := pos[0][i]-pos[0][j], pos[1][i]-pos[1][j]
			c := -2 * step / (1 + dx*dx + dy*dy)
			for a, d := range [2]float64{dx, dy} {
				push(pos[a], i, c*d)
				push(pos[a], j, -c*d)
			}
			for range repulsions {
				j := rng.IntN(n)
				if j == i {
					continue
				}
				dx, dy := pos[0][i]-pos[0][j], pos[1][i]-pos[1][j]
				d2 := dx*dx + dy*dy
				c := 2 * step / ((0.01 + d2) * (1 + d2))
				push(pos[0], i, c*dx)
				push(pos[1], i, c*dy)
			}
		}
	}
	return pos, nil
}

// attract is a pair of neighbours; due adds up weights until the pair has its turn.
type attract struct {
	i, j        int32
	weight, due float64
}

// attraction returns the symmetric weights of neighbours, the largest 1.
func attraction(near [][]nearest.Hit, self float64) []attract {
	weight := map[[2]int32]float64{}
	for i, hits := range near {
		distances := make([]float64, len(hits))
		for a, h := range hits {
			distances[a] = math.Sqrt(max(2-2*h.Similarity/self, 0))
		}
		w := localWeights(distances)
		for a, h := range hits {
			pair := [2]int32{int32(min(i, h.Index)), int32(max(i, h.Index))}
			old := weight[pair]
			weight[pair] = old + w[a] - old*w[a]
		}
	}
	edges := make([]attract, 0, len(weight))
	for pair, w := range weight {
		edges = append(edges, attract{i: pair[0], j: pair[1], weight: w})
	}
	slices.SortFunc(edges, func(a, b attract) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	return edges
}

// localWeights returns exp(−(d_j − d_1)/σ) with the σ for which they add up to log₂ k, found
// by bisection; 64 halvings exhaust the precision.
func localWeights(d []float64) []float64 {
	w := make([]float64, len(d))
	want := math.Log2(float64(max(len(d), 2)))
	low, high := 0.0, 1e3
	for range 64 {
		mid := (low + high) / 2
		sum := 0.0
		for j := range d {
			w[j] = 1
			if d[j] > d[0] {
				w[j] = math.Exp(-(d[j] - d[0]) / mid)
			}
			sum += w[j]
		}
		if sum > want {
			high = mid
		} else {
			low = mid
		}
	}
	return w
}

// scaled returns coordinates of spread 4 with a little noise, which separates equal ones.
func scaled(x []float64, rng *rand.Rand) []float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		if most > 0 {
			out[i] = 4 * v / most
		}
		out[i] += 1e-2 * rng.NormFloat64()
	}
	return out
}
