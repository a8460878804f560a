package cli

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/mlgkernel/mlg/spd"
)

// pairRate is the number of kernel values of covariances that this machine computes in a
// second.
type pairRate struct {
	Rank   int     `json:"rank"`
	Single float64 `json:"pairs_per_second_1_thread"`
	All    float64 `json:"pairs_per_second"` // with all threads
}

// How long the rate of pairs is measured, and how many matrices are compared with each other:
// few enough to stay in the cache, as in the tiles of a Gram matrix.
const (
	pairTime  = 200 * time.Millisecond
	pairBatch = 256
)

// measurePairs measures covariances of order p, first in one thread, then in all.
func measurePairs(g *globals, p int) (pairRate, error) {
	r := rand.New(rand.NewPCG(1, uint64(p)))
	batch := spd.NewBatch(pairBatch, p)
	packed, y := make([]float64, spd.Size(p)), make([]float64, 2*p*p)
	for i := range pairBatch {
		clear(packed)
		for v := range p {
			packed[spd.Index(v, v)] = 0.1
		}
		for j := range y {
			y[j] = r.NormFloat64()
		}
		spd.AddGram(packed, y, 2*p, p)
		if err := batch.Set(i, packed); err != nil {
			return pairRate{}, fmt.Errorf("rank %d: %w", p, err)
		}
	}
	measure := func(threads int) float64 {
		rates := make([]float64, threads)
		var wg sync.WaitGroup
		for t := range threads {
			wg.Go(func() {
				dst := make([]float64, 8*pairBatch)
				n := 0
				start := time.Now()
				for time.Since(start) < pairTime && g.ctx.Err() == nil {
					for i := 0; i < 64; i += 8 {
						spd.Cross(dst, pairBatch, batch, i, i+8, batch, 0, pairBatch)
						n += 8 * pairBatch
					}
				}
				rates[t] = float64(n) / time.Since(start).Seconds()
			})
		}
		wg.Wait()
		sum := 0.0
		for _, x := range rates {
			sum += x
		}
		return sum
	}
	measure(1) // warm up
	out := pairRate{Rank: p, Single: measure(1), All: measure(g.workers())}
	return out, g.ctx.Err()
}
