package mlg

import (
	"context"

	"github.com/mlgkernel/mlg/graph"
)

// ExactOperations returns about the number of multiplications of the exact Gram matrix of graphs,
// those of all levels together. It sorts vertices into classes, level by level, and stops when it
// knows that there are more than a number.
func (k Kernel) ExactOperations(ctx context.Context, graphs []*graph.Graph, most float64) (float64, error) {
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
// takes (rowWorker.row), whose cells are so many classes below: for a class of m cells a factor and
// a solution for all classes below, and with each class before it, of n ≤ m cells, a product and a
// determinant.
func pairOperations(c *classes, below int) float64 {
	ranked := *c
	ranked.of = nil
	ranked.sort()
	sum, squares, cubes := 0.0, 0.0, 0.0
	for _, q := range ranked.quotient {
		m := float64(cells(q))
		product := m / 2 * squares
		if all := float64(below) * float64(below); all <= squares { // products are shared
			product = m/2*all + squares
		}
		sum += m*m*m/3 + float64(below)*m*m/2 + product + cubes/6
		squares += m * m
		cubes += m * m * m
	}
	return sum
}
