// Package cluster groups objects by a kernel matrix around typical ones.
//
// The distance of two objects is that of their images in the feature space of the kernel,
//
//	d(i, j) = √(k_ii + k_jj − 2 k_ij).
//
// A grouping around medoids chooses k objects, the medoids, such that the sum of the distances of
// all objects to the nearest medoid is small. A medoid is a typical member of its group. Silhouettes
// can choose the number of groups. Order puts similar objects side by side. Nothing is random: equal
// matrices give equal groups.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Clustering is a grouping of n objects. Groups are ordered by falling size, and equal ones
// by their medoids.
type Clustering struct {
	Medoids []int     // the typical object of each group
	Group   []int     // of each object: a position in Medoids
	Sizes   []int     // of the groups
	Width   []float64 // silhouette of each object, see silhouettes
	Mean    float64   // mean of the silhouettes
}

// distances checks a kernel matrix and returns the distances of all pairs.
func distances(k *kernel.Matrix) (*kernel.Matrix, error) {
	if k.Rows != k.Cols || k.Rows == 0 {
		return nil, fmt.Errorf("kernel matrix of %d×%d, want a square one with rows", k.Rows, k.Cols)
	}
	x := kernel.NewMatrix(k.Rows, k.Rows)
	for i := range k.Rows {
		row := x.Row(i)
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
func Medoids(ctx context.Context, gram *kernel.Matrix, k int) (*Clustering, error) {
	if k < 1 {
		return nil, fmt.Errorf("%d groups, want at least 1", k)
	}
	x, err := distances(gram)
	if err != nil {
		return nil, err
	}
	p := &partition{x: x}
	for len(p.medoids) < min(k, x.Rows) {
		p.build()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return p.clustering(ctx)
}

// Auto groups objects with that number of groups, 2 … most, whose mean silhouette is largest,
// the smallest of equals, and returns the mean for each number as well. Fewer than three
// objects make one group.
func Auto(ctx context.Context, gram *kernel.Matrix, most int) (best *Clustering, means []float64, err error) {
	x, err := distances(gram)
	if err != nil {
		return nil, nil, err
	}
	p := &partition{x: x}
	p.build()
	most = min(most, x.Rows-1)
	if most < 2 {
		best, err = p.clustering(ctx)
		return best, nil, err
	}
	meter := work.NewMeter(ctx, "numbers of groups", most-1)
	for range most - 1 {
		p.build()
		c, err := p.clustering(ctx)
		if err != nil {
			return nil, nil, err
		}
		means = append(means, c.Mean)
		if best == nil || c.Mean > best.Mean {
			best = c
		}
		meter.Add(1)
	}
	return best, means, nil
}

// partition is a set of medoids with the nearest and second nearest of every object.
type partition struct {
	x             *kernel.Matrix // distances
	medoids       []int
	nearest       []int // position among the medoids
	first, second []float64
}

// assign sets what depends on the medoids.
func (p *partition) assign() {
	n := p.x.Rows
	p.nearest, p.first, p.second = make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		p.first[i], p.second[i] = math.Inf(1), math.Inf(1)
		row := p.x.Row(i)
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
	for c := range p.x.Rows {
		if slices.Contains(p.medoids, c) {
			continue
		}
		cost := 0.0
		for i, d := range p.x.Row(c) {
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
// cost by more than rounding. It ends, as the cost falls with every swap: where all objects are at a
// medoid the changes found are nothing but rounding.
func (p *partition) exchange(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		cost := p.cost()
		loss := make([]float64, len(p.medoids)) // what the cost rises by without a medoid
		for i, m := range p.nearest {
			loss[m] += p.second[i] - p.first[i]
		}
		best, from, to := 0.0, -1, -1
		change := make([]float64, len(p.medoids))
		for c := range p.x.Rows {
			if slices.Contains(p.medoids, c) {
				continue
			}
			copy(change, loss)
			gain := 0.0 // for all medoids alike
			for i, d := range p.x.Row(c) {
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
		old := p.medoids[from]
		p.medoids[from] = to
		p.assign()
		if !(p.cost() < cost) {
			p.medoids[from] = old
			p.assign()
			return nil
		}
	}
}

// cost returns the sum of the distances of all objects to the nearest medoid.
func (p *partition) cost() float64 {
	sum := 0.0
	for _, d := range p.first {
		sum += d
	}
	return sum
}

// clustering returns the groups after all exchanges, in their order. The medoids of p stay.
func (p partition) clustering(ctx context.Context) (*Clustering, error) {
	p.medoids = slices.Clone(p.medoids)
	if err := p.exchange(ctx); err != nil {
		return nil, err
	}
	size, place := map[int]int{}, map[int]int{} // by medoid
	for _, m := range p.nearest {
		size[p.medoids[m]]++
	}
	c := &Clustering{Group: make([]int, p.x.Rows)}
	c.Medoids = slices.SortedFunc(slices.Values(p.medoids), func(a, b int) int { return cmp.Or(size[b]-size[a], a-b) })
	for at, m := range c.Medoids {
		place[m] = at
		c.Sizes = append(c.Sizes, size[m])
	}
	for i, m := range p.nearest {
		c.Group[i] = place[p.medoids[m]]
	}
	c.Width = silhouettes(p.x, c.Group, c.Sizes)
	for _, w := range c.Width {
		c.Mean += w / float64(p.x.Rows)
	}
	return c, nil
}

// silhouettes returns the silhouette of every object of a grouping,
//
//	(b − a) / max(a, b),
//
// a being its mean distance to the others of its group and b the least mean distance to
// another group (Rousseeuw 1987): near 1 well inside, below 0 rather in another group, and 0
// for an object that is alone in its group or where there is one group only. sizes has the sizes
// of the groups.
func silhouettes(x *kernel.Matrix, group, sizes []int) []float64 {
	out := make([]float64, x.Rows)
	sum := make([]float64, len(sizes))
	for i := range out {
		own := group[i]
		if sizes[own] < 2 {
			continue
		}
		clear(sum)
		for j, d := range x.Row(i) {
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
