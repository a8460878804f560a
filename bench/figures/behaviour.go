package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// rewire returns g with the given number of edges replaced by random others.
func rewire(r *rand.Rand, g *graph.Graph, edges int) *graph.Graph {
	have := map[[2]int]bool{}
	var list [][2]int
	for e := range g.Edges() {
		have[[2]int{e.U, e.V}] = true
		list = append(list, [2]int{e.U, e.V})
	}
	full := g.N() * (g.N() - 1) / 2
	for range min(edges, len(list), full-len(list)) {
		i := r.IntN(len(list))
		for {
			u, v := r.IntN(g.N()), r.IntN(g.N())
			if u > v {
				u, v = v, u
			}
			if u != v && !have[[2]int{u, v}] {
				delete(have, list[i])
				list[i] = [2]int{u, v}
				have[list[i]] = true
				break
			}
		}
	}
	b := graph.NewBuilder(g.N())
	for _, e := range list {
		b.AddEdge(e[0], e[1])
	}
	for v := range g.N() {
		b.SetLabel(v, g.Label(v))
	}
	h, err := b.Build()
	if err != nil {
		panic(err)
	}
	return h
}

// perturb draws how far a few rewired edges move a graph, in units of the median distance
// between different graphs of the dataset: distance √(2−2k).
func perturb() error {
	for _, name := range []string{"ENZYMES", "MUTAG"} {
		graphs, err := read(name)
		if err != nil {
			return err
		}
		graphs = graphs[:min(len(graphs), 188)]
		f := &figure{name: "perturb-" + name, title: name + ": rewired edges", xlabel: "rewired edges", ylabel: "distance / median distance of two graphs"}
		o := mlg.Default()
		o.Radii = []int{1, 2, 4}
		smooth := o
		smooth.Gamma, smooth.Eta = 1, 1
		wl1, wl5 := baseline.DefaultWL(), baseline.DefaultWL()
		wl1.H = 2
		oa := baseline.DefaultWL()
		oa.Variant = baseline.Assignment
		for _, k := range []struct {
			name string
			k    kernel.Kernel
		}{{"MLG η = γ = 0.1", o}, {"MLG η = γ = 1", smooth}, {"WL h = 2", wl1}, {"WL h = 5", wl5}, {"WL-OA h = 5", oa}} {
			fitted, err := k.k.Fit(context.Background(), graphs)
			if err != nil {
				return err
			}
			gr, err := fitted.Gram(context.Background())
			if err != nil {
				return err
			}
			dist := func(k float64) float64 { return math.Sqrt(max(0, 2-2*k)) }
			var all []float64
			for i := range graphs {
				for j := range i {
					all = append(all, dist(gr.At(i, j)))
				}
			}
			sort.Float64s(all)
			unit := all[len(all)/2]
			c := f.curve(k.name)
			for edges := 0; edges <= 8; edges++ {
				r := rand.New(rand.NewPCG(uint64(edges), 1))
				changed := make([]*graph.Graph, len(graphs))
				for i, g := range graphs {
					changed[i] = rewire(r, g, edges)
				}
				cross, err := fitted.Cross(context.Background(), changed)
				if err != nil {
					return err
				}
				var sum float64
				for i := range graphs {
					sum += dist(cross.At(i, i)) / unit
				}
				c.add(float64(edges), sum/float64(len(graphs)))
			}
		}
		if err := f.write(); err != nil {
			return err
		}
	}
	return nil
}

// difference returns the relative Frobenius norm of a − b.
func difference(a, b *kernel.Matrix) float64 {
	var d, n float64
	for i, x := range b.Data {
		d += (a.Data[i] - x) * (a.Data[i] - x)
		n += x * x
	}
	return math.Sqrt(d / n)
}

// lowRankError draws the error of the low-rank kernel against the exact one, as the number
// of landmarks and the rank grow, for each way of choosing landmarks: mean of three seeds.
// The figures error-full have as many features as landmarks.
func lowRankError() error {
	for _, d := range []struct {
		name          string
		rank, samples int   // the one that is fixed while the other grows
		grow, ranks   []int // landmarks and ranks
	}{
		{"MUTAG", 64, 400, []int{10, 20, 50, 100, 200, 400, 800}, []int{2, 5, 10, 20, 40, 64}},
		{"ENZYMES", 32, 200, []int{10, 20, 50, 100, 200, 400}, []int{2, 5, 10, 20, 32}},
	} {
		name := d.name
		graphs, err := read(name)
		if err != nil {
			return err
		}
		o := mlg.Default()
		byDefinition := o
		byDefinition.Exact = true
		exact, err := gram(byDefinition, graphs)
		if err != nil {
			return err
		}
		run := func(f *figure, values []int, set func(o *mlg.Kernel, v int)) error {
			for _, how := range []mlg.Landmarks{mlg.Uniform, mlg.ByClass, mlg.Pivoted} {
				c := f.curve(string(how))
				for _, v := range values {
					var sum float64
					rounds := 3
					if how == mlg.Pivoted {
						rounds = 1 // it does not depend on the seed
					}
					for seed := range uint64(rounds) {
						p := o
						p.Landmarks, p.Seed = how, seed
						set(&p, v)
						low, err := gram(p, graphs)
						if err != nil {
							return err
						}
						sum += difference(low, exact) / float64(rounds)
					}
					c.add(float64(v), sum)
				}
			}
			return f.write()
		}
		err = run(&figure{name: "error-full-" + name, title: name + ": full rank", xlabel: "landmarks", ylabel: "relative error of the Gram matrix", logX: true, logY: true},
			[]int{4, 8, 16, 32, 64}, func(o *mlg.Kernel, v int) { o.Samples, o.Rank = v, v })
		if err != nil {
			return err
		}
		err = run(&figure{name: "error-samples-" + name, title: fmt.Sprintf("%s: rank %d", name, d.rank), xlabel: "landmarks", ylabel: "relative error of the Gram matrix", logX: true, logY: true},
			d.grow, func(o *mlg.Kernel, v int) { o.Samples, o.Rank = v, d.rank })
		if err != nil {
			return err
		}
		err = run(&figure{name: "error-rank-" + name, title: fmt.Sprintf("%s: %d landmarks", name, d.samples), xlabel: "rank", ylabel: "relative error of the Gram matrix", logX: true, logY: true},
			d.ranks, func(o *mlg.Kernel, v int) { o.Samples, o.Rank = d.samples, v })
		if err != nil {
			return err
		}
	}
	return nil
}

// seeds prints how much Gram matrices of different seeds differ.
func seeds() error {
	for _, name := range []string{"MUTAG", "ENZYMES", "NCI1"} {
		graphs, err := read(name)
		if err != nil {
			return err
		}
		graphs = graphs[:min(len(graphs), 1000)]
		for _, size := range []struct{ samples, rank int }{{100, 10}, {600, 32}} {
			var first *kernel.Matrix
			var rel, worst float64
			const rounds = 5
			for seed := range uint64(rounds) {
				o := mlg.Default()
				o.Seed, o.Samples, o.Rank = seed, size.samples, size.rank
				k, err := gram(o, graphs)
				if err != nil {
					return err
				}
				if first == nil {
					first = k
					continue
				}
				rel += difference(k, first) / (rounds - 1)
				for i, x := range k.Data {
					worst = max(worst, math.Abs(x-first.Data[i]))
				}
			}
			fmt.Printf("%s, %d graphs, %d samples, rank %d: relative difference of Gram matrices of two seeds %.3f, largest difference of an entry %.3f\n",
				name, len(graphs), size.samples, size.rank, rel, worst)
		}
	}
	return nil
}
