package cli

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// kills returns how often a command is killed: so often, or as MLG_KILLS says. It is 100 in make test-long.
func kills(t *testing.T, few int) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("MLG_KILLS"), strconv.Itoa(few)))
	if err != nil || n < 1 {
		t.Fatalf("MLG_KILLS=%s, want a number", os.Getenv("MLG_KILLS"))
	}
	return n
}

// crash is a command that writes files.
type crash struct {
	name    string
	args    string   // in a folder beside the data
	files   []string // that it writes, and that belong together
	resumes bool     // it goes on with what a killed run has left
}

var crashes = []crash{
	{name: "gram", args: "gram ../g.jsonl -o k.npy", files: []string{"k.npy", "k.ids.csv"}},
	{name: "gram as text", args: "gram ../g.jsonl --kernel wl -o k.csv", files: []string{"k.csv", "k.ids.csv"}},
	{name: "gram for LIBSVM", args: "gram ../g.jsonl --kernel wl -o k.libsvm", files: []string{"k.libsvm", "k.ids.csv"}},
	{name: "gram in tiles", args: "gram ../g.jsonl --tiles tiles --tile-side 16 -o k.npy", files: []string{"k.npy", "k.ids.csv"}, resumes: true},
	{name: "merge", args: "merge ../tiles -o k.npy", files: []string{"k.npy", "k.ids.csv"}},
	{name: "fit", args: "fit ../g.jsonl -o m.mlg", files: []string{"m.mlg"}},
	{name: "transform", args: "transform ../f.mlg ../many.jsonl -o s.mlgs", files: []string{"s.mlgs"}, resumes: true},
	{name: "embed", args: "embed ../f.mlg ../g.jsonl --dimension 40 -o e.npy", files: []string{"e.npy", "e.ids.csv"}},
	{name: "train", args: "train ../g.jsonl --kernel wl --kernel sp -o m.mlg", files: []string{"m.mlg"}},
	{name: "evaluate", args: "evaluate ../g.jsonl --kernel wl --kernel sp --folds 4 --repeats 2 --run run --save-splits s.json --plot p.svg --json",
		files: []string{"s.json", "p.svg"}, resumes: true},
	{name: "refine", args: "refine ../t.mlg ../g.jsonl --json -o r.mlg", files: []string{"r.mlg"}},
	{name: "refine a shard", args: "refine ../t.mlg ../g.jsonl --shard 1/2 --sums sums", files: []string{"sums/shard-1-of-2.sums"}, resumes: true},
	{name: "predict", args: "predict ../t.mlg ../g.jsonl --csv -o p.csv", files: []string{"p.csv"}},
	{name: "covariance", args: "predict ../v.mlg ../v.jsonl --quiet --covariance c.npy -o p.txt", files: []string{"c.npy", "c.ids.csv"}},
	{name: "suggest", args: "suggest ../v.mlg ../other.jsonl -k 3 --quiet --csv -o s.csv", files: []string{"s.csv"}},
	{name: "simulate", args: "suggest ../v.jsonl --simulate --kernel wl --start 10 -k 4 --rounds 4 --repeats 3 --run run --json -o s.json",
		files: []string{"s.json"}, resumes: true},
	{name: "explain", args: "explain ../t.mlg ../g.jsonl --which 3 --quiet -o why.svg", files: []string{"why.svg"}},
	{name: "search", args: "search ../g.jsonl ../g.jsonl --csv -o f.csv", files: []string{"f.csv"}},
	{name: "cluster", args: "cluster ../g.jsonl --csv -o c.csv", files: []string{"c.csv"}},
	{name: "convert", args: "convert ../many.jsonl c.graphml", files: []string{"c.graphml"}},
	{name: "convert to a folder", args: "convert ../g.jsonl TU",
		files: []string{"TU/TU_A.txt", "TU/TU_graph_indicator.txt", "TU/TU_graph_labels.txt", "TU/TU_node_labels.txt"}},
}

// took matches what differs from run to run in the output of a command: times.
var took = regexp.MustCompile(`"[a-z_]*seconds": *[0-9.e+-]+`)

