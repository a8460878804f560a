package explorer

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/explain/draw"
	"github.com/mlgkernel/mlg/svm"
)

// basisLimit is the largest number of graphs that principal components are computed from: the
// iteration takes O(n²) time for each of many steps. Others are projected on them.
const basisLimit = 1200

// layoutNeighbours is the number of nearest neighbours that the layout keeps together.
const layoutNeighbours = 12

// placement has the positions of all graphs on both maps.
type placement struct {
	pca        [2][]float64
	share      [2]float64
	neighbours [2][]float64
	near       *nearest
	// What places a new graph: the graphs that the components come from, their coordinates and
	// eigenvalues, and the means of the rows and of all entries of their Gram matrix.
	basis    []int
	axes     *draw.Embedding
	rowMean  []float64
	fullMean float64
}

func (x *session) placed(ctx context.Context) (*placement, error) {
	return x.place.get(ctx, x.s.life, func(ctx context.Context) (*placement, error) {
		f, err := x.fitted(ctx)
		if err != nil {
			return nil, err
		}
		return compute(ctx, x, "map", func(ctx context.Context) (*placement, error) { return x.computePlaces(ctx, f) })
	})
}

func (x *session) computePlaces(ctx context.Context, f *fitted) (*placement, error) {
	at := f.within(f.core) // positions in the core of those that give the components
	if len(at) > basisLimit {
		at = every(at, basisLimit)
	}
	gram := svm.Full(f.gram).Select(at, at).Matrix()
	e, err := draw.KernelPCA(gram)
	if err != nil {
		return nil, err
	}
	n := f.kernel.Examples()
	p := &placement{basis: pick(f.core, at), axes: e, share: e.Share, rowMean: make([]float64, len(at)), near: newNearest(n, layoutNeighbours, f.most())}
	for i := range p.rowMean {
		for _, v := range gram.Row(i) {
			p.rowMean[i] += v / float64(len(at))
		}
		p.fullMean += p.rowMean[i] / float64(len(at))
	}
	if err := p.placeAll(ctx, x, f); err != nil {
		return nil, err
	}
	p.neighbours, err = neighbourLayout(ctx, p.near, p.pca, func(done, total int) { x.report("map", int64(done), int64(total)) })
	return p, err
}

