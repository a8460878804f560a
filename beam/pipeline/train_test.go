package pipeline

import (
	"bytes"
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

// learned is a collection with a model of a sample, and what one machine makes of it with all graphs.
type learned struct {
	*collection
	refined []byte // the model file
}

func learn(t *testing.T, d *dataset.Dataset) *learned {
	t.Helper()
	c := &learned{collection: collect(t, d, classic.DefaultWL())}
	sample := &dataset.Dataset{Graphs: d.Graphs[:50]}
	m, _, err := model.Learn(t.Context(), sample, choose.Each(classic.DefaultWL()), model.DefaultLearnOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Write(t.Context(), c.model, m); err != nil {
		t.Fatal(err)
	}
	r, err := model.NewRefiner(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(t.Context(), s, d.Graphs); err != nil {
		t.Fatal(err)
	}
	all, _, err := r.Learn(t.Context(), s, model.DefaultLearnOptions())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := model.Encode(&b, all); err != nil {
		t.Fatal(err)
	}
	c.refined = b.Bytes()
	return c
}

// options returns the options for learning from a collection.
func (c *learned) options(t *testing.T) Options {
	o := c.collection.options(t)
	o.Tiles, o.Train = "", filepath.Join(t.TempDir(), "model.mlg")
	return o
}

// A pipeline learns what one machine learns, to the bit, however the input is cut.
func TestTrain(t *testing.T) {
	c := learn(t, dataset.Scales(300, 1))
	for _, cut := range []struct{ part, batch int }{{3000, 7}, {1 << 20, 100}} {
		o := c.options(t)
		o.PartBytes, o.Batch = cut.part, cut.batch
		counts := must(t, o)
		if want := (Counts{Read: 300, Transformed: 300, Added: 300, Computed: 1}); counts != want {
			t.Errorf("counters %+v, want %+v", counts, want)
		}
		if got, err := os.ReadFile(o.Train); err != nil || !bytes.Equal(got, c.refined) {
			t.Errorf("parts of %d bytes: another model than on one machine, or none: %v", cut.part, err)
		}
	}
}

// Graphs without a target are left out and counted; so are bad ones, if that is asked for. What cannot be learned is an error.
func TestTrainErrors(t *testing.T) {
	c := learn(t, dataset.Scales(120, 1))
	all, err := os.ReadFile(c.jsonl)
	if err != nil {
		t.Fatal(err)
	}
	with := func(more string) Options {
		o := c.options(t)
		path := filepath.Join(t.TempDir(), "graphs.jsonl")
		if err := os.WriteFile(path, append(bytes.Clone(all), more...), 0o666); err != nil {
			t.Fatal(err)
		}
		o.Inputs = []string{path}
		return o
	}
	o := with("{\"nodes\":2,\"edges\":[[0,1]],\"node_labels\":[\"a\",\"a\"]}\nnot a graph\n")
	o.SkipInvalid = true
	if counts, want := must(t, o), (Counts{Read: 122, Bad: 1, Transformed: 121, Added: 120, Untargeted: 1, Computed: 1}); counts != want {
		t.Errorf("counters %+v, want %+v", counts, want)
	}
	if got, err := os.ReadFile(o.Train); err != nil || !bytes.Equal(got, c.refined) {
		t.Errorf("graphs that are left out change the model: %v", err)
	}
	if list, err := os.ReadFile(filepath.Join(filepath.Dir(o.Train), BadName)); err != nil || !strings.Contains(string(list), ":122") {
		t.Errorf("list %s, error %v", list, err)
	}
	for want, o := range map[string]Options{
		`target "round" is none of the classes`: with("{\"nodes\":2,\"edges\":[[0,1]],\"node_labels\":[\"a\",\"a\"],\"target\":\"round\"}\n"),
		":121: invalid character":               with("not a graph\n"),
	} {
		if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if _, err := os.Stat(o.Train); err == nil {
			t.Error("a model was written")
		}
	}
	few := with("")
	if err := os.WriteFile(few.Inputs[0], all[:bytes.IndexByte(all, '\n')+1], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, few); err == nil || !strings.Contains(err.Error(), "among the 1 graphs, 49 of the 50 that the model was trained on cannot be found") {
		t.Errorf("error %v for one graph", err)
	}
	bare := c.options(t)
	bare.Model = collect(t, &dataset.Dataset{Graphs: []*graph.Graph{c.Graphs[0], c.Graphs[1]}}, classic.DefaultWL()).model
	if _, err := run(t, bare); err == nil || !strings.Contains(err.Error(), "no learner") {
		t.Errorf("error %v for a model without a learner", err)
	}
}
