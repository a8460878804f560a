package kernel

import (
	"cmp"
	"container/heap"
	"slices"
)

// Hit is an object with its similarity to a query.
type Hit struct {
	Index      int
	Similarity float64
}

// Top collects the K most similar objects: by falling similarity and, where it is equal, by
// their order. NaN is not similar to anything.
type Top struct {
	K    int
	hits hits
}

// Offer takes the similarities of the objects from first on. It takes O(n + c log K) time for
// n values of which c are among the best so far.
func (t *Top) Offer(first int, values []float64) {
	for i, v := range values {
		if len(t.hits) == t.K && (t.K == 0 || !(v >= t.hits[0].Similarity)) || v != v {
			continue
		}
		x := Hit{first + i, v}
		if len(t.hits) < t.K {
			heap.Push(&t.hits, x)
		} else if better(x, t.hits[0]) < 0 {
			t.hits[0] = x
			heap.Fix(&t.hits, 0)
		}
	}
}

// Add takes what another has collected.
func (t *Top) Add(other *Top) {
	for _, h := range other.hits {
		t.Offer(h.Index, []float64{h.Similarity})
	}
}

// Hits returns what was collected, the most similar first.
func (t *Top) Hits() []Hit {
	out := slices.Clone(t.hits)
	slices.SortFunc(out, better)
	return out
}

// Largest returns the k largest of some values.
func Largest(values []float64, k int) []Hit {
	t := Top{K: max(0, min(k, len(values)))}
	t.Offer(0, values)
	return t.Hits()
}

// better orders by falling similarity, then by index.
func better(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Index, b.Index))
}

// hits is a heap whose first is the worst.
type hits []Hit

func (h hits) Len() int           { return len(h) }
func (h hits) Less(i, j int) bool { return better(h[i], h[j]) > 0 }
func (h hits) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *hits) Push(x any)        { *h = append(*h, x.(Hit)) }
func (h *hits) Pop() any          { panic("kernel: a heap of hits only grows") }
