package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/beam/pipeline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// The test binary is the command where this variable is set.
const asCommand = "MLG_BEAM_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command runs mlg-beam.
func command(t *testing.T, temp string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	c.Run()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	d := dataset.Scales(40, 1)
	fitted, err := kernel.NewCollection(d.Graphs).Fit(t.Context(), mlg.Default())
	if err != nil {
		t.Fatal(err)
	}
	file, graphs := filepath.Join(dir, "m.mlg"), filepath.Join(dir, "g.jsonl")
	m := model.Of(d.Graphs, fitted)
	if err := model.Write(t.Context(), file, m); err != nil {
		t.Fatal(err)
	}
	if err := dataset.WriteDataset(t.Context(), graphs, d, dataset.JSONLines); err != nil {
		t.Fatal(err)
	}
	tiles, vectors, temp := filepath.Join(dir, "tiles"), filepath.Join(dir, "vectors"), t.TempDir()

	out, errs, code := command(t, temp, "--model", file, "--tiles", tiles, "--tile-side", "16", "--json", graphs)
	var got pipeline.Counts
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	if want := (pipeline.Counts{Read: 40, Transformed: 40, Computed: 6}); got != want || errs != "" {
		t.Errorf("counters %+v, want %+v; standard error: %s", got, want, errs)
	}
	_, errs, code = command(t, temp, "--model", file, "--tiles", tiles, "--tile-side", "16", graphs)
	if want := "40 graphs read, 0 of them left out, 40 transformed; 0 outputs computed (0 in place of damaged ones) and 6 kept\n"; errs != want || code != 0 {
		t.Errorf("exit code %d and %q, want 0 and %q", code, errs, want)
	}
	_, errs, code = command(t, temp, "--model", file, "--embeddings", vectors, "--dimension", "5", "--pivots", "greedy", "--quiet", graphs)
	if _, err := os.Stat(filepath.Join(vectors, pipeline.VectorName(0))); err != nil || errs != "" || code != 0 {
		t.Errorf("embeddings: exit code %d, %v, %s", code, err, errs)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%d temporary files left, the first is %s", len(left), left[0].Name())
	}

	empty := filepath.Join(dir, "empty.jsonl")
	if err := os.WriteFile(empty, []byte("\n\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{nil, "usage: mlg-beam", 2},
		{[]string{graphs}, "no model", 2},
		{[]string{"--model", file, graphs}, "one of tiles, embeddings, train and predictions", 2},
		{[]string{"--model", file, "--tiles", tiles, "--format", "nothing", graphs}, "nothing", 2},
		{[]string{"--model", graphs, "--tiles", tiles, graphs}, "g.jsonl", 1},
		{[]string{"--model", file, "--tiles", tiles, graphs + "x"}, "no such file", 1},
		{[]string{"--model", file, "--tiles", filepath.Join(dir, "none"), empty}, "no graphs", 1},
	} {
		if _, errs, code := command(t, temp, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d and %s, want %d and %q", c.args, code, errs, c.code, c.want)
		}
	}
}
