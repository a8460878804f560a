// Package nearest collects the objects that are most similar to a query.
package nearest

import (
	"cmp"
	"math"
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
	K     int
	hits  []Hit // those that may be among the best
	full  bool  // K of them have least or more
	least float64
}

// Offer takes the similarities of the objects from first on. It takes O(n + c log K) time for
// n values of which c are among the best so far.
func (t *Top) Offer(first int, values []float64) {
	for i, v := range values {
		if math.IsNaN(v) || t.full && v < t.least {
			continue
		}
		if t.hits = append(t.hits, Hit{first + i, v}); len(t.hits) > 2*t.K {
			t.trim()
		}
	}
}

// trim keeps the best.
func (t *Top) trim() {
	slices.SortFunc(t.hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Index, b.Index))
	})
	if len(t.hits) > t.K {
		t.hits = t.hits[:t.K]
	}
	if t.full = t.K > 0 && len(t.hits) == t.K; t.full {
		t.least = t.hits[t.K-1].Similarity
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
	t.trim()
	return slices.Clone(t.hits)
}

// Largest returns the k largest of some values.
func Largest(values []float64, k int) []Hit {
	t := Top{K: max(0, min(k, len(values)))}
	t.Offer(0, values)
	return t.Hits()
}
