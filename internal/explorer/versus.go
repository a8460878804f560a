package explorer

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/metrics"
)

type versusRequest struct {
	Against string `json:"against,omitempty" help:"the data that the other model learns from; by default those of the request. Graphs of other data are the same if their names are"`
	Other   string `json:"other,omitempty" help:"the kernel of the other model, as in kernel"`
	kernelRequest
}

// versusAnswer compares the model of a request with another.
type versusAnswer struct {
	Graphs  int             `json:"graphs" help:"graphs that both models predicted without having seen them, with the same target"`
	Score   *metrics.Paired `json:"score" help:"root mean squared errors of values, or shares of right classes: first of the model of the request, second of the other; difference is second less first. null for fewer than three graphs"`
	Clear   bool            `json:"clear" help:"the interval of the difference is on one side of 0"`
	Better  bool            `json:"better" help:"the other model is the better one"`
	Closer  int             `json:"closer" help:"graphs for which the other model has the smaller error"`
	Index   []int           `json:"index" help:"the graphs, by their positions in the data of the request"`
	Errors  [2][]float64    `json:"errors" help:"of both models: predicted less measured values, or 1 for a wrong class and else 0"`
	Values  [2][]float64    `json:"values" help:"what both predict; empty for classes"`
	Classes [2][]string     `json:"classes" help:"what both predict; empty for values"`
}

// versusLevel is the probability of the interval of a difference.
const versusLevel = 0.95

// postVersus compares two models on the graphs that both have predicted without having seen them.
func postVersus(q *request, in *versusRequest) (*versusAnswer, error) {
	from := q.s
	if in.Against != "" {
		var err error
		if from, err = q.s.source(in.Against); err != nil {
			return nil, err
		}
	}
	if from.data.task != q.s.data.task {
		return nil, cannot("%s has other targets: %s, want %s", from.data.Name, from.data.task, q.s.data.task)
	}
	other, err := from.session(in.Other)
	if err != nil {
		return nil, within("other", err)
	}
	get := func(x *session, ctx context.Context) (out [2]*left, err error) {
		for k, y := range []*session{x, other} {
			e, err := y.crossValidated(ctx)
			if err != nil {
				return out, err
			}
			if e.left == nil {
				return out, errNoLearner
			}
			out[k] = e.left
		}
		return out, nil
	}
	return on(get, func(_ context.Context, x *session, both [2]*left, _ *versusRequest) (*versusAnswer, error) {
		return compareModels(x.s.data, from.data, both), nil
	})(q, in)
}

// compareModels compares what was predicted for graphs of data and of other data.
func compareModels(d, other *Data, both [2]*left) *versusAnswer {
	out := &versusAnswer{Index: []int{}, Errors: [2][]float64{{}, {}}, Values: [2][]float64{{}, {}}, Classes: [2][]string{{}, {}}}
	values := both[0].targets.Values != nil
	var losses [2][]float64
	for k, at := range sameGraphs(d, other, both) {
		if at < 0 || d.Targets[both[0].graphs[k]] != other.Targets[both[1].graphs[at]] {
			continue
		}
		out.Index = append(out.Index, both[0].graphs[k])
		for m, i := range [2]int{k, at} {
			l, loss := both[m], 0.0
			if values {
				loss = l.held.Values[i] - l.targets.Values[i]
				out.Values[m], losses[m] = append(out.Values[m], l.held.Values[i]), append(losses[m], loss*loss)
			} else {
				if l.held.Labels[i] != l.targets.Labels[i] {
					loss = 1
				}
				out.Classes[m], losses[m] = append(out.Classes[m], l.targets.Classes[l.held.Labels[i]]), append(losses[m], loss)
			}
			out.Errors[m] = append(out.Errors[m], loss)
		}
		if n := len(out.Index) - 1; math.Abs(out.Errors[1][n]) < math.Abs(out.Errors[0][n]) {
			out.Closer++
		}
	}
	if out.Graphs = len(out.Index); out.Graphs < 3 {
		return out
	}
	score := func(mean float64) float64 { return 1 - mean }
	if values {
		score = math.Sqrt
	}
	p := metrics.ComparePaired(losses[0], losses[1], score, versusLevel)
	out.Score, out.Clear, out.Better = &p, p.Interval.Low > 0 || p.Interval.High < 0, (p.Difference < 0) == values && p.Difference != 0
	return out
}

// sameGraphs returns for each graph of the first predictions where the others have it, -1 for nowhere. A name that several graphs
// have says nothing.
func sameGraphs(d, other *Data, both [2]*left) []int {
	out := make([]int, len(both[0].graphs))
	if d == other {
		for k, i := range both[0].graphs {
			at, ok := slices.BinarySearch(both[1].graphs, i)
			if out[k] = at; !ok {
				out[k] = -1
			}
		}
		return out
	}
	named := func(d *Data, l *left) map[string]int {
		count, at := map[string]int{}, map[string]int{}
		for _, id := range d.IDs {
			count[id]++
		}
		for k, i := range l.graphs {
			if count[d.IDs[i]] == 1 {
				at[d.IDs[i]] = k
			}
		}
		return at
	}
	first, second := named(d, both[0]), named(other, both[1])
	for k, i := range both[0].graphs {
		at, ok := second[d.IDs[i]]
		if _, own := first[d.IDs[i]]; !ok || !own {
			at = -1
		}
		out[k] = at
	}
	return out
}
