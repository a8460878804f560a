package classic

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/mlgkernel/mlg/kernel"
)

// graphletTable describes the isomorphism types of graphs with k vertices. A graph on
// vertices 0 … k-1 is a mask with one bit per pair of vertices; see pairBit.
type graphletTable struct {
	k         int
	typ       []uint8    // by mask: its type
	graph     []uint32   // by type: a mask; types are sorted by the number of edges
	connected []bool     // by type
	sub       [][]uint64 // sub[s][t]: spanning subgraphs of type s that a graph of type t has
}

// pairBit returns the bit of the pair {i, j} in masks.
func pairBit(i, j int) uint32 {
	if i > j {
		i, j = j, i
	}
	return 1 << (j*(j-1)/2 + i)
}

var graphletTables = [...]func() *graphletTable{
	3: sync.OnceValue(func() *graphletTable { return newGraphletTable(3) }),
	4: sync.OnceValue(func() *graphletTable { return newGraphletTable(4) }),
	5: sync.OnceValue(func() *graphletTable { return newGraphletTable(5) }),
}

// graphlets returns the table for k vertices, 3, 4 or 5.
func graphlets(k int) *graphletTable { return graphletTables[k]() }

func newGraphletTable(k int) *graphletTable {
	masks := uint32(1) << (k * (k - 1) / 2)
	t := &graphletTable{k: k, typ: make([]uint8, masks)}
	canonical := make([]uint32, masks)
	for m := range masks {
		canonical[m] = m
	}
	permutations(k, func(p []int) {
		for m := range masks {
			image := uint32(0)
			for j := range k {
				for i := range j {
					if m&pairBit(i, j) != 0 {
						image |= pairBit(p[i], p[j])
					}
				}
			}
			canonical[m] = min(canonical[m], image)
		}
	})
	for m := range masks {
		if canonical[m] == m {
			t.graph = append(t.graph, m)
		}
	}
	slices.SortStableFunc(t.graph, func(a, b uint32) int { return bits.OnesCount32(a) - bits.OnesCount32(b) })
	number := map[uint32]uint8{}
	for i, m := range t.graph {
		number[m] = uint8(i)
		t.connected = append(t.connected, connectedMask(m, k))
		t.sub = append(t.sub, make([]uint64, len(t.graph)))
	}
	for m := range masks {
		t.typ[m] = number[canonical[m]]
	}
	for i, m := range t.graph {
		for s := m; ; s = (s - 1) & m { // all subsets of m
			t.sub[t.typ[s]][i]++
			if s == 0 {
				break
			}
		}
	}
	return t
}

// typeOf returns the type of the graph with the given edges, written as pairs of digits:
// "01 12" is the path with vertices 0, 1, 2.
func (t *graphletTable) typeOf(edges string) int {
	m := uint32(0)
	for i := 0; i+1 < len(edges); i += 3 {
		m |= pairBit(int(edges[i]-'0'), int(edges[i+1]-'0'))
	}
	return int(t.typ[m])
}

// permutations calls f with every permutation of 0 … k-1.
func permutations(k int, f func(p []int)) {
	p := kernel.UpTo(k)
	var rec func(i int)
	rec = func(i int) {
		if i == k {
			f(p)
			return
		}
		for j := i; j < k; j++ {
			p[i], p[j] = p[j], p[i]
			rec(i + 1)
			p[i], p[j] = p[j], p[i]
		}
	}
	rec(0)
}

func connectedMask(m uint32, k int) bool {
	reached := 1
	for range k {
		for j := range k {
			for i := range j {
				if m&pairBit(i, j) != 0 && reached&(1<<i|1<<j) != 0 {
					reached |= 1<<i | 1<<j
				}
			}
		}
	}
	return reached == 1<<k-1
}
