package pipeline

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nystrom"
	"github.com/mlgkernel/mlg/tiles"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	temp, err := os.MkdirTemp("", "mlg-beam-test-") // runners leave files behind
	if err != nil {
		panic(err)
	}
	os.Setenv("TMPDIR", temp)
	if os.Getenv("MLG_BEAM_LOG") == "" {
		slog.SetDefault(slog.New(slog.DiscardHandler)) // runners tell every step
	}
	code := m.Run()
	os.RemoveAll(temp)
	os.Exit(code)
}

// run runs a pipeline on prism, in this process.
func run(t *testing.T, o Options) (Counts, error) {
	t.Helper()
	return runOn(t, prism.Execute, o)
}

func runOn(t *testing.T, execute func(context.Context, *beam.Pipeline) (beam.PipelineResult, error), o Options) (Counts, error) {
	t.Helper()
	j, err := New(t.Context(), o)
	if err != nil {
		return Counts{}, err
	}
	p, s := beam.NewPipelineWithRoot()
	j.Build(s)
	r, err := execute(t.Context(), p)
	if err != nil {
		return Counts{}, err
	}
	return j.Counts(r), nil
}

// must is run for a pipeline that must succeed.
func must(t *testing.T, o Options) Counts {
	t.Helper()
	c, err := run(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// collection is a dataset with a model that was fitted to it, each in a file.
type collection struct {
	*dataset.Dataset
	fitted *kernel.FittedSum
	model  string // path
	jsonl  string // path
}

func collect(t *testing.T, d *dataset.Dataset, o kernel.Kernel) *collection {
	t.Helper()
	dir := t.TempDir()
	c := &collection{Dataset: d, model: filepath.Join(dir, "model.mlg"), jsonl: filepath.Join(dir, "graphs.jsonl")}
	sum, err := kernel.NewCollection(d.Graphs).Fit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m := model.Of(d.Graphs, sum)
	c.fitted = sum
	if err := model.Write(t.Context(), c.model, m); err != nil {
		t.Fatal(err)
	}
	if err := dataset.WriteDataset(t.Context(), c.jsonl, d, dataset.JSONLines); err != nil {
		t.Fatal(err)
	}
	return c
}

func drugs(t *testing.T) *collection { return drugsBy(t, mlg.Default()) }

func drugsBy(t *testing.T, k kernel.Kernel) *collection {
	t.Helper()
	d, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, d, k)
}

// read returns the model of the collection, from its file.
func (c *collection) read(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.Read(c.model)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// train returns the features of the training graphs.
func (c *collection) train(t *testing.T) kernel.Features {
	t.Helper()
	a, err := c.fitted.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// options returns the options for tiles of a collection.
func (c *collection) options(t *testing.T) Options {
	t.Helper()
	o := DefaultOptions()
	o.Model, o.Inputs, o.Tiles = c.model, []string{c.jsonl}, filepath.Join(t.TempDir(), "tiles")
	o.Side, o.PartBytes, o.Batch = 50, 9000, 16
	return o
}

// gram merges the tiles of a folder. It returns the text with the identifiers and targets too.
func gram(t *testing.T, dir string) (*kernel.Matrix, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gram.npy")
	if _, err := tiles.Merge(t.Context(), out, []string{dir}); err != nil {
		t.Fatal(err)
	}
	k, err := kerneltest.ReadNPY(out)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := os.ReadFile(strings.TrimSuffix(out, ".npy") + ".ids.csv")
	if err != nil {
		t.Fatal(err)
	}
	return k, string(ids)
}

// ids returns the text with identifiers and targets of the dataset.
func (c *collection) ids(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	if err := (matrixfile.Axis{IDs: c.IDs(), Targets: c.Targets()}).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same fails unless the matrices are equal to the bit.
func same(t *testing.T, got, want *kernel.Matrix) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%d×%d values, want %d×%d", got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i, v := range want.Data {
		if math.Float64bits(got.Data[i]) != math.Float64bits(v) {
			t.Fatalf("value %d, %d is %v, want %v to the bit", i/want.Cols, i%want.Cols, got.Data[i], v)
		}
	}
}

func (c *collection) gram(t *testing.T) *kernel.Matrix {
	t.Helper()
	k, err := c.fitted.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// snapshot returns the files of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// equal fails unless two folders have the same files.
func equal(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s should not be there", name)
		}
	}
}

func TestGramToTheBit(t *testing.T) {
	levels := mlg.Default()
	levels.Combine, levels.Power = mlg.Sum, 2
	cases := []struct {
		name string
		data *dataset.Dataset
		o    kernel.Kernel
	}{
		{"wl", dataset.Scales(120, 1), classic.DefaultWL()},
		{"mixed", dataset.Scales(70, 2), kernel.Mean(mlg.Default(), classic.DefaultGraphlet())},
		{"scales", dataset.Scales(120, 1), mlg.Default()},
		{"all levels", dataset.Scales(70, 2), levels},
	}
	for _, name := range []string{"builtin:drugs", "MUTAG", "PTC_MR"} {
		path := name
		if !strings.HasPrefix(name, "builtin:") {
			path = graphtest.Dataset(t, name)
		}
		d, err := dataset.Read(t.Context(), path, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, struct {
			name string
			data *dataset.Dataset
			o    kernel.Kernel
		}{name, d, mlg.Default()})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := collect(t, c.data, c.o)
			o := d.options(t)
			n := len(d.Graphs)
			counts := must(t, o)
			blocks := (n + o.Side - 1) / o.Side
			want := Counts{Read: int64(n), Transformed: int64(n), Computed: int64(blocks * (blocks + 1) / 2)}
			if counts != want {
				t.Errorf("counters %+v, want %+v", counts, want)
			}
			got, ids := gram(t, o.Tiles)
			same(t, got, d.gram(t))
			if ids != d.ids(t) {
				t.Error("identifiers or targets differ from those of the dataset")
			}
		})
	}
}

