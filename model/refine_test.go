package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// manyGraphs returns graphs whose value depends on their shape, with noise, or whether it is large.
func manyGraphs(n int, classes bool) *dataset.Dataset {
	r := graphtest.Rand(11)
	d := &dataset.Dataset{Name: "many"}
	for i := range n {
		g := graphtest.Random(r, graphtest.Options{N: 4 + r.IntN(8), Edge: 0.2 + 0.3*r.Float64(), Labels: 3})
		value := float64(g.M())/float64(g.N()) + 0.1*r.NormFloat64()
		target := fmt.Sprint(value)
		if classes {
			target = map[bool]string{false: "thin", true: "dense"}[value > 0.9]
		}
		d.Graphs = append(d.Graphs, g.With(fmt.Sprint("g", i), target))
	}
	return d
}

// A model that is refined is the same to the bit however graphs are dealt and whatever machine adds them up, before and
// after sums are files. It predicts graphs that it has not seen better than the model of the sample, and says how well.
func TestRefine(t *testing.T) {
	for _, classes := range []bool{false, true} {
		d := manyGraphs(900, classes)
		unseen := d.Graphs[700:]
		d.Graphs = d.Graphs[:700]
		sample := &dataset.Dataset{Graphs: d.Graphs[:60]}
		o := DefaultLearnOptions()
		m, _, err := Learn(t.Context(), sample, candidates(t, false)[:1], o)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := Encode(&file, m); err != nil {
			t.Fatal(err)
		}
		if m, err = Decode(file.Bytes()); err != nil {
			t.Fatal(err)
		}
		r, err := NewRefiner(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		refined := func(shards int) (*Model, *choose.Plan) {
			total, err := r.Sums(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i := range shards {
				s, err := r.Sums(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var some []*graph.Graph
				for k := i; k < len(d.Graphs); k += shards {
					some = append(some, d.Graphs[k])
				}
				some = append(some, unseen[i].With("no target", ""))
				for part := range slices.Chunk(some, 97) {
					if err := r.Add(t.Context(), s, part); err != nil {
						t.Fatal(err)
					}
				}
				var b bytes.Buffer
				s.Shard, s.Shards = i+1, shards
				if err := s.encode(&b); err != nil {
					t.Fatal(err)
				}
				read, err := decodeSums(b.Bytes())
				if err != nil || !reflect.DeepEqual(read.Told, s.Told) {
					t.Fatal(read, err)
				}
				if err := total.Join(read); err != nil {
					t.Fatal(err)
				}
			}
			if total.Examples() != len(d.Graphs) || total.Untargeted != shards {
				t.Fatalf("sums of %d graphs, %d without a target", total.Examples(), total.Untargeted)
			}
			out, p, err := r.Learn(t.Context(), total, o)
			if err != nil {
				t.Fatal(err)
			}
			return out, p
		}
		one, p := refined(1)
		three, _ := refined(3)
		var a, b bytes.Buffer
		if err := Encode(&a, one); err != nil {
			t.Fatal(err)
		}
		if err := Encode(&b, three); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("three machines make another model than one")
		}
		roundTrip(t, one, unseen[:10])
		if again, err := Decode(a.Bytes()); err != nil || again.Created["learned from"] != "700" || len(again.Endpoints()) != 1 {
			t.Errorf("the file has %v, error %v", again, err)
		}
		if one.Created["learned from"] != "700" || one.Estimates[0].Value != p.Estimate.Value || !strings.Contains(one.Estimates[0].Method, "700 graphs") {
			t.Errorf("created %v, estimates %v", one.Created, one.Estimates)
		}
		loss := func(m *Model) (loss float64) {
			said, err := m.Predict(t.Context(), unseen, DefaultPredictOptions())
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range said {
				if classes {
					if p.Class != unseen[i].Target() {
						loss++
					}
					continue
				}
				var want float64
				fmt.Sscan(unseen[i].Target(), &want)
				loss += (p.Value - want) * (p.Value - want)
			}
			return loss / float64(len(unseen))
		}
		before, after := loss(m), loss(one)
		if after > 0.95*before {
			t.Errorf("classes %v: the loss is %.4f, and %.4f by the sample", classes, after, before)
		}
		if e := p.Estimate; !classes && (e.Value > 1.3*math.Sqrt(after) || e.Value < 0.7*math.Sqrt(after)) {
			t.Errorf("estimate %v, and the error of graphs that were not seen is %.3f", e, math.Sqrt(after))
		}
	}
}

// A model that is refined with the graphs that it was trained on is as good as before, with the ridge that suits it. Values of
// the kernel of compositions are nearly equal for all graphs.
func TestRefineAgain(t *testing.T) {
	d := manyGraphs(400, false)
	unseen := d.Graphs[250:]
	d.Graphs = d.Graphs[:250]
	for _, k := range []kernel.Kernel{small(), classic.DefaultComposition(), kernel.Mean(classic.DefaultComposition(), classic.DefaultWL())} {
		o := DefaultLearnOptions()
		m, _, err := Learn(t.Context(), d, choose.Each(k), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewRefiner(t.Context(), m)
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
		again, _, err := r.Learn(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		var rmse [2]float64
		for at, m := range []*Model{m, again} {
			said, err := m.Predict(t.Context(), unseen, DefaultPredictOptions())
			if err != nil {
				t.Fatal(err)
			}
			inside := 0
			for i, p := range said {
				var v float64
				fmt.Sscan(unseen[i].Target(), &v)
				rmse[at] = math.Hypot(rmse[at], (p.Value-v)/math.Sqrt(float64(len(unseen))))
				if p.Interval.Low <= v && v <= p.Interval.High {
					inside++
				}
			}
			if share := float64(inside) / float64(len(unseen)); share < 0.8 || share > 0.98 {
				t.Errorf("%v: %.3f of the graphs that were not seen are in intervals of 90 %%", k, share)
			}
		}
		if rmse[1] > 1.05*rmse[0] {
			t.Errorf("%v: rmse %.4f after %.4f", k, rmse[1], rmse[0])
		}
	}
}

// What cannot be refined is an error that says why.
func TestRefineErrors(t *testing.T) {
	d := manyGraphs(80, true)
	o := DefaultLearnOptions()
	m, _, err := Learn(t.Context(), &dataset.Dataset{Graphs: d.Graphs[:60]}, candidates(t, false)[:1], o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRefiner(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Sums(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := func(what string, err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error %v, want one with %q", what, err, text)
		}
	}
	want("a new class", r.Add(t.Context(), s, []*graph.Graph{d.Graphs[0].With("x7", "round")}), `graph x7: target "round" is none of the classes of the model: dense, thin`)
	if err := r.Add(t.Context(), s, d.Graphs[:20]); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Learn(t.Context(), s, o)
	want("few graphs", err, "among the 20 graphs, 40 of the 60 that the model was trained on cannot be found, first g20 with target ")
	// Graphs of the sample with other targets, and others in their place, are missing. In another order they are there.
	learned := func(graphs []*graph.Graph) error {
		t.Helper()
		total, err := r.Sums(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for shard := range slices.Chunk(graphs, 25) {
			s, err := r.Sums(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(r.Add(t.Context(), s, shard), total.Join(s)); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err = r.Learn(t.Context(), total, o)
		return err
	}
	turned := slices.Clone(d.Graphs)
	slices.Reverse(turned)
	if err := learned(turned); err != nil {
		t.Error(err)
	}
	want("another sample", learned(slices.Delete(slices.Clone(turned), 79-7, 80-7)), "among the 79 graphs, 1 of the 60 that the model was trained on cannot be found, first g7 with target ")
	k := slices.IndexFunc(turned, func(g *graph.Graph) bool { return g.ID() == "g9" })
	turned[k] = turned[k].With("g9", map[string]string{"thin": "dense", "dense": "thin"}[turned[k].Target()])
	want("another target", learned(turned), "among the 80 graphs, 1 of the 60 that the model was trained on cannot be found, first g9 with target ")
	less := *s
	less.Seen = s.Seen[1:]
	var short bytes.Buffer
	if err := less.encode(&short); err != nil {
		t.Fatal(err)
	}
	_, err = decodeSums(short.Bytes())
	want("bits", err, "7 bytes for what is seen of 60 training graphs")
	want("bits of others", s.See([]byte{0}), "of 8 training graphs whether they are there, want 64")
	other := *s
	other.Model = "another"
	want("another model", s.Join(&other), "another model")
	bare := *m
	bare.Learner = learn.Learner{}
	_, err = NewRefiner(t.Context(), &bare)
	want("no learner", err, "no learner")
	several := *m
	several.endpoints = []*Model{&several, &bare}
	_, err = NewRefiner(t.Context(), &several)
	want("several endpoints", err, "one of 2 targets")
	o.ForSVM()
	machine, _, err := Learn(t.Context(), &dataset.Dataset{Graphs: d.Graphs[:60]}, candidates(t, false)[:1], o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewRefiner(t.Context(), machine)
	want("a machine", err, "want "+learn.KernelRidge.String())

	var b bytes.Buffer
	if err := s.encode(&b); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < b.Len(); i += 1 + b.Len()/997 {
		data := bytes.Clone(b.Bytes())
		data[i] ^= 0x10
		if _, err := decodeSums(data); err == nil {
			t.Fatalf("no error for a flipped bit in byte %d", i)
		}
		if _, err := decodeSums(b.Bytes()[:i]); err == nil {
			t.Fatalf("no error for %d bytes", i)
		}
	}
}