// placeAll finds positions and neighbours of all graphs from rows of kernel values, block
// by block.
func (p *placement) placeAll(ctx context.Context, x *session, f *fitted) error {
	const height = 256
	n := f.kernel.Examples()
	p.pca = [2][]float64{make([]float64, n), make([]float64, n)}
	for from := 0; from < n; from += height {
		x.report("neighbours", int64(from), int64(n))
		rows := make([]int, min(height, n-from))
		for i := range rows {
			rows[i] = from + i
		}
		b := &mlg.Matrix{Rows: len(rows), Cols: n}
		if f.whole() {
			b.Data = f.gram.Data[from*n : (from+len(rows))*n]
		} else {
			var err error
			if b, err = f.block(ctx, rows, nil); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, g := range rows {
			p.near.take(g, b.Row(i))
			p.pca[0][g], p.pca[1][g] = p.project(b.Row(i))
		}
	}
	return nil
}

// project returns the coordinates on the kernel principal components of a graph from its
// kernel with all graphs,
//
//	x = Σ_i k'_i x_i / λ,   k'_i = k_i − mean(k) − mean_i + mean,
//
// a sum over the graphs of the basis, with x_i their coordinates, mean_i and mean the means of
// row i and of all entries of their Gram matrix. A graph of the basis gets its own coordinates.
func (p *placement) project(row []float64) (x, y float64) {
	mean := 0.0
	for _, i := range p.basis {
		mean += row[i] / float64(len(p.basis))
	}
	for a, i := range p.basis {
		c := row[i] - mean - p.rowMean[a] + p.fullMean
		x += c * p.axes.X[a]
		y += c * p.axes.Y[a]
	}
	scale := func(v, lambda float64) float64 {
		if lambda > 0 {
			return v / lambda
		}
		return 0
	}
	return scale(x, p.axes.Eigenvalue[0]), scale(y, p.axes.Eigenvalue[1])
}

// among returns the mean position, on the map of neighbours, of the graphs that are most
// similar, weighted by similarity beyond that of the next one.
func (p *placement) among(row []float64) (x, y float64) {
	const most = 5
	n := newNearest(1, most+1, 1)
	n.self = false
	n.take(0, row)
	list := n.list[0]
	floor := 0.0
	if len(list) > most {
		floor = row[list[most]]
		list = list[:most]
	}
	total := 0.0
	for _, j := range list {
		w := row[j] - floor + 1e-9
		x += w * p.neighbours[0][j]
		y += w * p.neighbours[1][j]
		total += w
	}
	return x / total, y / total
}

// every returns a number of elements of a list at equal distances.
func every(list []int, number int) []int {
	out := make([]int, number)
	for i := range out {
		out[i] = list[i*len(list)/number]
	}
	return out
}

// nearest has, for each object, its nearest neighbours with their distances √(2−2k/most),
// nearest first.
type nearest struct {
	k    int
	self bool    // leave out the object itself
	most float64 // the largest kernel value there can be, k(G, G)
	list [][]int32
	like [][]float64 // similarities
	dist [][]float64
}

func newNearest(n, k int, most float64) *nearest {
	return &nearest{k: k, self: true, most: most, list: make([][]int32, n), like: make([][]float64, n), dist: make([][]float64, n)}
}

// take finds the neighbours of object i from its row of kernel values.
func (n *nearest) take(i int, row []float64) {
	best := make([]int32, 0, n.k+1)
	for j, v := range row {
		if n.self && j == i || len(best) == n.k && v <= row[best[n.k-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, v, func(b int32, v float64) int {
			if row[b] >= v { // of equals the one that came first
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, int32(j))
		best = best[:min(len(best), n.k)]
	}
	n.list[i] = best
	n.like[i], n.dist[i] = make([]float64, len(best)), make([]float64, len(best))
	for a, j := range best {
		n.like[i][a] = row[j]
		n.dist[i][a] = math.Sqrt(max(2-2*row[j]/n.most, 0))
	}
}

// neighbourLayout places objects in the plane so that nearest neighbours stay together. The
// neighbours of i attract with the weight
//
//	w_ij = exp(−(d_ij − d_i1)/σ_i),   σ_i such that Σ_j w_ij = log₂ k,
//
// made symmetric as w_ij + w_ji − w_ij w_ji, and a few objects drawn at random repel; the
// probability that two objects at distance d in the plane are neighbours is taken as
// 1/(1+d²), and its likelihood climbed by stochastic steps (the method of McInnes, Healy and
// Melville, UMAP, 2018, with that simplest of their curves), and a weak pull to the middle. It starts from the given
// positions, draws from a fixed seed, and runs in one goroutine: equal input, equal bits.
// It takes O(nk) time per round.
func neighbourLayout(ctx context.Context, near *nearest, start [2][]float64, progress func(done, total int)) ([2][]float64, error) {
	n := len(near.list)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	pos := [2][]float64{scaled(start[0], rng), scaled(start[1], rng)}
	edges := attraction(near)
	rounds := 400
	if n > 1000 {
		rounds = 200
	}
	const (
		repulsions = 5
		gravity    = 0.02 // keeps groups that have nothing in common from drifting apart
	)
	push := func(v []float64, i int, by float64) { v[i] += min(max(by, -4), 4) }
	for r := range rounds {
		if r%10 == 0 {
			if err := ctx.Err(); err != nil {
				return pos, err
			}
			progress(r, rounds)
		}
		step := 1 - float64(r)/float64(rounds)
		for i := range n {
			pos[0][i] *= 1 - gravity*step
			pos[1][i] *= 1 - gravity*step
		}
		for e := range edges {
			if edges[e].due += edges[e].weight; edges[e].due < 1 {
				continue
			}
			edges[e].due--
			i, j := int(edges[e].i), int(edges[e].j)
			dx, dy := pos[0][i]-pos[0][j], pos[1][i]-pos[1][j]
			c := -2 * step / (1 + dx*dx + dy*dy)
			for a, d := range [2]float64{dx, dy} {
				push(pos[a], i, c*d)
				push(pos[a], j, -c*d)
			}
			for range repulsions {
				j := rng.IntN(n)
				if j == i {
					continue
				}
				dx, dy := pos[0][i]-pos[0][j], pos[1][i]-pos[1][j]
				d2 := dx*dx + dy*dy
				c := 2 * step / ((0.01 + d2) * (1 + d2))
				push(pos[0], i, c*dx)
				push(pos[1], i, c*dy)
			}
		}
	}
	return pos, nil
}

// attract is a pair of neighbours; due adds up weights until the pair has its turn.
type attract struct {
	i, j        int32
	weight, due float64
}

// attraction returns the symmetric weights of neighbours, the largest 1.
func attraction(near *nearest) []attract {
	weight := map[[2]int32]float64{}
	for i, list := range near.list {
		w := localWeights(near.dist[i])
		for a, j := range list {
			pair := [2]int32{min(int32(i), j), max(int32(i), j)}
			old := weight[pair]
			weight[pair] = old + w[a] - old*w[a]
		}
	}
	edges := make([]attract, 0, len(weight))
	for pair, w := range weight {
		edges = append(edges, attract{i: pair[0], j: pair[1], weight: w})
	}
	slices.SortFunc(edges, func(a, b attract) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	return edges
}

// localWeights returns exp(−(d_j − d_1)/σ) with the σ for which they add up to log₂ k, found
// by bisection; 64 halvings exhaust the precision.
func localWeights(d []float64) []float64 {
	w := make([]float64, len(d))
	if len(d) == 0 {
		return w
	}
	want := math.Log2(float64(max(len(d), 2)))
	low, high := 0.0, 1e3
	for range 64 {
		mid := (low + high) / 2
		sum := 0.0
		for j := range d {
			w[j] = 1
			if d[j] > d[0] {
				w[j] = math.Exp(-(d[j] - d[0]) / mid)
			}
			sum += w[j]
		}
		if sum > want {
			high = mid
		} else {
			low = mid
		}
	}
	return w
}

// scaled returns coordinates of spread 4 with a little noise, which separates equal ones.
func scaled(x []float64, rng *rand.Rand) []float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		if most > 0 {
			out[i] = 4 * v / most
		}
		out[i] += 1e-2 * rng.NormFloat64()
	}
	return out
}

// narrow writes q to dst.
func narrow(dst []float32, q []float64) {
	for i, v := range q {
		dst[i] = float32(v)
	}
}

// cells returns the matrix of mean values of blocks of rows and columns in a given order, at
// most limit of each.
func cells(k *mlg.Matrix, order []int, limit int) (*mlg.Matrix, int) {
	per := (len(order) + limit - 1) / limit
	n := (len(order) + per - 1) / per
	out := mlg.NewMatrix(n, n)
	count := make([]float64, n*n)
	for a, i := range order {
		for b, j := range order {
			at := a/per*n + b/per
			out.Data[at] += k.At(i, j)
			count[at]++
		}
	}
	for at := range out.Data {
		out.Data[at] /= count[at]
	}
	return out, per
}
