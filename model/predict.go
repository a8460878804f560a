package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/svm"
)

// Gram returns the kernel matrix of the training graphs.
func (m *Model) Gram(ctx context.Context) (*mlg.Matrix, error) {
	return m.sum(func(k *mlg.Model) (*mlg.Matrix, error) { return k.Gram(ctx) })
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
// It is an error if the graphs lack what the kernels look at: labels, or attributes of the
// same number as in training.
func (m *Model) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	for _, k := range m.Kernels {
		want := k.Fitted.Attributes()
		for i, g := range graphs {
			if want > 0 && g.N() > 0 && g.AttributeDim() != want {
				name := fmt.Sprintf("graph %d", i)
				if g.ID() != "" {
					name += " (" + g.ID() + ")"
				}
				return nil, fmt.Errorf("%s: %d attributes per vertex, want %d as in training", name, g.AttributeDim(), want)
			}
		}
	}
	return m.sum(func(k *mlg.Model) (*mlg.Matrix, error) { return k.Cross(ctx, graphs) })
}

// sum returns the weighted sum of a matrix of each kernel.
func (m *Model) sum(of func(k *mlg.Model) (*mlg.Matrix, error)) (*mlg.Matrix, error) {
	var out *mlg.Matrix
	for _, k := range m.Kernels {
		x, err := of(k.Fitted)
		if err != nil {
			return nil, err
		}
		if k.Weight != 1 {
			for i := range x.Data {
				x.Data[i] *= k.Weight
			}
		}
		if out == nil {
			out = x
			continue
		}
		for i, v := range x.Data {
			out.Data[i] += v
		}
	}
	if out == nil {
		return nil, errors.New("model: no kernel")
	}
	return out, nil
}

// Neighbour is a training graph that is similar to a new one.
type Neighbour struct {
	Index      int // in training
	ID, Target string
	Similarity float64
}

// Prediction is what a model says about one graph.
type Prediction struct {
	Class string  // of a classifier
	Value float64 // of a regressor or ridge

	Decision    []float64 // of a classifier: the value of each machine
	Probability []float64 // of each class, in the order of Learner.Classes; nil if not trained

	Nearest []Neighbour // most similar training graphs
	// Percentile is that of the largest similarity to a training graph; see Model.Percentile.
	Percentile int
}

// Predict returns the predictions of the learner for new graphs, each with its nearest
// training graphs, at most the given number.
func (m *Model) Predict(ctx context.Context, graphs []*graph.Graph, nearest int) ([]Prediction, error) {
	cross, err := m.Cross(ctx, graphs)
	if err != nil {
		return nil, err
	}
	return m.PredictCross(cross, nearest)
}

// PredictCross is Predict for graphs whose kernel values with the training graphs are
// known, as Cross returns them.
func (m *Model) PredictCross(cross *mlg.Matrix, nearest int) ([]Prediction, error) {
	if m.Learner == nil {
		return nil, errors.New("model: no learner in it, it can only be searched")
	}
	out := make([]Prediction, cross.Rows)
	if err := m.Learner.predict(svm.Full(cross), out); err != nil {
		return nil, err
	}
	for i := range out {
		row := cross.Row(i)
		out[i].Nearest = m.nearest(row, nearest)
		if len(row) > 0 {
			out[i].Percentile = m.Percentile(slices.Max(row))
		}
	}
	return out, nil
}

// predict fills in what the learner says.
func (l *Learner) predict(cross svm.View, out []Prediction) error {
	var values []float64
	var err error
	switch {
	case l.Classifier != nil:
		return l.classify(cross, out)
	case l.Regressor != nil:
		values, err = l.Regressor.Predict(cross)
	default:
		values, err = l.Ridge.Predict(cross)
	}
	for i, v := range values {
		out[i].Value = v
	}
	return err
}

func (l *Learner) classify(cross svm.View, out []Prediction) error {
	c := l.Classifier
	labels, err := c.Predict(cross)
	if err != nil {
		return err
	}
	decision, err := c.Decision(cross)
	if err != nil {
		return err
	}
	for i, label := range labels {
		at, _ := slices.BinarySearch(c.Classes, label)
		out[i].Class = l.Classes[at]
		out[i].Decision = decision.Row(i)
	}
	if c.Machines[0].Platt == nil {
		return nil
	}
	p, err := c.Probability(cross)
	if err != nil {
		return err
	}
	for i := range out {
		out[i].Probability = p.Row(i)
	}
	return nil
}

// Search returns, for each graph, the most similar training graphs, at most k, by falling
// similarity and then in the order of training.
func (m *Model) Search(ctx context.Context, graphs []*graph.Graph, k int) ([][]Neighbour, error) {
	cross, err := m.Cross(ctx, graphs)
	if err != nil {
		return nil, err
	}
	out := make([][]Neighbour, len(graphs))
	for i := range out {
		out[i] = m.nearest(cross.Row(i), k)
	}
	return out, nil
}

// nearest returns the k largest entries of a row of kernel values.
func (m *Model) nearest(row []float64, k int) []Neighbour {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	out := make([]Neighbour, 0, max(0, min(k, len(order))))
	for _, i := range order[:cap(out)] {
		n := Neighbour{Index: i, ID: m.IDs[i], Similarity: row[i]}
		if m.Targets != nil {
			n.Target = m.Targets[i]
		}
		out = append(out, n)
	}
	return out
}

// Percentiles returns the percentiles 0, 1, …, 100 of the largest similarity of a training
// graph to another, from the Gram matrix of the training graphs; nil for fewer than two.
// Percentile p is the entry at position round(p(n−1)/100) of the n sorted values.
func Percentiles(gram *mlg.Matrix) []float64 {
	n := gram.Rows
	if n < 2 {
		return nil
	}
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
	slices.Sort(most)
	out := make([]float64, percentiles)
	for p := range out {
		out[p] = most[(p*(n-1)+50)/100]
	}
	return out
}

// Percentile says how usual the largest similarity of a new graph to a training graph is:
// the share, in per cent, of training graphs whose own largest similarity to another is
// smaller. At 0 the graph is unlike anything in training. It is 100 where the model has no
// percentiles.
func (m *Model) Percentile(similarity float64) int {
	if m.Nearest == nil {
		return 100
	}
	return min(100, sort.SearchFloat64s(m.Nearest, similarity))
}
