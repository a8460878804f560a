package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/model"
	"github.com/mlgkernel/mlg/work"
)

// fixture is a model with the features of its training graphs and their Gram matrix.
type fixture struct {
	Gram
	train kernel.Features
	gram  *kernel.Matrix
}

func graphs(n int, seed uint64) []*graph.Graph {
	r := graphtest.Rand(seed)
	out := make([]*graph.Graph, n)
	for i := range out {
		out[i] = graphtest.Random(r, graphtest.Options{N: 1 + r.IntN(9), Edge: 0.4, Labels: 3, Weighted: i%2 == 0})
	}
	return out
}

func with(change func(*mlg.Kernel)) mlg.Kernel {
	k := mlg.Default()
	k.Base, k.Samples, k.Rank = "labels", 20, 4
	change(&k)
	return k
}

func newFixture(t testing.TB, n int, seed uint64, k kernel.Kernel) *fixture {
	t.Helper()
	sum, err := kernel.NewCollection(graphs(n, seed)).Fit(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	for i := range n {
		f.IDs = append(f.IDs, string(rune('a'+i%26)))
	}
	if f.train, err = sum.Train(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := NewGram(&model.Model{Kernel: sum, IDs: f.IDs}, n, ranges(f.train), f.Axis)
	if err != nil {
		t.Fatal(err)
	}
	f.Gram = *c
	if f.gram, err = sum.Gram(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// ranges gives the features of blocks.
func ranges(a kernel.Features) func(lo, hi int) (kernel.Features, error) {
	return func(lo, hi int) (kernel.Features, error) { return kernel.Range(a, lo, hi), nil }
}

// usual is a fixture of 20 graphs, which make 15 tiles of side 4.
func usual(t testing.TB) *fixture { return newFixture(t, 20, 1, with(func(*mlg.Kernel) {})) }

func (f *fixture) plan(t testing.TB, side int) Layout {
	t.Helper()
	p, err := f.Layout(side)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// work fills a folder by all of a number of shards.
func (f *fixture) work(t testing.TB, dir string, side, shards int) (sum Summary) {
	t.Helper()
	for i := range shards {
		s, err := Work(work.WithWorkers(t.Context(), 2+i%2), dir, &f.Gram, side, i+1, shards)
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

// wantMerge merges files and compares the result with the Gram matrix, bit by bit.
func (f *fixture) wantMerge(t *testing.T, paths ...string) *Merged {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gram.npy")
	merged, err := Merge(t.Context(), out, paths)
	if err != nil {
		t.Fatal(err)
	}
	got, err := kerneltest.ReadNPY(out)
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
	var csv bytes.Buffer
	if err := f.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(out), "gram.ids.csv")); err != nil || !bytes.Equal(text, csv.Bytes()) {
		t.Errorf("identifiers %q, error %v; want %q", text, err, csv.Bytes())
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 2 {
		t.Errorf("files %v, error %v; want the matrix and its identifiers only", entries, err)
	}
	return merged
}

func problems(t *testing.T, paths ...string) *Problems {
	t.Helper()
	out := filepath.Join(t.TempDir(), "gram.npy")
	_, err := Merge(t.Context(), out, paths)
	var p *Problems
	if !errors.As(err, &p) {
		t.Fatalf("error %v, want *Problems", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) > 0 {
		t.Errorf("%v was written in spite of %v", entries, err)
	}
	return p
}

func TestLayout(t *testing.T) {
	for _, graphs := range []int{0, 1, 2, 7, 8, 9, 100} {
		for _, side := range []int{1, 2, 3, 8, 200} {
			p := Layout{Graphs: graphs, Side: side}
			covered := make([]int, graphs*graphs) // how often a pair is in a tile
			if n := len(p.shard(1, 1)); n != p.Tiles() {
				t.Errorf("%+v: %d tiles, want %d", p, n, p.Tiles())
			}
			for _, tile := range p.shard(1, 1) {
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
					part := p.shard(i+1, n)
					if len(part) > (p.Tiles()+n-1)/n {
						t.Errorf("%+v: shard %d of %d has %d tiles", p, i+1, n, len(part))
					}
					all = append(all, part...)
				}
				slices.Sort(all)
				if !slices.Equal(all, p.shard(1, 1)) {
					t.Fatalf("%+v: the shards of %d have the tiles %v", p, n, all)
				}
			}
		}
	}
}

// The merged matrix has the bits of the model's Gram, whatever the kernel, the side of the
// tiles and the number of shards.
func TestBits(t *testing.T) {
	combine := func(c mlg.Combine, power int) mlg.Kernel {
		return with(func(k *mlg.Kernel) { k.Combine, k.Power = c, power })
	}
	small := with(func(k *mlg.Kernel) { k.Radii = nil })
	for name, f := range map[string]*fixture{
		"top":     newFixture(t, 45, 1, combine(mlg.Top, 1)),
		"sum":     newFixture(t, 33, 2, combine(mlg.Sum, 2)),
		"product": newFixture(t, 33, 2, combine(mlg.Product, 1)),
		"weights": newFixture(t, 21, 3, kernel.Weighted([]float64{1, 0.5, 1. / 3}, []kernel.Kernel{combine(mlg.Top, 1), combine(mlg.Sum, 1), small})),
		"wl":      newFixture(t, 45, 1, classic.DefaultWL()),
		"mixed":   newFixture(t, 33, 2, kernel.Mean(combine(mlg.Top, 1), classic.DefaultWL(), kernel.Product(small, classic.DefaultShortestPath()))),
		"one":     newFixture(t, 1, 4, small),
		"none":    newFixture(t, 0, 5, small),
	} {
		for _, side := range []int{5, 16, 64} {
			for _, shards := range []int{1, 3, 16} {
				t.Run(name, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "tiles")
					sum := f.work(t, dir, side, shards)
					want := Layout{Graphs: f.gram.Rows, Side: side}.Tiles()
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

// Tiles of a pipeline have a file each, and are merged with those of shards.
func TestSingleTiles(t *testing.T) {
	f := usual(t)
	dir := t.TempDir()
	p := f.plan(t, 4)
	if _, err := Work(t.Context(), dir, &f.Gram, 4, 1, 2); err != nil {
		t.Fatal(err)
	}
	for _, n := range p.shard(2, 2) {
		row, col := p.Place(n)
		rows, _ := f.Features(p.Block(row))
		cols, _ := f.Features(p.Block(col))
		values, err := Compute(t.Context(), f.Kernel, p, n, rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		data := p.EncodeTile(n, values)
		if ok, err := p.Holds(data, n); !ok || err != nil {
			t.Fatalf("tile %d: %v, error %v", n, ok, err)
		}
		if ok, err := p.Holds(data, n-1); ok || err != nil {
			t.Fatalf("tile %d as another: %v, error %v", n, ok, err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("any name ", n, Extension)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f.wantMerge(t, dir)
	only, err := filepath.Glob(filepath.Join(dir, "any*"))
	if err != nil {
		t.Fatal(err)
	}
	if p := problems(t, only...); len(p.Missing) != 9 || p.Missing[8] != "ids" {
		t.Errorf("%+v, want 8 tiles and the identifiers missing", p)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), p.EncodeIDs(f.Axis), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := problems(t, append(only, filepath.Join(dir, "x"))...); len(p.Missing) != 8 {
		t.Errorf("%+v, want 8 tiles missing", p)
	}
	f.wantMerge(t, append(only, filepath.Join(dir, shardName(1, 2)))...)
}

// Every changed bit, and every lost or added byte, of a tile is noticed.
func TestDamage(t *testing.T) {
	f := newFixture(t, 9, 1, with(func(*mlg.Kernel) {}))
	p := f.plan(t, 4)
	four, three := kernel.Range(f.train, 0, 4), kernel.Range(f.train, 4, 7)
	values, err := Compute(t.Context(), f.Kernel, p, 1, four, kernel.Range(f.train, 4, 8))
	if err != nil {
		t.Fatal(err)
	}
	data := p.EncodeTile(1, values)
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if ok, _ := p.Holds(bad, 1); ok {
			t.Fatalf("byte %d changed, and nothing was noticed", i)
		}
		if ok, err := p.Holds(data[:i:i], 1); ok || err != nil {
			t.Fatalf("cut after %d bytes: %v, error %v", i, ok, err)
		}
	}
	if ok, err := p.Holds(append(slices.Clone(data), 0), 1); ok || err != nil {
		t.Errorf("a byte more: %v, error %v", ok, err)
	}
	for want, call := range map[string]func() error{
		"features of 4 and 3 graphs, want 4 and 4": func() error {
			_, err := Compute(t.Context(), f.Kernel, p, 1, four, three)
			return err
		},
		"side 0, want": func() error {
			_, err := f.Layout(0)
			return err
		},
		"is of another plan: 9 graphs by tiles of 4, want 9 by 5": func() error {
			_, err := f.plan(t, 5).Holds(data, 1)
			return err
		},
		"features of 3 blocks, want 0": func() error {
			c := f.Gram
			c.Axis = matrixfile.Axis{}
			_, err := c.Layout(4)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// A container with good checksums whose sections are no tiles of its plan is damaged.
func TestSections(t *testing.T) {
	p := Layout{Graphs: 5, Side: 3}
	for want, sections := range map[string][]file.Section{
		"has no valid plan":             nil,
		"no valid plan":                 {{Name: "ids"}},
		"not a plan of tiles":           {{Name: "plan", Data: []byte(`{"graphs":"5"}`)}},
		"tiles with side 0":             {{Name: "plan", Data: []byte(`{}`)}},
		"tile/1/0 is not a tile":        {p.section(), {Name: "tile/1/0"}},
		"tile/0/2 is not a tile":        {p.section(), {Name: "tile/0/2"}},
		"tile/0/01 is not a tile":       {p.section(), {Name: "tile/0/01"}},
		"other is not a tile":           {p.section(), {Name: "other"}},
		"tile/0/1 has 8 bytes, want 48": {p.section(), {Name: "tile/0/1", Data: make([]byte, 8)}},
	} {
		var b bytes.Buffer
		if err := file.Encode(&b, Kind, Version, sections); err != nil {
			t.Fatal(err)
		}
		if c, err := decode(b.Bytes()); err != nil || c.damage == nil || !strings.Contains(c.damage.Error(), want) {
			t.Errorf("damage %v, error %v; want %q", c.damage, err, want)
		}
	}
	var b bytes.Buffer
	if err := file.Encode(&b, Kind, Version+1, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Holds(b.Bytes(), 0); !errors.Is(err, file.ErrVersion) {
		t.Errorf("error %v, want ErrVersion", err)
	}
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

// flip changes a bit of the data of a section.
func flip(t testing.TB, name string) func(b []byte) []byte {
	return func(b []byte) []byte {
		sections, _ := file.Decode(b, Kind, Version)
		i := slices.IndexFunc(sections, func(s file.Section) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no section %s", name)
		}
		sections[i].Data[0] ^= 4
		return b
	}
}

// Damaged and missing tiles are listed by Merge and put right by Work.
func TestRepair(t *testing.T) {
	f := usual(t)
	dir := t.TempDir()
	f.work(t, dir, 4, 3)
	path := func(i int) string { return filepath.Join(dir, shardName(i, 3)) }
	change(t, path(1), flip(t, "tile/0/3"))
	change(t, path(2), func(b []byte) []byte { return b[:len(b)-200] })
	if err := os.Remove(path(3)); err != nil {
		t.Fatal(err)
	}
	p := problems(t, dir)
	if len(p.Missing) != 6 || len(p.Damaged) != 2 || p.Foreign != nil || p.Duplicates != nil {
		t.Errorf("%+v, want 5 tiles of shard 3 and one of shard 2 missing, and two files damaged", p)
	}
	for _, want := range []string{"missing, 6 of 15 tiles:\n", "\n    tile/0/2\n", "tile/0/3 does not match its checksum", path(1), path(2) + ": the tiles file ends too early"} {
		if !strings.Contains(p.Error(), want) {
			t.Errorf("%q is not in\n%v", want, p)
		}
	}
	// Behind a damaged tile the others of its file are computed too.
	sum := f.work(t, dir, 4, 3)
	if sum.Tiles != 15 || sum.Computed+sum.Kept != 15 || sum.Computed < 7 || sum.Damaged != sum.Computed-5 {
		t.Errorf("%+v, want 7 or more tiles computed, 5 of which were not there", sum)
	}
	f.wantMerge(t, dir)
	// Junk, and damage in the identifiers.
	change(t, path(1), func([]byte) []byte { return []byte("This is no tile.") })
	change(t, path(2), flip(t, "ids"))
	if p := problems(t, dir); len(p.Damaged) != 2 || len(p.Missing) != 5 {
		t.Errorf("%+v, want two damaged", p)
	}
	if p := problems(t, path(1)); len(p.Damaged) != 1 {
		t.Errorf("%+v, want one damaged", p)
	}
	if sum := f.work(t, dir, 4, 3); sum != (Summary{Tiles: 15, Computed: 10, Kept: 5, Damaged: 10}) {
		t.Errorf("%+v, want 10 tiles computed", sum)
	}
	f.wantMerge(t, dir)
}

// What an interrupted run has left is taken up behind its last good tile, wherever it broke off.
func TestResume(t *testing.T) {
	f := usual(t)
	dir := t.TempDir()
	work := func() Summary {
		t.Helper()
		sum, err := Work(work.WithWorkers(t.Context(), 1), dir, &f.Gram, 6, 1, 1) // in the order of the tiles
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	work()
	path := filepath.Join(dir, shardName(1, 1))
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kept := -1
	for cut := 0; cut <= len(want); cut += 37 {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777), os.WriteFile(path+file.Partial, want[:cut], 0o666)); err != nil {
			t.Fatal(err)
		}
		sum := work()
		if sum.Kept < kept || sum.Computed+sum.Kept != 10 || sum.Damaged > 0 {
			t.Errorf("cut at %d: %+v, there were %d", cut, sum, kept)
		}
		kept = sum.Kept
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: another file, error %v", cut, err)
		}
	}
	if kept != 10 {
		t.Errorf("%d tiles kept of a file without its end", kept)
	}
}

// Tiles of another model, plan or collection are refused, wherever they are found.
func TestForeign(t *testing.T) {
	f := usual(t)
	dir := t.TempDir()
	f.work(t, dir, 4, 2)

	other := newFixture(t, 20, 1, with(func(k *mlg.Kernel) { k.Gamma = 0.2 }))
	same := *f // the same model, other graphs
	others, err := f.Kernel.Transform(t.Context(), graphs(20, 99))
	if err != nil {
		t.Fatal(err)
	}
	same.Features = ranges(others)
	named := *f
	named.Targets = slices.Repeat([]string{"x"}, 20)
	for _, c := range []struct {
		want string
		f    *fixture
		side int
	}{
		{"another model", other, 4},
		{"another plan", f, 5},
		{"other graphs", &same, 4},
		{"other identifiers", &named, 4},
	} {
		// The folder is of something else: the own file, another one, and what is left of one.
		left := t.TempDir()
		data, err := os.ReadFile(filepath.Join(dir, shardName(1, 2)))
		if err == nil {
			err = os.WriteFile(filepath.Join(left, shardName(1, 2)+file.Partial), data[:len(data)/2], 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{dir, left} {
			for shard := range 2 {
				if dir == left && shard > 0 {
					continue // what is left of another shard is not looked at
				}
				before, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				_, err = Work(t.Context(), dir, &c.f.Gram, c.side, shard+1, 2)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), shardName(1, 2)) {
					t.Errorf("error %v, want %q in it", err, c.want)
				}
				if after, err := os.ReadDir(dir); err != nil || len(after) != len(before) {
					t.Errorf("%v became %v, error %v", before, after, err)
				}
			}
		}
		// One file is.
		away := t.TempDir()
		c.f.work(t, away, c.side, 1)
		stray := filepath.Join(dir, "stray"+Extension)
		if err := os.Rename(filepath.Join(away, shardName(1, 1)), stray); err != nil {
			t.Fatal(err)
		}
		if p := problems(t, dir); len(p.Foreign) != 1 || !strings.Contains(p.Foreign[0], c.want) || p.Missing != nil {
			t.Errorf("%+v, want one foreign: %s", p, c.want)
		}
		if err := os.Remove(stray); err != nil {
			t.Fatal(err)
		}
	}
	f.wantMerge(t, dir)
	out := filepath.Join(t.TempDir(), "k.npy")
	if _, err := Merge(t.Context(), out, []string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no finished files of tiles") {
		t.Errorf("an empty folder: error %v", err)
	}
	if _, err := Merge(t.Context(), out, nil); err == nil || !strings.Contains(err.Error(), "no files of tiles") {
		t.Errorf("nothing: error %v", err)
	}
	if _, err := Merge(t.Context(), filepath.Join(t.TempDir(), "k.csv"), []string{dir}); err == nil || !strings.Contains(err.Error(), ".npy") {
		t.Errorf("a .csv file: error %v", err)
	}
}

// Copies are found, and are an error where they differ. Tiles may lie in several folders.
func TestDuplicates(t *testing.T) {
	f := usual(t)
	dir, second := t.TempDir(), t.TempDir()
	f.work(t, dir, 4, 3)
	f.work(t, second, 4, 1)
	if err := os.Remove(filepath.Join(dir, shardName(2, 3))); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(second, shardName(1, 1))
	if merged := f.wantMerge(t, dir, second); !slices.Equal(merged.Copies, []string{whole}) || merged.Tiles() != 15 {
		t.Errorf("%+v, want copies in %s", merged, whole)
	}
	// The same folder twice.
	if merged := f.wantMerge(t, second, second); len(merged.Copies) != 1 {
		t.Errorf("%+v, want copies", merged)
	}
	// A file that claims to have the same tile and has other values.
	p := f.plan(t, 4)
	n := p.Index(1, 2)
	values := make([]float64, 16)
	contradiction := filepath.Join(second, "a"+Extension)
	if err := os.WriteFile(contradiction, p.EncodeTile(n, values), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := problems(t, second); !slices.Equal(p.Duplicates, []string{"tile/1/2 in " + contradiction + " and " + whole}) || len(p.Missing)+len(p.Damaged) > 0 {
		t.Errorf("%+v, want one duplicate", p)
	}
	// A damaged copy is damaged, and no contradiction.
	change(t, contradiction, flip(t, "tile/1/2"))
	if p := problems(t, second); len(p.Damaged) != 1 || len(p.Duplicates) > 0 {
		t.Errorf("%+v, want one damaged", p)
	}
}

// A small file may have a plan of very many tiles, which are not listed.
func TestManyMissing(t *testing.T) {
	p := usual(t).plan(t, 4)
	p.Graphs = 4 * 1500
	path := filepath.Join(t.TempDir(), "a"+Extension)
	if err := os.WriteFile(path, p.EncodeTile(0, make([]float64, 16)), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Merge(t.Context(), filepath.Join(t.TempDir(), "gram.npy"), []string{path})
	if err == nil || !strings.Contains(err.Error(), "1125749 of 1125750 tiles are missing") {
		t.Errorf("error %v", err)
	}
}

func TestCancelled(t *testing.T) {
	graphtest.Slow(t)
	f := usual(t)
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	ctx = work.With(ctx, work.Options{Workers: 2, Progress: func(p work.Progress) {
		if p.Stage == "tiles" && p.Done == 7 {
			cancel()
		}
	}})
	sum, err := Work(ctx, dir, &f.Gram, 2, 1, 1)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := sum.Computed; n < 7 || n > 9 {
		t.Errorf("%d tiles, want 7 or those that were under way", n)
	}
	if again := f.work(t, dir, 2, 1); again != (Summary{Tiles: 55, Kept: sum.Computed, Computed: 55 - sum.Computed}) {
		t.Errorf("%+v after %+v", again, sum)
	}
	f.wantMerge(t, dir)
	if _, err := Work(t.Context(), dir, &f.Gram, 2, 4, 3); err == nil || !strings.Contains(err.Error(), "shard 4 of 3") {
		t.Errorf("error %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	p := Layout{Graphs: 5, Side: 3, Kernel: "k"}
	f.Add(p.Encode(), "tile/0/1", make([]byte, 48))
	f.Add([]byte(`{"model":"","kernel":"","collection":"","graphs":1000000000000,"side":1}`), "ids", []byte("id,target\n"))
	f.Fuzz(func(t *testing.T, plan []byte, name string, data []byte) {
		if len(name) > 40 {
			return
		}
		var b bytes.Buffer
		if err := file.Encode(&b, Kind, Version, []file.Section{{Name: "plan", Data: plan}, {Name: name, Data: data}}); err != nil {
			t.Fatal(err)
		}
		c, err := decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for n := range c.tiles {
			if ok, err := c.plan.Holds(b.Bytes(), n); !ok || err != nil {
				t.Errorf("tile %d: %v, error %v", n, ok, err)
			}
		}
	})
}

// A tile computed and encoded, without the writing.
func BenchmarkTile(b *testing.B) {
	f := newFixture(b, 512, 1, with(func(k *mlg.Kernel) { k.Samples, k.Rank = 100, 10 }))
	p := f.plan(b, 256)
	rows, cols := kernel.Range(f.train, 0, 256), kernel.Range(f.train, 256, 512)
	for b.Loop() {
		values, err := Compute(b.Context(), f.Kernel, p, 1, rows, cols)
		if err != nil {
			b.Fatal(err)
		}
		p.EncodeTile(1, values)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(256*256), "ns/value")
}

func BenchmarkMerge(b *testing.B) {
	f := newFixture(b, 512, 1, with(func(*mlg.Kernel) {}))
	dir := b.TempDir()
	f.work(b, dir, 128, 1)
	out := filepath.Join(b.TempDir(), "gram.npy")
	for b.Loop() {
		if _, err := Merge(b.Context(), out, []string{dir}); err != nil {
			b.Fatal(err)
		}
	}
}

// Tiles of a kernel that computes large blocks together are its matrix to rounding, with the same bits for any shards and
// any number of goroutines.
func TestWhole(t *testing.T) {
	exact := mlg.Default()
	exact.Base, exact.Exact, exact.Radii = "labels", true, []int{1}
	for _, k := range []kernel.Kernel{exact, kernel.Mean(exact, classic.DefaultWL())} {
		f := newFixture(t, 20, 1, k)
		one, two, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gram.npy")
		f.work(t, one, 6, 1)
		if _, err := Merge(t.Context(), out, []string{one}); err != nil {
			t.Fatal(err)
		}
		got, err := kerneltest.ReadNPY(out)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Data {
			if !(math.Abs(v-f.gram.Data[i]) <= 1e-10) {
				t.Fatalf("%s: value %d is %v, want %v", k, i, v, f.gram.Data[i])
			}
		}
		f.gram = got
		f.work(t, two, 6, 3)
		f.wantMerge(t, two)
	}
}
