package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// parent is the other side of a Serve that runs in this process.
type parent struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	dir  string
	done chan error
}

func start(t *testing.T) *parent {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &parent{t: t, in: inW, out: outR, dir: filepath.Join(t.TempDir(), "shared"), done: make(chan error, 1)}
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.done <- Serve(t.Context(), inR, outW, p.dir)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close() })
	return p
}

func frame(header any, body []byte) []byte {
	text, err := json.Marshal(header)
	if err != nil {
		panic(err)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	return append(append(b, text...), body...)
}

// ask sends a request and returns the answer with its body.
func (p *parent) ask(op string, handle int64, args any, body []byte, release ...int64) *answer {
	p.t.Helper()
	p.send(map[string]any{"op": op, "handle": handle, "args": args, "release": release}, body)
	return p.frame()
}

func (p *parent) send(header any, body []byte) {
	p.t.Helper()
	if _, err := p.in.Write(frame(header, body)); err != nil {
		p.t.Fatal(err)
	}
}

// frame reads a frame with its body.
func (p *parent) frame() *answer {
	p.t.Helper()
	var size [12]byte
	if _, err := io.ReadFull(p.out, size[:]); err != nil {
		p.t.Fatal(err)
	}
	text := make([]byte, binary.LittleEndian.Uint32(size[:]))
	data := make([]byte, binary.LittleEndian.Uint64(size[4:]))
	for _, b := range [][]byte{text, data} {
		if _, err := io.ReadFull(p.out, b); err != nil {
			p.t.Fatal(err)
		}
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		p.t.Fatal(err)
	}
	a.body = [][]byte{data}
	if a.File != "" {
		var err error
		path := filepath.Join(p.dir, a.File)
		if a.body[0], err = os.ReadFile(path); err != nil {
			p.t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			p.t.Fatal(err)
		}
	}
	return &a
}

// ok fails the test if the answer is an error.
func (p *parent) ok(a *answer) *answer {
	p.t.Helper()
	if a.Error != "" {
		p.t.Fatalf("%s error: %s", a.Kind, a.Error)
	}
	return a
}

func (a *answer) floats(t *testing.T, name string) []float64 {
	t.Helper()
	for _, x := range a.Arrays {
		if x.Name == name {
			n := 1
			for _, s := range x.Shape {
				n *= s
			}
			out := make([]float64, n)
			if _, err := binary.Decode(a.body[0][x.Offset:], binary.LittleEndian, out); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatalf("no array %s in %v", name, a.Arrays)
	return nil
}

func (a *answer) handle() int64 { return int64(a.Result.(map[string]any)["handle"].(float64)) }

// The worker gives the bits of the library, for kernels, new graphs and saved states.
func TestKernel(t *testing.T) {
	p := start(t)
	drugs, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	train, test := drugs.Graphs[:30], drugs.Graphs[30:40]
	trainBody, testBody := graph.Encode(train), graph.Encode(test)
	for _, name := range []string{"mlg", "flg", "wl", "wl-oa", "wl-edge", "wl-sp", "sp", "graphlet", "rw", "rw-plain", "labels", "edge-labels", "nspd", "odd-sth", "subgraph-matching", "core", "hadamard"} {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		switch x := k.(type) {
		case classic.PlainWalk:
			k = x.Converging(train)
		case mlg.Kernel: // graphs decide on bonds
			x.Bonds = mlg.Yes
			k = x
		}
		f, err := k.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		gram, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cross, err := f.Cross(t.Context(), test)
		if err != nil {
			t.Fatal(err)
		}
		a := p.ok(p.ask("fit", 0, map[string]any{"kernel": name, "gram": true}, trainBody))
		equal(t, name, a.floats(t, "gram"), gram.Data)
		h := a.handle()
		equal(t, name, p.ok(p.ask("cross", h, nil, testBody)).floats(t, "cross"), cross.Data)
		diagonal := p.ok(p.ask("diagonal", h, nil, trainBody)).floats(t, "diagonal")
		saved := p.ok(p.ask("save", h, nil, nil))
		again := p.ok(p.ask("load", 0, map[string]any{"workers": 1}, saved.body[0][:saved.Arrays[0].Shape[0]], h)).handle()
		equal(t, name, p.ok(p.ask("cross", again, nil, testBody)).floats(t, "cross"), cross.Data)
		equal(t, name, p.ok(p.ask("diagonal", again, nil, nil)).floats(t, "diagonal"), diagonal)
		if a := p.ask("cross", h, nil, testBody); a.Kind != "handle" {
			t.Errorf("a handle that was released: %q of kind %s", a.Error, a.Kind)
		}
	}
}

func equal(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: value %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

// What makes no sense gets an answer that says so, and the worker goes on.
func TestErrors(t *testing.T) {
	p := start(t)
	body := graph.Encode(graphtest.Suite(1)[:3])
	of := func(text string) map[string]any { return map[string]any{"kernel": text} }
	for _, c := range []struct {
		op     string
		handle int64
		args   any
		body   []byte
		want   string
	}{
		{"nothing", 0, nil, nil, `operation "nothing" is not known`},
		{"fit", 0, map[string]any{"colour": 1}, nil, `unknown field "colour"`},
		{"fit", 0, of("x"), body, `kernel "x", want one of`},
		{"fit", 0, of("mlg gamma=-1"), body, "gamma = -1"},
		{"fit", 0, of("wl labels=x"), body, `labels = "x", want auto`},
		{"fit", 0, of("wl"), body[:len(body)-3], "graphs: "},
		{"cross", 77, nil, body, "does not hold"},
		{"cross", 0, nil, body, "no handle"},
		{"read", 0, map[string]any{"path": "/nowhere/at/all"}, nil, "no such file"},
		{"train", 0, of("wl labels=degrees"), body, "0 targets, want 3"},
		{"load", 0, map[string]any{"workers": 1}, []byte("no model"), ""},
		{"draw-matrix", 0, map[string]any{"rows": 3}, []byte{1}, "want 3 rows"},
		{"embed-fit", 0, map[string]any{"components": 0}, body, "components = 0"},
	} {
		a := p.ask(c.op, c.handle, c.args, c.body)
		if a.Error == "" || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s %v: error %q, want one with %q", c.op, c.args, a.Error, c.want)
		}
	}
	p.ok(p.ask("hello", 0, nil, nil))
}

// An error says in fields which parameter, place in a text or graph is wrong.
func TestWrong(t *testing.T) {
	p := start(t)
	bare := graph.Encode([]*graph.Graph{graphtest.Path(2), graphtest.Path(3)})
	zero := 0
	for text, want := range map[string]wrong{
		"wl h=-1":          {Of: "wl", Parameter: "h", Value: "-1", Want: "0 to 65536", Character: 6, Reason: "wl: h = -1, want 0 to 65536"},
		"0.5 wl + sp":      {Character: 10, Reason: "weights of some terms, want all or none to have one"},
		"wl labels":        {Of: "wl", Parameter: "labels", Value: `"true"`, Want: "auto, labels, degrees or unlabeled", Character: 10, Reason: "wl: labels = \"true\", want auto, labels, degrees or unlabeled"},
		"lg tau=1":         {Of: "lg", Parameter: "tau", Want: "one of eta, gamma, standardize, incident, subdivide, stereo, directed, undirected", Character: 4, Reason: "lg: no parameter tau, want one of eta, gamma, standardize, incident, subdivide, stereo, directed, undirected"},
		"wl labels=labels": {Graph: &zero, GraphReason: "graph 0 has no labels, which the kernel compares", Missing: "labels"},
	} {
		a := p.ask("fit", 0, map[string]any{"kernel": text}, bare)
		if a.Wrong == nil {
			t.Errorf("%s: %q is about nothing", text, a.Error)
			continue
		}
		got := *a.Wrong
		if (got.Graph == nil) != (want.Graph == nil) || got.Graph != nil && *got.Graph != *want.Graph {
			t.Errorf("%s: graph %v, want %v", text, got.Graph, want.Graph)
		}
		if got.Graph = want.Graph; got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	if a := p.ask("fit", 0, map[string]any{"kernel": "mlg base=(heat tau=1)"}, bare); a.Wrong.Of != "heat" || a.Wrong.Character != 16 {
		t.Errorf("inside a value: %+v", a.Wrong)
	}
	if a := p.ask("cross", 77, nil, nil); a.Wrong != nil {
		t.Errorf("%q is about %+v", a.Error, a.Wrong)
	}
}

// Serve ends with its input, in the middle of work too, and removes the folder.
func TestEnd(t *testing.T) {
	p := start(t)
	p.ok(p.ask("hello", 0, nil, nil))
	big := graph.NewBuilder(400)
	for v := range 400 {
		big.AddEdge(v, (v+1)%400)
	}
	g, err := big.Build()
	if err != nil {
		t.Fatal(err)
	}
	b := graph.Encode([]*graph.Graph{g})
	text := "graphlet-mix k=5 samples=1073741824"
	if _, err := p.in.Write(frame(map[string]any{"op": "fit", "args": map[string]any{"kernel": text}}, b)); err != nil {
		t.Fatal(err)
	}
	p.in.Close()
	select {
	case err := <-p.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the worker goes on after the end of its input")
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// Frames that cannot be read end the worker with an error.
func TestBadFrames(t *testing.T) {
	for name, in := range map[string][]byte{
		"cut":          {1, 2, 3},
		"huge header":  {255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0},
		"no JSON":      append([]byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "abc"...),
		"cut body":     frame(map[string]any{"op": "hello"}, make([]byte, 100))[:60],
		"other folder": frame(map[string]any{"op": "hello", "file": "../x"}, nil),
	} {
		if err := Serve(t.Context(), bytes.NewReader(in), io.Discard, t.TempDir()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An embedding with all landmarks has the dot products of the kernel.
func TestEmbedding(t *testing.T) {
	p := start(t)
	graphs := graphtest.Suite(4)
	f, err := mlg.Default().Fit(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := f.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := graph.Encode(graphs)
	a := p.ok(p.ask("embed-fit", 0, map[string]any{"kernel": "mlg", "components": len(graphs), "tolerance": 1e-12}, body))
	first := a.floats(t, "vectors")
	dim := len(first) / len(graphs)
	rows := &kernel.Matrix{Rows: len(graphs), Cols: dim, Data: first}
	again := &kernel.Matrix{Rows: len(graphs), Cols: dim, Data: p.ok(p.ask("embed", a.handle(), nil, body)).floats(t, "vectors")}
	for i := range graphs {
		for j := range graphs {
			sum, sum2 := 0.0, 0.0
			for c := range rows.Cols {
				sum += rows.At(i, c) * rows.At(j, c)
				sum2 += again.At(i, c) * rows.At(j, c)
			}
			if math.Abs(sum-gram.At(i, j)) > 1e-6 || math.Abs(sum2-gram.At(i, j)) > 1e-6 {
				t.Errorf("x(%d)·x(%d) = %v and %v, want %v", i, j, sum, sum2, gram.At(i, j))
			}
		}
	}
}

// Graphs decide whether bonds count, unless the kernel says; the answer says what is compared.
func TestCompared(t *testing.T) {
	p := start(t)
	molecules, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		graphs []*graph.Graph
		kernel string
		want   string
	}{
		{molecules.Graphs[:5], "mlg", "atoms by label, bonds by order"},
		{molecules.Graphs[:5], "mlg bonds=false", "atoms by label, bonds alike"},
		{molecules.Graphs[:5], "wl", "atoms by label, bonds alike"},
		{molecules.Graphs[:5], "nspd", "atoms by label, bonds by order"},
		{molecules.Graphs[:5], "core base=(sp labels=degrees)", "atoms by degree, bonds alike; left out: labels"},
		{molecules.Graphs[:5], "hadamard labels=unlabeled base=(nspd)", "atoms alike, bonds by order; left out: labels"},
		{molecules.Graphs[:5], "graphlet", "atoms alike, bonds alike; left out: labels"},
		{dataset.Scales(5, 1).Graphs, "mlg base=(labels*degree)", "vertices by label and degree"},
		{dataset.Scales(5, 1).Graphs, "mlg bonds=true", "vertices by label"},
	} {
		a := p.ok(p.ask("fit", 0, map[string]any{"kernel": c.kernel}, graph.Encode(c.graphs)))
		if got := a.Result.(map[string]any)["compared"]; got != c.want {
			t.Errorf("%s: %v, want %s", c.kernel, got, c.want)
		}
	}
}

// Progress is told before the answer, to those who ask for it, and always up to the end of a stage.
func TestProgress(t *testing.T) {
	p := start(t)
	graphs := graph.Encode(graphtest.Suite(1))
	args := map[string]any{"kernel": "mlg radii=1", "gram": true}
	p.send(map[string]any{"op": "fit", "args": args, "progress": true}, graphs)
	last := map[string]work.Progress{}
	a := p.frame()
	for ; a.Progress != nil; a = p.frame() {
		last[a.Progress.Stage] = *a.Progress
	}
	p.ok(a)
	if len(last) == 0 {
		t.Error("no progress")
	}
	for stage, done := range last {
		if done.Done != done.Total {
			t.Errorf("%s ends with %d of %d", stage, done.Done, done.Total)
		}
	}
	if a := p.ok(p.ask("fit", 0, args, graphs)); a.Progress != nil {
		t.Error("progress that nobody asked for")
	}
}

// A matrix that does not fit into memory is refused before a kernel is fitted.
func TestMemory(t *testing.T) {
	graphtest.Slow(t)
	n := int(math.Sqrt(float64(work.Available()) / 4))
	if n == 0 || n > 1_000_000 {
		graphtest.Missing(t, "it is not known how much memory is free, or there is too much of it")
	}
	g := graphtest.Suite(1)[:1]
	body := graph.Encode(slices.Repeat(g, n))
	p := start(t)
	a := p.ask("fit", 0, map[string]any{"kernel": "labels", "gram": true}, body)
	if a.Kind != "memory" || !regexp.MustCompile(`^a matrix of \d+×\d+ values would take about .* GB of memory, but .* GB are free: .*MLGEmbedding`).MatchString(a.Error) {
		t.Errorf("%q of kind %q", a.Error, a.Kind)
	}
	h := p.ok(p.ask("fit", 0, map[string]any{"kernel": "labels"}, body)).handle()
	if a = p.ask("cross", h, nil, body); a.Kind != "memory" {
		t.Errorf("%q of kind %q", a.Error, a.Kind)
	}
}

// A training whose matrix does not fit into memory is not refused where centres fit, as by the command.
func TestTrainingMemory(t *testing.T) {
	graphtest.Slow(t)
	o := choose.DefaultOptions()
	if o.Memory = work.Available(); o.Memory == 0 || o.Memory > 100e9 {
		graphtest.Missing(t, "it is not known how much memory is free, or there is too much of it")
	}
	o.Memory += o.Memory / 8 // more may be free by then
	n := 8192
	for o.Centres(n) == 0 {
		n += 1024
	}
	body := graph.Encode(slices.Repeat(graphtest.Suite(1)[:1], n))
	train := func(svm bool) *answer {
		p := start(t)
		return p.ask("train", 0, map[string]any{"kernel": "labels", "svm": svm, "classes": []string{"a"}, "labels": make([]int, n)}, body)
	}
	if a := train(true); a.Kind != "memory" {
		t.Errorf("support vector machines: %q of kind %q", a.Error, a.Kind)
	}
	// The check comes before what is wrong here: there are no targets.
	if a := train(false); !strings.Contains(a.Error, fmt.Sprintf("0 targets, want %d", n)) {
		t.Errorf("%q of kind %q", a.Error, a.Kind)
	}
}
