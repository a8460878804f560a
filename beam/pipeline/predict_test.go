package pipeline

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// predictions are a collection with a model that predicts, of some endpoints.
func predictions(t *testing.T, endpoints int) (*collection, *model.Model, Options) {
	t.Helper()
	d := dataset.Scales(130, 1)
	for i := range d.Graphs {
		id := fmt.Sprint("g", i)
		if i%10 == 3 {
			id = "" // gets a number
		}
		d.Graphs[i] = d.Graphs[i].With(id, d.Graphs[i].Target())
	}
	c := collect(t, d, classic.DefaultWL())
	sample := &dataset.Dataset{Graphs: d.Graphs[:50]}
	values := &dataset.Dataset{}
	for _, g := range sample.Graphs {
		values.Graphs = append(values.Graphs, g.With(g.ID(), fmt.Sprint(g.M()+g.N()%3)))
	}
	all := []choose.Endpoint{{Name: "size", Data: values}, {Name: "scale", Data: sample}}[:endpoints]
	m, _, err := model.LearnAll(t.Context(), sample, all, choose.Each(classic.DefaultWL()), model.DefaultLearnOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Write(t.Context(), c.model, m); err != nil {
		t.Fatal(err)
	}
	o := c.options(t)
	o.Tiles, o.Predictions = "", filepath.Join(t.TempDir(), "predictions")
	return c, c.read(t), o
}

// A pipeline predicts what one machine predicts, to the bit, for all endpoints. A second run keeps what is good.
func TestPredictionsToTheBit(t *testing.T) {
	for endpoints := 1; endpoints <= 2; endpoints++ {
		c, m, o := predictions(t, endpoints)
		if want, counts := (Counts{Read: 130, Transformed: 130, Predicted: 130, Computed: 3}), must(t, o); counts != want {
			t.Errorf("counters %+v, want %+v", counts, want)
		}
		said, err := m.PredictAll(t.Context(), c.Graphs, model.DefaultPredictOptions())
		if err != nil {
			t.Fatal(err)
		}
		var want, got strings.Builder
		for i, id := range c.IDs() {
			for e, x := range m.Endpoints() {
				a := model.Answer{ID: id, Target: c.Graphs[i].Target()}
				if endpoints > 1 {
					a.Endpoint, a.Target = x.Target, ""
				}
				a.Tell(x, &said[e][i])
				line, err := json.Marshal(&a)
				if err != nil {
					t.Fatal(err)
				}
				want.Write(append(line, '\n'))
			}
		}
		text, err := os.ReadFile(filepath.Join(o.Predictions, predictionsName))
		if err != nil {
			t.Fatal(err)
		}
		var d Predictions
		if err := json.Unmarshal(text, &d); err != nil || d.Graphs != 130 || len(d.Files) != 3 || len(d.Endpoints) != endpoints*(endpoints-1) {
			t.Errorf("description %s, %v", text, err)
		}
		for _, f := range d.Files {
			part, err := os.ReadFile(filepath.Join(o.Predictions, f.Name))
			if err != nil {
				t.Fatal(err)
			}
			got.Write(part)
		}
		if got.String() != want.String() {
			t.Errorf("%d endpoints: other predictions than on one machine:\n%.300s\n%.300s", endpoints, got.String(), want.String())
		}

		before := snapshot(t, o.Predictions)
		if err := os.Truncate(filepath.Join(o.Predictions, predictionName(1)), 100); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(o.Predictions, predictionName(2))); err != nil {
			t.Fatal(err)
		}
		o.PartBytes, o.Batch = 1<<20, 100
		if counts := must(t, o); counts.Computed != 2 || counts.Replaced != 1 || counts.Kept != 1 {
			t.Errorf("a second run: counters %+v, want 2 computed, 1 of them replaced, and 1 kept", counts)
		}
		equal(t, snapshot(t, o.Predictions), before)
		o.Nearest = 1
		if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), "another model, plan or collection") {
			t.Errorf("other predictions in the same folder: %v", err)
		}
	}
}

// What cannot be predicted is left out and listed, or an error. Models without a learner, and wrong options, are errors.
func TestPredictionErrors(t *testing.T) {
	c, _, o := predictions(t, 1)
	all, err := os.ReadFile(c.jsonl)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, append([]byte("not a graph\n"), all...), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Inputs = []string{bad}
	if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), "bad.jsonl:1: invalid character") {
		t.Errorf("error %v for a line that is no graph", err)
	}
	o.SkipInvalid = true
	if want, counts := (Counts{Read: 131, Bad: 1, Transformed: 130, Predicted: 130, Computed: 3}), must(t, o); counts != want {
		t.Errorf("counters %+v, want %+v", counts, want)
	}
	if list, err := os.ReadFile(filepath.Join(o.Predictions, BadName)); err != nil || !strings.Contains(string(list), "bad.jsonl:1") {
		t.Errorf("list %s, error %v", list, err)
	}
	wrong := o
	wrong.Interval = 100
	if _, err := run(t, wrong); err == nil || !strings.Contains(err.Error(), "interval 100") {
		t.Errorf("error %v for an interval of 100 %%", err)
	}
	o.Model = collect(t, &dataset.Dataset{Graphs: []*graph.Graph{c.Graphs[0], c.Graphs[1]}}, classic.DefaultWL()).model
	if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), "has no learner: mlg train makes a model that predicts") {
		t.Errorf("error %v for a model without a learner", err)
	}
}
