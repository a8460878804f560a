package mlg

import (
	"context"
	"slices"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// ExactOperations returns about the number of multiplications of the exact Gram matrices of graphs: of
// all exact kernels in a kernel, and all their levels. It may stop where there are more than a number.
func ExactOperations(ctx context.Context, k kernel.Kernel, graphs []*graph.Graph, most float64) (float64, error) {
	sum, err := kernel.SumOf(k).Expand(graphs)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, t := range sum.Terms {
		for _, f := range t.Factors {
			m, ok := f.InForm().(Kernel)
			if !ok || !m.Exact || total > most {
				continue
			}
			some := slices.Clone(graphs)
			for i, g := range some {
				if f.Directed {
					some[i] = g.SubdivideArcs()
				} else if f.Subdivide {
					some[i] = g.Subdivide()
				}
			}
			x, err := m.exactOperations(ctx, some, most-total)
			if err != nil {
				return 0, err
			}
			total += x
		}
	}
	return total, nil
}

// exactOperations is ExactOperations of one kernel. It sorts vertices into classes, level by level, and
// stops when it knows that there are more than a number.
func (k Kernel) exactOperations(ctx context.Context, graphs []*graph.Graph, most float64) (float64, error) {
	if err := k.validateSingle(); err != nil {
		return 0, err
	}
	b, err := k.base(graphs)
	if err != nil {
		return 0, err
	}
	c, err := describe(ctx, graphs, b, 0)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for l := range len(k.Radii) + 1 {
		if k.enters(l) {
			whole, err := wholeGraphs(ctx, graphs, c)
			if err != nil {
				return 0, err
			}
			sum += pairOperations(whole, c.len())
		}
		if sum > most || l == len(k.Radii) {
			break
		}
		below := c.len()
		if c, err = neighbourhoods(ctx, graphs, c, l+1, &k); err != nil {
			return 0, err
		}
		sum += pairOperations(c, below)
	}
	return sum, nil
}

// pairOperations returns about the number of multiplications that the kernel of all pairs of classes
// takes, whose cells are so many classes below.
func pairOperations(c *classes, below int) float64 {
	ranked := *c
	ranked.of = nil
	ranked.sort()
	sum := 0.0
	for _, x := range schurOperations(&ranked, below) {
		sum += x
	}
	return sum
}

// schurOperations returns about the number of multiplications of each row of eq. (3) (rowWorker.row) of
// sorted classes: for a class of m cells a factor and a solution for all classes below, and with each class
// before it, of n ≤ m cells, a product and a determinant.
func schurOperations(c *classes, below int) []float64 {
	squares, cubes := 0.0, 0.0
	return rowCosts(c, func(_ int, m float64) float64 {
		product := m / 2 * squares
		if all := float64(below) * float64(below); all <= squares { // products are shared
			product = m/2*all + squares
		}
		cost := m*m*m/3 + float64(below)*m*m/2 + product + cubes/6
		squares += m * m
		cubes += m * m * m
		return cost
	})
}

// featureOperations returns what the multiplications of each row of eq. (2) (featurePair) grow with: the
// sum of (m + n)³ over the classes before one, of n cells.
func featureOperations(c *classes) []float64 {
	sum, squares, cubes := 0.0, 0.0, 0.0
	return rowCosts(c, func(before int, m float64) float64 {
		cost := float64(before)*m*m*m + 3*m*m*sum + 3*m*squares + cubes
		sum += m
		squares += m * m
		cubes += m * m * m
		return cost
	})
}

// rowCosts calls f for classes in order, with the number of those before and of its cells.
func rowCosts(c *classes, f func(before int, m float64) float64) []float64 {
	out := make([]float64, c.len())
	for i, q := range c.quotient {
		out[i] = f(i, float64(cells(q)))
	}
	return out
}

// steps returns the shares of costs as whole numbers of at least 1, for a work.Meter, and their sum.
func steps(costs []float64) (each []int, sum int) {
	total := 0.0
	for _, x := range costs {
		total += x
	}
	const fine = 1e8
	each = make([]int, len(costs))
	for i, x := range costs {
		each[i] = 1
		if total > 0 {
			each[i] += int(x / total * fine)
		}
		sum += each[i]
	}
	return each, sum
}
