package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/kernel"
)

// From manyGraphs on the command says what it will need, having fitted some kernels to some graphs.
const (
	manyGraphs   = 500
	pilotGraphs  = 200
	pilotFew     = 50 // graphs that show which part of the time does not grow
	pilotKernels = 6
	manyKernels  = 4 // that are computed for all graphs, where a sample is scored
	centrePasses = 3 // through all graphs with centres: sums, graphs that are held out, and deviations
)

// announce says what training will need where that is much.
func (c *trainCmd) announce(g *globals, ds *dataset.Dataset, candidates []choose.Candidate, o choose.Options) error {
	n := len(ds.Graphs)
	if n < manyGraphs {
		return nil
	}
	// Matrices are most of the memory, and cost the collector nothing to look at.
	debug.SetGCPercent(choose.Garbage)
	var kernels []kernel.Kernel
	for _, x := range candidates {
		for _, s := range x.Settings {
			kernels = append(kernels, s.Kernel)
		}
	}
	bytes := float64(o.Bytes(n, len(kernels), g.workers()))
	if most := kernel.Available(); most > 0 && bytes > float64(most) {
		return fmt.Errorf("%s for %d graphs would take about %.2g GB of memory, but %.2g GB are free: take fewer graphs, or a machine with more memory",
			agree(len(kernels), "kernel", "kernels"), n, bytes/1e9, float64(most)/1e9)
	}
	if g.Quiet {
		return nil
	}
	line := fmt.Sprintf("%s for %d graphs: roughly %.2g GB of memory", agree(len(kernels), "kernel", "kernels"), n, bytes/1e9)
	need, err := clock(time.Now).forecast(g.ctx, ds, kernels, o)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err == nil: // else the sample may lack a class; the real work will tell what is wrong
		line += fmt.Sprintf(", and %s on %s", round(need.Round(time.Second)), agree(g.workers(), "thread", "threads"))
	}
	if !c.Quick && c.Kernel == "" {
		line += " (--quick takes one kernel)"
	}
	g.note("%s", table.Wrap(line, 0, 2))
	return nil
}

// scored returns the number of graphs, of n, whose matrices a choice among kernels looks at.
func scored(n int, o choose.Options) int {
	if o.LeaveOneOut {
		return min(n, o.Examples)
	}
	return n
}

// clock tells the time.
type clock func() time.Time

// forecast estimates how long a choice among kernels takes, from the times t of some of the single kernels that they are
// made of, on m and fewer graphs:
//
//	fitting    t(m) + (n − m)·slope: a part for the landmarks, and a part for every graph
//	matrices   t(m)·(s/m)² for s graphs that are scored, and t(m)·(n/m)² of the few kernels that are
//	           computed for all graphs, less where these are learned from centres
//	learning   as measured for as many graphs as ridge regressions look at, else t(m)·(n/m)²
func (now clock) forecast(ctx context.Context, ds *dataset.Dataset, kernels []kernel.Kernel, o choose.Options,
) (time.Duration, error) {
	n := len(ds.Graphs)
	few := &dataset.Dataset{Name: ds.Name}
	for _, i := range rand.New(rand.NewPCG(0, 0)).Perm(n)[:pilotGraphs] {
		few.Graphs = append(few.Graphs, ds.Graphs[i])
	}
	all, err := kernel.NewCollection(few.Graphs).Sum(kernel.Mean(kernels...))
	if err != nil {
		return 0, err
	}
	singles, some := len(all.Factors), min(pilotKernels, len(all.Factors))
	var tried kernel.Sum
	for i := range some {
		f := all.Factors[(2*i+1)*singles/(2*some)].Factor
		tried.Terms = append(tried.Terms, kernel.Term{Weight: 1 / float64(some), Factors: []kernel.Factor{f}})
	}
	fitted, fit, err := now.fit(ctx, few.Graphs, tried)
	if err != nil {
		return 0, err
	}
	start := now()
	gram, err := fitted.Gram(ctx)
	if err != nil {
		return 0, err
	}
	matrix := now().Sub(start)
	_, short, err := now.fit(ctx, few.Graphs[:pilotFew], tried)
	if err != nil {
		return 0, err
	}
	known := kernel.Given{Kernel: tried, Matrix: gram}
	learn, err := now.learning(ctx, few, known, n, o)
	if err != nil {
		return 0, err
	}
	ratio, part := float64(n)/pilotGraphs, float64(scored(n, o))/pilotGraphs
	squares := part * part
	if part < ratio {
		all := ratio * ratio
		if m := o.Centres(n); m > 0 {
			all = centrePasses * ratio * float64(m) / pilotGraphs
		}
		squares += all * min(1, manyKernels/float64(singles))
	}
	slope := max(0, min(float64(fit-short)/(pilotGraphs-pilotFew), float64(fit)/pilotGraphs))
	each := float64(fit) + slope*float64(n-pilotGraphs) + squares*float64(matrix)
	return time.Duration(each*float64(singles)/float64(some) + float64(learn)*float64(len(kernels)+len(o.Combinations))), nil
}

// fit fits a kernel to graphs and says how long it took.
func (now clock) fit(ctx context.Context, graphs []*graph.Graph, k kernel.Kernel) (*kernel.FittedSum, time.Duration, error) {
	start := now()
	fitted, err := kernel.NewCollection(graphs).Fit(ctx, k)
	return fitted, now().Sub(start), err
}

// learning returns the time to learn from a kernel matrix of n graphs, given the matrix of a few.
// The time of ridge regressions does not depend on the numbers. So it is measured on the matrix of
// the few graphs, repeated.
func (now clock) learning(ctx context.Context, few *dataset.Dataset, k kernel.Given, n int, o choose.Options) (time.Duration, error) {
	rows := k.Matrix.Rows
	size := rows
	if o.LeaveOneOut {
		size = scored(n, o)
	}
	repeated, matrix := &dataset.Dataset{Name: few.Name}, kernel.NewMatrix(size, size)
	for i := range size {
		repeated.Graphs = append(repeated.Graphs, few.Graphs[i%rows])
		for j := range size {
			matrix.Row(i)[j] = k.Matrix.At(i%rows, j%rows)
		}
	}
	k.Matrix = matrix
	o.Combinations, o.Collection = nil, nil
	start := now()
	_, err := choose.Choose(ctx, repeated, choose.Only(k), o)
	took := float64(now().Sub(start))
	if !o.LeaveOneOut {
		took *= float64(n) / float64(size) * float64(n) / float64(size)
	}
	return time.Duration(took), err
}
