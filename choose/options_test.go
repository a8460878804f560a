package choose

import (
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/learn"
)

// Without scores a plan is what was asked for, and its learner that of svm with the weights of the graphs.
// Weights have no part in a choice.
func TestUnscored(t *testing.T) {
	ds := learnable(40, false)
	o := DefaultOptions()
	targets, err := ReadTargets(ds, Classification)
	if err != nil {
		t.Fatal(err)
	}
	candidates := Each(classic.DefaultShortestPath())
	free, err := Choose(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ds.Graphs {
		targets.Weights = append(targets.Weights, 1+float64(i%3))
	}
	chosen, err := Endpoint{Data: ds, Targets: targets}.Choose(t.Context(), candidates, o)
	if err != nil || chosen.Parameter != free.Parameter {
		t.Fatalf("ridge %v with weights, %v without, error %v", chosen.Parameter, free.Parameter, err)
	}
	o.Unscored, o.Ridge = true, []float64{chosen.Parameter}
	p, err := Endpoint{Data: ds, Targets: targets}.Choose(t.Context(), candidates, o)
	if err != nil || p.Held.Labels != nil || p.Parameter != chosen.Parameter || len(p.Settings) != 1 {
		t.Fatalf("plan %+v, error %v", p, err)
	}
	gram, err := p.Collection.Gram(t.Context(), p.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	opt := learn.DefaultOptions()
	opt.Kind, opt.Ridge = learn.KernelRidge, p.Parameter
	want, err := learn.Train(t.Context(), learn.Full(gram), learn.Targets{Labels: targets.Labels, Weights: targets.Weights}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range []*Plan{p, chosen} {
		l, _, err := plan.Learn(t.Context(), learn.Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range l.Functions[0].Coefficients {
			near(t, "coefficient", c, want.Functions[0].Coefficients[k], 1e-9)
		}
	}
	o.Ridge = []float64{0.1, 1} // to choose from
	if p, err = (Endpoint{Data: ds, Targets: targets}).Choose(t.Context(), candidates, o); err != nil || p.Held.Labels == nil {
		t.Errorf("nothing was held out: %v", err)
	}
}
