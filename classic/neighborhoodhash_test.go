package classic

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// neighborhoodHashes are the kernels of this kind in the list of all.
func neighborhoodHashes() []kernel.Kernel {
	return []kernel.Kernel{
		DefaultNeighborhoodHash(),
		NeighborhoodHash{R: 2, Bits: 3, Seed: 5, Labels: Auto},
		NeighborhoodHash{R: 4, Counts: true, Bits: 64, Labels: Degrees},
		NeighborhoodHash{R: 2, Counts: true, Bits: 1, Labels: Auto},
	}
}

// referenceHashes computes with texts of bits.
func referenceHashes(k NeighborhoodHash, graphs []*graph.Graph) [][]float64 {
	rotate := func(s string, by int) string { by %= len(s); return s[by:] + s[:by] }
	xor := func(a, b string) string {
		out := make([]byte, len(a))
		for i := range out {
			out[i] = '0' + (a[i] ^ b[i])
		}
		return string(out)
	}
	text := func(x int64) string { // its last bits
		s := strings.Repeat("0", k.Bits) + big.NewInt(x).Text(2)
		return s[len(s)-k.Bits:]
	}
	rounds := make([][]map[string]float64, len(graphs))
	for i, g := range graphs {
		label := make([]string, g.N())
		for v := range label {
			label[v] = fmt.Sprintf("%064b", hashText(k.Seed, referenceLabel(k.Labels, g, v)))[:k.Bits]
		}
		for range k.R {
			next, count := make([]string, g.N()), map[string]float64{}
			for v := range next {
				next[v] = rotate(label[v], 1)
				near := map[string]int{}
				for _, u := range g.Neighbors(v) {
					near[label[u]]++
				}
				for l, o := range near {
					if k.Counts {
						next[v] = xor(next[v], rotate(xor(l, text(int64(o))), o))
						continue
					}
					for range o {
						next[v] = xor(next[v], l)
					}
				}
				count[next[v]]++
			}
			label = next
			rounds[i] = append(rounds[i], count)
		}
	}
	return pairsOf(len(graphs), func(i, j int) float64 {
		n := float64(graphs[i].N() + graphs[j].N())
		if n == 0 {
			return 1
		}
		sum := 0.0
		for r := range k.R {
			c := 0.0
			for l, x := range rounds[i][r] {
				c += min(x, rounds[j][r][l])
			}
			sum += c / (n - c) / float64(k.R)
		}
		return sum
	})
}

// The paths a-b-c, a-a-b and a-a-b-c, and the edge a-b. After one round the first and the third have b(ac) and
// c(b) in common, 2 of 5 vertices; the first and the edge a(b), 1 of 4.
func TestNeighborhoodHashByHand(t *testing.T) {
	graphs := []*graph.Graph{
		labelledGraph(t, "abc", "01 12"), labelledGraph(t, "aab", "01 12"),
		labelledGraph(t, "aabc", "01 12 23"), labelledGraph(t, "ab", "01"),
	}
	for counts, c := range map[bool]float64{false: 0, true: 0.2} {
		// ROT₁(a) ⊕ ROT₁(b ⊕ 1) is the same with a and b exchanged: with counts a(b) of the first is b(a) of the second.
		want := []float64{1, c, 0.4, 0.25, c, 1, 0.4, 0.25, 0.4, 0.4, 1, 0, 0.25, 0.25, 0, 1}
		k := NeighborhoodHash{R: 1, Counts: counts, Bits: 64, Labels: Labels}
		got := fitGram(t, k, graphs)
		for i, w := range want {
			if !near(got.Data[i], w) {
				t.Errorf("%s: entry %d is %v, want %v", k, i, got.Data[i], w)
			}
		}
	}
	// A centre c with two or four neighbours a is the same without counts only.
	stars := []*graph.Graph{labelledGraph(t, "caa", "01 02"), labelledGraph(t, "caaaa", "01 02 03 04")}
	for counts, want := range map[bool]float64{false: 3.0 / 5, true: 2.0 / 6} {
		k := NeighborhoodHash{R: 1, Counts: counts, Bits: 64, Labels: Labels}
		if got := fitGram(t, k, stars).At(0, 1); !near(got, want) {
			t.Errorf("%s: %v, want %v", k, got, want)
		}
	}
}
