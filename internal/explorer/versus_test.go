package explorer

import (
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/model"
)

// Two models are compared on the graphs that both have predicted: their errors are those of both evaluations.
func TestVersus(t *testing.T) {
	for name, d := range map[string]*Data{"classes": drugs(t), "values": numbers(t)} {
		s := newTester(t, readSpec(t), d, nil)
		var a versusAnswer
		s.post("/api/v1/versus", `{"other":"labels"}`, &a)
		var both [2]evaluation
		s.get("/api/v1/evaluate?part=kernel", &both[0])
		s.get("/api/v1/evaluate?part=kernel&kernel=labels", &both[1])
		score := func(e *evaluation) float64 {
			if d.task == regression {
				return *e.RMSE
			}
			return *e.Accuracy
		}
		if !slices.Equal(a.Index, both[0].Index) || a.Graphs != len(a.Index) || math.Abs(a.Score.First-score(&both[0])) > 1e-12 || math.Abs(a.Score.Second-score(&both[1])) > 1e-12 {
			t.Fatalf("%s: %+v, want %v and %v", name, a.Score, score(&both[0]), score(&both[1]))
		}
		if i := a.Score.Interval; i.Low > a.Score.Difference || i.High < a.Score.Difference || !a.Clear || a.Better {
			t.Errorf("%s: interval %+v, clear %v, better %v", name, a.Score, a.Clear, a.Better)
		}
		closer := 0
		for k := range a.Index {
			for m, e := range both {
				want := 0.0
				if d.task == regression {
					if want = e.Values[k] - e.Measured[k]; a.Values[m][k] != e.Values[k] {
						t.Fatalf("%s: predicted %v, want %v", name, a.Values[m][k], e.Values[k])
					}
				} else if e.Predicted[k] != d.Targets[a.Index[k]] {
					want = 1
				}
				if a.Errors[m][k] != want {
					t.Fatalf("%s: error %v of graph %d by model %d, want %v", name, a.Errors[m][k], a.Index[k], m, want)
				}
			}
			if math.Abs(a.Errors[1][k]) < math.Abs(a.Errors[0][k]) {
				closer++
			}
		}
		if a.Closer != closer {
			t.Errorf("%s: closer for %d, want %d", name, a.Closer, closer)
		}
		// Of other data the same names count, with the same target.
		var made deriveAnswer
		s.post("/api/v1/derive", `{"name":"part","graphs":[0,1,2,3,4,5,6,7,8,9,20,30,40,50,60,70]}`, &made)
		s.post("/api/v1/versus", `{"against":"`+made.Source+`"}`, &a)
		if a.Graphs != 16 || !slices.Equal(a.Index, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 30, 40, 50, 60, 70}) {
			t.Errorf("%s: of a part %v", name, a.Index)
		}
		if code, body := s.do("POST", "/api/v1/versus", `{"against":"elsewhere"}`, ""); code != 404 {
			t.Errorf("%s: %d %s", name, code, body)
		}
		if code, body := s.do("POST", "/api/v1/versus", `{"other":"wl h=x"}`, ""); code != 400 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
}

// A name that two graphs have says nothing, nor does a graph with another target.
func TestSameGraphs(t *testing.T) {
	first := &Data{Model: withIDs("a", "b", "c", "a", "d")}
	second := &Data{Model: withIDs("c", "b", "a", "d", "d")}
	l := [2]*left{{graphs: []int{0, 1, 2, 4}}, {graphs: []int{0, 1, 2, 3}}}
	if got := sameGraphs(first, second, l); !slices.Equal(got, []int{-1, 1, 0, -1}) {
		t.Errorf("%v", got)
	}
	if got := sameGraphs(first, first, [2]*left{{graphs: []int{0, 2, 4}}, {graphs: []int{2, 3, 4}}}); !slices.Equal(got, []int{-1, 0, 2}) {
		t.Errorf("of the same data %v", got)
	}
}

func withIDs(ids ...string) *model.Model { return &model.Model{IDs: ids} }