// The tiles are those of the package that makes them on one machine, however the input is cut:
// they may lie in one folder.
func TestTilesOfOneMachine(t *testing.T) {
	const side = 64
	// wl, graphs that are compared pair by pair, and a product.
	for _, k := range []kernel.Kernel{mlg.Default(), classic.DefaultWL(), classic.DefaultPyramidMatch(), kernel.Product(mlg.Default(), classic.DefaultWL())} {
		d := drugsBy(t, k)
		a := d.train(t)
		features := func(lo, hi int) (kernel.Features, error) { return kernel.Range(a, lo, hi), nil }
		c, err := tiles.NewGram(d.read(t), a.Len(), features, matrixfile.Axis{IDs: d.IDs(), Targets: d.Targets()})
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]string
		for _, cut := range []struct {
			bytes, batch int
		}{{100, 1}, {7777, 3}, {1 << 30, 1000}} {
			o := d.options(t)
			o.Side, o.PartBytes, o.Batch = side, cut.bytes, cut.batch
			must(t, o)
			if want == nil {
				want = snapshot(t, o.Tiles)
			}
			equal(t, snapshot(t, o.Tiles), want)
			if err := os.Remove(filepath.Join(o.Tiles, tileName(1, 2))); err != nil {
				t.Fatal(err)
			}
			if _, err := tiles.Work(t.Context(), o.Tiles, c, side, 1, 1); err != nil {
				t.Fatal(err)
			}
			got, ids := gram(t, o.Tiles)
			same(t, got, d.gram(t))
			if ids != d.ids(t) {
				t.Error("identifiers or targets differ from those of the dataset")
			}
		}
	}
}

