package explorer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg/nearest"
)

// outliersAnswer has graphs that a learner cannot explain.
type outliersAnswer struct {
	Outliers []outlier `json:"outliers" help:"graphs whose target is far from its prediction, the farthest first"`
	All      int       `json:"all" help:"how many there are; the list has the first ones"`
	Note     string    `json:"note" help:"why there are none; otherwise empty"`
}

// outlier is a graph that learners that have not seen it cannot explain.
type outlier struct {
	Graph       int      `json:"graph"`
	Nearest     int      `json:"nearest" help:"the most similar graph, −1 for none"`
	Deviations  *float64 `json:"deviations" help:"how many standard deviations of measurements the prediction is off; null for classes, and where deviations are not known"`
	Error       *float64 `json:"error" help:"predicted less measured value; null for classes"`
	Predicted   string   `json:"predicted" help:"the class; empty for values"`
	Probability *float64 `json:"probability" help:"of the true class; null for values"`
}

// outlying is what outliers follow from: predictions of graphs that were not seen, and the most similar graphs.
type outlying struct {
	*training // nil for none
	near      [][]nearest.Hit
}

// outlying trains, but for a model: there it takes what came of its cross-validation.
func (x *session) outlying(ctx context.Context) (*outlying, error) {
	p, err := x.placed(ctx)
	if err != nil {
		return nil, err
	}
	t, _ := x.training.peek()
	if t == nil && x.s.data.task != noTask && !x.saved {
		t, err = x.trained(ctx)
	}
	return &outlying{t, p.near}, err
}

func getOutliers(_ context.Context, x *session, o *outlying, _ *kernelRequest) (*outliersAnswer, error) {
	out := &outliersAnswer{Outliers: x.s.data.outliers(o.training, o.near)}
	out.All = len(out.Outliers)
	out.Outliers = out.Outliers[:min(out.All, mostPairs)]
	if o.training == nil || o.plan == nil {
		if out.Note = "Outliers need predictions of graphs that the learner has not seen."; x.saved && x.s.data.task != noTask {
			out.Note += " Cross-validate the model in Predictions to have them."
		}
	}
	return out, nil
}

// farDeviations is from how many standard deviations on a value is an outlier. Of normal errors 2.7 % are.
const farDeviations = 2.2

// outliers returns graphs whose targets are far from what learners predict that have not seen them: values by more than some
// standard deviations, and classes that are not the predicted ones.
func (d *Data) outliers(t *training, near [][]nearest.Hit) []outlier {
	out := []outlier{}
	if t == nil || t.plan == nil {
		return out
	}
	held := t.plan.Held
	far := map[int]float64{} // by graph
	for at, i := range t.known {
		o := outlier{Graph: i, Nearest: -1}
		if len(near[i]) > 0 {
			o.Nearest = near[i][0].Index
		}
		if t.plan.Regression() {
			e := held.Values[at] - d.value[i]
			far[i], o.Error = math.Abs(e), &e
			if held.Deviations != nil && held.Deviations[at] > 0 {
				z := math.Abs(e) / held.Deviations[at]
				far[i], o.Deviations = z, &z
				if z < farDeviations {
					continue
				}
			}
			out = append(out, o)
			continue
		}
		said, truth := held.Labels[at], slices.Index(t.plan.Classes, d.Targets[i])
		if said == truth {
			continue
		}
		o.Predicted = t.plan.Classes[said]
		if held.Scores != nil && truth >= 0 {
			o.Probability = &held.Scores[at][truth]
			far[i] = -held.Scores[at][truth]
		}
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b outlier) int { return cmp.Compare(far[b.Graph], far[a.Graph]) })
	return out
}
