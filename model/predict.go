package model

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/nearest"
)

// Neighbour is a training graph that is similar to a new one.
type Neighbour struct {
	ID         string  `json:"id"`
	Index      int     `json:"index"` // in training
	Target     string  `json:"target"`
	Similarity float64 `json:"similarity"`
	// Same says that the two are one molecule. It is empty for others, and where that was not looked at.
	Same dataset.Sameness `json:"same,omitempty" help:"same molecule, or same molecule, other stereochemistry; otherwise empty"`
}

// Likeness says how like the training graphs a graph is.
type Likeness struct {
	Similarity float64     `json:"similarity"` // largest to a training graph
	Percentile int         `json:"percentile" help:"per cent of the graphs of the data whose own nearest graph is less similar"`
	Unlike     bool        `json:"unlike" help:"99 % of the graphs of the data have a more similar one"`
	Nearest    []Neighbour `json:"nearest" help:"the most similar graphs of the data"`
	Known      *Neighbour  `json:"known" help:"a molecule of the data that a new one is equal to, or equal to but for stereochemistry; null for none"`
}

// Prediction is what a model tells of one graph.
type Prediction struct {
	Class string  // of a classifier
	Value float64 // of a model of values

	// Decision is how much speaks for each of Model.Classes, as learn.Learner.Decision says it, and Margin
	// how much for Class.
	Decision    []float64
	Margin      float64
	Probability []float64 // of each of Model.Classes; nil if not trained; Class has the largest

	Deviation *float64          // standard, of a measured value, where it is asked for and known
	True      *float64          // the same of the true value, without the noise of a measurement
	Interval  *metrics.Interval // of a measured value, where Deviation is known
	Clipped   bool              // the variance without noise was below 0, and counts as 0 in Deviation
	Likeness
}

// PredictOptions say what is told besides the class or the value.
type PredictOptions struct {
	Nearest    int     // number of training graphs to name
	Deviations bool    // of a Gaussian process
	Level      float64 // probability of the intervals
}

// DefaultPredictOptions returns three nearest graphs, and deviations with intervals of 90 %.
func DefaultPredictOptions() PredictOptions {
	return PredictOptions{Nearest: 3, Deviations: true, Level: 0.9}
}

// Predict returns the predictions of the learner for new graphs.
func (m *Model) Predict(ctx context.Context, graphs []*graph.Graph, o PredictOptions) ([]Prediction, error) {
	a, err := m.Kernel.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.PredictFeatures(ctx, graphs, a, o)
}

// PredictFeatures is Predict for graphs with the given features. Graphs may be nil, as in PredictCross.
func (m *Model) PredictFeatures(ctx context.Context, graphs []*graph.Graph, a kernel.Features, o PredictOptions) ([]Prediction, error) {
	cross, err := m.cross(ctx, a)
	if err != nil {
		return nil, err
	}
	return m.PredictCross(ctx, graphs, a, cross, o)
}

