package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/tiles"
)

// program returns the path of the command, which TestMain puts there, and which can be killed.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("mlg")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs the command to its end.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, append([]string{"--quiet"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("mlg %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// kill runs the command and kills it after a while, and reports whether it was still running.
func kill(t *testing.T, after time.Duration, program string, args ...string) bool {
	t.Helper()
	cmd := exec.Command(program, append([]string{"--quiet"}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if err == nil {
		return false
	}
	if exit, ok := err.(*exec.ExitError); !ok || exit.Exited() {
		t.Fatalf("mlg %s: %v", strings.Join(args, " "), err)
	}
	return true
}

func contents(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		if out[p], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// writeGraphs writes random graphs as Graph JSON Lines.
func writeGraphs(t *testing.T, path string, n, vertices int, seed uint64) {
	t.Helper()
	r := graphtest.Rand(seed)
	var text []byte
	for range n {
		var err error
		if text, err = dataset.AppendJSON(text, graphtest.Random(r, graphtest.Options{N: 1 + r.IntN(vertices), Edge: 0.2, Labels: 4})); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// A shard that is killed at any moment loses nothing that it has finished, and what a second
// run makes of the rest has the bits of an undisturbed run.
func TestKilledShards(t *testing.T) {
	graphtest.Unraced(t)
	mlg := program(t)
	dir := t.TempDir()
	data, folder := filepath.Join(dir, "g.jsonl"), filepath.Join(dir, "tiles")
	whole, merged := filepath.Join(dir, "whole.npy"), filepath.Join(dir, "merged.npy")
	writeGraphs(t, data, 180, 25, 1)
	run(t, mlg, "gram", data, "-o", whole)
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	shard := func(i string) []string {
		return []string{"gram", data, "--shard", i + "/2", "--tiles", folder, "--tile-side", "8", "--threads", "2"}
	}
	begin := time.Now()
	run(t, mlg, "gram", data, "--shard", "1/2", "--tiles", filepath.Join(dir, "spare"), "--tile-side", "8")
	took := time.Since(begin)

	r := graphtest.Rand(2)
	killed := 0
	old := map[string]int{} // by file: bytes of good tiles
	for i := range kills(t, 12) {
		// Early moments too: the folder and its files are made then.
		after := time.Duration(r.Float64() * float64(took) * float64(1+i%3) / 3)
		if kill(t, after, mlg, shard([]string{"1", "2"}[i%2])...) {
			killed++
		}
		for path, b := range contents(t, filepath.Join(folder, "*")) {
			sections, err := file.Decode(b, tiles.Kind, tiles.Version)
			if err != nil && !strings.HasSuffix(path, file.Partial) {
				t.Fatalf("after kill %d: %s: %v", i, path, err)
			}
			size := 0
			for _, s := range sections {
				if err := s.Check(); err != nil {
					t.Fatalf("after kill %d: %s: %v", i, path, err)
				}
				size += len(s.Data)
			}
			name := strings.TrimSuffix(path, file.Partial)
			if size < old[name] {
				t.Fatalf("kill %d left %d bytes of tiles in %s, there were %d", i, size, path, old[name])
			}
			old[name] = size
		}
	}
	t.Logf("%d runs were killed; %v bytes of tiles were there at the end", killed, old)
	if killed == 0 {
		t.Error("no run was killed")
	}
	run(t, mlg, shard("1")...)
	run(t, mlg, shard("2")...)
	if all := contents(t, filepath.Join(folder, "*")); len(all) != 2 {
		t.Errorf("%d files, want those of two shards", len(all))
	}

	// The matrix is there whole or not at all.
	for range kills(t, 6) {
		kill(t, time.Duration(r.Float64()*float64(took)/3), mlg, "merge", folder, "-o", merged)
		if b, err := os.ReadFile(merged); err == nil && !bytes.Equal(b, want) {
			t.Fatal("a killed merge left a wrong matrix")
		}
	}
	run(t, mlg, "merge", folder, "-o", merged)
	if left, _ := filepath.Glob(filepath.Join(dir, "*merged.npy*part")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if got, err := os.ReadFile(merged); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the merged matrix differs from the one computed at once; error %v", err)
	}
}

// A transformation that is killed at any moment is taken up by a second run, and the store
// has the bytes of an undisturbed one.
func TestKilledTransform(t *testing.T) {
	graphtest.Long(t)
	mlg := program(t)
	dir := t.TempDir()
	data, model := filepath.Join(dir, "g.jsonl"), filepath.Join(dir, "m.mlg")
	whole, out := filepath.Join(dir, "whole.mlgs"), filepath.Join(dir, "x.mlgs")
	writeGraphs(t, data, 40000, 7, 3)
	run(t, mlg, "fit", data, "-o", model, "--sample", "300")
	begin := time.Now()
	run(t, mlg, "transform", model, data, "-o", whole)
	took := time.Since(begin)
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	r := graphtest.Rand(4)
	size, killed := int64(0), 0
	for i := range kills(t, 8) {
		if !kill(t, time.Duration(r.Float64()*float64(took)*0.8), mlg, "transform", model, data, "-o", out) {
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			size = 0
			continue
		}
		killed++
		// A kill between the last step and the end of the process leaves a whole store.
		if got, err := os.ReadFile(out); err == nil {
			if !bytes.Equal(got, want) {
				t.Fatalf("kill %d left a store that differs", i)
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			size = 0
			continue
		}
		// What has been written is kept; of a chunk that was cut off the rest is dropped.
		if st, err := os.Stat(out + ".part"); err == nil {
			if st.Size() < size-8192*460 {
				t.Errorf("kill %d: %d bytes, there were %d", i, st.Size(), size)
			}
			size = st.Size()
		}
	}
	t.Logf("%d runs were killed", killed)
	if killed == 0 {
		t.Error("no run was killed")
	}
	run(t, mlg, "transform", model, data, "-o", out)
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the store differs from that of an undisturbed run; error %v", err)
	}
}

// Any number of shards gives the bits of mlg gram.
func TestShards(t *testing.T) {
	graphtest.Unraced(t)
	mlg := program(t)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.npy")
	run(t, mlg, "gram", "builtin:drugs", "-o", whole)
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3, 16} {
		folder, merged := filepath.Join(dir, fmt.Sprint("tiles", n)), filepath.Join(dir, fmt.Sprint("gram", n, ".npy"))
		for i := range n {
			run(t, mlg, "gram", "builtin:drugs", "--shard", fmt.Sprintf("%d/%d", n-i, n), "--tiles", folder, "--tile-side", "32", "--threads", fmt.Sprint(1+i%2))
		}
		run(t, mlg, "merge", folder, "-o", merged)
		if got, err := os.ReadFile(merged); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d shards: the matrix differs from that of mlg gram; error %v", n, err)
		}
	}
}
