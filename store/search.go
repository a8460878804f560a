package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Hit is a graph of a store that is similar to a query.
type Hit struct {
	Index      int
	Similarity float64
}

// order sorts by falling similarity, then by the order in the store.
func order(a, b Hit) int {
	if c := cmp.Compare(b.Similarity, a.Similarity); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
}

// queryBlock is the number of queries that are compared with a chunk at once.
const queryBlock = 16

// Search returns, for each of the queries, which are records of the store's space, the k most
// similar graphs by falling similarity, and where it is equal in the order of the store. It
// is exact: every graph is compared. The chunks go to the given number of goroutines, and a
// chunk stays in the cache for a few queries at a time; besides the mapped file this takes
// 24 bytes for each graph and matrix.
//
// A query takes O(n p³) time for n graphs and matrices of order p; reading the file for the
// first time takes longer. Bounds that would exclude graphs cost more than they save: see
// docs/scaling.md.
func (s *Store) Search(ctx context.Context, queries []float64, k, workers int) ([][]Hit, error) {
	if k < 0 {
		return nil, fmt.Errorf("%d graphs wanted, want a number that is not negative", k)
	}
	block, err := s.space.Block(queries)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	q := block.Len()
	k = min(k, s.n)
	out := make([][]Hit, q)
	var mu sync.Mutex
	var next atomic.Int64
	work := func() error {
		best := make([]top, q)
		values := make([]float64, min(q, queryBlock)*s.head.capacity)
		for {
			i := int(next.Add(1)) - 1
			if i >= len(s.chunks) {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			c := s.chunks[i]
			if err := s.check(c); err != nil {
				return err
			}
			for lo := 0; lo < q; lo += queryBlock {
				hi := min(lo+queryBlock, q)
				s.space.Compare(values, c.n, block, lo, hi, c.block, 0, c.n)
				for j := lo; j < hi; j++ {
					best[j].offer(values[(j-lo)*c.n:][:c.n], c.first, k)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for j := range best {
			out[j] = append(out[j], best[j]...)
		}
		return nil
	}
	workers = max(1, min(workers, len(s.chunks)))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			if errs[w] = work(); errs[w] != nil {
				next.Store(int64(len(s.chunks))) // the others need not go on
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for j := range out {
		slices.SortFunc(out[j], order)
		out[j] = out[j][:min(k, len(out[j]))]
	}
	return out, nil
}

// top holds the best hits so far as a heap whose first is the worst of them.
type top []Hit

// offer adds what is among the k best of the hits so far and of values, which belong to the
// graphs from first on. NaN is not similar to anything.
func (t *top) offer(values []float64, first, k int) {
	h := *t
	for i, v := range values {
		if len(h) == k && (k == 0 || !(v >= h[0].Similarity)) || v != v {
			continue
		}
		x := Hit{first + i, v}
		if len(h) < k {
			h = append(h, x)
			h.lift()
		} else if order(x, h[0]) < 0 {
			h[0] = x
			h.sink()
		}
	}
	*t = h
}

// lift moves the last hit to its place.
func (t top) lift() {
	for i := len(t) - 1; i > 0; {
		up := (i - 1) / 2
		if order(t[i], t[up]) < 0 {
			return
		}
		t[i], t[up] = t[up], t[i]
		i = up
	}
}

// sink moves the first hit to its place.
func (t top) sink() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t) {
			return
		}
		if c+1 < len(t) && order(t[c], t[c+1]) < 0 {
			c++
		}
		if order(t[c], t[i]) < 0 {
			return
		}
		t[i], t[c] = t[c], t[i]
		i = c
	}
}
