package draw

import (
	"math"
	"math/rand/v2"
	"slices"
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
// The seed only breaks ties between vertices that the distances cannot tell apart.
func networkLayout(adj adjacency, seed uint64) []point {
	pos := make([]point, len(adj))
	parts := adj.components(func(int, int) bool { return true })
	local := make([]int, len(adj))
	for _, part := range parts {
		for i, v := range part {
			local[v] = i
		}
		nb := make(adjacency, len(part))
		for i, v := range part {
			nb[i] = make([]int, len(adj[v]))
			for k, w := range adj[v] {
				nb[i][k] = local[w]
			}
		}
		ps := nb.scaled(rand.New(rand.NewPCG(seed, uint64(len(part)))))
		if len(part) <= stressLimit {
			nb.majorise(ps)
		} else {
			nb.push(ps)
		}
		level(ps)
		for i, v := range part {
			pos[v] = ps[i]
		}
	}
	pack(parts, pos, 1.5)
	return pos
}

// hops writes the hop distances from root; every vertex must be reachable.
func (adj adjacency) hops(root int, dist []float64, queue []int) {
	for i := range dist {
		dist[i] = -1
	}
	dist[root] = 0
	queue = append(queue[:0], root)
	for i := 0; i < len(queue); i++ {
		for _, w := range adj[queue[i]] {
			if dist[w] < 0 {
				dist[w] = dist[queue[i]] + 1
				queue = append(queue, w)
			}
		}
	}
}

// scaled returns the first two axes of pivot multidimensional scaling, with a little noise.
func (adj adjacency) scaled(rng *rand.Rand) []point {
	n := len(adj)
	k := min(pivots, n)
	c := make([][]float64, k) // squared distances to the pivots, doubly centred below
	nearest := make([]float64, n)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	queue := make([]int, 0, n)
	pivot := 0
	for j := range c {
		c[j] = make([]float64, n)
		adj.hops(pivot, c[j], queue)
		for i, d := range c[j] {
			nearest[i] = min(nearest[i], d)
			if nearest[i] > nearest[pivot] {
				pivot = i
			}
		}
	}
	rows, total := make([]float64, n), 0.0
	for j := range c {
		for i, d := range c[j] {
			c[j][i] = -d * d / 2
			rows[i] += c[j][i] / float64(k)
			total += c[j][i] / float64(k) / float64(n)
		}
	}
	for j := range c {
		mean := 0.0
		for _, d := range c[j] {
			mean += d / float64(n)
		}
		for i := range c[j] {
			c[j][i] += total - mean - rows[i]
		}
	}
	gram := make([][]float64, k)
	for a := range gram {
		gram[a] = make([]float64, k)
		for b := range gram[a] {
			for i := range n {
				gram[a][b] += c[a][i] * c[b][i]
			}
		}
	}
	var axes [2][]float64
	for a := range axes {
		axes[a] = leading(gram, axes[:a], rng)
	}
	ps := make([]point, n)
	for i := range ps {
		for j := range c {
			ps[i].x += c[j][i] * axes[0][j]
			ps[i].y += c[j][i] * axes[1][j]
		}
	}
	// The mean edge gets length 1.
	sum, m := 0.0, 0.0
	for v := range adj {
		for _, w := range adj[v] {
			sum += ps[v].distance(ps[w])
			m++
		}
	}
	f := 1.0
	if sum > 1e-9 {
		f = m / sum
	}
	radius := make([]float64, n)
	for i := range ps {
		ps[i] = ps[i].scale(f).add(point{rng.Float64() - 0.5, rng.Float64() - 0.5})
		radius[i] = ps[i].norm()
	}
	// Pivots among many like vertices (leaves of a star) would stand far out.
	slices.Sort(radius)
	limit := 3 * radius[n/2]
	for i := range ps {
		if r := ps[i].norm(); r > limit {
			ps[i] = ps[i].scale(limit / r)
		}
	}
	return ps
}

// leading returns by power iteration the leading eigenvector of a symmetric positive
// semi-definite matrix that is orthogonal to the given ones.
func leading(a [][]float64, before [][]float64, rng *rand.Rand) []float64 {
	k := len(a)
	v, w := make([]float64, k), make([]float64, k)
	for i := range v {
		v[i] = rng.Float64() - 0.5
	}
	for range 60 {
		for _, b := range before {
			d := 0.0
			for i := range v {
				d += v[i] * b[i]
			}
			for i := range v {
				v[i] -= d * b[i]
			}
		}
		norm := 0.0
		for i := range w {
			w[i] = 0
			for j := range v {
				w[i] += a[i][j] * v[j]
			}
			norm += w[i] * w[i]
		}
		norm = math.Sqrt(norm)
		if norm < 1e-12 {
			break
		}
		for i := range w {
			v[i] = w[i] / norm
		}
	}
	return v
}

// majorise lowers the stress by moving one vertex after the other to the optimum of the
// majorising function with the others fixed.
func (adj adjacency) majorise(ps []point) {
	n := len(adj)
	d := make([][]float64, n)
	queue := make([]int, 0, n)
	for i := range d {
		d[i] = make([]float64, n)
		adj.hops(i, d[i], queue)
	}
	for range 80 {
		moved := 0.0
		for i := range ps {
			var sum point
			total := 0.0
			for j, q := range ps {
				if i == j {
					continue
				}
				w := 1 / (d[i][j] * d[i][j])
				r := ps[i].sub(q)
				norm := max(r.norm(), 1e-9)
				sum = sum.add(q.add(r.scale(d[i][j] / norm)).scale(w))
				total += w
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
	n := len(ps)
	move := make([]point, n)
	for round := range forceRounds {
		grid := map[[2]int][]int{}
		key := func(p point) [2]int { return [2]int{int(math.Floor(p.x / cell)), int(math.Floor(p.y / cell))} }
		for i, p := range ps {
			k := key(p)
			grid[k] = append(grid[k], i)
		}
		for i, p := range ps {
			var f point
			k := key(p)
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					list := grid[[2]int{k[0] + dx, k[1] + dy}]
					step := len(list)/(crowd/9) + 1
					for j := (i + round) % step; j < len(list); j += step {
						if q := ps[list[j]]; list[j] != i {
							r := p.sub(q)
							d := r.norm()
							if d < 1e-6 {
								r, d = polar(1e-3, float64(i)), 1e-3
							}
							if d < cell {
								f = f.add(r.scale(float64(step) / (d * d)))
							}
						}
					}
				}
			}
			for _, w := range adj[i] {
				r := ps[w].sub(p)
				f = f.add(r.scale(r.norm()))
			}
			move[i] = f
		}
		heat := 1 - float64(round)/forceRounds
		for i := range ps {
			if s := move[i].norm(); s > 0 {
				ps[i] = ps[i].add(move[i].scale(min(s*0.1, heat) / s))
			}
		}
	}
}

// level turns the longest axis of the points to the horizontal.
func level(ps []point) {
	var mean point
	for _, p := range ps {
		mean = mean.add(p.scale(1 / float64(len(ps))))
	}
	var xx, xy, yy float64
	for _, p := range ps {
		d := p.sub(mean)
		xx, xy, yy = xx+d.x*d.x, xy+d.x*d.y, yy+d.y*d.y
	}
	a := math.Atan2(2*xy, xx-yy) / 2
	for i, p := range ps {
		ps[i] = p.sub(mean).rotate(-a)
	}
}
