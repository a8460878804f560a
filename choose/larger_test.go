package choose

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
)

// Atomisation energies are learned from molecules of at most 14 atoms, and predicted for those of 17 and more: values are right
// to 1 %, and intervals hold what they say.
func TestLargerMolecules(t *testing.T) {
	o := dataset.DefaultOptions()
	o.TargetColumn = "u0_atom"
	all, err := dataset.Read(t.Context(), graphtest.Table(t, "qm7.csv"), o)
	if err != nil {
		t.Fatal(err)
	}
	small, large := &dataset.Dataset{Name: "small"}, &dataset.Dataset{Name: "large"}
	for _, g := range all.Graphs {
		if n := g.N(); n <= 14 && len(small.Graphs) < 400 {
			small.Graphs = append(small.Graphs, g)
		} else if n >= 17 && len(large.Graphs) < 200 {
			large.Graphs = append(large.Graphs, g)
		}
	}
	opt := DefaultOptions()
	opt.ForCandidates()
	p, err := Choose(t.Context(), small, DefaultCandidates(dataset.Info(small)), opt)
	if err != nil {
		t.Fatal(err)
	}
	values, deviations := predictLarger(t, p, small, large)
	truth, err := ReadTargets(large, Regression)
	if err != nil {
		t.Fatal(err)
	}
	s := metrics.ScoreValues(truth.Values, values, deviations)
	covered := metrics.Covered(truth.Values, values, deviations, 0.9)
	t.Logf("%s\nrmse %v, %v in 90 %% intervals", p.Kernel(), s.RMSE, covered)
	if !(s.RMSE < 0.01*math.Abs(metrics.Mean(truth.Values))) || !(covered > 0.8) {
		t.Errorf("rmse %v of values of about %v, %v in 90 %% intervals", s.RMSE, metrics.Mean(truth.Values), covered)
	}
}

// predictLarger returns what a plan predicts for new graphs.
func predictLarger(t *testing.T, p *Plan, train, test *dataset.Dataset) (values, measured []float64) {
	t.Helper()
	ctx := t.Context()
	sum, err := kernel.NewCollection(Untargeted(train)).Fit(ctx, p.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	gram, err := sum.Gram(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := p.Learn(ctx, learn.Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	features, err := sum.Transform(ctx, test.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	known, err := sum.Train(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cross, err := kernel.Between(ctx, sum, features, known)
	if err != nil {
		t.Fatal(err)
	}
	said, err := l.Values(learn.Full(cross))
	if err != nil {
		t.Fatal(err)
	}
	self, err := kernel.Self(ctx, sum, features)
	if err != nil {
		t.Fatal(err)
	}
	if measured, err = deviations(ctx, l, learn.Full(gram), learn.Full(cross), self, nil); err != nil {
		t.Fatal(err)
	}
	return said.Data, measured
}
