package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

func mustFloat(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// readText reads a text in a format.
func readText(f Format, text string, change func(*Options)) (*Dataset, error) {
	o := DefaultOptions()
	o.Format = f
	if change != nil {
		change(&o)
	}
	return ReadFrom(context.Background(), strings.NewReader(text), "f", o)
}

func mustReadText(t *testing.T, f Format, text string) *Dataset {
	t.Helper()
	d, err := readText(f, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// describe writes all that a graph holds.
func describe(g *graph.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id %q target %q n %d", g.ID(), g.Target(), g.N())
	for v := range g.N() {
		fmt.Fprintf(&b, "\n%d", v)
		if g.HasLabels() {
			fmt.Fprintf(&b, " %q", g.Label(v))
		}
		if g.AttributeDim() > 0 {
			fmt.Fprintf(&b, " %v", g.Attributes(v))
		}
		if x, y, ok := g.Coordinates(v); ok {
			fmt.Fprintf(&b, " (%v, %v)", x, y)
		}
	}
	edges, mark := g.Edges(), '-'
	if g.Directed() {
		edges, mark = g.Arcs(), '>'
	}
	for e := range edges {
		fmt.Fprintf(&b, "\n%d%c%d %v", e.U, mark, e.V, e.Weight)
		if g.HasEdgeLabels() {
			fmt.Fprintf(&b, " %q", e.Label)
		}
	}
	return b.String()
}

func wantGraph(t *testing.T, g *graph.Graph, want string) {
	t.Helper()
	if got := describe(g); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func wantWarnings(t *testing.T, d *Dataset, want ...string) {
	t.Helper()
	if !slices.Equal(d.Warnings, want) {
		t.Errorf("warnings %q, want %q", d.Warnings, want)
	}
}

func gzipped(t testing.TB, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// errorCase is an input and the error that it must give.
type errorCase struct{ text, want string }

func wantErrors(t *testing.T, f Format, cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		_, err := readText(f, c.text, func(o *Options) { o.Strict = true })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant …%s", c.text, err, c.want)
		}
	}
}
