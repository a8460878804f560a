package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// costly is a kernel that takes time on a clock of its own: some to be fitted, some for every graph, and some for every
// pair of graphs.
type costly struct {
	number                  int
	once, perGraph, perPair time.Duration
	clock                   *time.Time
}

func (k costly) Name() string     { return "costly" }
func (k costly) String() string   { return fmt.Sprint("costly ", k.number) }
func (k costly) Validate() error  { return nil }
func (k costly) Normalized() bool { return true }

func (k costly) Fit(_ context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	*k.clock = k.clock.Add(k.once + time.Duration(len(graphs))*k.perGraph)
	return &kernel.Fitted{Map: costlyMap{k}, Train: &kernel.Graphs{List: graphs}}, nil
}

func (k costly) Decode([]byte) (kernel.Map, error) { panic("not asked for") }

// costlyMap is a kernel.Whole, so that the clock is not moved concurrently.
type costlyMap struct{ costly }

func (m costlyMap) Whole() {}

func (m costlyMap) Fill(_ context.Context, dst []float64, stride int, b kernel.Block) error {
	*m.clock = m.clock.Add(time.Duration((b.I1-b.I0)*(b.J1-b.J0)) * m.perPair)
	for i := b.I0; i < b.I1; i++ {
		for j := b.J0; j < b.J1; j++ {
			dst[(i-b.I0)*stride+j-b.J0] = 0
			if i == j {
				dst[(i-b.I0)*stride+j-b.J0] = 1
			}
		}
	}
	return nil
}

func (m costlyMap) Transform(context.Context, []*graph.Graph) (kernel.Features, error) {
	panic("not asked for")
}
func (m costlyMap) Join(parts ...kernel.Features) kernel.Features { return kernel.JoinGraphs(parts...) }
func (m costlyMap) AppendBinary(b []byte) ([]byte, error)         { return b, nil }
func (m costlyMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	return kernel.DecodeGraphs(data)
}

