package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/svm"
)

// mostCentres is the largest number of centres where the kernel matrix of all graphs does not fit into
// memory. Their sums of five folds
// take 1.3 GB.
const mostCentres = 8192

// comparedGraphs is the number of graphs on which regressions on centres are compared with those on all.
const comparedGraphs = 8192

// Garbage is how much of the memory in use may be garbage, in per cent, as for debug.SetGCPercent. Bytes
// counts on it.
const Garbage = 25

// available returns the memory that is free, 0 where that is not known. Tests change it.
var available = kernel.Available

// freeBytes returns the memory that may be used, less what something else takes; 0 where that is not known.
func freeBytes(taken int64) int64 {
	if all := available(); all > 0 {
		return max(1, all*100/(100+Garbage)-taken)
	}
	return 0
}

// tilesBytes returns about the memory of the matrix of all graphs and what learns from it.
func tilesBytes(n int) int64 {
	const sides = 8 * heldOutFolds * ridgesTried // vectors of conjugate gradients
	return svm.TilesBytes(n) + int64(n)*(4*int64(svm.DefaultRidgeOptions().Landmarks)+8*sides)
}

// centresBytes returns about the memory of regressions on centres, which hold out graphs alone and then with
// their groups, and of their comparison.
func centresBytes(n, m int) int64 {
	return 2*svm.CentresBytes(n, m, heldOutFolds, ridgesTried) + tilesBytes(comparedGraphs)
}

// centresOf returns the number of centres for n graphs with so many bytes free: 0 where the matrix of all
// graphs fits.
func centresOf(n int, free int64) int {
	if free == 0 || tilesBytes(n) <= free {
		return 0
	}
	m := min(mostCentres, n/2)
	for m > 256 && centresBytes(n, m) > free {
		m -= 64
	}
	return m
}

// solver learns from all graphs with a ridge. HeldOut returns what is predicted for graphs that are held
// out, by ridge; nil for one that is too small or not needed. Learn takes it for its ridge. Nearest, after
// HeldOut, returns the largest similarity of each graph to another.
type solver interface {
	Nearest() []float64
	HeldOut(ctx context.Context, ridges []float64) ([]*kernel.Matrix, error)
	Learn(ctx context.Context, ridge float64, left svm.Left, groups *svm.Left, probability bool) (*svm.Learner, error)
}

// tiled learns from the whole kernel matrix.
type tiled struct {
	*svm.Tiles
	*svm.RidgeSolver
	targets svm.Targets
	folds   []int
	loss    func(held *kernel.Matrix) float64
}

// tiles returns what learns from the whole kernel matrix.
func (x *all) tiles(ctx context.Context, tiles *svm.Tiles) (tiled, error) {
	s, err := svm.NewRidgeSolver(ctx, tiles, svm.DefaultRidgeOptions())
	return tiled{tiles, s, x.targets(), x.folds, func(held *kernel.Matrix) float64 {
		return metrics.Mean(x.Targets.losses(x.graphs(), x.read(held)))
	}}, err
}

// HeldOut implements solver. Small ridges take most iterations, and are not needed where larger ones lose
// less. The largest is taken with the residual that it has.
func (s tiled) HeldOut(ctx context.Context, ridges []float64) ([]*kernel.Matrix, error) {
	columns, err := s.targets.Columns()
	if err != nil {
		return nil, err
	}
	out := make([]*kernel.Matrix, len(ridges))
	least := math.Inf(1)
	for k, ridge := range slices.Backward(ridges) {
		held, c, err := s.RidgeSolver.HeldOut(ctx, columns, s.folds, []float64{ridge}, nil)
		if err != nil {
			return nil, err
		}
		if c.Open > 0 && k < len(ridges)-1 { // not solved, and a larger one is
			break
		}
		out[k] = held[0]
		loss := s.loss(held[0])
		if loss > least || c.Open > 0 {
			break
		}
		least = loss
	}
	return out, nil
}

// Learn implements solver.
func (s tiled) Learn(ctx context.Context, ridge float64, left svm.Left, groups *svm.Left, probability bool) (*svm.Learner, error) {
	l, _, err := s.RidgeSolver.Learn(ctx, s.targets, ridge, left, groups, probability)
	return l, err
}

// Streams of random numbers, beside those of samples.
const (
	centreStream = 1<<63 + iota
	comparedStream
)

// centres returns what learns on m centres. Each class has as many of them as it would have of a sample.
func (x *all) centres(ctx context.Context, train kernel.Features, m int, folds []int) (solver, error) {
	return svm.NewCentres(ctx, x.sum, train, x.draw(x.graphs(), m, x.Options.Seed, centreStream), x.targets(), folds)
}

// compare says what regressions on centres lose, from some graphs with as large a share of centres.
func (x *all) compare(ctx context.Context, ridge float64) (string, error) {
	some := x.draw(x.graphs(), comparedGraphs, x.Options.Seed, comparedStream)
	part := &all{choice: &choice{Chooser: Chooser{Options: x.Options, Targets: x.Targets.of(some)}}, folds: Pick(x.folds, some), sum: x.sum}
	part.everything = &TrainingPart{graphs: make([]int, len(some))}
	for i := range some {
		part.everything.graphs[i] = i
	}
	few := max(1, x.few*len(some)/len(x.graphs()))
	features := x.train.Select(some)
	onCentres, err := part.centres(ctx, features, few, part.folds)
	if err != nil {
		return "", err
	}
	tiles, err := svm.NewTiles(ctx, x.sum, features)
	if err != nil {
		return "", err
	}
	onAll, err := part.tiles(ctx, tiles)
	if err != nil {
		return "", err
	}
	var e [2]Estimate
	for k, s := range []solver{onCentres, onAll} {
		held, err := s.HeldOut(ctx, []float64{ridge})
		if err != nil {
			return "", err
		}
		if held[0] == nil {
			return fmt.Sprintf("; by %d centres, whose loss is not known", x.few), nil
		}
		e[k] = part.estimate(part.read(held[0]))
	}
	return fmt.Sprintf("; by %d centres: %s of %.4g for %d graphs with %d centres, and %.4g without",
		x.few, e[0].Measure, e[0].Value, len(some), few, e[1].Value), nil
}
