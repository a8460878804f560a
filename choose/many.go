package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// mostCentres is the largest number of centres where the kernel matrix of all graphs does not fit into
// memory. Their sums of five folds take 1.3 GB.
const mostCentres = 8192

// comparedGraphs is the number of graphs on which regressions on centres are compared with those on all.
const comparedGraphs = 8192

// Garbage is how much of the memory in use may be garbage, in per cent, as for debug.SetGCPercent. Bytes
// counts on it.
const Garbage = 25

// tilesBytes returns about the memory of the matrix of all graphs and what learns from it.
func tilesBytes(n int) int64 {
	const sides = 8 * heldOutFolds * ridgesTried // vectors of conjugate gradients
	return learn.TriangleBytes(n) + int64(n)*(4*int64(learn.DefaultRidgeOptions().Landmarks)+8*sides)
}

// centresBytes returns about the memory of regressions on centres, which hold out graphs alone and then with
// their groups, and of their comparison.
func centresBytes(n, m int) int64 {
	return 2*learn.CentresBytes(n, m, heldOutFolds, ridgesTried) + tilesBytes(min(n, comparedGraphs))
}

// centresOf returns the number of centres for n graphs with so many bytes free: 0 where the matrix of all
// graphs fits.
func centresOf(n int, free int64) int {
	if tilesBytes(n) <= free {
		return 0
	}
	m := min(mostCentres, n/2)
	for m > 256 && centresBytes(n, m) > free {
		m -= 64
	}
	return m
}

// solver learns from all graphs with a ridge. HeldOut returns what is predicted for graphs that are held
// out, by ridge; nil for one that is too small. The largest is needed, or none. Learn takes what it returned.
// Nearest, after HeldOut, returns the largest similarity of each graph to another.
type solver interface {
	Nearest() []float64
	HeldOut(ctx context.Context, ridges []float64, needed bool) ([]*learn.Left, error)
	Learn(ctx context.Context, left, groups *learn.Left, probability bool) (*learn.Learner, error)
}

// tiled learns from the whole kernel matrix.
type tiled struct {
	*learn.Triangle
	*learn.RidgeSolver
	x     *all
	folds []int
}

// tiles returns what learns from the whole kernel matrix.
func (x *all) tiles(ctx context.Context, tiles *learn.Triangle) (tiled, error) {
	s, err := learn.NewRidgeSolver(ctx, tiles, learn.DefaultRidgeOptions())
	return tiled{tiles, s, x, x.folds}, err
}

// HeldOut implements solver. Small ridges take most iterations, and are not needed where larger ones lose
// less. One that is needed is taken with the residual that it has.
func (s tiled) HeldOut(ctx context.Context, ridges []float64, needed bool) ([]*learn.Left, error) {
	out := make([]*learn.Left, len(ridges))
	least := math.Inf(1)
	for k, ridge := range slices.Backward(ridges) {
		left, c, err := s.RidgeSolver.HeldOut(ctx, s.x.targets(), s.folds, []float64{ridge})
		if isDefinite(err) { // and so are smaller ones
			break
		}
		if err != nil {
			return nil, err
		}
		if c.Open > 0 && !needed { // not solved, and a larger one is
			break
		}
		out[k], needed = left[0], false
		loss := s.x.leftLoss(left[0])
		if loss > least || c.Open > 0 {
			break
		}
		least = loss
	}
	return out, nil
}

// Learn implements solver.
func (s tiled) Learn(ctx context.Context, left, groups *learn.Left, probability bool) (*learn.Learner, error) {
	l, _, err := s.RidgeSolver.Learn(ctx, s.x.targets(), left, groups, probability)
	return l, err
}

// centred learns on centres.
type centred struct{ *learn.Centres }

// HeldOut implements solver.
func (s centred) HeldOut(ctx context.Context, ridges []float64, _ bool) ([]*learn.Left, error) {
	return s.Centres.HeldOut(ctx, ridges)
}

// Streams of random numbers, beside those of samples.
const (
	centreStream = 1<<63 + iota
	comparedStream
)

// centres returns what learns on m centres. Each class has as many of them as it would have of a sample.
func (x *all) centres(ctx context.Context, train kernel.Features, m int, folds []int) (solver, error) {
	s, err := learn.NewCentres(ctx, x.sum, train, x.draw(x.graphs(), m, x.Options.Seed, centreStream), x.targets(), folds)
	return centred{s}, err
}

// compare says what regressions on centres lose, from some graphs with as large a share of centres.
func (x *all) compare(ctx context.Context, ridge float64) (string, error) {
	some := x.draw(x.graphs(), comparedGraphs, x.Options.Seed, comparedStream)
	part := &all{choice: &choice{Chooser: Chooser{Options: x.Options, Targets: x.Targets.Of(some)}}, folds: Pick(x.folds, some), sum: x.sum}
	part.Targets.Weights = Pick(x.Targets.Weights, some)
	part.everything = &TrainingPart{graphs: kernel.UpTo(len(some))}
	few := max(1, x.few*len(some)/len(x.graphs()))
	features := x.train.Select(some)
	onCentres, err := part.centres(ctx, features, few, part.folds)
	if err != nil {
		return "", err
	}
	tiles, err := learn.NewTriangle(ctx, x.sum, features)
	if err != nil {
		return "", err
	}
	onAll, err := part.tiles(ctx, tiles)
	if err != nil {
		return "", err
	}
	var e [2]Estimate
	for k, s := range []solver{onCentres, onAll} {
		held, err := s.HeldOut(ctx, []float64{ridge}, true)
		if err != nil {
			return "", err
		}
		if held[0] == nil {
			return fmt.Sprintf("; by %d centres, whose loss is not known", x.few), nil
		}
		e[k] = part.estimate(part.Targets.heldOut(part.targets().Scores(held[0].Values)))
	}
	return fmt.Sprintf("; by %d centres for %.3g GB of memory: %s of %.4g for %d graphs with %d centres, and %.4g without",
		x.few, float64(x.Options.Memory)/1e9, e[0].Measure, e[0].Value, len(some), few, e[1].Value), nil
}
