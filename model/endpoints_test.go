package model

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// threeEndpoints returns drugs with a class, a value that a third of them lack, and a value that half of them have.
func threeEndpoints(t testing.TB) (*dataset.Dataset, []choose.Endpoint) {
	d := drugs(t)
	d = d.Select(kernel.UpTo(60))
	endpoint := func(name string, target func(i int) string) choose.Endpoint {
		e := choose.Endpoint{Name: name}
		for i := range d.Graphs {
			if target(i) != "" {
				e.At = append(e.At, i)
			}
		}
		if e.Data = d.Select(e.At); len(e.At) == len(d.Graphs) {
			e.At = nil
		}
		for k, g := range e.Data.Graphs {
			at := k
			if e.At != nil {
				at = e.At[k]
			}
			e.Data.Graphs[k] = g.With(g.ID(), target(at))
		}
		return e
	}
	rings := func(i int) int { return d.Graphs[i].M() - d.Graphs[i].N() + 1 }
	return d, []choose.Endpoint{
		endpoint("many rings", func(i int) string { return fmt.Sprint(rings(i) > 3) }),
		endpoint("size", func(i int) string {
			if i%3 == 1 {
				return ""
			}
			return fmt.Sprint(float64(d.Graphs[i].N()) / 4)
		}),
		endpoint("rings", func(i int) string {
			if i%2 == 1 {
				return ""
			}
			return fmt.Sprint(rings(i))
		}),
	}
}

func someCandidates() []choose.Candidate {
	wl := classic.DefaultWL()
	wl.H = 2
	return choose.Each(wl, classic.DefaultHistogram(), kernel.Product(wl, classic.DefaultShortestPath()))
}

func endpointOptions(candidates []choose.Candidate) LearnOptions {
	o := DefaultLearnOptions()
	if len(candidates) > 1 {
		o.ForCandidates()
	}
	o.Folds, o.Memory = 4, 1<<30
	o.Task = choose.AutoTask
	o.Reader = reader()
	return o
}

func learnThree(t testing.TB, candidates []choose.Candidate) (*dataset.Dataset, *Model, []*choose.Plan) {
	t.Helper()
	d, endpoints := threeEndpoints(t)
	for i := range endpoints {
		task := choose.Regression
		if i == 0 {
			task = choose.Classification
		}
		targets, err := choose.ReadTargets(endpoints[i].Data, task)
		if err != nil {
			t.Fatal(err)
		}
		endpoints[i].Targets = targets
	}
	m, plans, err := LearnAll(t.Context(), d, endpoints, candidates, endpointOptions(candidates))
	if err != nil {
		t.Fatal(err)
	}
	return d, m, plans
}

