package choose

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/cluster"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/splits"
)

// Groups are graphs that belong together. A graph of a new group is harder to predict than one more of a
// known group.
type Groups struct {
	// By says what the graphs of a group share: ByScaffold, ByCluster, the name of a column, or structures of rows.
	By string `json:"by"`
	// Of is the group of each graph.
	Of []int `json:"of"`
}

const (
	// ByScaffold groups molecules by their scaffolds (chem.Scaffolds).
	ByScaffold = "scaffold"
	// ByCluster groups graphs that the kernel finds similar. New graphs have no such group.
	ByCluster = "cluster"
)

// ownGroups returns the groups that graphs have by themselves: of molecules by scaffold, of rows by their structures. It
// returns nil for other graphs, and for fewer groups than folds.
func ownGroups(d *dataset.Dataset) *Groups {
	if d.Graphs[0].Parts() != nil {
		return rowGroups(d)
	}
	if !chem.Molecules(d.Graphs) {
		return nil
	}
	of, err := chem.Scaffolds(d.Graphs)
	if err != nil || slices.Max(of)+1 < heldOutFolds {
		return nil // some are no molecules
	}
	return &Groups{ByScaffold, of}
}

// of returns the groups of some graphs.
func (g *Groups) of(graphs []int) *Groups {
	if g == nil {
		return nil
	}
	return &Groups{g.By, Pick(g.Of, graphs)}
}

// Folds deals whole groups to folds, nil if there are too few.
func (g *Groups) Folds(seed uint64) []int {
	if g == nil {
		return nil
	}
	s, err := splits.ByGroup("by "+g.By, g.Of, heldOutFolds, 1, seed)
	if err != nil {
		return nil
	}
	return s.Fold[0]
}

// alone reports for each graph whether all others of its group are in its fold; without folds, whether there
// is no other.
func (g *Groups) alone(folds []int) []bool {
	if g == nil {
		return nil
	}
	first, several := map[int]int{}, map[int]bool{}
	for i, group := range g.Of {
		f, known := first[group]
		if !known {
			first[group] = i
		} else if folds == nil || folds[i] != folds[f] {
			several[group] = true
		}
	}
	out := make([]bool, len(g.Of))
	for i, group := range g.Of {
		out[i] = !several[group]
	}
	return out
}

// apart reports for each of some graphs whether it has a group that no graph of a training set has, nil
// where graphs have no groups.
func (g *Groups) apart(graphs, training []int) []bool {
	if g == nil {
		return nil
	}
	known := map[int]bool{}
	for _, i := range training {
		known[g.Of[i]] = true
	}
	out := make([]bool, len(graphs))
	for k, i := range graphs {
		out[k] = !known[g.Of[i]]
	}
	return out
}

// leastClustered is the number of graphs from which on they are grouped by the kernel.
const leastClustered = 4 * heldOutFolds

// mostClusters is the largest number of groups that the kernel makes.
const mostClusters = 256

// kernelValues are those of graphs: of each with itself, and between some and some others.
type kernelValues struct {
	self    []float64
	between func(ctx context.Context, rows, cols []int) (*kernel.Matrix, error)
}

// matrixValues returns those of a matrix.
func matrixValues(gram *kernel.Matrix) kernelValues {
	self := make([]float64, gram.Rows)
	for i := range self {
		self[i] = gram.At(i, i)
	}
	return kernelValues{self, func(_ context.Context, rows, cols []int) (*kernel.Matrix, error) {
		return learn.Full(gram).Select(rows, cols).Matrix(), nil
	}}
}

// featureValues returns those of features.
func featureValues(ctx context.Context, m kernel.Map, a kernel.Features) (kernelValues, error) {
	self, err := kernel.Self(ctx, m, a)
	return kernelValues{self, func(ctx context.Context, rows, cols []int) (*kernel.Matrix, error) {
		return kernel.Between(ctx, m, a.Select(rows), a.Select(cols))
	}}, err
}

