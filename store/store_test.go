package store

import (
	"bytes"
	"cmp"
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
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/nearest"
	"github.com/mlgkernel/mlg/work"
)

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: r.IntN(9), Edge: 0.4, Labels: 3, Weighted: i%2 == 0})
	}
	return out
}

// newModel fits a kernel to random graphs.
func newModel(t testing.TB, n int, k kernel.Kernel) *model.Model {
	t.Helper()
	train := graphs(n, 1)
	sum, err := kernel.NewCollection(train).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return model.Of(train, sum)
}

func small() mlg.Kernel {
	k := mlg.Default()
	k.Base, k.Samples, k.Rank = "labels", 20, 4
	return k
}

func with(change func(*mlg.Kernel)) mlg.Kernel {
	k := small()
	change(&k)
	return k
}

func models(t testing.TB) map[string]*model.Model {
	combine := func(c mlg.Combine) mlg.Kernel { return with(func(k *mlg.Kernel) { k.Combine = c }) }
	factor := func(k mlg.Kernel) kernel.Factor { return kernel.Factor{Kernel: k} }
	a, b := factor(small()), factor(combine(mlg.Sum))
	b.Subdivide = true
	return map[string]*model.Model{
		"product": newModel(t, 30, kernel.Sum{Terms: []kernel.Term{{Weight: 0.3, Factors: []kernel.Factor{a, b}}, {Weight: 1, Factors: []kernel.Factor{b}}}}),
		"top":     newModel(t, 30, small()),
		"sum":     newModel(t, 30, combine(mlg.Sum)),
		"weight":  newModel(t, 30, kernel.Weighted([]float64{2}, []kernel.Kernel{small()})),
		"wl":      newModel(t, 30, classic.DefaultWL()),
		"mixed":   newModel(t, 30, kernel.Mean(small(), classic.DefaultWL())),
		"weights": newModel(t, 30, kernel.Weighted([]float64{1, 0.5}, []kernel.Kernel{combine(mlg.Product), with(func(k *mlg.Kernel) { k.Radii, k.Rank = nil, 2 })})),
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

func writeAll(t testing.TB, m *model.Model, gs []*graph.Graph, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mlgs")
	w, err := write(t.Context(), path, m, feed(gs, io.EOF), size)
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
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Every kernel is stored: what was written comes back as the same features, to the bit.
func TestEveryKernel(t *testing.T) {
	exact := mlg.Default()
	exact.Base, exact.Exact = "labels", true
	all := []kernel.Kernel{exact}
	for _, name := range kernel.Names() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	drugs, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(drugs.Graphs, func(a, b *graph.Graph) int { return a.N() - b.N() })
	r := graphtest.Rand(1)
	var four []*graph.Graph // lg wants graphs of one size
	var attributed []*graph.Graph
	for range 33 {
		attributed = append(attributed, graphtest.Random(r, graphtest.Options{N: 5, Edge: 0.5, Dim: 2}))
		four = append(four, graphtest.Random(r, graphtest.Options{N: 4, Edge: 0.5, Labels: 2}))
	}
	for _, k := range all {
		if k.Validate() != nil { // a sum or a kernel of another one that is not said
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			gs := drugs.Graphs[:33]
			if k.Name() == "lg" {
				gs = four
			} else if k.Name() == "gaussian" {
				gs = attributed
			}
			m, err := model.New(t.Context(), gs[21:], k)
			if err != nil {
				t.Fatal(err)
			}
			gs = gs[:21]
			s := open(t, writeAll(t, m, gs, 8))
			for _, r := range [][2]int{{0, 21}, {0, 8}, {3, 11}, {20, 21}, {5, 5}} {
				a, err := m.Kernel.Transform(t.Context(), gs[r[0]:r[1]])
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Features(r[0], r[1])
				if err != nil {
					t.Fatal(err)
				}
				if r[0] < r[1] && !bytes.Equal(encoded(t, got), encoded(t, a)) {
					t.Errorf("the features of the graphs %v differ", r)
				}
				if got.Len() != r[1]-r[0] {
					t.Errorf("features of %d graphs, want those of %v", got.Len(), r)
				}
			}
		})
	}
}

func encoded(t *testing.T, a kernel.Features) []byte {
	t.Helper()
	b, err := a.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What was written comes back, and kernel values with it have the same bits as without the file.
func TestRoundTrip(t *testing.T) {
	for name, m := range models(t) {
		train, err := m.Kernel.Train(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 8, 9, 40, 53} {
			gs := graphs(n, 2)
			s := open(t, writeAll(t, m, gs, 16))
			if s.Len() != n {
				t.Fatalf("%s: %d graphs, want %d", name, s.Len(), n)
			}
			want, err := m.Kernel.Cross(t.Context(), gs)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range [][2]int{{0, n}, {0, 1}, {3, 3}, {5, 16}, {15, 17}, {14, 39}, {n - 1, n}} {
				if r[0] < 0 || r[1] > n {
					continue
				}
				a, err := s.Features(r[0], r[1])
				if err != nil {
					t.Fatal(err)
				}
				got, err := kernel.Between(t.Context(), m.Kernel, a, train)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got.Data {
					if math.Float64bits(v) != math.Float64bits(want.Data[r[0]*want.Cols+i]) {
						t.Fatalf("%s, graphs %v: kernel value %d is %v, want %v", name, r, i, v, want.Data[r[0]*want.Cols+i])
					}
				}
			}
		}
	}
}

// Matrices are used where they are in the file, and stay decoded. Other features are let go, but for a
// few chunks, so that a search takes no more memory than these.
func TestLetGo(t *testing.T) {
	for name, want := range map[string]int{"top": 7, "product": 7, "wl": recentChunks, "mixed": recentChunks} {
		m := models(t)[name]
		s := open(t, writeAll(t, m, graphs(50, 2), 8))
		a, err := s.Features(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := s.Search(work.WithWorkers(t.Context(), 3), a, 3); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Features(9, 30); err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, c := range s.chunks {
				if c.kept != nil {
					kept++
				}
			}
			if kept != want {
				t.Errorf("%s: features of %d chunks are kept, want %d", name, kept, want)
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
	s := open(t, writeAll(t, newModel(t, 30, small()), gs, 8))
	ids, targets, err := s.Texts(0, 20)
	if err != nil || !slices.Equal(ids, want[0]) || !slices.Equal(targets, want[1]) {
		t.Errorf("identifiers %q, targets %q, error %v; want %q", ids, targets, err, want)
	}
	for i := range gs {
		if id, target, err := s.Texts(i, i+1); err != nil || id[0] != ids[i] || target[0] != targets[i] {
			t.Errorf("graph %d: %q, %q, error %v; want %q, %q", i, id, target, err, ids[i], targets[i])
		}
	}
}

// Search finds what sorting all kernel values gives, also where many are equal.
func TestSearch(t *testing.T) {
	for name, m := range models(t) {
		gs := graphs(60, 4)
		gs = append(gs, gs[:30]...) // with ties
		s := open(t, writeAll(t, m, gs, 16))
		query := append(graphs(20, 5), gs[:3]...)
		queries, err := m.Kernel.Transform(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		all, err := m.Kernel.Transform(t.Context(), gs)
		if err != nil {
			t.Fatal(err)
		}
		values, err := kernel.Between(t.Context(), m.Kernel, queries, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{0, 1, 7, 90, 200} {
			for _, workers := range []int{1, 3} {
				hits, err := s.Search(work.WithWorkers(t.Context(), workers), queries, k)
				if err != nil {
					t.Fatal(err)
				}
				for q := range query {
					var want []nearest.Hit
					for i := range gs {
						want = append(want, nearest.Hit{Index: i, Similarity: values.At(q, i)})
					}
					slices.SortFunc(want, func(a, b nearest.Hit) int {
						return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), a.Index-b.Index)
					})
					want = want[:min(k, len(want))]
					if !slices.Equal(hits[q], want) {
						t.Fatalf("%s: query %d, k = %d:\n%v, want\n%v", name, q, k, hits[q], want)
					}
				}
			}
		}
		if _, err := s.Search(t.Context(), queries, -1); err == nil {
			t.Error("-1 graphs are not refused")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Search(ctx, queries, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	m := newModel(t, 30, small())
	if hits, err := open(t, writeAll(t, m, nil, 8)).Search(t.Context(), trained(t, m), 3); err != nil || len(hits) != 30 || len(hits[0]) != 0 {
		t.Errorf("an empty store: %v, error %v", hits, err)
	}
}

// An interrupted run is taken up behind its last good chunk, wherever it broke off.
func TestResume(t *testing.T) {
	m := newModel(t, 30, small())
	gs := graphs(43, 6)
	want, err := os.ReadFile(writeAll(t, m, gs, 8))
	if err != nil {
		t.Fatal(err)
	}
	sections, err := file.Decode(want, Kind, Version)
	if err != nil {
		t.Fatal(err)
	}
	var ends []int // of the model and the chunks
	at := 64
	for _, x := range sections {
		at += 64 + (len(x.Data)+63)/64*64
		ends = append(ends, at)
	}
	path := filepath.Join(t.TempDir(), "x.mlgs")
	again := func(what string, resumed int) {
		t.Helper()
		w, err := write(t.Context(), path, m, feed(gs, io.EOF), 8)
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
		if _, err := os.Stat(path + file.Partial); !os.IsNotExist(err) {
			t.Errorf("%s: the partial store is still there", what)
		}
	}
	again("over nothing", 0)
	// By an error of the reader, which may be an interruption.
	broken := errors.New("broken")
	if w, err := write(t.Context(), path, m, feed(gs[:21], broken), 8); !errors.Is(err, broken) || w.Graphs != 16 {
		t.Errorf("%+v, error %v", w, err)
	}
	again("after an error", 16)
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path+file.Partial, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for cut := 0; cut <= len(want); cut += 1 + cut%397 {
		resumed := 0
		for i, end := range ends[1:] {
			if cut >= end {
				resumed = min(8*(i+1), 43)
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
		if _, err := write(t.Context(), path, m, feed(gs, io.EOF), 8); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	put(want[:ends[3]])
	refuse("another model", newModel(t, 29, small()), gs)
	refuse("more than the 8 graphs", m, gs[:8:8])
	renamed := slices.Clone(gs)
	b := graph.NewBuilder(0)
	b.SetID("another")
	if renamed[9], err = b.Build(); err != nil {
		t.Fatal(err)
	}
	refuse("its graphs 8 … 15 differ from those", m, renamed)
	again("after refusals", 24)
}

// Two processes do not write one store. (One process stands for both here: a lock belongs to
// the opened file.)
func TestTwoWriters(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly":
	default:
		graphtest.Missing(t, "no locks on %s", runtime.GOOS)
	}
	m := newModel(t, 10, small())
	path := filepath.Join(t.TempDir(), "x.mlgs")
	var inner error
	called := false
	next := feed(graphs(4, 1), io.EOF)
	_, err := write(t.Context(), path, m, func() (*graph.Graph, error) {
		if !called {
			called = true
			_, inner = write(t.Context(), path, m, feed(nil, io.EOF), 8)
		}
		return next()
	}, 8)
	if err != nil || inner == nil || !strings.Contains(inner.Error(), "another process is writing it") {
		t.Errorf("errors %v and %v", err, inner)
	}
	if s := open(t, path); s.Len() != 4 {
		t.Errorf("%d graphs, want 4", s.Len())
	}
}

// A change of any byte is noticed, when the store is opened or when it is read.
func TestDamage(t *testing.T) {
	graphtest.Slow(t)
	path := writeAll(t, newModel(t, 6, small()), graphs(20, 7), 8)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) error {
		s := &Store{path: path, file: &file.Mapped{}}
		if err := s.open(b); err != nil {
			return err
		}
		_, err := s.Features(0, s.Len())
		return err
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
	if _, err := s.Search(t.Context(), trained(t, s.Model()), 1); err == nil || !strings.Contains(err.Error(), "damaged: section graphs/16/4 does not match its checksum") || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	for name, text := range map[string]string{"empty": "", "not an mlg store file": "hello", "ends too early": string(data[:50])} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q in it", err, name)
		}
	}
	if err := os.WriteFile(path, data[:100], 0o666); err != nil {
		t.Fatal(err)
	}
	if !Is(path) || Is(filepath.Dir(path)) || Is(path+"x") {
		t.Error("Is does not tell a store")
	}
}

// A file that another program makes shorter while it is open is an error of every read, whether a chunk
// was used before or not.
func TestShortened(t *testing.T) {
	if runtime.GOOS == "windows" {
		graphtest.Missing(t, "files are read, not mapped, on this system")
	}
	m := newModel(t, 20, small())
	gs := graphs(200, 4)
	for _, used := range []bool{false, true} {
		path := writeAll(t, m, gs, 16)
		s := open(t, path)
		queries, err := m.Kernel.Transform(t.Context(), gs[:3])
		if err != nil {
			t.Fatal(err)
		}
		if used {
			if _, err := s.Search(t.Context(), queries, 5); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Truncate(path, 100); err != nil {
			t.Fatal(err)
		}
		want := path + ": it cannot be read any more: another program made it shorter"
		_, err1 := s.Search(t.Context(), queries, 5)
		_, err2 := s.Features(0, s.Len())
		_, _, err3 := s.Texts(0, s.Len())
		for i, err := range []error{err1, err2, err3} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("used before %v, read %d: %v, want %s", used, i, err, want)
			}
		}
	}
}

// A container with good checksums whose sections are not those of a store is refused.
func TestSections(t *testing.T) {
	data, err := os.ReadFile(writeAll(t, newModel(t, 6, small()), graphs(20, 7), 8))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s []file.Section) []file.Section{
		"not begin with a model":      func(s []file.Section) []file.Section { return s[1:] },
		"graphs/8/8 after 0 graphs":   func(s []file.Section) []file.Section { return slices.Delete(s, 1, 2) },
		"graphs/0/0 after 0 graphs":   func(s []file.Section) []file.Section { s[1].Name = "graphs/0/0"; return s },
		"graphs/0/008 after 0 graphs": func(s []file.Section) []file.Section { s[1].Name = "graphs/0/008"; return s },
		"4 graphs in section graphs/4/4": func(s []file.Section) []file.Section {
			s[1].Name, s[2].Name, s[3].Name = "graphs/0/3", "graphs/3/1", "graphs/4/4"
			return s
		},
		"features of 8 graphs, want 16":      func(s []file.Section) []file.Section { s[1].Name = "graphs/0/16"; return s[:2] },
		"the texts of graph 4 end too early": func(s []file.Section) []file.Section { s[1].Data = s[1].Data[:len(s[1].Data)-12]; return s },
		"matrix 0 is not positive definite":  func(s []file.Section) []file.Section { clear(s[1].Data[32:]); return s },
		"features in form 7":                 func(s []file.Section) []file.Section { s[1].Data[8] = 7; return s },
		"a section of":                       func(s []file.Section) []file.Section { s[1].Data[3] = 1; return s },
		"the data end early":                 func(s []file.Section) []file.Section { s[1].Data = s[1].Data[:7]; return s },
	} {
		sections, err := file.Decode(slices.Clone(data), Kind, Version)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sections { // without the checksums that were read
			sections[i] = file.Section{Name: sections[i].Name, Data: sections[i].Data}
		}
		var b bytes.Buffer
		if err := file.Encode(&b, Kind, Version, change(sections)); err != nil {
			t.Fatal(err)
		}
		s := &Store{file: &file.Mapped{}}
		if err = s.open(b.Bytes()); err == nil {
			_, features := s.Features(0, s.Len())
			_, _, texts := s.Texts(0, s.Len())
			err = errors.Join(features, texts)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func FuzzStore(f *testing.F) {
	m := newModel(f, 4, with(func(k *mlg.Kernel) { k.Rank, k.Radii = 1, nil }))
	data, err := os.ReadFile(writeAll(f, m, graphs(3, 8), 8))
	if err != nil {
		f.Fatal(err)
	}
	sections, err := file.Decode(data, Kind, Version)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sections[1].Name, sections[1].Data)
	if wl, err := encode(f.Context(), newModel(f, 4, classic.DefaultWL()), graphs(3, 8)); err == nil {
		f.Add(sections[1].Name, wl)
	}
	f.Fuzz(func(t *testing.T, name string, chunk []byte) {
		// With good checksums, so that what lies behind them is tried.
		if len(name) > 40 {
			return
		}
		var b bytes.Buffer
		if err := file.Encode(&b, Kind, Version, []file.Section{sections[0], {Name: name, Data: chunk}}); err != nil {
			t.Fatal(err)
		}
		s := &Store{file: &file.Mapped{}}
		if s.open(b.Bytes()) != nil {
			return
		}
		s.Texts(0, s.Len())
		if _, err := s.Features(0, s.Len()); err == nil {
			if _, err := s.Search(t.Context(), trained(t, s.Model()), 2); err != nil {
				t.Error(err)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	const n = 20000
	for name, k := range map[string]kernel.Kernel{"mlg": with(func(k *mlg.Kernel) { k.Samples, k.Rank = 100, 10 }), "wl": classic.DefaultWL()} {
		b.Run(name, func(b *testing.B) {
			m := newModel(b, 200, k)
			s := open(b, writeAll(b, m, graphs(n, 9), chunkGraphs))
			query, err := m.Kernel.Transform(b.Context(), graphs(1, 10))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := s.Search(b.Context(), query, 10); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/graph")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	m := newModel(b, 200, with(func(k *mlg.Kernel) { k.Samples, k.Rank = 100, 10 }))
	gs := graphs(5000, 9)
	for b.Loop() {
		writeAll(b, m, gs, chunkGraphs)
	}
}

// trained returns the features of the training graphs of a model.
func trained(t testing.TB, m *model.Model) kernel.Features {
	t.Helper()
	a, err := m.Kernel.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}
