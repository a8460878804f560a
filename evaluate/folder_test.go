package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/work"
)

// A damaged file of a run is noticed, and its part is computed again: the report stays the same, and
// the file is whole again.
func TestFlippedBits(t *testing.T) {
	classes := dataset.Scales(16, 1)
	for name, c := range map[string]struct {
		ds     *dataset.Dataset
		change func(*Options)
	}{
		"classes":  {classes, func(*Options) {}},
		"values":   {numbered(classes), func(*Options) {}},
		"reported": {classes, func(o *Options) { o.OnReported = true }},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick(4, 1)
			c.change(&o)
			o.Folder = t.TempDir()
			var mu sync.Mutex
			var damaged []string
			o.Damaged = func(path string, err error) {
				mu.Lock()
				defer mu.Unlock()
				damaged = append(damaged, path)
			}
			run := func() *Report {
				t.Helper()
				r, err := Run(t.Context(), c.ds, []choose.Candidate{single("wl", wl(2))}, o)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			whole := run()
			if again := run(); !reflect.DeepEqual(again, whole) || damaged != nil {
				t.Fatalf("whole files give something else; damaged: %v", damaged)
			}
			files, err := filepath.Glob(filepath.Join(o.Folder, "*"))
			if err != nil || len(files) != 2 {
				t.Fatalf("files %v, %v, want 2", files, err)
			}
			for _, path := range files {
				good, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				bad := [][]byte{nil, good[:len(good)/2], append(bytes.Clone(good), 0)}
				for at := 0; at < len(good); at += len(good)/12 + 1 {
					flipped := bytes.Clone(good)
					flipped[at] ^= 4
					bad = append(bad, flipped)
				}
				for i, b := range bad {
					if err := os.WriteFile(path, b, 0o666); err != nil {
						t.Fatal(err)
					}
					damaged = nil
					if got := run(); !reflect.DeepEqual(got, whole) {
						t.Fatalf("damage %d changes the report", i)
					}
					if len(damaged) != 1 || damaged[0] != path {
						t.Errorf("damage %d: reported %v, want %s", i, damaged, path)
					}
					if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, good) {
						t.Errorf("damage %d: the file was not written again, %v", i, err)
					}
				}
			}
		})
	}
}

