package draw

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"gonum.org/v1/gonum/mat"
)

// Sizes where the layout of networks changes its method.
const (
	stressLimit = 250 // vertices of a component laid out by stress majorisation
	pivots      = 32
	forceRounds = 40
	crowd       = 160 // near vertices that push one vertex in a round
)

// networkLayout returns positions with edges of about length 1, components side by side.
// A component starts from pivot multidimensional scaling of its hop distances. Small ones
// are refined by stress majorisation,
//
//	minimise Σ_{i<j} (‖x_i − x_j‖ − d_ij)² / d_ij²      with hop distances d,
//
// large ones by springs on edges and repulsion between near vertices, O(n + m) a round.
func networkLayout(adj adjacency) []point {
	pos := make([]point, len(adj))
	components := adj.components()
	local := make([]int, len(adj))
	for _, vertices := range components {
		for i, v := range vertices {
			local[v] = i
		}
		component := make(adjacency, len(vertices))
		for i, v := range vertices {
			for _, w := range adj[v] {
				component[i] = append(component[i], local[w])
			}
		}
		ps := component.scaled()
		if len(vertices) <= stressLimit {
			component.majorise(ps)
		} else {
			component.push(ps)
		}
		for i, v := range vertices {
			pos[v] = ps[i]
		}
	}
	pack(components, pos, 1.5)
	return pos
}

// hops returns the hop distances from root in a connected graph.
func (adj adjacency) hops(root int) []float64 {
	dist := make([]float64, len(adj))
	order, from := adj.search(root)
	for _, v := range order[1:] {
		dist[v] = dist[from[v]] + 1
	}
	return dist
}

// scaled returns the first two axes of pivot multidimensional scaling: the leading components of
// the doubly centred −d²/2, d being the distances to a number of pivots, each far from those
// before. A little noise tells vertices apart that the distances do not.
func (adj adjacency) scaled() []point {
	n := len(adj)
	p := min(pivots, n)
	c := make([]float64, p*n)
	nearest := slices.Repeat([]float64{math.Inf(1)}, n)
	pivot := 0
	for j := range p {
		for i, d := range adj.hops(pivot) {
			c[j*n+i] = -d * d / 2
			nearest[i] = min(nearest[i], d)
		}
		pivot = slices.Index(nearest, slices.Max(nearest))
	}
	centre(c, n)
	distances := mat.NewDense(p, n, c)
	var gram, coordinates mat.Dense
	gram.Mul(distances, distances.T())
	_, axes, ok := dense.Eigen(gram.RawMatrix().Data, p)
	if !ok {
		panic("draw: no eigenvectors") // a matrix of order 32 with finite entries converges
	}
	coordinates.Mul(distances.T(), mat.NewDense(p, p, axes))
	ps := make([]point, n)
	for i := range ps {
		ps[i] = point{coordinates.At(i, p-1), coordinates.At(i, max(p-2, 0))}
	}
	// The mean edge gets length 1.
	sum, edges := 0.0, 0.0
	for v := range adj {
		for _, w := range adj[v] {
			sum += ps[v].distance(ps[w])
			edges++
		}
	}
	scale := 1.0
	if sum > 1e-9 {
		scale = edges / sum
	}
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	radius := make([]float64, n)
	for i := range ps {
		ps[i] = ps[i].scale(scale).add(point{rng.Float64() - 0.5, rng.Float64() - 0.5}.scale(0.2))
		radius[i] = ps[i].norm()
	}
	// Pivots among many like vertices (leaves of a star) would stand far out.
	slices.Sort(radius)
	for i := range ps {
		ps[i] = ps[i].scale(min(1, 3*radius[n/2]/ps[i].norm()))
	}
	return ps
}

// majorise lowers the stress by moving one vertex after the other to the optimum of the
// majorising function with the others fixed.
func (adj adjacency) majorise(ps []point) {
	d := make([][]float64, len(adj))
	for i := range d {
		d[i] = adj.hops(i)
	}
	for range 80 {
		moved := 0.0
		for i := range ps {
			var sum point
			total := 0.0
			for j, q := range ps {
				if i != j {
					w := 1 / (d[i][j] * d[i][j])
					r := ps[i].sub(q)
					sum = sum.add(q.add(r.scale(d[i][j] / max(r.norm(), 1e-9))).scale(w))
					total += w
				}
			}
			if total > 0 {
				next := sum.scale(1 / total)
				moved = max(moved, next.distance(ps[i]))
				ps[i] = next
			}
		}
		if moved < 1e-4 {
			return
		}
	}
}

// push refines positions by forces: edges attract with d², vertices within a distance of
// 2 repel with 1/d, and a step is at most the temperature, which falls to zero.
func (adj adjacency) push(ps []point) {
	const cell = 2.0
	key := func(p point) [2]int { return [2]int{int(math.Floor(p.x / cell)), int(math.Floor(p.y / cell))} }
	force := make([]point, len(ps))
	for round := range forceRounds {
		grid := map[[2]int][]int{}
		for i, p := range ps {
			grid[key(p)] = append(grid[key(p)], i)
		}
		for i, p := range ps {
			force[i] = point{}
			for k := range 9 {
				near := grid[[2]int{key(p)[0] + k/3 - 1, key(p)[1] + k%3 - 1}]
				step := len(near)/(crowd/9) + 1 // of a crowd only a sample
				for a := (i + round) % step; a < len(near); a += step {
					r := p.sub(ps[near[a]])
					d := r.norm()
					if d < 1e-6 {
						r, d = polar(1e-3, float64(i)), 1e-3
					}
					if near[a] != i && d < cell {
						force[i] = force[i].add(r.scale(float64(step) / (d * d)))
					}
				}
			}
			for _, w := range adj[i] {
				r := ps[w].sub(p)
				force[i] = force[i].add(r.scale(r.norm()))
			}
		}
		heat := 1 - float64(round)/forceRounds
		for i, f := range force {
			if s := f.norm(); s > 0 {
				ps[i] = ps[i].add(f.scale(min(s*0.1, heat) / s))
			}
		}
	}
}