// With one kernel, an endpoint among others is what it is alone, to the bit: on its own graphs, by a kernel that is
// fitted to the graphs of all.
func TestEndpointsOneKernel(t *testing.T) {
	one := someCandidates()[:1]
	d, m, plans := learnThree(t, one)
	_, endpoints := threeEndpoints(t)
	fresh := drugs(t).Graphs[60:70]
	together, err := m.PredictAll(t.Context(), fresh, DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range m.Endpoints() {
		o := endpointOptions(one)
		o.Task = []choose.Task{choose.Classification, choose.Regression, choose.Regression}[i]
		var alone *Model
		err := choose.ChooseAll(t.Context(), choose.Untargeted(d), endpoints[i:i+1], one, o.Options, func(_ int, p *choose.Plan) (err error) {
			if !reflect.DeepEqual(p.Held, plans[i].Held) || p.Parameter != plans[i].Parameter || !reflect.DeepEqual(p.Estimates(), plans[i].Estimates()) {
				t.Errorf("endpoint %d: other predictions of held-out graphs among others than alone", i)
			}
			alone, err = learnEndpoint(t.Context(), d, endpoints[i], p, o)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(alone.Learner, e.Learner) || !slices.Equal(alone.Targets, e.Targets) || !slices.Equal(alone.Nearest, e.Nearest) {
			t.Errorf("endpoint %d: learner\n%+v\nwant\n%+v", i, e.Learner, alone.Learner)
		}
		by, err := e.Predict(t.Context(), fresh, DefaultPredictOptions())
		if err != nil || !reflect.DeepEqual(by, together[i]) {
			t.Errorf("endpoint %d: %v alone, %v with the others, error %v", i, by, together[i], err)
		}
		for k, p := range by {
			for _, n := range p.Nearest {
				if e.Targets[n.Index] == "" || n.Target != e.Targets[n.Index] {
					t.Errorf("endpoint %d, graph %d: %s is near, which has no value", i, k, n.ID)
				}
			}
		}
	}
}

// All endpoints predict the same bits before saving and after reading, have the same features, and the same bytes when
// written again from any of them.
func TestEndpointsSaved(t *testing.T) {
	_, m, _ := learnThree(t, someCandidates())
	data := encoded(t, m)
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	fresh := drugs(t).Graphs[60:80]
	for i, e := range m.Endpoints() {
		x := got.Endpoints()[i]
		if x.Target != e.Target || x.Kernel.String() != e.Kernel.String() || !reflect.DeepEqual(x.Learner, e.Learner) ||
			!slices.Equal(x.Classes, e.Classes) || !reflect.DeepEqual(x.Created, e.Created) || !reflect.DeepEqual(x.Estimates, e.Estimates) {
			t.Errorf("endpoint %d: %+v, want %+v", i, x, e)
		}
		same(t, e, x, fresh)
		if !bytes.Equal(encoded(t, x), data) {
			t.Errorf("written from endpoint %d, the bytes differ", i)
		}
		for k, g := range x.Graphs {
			if g.Target() != e.Targets[k] || g.ID() != e.IDs[k] {
				t.Errorf("endpoint %d, graph %d: %s, target %q, want %s, %q", i, k, g.ID(), g.Target(), e.IDs[k], e.Targets[k])
			}
		}
		a, err := m.Kernel.Transform(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.Predict(t.Context(), fresh, DefaultPredictOptions())
		if err != nil {
			t.Fatal(err)
		}
		if by, err := x.PredictFeatures(t.Context(), fresh, a, DefaultPredictOptions()); err != nil || !reflect.DeepEqual(by, want) {
			t.Errorf("endpoint %d by the features of the first: %v, want %v, error %v", i, by, want, err)
		}
	}
	for name, want := range map[string]string{"rings": "rings", "Size": "size", " MANY RINGS": "many rings"} {
		if e, err := got.Endpoint(name); err != nil || e.Target != want {
			t.Errorf("endpoint %q: %v, error %v", name, e, err)
		}
	}
	if _, err := got.Endpoint("weight"); err == nil || err.Error() != `the model has no target "weight", want one of many rings, size, rings` {
		t.Errorf("error %v", err)
	}
}

// Endpoints of a file that do not belong together.
func TestWrongEndpoints(t *testing.T) {
	_, m, _ := learnThree(t, someCandidates())
	valid := split(t, encoded(t, m))
	for _, c := range []struct {
		section string
		change  func(b []byte) []byte // nil: the section is left out
		want    string
	}{
		{"endpoint/1/targets", nil, "section endpoint/1/targets is missing"},
		{"endpoint/0/classes", nil, "section endpoint/0/classes is missing"},
		{"endpoint/1/learner", func(b []byte) []byte { return bytes.Replace(b, []byte(`"Support":[0,`), []byte(`"Support":[60,`), 1) }, "endpoint 1 (size): learner: "},
		{"endpoint/2/nearest", func(b []byte) []byte { return b[:len(b)-8] }, "endpoint 2 (rings): 100 percentiles"},
		{"meta", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"target":"rings"`), []byte(`"target":"size"`), 1)
		}, "endpoint 2 (size): two endpoints of this name"},
		{"meta", func(b []byte) []byte {
			at := bytes.LastIndex(b, []byte(`{"target":"rings"`))
			return append(b[:at-1:at-1], `,{"kernel":"graphlet"}]}`...)
		}, "section map: "},
	} {
		var parts []file.Section
		for _, s := range valid {
			if s.Name == c.section {
				if c.change == nil {
					continue
				}
				changed := c.change(slices.Clone(s.Data))
				if bytes.Equal(changed, s.Data) {
					t.Fatalf("%s is not changed", c.section)
				}
				s.Data = changed
			}
			parts = append(parts, s)
		}
		if _, err := Decode(join(t, parts)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.section, err, c.want)
		}
	}
}
