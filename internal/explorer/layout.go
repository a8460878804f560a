package explorer

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

// basisLimit is the largest number of graphs that principal components are computed from, in O(n³)
// time. Others are projected on them.
const basisLimit = 1200

// layoutNeighbours is the number of nearest neighbours that the layout keeps together.
const layoutNeighbours = 12

// placement has the positions of all graphs on both maps.
type placement struct {
	pca        [2][]float64
	neighbours [2][]float64
	near       [][]nearest.Hit // the most similar others of each graph
	basis      []int           // graphs that the components come from
	axes       *draw.Embedding // of these
}

// sketched places all graphs on the principal components, which takes a fraction of the time of the other map.
func (x *session) sketched(ctx context.Context) (*placement, error) {
	return follows(ctx, x, &x.sketch, "components", func(ctx context.Context, f *fitted) (*placement, error) {
		p := &placement{basis: every(f.core, basisLimit)}
		var err error
		if p.axes, err = draw.KernelPCA(ctx, f.among(p.basis)); err != nil {
			return nil, err
		}
		return p, p.projectAll(ctx, f)
	})
}

// placed places all graphs on both maps.
func (x *session) placed(ctx context.Context) (*placement, error) {
	sketch, err := x.sketched(ctx)
	if err != nil {
		return nil, err
	}
	return follows(ctx, x, &x.places, "map", func(ctx context.Context, f *fitted) (*placement, error) {
		p := *sketch
		if p.near, err = f.neighbours(ctx, layoutNeighbours, panelWidth); err != nil {
			return nil, err
		}
		p.neighbours, err = draw.NeighbourMap(ctx, p.near, f.Kernel.Self(), p.pca)
		return &p, err
	})
}

// Sizes of the blocks of kernel values that are in memory at a time.
const (
	panelHeight = 256
	panelWidth  = 2500
)

// projectAll places all graphs on the principal components.
func (p *placement) projectAll(ctx context.Context, f *fitted) error {
	n := f.Examples()
	p.pca = [2][]float64{make([]float64, n), make([]float64, n)}
	block := f.against(p.basis)
	meter := work.NewMeter(ctx, "components", n)
	for rows := range slices.Chunk(kernel.UpTo(n), panelHeight) {
		b, err := block(work.Quiet(ctx), rows)
		if err != nil {
			return err
		}
		for i, g := range rows {
			p.pca[0][g], p.pca[1][g] = p.axes.Project(b.Row(i))
		}
		meter.Add(len(rows))
	}
	return nil
}

// neighbours returns the k most similar others of every graph. Columns come in panels of some width, and only rows from there on:
// of most pairs one of two values is computed, and serves both.
func (f *fitted) neighbours(ctx context.Context, k, width int) ([][]nearest.Hit, error) {
	n := f.Examples()
	if f.whole() {
		width = n
	}
	best := make([]nearest.Top, n)
	for i := range best {
		best[i].K = k + 1
	}
	total := 0
	for from := 0; from < n; from += width {
		total += (n - from) * min(width, n-from)
	}
	meter := work.NewMeter(ctx, "neighbours", total)
	for from := 0; from < n; from += width {
		cols := kernel.UpTo(n)[from:min(from+width, n)]
		block := f.against(cols)
		for rows := range slices.Chunk(kernel.UpTo(n)[from:], panelHeight) {
			b, err := block(work.Quiet(ctx), rows)
			if err != nil {
				return nil, err
			}
			err = work.Each(ctx, len(rows), 16, func(_, i int) error {
				best[rows[i]].Offer(from, b.Row(i))
				return nil
			})
			if err != nil {
				return nil, err
			}
			later := max(cols[len(cols)-1]+1-rows[0], 0) // the first row that is no column as well
			if later < len(rows) {
				err = work.Each(ctx, len(cols), 64, func(_, c int) error {
					values := make([]float64, 0, panelHeight)
					for i := later; i < len(rows); i++ {
						values = append(values, b.At(i, c))
					}
					best[cols[c]].Offer(rows[later], values)
					return nil
				})
			}
			if err != nil {
				return nil, err
			}
			meter.Add(len(rows) * len(cols))
		}
	}
	near := make([][]nearest.Hit, n)
	for i := range near {
		near[i] = without(best[i].Hits(), i, k)
	}
	return near, nil
}

// others returns the k most similar graphs, by a row of kernel values, but for graph self.
func others(row []float64, k, self int) []nearest.Hit {
	return without(nearest.Largest(row, k+1), self, k)
}

// project returns the coordinates on the principal components from the kernel with all graphs.
func (p *placement) project(row []float64) (x, y float64) {
	return p.axes.Project(choose.Pick(row, p.basis))
}

// without returns at most k of some graphs, but for graph self.
func without(hits []nearest.Hit, self, k int) []nearest.Hit {
	hits = slices.DeleteFunc(hits, func(h nearest.Hit) bool { return h.Index == self })
	return hits[:min(k, len(hits))]
}

// among returns a mean of the positions of the most similar graphs on the map of neighbours. The
// weight of a graph is its similarity minus that of the first graph that is left out.
func (p *placement) among(row []float64) (x, y float64) {
	const most = 5
	hits := others(row, most+1, -1)
	floor := 0.0
	if len(hits) > most {
		floor = hits[most].Similarity
		hits = hits[:most]
	}
	total := 0.0
	for _, h := range hits {
		w := h.Similarity - floor + 1e-9
		x += w * p.neighbours[0][h.Index]
		y += w * p.neighbours[1][h.Index]
		total += w
	}
	return x / total, y / total
}
