package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
)

// fastest returns the shortest of three durations of f in seconds.
func fastest(f func() error) (float64, error) {
	best := 0.0
	for i := range 3 {
		runtime.GC()
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if t := time.Since(start).Seconds(); i == 0 || t < best {
			best = t
		}
	}
	return best, nil
}

// scaleGraphs draws time and memory of transforming more and more graphs, copies of NCI1
// with rewired edges, in a stream of batches, with a model fitted to NCI1.
func scaleGraphs() error {
	ctx := context.Background()
	graphs, err := read("NCI1")
	if err != nil {
		return err
	}
	o := mlg.Default()
	o.Radii = []int{1, 2, 4}
	m, err := mlg.Fit(ctx, graphs, o)
	if err != nil {
		return err
	}
	timing := &figure{name: "scaling-graphs", title: "Transform in batches of 2000: copies of NCI1, rewired", xlabel: "graphs", ylabel: "seconds", logX: true, logY: true}
	memory := &figure{name: "scaling-graphs-memory", title: "Live memory after Transform", xlabel: "graphs", ylabel: "MB", logX: true}
	t, mem := timing.curve("transform"), memory.curve("live memory")
	for _, n := range []int{1000, 3000, 10_000, 30_000, 100_000} {
		var spent time.Duration
		most := uint64(0)
		r := rand.New(rand.NewPCG(1, uint64(n)))
		for done := 0; done < n; {
			batch := make([]*graph.Graph, min(2000, n-done))
			for i := range batch {
				batch[i] = rewire(r, graphs[(done+i)%len(graphs)], 2)
			}
			start := time.Now()
			c, err := m.Transform(ctx, batch)
			if err != nil {
				return err
			}
			spent += time.Since(start)
			done += c.Len()
			if done == n || done%20_000 == 0 {
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
			}
		}
		t.add(float64(n), spent.Seconds())
		mem.add(float64(n), float64(most)/1e6)
		fmt.Printf("%d graphs: %.2f s, %.1f µs a graph, %.0f MB live\n", n, spent.Seconds(), 1e6*spent.Seconds()/float64(n), float64(most)/1e6)
	}
	if err := timing.write(); err != nil {
		return err
	}
	return memory.write()
}

// scaleSize draws the time of Fit on one graph of growing size.
func scaleSize() error {
	ctx := context.Background()
	f := &figure{name: "scaling-size", title: "Fit on one graph, radii 1,2,4", xlabel: "vertices", ylabel: "seconds", logX: true, logY: true}
	kinds := []struct {
		name string
		make func(r *rand.Rand, n int) *graph.Graph
		most int
	}{
		{"path, 3 labels", func(r *rand.Rand, n int) *graph.Graph { return chain(r, n, 3, 0) }, 100_000},
		{"path, no labels", func(r *rand.Rand, n int) *graph.Graph { return chain(r, n, 1, 0) }, 100_000},
		{"chain with contacts, 3 labels", func(r *rand.Rand, n int) *graph.Graph { return chain(r, n, 3, 20) }, 30_000},
	}
	for _, k := range kinds {
		c := f.curve(k.name)
		for _, n := range []int{100, 300, 1000, 3000, 10_000, 30_000, 100_000} {
			if n > k.most {
				continue
			}
			g := k.make(rand.New(rand.NewPCG(1, 2)), n)
			o := mlg.Default()
			o.Radii = []int{1, 2, 4}
			t, err := fastest(func() error {
				_, err := mlg.Fit(ctx, []*graph.Graph{g}, o)
				return err
			})
			if err != nil {
				return err
			}
			c.add(float64(n), t)
			fmt.Printf("%s, %d vertices: %.3f s\n", k.name, n, t)
		}
	}
	return f.write()
}

// chain is a path; every vertex has an edge to one of those up to reach before it.
func chain(r *rand.Rand, n, labels, reach int) *graph.Graph {
	b := graph.NewBuilder(n)
	for v := range n {
		b.SetLabel(v, fmt.Sprint(r.IntN(labels)))
		if v > 0 {
			b.AddEdge(v-1, v)
		}
		if reach > 0 && v > reach {
			b.AddEdge(v-2-r.IntN(reach-1), v)
		}
	}
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

// scaleLandmarks draws the time of Fit and Gram on NCI1 against landmarks and rank.
func scaleLandmarks() error {
	graphs, err := read("NCI1")
	if err != nil {
		return err
	}
	run := func(f *figure, values []int, set func(o *mlg.Kernel, v int)) error {
		c := f.curve("Fit and Gram, radii 1,2")
		for _, v := range values {
			o := mlg.Default()
			set(&o, v)
			t, err := fastest(func() error {
				_, err := gram(o, graphs)
				return err
			})
			if err != nil {
				return err
			}
			c.add(float64(v), t)
			fmt.Printf("%s %d: %.3f s\n", f.xlabel, v, t)
		}
		return f.write()
	}
	err = run(&figure{name: "scaling-samples", title: "NCI1, rank 10", xlabel: "landmarks", ylabel: "seconds", logX: true, logY: true},
		[]int{50, 100, 200, 400, 800, 1600}, func(o *mlg.Kernel, v int) { o.Samples = v })
	if err != nil {
		return err
	}
	return run(&figure{name: "scaling-rank", title: "NCI1, 600 landmarks", xlabel: "rank", ylabel: "seconds", logX: true, logY: true},
		[]int{5, 10, 20, 32, 48, 64}, func(o *mlg.Kernel, v int) { o.Samples, o.Rank = 600, v })
}
