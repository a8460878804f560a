package tiles

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/store"
)

// fixture is a model with the records of its training graphs and their Gram matrix.
type fixture struct {
	model   *model.Model
	space   *store.Space
	train   store.Memory
	records []float64 // of train
	gram    *mlg.Matrix
}

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: 1 + r.IntN(9), Edge: 0.4, Labels: 3, Weighted: i%2 == 0})
	}
	return out
}

func newFixture(t testing.TB, n int, seed uint64, options ...func(*mlg.Options)) *fixture {
	t.Helper()
	f := &fixture{model: &model.Model{}}
	gs := graphs(n, seed)
	for i := range gs {
		f.model.IDs = append(f.model.IDs, string(rune('a'+i%26)))
	}
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
		f.model.Kernels = append(f.model.Kernels, model.Kernel{Weight: 1 / float64(1+i), Fitted: fitted})
	}
	var err error
	if f.space, err = store.NewSpace(f.model); err != nil {
		t.Fatal(err)
	}
	f.train = f.space.Train()
	f.records = f.train.Data
	if f.gram, err = f.model.Gram(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) manifest(t testing.TB, side int) *Manifest {
	t.Helper()
	m, err := NewManifest(f.space, side, f.train, "test", f.model.IDs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// work fills a folder by all of a number of shards.
func (f *fixture) work(t testing.TB, dir string, side, shards int) (sum Summary) {
	t.Helper()
	for i := range shards {
		s, err := Work(t.Context(), dir, f.space, f.manifest(t, side), f.train, Options{Shard: i + 1, Shards: shards, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		sum.Tiles += s.Tiles
		sum.Computed += s.Computed
		sum.Kept += s.Kept
		sum.Damaged += s.Damaged
	}
	return sum
}

// wantMerge merges folders and compares the result with the Gram matrix, bit by bit.
func (f *fixture) wantMerge(t *testing.T, dirs ...string) *Merged {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gram.npy")
	merged, err := Merge(t.Context(), out, dirs, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := dataset.ReadNPY(out)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != f.gram.Rows || got.Cols != f.gram.Cols {
		t.Fatalf("%d×%d values, want %d×%d", got.Rows, got.Cols, f.gram.Rows, f.gram.Cols)
	}
	for i, v := range got.Data {
		if math.Float64bits(v) != math.Float64bits(f.gram.Data[i]) {
			t.Fatalf("value %d is %v, want %v", i, v, f.gram.Data[i])
		}
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 2 {
		t.Errorf("files %v, error %v; want the matrix and its identifiers only", entries, err)
	}
	return merged
}

func problems(t *testing.T, dirs ...string) *Problems {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gram.npy")
	_, err := Merge(t.Context(), out, dirs, 2, nil)
	var p *Problems
	if !errors.As(err, &p) {
		t.Fatalf("error %v, want *Problems", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
		t.Errorf("%v was written in spite of %v", entries, err)
	}
	return p
}

func TestPlan(t *testing.T) {
	for _, graphs := range []int{0, 1, 2, 7, 8, 9, 100} {
		for _, side := range []int{1, 2, 3, 8, 200} {
			p := Plan{Graphs: graphs, Side: side}
			covered := make([]int, graphs*graphs) // how often a pair is in a tile
			for tile := range p.Tiles() {
				row, col := p.Place(tile)
				if row > col || p.Index(row, col) != tile {
					t.Fatalf("%+v: tile %d is at %d, %d, where there is tile %d", p, tile, row, col, p.Index(row, col))
				}
				lo, hi := p.Block(row)
				first, last := p.Block(col)
				for i := lo; i < hi; i++ {
					for j := first; j < last; j++ {
						covered[i*graphs+j]++
						if row != col {
							covered[j*graphs+i]++
						}
					}
				}
			}
			if slices.ContainsFunc(covered, func(n int) bool { return n != 1 }) {
				t.Errorf("%+v: not every pair is covered once", p)
			}
			for _, n := range []int{1, 3, 16} {
				var all []int
				for i := range n {
					part := slices.Collect(p.Shard(i+1, n))
					if len(part) > (p.Tiles()+n-1)/n {
						t.Errorf("%+v: shard %d of %d has %d tiles", p, i+1, n, len(part))
					}
					all = append(all, part...)
				}
				slices.Sort(all)
				for i, tile := range all {
					if i != tile {
						t.Fatalf("%+v: the shards of %d have the tiles %v", p, n, all)
					}
				}
				if len(all) != p.Tiles() {
					t.Errorf("%+v: %d shards have %d tiles, want %d", p, n, len(all), p.Tiles())
				}
			}
		}
	}
}

// The merged matrix has the bits of the model's Gram, whatever the kernel, the side of the
// tiles and the number of shards.
func TestBits(t *testing.T) {
	combine := func(c mlg.Combine, power int) func(*mlg.Options) {
		return func(o *mlg.Options) { o.Combine, o.Power = c, power }
	}
	for name, f := range map[string]*fixture{
		"top":     newFixture(t, 45, 1),
		"sum":     newFixture(t, 33, 2, combine(mlg.Sum, 2)),
		"product": newFixture(t, 33, 2, combine(mlg.Product, 1)),
		"weights": newFixture(t, 21, 3, combine(mlg.Top, 1), combine(mlg.Sum, 1), func(o *mlg.Options) { o.Radii = nil }),
		"one":     newFixture(t, 1, 4),
		"none":    newFixture(t, 0, 5),
	} {
		for _, side := range []int{5, 16, 64} {
			for _, shards := range []int{1, 3, 16} {
				t.Run(name, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "tiles")
					sum := f.work(t, dir, side, shards)
					want := Plan{Graphs: f.gram.Rows, Side: side}.Tiles()
					if sum != (Summary{Tiles: want, Computed: want}) {
						t.Errorf("%+v, want %d tiles computed", sum, want)
					}
					f.wantMerge(t, dir)
					if sum := f.work(t, dir, side, shards); sum != (Summary{Tiles: want, Kept: want}) {
						t.Errorf("a second time: %+v, want %d tiles kept", sum, want)
					}
				})
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	f := newFixture(t, 9, 1)
	m := f.manifest(t, 4)
	size := f.space.Size()
	tile, err := Compute(t.Context(), f.space, m.Plan, 1, f.records[:4*size], f.records[4*size:8*size])
	if err != nil {
		t.Fatal(err)
	}
	data := tile.Encode()
	again, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if again.Header != tile.Header || !slices.Equal(again.Values, tile.Values) || !bytes.Equal(again.Encode(), data) {
		t.Errorf("%+v comes back as %+v", tile, again)
	}
	if err := m.Check(&again.Header); err != nil {
		t.Error(err)
	}
	// Every changed bit, and every lost or added byte, is noticed.
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if _, err := Decode(bad); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d changed: error %v", i, err)
		}
		if _, err := Decode(data[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut after %d bytes: error %v", i, err)
		}
	}
	if _, err := Decode(append(slices.Clone(data), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte more: error %v", err)
	}
	for want, call := range map[string]func() error{
		"want records of 4 and 4": func() error {
			_, err := Compute(t.Context(), f.space, m.Plan, 1, f.records[:4*size], f.records[:3*size])
			return err
		},
		"but this is": func() error {
			_, err := Compute(t.Context(), f.space, Plan{Graphs: 9, Side: 4}, 1, nil, nil)
			return err
		},
		"side 0, want": func() error {
			_, err := Compute(t.Context(), f.space, Plan{Graphs: 9}, 1, nil, nil)
			return err
		},
		"not positive definite": func() error {
			bad := slices.Clone(f.records[:4*size])
			bad[1] = 1e9
			_, err := Compute(t.Context(), f.space, m.Plan, 0, bad, bad)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestManifest(t *testing.T) {
	f := newFixture(t, 5, 1)
	m, err := NewManifest(f.space, 2, f.train, "k", []string{"1", "ä", "\xff", "\ufffd", ""}, []string{"x", "", "", "", "y"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := again.Encode(); err != nil || !bytes.Equal(b, text) {
		t.Errorf("%s comes back as %s, error %v", text, b, err)
	}
	for i := range len(text) - 1 {
		bad := slices.Clone(text)
		bad[i] ^= 1
		if _, err := DecodeManifest(bad); err == nil {
			t.Fatalf("%s is accepted", bad)
		}
	}
	if _, err := NewManifest(f.space, 2, f.train, "k", nil, nil); err == nil || !strings.Contains(err.Error(), "0 identifiers") {
		t.Errorf("without identifiers: error %v", err)
	}
}

// tileFiles returns the paths of the tiles in a folder, sorted.
func tileFiles(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func change(t testing.TB, path string, f func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, f(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Damaged and missing tiles are listed by Merge and put right by Work, and what killed
// processes have left is removed.
func TestRepair(t *testing.T) {
	f := newFixture(t, 20, 1)
	dir := t.TempDir()
	f.work(t, dir, 4, 1)
	paths := tileFiles(t, dir)
	if len(paths) != 15 {
		t.Fatalf("%d tiles, want 15", len(paths))
	}
	change(t, paths[0], func(b []byte) []byte { return b[:len(b)-1] })
	change(t, paths[3], func(b []byte) []byte { b[100] ^= 4; return b })
	change(t, paths[5], func(b []byte) []byte { b[len(b)-1] ^= 128; return b })
	change(t, paths[7], func(b []byte) []byte { return nil })
	if err := os.Remove(paths[9]); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "."+filepath.Base(paths[2])+".ABC234.tmp")
	other := filepath.Join(dir, ".notes.tmp")
	for _, p := range []string{part, other} {
		if err := os.WriteFile(p, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := problems(t, dir)
	// Those without a header that can be read are missing as well.
	if len(p.Missing) != 4 || !slices.Contains(p.Missing, filepath.Base(paths[9])) || len(p.Damaged) != 4 || p.Foreign != nil || p.Duplicates != nil {
		t.Errorf("%+v, want 4 damaged and 4 missing", p)
	}
	for _, want := range []string{"missing, 4 of 15", "damaged, 4 of 15", "values do not match", "header does not match", "bytes, want", paths[7]} {
		if !strings.Contains(p.Error(), want) {
			t.Errorf("%q is not in\n%v", want, p)
		}
	}
	if sum := f.work(t, dir, 4, 3); sum != (Summary{Tiles: 15, Computed: 5, Kept: 10, Damaged: 4}) {
		t.Errorf("%+v, want 5 tiles computed, 4 of them damaged ones", sum)
	}
	f.wantMerge(t, dir)
	if _, err := os.Stat(part); !os.IsNotExist(err) {
		t.Errorf("%s is still there", part)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	// Damaged values alone, with a good header.
	change(t, paths[5], func(b []byte) []byte { b[len(b)-1] ^= 128; return b })
	if p := problems(t, dir); len(p.Damaged) != 1 || len(p.Missing) > 0 {
		t.Errorf("%+v, want one damaged", p)
	}
}

// Tiles of another model, plan or collection are refused, wherever they are found.
func TestForeign(t *testing.T) {
	f := newFixture(t, 20, 1)
	dir := t.TempDir()
	f.work(t, dir, 4, 1)
	paths := tileFiles(t, dir)

	other := newFixture(t, 20, 1, func(o *mlg.Options) { o.Gamma = 0.2 })
	same := *f // the same model, other graphs
	records, err := f.space.Transform(t.Context(), graphs(20, 99))
	if err != nil {
		t.Fatal(err)
	}
	same.train.Data = records
	for want, c := range map[string]struct {
		f    *fixture
		side int
	}{
		"another model": {other, 4},
		"another plan":  {f, 5},
		"other graphs":  {&same, 4},
	} {
		// The whole folder is of something else.
		_, err := Work(t.Context(), dir, c.f.space, c.f.manifest(t, c.side), c.f.train, Options{Shard: 1, Shards: 1, Workers: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
		// One tile is.
		away := t.TempDir()
		c.f.work(t, away, c.side, 1)
		stray, err := os.ReadFile(tileFiles(t, away)[2])
		if err != nil {
			t.Fatal(err)
		}
		var old []byte
		change(t, paths[2], func(b []byte) []byte { old = b; return stray })
		if p := problems(t, dir); len(p.Foreign) != 1 || !strings.Contains(p.Foreign[0], want) || !slices.Equal(p.Missing, []string{filepath.Base(paths[2])}) {
			t.Errorf("%+v, want one foreign: %s", p, want)
		}
		_, err = Work(t.Context(), dir, f.space, f.manifest(t, 4), f.train, Options{Shard: 1, Shards: 1, Workers: 2})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), paths[2]) {
			t.Errorf("error %v, want %s and %q in it", err, paths[2], want)
		}
		// It is not overwritten.
		change(t, paths[2], func(b []byte) []byte {
			if !bytes.Equal(b, stray) {
				t.Errorf("%s: the foreign tile was changed", want)
			}
			return old
		})
		if _, err := Merge(t.Context(), filepath.Join(t.TempDir(), "k.npy"), []string{dir, away}, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("two folders: error %v, want %q in it", err, want)
		}
	}
	f.wantMerge(t, dir)
	if _, err := Merge(t.Context(), filepath.Join(t.TempDir(), "k.npy"), []string{t.TempDir()}, 1, nil); err == nil || !strings.Contains(err.Error(), "no folder of tiles") {
		t.Errorf("an empty folder: error %v", err)
	}
	if _, err := Merge(t.Context(), filepath.Join(t.TempDir(), "k.csv"), []string{dir}, 1, nil); err == nil || !strings.Contains(err.Error(), ".npy") {
		t.Errorf("a .csv file: error %v", err)
	}
}

// Copies are found, and are an error where they differ. Tiles may lie in several folders.
func TestDuplicates(t *testing.T) {
	f := newFixture(t, 20, 1)
	dir, second := t.TempDir(), t.TempDir()
	f.work(t, dir, 4, 1)
	f.work(t, second, 4, 1)
	paths := tileFiles(t, dir)
	for i, p := range tileFiles(t, second) { // the folders have tile 5 in common
		drop := p
		if i < 5 {
			drop = paths[i]
		}
		if i == 5 {
			continue
		}
		if err := os.Remove(drop); err != nil {
			t.Fatal(err)
		}
	}
	if merged := f.wantMerge(t, dir, second); len(merged.Copies) != 1 || merged.Tiles != 15 {
		t.Errorf("%+v, want one copy", merged)
	}
	// A copy in the same folder, by another name.
	b, err := os.ReadFile(paths[6])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "tile (copy)"+extension)
	if err := os.WriteFile(copied, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if merged := f.wantMerge(t, dir, second); len(merged.Copies) != 2 {
		t.Errorf("%+v, want two copies", merged)
	}
	// One that claims to be the same tile and has other values.
	tile, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	tile.Values[0] /= 2
	if err := os.WriteFile(copied, tile.Encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := problems(t, dir, second); len(p.Duplicates) != 1 || !strings.Contains(p.Error(), copied) || !strings.Contains(p.Error(), paths[6]) {
		t.Errorf("%+v, want one duplicate", p)
	}
}

func TestCancelled(t *testing.T) {
	f := newFixture(t, 20, 1)
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	_, err := Work(ctx, dir, f.space, f.manifest(t, 2), f.train, Options{Shard: 1, Shards: 1, Workers: 2, Progress: func(done, total int) {
		if done == 7 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := len(tileFiles(t, dir)); n < 7 || n > 9 {
		t.Errorf("%d tiles, want 7 or those that were under way", n)
	}
	if _, err := Work(t.Context(), dir, f.space, f.manifest(t, 2), f.train, Options{Shard: 4, Shards: 3}); err == nil || !strings.Contains(err.Error(), "shard 4 of 3") {
		t.Errorf("error %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	x := newFixture(f, 5, 1)
	tile, err := Compute(f.Context(), x.space, x.manifest(f, 3).Plan, 1, x.records[:3*x.space.Size()], x.records[3*x.space.Size():])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tile.Encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		tile, err := Decode(data)
		if err == nil && !bytes.Equal(tile.Encode(), data) {
			t.Errorf("%x comes back as %x", data, tile.Encode())
		}
	})
}

func FuzzManifest(f *testing.F) {
	x := newFixture(f, 5, 1)
	text, err := x.manifest(f, 3).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"mlg_tiles":1,"graphs":1000000000000,"side":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := DecodeManifest(text)
		if err == nil && m.Validate() != nil {
			t.Errorf("%q makes a manifest that is not valid", text)
		}
	})
}

// A tile computed and encoded, without the writing.
func BenchmarkTile(b *testing.B) {
	f := newFixture(b, 512, 1, func(o *mlg.Options) { o.Samples, o.Rank = 100, 10 })
	p := f.manifest(b, 256).Plan
	size := f.space.Size()
	for b.Loop() {
		t, err := Compute(b.Context(), f.space, p, 1, f.records[:256*size], f.records[256*size:])
		if err != nil {
			b.Fatal(err)
		}
		t.Encode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(256*256), "ns/value")
}

func BenchmarkMerge(b *testing.B) {
	f := newFixture(b, 512, 1)
	dir := b.TempDir()
	f.work(b, dir, 128, 1)
	out := filepath.Join(b.TempDir(), "gram.npy")
	for b.Loop() {
		if _, err := Merge(b.Context(), out, []string{dir}, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
}
