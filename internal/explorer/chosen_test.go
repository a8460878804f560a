package explorer

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
)

// What is chosen is what mlg train chooses; requests with that kernel get its predictions and its estimates.
func TestChosen(t *testing.T) {
	graphtest.Slow(t)
	for name, d := range map[string]*Data{"classes": someDrugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		ds := &dataset.Dataset{Name: d.Name, Graphs: d.Graphs}
		candidates, _ := choose.Afford(ds.Graphs, choose.DefaultCandidates(dataset.Info(ds)))
		o := model.DefaultLearnOptions()
		o.ForCandidates()
		m, plan, err := model.Learn(t.Context(), ds, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		var a chosenAnswer
		s.get("/api/v1/chosen", &a)
		if len(a.Kernels) != len(plan.Settings) || a.Combination != plan.Combination.String() {
			t.Fatalf("%s: chosen %+v, want %+v", name, a, plan.Settings)
		}
		for k, c := range a.Kernels {
			if k > 0 && c.Weight > a.Kernels[k-1].Weight {
				t.Errorf("%s: weight %v behind %v", name, c.Weight, a.Kernels[k-1].Weight)
			}
		}
		var e evaluation
		s.get("/api/v1/evaluate?kernel=chosen&part=kernel", &e)
		if e.Estimates[0].Value != plan.Estimate.Value || e.Estimates[0].Method != plan.Estimate.Method || e.Graphs != len(d.IDs) {
			t.Errorf("%s: estimate %+v, want %+v", name, e.Estimates[0], plan.Estimate)
		}
		var said predictAnswer
		s.post("/api/v1/predict", `{"graphs":[{"smiles":"CCOc1ccccc1"}],"kernel":"chosen"}`, &said)
		g, err := dataset.ParseSMILES("CCOc1ccccc1", dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Predict(t.Context(), []*graph.Graph{g}, model.DefaultPredictOptions())
		if err != nil {
			t.Fatal(err)
		}
		p := said.Predictions[0]
		if p.Class != nil && *p.Class != want[0].Class || p.Value != nil && math.Abs(*p.Value-want[0].Value) > 1e-6*math.Abs(want[0].Value) {
			t.Errorf("%s: predicted %+v, want %+v", name, p, want[0])
		}
		var k textAnswer
		if s.get("/api/v1/kernel?text=chosen", &k); k.Text != "chosen" || k.Error != nil || len(k.Parameters) > 0 {
			t.Errorf("the text is %+v", k)
		}
	}
}
