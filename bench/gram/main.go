// Command gram measures the Gram matrix of many molecule-like graphs, whose values are computed part by
// part and added up, and not kept:
//
//	go run ./bench/molecules -n 100000 DATASET > many.jsonl
//	go run ./bench/gram -rank 10 -device cuda many.jsonl
//
// It fits the low-rank kernel to the first graphs and prints the seconds of each step. With -transform
// it stops before the Gram matrix, and prints the stages of the transform, summed over threads, and a
// hash of all matrices.
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/vertex"
	"github.com/mlgkernel/mlg/work"
)

func main() {
	log.SetFlags(0)
	k := mlg.Default()
	flag.IntVar(&k.Rank, "rank", k.Rank, "number of features")
	flag.IntVar(&k.Samples, "samples", k.Samples, "number of landmarks")
	flag.Func("radii", "radii of the levels, separated by commas", func(text string) error {
		k.Radii = nil
		return json.Unmarshal([]byte("["+text+"]"), &k.Radii)
	})
	fit := flag.Int("fit", 4000, "number of graphs to fit to")
	name := flag.String("device", "cpu", "cpu, cuda or auto")
	threads := flag.Int("threads", 0, "number of threads; 0 means all cores")
	only := flag.Bool("transform", false, "compute no Gram matrix")
	flag.Parse()
	device, closer, err := cuda.Choose(*name, func(text string) { log.Print(text) })
	if err != nil {
		log.Fatal(err)
	}
	defer closer.Close()
	ctx := work.With(context.Background(), work.Options{Device: device, Workers: *threads})
	if err := run(ctx, k, flag.Arg(0), *fit, *only); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, k mlg.Kernel, path string, fit int, only bool) error {
	start := time.Now()
	step := func(what string) {
		fmt.Printf("%-10s %8.2f s\n", what, time.Since(start).Seconds())
		start = time.Now()
	}
	ds, err := dataset.Read(ctx, path, dataset.DefaultOptions())
	if err != nil {
		return err
	}
	step("read")
	k.Base, k.Bonds = vertex.Choose(ds.Graphs), mlg.No
	fitted, err := k.Fit(ctx, ds.Graphs[:min(fit, len(ds.Graphs))])
	if err != nil {
		return err
	}
	m := fitted.Map.(*mlg.LowRank)
	step("fit")
	if only {
		return transform(ctx, m, ds.Graphs)
	}
	all, err := m.Transform(ctx, ds.Graphs)
	if err != nil {
		return err
	}
	step("transform")
	n := len(ds.Graphs)
	var mu sync.Mutex
	sums := map[[2]int]float64{}
	err = kernel.Blocks(ctx, m, all, all, func(i0, j0 int, values *kernel.Matrix) error {
		sum := 0.0
		for _, v := range values.Data {
			sum += v
		}
		mu.Lock()
		defer mu.Unlock()
		sums[[2]int{i0, j0}] = sum
		return nil
	})
	if err != nil {
		return err
	}
	took := time.Since(start)
	step("gram")
	sum := 0.0
	for _, s := range sums {
		sum += s
	}
	pairs := float64(n) * float64(n+1) / 2
	fmt.Printf("%d graphs, order %v: %.4f ns a pair, sum %v\n", n, m.Orders(), float64(took.Nanoseconds())/pairs, sum)
	return nil
}

// transform prints how long a transform takes, its stages, and a hash of its result.
func transform(ctx context.Context, m *mlg.LowRank, graphs []*graph.Graph) error {
	var mu sync.Mutex
	stages := map[string]time.Duration{}
	how := work.Of(ctx)
	how.Trace = func(stage string) func() {
		start := time.Now()
		return func() {
			mu.Lock()
			defer mu.Unlock()
			stages[stage] += time.Since(start)
		}
	}
	start := time.Now()
	c, err := m.Transform(work.With(ctx, how), graphs)
	if err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Printf("%-10s %8.2f s\n", "transform", took.Seconds())
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		fmt.Printf("  %-10s %8.2f s\n", stage, stages[stage].Seconds())
	}
	hash := fnv.New64a()
	for _, b := range c.(*mlg.Covariances).Levels() {
		if err := binary.Write(hash, binary.LittleEndian, b.Tiles()); err != nil {
			return err
		}
	}
	fmt.Printf("%d graphs, %.0f in a second, hash %x\n", len(graphs), float64(len(graphs))/took.Seconds(), hash.Sum64())
	return nil
}
