// Package cluster groups objects by a kernel matrix around typical ones.
//
// The distance of two objects is that of their images in the feature space of the kernel,
//
//	d(i, j) = √(k_ii + k_jj − 2 k_ij).
//
// A grouping around medoids has k objects, the medoids, such that the sum of the distances of
// all objects to the nearest medoid is small; a medoid is a typical member of its group. The
// number of groups can be chosen by silhouettes. Order puts similar objects side by side. Nothing is
// random: equal matrices give equal groups.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
)

// Clustering is a grouping of n objects. Groups are ordered by falling size, and equal ones
// by their medoids.
type Clustering struct {
	Medoids []int     // the typical object of each group
	Group   []int     // of each object: a position in Medoids
	Sizes   []int     // of the groups
	Cost    float64   // sum of the distances to the medoids
	Width   []float64 // silhouette of each object, see Silhouette
	Mean    float64   // mean of the silhouettes
}

// distances holds the distances of all pairs.
type distances struct {
	n int
	d []float64
}

func (x *distances) row(i int) []float64 { return x.d[i*x.n : (i+1)*x.n] }

// newDistances checks a kernel matrix and returns its distances.
func newDistances(k *kernel.Matrix) (*distances, error) {
	if k.Rows != k.Cols || k.Rows == 0 {
		return nil, fmt.Errorf("kernel matrix of %d×%d, want a square one with rows", k.Rows, k.Cols)
	}
	x := &distances{k.Rows, make([]float64, k.Rows*k.Rows)}
	for i := range x.n {
		row := x.row(i)
		for j, v := range k.Row(i) {
			d := k.At(i, i) + k.At(j, j) - 2*v
			if math.IsNaN(d) || math.IsInf(d, 0) {
				return nil, fmt.Errorf("kernel of objects %d and %d is %v, want finite numbers", i, j, v)
			}
			row[j] = math.Sqrt(max(0, d))
		}
	}
	return x, nil
}

// Medoids groups objects around k of them: medoids are added one after the other, each where
// the cost falls most, then exchanged for others as long as an exchange lowers the cost, the
// best one each time (PAM; Kaufman & Rousseeuw 1990). An exchange is found in O(n²) time
// (Schubert & Rousseeuw 2021). k larger than the number of objects means all.
func Medoids(ctx context.Context, kernel *kernel.Matrix, k int) (*Clustering, error) {
	if k < 1 {
		return nil, fmt.Errorf("%d groups, want at least 1", k)
	}
	x, err := newDistances(kernel)
	if err != nil {
		return nil, err
	}
	p := &partition{x: x}
	for len(p.medoids) < min(k, x.n) {
		p.build()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := p.exchange(ctx); err != nil {
		return nil, err
	}
	return p.clustering(), nil
}

// Auto groups objects with that number of groups, 2 … most, whose mean silhouette is largest,
// the smallest of equals, and returns the mean for each number as well. Fewer than three
// objects make one group.
func Auto(ctx context.Context, kernel *kernel.Matrix, most int, progress func(done, total int)) (*Clustering, []float64, error) {
	x, err := newDistances(kernel)
	if err != nil {
		return nil, nil, err
	}
	if x.n < 3 || most < 2 {
		c, err := Medoids(ctx, kernel, 1)
		return c, nil, err
	}
	most = min(most, x.n-1)
	var best *Clustering
	var means []float64
	start := &partition{x: x}
	start.build()
	for k := 2; k <= most; k++ {
		start.build()
		p := &partition{x: x, medoids: slices.Clone(start.medoids)}
		p.assign()
		if err := p.exchange(ctx); err != nil {
			return nil, nil, err
		}
		c := p.clustering()
		means = append(means, c.Mean)
		if best == nil || c.Mean > best.Mean {
			best = c
		}
		if progress != nil {
			progress(k-1, most-1)
		}
	}
	return best, means, nil
}

// partition is a set of medoids with the nearest and second nearest of every object.
type partition struct {
	x             *distances
	medoids       []int
	nearest       []int // position among the medoids
	first, second []float64
}

// assign sets what depends on the medoids.
func (p *partition) assign() {
	n := p.x.n
	p.nearest, p.first, p.second = make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		p.first[i], p.second[i] = math.Inf(1), math.Inf(1)
		row := p.x.row(i)
		for m, c := range p.medoids {
			switch d := row[c]; {
			case d < p.first[i]:
				p.second[i], p.first[i], p.nearest[i] = p.first[i], d, m
			case d < p.second[i]:
				p.second[i] = d
			}
		}
	}
	for m, c := range p.medoids { // of equal objects each medoid stays in its own group
		if p.nearest[c] != m {
			p.second[c], p.nearest[c] = p.first[c], m
		}
	}
}

