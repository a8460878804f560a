// Command bounds says how many graphs a search could leave out by bounds that are cheaper
// than the kernel (docs/scaling.md):
//
//	go run ./bounds DATASET
//
// For 300 graphs as queries and the similarity of their tenth neighbour it counts the graphs,
// and the groups of eight that package spd compares together, that a bound cannot exclude:
//
//	determinant  k ≤ sech(d/2)^(p/2), d = (log|A| − log|B|)/p      (Minkowski's inequality)
//	diagonal     k ≤ kernel of any pair of diagonal entries         (marginals are more alike)
//	leading q    k ≤ kernel of the leading q×q matrices             (the same)
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/spd"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bounds DATASET")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bounds:", err)
		os.Exit(1)
	}
}

const queries, neighbours = 300, 10

func run(path string) error {
	ctx := context.Background()
	ds, err := dataset.Read(ctx, path, dataset.DefaultOptions())
	if err != nil {
		return err
	}
	m, err := mlg.Fit(ctx, ds.Graphs, mlg.DefaultOptions())
	if err != nil {
		return err
	}
	gram, err := m.Gram(ctx)
	if err != nil {
		return err
	}
	c := m.Train()
	n := c.Len()
	var s [][]float64
	var logDet []float64
	p := 0
	for i := range n {
		x, order, l := c.Matrix(i)
		s, logDet, p = append(s, x), append(logDet, l), order
	}
	leading := func(q int) func(i, j int) float64 {
		scratch := make([]float64, spd.Size(q)+2*q)
		return func(i, j int) float64 {
			l, _ := spd.LogKernel(s[i][:spd.Size(q)], s[j][:spd.Size(q)], q, scratch)
			return math.Exp(l)
		}
	}
	fmt.Printf("%s: %d graphs, matrices of order %d, %d neighbours\n", ds.Name, n, p, neighbours)
	fmt.Printf("%-12s %20s %20s\n", "bound", "graphs left", "groups of 8 left")
	for _, b := range []struct {
		name  string
		bound func(i, j int) float64
	}{
		{"determinant", func(i, j int) float64 {
			return math.Pow(1/math.Cosh((logDet[i]-logDet[j])/float64(p)/2), float64(p)/2)
		}},
		{"diagonal", func(i, j int) float64 {
			least := 1.0
			for r := range p {
				x, y := s[i][spd.Index(r, r)], s[j][spd.Index(r, r)]
				least = min(least, math.Sqrt(math.Sqrt(x*y)/((x+y)/2)))
			}
			return least
		}},
		{"leading 2", leading(2)}, {"leading 4", leading(4)}, {"leading 6", leading(6)},
	} {
		var graphs, groups, all float64
		for q := range queries {
			i := q * n / queries
			row := slices.Sorted(slices.Values(gram.Row(i)))
			least := row[max(0, n-1-neighbours)] // the graph itself is one of them
			for j := 0; j < n; j += spd.Lanes {
				left := 0
				for k := j; k < min(j+spd.Lanes, n); k++ {
					bound := b.bound(i, k)
					if bound < gram.At(i, k)-1e-9 {
						return fmt.Errorf("%s: bound %v of %v", b.name, bound, gram.At(i, k))
					}
					if bound >= least {
						left++
					}
				}
				graphs += float64(left)
				if left > 0 {
					groups++
				}
				all++
			}
		}
		fmt.Printf("%-12s %18.1f %% %18.1f %%\n", b.name, 100*graphs/float64(queries*n), 100*groups/all)
	}
	return nil
}
