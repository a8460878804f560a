package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// family returns two candidates: Weisfeiler-Lehman kernels and a small MLG kernel.
func family() []Candidate {
	var w Candidate
	w.Name = "wl"
	for _, h := range []int{1, 3} {
		k := baseline.DefaultWL()
		k.H = h
		w.Settings = append(w.Settings, Setting{k.String(), k})
	}
	o := mlg.DefaultOptions()
	o.Samples, o.Rank = 40, 6
	return []Candidate{w, {Name: "mlg", Settings: []Setting{MLGSetting(o)}}}
}

// TestResume: a run that was interrupted and goes on gives what an uninterrupted one gives,
// and does not compute anything twice.
func TestResume(t *testing.T) {
	ds := dataset.Scales(40, 1)
	for _, fitting := range []Fitting{Transductive, Inductive} {
		t.Run(fitting.String(), func(t *testing.T) {
			o := quick(4, 2)
			o.Fitting = fitting
			o.Combinations = everyCombination()
			whole, err := Run(t.Context(), ds, family(), o)
			if err != nil {
				t.Fatal(err)
			}
			o.Folder = filepath.Join(t.TempDir(), "run")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stopped := o
			stopped.Progress = func(done, total int) {
				if done >= total/2 {
					cancel()
				}
			}
			if _, err := Run(ctx, ds, family(), stopped); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want context.Canceled", err)
			}
			files, _ := filepath.Glob(filepath.Join(o.Folder, "part-*.json"))
			if len(files) == 0 {
				t.Fatal("nothing was kept")
			}
			var steps []int
			o.Progress = func(done, total int) { steps = append(steps, done) }
			resumed, err := Run(t.Context(), ds, family(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(resumed, whole) {
				t.Error("the resumed run gives something else")
			}
			if !slices.IsSorted(steps) || steps[len(steps)-1] != (4+4)*2*4 { // 4 settings, 4 learned combinations
				t.Errorf("progress %v, want increasing up to 64", steps)
			}
			// All is there now: kernels are not needed any more.
			broken := family()
			for c := range broken {
				for s := range broken[c].Settings {
					broken[c].Settings[s].Kernel = unusable{broken[c].Settings[s].Kernel}
				}
			}
			again, err := Run(t.Context(), ds, broken, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, whole) {
				t.Error("stored results give something else")
			}
			// Other options or data do not take them.
			o.C = decades(-1, 1)
			if _, err := Run(t.Context(), ds, broken, o); err == nil {
				t.Error("results of another grid were taken")
			}
		})
	}
}

// TestStoreTellsSamplesApart: results from one sample of the training graphs are not taken for
// those from another.
func TestStoreTellsSamplesApart(t *testing.T) {
	ds := dataset.Scales(60, 4)
	run := func(folder string, examples int) *Report {
		o := quick(4, 1)
		o.ForCandidates()
		o.Folder, o.Examples = folder, examples
		r, err := Run(t.Context(), ds, family(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	folder := t.TempDir()
	all := run(folder, 99)
	few := run(folder, 12)
	if !reflect.DeepEqual(few, run("", 12)) {
		t.Error("results for other graphs were taken from the folder")
	}
	if reflect.DeepEqual(few, all) {
		t.Error("the sample makes no difference: the test shows nothing")
	}
}

// TestDamagedStore: files that are cut off or belong to something else are computed anew.
func TestDamagedStore(t *testing.T) {
	ds := dataset.Scales(30, 1)
	o := quick(3, 2)
	o.Folder = t.TempDir()
	whole, err := Run(t.Context(), ds, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(o.Folder, "*"))
	if len(files) != 2 { // one setting, two repeats
		t.Fatalf("files %v, want 2", files)
	}
	a, _ := os.ReadFile(files[0])
	if err := os.WriteFile(files[1], a, 0o600); err != nil { // of another repeat
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], a[:len(a)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), ds, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, whole) {
		t.Error("damaged files change the results")
	}
}

type unusable struct{ mlg.Kernel }

func (unusable) Fit(context.Context, []*graph.Graph) (mlg.Fitted, error) {
	return nil, errors.New("this kernel must not be fitted")
}

func TestParse(t *testing.T) {
	if x, err := ParseTask("regression"); err != nil || x != Regression {
		t.Error(x, err)
	}
	if x, err := ParseScore("balanced"); err != nil || x != BalancedAccuracy {
		t.Error(x, err)
	}
	if x, err := ParseLearner("ridge"); err != nil || x != Ridge {
		t.Error(x, err)
	}
	if x, err := ParseSelection("reported"); err != nil || x != OnReported {
		t.Error(x, err)
	}
	if x, err := ParseInner("loo"); err != nil || x != LeaveOneOut {
		t.Error(x, err)
	}
	if x, err := ParseFitting("inductive"); err != nil || x != Inductive {
		t.Error(x, err)
	}
	for _, c := range everyCombination() {
		if x, err := ParseCombination(c.String()); err != nil || x != c {
			t.Error(x, err)
		}
	}
	if _, err := ParseInner("none"); err == nil || !strings.Contains(err.Error(), `inner scheme "none", want one of`) {
		t.Error(err)
	}
}

// TestWorkers: the same results for any number of workers.
func TestWorkers(t *testing.T) {
	ds := dataset.Scales(40, 1)
	var first *Report
	for _, workers := range []int{1, 5} {
		o := quick(4, 2)
		o.Workers = workers
		o.Combinations = everyCombination()
		r, err := Run(t.Context(), ds, family(), o)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(r, first) {
			t.Errorf("%d workers give something else than 1", workers)
		}
	}
}

// TestBuiltins: small evaluations of the built-in data. On scales the groups are told apart
// by Weisfeiler-Lehman colours of 3 iterations, and label histograms know nothing.
func TestBuiltins(t *testing.T) {
	o := quick(5, 2)
	r, err := Run(t.Context(), dataset.Scales(100, 1), family(), o)
	if err != nil {
		t.Fatal(err)
	}
	check := func(r *Report, want map[string]float64) {
		t.Helper()
		for name, accuracy := range want {
			near(t, r.Dataset+": "+name, row(t, r, name).Accuracy, accuracy, 1/float64(r.Graphs))
		}
	}
	check(r, map[string]float64{"majority class": 0.5, "labels": 0.455, "wl": 1, "mlg": 1})
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o.Combinations = []Combination{BestSingle, MeanAll}
	if r, err = Run(t.Context(), ds, family(), o); err != nil {
		t.Fatal(err)
	}
	check(r, map[string]float64{"majority class": 0.1026, "labels": 0.7179, "wl": 0.9637, "mlg": 0.8782, "best single": 0.9637, "mean of all": 0.9295})
}

// TestScales: the groups of builtin:scales have the same labels and small neighbourhoods and
// differ at larger scales, which label histograms and shallow Weisfeiler-Lehman kernels do not see.
func TestScales(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:scales", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	shallow := Candidate{Name: "wl"}
	for h := range 3 {
		k := wl(dataset.Info(ds), baseline.Subtree, h)
		shallow.Settings = append(shallow.Settings, Setting{k.String(), k})
	}
	o := DefaultOptions()
	o.Repeats = 2
	r, err := Run(t.Context(), ds, []Candidate{{Name: "mlg", Settings: []Setting{MLGSetting(mlg.DefaultOptions())}}, shallow}, o)
	if err != nil {
		t.Fatal(err)
	}
	labels, shallowly, mlg := row(t, r, "labels").Accuracy, row(t, r, "wl").Accuracy, row(t, r, "mlg").Accuracy
	if math.Abs(labels-0.5) > 0.03 || mlg < 0.9 || shallowly > mlg-0.15 {
		t.Errorf("label histograms %v, want 0.5 ± 0.03; Weisfeiler-Lehman up to 2 iterations %v, mlg %v, want 0.9 and a lead of 0.15", labels, shallowly, mlg)
	}
}

// TestDrugs: what train does by default, evaluated.
func TestDrugs(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	candidates, err := DefaultCandidates(dataset.Info(ds))
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Repeats = 1
	o.ForCandidates()
	r, err := Run(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "weighted", row(t, r, "weighted").Accuracy, 228.0/234, 1.0/234)
	if a, b := row(t, r, "weighted").Accuracy, row(t, r, "labels").Accuracy; a < 0.9 || a < b {
		t.Errorf("accuracy %v, of label histograms %v", a, b)
	}
}

func TestRegression(t *testing.T) {
	// The target is the number of vertices, which the kernel sees.
	ds := retarget(dataset.Scales(60, 2), func(i int) string { return "" })
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(strconv.Itoa(i), strconv.FormatFloat(float64(g.N())+0.25, 'g', -1, 64))
	}
	for _, learner := range []Learner{SVM, Ridge} {
		for _, inner := range []Inner{KFold, LeaveOneOut} {
			o := quick(5, 2)
			o.Learner, o.Inner = learner, inner
			o.C = decades(-1, 3)
			o.Combinations = everyCombination()
			r, err := Run(t.Context(), ds, []Candidate{{Name: "spy", Settings: []Setting{{"", &spy{scale: 6}}}}}, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Classes != nil {
				t.Fatal("values were taken for classes")
			}
			base, spy := row(t, r, "mean value"), row(t, r, "spy")
			if spy.R2 < 0.95 || base.R2 > 0 {
				t.Errorf("%s, %s: R² = %v of a kernel on the target itself, %v of the mean", learner, inner, spy.R2, base.R2)
			}
			for _, write := range []func(*bytes.Buffer) error{func(b *bytes.Buffer) error { return r.WriteText(b) }, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) }, func(b *bytes.Buffer) error { return r.WriteJSON(b) }} {
				if err := write(&bytes.Buffer{}); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestMUTAG is a small nested run on real data.
func TestMUTAG(t *testing.T) {
	ds := real(t, "MUTAG")
	o := DefaultOptions()
	o.Repeats, o.Inner = 1, HoldOut
	candidates, err := DefaultCandidates(dataset.Info(ds))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), ds, candidates[:1], o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "majority class", row(t, r, "majority class").Accuracy, 125.0/188, 1e-12)
	if a, b := row(t, r, "mlg paper").Accuracy, row(t, r, "labels").Accuracy; a < 0.82 || a < b {
		t.Errorf("accuracy %v of the kernel of the paper, %v of label histograms", a, b)
	}
	s := PaperTable2(ds.Graphs)
	near(t, "mean edges", s.MeanEdges, 39.59, 0.01)
	near(t, "mean vertices", s.MeanVertices, 17.93, 0.01)
}

func TestErrors(t *testing.T) {
	ds := dataset.Scales(20, 1)
	one := func(k mlg.Kernel) []Candidate { return []Candidate{{Name: "k", Settings: []Setting{{"", k}}}} }
	raw := baseline.DefaultWL()
	raw.Normalize = false
	for _, c := range []struct {
		name   string
		ds     *dataset.Dataset
		cands  []Candidate
		change func(*Options)
		want   string
	}{
		{"no graphs", &dataset.Dataset{}, nil, nil, "no graphs"},
		{"no target", retarget(ds, func(i int) string { return []string{"a", ""}[i/19] }), nil, nil, "graph 19"},
		{"one class", retarget(ds, func(int) string { return "a" }), nil, nil, "two classes"},
		{"not a number", ds, nil, func(o *Options) { o.Task = Regression }, "want a finite number"},
		{"two folds", ds, nil, func(o *Options) { o.Folds = 2 }, "at least 3"},
		{"reported values", retarget(ds, func(i int) string { return fmt.Sprint(i, ".5")[:1] + ".5" }), nil, func(o *Options) { o.Selection = OnReported; o.Task = Regression }, "classification only"},
		{"same name", ds, append(one(raw), one(raw)...), nil, "name of its own"},
		{"reserved name", ds, []Candidate{{Name: "majority class"}}, nil, "name of its own"},
		{"no settings", ds, []Candidate{{Name: "x"}}, nil, "no settings"},
		{"not normalised", ds, one(raw), func(o *Options) { o.Combinations = []Combination{MeanAll} }, "only normalised kernels"},
		{"not normalised, inductive", ds, one(raw), func(o *Options) { o.Combinations = []Combination{MeanAll}; o.Fitting = Inductive }, "only normalised kernels"},
		{"nothing to combine", ds, nil, func(o *Options) { o.Combinations = everyCombination() }, "no candidates to combine"},
		{"kernel", ds, one(unusable{raw}), nil, "must not be fitted"},
		{"splits", ds, nil, func(o *Options) { o.Splits = &Splits{Folds: 3, Fold: [][]int{{0, 1, 2}}} }, "want 20"},
		{"grid", ds, nil, func(o *Options) { o.C = []float64{1, 1} }, "C = [1 1]"},
		{"ridge", ds, nil, func(o *Options) { o.Ridge = nil }, "Ridge is empty"},
		{"folds", ds, nil, func(o *Options) { o.Folds = 1 }, "Folds = 1"},
		{"repeats", ds, nil, func(o *Options) { o.Repeats = 0 }, "Repeats = 0"},
		{"workers", ds, nil, func(o *Options) { o.Workers = 0 }, "Workers = 0"},
		{"confidence", ds, nil, func(o *Options) { o.Confidence = math.NaN() }, "Confidence = NaN"},
		{"inner folds", ds, nil, func(o *Options) { o.InnerFolds = 0 }, "InnerFolds = 0"},
		{"inner", ds, nil, func(o *Options) { o.Inner = 7 }, "Inner = 7"},
		{"combination", ds, nil, func(o *Options) { o.Combinations = []Combination{9} }, "Combinations has 9"},
		{"combination reported", ds, nil, func(o *Options) { o.Combinations = everyCombination(); o.Selection = OnReported }, "want Selection = Nested"},
	} {
		o := quick(4, 1)
		if c.change != nil {
			c.change(&o)
		}
		if _, err := Run(t.Context(), c.ds, c.cands, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestReport: the JSON has the fields that others read, the table keeps to 80 columns.
func TestReport(t *testing.T) {
	ds := dataset.Scales(40, 1)
	ds.Graphs = append(ds.Graphs, ds.Graphs[0].Permute(reversed(ds.Graphs[0].N()))) // a twin
	o := quick(4, 2)
	var tick time.Duration
	o.Workers = 1
	o.Clock = func() time.Duration { tick += time.Millisecond; return tick }
	cands := family()
	cands[0].Published = &Published{Mean: 50, Deviation: 1, Source: "somewhere"}
	r, err := Run(t.Context(), ds, cands, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Duplicates.Graphs < 2 || r.Duplicates.Groups < 1 {
		t.Errorf("duplicates %+v, want the twins", r.Duplicates)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Dataset  string
		Protocol map[string]any
		Results  []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Dataset != ds.Name || got.Protocol["folds"] != 4.0 || len(got.Results) != 4 {
		t.Errorf("JSON %s", b.String())
	}
	for _, x := range got.Results[1:] {
		for _, field := range []string{"name", "parameters", "accuracy_mean", "accuracy_std", "repeats", "seconds", "auc_mean", "balanced_accuracy_mean", "confidence_interval", "classes"} {
			if _, ok := x[field]; !ok {
				t.Errorf("result %v has no %s", x["name"], field)
			}
		}
		if !(x["seconds"].(float64) > 0) {
			t.Errorf("%v took %v seconds", x["name"], x["seconds"])
		}
	}
	b.Reset()
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("line of %d columns: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "50.00±1.00") {
		t.Errorf("no published figure:\n%s", b.String())
	}
	b.Reset()
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "| kernel | accuracy |") {
		t.Errorf("Markdown:\n%s", b.String())
	}
}

func reversed(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = n - 1 - i
	}
	return p
}

// TestAdd: two reports on the same splits become one, whose tests are of all rows.
func TestAdd(t *testing.T) {
	ds := dataset.Scales(24, 1)
	o := quick(3, 2)
	one := func(o Options, candidates ...Candidate) *Report {
		r, err := Run(t.Context(), ds, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := single("a", &spy{scale: 1}), single("b", &spy{scale: 20})
	want := one(o, a, b)
	got := one(o, a)
	if err := got.Add(one(o, b)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	ridge := o
	ridge.Learner = Ridge
	other := one(ridge, a)
	if err := got.Add(other); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != 4 || !reflect.DeepEqual(got.Results[2], other.Results[2]) || !reflect.DeepEqual(got.Results[3], want.Results[3]) {
		t.Errorf("rows %v, want the last report's for %q", got.Results, "a")
	}
	o.Seed++
	if err := got.Add(one(o, b)); err == nil {
		t.Error("a report on other splits: no error")
	}
}
