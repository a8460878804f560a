package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// searchValues bounds the kernel values that a worker of a search holds at a time.
const searchValues = 1 << 21

// Search returns, for each of the queries, which are features under the model's kernel, the k most
// similar graphs by falling similarity, and where it is equal in the order of the store. It
// is exact: every graph is compared. Each worker has one chunk and its kernel values in memory, and
// four chunks stay decoded. The matrices of low-rank kernels take 24 bytes for each graph and matrix
// besides.
//
// With a low-rank kernel, a query takes O(n p³) time for n graphs and matrices of order p; reading the
// file for the first time takes longer. Bounds that would exclude graphs cost more than they save: see
// docs/explanation/costs.md.
func (s *Store) Search(ctx context.Context, queries kernel.Features, k int) ([][]nearest.Hit, error) {
	if k < 0 {
		return nil, fmt.Errorf("k = %d, want at least 0", k)
	}
	q := queries.Len()
	tops, mu := make([]nearest.Top, q), sync.Mutex{}
	for j := range tops {
		tops[j].K = min(k, s.n)
	}
	err := work.Each(ctx, len(s.chunks), 1, func(_, i int) error {
		return s.with(s.chunks[i], func(a kernel.Features) error {
			n := a.Len()
			some := min(q, max(1, searchValues/n)) // queries at a time
			values := make([]float64, some*n)
			for lo := 0; lo < q; lo += some {
				hi := min(lo+some, q)
				if err := s.model.Kernel.Fill(ctx, values, n, kernel.Block{A: queries, I0: lo, I1: hi, B: a, J0: 0, J1: n}); err != nil {
					return err
				}
				for j := lo; j < hi; j++ {
					here := nearest.Top{K: min(k, n)}
					here.Offer(s.chunks[i].first, values[(j-lo)*n:][:n])
					mu.Lock()
					tops[j].Add(&here)
					mu.Unlock()
				}
			}
			return nil
		})
	})
	out := make([][]nearest.Hit, q)
	for j := range out {
		out[j] = tops[j].Hits()
	}
	return out, err
}