// The inputs are put one after the other, whatever their formats are.
func TestInputs(t *testing.T) {
	d := drugs(t)
	dir := t.TempDir()
	write := func(name string, f dataset.Format, lo, hi int) {
		t.Helper()
		part := &dataset.Dataset{Name: "part", Graphs: d.Graphs[lo:hi]}
		if err := dataset.WriteDataset(t.Context(), filepath.Join(dir, name), part, f); err != nil {
			t.Fatal(err)
		}
	}
	write("a-1.jsonl", dataset.JSONLines, 0, 40)
	write("a-2.jsonl.gz", dataset.JSONLines, 40, 90)
	write("b.graphml", dataset.GraphML, 90, 130)
	var smiles bytes.Buffer
	smiles.WriteString("smiles name\n# a comment\n")
	table, err := os.ReadFile("../../dataset/builtin/drugs.csv")
	if err != nil {
		t.Fatal(err)
	}
	drugs, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range drugs[1+130:] {
		fmt.Fprintf(&smiles, "%s %s\n\n", x[3], x[0])
	}
	if err := os.WriteFile(filepath.Join(dir, "c.smi"), smiles.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	o := d.options(t)
	o.Inputs = []string{filepath.Join(dir, "a-*"), filepath.Join(dir, "b.graphml"), filepath.Join(dir, "c.smi")}
	o.PartBytes = 500
	must(t, o)
	got, ids := gram(t, o.Tiles)
	same(t, got, d.gram(t))
	rows, err := csv.NewReader(strings.NewReader(ids)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range rows[1:] {
		names = append(names, row[0])
	}
	if !slices.Equal(names, d.IDs()) {
		t.Error("identifiers differ from those of the dataset")
	}

	o = d.options(t)
	o.Inputs = []string{"builtin:drugs"}
	must(t, o)
	got, _ = gram(t, o.Tiles)
	same(t, got, d.gram(t))
}

func TestEmbeddingsToTheBit(t *testing.T) {
	d := drugs(t)
	o := d.options(t)
	o.Tiles, o.Embeddings, o.Dim = "", filepath.Join(t.TempDir(), "vectors"), 20
	counts := must(t, o)
	if want := (Counts{Read: 234, Transformed: 234, Computed: 5}); counts != want {
		t.Errorf("counters %+v, want %+v", counts, want)
	}
	e, _, err := nystrom.Fit(t.Context(), d.fitted, d.train(t), nystrom.Options{Dim: o.Dim, Pivots: nystrom.Random})
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := e.Transform(t.Context(), d.train(t))
	if err != nil {
		t.Fatal(err)
	}
	got := &kernel.Matrix{Cols: e.Dim()}
	for b := range 5 {
		part, err := kerneltest.ReadNPY(filepath.Join(o.Embeddings, VectorName(b)))
		if err != nil {
			t.Fatal(err)
		}
		got.Rows += part.Rows
		got.Data = append(got.Data, part.Data...)
	}
	same(t, got, &kernel.Matrix{Rows: 234, Cols: e.Dim(), Data: vectors})

	before := snapshot(t, o.Embeddings)
	if err := os.Truncate(filepath.Join(o.Embeddings, VectorName(2)), 100); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(o.Embeddings, VectorName(3))); err != nil {
		t.Fatal(err)
	}
	counts = must(t, o)
	if counts.Computed != 2 || counts.Replaced != 1 || counts.Kept != 3 {
		t.Errorf("a second run: counters %+v, want 2 computed, 1 of them replaced, and 3 kept", counts)
	}
	equal(t, snapshot(t, o.Embeddings), before)
	o.Dim = 21
	if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), "another model, plan or collection") {
		t.Errorf("other vectors in the same folder: %v", err)
	}
}

func TestRerun(t *testing.T) {
	d := drugs(t)
	o := d.options(t)
	must(t, o)
	before := snapshot(t, o.Tiles)
	// A flipped bit, a short file, a missing one.
	path := filepath.Join(o.Tiles, tileName(0, 2))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(o.Tiles, tileName(1, 1)), 300); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(o.Tiles, tileName(2, 4))); err != nil {
		t.Fatal(err)
	}
	counts := must(t, o)
	if counts.Computed != 3 || counts.Replaced != 2 || counts.Kept != 12 {
		t.Errorf("counters %+v, want 3 computed, 2 of them replaced, and 12 kept", counts)
	}
	equal(t, snapshot(t, o.Tiles), before)

	// Another model, other graphs, another plan.
	other := collect(t, dataset.Scales(234, 3), mlg.Default())
	foreign := other.options(t)
	foreign.Tiles = o.Tiles
	shuffled := o
	shuffled.Inputs = []string{"builtin:drugs", d.jsonl}
	wider := o
	wider.Side = 60
	for _, x := range []Options{foreign, shuffled, wider} {
		if _, err := run(t, x); err == nil || !strings.Contains(err.Error(), "another model, plan or collection") {
			t.Errorf("%v: error %v, want one that says that the folder is of another model, plan or collection", x.Inputs, err)
		}
	}
	equal(t, snapshot(t, o.Tiles), before)

	// A foreign tile under the name of a good one.
	plain := other.options(t)
	must(t, plain)
	data, err = os.ReadFile(filepath.Join(plain.Tiles, tileName(0, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Tiles, tileName(0, 1)), data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, o); err == nil || !strings.Contains(err.Error(), "is of another model") {
		t.Errorf("a foreign tile: %v", err)
	}
}

