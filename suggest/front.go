package suggest

import (
	"math"
	"slices"
)

// front is what is known where several values are wanted as large as possible: points of utilities, none of which is at least
// as good as another in all. What counts is the volume that they dominate above a reference. It is not changed once made.
type front struct {
	reference []float64
	points    [][]float64

	// The rest of the space is boxes. grid has the coordinates of reference and points by dimension, ascending. A box is an
	// interval of the grid in all dimensions but the last, where it begins at a place of the grid and has no end.
	grid  [][]float64
	boxes [][]int
}

// dominates reports whether a point is at least as good as another in all, and better in one.
func dominates(a, b []float64) bool {
	better := false
	for j, x := range a {
		if !(x >= b[j]) {
			return false
		}
		better = better || x > b[j]
	}
	return better
}

// newFront returns the front of some points. Those that are not above the reference in all dimensions are left out.
func newFront(reference []float64, points [][]float64) *front {
	f := &front{reference: reference}
	for i, x := range points {
		above := true
		for j, r := range reference {
			above = above && x[j] > r
		}
		worse := slices.ContainsFunc(points, func(y []float64) bool { return dominates(y, x) })
		twin := slices.ContainsFunc(points[:i], func(y []float64) bool { return slices.Equal(x, y) })
		if above && !worse && !twin {
			f.points = append(f.points, x)
		}
	}
	for j, r := range reference {
		at := []float64{r}
		for _, x := range f.points {
			at = append(at, x[j])
		}
		slices.Sort(at)
		f.grid = append(f.grid, slices.Compact(at))
	}
	f.cut(nil)
	return f
}

// cut adds the boxes that begin with some intervals.
func (f *front) cut(begin []int) {
	last := len(f.reference) - 1
	if len(begin) < last {
		for k := range f.grid[len(begin)] {
			f.cut(append(slices.Clip(begin), k))
		}
		return
	}
	low := f.reference[last]
	for _, x := range f.points {
		above := true
		for j, k := range begin {
			above = above && x[j] > f.grid[j][k]
		}
		if above {
			low = max(low, x[last])
		}
	}
	k, _ := slices.BinarySearch(f.grid[last], low)
	f.boxes = append(f.boxes, append(slices.Clip(begin), k))
}

// with returns the front with one more point.
func (f *front) with(x []float64) *front {
	for j, r := range f.reference {
		if !(x[j] > r) {
			return f
		}
	}
	if slices.ContainsFunc(f.points, func(y []float64) bool { return dominates(y, x) || slices.Equal(x, y) }) {
		return f
	}
	return newFront(f.reference, append(slices.Clip(f.points), x))
}

// gain returns the logarithm of the expected volume that a point of independent normal utilities adds,
//
//	Σ_boxes Π_j (h_j(low) − h_j(high)),  h_j(t) = E max(0, u_j − t),
//
// because the volume is an integral over the points z that nothing known dominates, of the probability that u ≥ z in all.
// log h_j(t) comes from expected.
func (f *front) gain(expected func(j int, t float64) float64) float64 {
	m := len(f.reference)
	parts, sum := make([][]float64, m), 0.0
	most := 0.0 // of the logarithms, by dimension: the numbers are shares of exp(most)
	for j, grid := range f.grid {
		logs := make([]float64, len(grid))
		for k, t := range grid {
			logs[k] = expected(j, t)
		}
		for k := range logs {
			if j < m-1 && k < len(logs)-1 {
				logs[k] = logDifference(logs[k], logs[k+1])
			}
		}
		top := slices.Max(logs)
		if math.IsInf(top, -1) {
			return top
		}
		most += top
		for k, x := range logs {
			logs[k] = math.Exp(x - top)
		}
		parts[j] = logs
	}
	for _, box := range f.boxes {
		product := 1.0
		for j, k := range box {
			product *= parts[j][k]
		}
		sum += product
	}
	return most + math.Log(sum)
}

// logDifference returns log(exp(a) − exp(b)), −Inf unless a > b.
func logDifference(a, b float64) float64 {
	if !(a > b) {
		return math.Inf(-1)
	}
	return a + math.Log(-math.Expm1(b-a))
}
