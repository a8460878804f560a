package main

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

func TestMolecules(t *testing.T) {
	var a, b, c bytes.Buffer
	for _, x := range []struct {
		out  *bytes.Buffer
		n    int
		seed uint64
	}{{&a, 2000, 1}, {&b, 500, 1}, {&c, 500, 2}} {
		if err := run(x.out, "builtin:drugs", x.n, x.seed); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(a.Bytes(), b.Bytes()) {
		t.Error("the same seed gives other graphs")
	}
	if bytes.Equal(b.Bytes(), c.Bytes()) {
		t.Error("another seed gives the same graphs")
	}
	ds, err := dataset.ReadFrom(context.Background(), &a, "a.jsonl", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(ds.Graphs) != 2000 || len(ds.Warnings) > 0 {
		t.Fatalf("%d graphs, warnings %v", len(ds.Graphs), ds.Warnings)
	}
	s := dataset.Info(ds)
	if s.Connected < 1900 || s.MaxDegree > 5 || s.Classes != 13 {
		t.Errorf("%+v", s)
	}
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	for i := range lines { // but for the identifier, hardly any is there twice
		lines[i] = lines[i][bytes.IndexByte(lines[i], ','):]
	}
	slices.SortFunc(lines, bytes.Compare)
	if n := len(slices.CompactFunc(lines, bytes.Equal)); n < 450 {
		t.Errorf("%d different graphs of 500", n)
	}
}