// build adds the medoid with which the cost falls most, the first of equals.
func (p *partition) build() {
	best, at := math.Inf(1), -1
	for c := range p.x.n {
		if slices.Contains(p.medoids, c) {
			continue
		}
		cost := 0.0
		for i, d := range p.x.row(c) {
			if p.first != nil {
				d = min(d, p.first[i])
			}
			cost += d
		}
		if cost < best {
			best, at = cost, c
		}
	}
	p.medoids = append(p.medoids, at)
	p.assign()
}

// exchange swaps medoids with other objects, the best swap each time, until none lowers the
// cost by more than rounding.
func (p *partition) exchange(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		cost := p.cost()
		// What the cost rises by when a medoid is taken away.
		loss := make([]float64, len(p.medoids))
		for i, m := range p.nearest {
			loss[m] += p.second[i] - p.first[i]
		}
		best, from, to := 0.0, -1, -1
		change := make([]float64, len(p.medoids))
		for c := range p.x.n {
			if slices.Contains(p.medoids, c) {
				continue
			}
			copy(change, loss)
			gain := 0.0 // for all medoids alike
			for i, d := range p.x.row(c) {
				switch m := p.nearest[i]; {
				case d < p.first[i]:
					gain += d - p.first[i]
					change[m] += p.first[i] - p.second[i]
				case d < p.second[i]:
					change[m] += d - p.second[i]
				}
			}
			for m, v := range change {
				if v+gain < best {
					best, from, to = v+gain, m, c
				}
			}
		}
		const rounding = 1e-12
		if from < 0 || best > -rounding*cost || math.IsInf(best, 0) || math.IsNaN(best) {
			return nil
		}
		p.medoids[from] = to
		p.assign()
	}
}

func (p *partition) cost() float64 {
	sum := 0.0
	for _, d := range p.first {
		sum += d
	}
	return sum
}

// clustering returns the groups in their order.
func (p *partition) clustering() *Clustering {
	k := len(p.medoids)
	sizes := make([]int, k)
	for _, m := range p.nearest {
		sizes[m]++
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(p.medoids[a], p.medoids[b]))
	})
	place := make([]int, k)
	c := &Clustering{Group: make([]int, p.x.n), Cost: p.cost()}
	for at, m := range order {
		place[m] = at
		c.Medoids, c.Sizes = append(c.Medoids, p.medoids[m]), append(c.Sizes, sizes[m])
	}
	for i, m := range p.nearest {
		c.Group[i] = place[m]
	}
	c.Width = silhouettes(p.x, c.Group, c.Sizes)
	for _, w := range c.Width {
		c.Mean += w / float64(p.x.n)
	}
	return c
}

// silhouettes returns the silhouette of every object of a grouping,
//
//	(b − a) / max(a, b),
//
// a being its mean distance to the others of its group and b the least mean distance to
// another group (Rousseeuw 1987): near 1 well inside, below 0 rather in another group, and 0
// for an object that is alone in its group or where there is one group only. sizes has the sizes
// of the groups.
func silhouettes(x *distances, group, sizes []int) []float64 {
	out := make([]float64, x.n)
	sum := make([]float64, len(sizes))
	for i := range out {
		own := group[i]
		if sizes[own] < 2 {
			continue
		}
		clear(sum)
		for j, d := range x.row(i) {
			sum[group[j]] += d
		}
		a, b := sum[own]/float64(sizes[own]-1), math.Inf(1)
		for g, s := range sum {
			if g != own && sizes[g] > 0 {
				b = min(b, s/float64(sizes[g]))
			}
		}
		if m := max(a, b); m > 0 && !math.IsInf(m, 1) {
			out[i] = (b - a) / m
		}
	}
	return out
}

// Purity returns the share of objects whose label is the most frequent one of their group.
func Purity(group []int, labels []string) float64 {
	counts := map[int]map[string]int{}
	for i, g := range group {
		if counts[g] == nil {
			counts[g] = map[string]int{}
		}
		counts[g][labels[i]]++
	}
	right := 0
	for _, c := range counts {
		most := 0
		for _, n := range c {
			most = max(most, n)
		}
		right += most
	}
	return float64(right) / float64(len(group))
}
