package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/mlgkernel/mlg/kernel"
)

// Search returns, for each of the queries, which are records of the store's space, the k most
// similar graphs by falling similarity, and where it is equal in the order of the store. It
// is exact: every graph is compared. A chunk stays in the cache for a few queries at a time;
// besides the mapped file this takes 24 bytes for each graph and matrix.
//
// A query takes O(n p³) time for n graphs and matrices of order p; reading the file for the
// first time takes longer. Bounds that would exclude graphs cost more than they save: see
// docs/explanation/costs.md.
func (s *Store) Search(ctx context.Context, queries []float64, k int) ([][]kernel.Hit, error) {
	if k < 0 {
		return nil, fmt.Errorf("k = %d, want at least 0", k)
	}
	block, err := s.space.Block(queries)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	q, tops, mu := block.Len(), make([]kernel.Top, block.Len()), sync.Mutex{}
	for j := range tops {
		tops[j].K = min(k, s.n)
	}
	err = kernel.Each(ctx, len(s.chunks), 1, func(_, i int) error {
		c := s.chunks[i]
		some, _ := kernel.Device(ctx).Block(q, c.n, false, block.order()) // queries at a time
		if err := s.check(c); err != nil {
			return err
		}
		values := make([]float64, min(q, some)*c.n)
		for lo := 0; lo < q; lo += some {
			hi := min(lo+some, q)
			compare := func() error { return s.space.Compare(ctx, values, block, lo, hi, c.block, 0, c.n) }
			if err := s.guard(compare); err != nil {
				return err
			}
			for j := lo; j < hi; j++ {
				here := kernel.Top{K: min(k, c.n)}
				here.Offer(c.first, values[(j-lo)*c.n:][:c.n])
				mu.Lock()
				tops[j].Add(&here)
				mu.Unlock()
			}
		}
		return nil
	})
	out := make([][]kernel.Hit, q)
	for j := range out {
		out[j] = tops[j].Hits()
	}
	return out, err
}
