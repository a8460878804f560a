package explorer

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/kernel"
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
	near       [][]kernel.Hit  // the most similar others of each graph
	basis      []int           // graphs that the components come from
	axes       *draw.Embedding // of these
}

func (x *session) placed(ctx context.Context) (*placement, error) {
	return follows(ctx, x, &x.places, "map", x.computePlaces)
}

func (x *session) computePlaces(ctx context.Context, f *fitted) (*placement, error) {
	p := &placement{basis: every(f.core, basisLimit)}
	var err error
	if p.axes, err = draw.KernelPCA(ctx, f.view(p.basis).Matrix()); err != nil {
		return nil, err
	}
	if err := p.placeAll(ctx, f); err != nil {
		return nil, err
	}
	p.neighbours, err = draw.NeighbourMap(ctx, p.near, f.Kernel.Self(), p.pca)
	return p, err
}

// placeAll finds positions and neighbours of all graphs from rows of kernel values, block
// by block.
func (p *placement) placeAll(ctx context.Context, f *fitted) error {
	const height = 256
	n := f.Examples()
	meter := kernel.NewMeter(ctx, "neighbours", n)
	p.near = make([][]kernel.Hit, n)
	p.pca = [2][]float64{make([]float64, n), make([]float64, n)}
	for rows := range slices.Chunk(all(n), height) {
		b, err := f.block(ctx, rows, nil)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, g := range rows {
			p.near[g] = others(b.Row(i), layoutNeighbours, g)
			p.pca[0][g], p.pca[1][g] = p.project(b.Row(i))
		}
		meter.Add(len(rows))
	}
	return nil
}

// others returns the k most similar graphs, by a row of kernel values, but for graph self.
func others(row []float64, k, self int) []kernel.Hit {
	hits := slices.DeleteFunc(kernel.Largest(row, k+1), func(h kernel.Hit) bool { return h.Index == self })
	return hits[:min(k, len(hits))]
}

// project returns the coordinates on the principal components from the kernel with all graphs.
func (p *placement) project(row []float64) (x, y float64) {
	return p.axes.Project(choose.Pick(row, p.basis))
}

// among returns the mean position, on the map of neighbours, of the graphs that are most
// similar, weighted by similarity beyond that of the next one.
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
