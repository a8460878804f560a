package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
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
func (p *parent) ask(op string, args any, body []byte, release ...int64) *answer {
	p.t.Helper()
	if _, err := p.in.Write(frame(map[string]any{"op": op, "args": args, "release": release}, body)); err != nil {
		p.t.Fatal(err)
	}
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
	a.body = data
	if a.File != "" {
		var err error
		path := filepath.Join(p.dir, a.File)
		if a.body, err = os.ReadFile(path); err != nil {
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
			for i := range out {
				out[i] = float64At(a.body[x.Offset:], i)
			}
			return out
		}
	}
	t.Fatalf("no array %s in %v", name, a.Arrays)
	return nil
}

func (a *answer) handle() int64 { return int64(a.Result.(map[string]any)["handle"].(float64)) }

// batch packs graphs as the parent does.
func batch(graphs []*graph.Graph) (batchLayout, []byte) {
	var a answer
	encodeGraphs(&a, graphs)
	var body []byte
	strings := 0
	for _, x := range a.Arrays {
		size := map[string]int{"<f8": 8, "<i8": 8, "<i4": 4, "|u1": 1}[x.Type]
		body = append(body, a.body[x.Offset:x.Offset+size*x.Shape[0]]...)
		if x.Name == "lengths" {
			strings = x.Shape[0]
		}
	}
	return batchLayout{Graphs: int64(len(graphs)), Strings: int64(strings)}, body
}

// Graphs of all kinds come out of a batch as they went in.
func TestBatch(t *testing.T) {
	drugs, err := dataset.Drugs(dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	graphs := append(graphtest.Suite(3), drugs.Graphs...)
	layout, body := batch(graphs)
	got, _, err := decodeGraphs(layout, body)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range graphs {
		h := got[i]
		if g.ID() != h.ID() || g.Target() != h.Target() || g.N() != h.N() || g.M() != h.M() {
			t.Fatalf("graph %d: %v, want %v", i, h, g)
		}
		a, errA := dataset.AppendJSON(nil, g)
		b, errB := dataset.AppendJSON(nil, h)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("graph %d: %s, want %s", i, b, a)
		}
	}
}