// Numbers that a checksum confirms are checked too: they would be used as positions.
func TestFolderRanges(t *testing.T) {
	ds := dataset.Scales(16, 1)
	o := quick(4, 1)
	o.Folder = t.TempDir()
	var found []string
	o.Damaged = func(path string, err error) { found = append(found, err.Error()) }
	run := func() *Report {
		t.Helper()
		r, err := Run(t.Context(), ds, []choose.Candidate{single("wl", wl(2))}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := run()
	files, _ := filepath.Glob(filepath.Join(o.Folder, "*"))
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	sections, err := file.Decode(good, folderKind, folderVersion)
	if err != nil {
		t.Fatal(err)
	}
	text := string(sections[0].Data)
	for _, c := range [][2]string{{`"best":`, `"best":9`}, {`"best":`, `"best":-1`}, {`"labels":[`, `"labels":[7,`}, {`"labels":[`, `"labels":[-1`},
		{`"inner":[`, `"inner":[[],`}, {`"scores":[[`, `"scores":[[0.5,`}, {`"folds":[`, `"folds":[{},`}, {`"folds"`, `"holds"`}, {`{`, ``}} {
		changed := strings.Replace(text, c[0], c[1], 1)
		var b bytes.Buffer
		if changed == text || file.Encode(&b, folderKind, folderVersion, []file.Section{{Name: "results", Data: []byte(changed)}}) != nil {
			t.Fatalf("%s is not there:\n%s", c[0], text)
		}
		if err := os.WriteFile(files[0], b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		found = nil
		if got := run(); !reflect.DeepEqual(got, whole) || len(found) != 1 {
			t.Errorf("%s: another report, or reported %q", c[1], found)
		}
	}
}

// Results are those of another run where the memory decides the number of centres, and else of the same.
func TestFolderKeepsMemory(t *testing.T) {
	ds := &dataset.Dataset{}
	for i := range 5000 {
		ds.Graphs = append(ds.Graphs, graphtest.Path(1+i%2).With("", []string{"a", "b"}[i%2]))
	}
	o := quick(4, 1)
	o.Learner, o.LeaveOneOut, o.Score = learn.KernelRidge, true, choose.Squared
	keys := map[int64]string{}
	for _, memory := range []int64{1 << 40, 1 << 41, 1 << 28, 1 << 29} {
		o := o
		o.Folder, o.Memory = t.TempDir(), memory
		e, err := newEvaluation(ds, []choose.Candidate{single("wl", wl(2))}, &o)
		if err != nil {
			t.Fatal(err)
		}
		keys[memory] = e.folder.common
	}
	if keys[1<<40] != keys[1<<41] || keys[1<<28] == keys[1<<29] || keys[1<<28] == keys[1<<40] {
		t.Errorf("keys %v", keys)
	}
}

// Results whose checksum is right may still say anything. They are refused, or a report can be made of them.
func FuzzFolder(f *testing.F) {
	o := quick(4, 1)
	o.Folder = f.TempDir()
	ds, candidates := dataset.Scales(16, 1), []choose.Candidate{single("wl", wl(2))}
	if _, err := Run(f.Context(), ds, candidates, o); err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.Folder, "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		sections, err := file.Decode(b, folderKind, folderVersion)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(sections[0].Data)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var b bytes.Buffer
		if err := file.Encode(&b, folderKind, folderVersion, []file.Section{{Name: "results", Data: text}}); err != nil {
			t.Fatal(err)
		}
		o := o
		o.Damaged = func(string, error) {}
		for _, path := range files {
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Run(t.Context(), ds, candidates, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.WriteText(io.Discard); err != nil {
			t.Error(err)
		}
	})
}

// An evaluation that is interrupted again and again goes on inside of a method, and its report has the same bits.
func TestFolderGoesOn(t *testing.T) {
	graphtest.Slow(t)
	classes := dataset.Scales(24, 1)
	candidates := []choose.Candidate{single("wl", wl(2)), single("wl 1", wl(1))}
	for name, c := range map[string]struct {
		ds     *dataset.Dataset
		change func(*Options)
	}{
		"classes":   {classes, func(*Options) {}},
		"values":    {numbered(classes), func(o *Options) { o.LeaveOneOut, o.Learner = true, learn.KernelRidge }},
		"sums":      {classes, func(o *Options) { o.Combinations = []choose.Combination{choose.Weighted} }},
		"reported":  {classes, func(o *Options) { o.OnReported = true }},
		"inductive": {classes, func(o *Options) { o.Inductive = true }},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick(4, 5)
			c.change(&o)
			whole, err := Run(t.Context(), c.ds, candidates, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Folder = t.TempDir()
			kept := func() Kept {
				t.Helper()
				k, err := KeptOf(c.ds, candidates, o)
				if err != nil {
					t.Fatal(err)
				}
				return k
			}
			if k := kept(); k.Predictions != 0 || k.Scores != 0 && !o.OnReported {
				t.Errorf("%+v of an empty folder", k)
			}
			inside := 0 // interruptions with some of a method
			for runs := 0; ; runs++ {
				before := kept()
				ctx, stop := context.WithCancel(t.Context())
				var mu sync.Mutex
				steps := 0
				got, err := Run(work.With(ctx, work.Options{Workers: 1, Progress: func(p work.Progress) {
					mu.Lock()
					defer mu.Unlock()
					if p.Stage == "evaluate" {
						steps++
					}
					most := 14       // what is known of a row is one
					if o.Inductive { // and of a fold several
						most += 10 * runs
					}
					if steps > most {
						stop()
					}
				}}), c.ds, candidates, o)
				stop()
				if err == nil {
					if !reflect.DeepEqual(got, whole) {
						t.Errorf("another report after %d interruptions:\n%+v\n%+v", runs, got, whole)
					}
					break
				}
				if runs == 100 || !errors.Is(err, context.Canceled) {
					t.Fatalf("run %d: %v", runs, err)
				}
				after := kept()
				if after.Scores < before.Scores || after.Predictions < before.Predictions || after.Done() {
					t.Fatalf("%+v after %+v", after, before)
				}
				inside += parted(t, o.Folder)
			}
			if k := kept(); !k.Done() {
				t.Errorf("%+v at the end", k)
			}
			if inside == 0 && !o.Inductive { // a file of which is of one fold
				t.Error("it was never interrupted inside of a method")
			}
		})
	}
}

// parted returns the number of files of a folder with predictions of some folds.
func parted(t *testing.T, folder string) (n int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sections, err := file.Decode(b, folderKind, folderVersion)
		if err != nil {
			t.Fatal(err)
		}
		var x storedResults
		if err := json.Unmarshal(sections[0].Data, &x); err != nil {
			t.Fatal(err)
		}
		predicted := 0
		for _, f := range x.Folds {
			if f.predicted() {
				predicted++
			}
		}
		if predicted > 0 && predicted < len(x.Folds) {
			n++
		}
	}
	return n
}
