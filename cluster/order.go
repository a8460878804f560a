package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// Order returns an order of the objects of a kernel matrix. Groups are sorted by number. Within a
// group, similar objects stand side by side: they are the leaves of average-linkage clustering, and
// the two sides of each join are turned so that the nearest ends meet. It takes O(n²) time. The
// error says that the matrix is not square, has an entry that is not finite, or does not fit the
// groups, or is that of the context.
func Order(ctx context.Context, gram *kernel.Matrix, group []int) ([]int, error) {
	x, err := distances(gram)
	if err != nil {
		return nil, err
	}
	if len(group) != x.Rows {
		return nil, fmt.Errorf("groups for %d objects, want %d", len(group), x.Rows)
	}
	members := map[int][]int{}
	for i, g := range group {
		members[g] = append(members[g], i)
	}
	var order []int
	for _, g := range slices.Sorted(maps.Keys(members)) {
		if order, err = leaves(ctx, x, members[g], order); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// leaves clusters objects by chains of nearest neighbours and appends them in the order of
// the leaves.
func leaves(ctx context.Context, x *kernel.Matrix, members, order []int) ([]int, error) {
	n := len(members)
	d := make([][]float64, n) // mean distances of clusters
	list := make([][]int, n)  // the objects of each cluster in order; nil once merged
	meter := work.NewMeter(ctx, "order", n)
	for a, i := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list[a] = []int{i}
		d[a] = make([]float64, n)
		for b, j := range members {
			d[a][b] = (x.At(i, j) + x.At(j, i)) / 2 // symmetric, or chains would not end
		}
	}
	var chain []int
	for merges := 0; merges < n-1; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(chain) == 0 {
			chain = append(chain, slices.IndexFunc(list, func(l []int) bool { return l != nil }))
		}
		top := chain[len(chain)-1]
		near := -1
		if len(chain) > 1 {
			near = chain[len(chain)-2] // of equal neighbours the one before, so that chains end
		}
		for b := range list {
			if b != top && list[b] != nil && (near < 0 || d[top][b] < d[top][near]) {
				near = b
			}
		}
		if len(chain) < 2 || near != chain[len(chain)-2] {
			chain = append(chain, near)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b := min(top, near), max(top, near)
		wa, wb := float64(len(list[a])), float64(len(list[b]))
		for c := range list {
			if list[c] != nil && c != a && c != b {
				d[a][c] = (wa*d[a][c] + wb*d[b][c]) / (wa + wb)
				d[c][a] = d[a][c]
			}
		}
		list[a], list[b] = joined(x, list[a], list[b]), nil
		merges++
		meter.Add(1)
	}
	return append(order, list[0]...), nil
}

// joined concatenates two lists, either reversed if that brings nearer ends together.
func joined(x *kernel.Matrix, a, b []int) []int {
	ar, br := slices.Clone(a), slices.Clone(b)
	slices.Reverse(ar)
	slices.Reverse(br)
	best := slices.Concat(a, b)
	for _, ends := range [][2][]int{{a, br}, {ar, b}, {ar, br}} {
		turned := slices.Concat(ends[0], ends[1])
		if x.At(turned[len(a)-1], turned[len(a)]) < x.At(best[len(a)-1], best[len(a)]) {
			best = turned
		}
	}
	return best
}