// The worker gives the bits of the library, for kernels, new graphs and saved states.
func TestKernel(t *testing.T) {
	p := start(t)
	drugs, err := dataset.Drugs(dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	train, test := drugs.Graphs[:30], drugs.Graphs[30:40]
	layout, body := batch(train)
	testLayout, testBody := batch(test)
	for _, name := range []string{"mlg", "flg", "wl", "wl-oa", "wl-edge", "wl-sp", "sp", "graphlet", "rw", "rw-plain", "labels", "edge-labels"} {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if walk, ok := k.(baseline.PlainWalk); ok {
			k = walk.Converging(train)
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
		a := p.ok(p.ask("fit", map[string]any{"kernel": map[string]any{"kernel": name}, "batch": layout, "gram": true}, body))
		equal(t, name, a.floats(t, "gram"), gram.Data)
		h := a.handle()
		args := map[string]any{"handle": h, "batch": testLayout}
		equal(t, name, p.ok(p.ask("cross", args, testBody)).floats(t, "cross"), cross.Data)
		equal(t, name, p.ok(p.ask("gram", map[string]any{"handle": h}, nil)).floats(t, "gram"), gram.Data)
		if name == "mlg" {
			saved := p.ok(p.ask("save", map[string]any{"handle": h}, nil)).body
			n := p.ok(p.ask("save", map[string]any{"handle": h}, nil)).Arrays[0].Shape[0]
			args["handle"] = p.ok(p.ask("load", map[string]any{"workers": 1}, saved[:n], h)).handle()
			equal(t, name, p.ok(p.ask("cross", args, testBody)).floats(t, "cross"), cross.Data)
			args["handle"] = h
			if a := p.ask("cross", args, testBody); a.Kind != "handle" {
				t.Errorf("a handle that was released: %q of kind %s", a.Error, a.Kind)
			}
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
	layout, body := batch(graphtest.Suite(1)[:3])
	for _, c := range []struct {
		op   string
		args any
		body []byte
		want string
	}{
		{"nothing", nil, nil, `operation "nothing" is not known`},
		{"fit", map[string]any{"colour": 1}, nil, `unknown field "colour"`},
		{"fit", map[string]any{"kernel": map[string]any{"kernel": "x"}, "batch": layout}, body, `kernel "x", want one of`},
		{"fit", map[string]any{"kernel": map[string]any{"kernel": "mlg", "gamma": -1}, "batch": layout}, body, "gamma = -1"},
		{"fit", map[string]any{"kernel": map[string]any{"kernel": "wl", "labels": "x"}, "batch": layout}, body, `labels = "x"`},
		{"fit", map[string]any{"batch": layout}, body[:len(body)-3], "more than the"},
		{"fit", map[string]any{"batch": batchLayout{Graphs: 1 << 40}}, body, "array n has 1099511627776 entries"},
		{"fit", map[string]any{"batch": batchLayout{Graphs: -1}}, body, "array n has -1 entries"},
		{"cross", map[string]any{"handle": 77, "batch": layout}, body, "does not hold"},
		{"read", map[string]any{"path": "/nowhere/at/all"}, nil, "no such file"},
		{"train", map[string]any{"kernel": map[string]any{"kernel": "wl", "labels": "degrees"}, "batch": layout}, body, "svm: "},
		{"model-load", map[string]any{"workers": 1}, []byte("no model"), ""},
		{"draw-matrix", map[string]any{"rows": 3}, []byte{1}, "want 3 rows"},
		{"embed-fit", map[string]any{"batch": layout, "components": 0}, body, "components = 0"},
	} {
		a := p.ask(c.op, c.args, c.body)
		if a.Error == "" || !strings.Contains(a.Error, c.want) {
			t.Errorf("%s %v: error %q, want one with %q", c.op, c.args, a.Error, c.want)
		}
	}
	p.ok(p.ask("hello", nil, nil))
}

// A batch that was changed anywhere gives an error or graphs, never a panic.
func FuzzBatch(f *testing.F) {
	for _, g := range graphtest.Suite(2) {
		l, b := batch([]*graph.Graph{g})
		f.Add(l.Graphs, l.Strings, b)
	}
	f.Fuzz(func(t *testing.T, graphs, strings int64, body []byte) {
		for i := range min(int(max(graphs, 0)), len(body)/32) {
			if n := int64At(body, i); n > 1<<16 {
				t.Skip("too large to try")
			}
		}
		gs, _, err := decodeGraphs(batchLayout{graphs, strings}, body)
		if err == nil && int64(len(gs)) != graphs {
			t.Errorf("%d graphs, want %d", len(gs), graphs)
		}
	})
}

// Serve ends with its input, in the middle of work too, and removes the folder.
func TestEnd(t *testing.T) {
	p := start(t)
	p.ok(p.ask("hello", nil, nil))
	big := graph.NewBuilder(400)
	for v := range 400 {
		big.AddEdge(v, (v+1)%400)
	}
	g, err := big.Build()
	if err != nil {
		t.Fatal(err)
	}
	l, b := batch([]*graph.Graph{g})
	record := map[string]any{"kernel": "graphlet-mix", "k": 5, "samples": 1 << 30}
	if _, err := p.in.Write(frame(map[string]any{"op": "fit", "args": map[string]any{"kernel": record, "batch": l}}, b)); err != nil {
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
	layout, body := batch(graphs)
	a := p.ok(p.ask("embed-fit", map[string]any{"kernel": map[string]any{"kernel": "mlg"}, "batch": layout, "components": len(graphs), "tolerance": 1e-12}, body))
	first := a.floats(t, "vectors")
	dim := len(first) / len(graphs)
	rows := &kernel.Matrix{Rows: len(graphs), Cols: dim, Data: first}
	again := &kernel.Matrix{Rows: len(graphs), Cols: dim, Data: p.ok(p.ask("embed", map[string]any{"handle": a.handle(), "batch": layout}, body)).floats(t, "vectors")}
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