func TestBadGraphs(t *testing.T) {
	d := drugs(t)
	lines, err := os.ReadFile(d.jsonl)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.SplitAfter(string(lines), "\n")[:60]
	text[3] = "{\"nodes\":2,\"edges\":[[0,7]]}\n"
	text[20] = "\n" + text[20]
	text[41] = "not a graph\n"
	text[50] = "{\"nodes\":2,\"edges\":[[0,1]]}\n" // without the labels that the model needs
	path := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(text, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	good := slices.Concat(d.Graphs[:3], d.Graphs[4:41], d.Graphs[42:50], d.Graphs[51:60])
	for _, size := range []int{200, 5000, 1 << 20} {
		o := d.options(t)
		o.Inputs, o.PartBytes = []string{path}, size
		_, err := run(t, o)
		if err == nil || !strings.Contains(err.Error(), path+":") {
			t.Errorf("parts of %d bytes: error %v, want one that names the line", size, err)
		}
		o.SkipInvalid = true
		counts := must(t, o)
		if counts.Read != 60 || counts.Bad != 3 || counts.Transformed != 57 {
			t.Errorf("parts of %d bytes: counters %+v, want 60 read, 3 bad, 57 transformed", size, counts)
		}
		got, _ := gram(t, o.Tiles)
		c, err := d.fitted.Transform(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		want, err := kernel.Between(t.Context(), d.fitted, c, c)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		list, err := os.ReadFile(filepath.Join(o.Tiles, BadName))
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Split(strings.TrimSpace(string(list)), "\n")
		if len(found) != 3 {
			t.Fatalf("parts of %d bytes: %d lines in the list, want 3:\n%s", size, len(found), list)
		}
		for i, want := range []struct{ line, reason string }{{":4\"", "7"}, {":43\"", "invalid character"}, {":52\"", "label"}} {
			if !strings.Contains(found[i], want.line) || !strings.Contains(found[i], want.reason) {
				t.Errorf("parts of %d bytes: %s, want line %s and reason %q", size, found[i], want.line, want.reason)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	d := drugs(t)
	for _, c := range []struct {
		want   string
		change func(*Options)
	}{
		{"no model", func(o *Options) { o.Model = "" }},
		{"no such file", func(o *Options) { o.Model += ".not" }},
		{"no inputs", func(o *Options) { o.Inputs = nil }},
		{"no such file", func(o *Options) { o.Inputs = []string{"nowhere-*.jsonl"} }},
		{"one of tiles, embeddings, train and predictions", func(o *Options) { o.Embeddings = o.Tiles }},
		{"one of tiles, embeddings, train and predictions", func(o *Options) { o.Tiles = "" }},
		{"side 1000000", func(o *Options) { o.Side = 1000000 }},
		{"side 0, want 1", func(o *Options) { o.Side = 0 }},
		{"pivots = \"none\"", func(o *Options) { o.Pivots = "none" }},
		{"batch = 0", func(o *Options) { o.Batch = 0 }},
		{"part-bytes = -1", func(o *Options) { o.PartBytes = -1 }},
		{"device = \"tpu\"", func(o *Options) { o.Device = "tpu" }},
		{"threads = 0", func(o *Options) { o.Threads = 0 }},
		{"scheme \"hdfs\"", func(o *Options) { o.Inputs = []string{"hdfs://host/x.jsonl"} }},
	} {
		o := d.options(t)
		c.change(&o)
		if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	// A worker that finds another model than the launcher.
	j, err := New(t.Context(), d.options(t))
	if err != nil {
		t.Fatal(err)
	}
	other := collect(t, dataset.Scales(20, 1), mlg.Default())
	ref := j.model
	ref.Path = other.model
	if _, err := ref.model(t.Context()); err == nil || !strings.Contains(err.Error(), "the pipeline was made for") {
		t.Errorf("another model on a worker: %v", err)
	}
}

// Flink cannot read spans with nil slices; prism can.
func TestSpansAreWhole(t *testing.T) {
	sent := 0
	check := func(_ int, s span) {
		sent++
		for v, i := reflect.ValueOf(s), 0; i < v.NumField(); i++ {
			if f := v.Field(i); f.Kind() == reflect.Slice && f.IsNil() {
				t.Errorf("%+v has a nil slice", s)
			}
		}
	}
	d := drugs(t)
	features, err := model.EncodeFeatures(kernel.Range(d.train(t), 0, 2))
	if err != nil {
		t.Fatal(err)
	}
	s := span{First: 3, IDs: []string{"a", "b"}, Targets: []string{"", ""}, Features: features}
	one := []count{{Part: 0, Graphs: 5}}
	counts := func(c *count) bool {
		if len(one) == 0 {
			return false
		}
		*c, one = one[0], one[1:]
		return true
	}
	if err := (&numberFn{fitted{kernel: d.fitted}, 1, 4}).ProcessElement(t.Context(), s, counts, check); err != nil {
		t.Fatal(err)
	}
	(&pairFn{Side: 4}).ProcessElement(t.Context(), span{Graphs: 5, Features: s.Features}, check)
	if sent != 4 {
		t.Errorf("%d spans, want two pieces and two blocks", sent)
	}
}

// finished returns the number of tiles in a folder.
func finished(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "tile-*"))
	return len(names)
}
