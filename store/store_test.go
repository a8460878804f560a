package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
)

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: r.IntN(9), Edge: 0.4, Labels: 3, Weighted: i%2 == 0})
	}
	return out
}

// newModel fits one kernel for each set of options.
func newModel(t testing.TB, n int, options ...func(*mlg.Options)) *model.Model {
	t.Helper()
	gs := graphs(n, 1)
	m := &model.Model{IDs: make([]string, n)}
	if len(options) == 0 {
		options = append(options, func(*mlg.Options) {})
	}
	for i, change := range options {
		o := mlg.DefaultOptions()
		o.Samples, o.Rank, o.Workers = 20, 4, 2
		change(&o)
		fitted, err := mlg.Fit(t.Context(), gs, o)
		if err != nil {
			t.Fatal(err)
		}
		m.Kernels = append(m.Kernels, model.Kernel{Weight: 1 / float64(1+i), Fitted: fitted})
	}
	return m
}

func models(t testing.TB) map[string]*model.Model {
	combine := func(c mlg.Combine) func(*mlg.Options) { return func(o *mlg.Options) { o.Combine = c } }
	return map[string]*model.Model{
		"top":     newModel(t, 30),
		"sum":     newModel(t, 30, combine(mlg.Sum)),
		"weights": newModel(t, 30, combine(mlg.Product), func(o *mlg.Options) { o.Radii, o.Rank = nil, 2 }),
	}
}

// feed returns the graphs one after the other, then err.
func feed(gs []*graph.Graph, err error) func() (*graph.Graph, error) {
	return func() (*graph.Graph, error) {
		if len(gs) == 0 {
			return nil, err
		}
		g := gs[0]
		gs = gs[1:]
		return g, nil
	}
}

