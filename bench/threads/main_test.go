package main

import (
	"bytes"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

func TestThreads(t *testing.T) {
	var a, b, c bytes.Buffer
	for _, x := range []struct {
		out  *bytes.Buffer
		n    int
		seed uint64
	}{{&a, 600, 1}, {&b, 50, 1}, {&c, 50, 2}} {
		if err := run(x.out, x.n, x.seed); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(a.Bytes(), b.Bytes()) {
		t.Error("the same seed gives other graphs")
	}
	if bytes.Equal(b.Bytes(), c.Bytes()) {
		t.Error("another seed gives the same graphs")
	}
	ds, err := dataset.ReadFrom(t.Context(), &a, "a.jsonl", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := dataset.Info(ds)
	n, m, hubs := 0, 0, 0
	for _, g := range ds.Graphs {
		n, m = n+g.N(), m+g.M()
		most := 0
		for v := range g.N() {
			most = max(most, len(g.Neighbors(v)))
		}
		if 5*most > g.N() {
			hubs++
		}
	}
	if mean := n / len(ds.Graphs); mean < 390 || mean > 470 || m < n || 4*m > 5*n || hubs < 450 {
		t.Errorf("%d vertices a graph, %d edges for %d vertices, %d graphs with a hub", mean, m, n, hubs)
	}
	if s.Connected != 600 || s.Classes != 2 || s.NodeLabels != 0 {
		t.Errorf("%+v", s)
	}
}