// Every command that writes files is killed at random moments, half of them while it writes. After each, its files are the old
// ones, the new ones or not there, and no new one stands beside an old one. Then it runs undisturbed, and all is to the bit what
// it is without kills.
func TestCrashes(t *testing.T) {
	graphtest.Long(t)
	graphtest.Unraced(t)
	mlg, n := program(t), kills(t, 6)
	dir := t.TempDir()
	data := filepath.Join(dir, "g.jsonl")
	writeGraphs(t, data, 150, 20, 1)
	writeGraphs(t, filepath.Join(dir, "many.jsonl"), 9000, 7, 3)
	writeGraphs(t, filepath.Join(dir, "other.jsonl"), 200, 20, 2)
	text, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	target := func(name string, of func(i int) string) {
		out := slices.Clone(lines)
		for i, line := range lines {
			out[i] = bytes.Replace(line, []byte("{"), []byte(`{"target":"`+of(i)+`",`), 1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(out, nil), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	target("g.jsonl", func(i int) string { return strconv.Itoa(i % 2) })
	target("v.jsonl", func(i int) string { return strconv.Itoa(i%7) + ".5" })
	run(t, mlg, "fit", data, "-o", filepath.Join(dir, "f.mlg"), "--sample", "100")
	run(t, mlg, "train", data, "-o", filepath.Join(dir, "t.mlg"), "--kernel", "wl")
	run(t, mlg, "train", filepath.Join(dir, "v.jsonl"), "-o", filepath.Join(dir, "v.mlg"), "--kernel", "wl")
	run(t, mlg, "gram", data, "--tiles", filepath.Join(dir, "tiles"), "--shard", "1/1", "--tile-side", "16")
	for _, c := range crashes {
		t.Run(c.name, func(t *testing.T) { c.test(t, mlg, dir, n) })
	}
}

func (c *crash) test(t *testing.T, mlg, dir string, n int) {
	whole, err := os.MkdirTemp(dir, "whole")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "crash")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	begin := time.Now()
	wantText := c.finish(t, mlg, whole)
	length := time.Since(begin)
	want := map[string][]byte{}
	for _, name := range c.files {
		if want[name], err = os.ReadFile(filepath.Join(whole, name)); err != nil {
			t.Fatal(err)
		}
	}
	listed := list(t, whole)
	r := graphtest.Rand(uint64(n))
	killed, wrote := 0, 0
	runs := 0
	for i := 0; i < n || killed == 0 && i < 10*n; i++ { // the first run may have been slow
		runs++
		if !c.resumes || c.present(folder) {
			for _, name := range c.files {
				path := filepath.Join(folder, name)
				if c.resumes {
					os.Remove(path)
				} else if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("old"), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
		}
		dead, writing := c.kill(t, mlg, folder, length, i%2 == 1, r)
		if dead {
			killed++
		} else {
			length = length * 4 / 5 // the first run was slower
		}
		if writing {
			wrote++
		}
		fresh, stale := "", ""
		for _, name := range c.files {
			switch got, err := os.ReadFile(filepath.Join(folder, name)); {
			case os.IsNotExist(err):
			case err != nil:
				t.Fatal(err)
			case !c.resumes && string(got) == "old":
				stale = name
			case bytes.Equal(got, want[name]):
				fresh = name
			default:
				t.Fatalf("kill %d left %d bytes of %s, want %d or none", i, len(got), name, len(want[name]))
			}
		}
		if fresh != "" && stale != "" {
			t.Fatalf("kill %d left a new %s beside an old %s", i, fresh, stale)
		}
	}
	t.Logf("%d of %d runs were killed, %d while a file was written", killed, runs, wrote)
	if killed == 0 {
		t.Error("no run was killed")
	}
	if c.resumes && c.present(folder) {
		for _, name := range c.files {
			os.Remove(filepath.Join(folder, name))
		}
	}
	if got := c.finish(t, mlg, folder); got != wantText {
		t.Errorf("it prints\n%s\nwant\n%s", got, wantText)
	}
	for _, name := range c.files {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Equal(got, want[name]) {
			t.Errorf("%s differs from that of an undisturbed run; error %v", name, err)
		}
	}
	if got := list(t, folder); got != listed {
		t.Errorf("files %s, want %s", got, listed)
	}
}

// present reports whether all files of the command are there.
func (c *crash) present(folder string) bool {
	for _, name := range c.files {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}

// finish runs the command to its end and returns what it prints, without times.
func (c *crash) finish(t *testing.T, mlg, folder string) string {
	t.Helper()
	cmd := exec.Command(mlg, append([]string{"--quiet", "--threads", "2"}, strings.Fields(c.args)...)...)
	cmd.Dir = folder
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("mlg %s: %v\n%s", c.args, err, errs.String())
	}
	return took.ReplaceAllString(regexp.MustCompile(`, [0-9.]+ m?s\n`).ReplaceAllString(string(out), "\n"), "") // how long it took
}

// kill runs the command and kills it after a random time, or a little after it has begun to write. It reports
// whether it was still running, and whether a file was unfinished.
func (c *crash) kill(t *testing.T, mlg, folder string, length time.Duration, writing bool, r *rand.Rand) (dead, unfinished bool) {
	t.Helper()
	cmd := exec.Command(mlg, append([]string{"--quiet", "--threads", "2"}, strings.Fields(c.args)...)...)
	cmd.Dir = folder
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	after := time.Duration(r.Float64() * float64(length))
	limit := time.After(10 * length)
	if writing {
		after = time.Duration(r.Float64() * float64(length) / 20)
		for len(unfinishedFiles(folder)) == 0 && len(ended) == 0 && len(limit) == 0 {
			time.Sleep(200 * time.Microsecond)
		}
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("mlg %s: %v", c.args, err)
		}
		return false, false
	case <-time.After(after):
	}
	cmd.Process.Kill()
	err := <-ended
	return err != nil, len(unfinishedFiles(folder)) > 0
}

// unfinishedFiles returns the files that have no name of their own yet.
func unfinishedFiles(folder string) []string {
	temporary, _ := filepath.Glob(filepath.Join(folder, ".*.tmp"))
	inside, _ := filepath.Glob(filepath.Join(folder, "*", ".*.tmp"))
	parts, _ := filepath.Glob(filepath.Join(folder, "*.part"))
	return append(append(temporary, inside...), parts...)
}

// list returns the names of all files in a folder and the folders in it.
func list(t *testing.T, folder string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}