func write(t testing.TB, m *model.Model, gs []*graph.Graph, capacity int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mlgs")
	w, err := Write(t.Context(), path, m, feed(gs, io.EOF), WriteOptions{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	if w != (Written{Graphs: len(gs)}) {
		t.Fatalf("%+v, want %d graphs", w, len(gs))
	}
	return path
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What was written comes back with the same bits, and so do kernel values.
func TestRoundTrip(t *testing.T) {
	for name, m := range models(t) {
		for _, n := range []int{0, 1, 8, 9, 40, 53} {
			gs := graphs(n, 2)
			s := open(t, write(t, m, gs, 16))
			if s.Len() != n {
				t.Fatalf("%s: %d graphs, want %d", name, s.Len(), n)
			}
			want, err := s.Space().Transform(t.Context(), gs)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Records(0, n)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || Sum(got) != Sum(want) {
				t.Fatalf("%s: the records of %d graphs differ", name, n)
			}
			if n < 40 {
				continue
			}
			size := s.Space().Size()
			for _, r := range [][2]int{{0, 1}, {3, 3}, {5, 16}, {15, 17}, {14, 39}, {n - 1, n}} {
				if part, err := s.Records(r[0], r[1]); err != nil || !slices.Equal(part, want[r[0]*size:r[1]*size]) {
					t.Errorf("%s: the records %v differ; error %v", name, r, err)
				}
			}
			cross, err := m.Cross(t.Context(), gs)
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.Space().Block(got)
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Space().Block(s.Space().Train().Data)
			if err != nil {
				t.Fatal(err)
			}
			values := make([]float64, n*b.Len())
			s.Space().Compare(values, b.Len(), a, 0, n, b, 0, b.Len())
			for i, v := range values {
				if math.Float64bits(v) != math.Float64bits(cross.Data[i]) {
					t.Fatalf("%s: kernel value %d is %v, want %v", name, i, v, cross.Data[i])
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	gs := graphs(20, 3)
	var want [2][]string
	for i := range gs {
		id, target := "", ""
		if i%3 > 0 {
			id = strings.Repeat("é", i*20)
		}
		if i%2 > 0 {
			target = fmt.Sprint("class ", i)
		}
		b := graph.NewBuilder(2)
		b.SetLabel(0, "0")
		b.SetLabel(1, "1")
		b.SetID(id)
		b.SetTarget(target)
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		gs[i] = g
		if id == "" {
			id = fmt.Sprint(i + 1)
		}
		want[0], want[1] = append(want[0], id), append(want[1], target)
	}
	s := open(t, write(t, newModel(t, 30), gs, 8))
	ids, targets, err := s.Texts()
	if err != nil || !slices.Equal(ids, want[0]) || !slices.Equal(targets, want[1]) {
		t.Errorf("identifiers %q, targets %q, error %v; want %q", ids, targets, err, want)
	}
	for i := range gs {
		if id, target, err := s.Text(i); err != nil || id != ids[i] || target != targets[i] {
			t.Errorf("graph %d: %q, %q, error %v; want %q, %q", i, id, target, err, ids[i], targets[i])
		}
	}
}

// Search finds what sorting all kernel values gives, also where many are equal.
func TestSearch(t *testing.T) {
	for name, m := range models(t) {
		gs := graphs(60, 4)
		gs = append(gs, gs[:30]...) // with ties
		s := open(t, write(t, m, gs, 16))
		query := append(graphs(20, 5), gs[:3]...)
		records, err := s.Space().Transform(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Records(0, s.Len())
		if err != nil {
			t.Fatal(err)
		}
		a, errA := s.Space().Block(records)
		b, errB := s.Space().Block(all)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		values := make([]float64, len(query)*len(gs))
		s.Space().Compare(values, len(gs), a, 0, len(query), b, 0, len(gs))
		for _, k := range []int{0, 1, 7, 90, 200} {
			for _, workers := range []int{1, 3} {
				hits, err := s.Search(t.Context(), records, k, workers)
				if err != nil {
					t.Fatal(err)
				}
				for q := range query {
					var want []Hit
					for i := range gs {
						want = append(want, Hit{i, values[q*len(gs)+i]})
					}
					slices.SortFunc(want, order)
					want = want[:min(k, len(want))]
					if !slices.Equal(hits[q], want) {
						t.Fatalf("%s: query %d, k = %d:\n%v, want\n%v", name, q, k, hits[q], want)
					}
				}
			}
		}
		if _, err := s.Search(t.Context(), records, -1, 1); err == nil {
			t.Error("-1 graphs are not refused")
		}
		if _, err := s.Search(t.Context(), records[1:], 1, 1); err == nil || !strings.Contains(err.Error(), "queries") {
			t.Errorf("half a record: error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Search(ctx, records, 1, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	s := open(t, write(t, newModel(t, 30), nil, 8))
	if hits, err := s.Search(t.Context(), s.Space().Train().Data, 3, 2); err != nil || len(hits) != 30 || len(hits[0]) != 0 {
		t.Errorf("an empty store: %v, error %v", hits, err)
	}
}

// An interrupted run is taken up behind its last good chunk, wherever it broke off.
func TestResume(t *testing.T) {
	m := newModel(t, 30)
	gs := graphs(43, 6)
	want, err := os.ReadFile(write(t, m, gs, 8))
	if err != nil {
		t.Fatal(err)
	}
	var ends []int // of the head and the chunks
	h, err := decodeHead(want)
	if err != nil {
		t.Fatal(err)
	}
	chunks, _, err := walk(want[h.length:], h)
	if err != nil {
		t.Fatal(err)
	}
	ends = append(ends, h.length)
	for _, c := range chunks {
		ends = append(ends, ends[len(ends)-1]+len(c.data))
	}
	path := filepath.Join(t.TempDir(), "x.mlgs")
	again := func(what string, resumed int) {
		t.Helper()
		w, err := Write(t.Context(), path, m, feed(gs, io.EOF), WriteOptions{Capacity: 8})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if w != (Written{Graphs: 43, Resumed: resumed}) {
			t.Errorf("%s: %+v, want %d resumed", what, w, resumed)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: the store differs; error %v", what, err)
		}
		if _, err := os.Stat(path + partial); !os.IsNotExist(err) {
			t.Errorf("%s: the partial store is still there", what)
		}
	}
	again("over nothing", 0)
	// By an error of the reader, which may be an interruption.
	broken := errors.New("broken")
	if w, err := Write(t.Context(), path, m, feed(gs[:21], broken), WriteOptions{Capacity: 8}); !errors.Is(err, broken) || w.Graphs != 16 {
		t.Errorf("%+v, error %v", w, err)
	}
	again("after an error", 16)
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path+partial, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for cut := 0; cut <= len(want); cut += 1 + cut%397 {
		resumed := 0
		for i, end := range ends[1:6] { // the last chunk is not full, and is done again
			if cut >= end {
				resumed = 8 * (i + 1)
			}
		}
		put(want[:cut])
		again(fmt.Sprintf("cut at %d", cut), resumed)
	}
	// A damaged chunk, and all behind it, is done again.
	for chunk := range 5 {
		bad := slices.Clone(want)
		bad[ends[chunk]+100] ^= 1
		put(bad)
		again("damaged", 8*chunk)
	}
	refuse := func(want string, m *model.Model, gs []*graph.Graph) {
		t.Helper()
		if _, err := Write(t.Context(), path, m, feed(gs, io.EOF), WriteOptions{Capacity: 8}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	put(want[:ends[3]])
	refuse("another model", newModel(t, 29), gs)
	refuse("more than the 8 graphs", m, gs[:8:8])
	renamed := slices.Clone(gs)
	b := graph.NewBuilder(0)
	b.SetID("another")
	if renamed[9], err = b.Build(); err != nil {
		t.Fatal(err)
	}
	refuse("its graphs 8 … 15 are not those", m, renamed)
	again("after refusals", 24)
	if _, err := Write(t.Context(), path, m, feed(gs, io.EOF), WriteOptions{Capacity: 12}); err == nil || !strings.Contains(err.Error(), "multiple of 8") {
		t.Errorf("error %v", err)
	}
}

// Two processes do not write one store. (One process stands for both here: a lock belongs to
// the opened file.)
func TestTwoWriters(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
	default:
		t.Skip("no locks on " + runtime.GOOS)
	}
	m := newModel(t, 10)
	path := filepath.Join(t.TempDir(), "x.mlgs")
	var inner error
	called := false
	next := feed(graphs(4, 1), io.EOF)
	_, err := Write(t.Context(), path, m, func() (*graph.Graph, error) {
		if !called {
			called = true
			_, inner = Write(t.Context(), path, m, feed(nil, io.EOF), WriteOptions{Capacity: 8})
		}
		return next()
	}, WriteOptions{Capacity: 8})
	if err != nil || inner == nil || !strings.Contains(inner.Error(), "another process is writing it") {
		t.Errorf("errors %v and %v", err, inner)
	}
	if s := open(t, path); s.Len() != 4 {
		t.Errorf("%d graphs, want 4", s.Len())
	}
}

// A change of any byte is noticed, when the store is opened or when it is read.
func TestDamage(t *testing.T) {
	path := write(t, newModel(t, 6), graphs(20, 7), 8)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) error {
		s := &Store{path: path}
		if err := s.open(b, 1); err != nil {
			return err
		}
		return s.Verify()
	}
	if err := try(data); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if try(bad) == nil {
			t.Fatalf("byte %d of %d changed, and nothing was noticed", i, len(data))
		}
	}
	for i := 0; i < len(data); i += 1 + i%50 {
		if try(data[:i:i]) == nil {
			t.Fatalf("cut at %d of %d, and nothing was noticed", i, len(data))
		}
	}
	if try(append(slices.Clone(data), make([]byte, 64)...)) == nil {
		t.Error("something was appended, and nothing was noticed")
	}
	// The search does not go through a damaged chunk.
	bad := slices.Clone(data)
	bad[len(bad)-300] ^= 1
	if err := os.WriteFile(path, bad, 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	if _, err := s.Search(t.Context(), s.Space().Train().Data, 1, 2); err == nil || !strings.Contains(err.Error(), "do not match their checksum") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	for name, text := range map[string]string{"empty": "", "not an mlg store": "hello", "breaks off": magic} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q in it", err, name)
		}
	}
	if err := os.WriteFile(path, []byte(magic+"more"), 0o666); err != nil {
		t.Fatal(err)
	}
	if !Is(path) || Is(filepath.Dir(path)) || Is(path+"x") {
		t.Error("Is does not tell a store")
	}
}

func FuzzStore(f *testing.F) {
	data, err := os.ReadFile(write(f, newModel(f, 4, func(o *mlg.Options) { o.Rank = 1; o.Radii = nil }), graphs(3, 8), 8))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		// Put right the checksums, so that what lies behind them is tried.
		data = slices.Clone(data)
		if h, err := decodeHead(data); err == nil {
			for rest := data[h.length:]; len(rest) >= partSize; {
				c, err := decodeChunk(rest, h, 0)
				if err != nil {
					break
				}
				seal(c.data, 8)
				rest = rest[len(c.data):]
			}
		}
		s := &Store{}
		if s.open(data, 1) == nil && s.Verify() == nil {
			if _, err := s.Search(t.Context(), s.Space().Train().Data, 2, 1); err != nil {
				t.Error(err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	m := newModel(b, 200, func(o *mlg.Options) { o.Samples, o.Rank = 100, 10 })
	const n = 20000
	s := open(b, write(b, m, graphs(n, 9), Capacity))
	queries, err := s.Space().Transform(b.Context(), graphs(1, 10))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Search(b.Context(), queries, 10, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/graph")
}

func BenchmarkWrite(b *testing.B) {
	m := newModel(b, 200, func(o *mlg.Options) { o.Samples, o.Rank = 100, 10 })
	gs := graphs(5000, 9)
	for b.Loop() {
		write(b, m, gs, Capacity)
	}
}
