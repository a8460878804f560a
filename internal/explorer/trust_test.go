package explorer

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/metrics"
)

// What is said about some graphs is what their predictions alone say; about all, what is said without a choice.
func TestTrustOfSome(t *testing.T) {
	for name, d := range map[string]*Data{"classes": drugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		some, all := []int{}, []int{}
		for i := range d.IDs {
			if all = append(all, i); i%3 == 1 {
				some = append(some, i)
			}
		}
		of := func(graphs []int) (out trustAnswer) {
			body, _ := json.Marshal(partRequest{By: "random", Graphs: graphs})
			s.post("/api/v1/trust", string(body), &out)
			return out
		}
		var e evaluation
		s.get("/api/v1/evaluate", &e)
		sum := 0.0
		for _, i := range some {
			if len(e.Values) > 0 {
				sum += (e.Values[i] - e.Measured[i]) * (e.Values[i] - e.Measured[i])
			} else if e.Predicted[i] == d.Targets[i] {
				sum++
			}
		}
		want := sum / float64(len(some))
		if len(e.Values) > 0 {
			want = math.Sqrt(want)
		}
		if a := of(some); a.Graphs != len(some) || math.Abs(*a.Score-want) > 1e-12 || a.Method == "" || len(a.Likeness) != trustBins {
			t.Errorf("%s: %+v, want a score of %v", name, a, want)
		}
		var part evaluation
		body, _ := json.Marshal(evaluateSomeRequest{Graphs: some})
		if s.post("/api/v1/evaluate", string(body), &part); !slices.Equal(part.Index, some) {
			t.Errorf("%s: %d graphs, want %d", name, len(part.Index), len(some))
		}
		if d.task == regression && (math.Abs(*part.RMSE-want) > 1e-12 || *part.R2 >= 1-1e-9 || len(part.Values) != len(some)) ||
			d.task == classification && (math.Abs(*part.Accuracy-want) > 1e-12 || part.Confusion.Counts.Accuracy() != *part.Accuracy) {
			t.Errorf("%s: figures %+v, want %v", name, part, want)
		}
		if s.post("/api/v1/evaluate", `{"graphs":[]}`, &part); part.Graphs != 0 || part.RMSE != nil || part.Accuracy != nil {
			t.Errorf("%s: of nothing %+v", name, part)
		}
		var whole trustAnswer
		s.get("/api/v1/trust", &whole)
		if a := of(all); !reflect.DeepEqual(a, whole) {
			t.Errorf("%s: all graphs %+v, want %+v", name, a, whole)
		}
		if a := of(some[:leastTrusted-1]); !strings.HasPrefix(a.Note, "9 of these graphs have predictions, which are too few") {
			t.Errorf("%s: few graphs %+v", name, a)
		}
	}
}

// Figures are those of the evaluation, counts are complete, and the likeness is that of the matrix.
func TestTrust(t *testing.T) {
	for name, d := range map[string]*Data{"classes": drugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		x, err := s.server.given().session("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := x.trained(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var e evaluation
		s.get("/api/v1/evaluate", &e)
		for _, by := range splitsOf {
			var a trustAnswer
			s.get("/api/v1/trust?by="+by, &a)
			if a.Note != "" {
				if by == "cluster" {
					t.Errorf("%s by %s: %s", name, by, a.Note)
				}
				continue
			}
			count := 0
			for _, b := range a.Likeness {
				count += b.Count
			}
			if a.Graphs != len(d.IDs) || count != a.Graphs || len(a.Likeness) != trustBins || (by != "random") != strings.Contains(a.Method, "left out by "+by) {
				t.Errorf("%s by %s: %+v", name, by, a)
			}
			if name == "values" {
				held := m.plan.Held
				if by == "random" && (math.Abs(*a.Score-*e.RMSE) > 1e-12 || a.Coverage[8].Expected != 0.9 || a.Coverage[8].Found != metrics.Covered(d.value, held.Values, held.Deviations, 0.9)) {
					t.Errorf("error %v, want %v, coverage %+v", *a.Score, *e.RMSE, a.Coverage)
				}
				if *a.Usual != metrics.Deviation(d.value) || len(a.Coverage) != len(coverageLevels) || len(a.Curves) != 0 {
					t.Errorf("by %s: %+v", by, a)
				}
				continue
			}
			if by == "random" && math.Abs(*a.Score-*e.Accuracy) > 1e-12 {
				t.Errorf("%v right, want %v", *a.Score, *e.Accuracy)
			}
			if len(a.Curves) != mostCurves || len(a.Coverage) != 0 {
				t.Errorf("by %s: %d curves", by, len(a.Curves))
			}
			pairs := 0
			for _, b := range a.Reliability {
				pairs += b.Count
			}
			if pairs != a.Graphs*len(d.classes) {
				t.Errorf("reliability of %d pairs, want %d", pairs, a.Graphs*len(d.classes))
			}
		}
	}
}

// The likeness to training is the largest value of the matrix with another graph, or with one of another fold.
func TestLikenessToTraining(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	x, _ := s.server.given().session("")
	m, err := x.trained(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, _ := x.fitted(t.Context())
	folds := make([]int, len(m.known))
	for i := range folds {
		folds[i] = i % 3
	}
	for _, some := range [][]int{nil, folds} {
		got, err := m.likeness(t.Context(), f, some)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			want := math.Inf(-1)
			for j := range got {
				if v := f.gram.At(i, j); j != i && (some == nil || i%3 != j%3) && v > want {
					want = v
				}
			}
			if got[i] != want {
				t.Errorf("graph %d: %v, want %v", i, got[i], want)
			}
		}
	}
}

// Reliability is counted by tenths, over all classes.
func TestReliability(t *testing.T) {
	got := reliability([]int{0, 1, 1}, [][]float64{{0.95, 0.05}, {1, 0}, {0.35, 0.65}})
	want := []share{{0.025, 0.5, 2}, {0.35, 0, 1}, {0.65, 1, 1}, {0.975, 0.5, 2}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if math.Abs(got[i].Expected-want[i].Expected) > 1e-12 || got[i].Found != want[i].Found || got[i].Count != want[i].Count {
			t.Errorf("bin %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// A report has a section for all that is known, of classes and of values.
func TestReport(t *testing.T) {
	for name, d := range map[string]*Data{"classes": someDrugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		code, page := s.do("POST", "/api/v1/report", `{"graphs":[2,5],"why":"two <of> them","text":"A & B","notes":[{"index":5,"text":"odd"}]}`, "")
		text := string(page)
		for _, want := range []string{"<h2", "A &amp; B", "two &lt;of&gt; them", "2 selected", "Can they be trusted?", "Error against likeness", "odd", d.IDs[5]} {
			if code != 200 || !strings.Contains(text, want) {
				t.Errorf("%s: %d, no %q", name, code, want)
			}
		}
		if strings.Contains(text, "<script") || strings.Contains(text, "http://") && !strings.Contains(text, "http://www.w3.org") {
			t.Errorf("%s: the report is more than a document", name)
		}
		if strings.Contains(text, "Coverage of intervals") != (name == "values") || strings.Contains(text, "Reliability of") != (name == "classes") {
			t.Errorf("%s: charts of the other kind", name)
		}
	}
}