// PredictAll is Predict of all endpoints: the predictions of every one for the graphs. Endpoints with the same
// kernel share its values.
func (m *Model) PredictAll(ctx context.Context, graphs []*graph.Graph, o PredictOptions) ([][]Prediction, error) {
	a, err := m.Kernel.Transform(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.PredictAllFeatures(ctx, graphs, a, o)
}

// PredictAllFeatures is PredictAll for graphs with the given features. Graphs may be nil, as in PredictCross.
func (m *Model) PredictAllFeatures(ctx context.Context, graphs []*graph.Graph, a kernel.Features, o PredictOptions) ([][]Prediction, error) {
	all := m.Endpoints()
	out := make([][]Prediction, len(all))
	for i, e := range all {
		if out[i] != nil {
			continue
		}
		cross, err := e.cross(ctx, a)
		if err != nil {
			return nil, err
		}
		text := e.Kernel.String()
		for k := i; k < len(all); k++ {
			if k > i && all[k].Kernel.String() != text {
				continue
			}
			if out[k], err = all[k].PredictCross(ctx, graphs, a, cross, o); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// cross returns the kernel matrix between graphs with the given features (rows) and the training graphs.
func (m *Model) cross(ctx context.Context, a kernel.Features) (*kernel.Matrix, error) {
	train, err := m.Kernel.Train(ctx)
	if err != nil {
		return nil, err
	}
	return kernel.Between(ctx, m.Kernel, a, train)
}

// ErrNoLearner is the error of a model that predicts nothing.
var ErrNoLearner = errors.New("the model has no learner, so it predicts nothing")

// PredictCross is Predict for graphs whose kernel values with the training graphs are known, as
// Kernel.Cross returns them. The features are needed for deviations only. Without the graphs, nil, deviations do
// not look at scaffolds.
func (m *Model) PredictCross(
	ctx context.Context, graphs []*graph.Graph, a kernel.Features, cross *kernel.Matrix, o PredictOptions,
) ([]Prediction, error) {
	if m.Task() == SearchOnly {
		return nil, ErrNoLearner
	}
	values, err := m.Learner.Values(learn.Full(cross))
	if err != nil {
		return nil, err
	}
	var deviations *learn.Deviations
	if o.Deviations && m.Learner.Process != nil {
		if deviations, err = m.deviations(ctx, graphs, a, cross); err != nil {
			return nil, err
		}
	}
	out := make([]Prediction, cross.Rows)
	for i := range out {
		p := &out[i]
		*p = m.prediction(values.Row(i))
		p.Likeness = m.Likeness(m.nearest(cross.Row(i), max(1, o.Nearest)), o.Nearest)
		if graphs != nil {
			m.recognise(&p.Likeness, graphs[i], cross.Row(i))
		}
		if deviations != nil {
			half := metrics.HalfWidth(o.Level) * deviations.Measured[i]
			p.Clipped, p.Deviation, p.True = deviations.Clipped[i], &deviations.Measured[i], &deviations.True[i]
			p.Interval = &metrics.Interval{Level: o.Level, Low: p.Value - half, High: p.Value + half}
		}
	}
	return out, nil
}

// nearest returns the training graphs with the largest of some kernel values, among those that have a target.
func (m *Model) nearest(row []float64, k int) []nearest.Hit {
	if m.measured == nil {
		return nearest.Largest(row, k)
	}
	hits := nearest.Largest(choose.Pick(row, m.measured), k)
	for h := range hits {
		hits[h].Index = m.measured[hits[h].Index]
	}
	return hits
}

// prediction reads the values of the learner's functions for one graph.
func (m *Model) prediction(values []float64) Prediction {
	l := &m.Learner
	if m.Task() == Regression {
		return Prediction{Value: values[0]}
	}
	at, _ := slices.BinarySearch(l.Classes, l.Class(values))
	p := Prediction{Class: m.Classes[at], Decision: l.Decision(values)}
	p.Margin = p.Decision[at]
	if l.Slope > 0 {
		p.Probability = l.Probability(values)
	}
	return p
}

// Likeness returns that of a graph from the training graphs that are most similar to it, of which it names
// some.
func (m *Model) Likeness(hits []nearest.Hit, nearest int) Likeness {
	out := Likeness{Nearest: m.Neighbours(hits[:min(nearest, len(hits))])}
	if len(hits) > 0 {
		out.Similarity = hits[0].Similarity
		out.Percentile, out.Unlike = m.Nearest.Of(out.Similarity), m.Nearest.Unlike(out.Similarity)
	}
	return out
}

// recognise says which training graphs are the molecule that a graph is. Such a graph is not unlike them.
func (m *Model) recognise(l *Likeness, g *graph.Graph, row []float64) {
	known := m.Molecules()
	if known == nil {
		return
	}
	m.Mark(l.Nearest, g)
	if i, same := known.Find(g); same != dataset.Different {
		l.Known = &m.Neighbours([]nearest.Hit{{Index: i, Similarity: row[i]}})[0]
		l.Known.Same, l.Unlike = same, false
	}
}

// Molecules returns an index of the training graphs, nil if they are no molecules.
func (m *Model) Molecules() *dataset.Index {
	m.known.find.Do(func() {
		if chem.Molecules(m.Graphs) {
			m.known.graphs = dataset.NewIndex(m.Graphs)
		}
	})
	return m.known.graphs
}

// Mark says which training graphs are the molecule that a graph is.
func (m *Model) Mark(some []Neighbour, g *graph.Graph) {
	for k, n := range some {
		if h := m.Graphs[n.Index]; h.SMILES() != "" {
			some[k].Same = dataset.Same(g, h)
		}
	}
}

// deviations returns the standard deviations of measured values, noise included, of graphs whose
// kernel values with the training graphs are in cross. It compares the nearest training graphs of each
// with each other. Molecules with other scaffolds than the training graphs get wider deviations, where the
// model was fitted to say by how much.
func (m *Model) deviations(ctx context.Context, graphs []*graph.Graph, a kernel.Features, cross *kernel.Matrix) (*learn.Deviations, error) {
	self, err := kernel.Self(ctx, m.Kernel, a)
	if err != nil {
		return nil, err
	}
	among, apart, err := m.training(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.Learner.Deviations(ctx, learn.Full(cross), self, apart, among)
}

// training returns what deviations need of the training graphs: what compares some of them with each other,
// and which of other graphs are apart from them.
func (m *Model) training(ctx context.Context, graphs []*graph.Graph) (
	among func(ctx context.Context, at []int) (*kernel.Matrix, error), apart []bool, err error) {
	train, err := m.Kernel.Train(ctx)
	if err != nil {
		return nil, nil, err
	}
	apart, err = m.apart(graphs)
	return func(ctx context.Context, at []int) (*kernel.Matrix, error) {
		some := train.Select(at)
		return kernel.Between(ctx, m.Kernel, some, some)
	}, apart, err
}

// Posterior returns what the Gaussian process says of the true values of graphs together, from their features.
// The graphs themselves are needed for the scaffolds of molecules, and may be nil.
func (m *Model) Posterior(ctx context.Context, graphs []*graph.Graph, a kernel.Features) (*learn.Posterior, error) {
	if m.Learner.Process == nil {
		return nil, learn.ErrNoProcess
	}
	cross, err := m.cross(ctx, a)
	if err != nil {
		return nil, err
	}
	gram, err := kernel.Between(ctx, m.Kernel, a, a)
	if err != nil {
		return nil, err
	}
	among, apart, err := m.training(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.Learner.Posterior(ctx, learn.Full(cross), gram, apart, among)
}

// apart reports which graphs have scaffolds that no training graph has, or structures of rows, nil unless deviations were
// fitted to such graphs, or where the graphs are not known.
func (m *Model) apart(graphs []*graph.Graph) ([]bool, error) {
	if len(graphs) == 0 || m.Learner.Process.Wider == 1 {
		return nil, nil
	}
	training := m.Graphs
	if support := m.Learner.Functions[0].Support; support != nil {
		training = choose.Pick(m.Graphs, support)
	}
	if group := choose.RowGroup(graphs[0], m.Created["groups"]); group != nil {
		return apartByRows(group, training, graphs), nil
	}
	if m.Created["groups"] != choose.ByScaffold {
		return nil, nil
	}
	known := m.scaffolds
	known.find.Do(func() {
		known.set, _, known.err = chem.NewScaffoldSet(training)
	})
	if known.err != nil {
		return nil, known.err
	}
	out := make([]bool, len(graphs))
	for k, g := range graphs {
		out[k] = !known.set.Has(g)
	}
	return out, nil
}

// apartByRows reports which rows have a group that no training row has.
func apartByRows(group func(*graph.Graph) uint64, training, graphs []*graph.Graph) []bool {
	known := map[uint64]bool{}
	for _, g := range training {
		known[group(g)] = true
	}
	out := make([]bool, len(graphs))
	for k, g := range graphs {
		out[k] = !known[group(g)]
	}
	return out
}

// searchBlock bounds the kernel values that Search holds at a time.
const searchBlock = 1 << 23

// Search returns, for each graph, the most similar training graphs, at most k, by falling
// similarity and then in the order of training. It is exact: every training graph is looked
// at.
func (m *Model) Search(ctx context.Context, graphs []*graph.Graph, k int) ([][]Neighbour, error) {
	out := make([][]Neighbour, 0, len(graphs))
	for block := range slices.Chunk(graphs, max(1, searchBlock/max(1, m.Examples()))) {
		a, err := m.Kernel.Transform(ctx, block)
		if err != nil {
			return nil, err
		}
		found, err := m.SearchFeatures(ctx, a, k)
		if err != nil {
			return nil, err
		}
		for i, g := range block {
			m.Mark(found[i], g)
		}
		out = append(out, found...)
	}
	return out, nil
}

// SearchFeatures is Search for a few graphs with the given features.
func (m *Model) SearchFeatures(ctx context.Context, a kernel.Features, k int) ([][]Neighbour, error) {
	cross, err := m.cross(ctx, a)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbour, cross.Rows)
	for i := range out {
		out[i] = m.Neighbours(nearest.Largest(cross.Row(i), k))
	}
	return out, nil
}

// Neighbours returns the training graphs that were found in a row of kernel values.
func (m *Model) Neighbours(hits []nearest.Hit) []Neighbour {
	out := []Neighbour{}
	for _, h := range hits {
		out = append(out, Neighbour{Index: h.Index, ID: m.IDs[h.Index], Target: m.Targets[h.Index], Similarity: h.Similarity})
	}
	return out
}

// Nearest returns the largest similarity of every graph to another, from their Gram matrix.
func Nearest(gram *kernel.Matrix) []float64 {
	n := gram.Rows
	most := make([]float64, n)
	for i := range most {
		row := gram.Row(i)
		most[i] = row[(i+1)%n]
		for j, v := range row {
			if j != i {
				most[i] = max(most[i], v)
			}
		}
	}
	return most
}

// Percentiles are the percentiles 0, 1, …, 100 of some similarities; nil for fewer than two.
type Percentiles []float64

// PercentilesOf returns those of the similarity of every graph to the one that is nearest to it. Percentile p is the
// entry at position round(p(n−1)/100) of the n sorted values.
func PercentilesOf(nearest []float64) Percentiles {
	n := len(nearest)
	if n < 2 {
		return nil
	}
	most := slices.Clone(nearest)
	slices.Sort(most)
	out := make(Percentiles, 101)
	for p := range out {
		out[p] = most[(p*(n-1)+50)/100]
	}
	return out
}

// Of returns the share, in per cent, of the similarities that are smaller than another. At 0 a graph is unlike
// anything in training. It is 100 without percentiles.
func (p Percentiles) Of(similarity float64) int {
	if p == nil {
		return 100
	}
	return min(100, sort.SearchFloat64s(p, similarity))
}

// Unlike reports whether a new graph is unlike the training graphs: 99 % of the training graphs
// have a more similar one among the others. Its prediction is then a guess.
func (p Percentiles) Unlike(similarity float64) bool { return p != nil && similarity < p[1] }