// Tasks with the same graphs share a collection; kernels are fitted to them once.
func TestShare(t *testing.T) {
	var text strings.Builder
	text.WriteString("smiles,a,b,c,d\n")
	for i := range 12 {
		fmt.Fprintf(&text, "%sO,%d,%d,%d,%d\n", strings.Repeat("C", i+1), i%2, i%3/2, i%2, i%2)
	}
	text.WriteString("CF,,,1,0\nCCF,,,0,1\n")
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var f learnFlags
	f.Format, f.Target, f.Duplicates, f.Hydrogens, f.EdgeWeight = dataset.Auto, []string{"a,b,c,d"}, "keep", dataset.HydrogensAsWritten, dataset.GivenWeight
	g := &globals{Quiet: true, ctx: t.Context(), bar: &bar{quiet: true}}
	tasks, err := f.tasks(g, path, "auto")
	if err != nil {
		t.Fatal(err)
	}
	share(tasks)
	for i, other := range []int{1, 0, 3, 2} {
		if tasks[i].shared == nil || tasks[i].shared != tasks[other].shared || tasks[i].fitted != (i%2 == 1) {
			t.Errorf("task %d does not share its graphs with task %d", i, other)
		}
	}
	if tasks[0].shared == tasks[2].shared {
		t.Error("tasks with different graphs share a collection")
	}
	var now time.Time
	k := costly{perGraph: 1, perPair: 1, clock: &now}
	for i, t2 := range tasks[:2] {
		o := evaluate.DefaultOptions()
		o.Folds, o.Repeats, o.Collection = 3, 1, t2.shared
		candidates := []choose.Candidate{{Name: "costly", Settings: []choose.Setting{{Parameters: "costly", Kernel: k}}}}
		shared, err := evaluate.Run(t.Context(), t2.Dataset, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		if spent, want := now.Sub(time.Time{}), time.Duration(12+144*(i+1)); spent != want {
			t.Errorf("after target %d the kernel was computed for %d ns, want %d", i, spent, want)
		}
		before := now
		o.Collection = nil
		alone, err := evaluate.Run(t.Context(), t2.Dataset, candidates, o)
		if now = before; err != nil || !reflect.DeepEqual(shared, alone) {
			t.Errorf("target %d: %+v, want %+v, %v", i, shared, alone, err)
		}
	}
}

// What kernels cost once, for a graph and for a pair is found out. Kernels that stand in several sums are fitted once.
func TestForecast(t *testing.T) {
	graphtest.Slow(t)
	var now time.Time
	ds := &dataset.Dataset{Name: "random"}
	for i := range 2000 {
		ds.Graphs = append(ds.Graphs, graphtest.Path(3).With(fmt.Sprint(i), fmt.Sprint(i%2)))
	}
	var singles []kernel.Kernel
	for i := range 12 {
		singles = append(singles, costly{i, 3 * time.Second, 20 * time.Millisecond, 5 * time.Microsecond, &now})
	}
	for _, kernels := range [][]kernel.Kernel{singles[:1], singles[:4], singles,
		{kernel.Mean(singles[:6]...), kernel.Product(kernel.Mean(singles[6:]...), singles[0]), singles[5]}} {
		o := choose.DefaultOptions()
		o.ForCandidates()
		cost, err := clock(func() time.Time { return now }).measure(t.Context(), ds, kernels, o)
		if err != nil {
			t.Fatal(err)
		}
		cost.speed = math.Inf(1) // the clock stands still while it is measured
		got := cost.train(2000, 1, 1, o)
		parts := min(12, len(kernels))
		if len(kernels) == 3 {
			parts = 12
		}
		pairs := time.Duration(parts*1024*1024 + min(4, parts)*2000*2000) // those of the sample, and of all graphs in four kernels
		want := time.Duration(parts)*(3*time.Second+40*time.Second) + pairs*5*time.Microsecond
		if d := got - want; d.Abs() > time.Millisecond {
			t.Errorf("%d kernels: %v, want %v", len(kernels), got, want)
		}
	}
}

// The time that few large graphs take is forecast as well: the size of the work decides, not the number of graphs.
func TestForecastOfFew(t *testing.T) {
	for _, c := range []struct {
		n, vertices int
		want        bool
	}{{40, 10, false}, {80, 400, true}, {3, 5000, false}, {500, 3, true}} {
		ds := &dataset.Dataset{Name: "paths"}
		for i := range c.n {
			ds.Graphs = append(ds.Graphs, graphtest.Path(c.vertices).With(fmt.Sprint(i), fmt.Sprint(i%2)))
		}
		var now time.Time
		k := costly{0, 3 * time.Second, 20 * time.Millisecond, 5 * time.Microsecond, &now}
		o := choose.DefaultOptions()
		o.ForCandidates()
		var out bytes.Buffer
		g := &globals{stderr: &out, ctx: t.Context()}
		g.bar = newBar(g)
		err := g.announce(ds, []choose.Candidate{{Name: "costly", Settings: []choose.Setting{{Kernel: k}}}}, o, func(choose.Options, int) int64 { return 1 << 20 },
			func(costs) time.Duration { return 90 * time.Second }, "", fewer)
		if g.bar.done(); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(out.String(), fmt.Sprintf("1 kernel for %d graphs: roughly 0.001 GB of memory", c.n)); said != c.want {
			t.Errorf("%d graphs of %d vertices: %q", c.n, c.vertices, out.String())
		}
		if c.n != 80 {
			continue
		}
		if !strings.Contains(out.String(), "90 s") {
			t.Errorf("no time: %q", out.String())
		}
		cost, err := clock(func() time.Time { return now }).measure(t.Context(), ds, []kernel.Kernel{k}, o)
		if err != nil {
			t.Fatal(err)
		}
		cost.speed = math.Inf(1)
		if d := cost.train(80, 1, 1, o) - (3*time.Second + 1600*time.Millisecond + 32*time.Millisecond); d.Abs() > time.Millisecond {
			t.Errorf("wrong by %v", d)
		}
	}
}

// A pilot takes as many graphs as there is time for, and never more than three times its two first graphs.
func TestPilot(t *testing.T) {
	for _, c := range []struct {
		perGraph time.Duration
		graphs   int
		spent    time.Duration // at most
	}{{time.Millisecond, 200, time.Second}, {20 * time.Millisecond, 32, time.Second}, {time.Second, 2, 3 * time.Second}} {
		var now time.Time
		k := costly{0, 0, c.perGraph, 0, &now}
		got, err := clock(func() time.Time { return now }).try(work.WithWorkers(t.Context(), 2), slices.Repeat([]*graph.Graph{graphtest.Path(3)}, 200), k)
		if err != nil {
			t.Fatal(err)
		}
		if spent := now.Sub(time.Time{}); got.graphs != c.graphs || spent > c.spent || math.Abs(got.slope-float64(c.perGraph)) > 1 {
			t.Errorf("%v for a graph: %d graphs, %v, and %v ns for one more", c.perGraph, got.graphs, spent, got.slope)
		}
	}
}

// A matrix that does not fit into memory is refused before a kernel is fitted, and what fits says how.
func TestMatrixMemory(t *testing.T) {
	graphtest.Slow(t)
	n := int(math.Sqrt(float64(work.Available()) / 4))
	if n == 0 || n > 1_000_000 {
		graphtest.Missing(t, "it is not known how much memory is free, or there is too much of it")
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "many.smi")
	if err := os.WriteFile(data, []byte(strings.Repeat("C\n", n)), 0o666); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(dir, "huge", "huge.smi") // without blocks on the disk
	if err := errors.Join(os.Mkdir(filepath.Dir(huge), 0o777), os.WriteFile(huge, nil, 0o666), os.Truncate(huge, 3*work.Available())); err != nil {
		t.Fatal(err)
	}
	table, values := filepath.Join(dir, "some.csv"), filepath.Join(dir, "values.mlg")
	if err := os.WriteFile(table, []byte("smiles,y\nC,1\nCC,2\nCCC,3\nCCCC,4.5\nCCCCC,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code := Main([]string{"train", table, "--kernel", "wl", "--quiet", "-o", values}, io.Discard, io.Discard); code != 0 {
		t.Fatalf("train: code %d", code)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", values, data, "--covariance", filepath.Join(dir, "c.npy")}, "are free: ask for the covariance of fewer graphs"},
		{[]string{"gram", data, "-o", filepath.Join(dir, "k.csv")}, "are free: write .npy without pictures"},
		{[]string{"gram", data, "-o", filepath.Join(dir, "k.npy"), "--picture", filepath.Join(dir, "k.svg")}, "are free: write .npy without pictures"},
		{[]string{"gram", data, "--against", data, "-o", filepath.Join(dir, "k.npy")}, "are free: take fewer graphs"},
		{[]string{"cluster", data}, "are free: take fewer graphs"},
		{[]string{"compare", data, data}, "are free: compare fewer graphs"},
		{[]string{"embed", data, "--sample", "0", "--dimension", fmt.Sprint(n), "-o", filepath.Join(dir, "e.npy")}, "are free: take a smaller --dimension"},
		{[]string{"train", huge, "-o", filepath.Join(dir, "m.mlg")}, "are free: mlg fit, transform and refine read them one after the other"},
		{[]string{"gram", filepath.Dir(huge), "--format", "tudataset", "-o", filepath.Join(dir, "k.npy")}, "are free: mlg fit, transform and refine read them"},
	} {
		var out, errs bytes.Buffer
		if code := Main(c.args, &out, &errs); code == 0 || !strings.Contains(strings.Join(strings.Fields(errs.String()), " "), c.want) {
			t.Errorf("%q: code %d, %s, want %q in it", c.args, code, errs.String(), c.want)
		}
	}
}

// An inductive evaluation fits kernels to every part, has matrices for each, and several at a time.
func TestInductiveForecast(t *testing.T) {
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats, o.Memory = 5, 2, 1<<40
	c := costs{fit: time.Minute, pair: 1, speed: 1, kernels: 2, factors: 2}
	once, bytes := c.evaluate(1000, 1, 2, o, evaluate.Kept{}), o.Bytes(1000, 2, 2)
	o.Inductive = true
	if more := c.evaluate(1000, 1, 2, o, evaluate.Kept{}) - once; more != 9*(time.Minute+1000*1000) {
		t.Errorf("%v more, want nine fits and nine matrices", more)
	}
	if half, all := c.evaluate(1000, 1, 2, o, evaluate.Kept{Scores: 0.5, Predictions: 0.5}), c.evaluate(1000, 1, 2, o, evaluate.Kept{}); half <= c.fit || half >= all {
		t.Errorf("%v with half of it kept, want less than %v", half, all)
	}
	if got, want := c.evaluate(1000, 1, 2, o, evaluate.Kept{Scores: 1, Predictions: 1}), 10*c.fit; got != want {
		t.Errorf("%v with everything kept, want %v", got, want)
	}
	if got := o.Bytes(1000, 2, 2); got <= bytes || got > 2*bytes {
		t.Errorf("%d bytes, want more than %d", got, bytes)
	}
	if o.Memory = 1 << 20; o.Keeps(1000, 2, 2) {
		t.Error("matrices are kept that do not fit")
	}
}

// Levels that will take long are told before, by the speed of those before them.
func TestForecastOfLevels(t *testing.T) {
	var out bytes.Buffer
	g := &globals{stderr: &out, ctx: t.Context()}
	g.bar = newBar(g)
	graphs := []*graph.Graph{graphtest.Path(40), graphtest.Path(41)}
	k := mlg.Default()
	k.Exact = true
	operations, err := mlg.ExactOperations(t.Context(), k, graphs, math.Inf(1))
	if err != nil || operations < 1000 {
		t.Fatalf("%v multiplications, %v", operations, err)
	}
	f := forecaster{g: g}
	for _, speed := range []float64{operations, operations / 100} {
		f.speed = speed
		if err := f.begin("level 2", k, graphs); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "level 2 will take roughly 1m40s\n" {
		t.Errorf("got %q", got)
	}
	k.Exact = false
	if n, err := mlg.ExactOperations(t.Context(), k, graphs, 1); n != 0 || err != nil {
		t.Errorf("low rank: %v multiplications, %v", n, err)
	}
}

// Where the learner does not fit into memory but kernel ridge regression does, the refusal says so.
func TestRidgeFits(t *testing.T) {
	ds := &dataset.Dataset{Name: "many", Graphs: slices.Repeat(graphtest.Suite(1)[:1], 10_000)}
	o := choose.DefaultOptions()
	o.Memory = 2e9
	g := &globals{ctx: t.Context(), Quiet: true}
	refusal := func() string {
		err := g.announce(ds, choose.Each(classic.DefaultHistogram()), o, func(o choose.Options, factors int) int64 { return o.Bytes(10_000, factors, 2) }, nil, "", byRefine)
		return fmt.Sprint(err)
	}
	if got := refusal(); got != "<nil>" {
		t.Errorf("ridge regression: %s", got)
	}
	o.ForSVM()
	if got := refusal(); !regexp.MustCompile(`would take about 9\.\d GB of memory, but 2 GB are free: take --learner ridge, which needs 0\.\d+ GB, or fewer graphs$`).MatchString(got) {
		t.Errorf("support vector machines: %s", got)
	}
	if o.Memory = 0.1e9; !strings.HasSuffix(refusal(), byRefine) {
		t.Errorf("where nothing fits: %s", refusal())
	}
}

// A refinement says what it will need when the first graphs are added: for all of a file, or for a million graphs of a
// stream. Data with few graphs are done by then.
func TestRefineForecast(t *testing.T) {
	dir := t.TempDir()
	path := func(name string, rows int) string {
		text := "smiles,y\n"
		for i := range rows {
			text += fmt.Sprintf("%s,%d\n", strings.Repeat("C", 1+i%30)+[]string{"O", "N", "Cl", "F"}[i/30%4], i%30)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sample, few, many := path("sample.csv", 100), path("few.csv", 600), path("many.csv", 4000)
	m := filepath.Join(dir, "m.mlg")
	if code := Main([]string{"train", sample, "--kernel", "wl h=1", "--quiet", "-o", m}, io.Discard, io.Discard); code != 0 {
		t.Fatalf("train: code %d", code)
	}
	for data, want := range map[string]string{few: "", many: `sums for a model of 100 graphs: roughly 0\.\d+ GB of memory, and \d+ ?m?s for about (3\.\d+|4(\.\d+)?) k graphs on 1 thread`} {
		var out, errs bytes.Buffer
		code := Main([]string{"refine", m, data, "--threads", "1", "-o", filepath.Join(dir, "out.mlg")}, &out, &errs)
		said := strings.Join(strings.Fields(errs.String()), " ")
		if code != 0 || want == "" && strings.Contains(said, "roughly") || !regexp.MustCompile(want).MatchString(said) {
			t.Errorf("%s: code %d, %q, want %q in it", data, code, said, want)
		}
	}
	var errs bytes.Buffer
	g := &globals{stderr: &errs, Threads: 1}
	g.bar = newBar(g)
	g.announceSums(100, 1, 1000, 0, time.Second, false)
	if !strings.Contains(strings.Join(strings.Fields(errs.String()), " "), "and 16m40s for a million graphs on 1 thread") {
		t.Errorf("a stream: %q", errs.String())
	}
}

// Settings of one candidate are told apart.
func TestNamesOfKernels(t *testing.T) {
	graphtest.Slow(t)
	dir := t.TempDir()
	rows := "smiles,y\n"
	for i := range 60 { // what adds up over the atoms, learned by sums with composition
		carbons, end := 1+i%12, []string{"", "O", "N", "C=O", "OC"}[i/12]
		rows += fmt.Sprintf("%s,%v\n", strings.Repeat("C", carbons)+end, 10*float64(carbons)+[]float64{0, 7, -4, 12, 17}[i/12]+math.Sin(float64(i)))
	}
	data := filepath.Join(dir, "y.csv")
	if err := os.WriteFile(data, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Main([]string{"train", data, "-o", filepath.Join(dir, "y.mlg")}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	names := regexp.MustCompile(`(?m)^  [01]\.\d{3}  (.*)$`).FindAllStringSubmatch(out.String(), -1)
	seen, shares := map[string]bool{}, 0
	for _, n := range names {
		if seen[n[1]] {
			t.Errorf("%q stands twice in\n%s", n[1], &out)
		}
		if seen[n[1]] = true; regexp.MustCompile(`^0\.9\d* (wide )?composition \+ 0\.\d+ mlg bonds$`).MatchString(n[1]) {
			shares++
		}
	}
	if shares < 2 {
		t.Errorf("the settings of the sums with composition are not both there in\n%s", &out)
	}
}
