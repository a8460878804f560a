package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/svm"
)

// Gram returns the kernel matrix of the training graphs.
func (m *Model) Gram(ctx context.Context) (*mlg.Matrix, error) {
	return m.sum(func(f Factor) (*mlg.Matrix, error) {
		if f.Fitted != nil {
			return f.Fitted.Gram(ctx)
		}
		fitted, err := f.fit(ctx, m.Graphs)
		if err != nil {
			return nil, err
		}
		return fitted.Gram(ctx)
	})
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
// It is an error if the graphs lack what the kernels look at: labels, or attributes of the
// same number as in training.
func (m *Model) Cross(ctx context.Context, graphs []*graph.Graph) (*mlg.Matrix, error) {
	return m.sum(m.crossOf(ctx, graphs))
}

// CrossFactor returns the matrix of one factor of the model between graphs (rows) and the
// training graphs (columns).
func (m *Model) CrossFactor(ctx context.Context, f Factor, graphs []*graph.Graph) (*mlg.Matrix, error) {
	return m.crossOf(ctx, graphs)(f)
}

// crossOf returns the function that computes the matrix of a factor. Graphs are prepared
// once for all factors that want them in the same form.
func (m *Model) crossOf(ctx context.Context, graphs []*graph.Graph) func(f Factor) (*mlg.Matrix, error) {
	type form struct {
		standard   *evaluate.Standardization
		subdivided bool
	}
	forms := map[form][]*graph.Graph{}
	return func(f Factor) (*mlg.Matrix, error) {
		if err := f.checkAttributes(graphs); err != nil {
			return nil, err
		}
		prepared, ok := forms[form{f.Standard, f.Subdivided}]
		if !ok {
			var err error
			if prepared, err = f.prepare(graphs); err != nil {
				return nil, err
			}
			forms[form{f.Standard, f.Subdivided}] = prepared
		}
		if f.Fitted != nil {
			return f.Fitted.Cross(ctx, prepared)
		}
		fitted, err := f.fit(ctx, m.Graphs)
		if err != nil {
			return nil, err
		}
		return fitted.Cross(ctx, prepared)
	}
}

// checkAttributes names the first graph with another number of attributes than in training.
func (f Factor) checkAttributes(graphs []*graph.Graph) error {
	want := 0
	switch {
	case f.Standard != nil:
		want = len(f.Standard.Mean)
	case f.Fitted != nil:
		want = f.Fitted.Attributes()
	}
	for i, g := range graphs {
		if want > 0 && g.N() > 0 && g.AttributeDim() != want {
			name := fmt.Sprintf("graph %d", i)
			if g.ID() != "" {
				name += " (" + g.ID() + ")"
			}
			return fmt.Errorf("%s: %d attributes per vertex, want %d as in training", name, g.AttributeDim(), want)
		}
	}
	return nil
}

// sum returns the weighted sum of products of a matrix of each factor. The matrix of a
// factor that occurs more than once is computed once.
func (m *Model) sum(of func(f Factor) (*mlg.Matrix, error)) (*mlg.Matrix, error) {
	left := map[Factor]int{} // occurrences to come
	for _, k := range m.Kernels {
		for _, f := range k.Factors {
			left[f]++
		}
	}
	known := map[Factor]*mlg.Matrix{}
	matrix := func(f Factor) (x *mlg.Matrix, mine bool, err error) {
		left[f]--
		if x = known[f]; x != nil {
			if left[f] == 0 {
				delete(known, f)
			}
			return x, left[f] == 0 && f.Fitted != nil, nil
		}
		if x, err = of(f); err != nil {
			return nil, false, err
		}
		if left[f] > 0 {
			known[f] = x
		}
		return x, left[f] == 0 && f.Fitted != nil, nil // a fitted baseline may keep its matrix
	}
	var out *mlg.Matrix
	for _, k := range m.Kernels {
		var x *mlg.Matrix
		for j, f := range k.Factors {
			y, mine, err := matrix(f)
			if err != nil {
				return nil, err
			}
			if j == 0 {
				if x = y; !mine {
					x = &mlg.Matrix{Rows: y.Rows, Cols: y.Cols, Data: slices.Clone(y.Data)}
				}
				continue
			}
			for i, v := range y.Data {
				x.Data[i] *= v
			}
		}
		if x == nil {
			return nil, errors.New("model: a kernel without factors")
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

// searchBlock bounds the kernel values that Search holds at a time.
const searchBlock = 1 << 23

// Search returns, for each graph, the most similar training graphs, at most k, by falling
// similarity and then in the order of training. It is exact: every training graph is looked
// at.
func (m *Model) Search(ctx context.Context, graphs []*graph.Graph, k int) ([][]Neighbour, error) {
	out := make([][]Neighbour, 0, len(graphs))
	for rows := max(1, searchBlock/max(1, m.Examples())); len(graphs) > 0; {
		block := graphs[:min(rows, len(graphs))]
		cross, err := m.Cross(ctx, block)
		if err != nil {
			return nil, err
		}
		for i := range block {
			out = append(out, m.nearest(cross.Row(i), k))
		}
		graphs = graphs[len(block):]
	}
	return out, nil
}

// nearest returns the k largest entries of a row of kernel values.
func (m *Model) nearest(row []float64, k int) []Neighbour {
	out := []Neighbour{}
	for _, i := range Top(row, k) {
		n := Neighbour{Index: i, ID: m.IDs[i], Similarity: row[i]}
		if m.Targets != nil {
			n.Target = m.Targets[i]
		}
		out = append(out, n)
	}
	return out
}

// Top returns the positions of the k largest of some values, by falling value and then in
// their order. It takes O(n + c log k) time for n values of which c are among the k largest
// of those up to them: for values in random order c is about k log(n/k).
func Top(values []float64, k int) []int {
	k = max(0, min(k, len(values)))
	out := make([]int, 0, k) // a heap: the least of the best first
	worse := func(a, b int) bool { return values[a] < values[b] || values[a] == values[b] && a > b }
	down := func(at int) {
		for {
			least := at
			for child := 2*at + 1; child <= 2*at+2 && child < len(out); child++ {
				if worse(out[child], out[least]) {
					least = child
				}
			}
			if least == at {
				return
			}
			out[at], out[least] = out[least], out[at]
			at = least
		}
	}
	for i, v := range values {
		switch {
		case len(out) < k:
			if out = append(out, i); len(out) == k {
				for at := k/2 - 1; at >= 0; at-- {
					down(at)
				}
			}
		case k > 0 && v > values[out[0]]:
			out[0] = i
			down(0)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
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

// Unlike reports whether the largest similarity of a new graph to a training graph is in the
// lowest percentile of what training graphs have among themselves: such a graph is unlike
// anything in training, and what the model says of it is a guess.
func (m *Model) Unlike(similarity float64) bool {
	return m.Nearest != nil && similarity < m.Nearest[1]
}
