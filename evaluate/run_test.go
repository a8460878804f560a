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
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/metrics"
	"github.com/mlgkernel/mlg/work"
)

// family returns two candidates: Weisfeiler-Lehman kernels and a small MLG kernel.
func family() []choose.Candidate {
	o := mlg.Default()
	o.Bonds, o.Samples, o.Rank = mlg.No, 40, 6
	return []choose.Candidate{settings("wl", wl(1), wl(3)), settings("mlg", o)}
}

// TestResume: a run that was interrupted and goes on gives what an uninterrupted one gives,
// and does not compute anything twice.
func TestResume(t *testing.T) {
	ds := dataset.Scales(40, 1)
	broken := false
	candidates := family()
	for c := range candidates {
		for s := range candidates[c].Settings {
			candidates[c].Settings[s].Kernel = breakable{candidates[c].Settings[s].Kernel, &broken}
		}
	}
	for _, inductive := range []bool{false, true} {
		t.Run(fmt.Sprint("inductive ", inductive), func(t *testing.T) {
			broken = false
			o := quick(4, 2)
			o.Inductive = inductive
			o.Combinations = everyCombination()
			whole, err := Run(t.Context(), ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Folder = filepath.Join(t.TempDir(), "run")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stopped := work.With(ctx, work.Options{Progress: func(p work.Progress) {
				if p.Stage == "evaluate" && p.Done >= p.Total/2 {
					cancel()
				}
			}})
			if _, err := Run(stopped, ds, candidates, o); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v, want context.Canceled", err)
			}
			files, _ := filepath.Glob(filepath.Join(o.Folder, "folds-*.bin"))
			if len(files) == 0 {
				t.Fatal("nothing was kept")
			}
			var steps []int64
			resumed, err := Run(work.With(t.Context(), work.Options{Progress: func(p work.Progress) {
				if p.Stage == "evaluate" {
					steps = append(steps, p.Done)
				}
			}}), ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(resumed, whole) {
				t.Error("the resumed run gives something else")
			}
			want := int64((4 + 3*4) * 2 * 4) // rows of kernels and of sums, repeats, folds
			if inductive {                   // settings and sums with them
				want += (4 + 3) * 2 * 4
			}
			if !slices.IsSorted(steps) || steps[len(steps)-1] != want {
				t.Errorf("progress %v, want increasing up to %d", steps, want)
			}
			// All is there now: kernels are not needed any more.
			broken = true
			again, err := Run(t.Context(), ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, whole) {
				t.Error("stored results give something else")
			}
			// Other options or data do not take them.
			o.C = []float64{0.1, 1, 10}
			if _, err := Run(t.Context(), ds, candidates, o); err == nil {
				t.Error("results of another grid were taken")
			}
		})
	}
}

// TestFolderTellsKernelsApart: two kernels that differ in normalisation alone do not share results.
func TestFolderTellsKernelsApart(t *testing.T) {
	ds := dataset.Scales(40, 1)
	raw := classic.DefaultWL()
	raw.H, raw.Normalize = 3, false
	o := quick(4, 1)
	o.C = []float64{0.001}
	run := func(folder string, k kernel.Kernel) *Report {
		o.Folder = folder
		r, err := Run(t.Context(), ds, []choose.Candidate{single("wl", k)}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	folder := t.TempDir()
	normalised, got := run(folder, wl(3)), run(folder, raw)
	if !reflect.DeepEqual(got, run("", raw)) {
		t.Error("results of another kernel were taken from the folder")
	}
	if reflect.DeepEqual(got, normalised) {
		t.Error("normalisation makes no difference: the test shows nothing")
	}
}

// TestFolderTellsSamplesApart: results from one sample of the training graphs are not taken for
// those from another.
func TestFolderTellsSamplesApart(t *testing.T) {
	ds := dataset.Scales(60, 4)
	run := func(folder string, examples int) *Report {
		o := DefaultOptions()
		o.Folds, o.Repeats = 4, 1
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

// TestDamagedFolder: files that are cut off or belong to something else are computed anew.
func TestDamagedFolder(t *testing.T) {
	ds := dataset.Scales(30, 1)
	o := quick(3, 1)
	o.Inductive = true
	o.Folder = t.TempDir()
	whole, err := Run(t.Context(), ds, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(o.Folder, "*"))
	if len(files) != 3 { // one setting, three folds
		t.Fatalf("files %v, want 3", files)
	}
	a, _ := os.ReadFile(files[0])
	if err := os.WriteFile(files[1], a, 0o600); err != nil { // of another fold
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

// breakable is a kernel that cannot be fitted when it is broken.
type breakable struct {
	kernel.Kernel
	broken *bool
}

func (k breakable) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	if *k.broken {
		return nil, errors.New("this kernel must not be fitted")
	}
	return k.Kernel.Fit(ctx, graphs)
}

// TestWorkers: the same results for any number of workers.
func TestWorkers(t *testing.T) {
	ds := dataset.Scales(40, 1)
	var first *Report
	for _, workers := range []int{1, 5} {
		o := quick(4, 2)
		o.Combinations = everyCombination()
		r, err := Run(work.WithWorkers(t.Context(), workers), ds, family(), o)
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
	graphtest.Slow(t)
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
	o.Combinations = []choose.Combination{choose.BestSingle, choose.MeanAll}
	if r, err = Run(t.Context(), ds, family(), o); err != nil {
		t.Fatal(err)
	}
	check(r, map[string]float64{"majority class": 0.1026, "labels": 0.7179, "wl": 0.9594, "mlg": 0.8782, "best single": 0.9594, "mean of all": 0.9295})
}

// TestScales: the groups of builtin:scales have the same labels and small neighbourhoods and
// differ at larger scales, which label histograms and shallow Weisfeiler-Lehman kernels do not see.
func TestScales(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:scales", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.ForSVM()
	o.Repeats = 2
	r, err := Run(t.Context(), ds, []choose.Candidate{settings("mlg", mlg.Default()), settings("wl", wl(0), wl(1), wl(2))}, o)
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
	graphtest.Long(t)
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	candidates := choose.DefaultCandidates(dataset.Info(ds))
	o := DefaultOptions()
	o.Repeats = 1
	o.ForCandidates()
	r, err := Run(t.Context(), ds, candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "weighted", row(t, r, "weighted").Accuracy, 231.0/234, 1.0/234)
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
	for _, learner := range []learn.Kind{learn.SVM, learn.KernelRidge} {
		for _, loo := range []bool{false, true} {
			o := quick(5, 2)
			o.Learner, o.LeaveOneOut = learner, loo
			o.C = []float64{0.1, 1, 10, 100, 1000}
			o.Combinations = everyCombination()
			r, err := Run(t.Context(), ds, []choose.Candidate{single("spy", &kerneltest.Spy{Scale: 6})}, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Classes != nil {
				t.Fatal("values were taken for classes")
			}
			base, spy := row(t, r, "mean value"), row(t, r, "spy")
			if spy.R2 < 0.95 || base.R2 > 0 {
				t.Errorf("%v, leave-one-out %v: R² = %v of a kernel on the target itself, %v of the mean", learner, loo, spy.R2, base.R2)
			}
			checkCalibration(t, r, &spy, learner == learn.KernelRidge)
			for _, write := range []func(*bytes.Buffer) error{func(b *bytes.Buffer) error { return r.WriteText(b) }, func(b *bytes.Buffer) error { return r.WriteMarkdown(b) }, func(b *bytes.Buffer) error { return r.WriteJSON(b) }} {
				if err := write(&bytes.Buffer{}); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// checkCalibration compares what a report says of deviations with the definitions.
func checkCalibration(t *testing.T, r *Report, x *Result, process bool) {
	t.Helper()
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	has := strings.Contains(text.String(), Calibration)
	if has != process || (x.Coverage != nil) != process || (x.Deviations != nil) != process {
		t.Errorf("learner %s: calibration %v, deviations of %d repeats", r.Protocol.Learner, has, len(x.Deviations))
	}
	if len(x.Folds) != r.Protocol.Repeats || len(x.Folds[0]) != r.Protocol.Folds || (x.Folds[0][0].Calibration != nil) != process {
		t.Errorf("scores of folds %+v", x.Folds)
	}
	if !process {
		return
	}
	if base := row(t, r, "mean value"); *x.NLPD > *base.NLPD {
		t.Errorf("NLPD %v of a kernel on the target itself, %v of the mean", *x.NLPD, *base.NLPD)
	}
	for _, level := range metrics.Levels {
		inside, all := 0.0, 0.0
		for repeat, folds := range x.Folds {
			for f, scores := range folds {
				n := float64(len(r.Splits.Test(repeat, f)))
				inside += n * scores.Coverage[slices.Index(metrics.Levels[:], level)]
				all += n
			}
		}
		near(t, "coverage", x.Covered(level), inside/all, 1e-12)
	}
}

// A kernel that does not depend on what it is fitted to has the same deviations when it is fitted to training parts alone,
// also where the kernel of a graph with itself is not 1.
func TestInductiveDeviations(t *testing.T) {
	ds := dataset.Scales(40, 2)
	for i, g := range ds.Graphs {
		ds.Graphs[i] = g.With(strconv.Itoa(i), strconv.FormatFloat(float64(g.M())+0.25, 'g', -1, 64))
	}
	k := classic.DefaultHistogram()
	k.Labels, k.Normalize = classic.Degrees, false
	var first [][]float64
	for _, inductive := range []bool{false, true} {
		o := quick(5, 1)
		o.Learner, o.LeaveOneOut = learn.KernelRidge, true
		o.Inductive = inductive
		r, err := Run(t.Context(), ds, []choose.Candidate{single("raw", k)}, o)
		if err != nil {
			t.Fatal(err)
		}
		got := row(t, r, "raw").Deviations
		if first == nil {
			first = got
		}
		for i, d := range got[0] {
			if !(math.Abs(d/first[0][i]-1) < 1e-9) {
				t.Errorf("deviation %d is %v, and %v where the kernel has seen all graphs", i, d, first[0][i])
			}
		}
	}
}

// TestMUTAG is a small nested run on real data.
func TestMUTAG(t *testing.T) {
	ds := real(t, "MUTAG")
	o := DefaultOptions()
	o.Repeats, o.InnerFolds = 1, 1
	r, err := Run(t.Context(), ds, []choose.Candidate{single("mlg", mlg.Default())}, o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "majority class", row(t, r, "majority class").Accuracy, 125.0/188, 1e-12)
	if a, b := row(t, r, "mlg").Accuracy, row(t, r, "labels").Accuracy; a < 0.82 || a < b {
		t.Errorf("accuracy %v of the kernel of the paper, %v of label histograms", a, b)
	}
}

func TestErrors(t *testing.T) {
	ds := dataset.Scales(20, 1)
	one := func(k kernel.Kernel) []choose.Candidate { return []choose.Candidate{single("k", k)} }
	broken := true
	raw := classic.DefaultWL()
	raw.Normalize = false
	for _, c := range []struct {
		name   string
		ds     *dataset.Dataset
		cands  []choose.Candidate
		change func(*Options)
		want   string
	}{
		{"no graphs", &dataset.Dataset{}, nil, nil, "no graphs"},
		{"no target", retarget(ds, func(i int) string { return []string{"a", ""}[i/19] }), nil, nil, "graph 19"},
		{"one class", retarget(ds, func(int) string { return "a" }), nil, nil, "two classes"},
		{"not a number", ds, nil, func(o *Options) { o.Task = choose.Regression }, "want a finite number"},
		{"two folds", ds, nil, func(o *Options) { o.Folds = 2 }, "at least 3"},
		{"reported values", retarget(ds, func(i int) string { return fmt.Sprint(i, ".5")[:1] + ".5" }), nil, func(o *Options) { o.OnReported = true; o.Task = choose.Regression }, "for classes only"},
		{"same name", ds, append(one(raw), one(raw)...), nil, "the name is in use"},
		{"reserved name", ds, []choose.Candidate{{Name: "majority class"}}, nil, "the name is in use"},
		{"no settings", ds, []choose.Candidate{{Name: "x"}}, nil, "no settings"},
		{"not normalised", ds, one(raw), func(o *Options) { o.Combinations = []choose.Combination{choose.MeanAll} }, "only normalised kernels"},
		{"not normalised, inductive", ds, one(raw), func(o *Options) { o.Combinations = []choose.Combination{choose.MeanAll}; o.Inductive = true }, "only normalised kernels"},
		{"nothing to combine", ds, nil, func(o *Options) { o.Combinations = everyCombination() }, "no candidates to combine"},
		{"kernel", ds, one(breakable{raw, &broken}), nil, "must not be fitted"},
		{"grid", ds, nil, func(o *Options) { o.C = []float64{1, 1} }, "C = [1 1]"},
		{"ridge", ds, nil, func(o *Options) { o.Ridge = nil }, "Ridge = [], want"},
		{"folds", ds, nil, func(o *Options) { o.Folds = 1 }, "Folds = 1"},
		{"repeats", ds, nil, func(o *Options) { o.Repeats = 0 }, "Repeats = 0"},
		{"inner folds", ds, nil, func(o *Options) { o.InnerFolds = 0 }, "InnerFolds = 0"},
		{"learner", ds, nil, func(o *Options) { o.Learner = 7 }, "Learner = 7"},
		{"combination", ds, nil, func(o *Options) { o.Combinations = []choose.Combination{9} }, "Combinations = 9, want 0 to 3"},
		{"combination reported", ds, nil, func(o *Options) { o.Combinations = everyCombination(); o.OnReported = true }, "not with OnReported"},
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
	twin, _ := graphtest.Shuffle(graphtest.Rand(1), ds.Graphs[0])
	ds.Graphs = append(ds.Graphs, twin)
	o := quick(4, 2)
	var tick time.Duration
	o.Clock = func() time.Duration { tick += time.Millisecond; return tick }
	r, err := Run(work.WithWorkers(t.Context(), 1), ds, family(), o)
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
	b.Reset()
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "| kernel | accuracy |") {
		t.Errorf("Markdown:\n%s", b.String())
	}
}

// TestAdd: two reports on the same splits become one, whose tests are of all rows.
func TestAdd(t *testing.T) {
	ds := dataset.Scales(24, 1)
	o := quick(3, 2)
	one := func(o Options, candidates ...choose.Candidate) *Report {
		r, err := Run(t.Context(), ds, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := single("a", &kerneltest.Spy{Scale: 1}), single("b", &kerneltest.Spy{Scale: 20})
	want := one(o, a, b)
	got := one(o, a)
	if err := got.Add(one(o, b)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	ridge := o
	ridge.Learner = learn.KernelRidge
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

// TestAttributes: all default candidates work on graphs with attributes only.
func TestAttributes(t *testing.T) {
	ds := &dataset.Dataset{Name: "attributes"}
	for i := range 24 {
		b := graph.NewBuilder(3)
		for v, attributes := range [][]float64{{float64(i % 5), 1}, {float64(i % 3), float64(i % 2)}, {0, float64(i % 2)}} {
			b.SetAttributes(v, attributes)
		}
		b.AddEdge(0, 1)
		b.AddEdge(1, 2)
		b.SetTarget([]string{"even", "odd"}[i%2])
		h, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		ds.Graphs = append(ds.Graphs, h)
	}
	list := choose.DefaultCandidates(dataset.Info(ds))
	o := quick(3, 1)
	o.Inductive = true
	r, err := Run(t.Context(), ds, list, o)
	if err != nil {
		t.Fatal(err)
	}
	if a := row(t, r, "mlg attributes").Accuracy; a < 0.9 {
		t.Errorf("accuracy %v with the attribute that tells the classes apart", a)
	}
}

// rareShare returns the share of a class.
func rareShare(d *dataset.Dataset, class string) float64 {
	n := 0
	for _, g := range d.Graphs {
		if g.Target() == class {
			n++
		}
	}
	return float64(n) / float64(len(d.Graphs))
}

// TestUneven: with a tenth and less of the graphs in one class the report leads with AUC, and tells how well the class is
// found. All figures come from the probabilities by their definitions.
func TestUneven(t *testing.T) {
	ds := dataset.Scales(200, 3)
	rare := &dataset.Dataset{Name: "uneven"}
	for i, g := range ds.Graphs {
		if g.Target() == ds.Graphs[0].Target() || i%11 == 0 {
			rare.Graphs = append(rare.Graphs, g)
		}
	}
	for _, learner := range []learn.Kind{learn.KernelRidge, learn.SVM} {
		o := quick(4, 2)
		o.Learner = learner
		r, err := Run(t.Context(), rare, family(), o)
		if err != nil {
			t.Fatal(err)
		}
		x := row(t, r, "mlg")
		if !r.Uneven || r.Rare == "" || r.Rare == ds.Graphs[0].Target() || len(x.Finding) != 3 || x.LogLoss == nil || *x.AUC < 0.9 {
			t.Fatalf("%+v", x)
		}
		near(t, "mean AUC of the folds", metrics.Mean(slices.Concat(x.FoldScores...)), *x.AUC, 1e-12)
		if low := x.Interval.Low; !(low <= *x.AUC) {
			t.Errorf("interval %v", x.Interval)
		}
		majority := row(t, r, majorityName)
		if share := rareShare(rare, r.Rare); math.Abs(majority.Finding[0].Value-share) > 1e-12 ||
			math.Abs(majority.Finding[1].Value-1) > 1e-12 || math.Abs(majority.Finding[2].Value-1) > 1e-12 {
			t.Errorf("the majority class finds a class of %v: %v", share, majority.Finding)
		}
		better := x.Finding[0].Value > 2*majority.Finding[0].Value && x.Finding[2].Value > 5 && *x.LogLoss < *majority.LogLoss
		if *majority.AUC != 0.5 || !better {
			t.Errorf("%v: %v, log loss %v; majority %v, %v", learner, x.Finding, *x.LogLoss, majority.Finding, *majority.LogLoss)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"accuracy says little", "AUC  95 % interval  balanced", "Finding class " + r.Rare, "enrichment at 5 %", "log loss  calibration error",
		} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
	}
}