// Clusters groups the graphs that a kernel is fitted to as clusters does, around graphs of an even sample of at most so
// many.
func Clusters(ctx context.Context, k *kernel.FittedSum, examples, folds int) (*Groups, error) {
	train, err := k.Train(ctx)
	if err != nil {
		return nil, err
	}
	values, err := featureValues(ctx, k, train)
	if err != nil {
		return nil, err
	}
	sample := make([]int, min(examples, train.Len()))
	for i := range sample {
		sample[i] = i * train.Len() / len(sample)
	}
	return clusters(ctx, values, sample, folds)
}

// clusters groups graphs around about √n typical ones of a sample, at least two for each fold.
func clusters(ctx context.Context, k kernelValues, sample []int, folds int) (*Groups, error) {
	n := len(k.self)
	gram, err := k.between(ctx, sample, sample)
	if err != nil {
		return nil, err
	}
	found, err := cluster.Medoids(ctx, gram, min(mostClusters, max(2*folds, int(math.Sqrt(float64(n))))))
	if err != nil {
		return nil, err
	}
	centres := Pick(sample, found.Medoids)
	out := make([]int, n)
	for first := 0; first < n; first += len(sample) { // blocks as large as that of the sample
		rows := make([]int, min(len(sample), n-first))
		for r := range rows {
			rows[r] = first + r
		}
		near, err := k.between(ctx, rows, centres)
		if err != nil {
			return nil, err
		}
		for r, i := range rows {
			nearest := math.Inf(1)
			for m, j := range centres {
				if d := k.self[j] - 2*near.At(r, m); d < nearest { // the square of the distance, less k(x, x)
					out[i], nearest = m, d
				}
			}
		}
	}
	return &Groups{ByCluster, out}, nil
}

// learnGroups predicts whole groups from the others by trainings, for learners without a closed form.
func (c *choice) learnGroups(ctx context.Context, p *Plan) error {
	if err := c.gram(ctx, p); err != nil {
		return err
	}
	groups, folds, err := c.groupFolds(ctx, matrixValues(p.Gram))
	if folds == nil || err != nil {
		return err
	}
	s := &splits.Splits{Folds: heldOutFolds, Fold: [][]int{folds}}
	for f := range s.Folds {
		train, test := s.Without(0, f), s.Test(0, f)
		gram, cross := learn.Full(p.Gram).Select(train, train), learn.Full(p.Gram).Select(test, train)
		if p.Indefinite {
			clipped, err := learn.Clip(ctx, gram)
			if err != nil {
				return err
			}
			gram, cross = learn.Full(clipped.Gram), learn.Full(clipped.Map(cross))
		}
		predicted, err := c.Targets.learn(ctx, c.Options.learner(), gram, train, []float64{p.Parameter}, []learn.View{cross}, nil, nil)
		if err != nil {
			return err
		}
		p.HeldGroups.put(test, predicted[0][0], len(folds))
	}
	c.tellGroups(p, groups, folds)
	return nil
}

// groupFolds returns the groups that are known, or those that the kernel makes, and folds of whole groups;
// nil if there are too few.
func (c *choice) groupFolds(ctx context.Context, k kernelValues) (*Groups, []int, error) {
	if c.part && !c.Targets.Regression() { // no learner of classes depends on groups
		return nil, nil, nil
	}
	if folds := c.Targets.Groups.Folds(c.Options.Seed); folds != nil || c.part {
		return c.Targets.Groups, folds, nil
	}
	if len(k.self) < leastClustered {
		return nil, nil, nil
	}
	g, err := clusters(ctx, k, c.everything.sample, heldOutFolds)
	if err != nil {
		return nil, nil, err
	}
	return g, g.Folds(c.Options.Seed), nil
}

// tellGroups tells the plan how good its HeldGroups are.
func (c *choice) tellGroups(p *Plan, g *Groups, folds []int) {
	e := c.foldEstimate(p.HeldGroups, folds)
	e.Groups, e.Method = g.By, c.groupMethod(g.By)
	p.GroupEstimate = &e
	if !p.Regression() && c.Options.Probability {
		p.HeldGroups = calibrated(c.Options.Learner, p.Labels, p.HeldGroups)
	}
}

func (c *choice) groupMethod(by string) string {
	out := fmt.Sprintf("%d-fold cross-validation of all graphs, whole groups left out by %s", heldOutFolds, by)
	if len(c.settings) > 1 || len(c.Options.Grid()) > 1 {
		out += "; what was chosen has seen them"
	}
	return out
}
