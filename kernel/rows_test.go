package kernel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// rows returns rows of two structures and two values. Some parts repeat, and some are missing.
func rows(t *testing.T, n int) []*graph.Graph {
	t.Helper()
	some := graphtest.Suite(3)
	empty := graph.Absent()
	var out []*graph.Graph
	for i := range n {
		a, b := some[i%5], some[(7*i+3)%4]
		if i%6 == 5 {
			b = empty
		}
		g, err := graph.Row("", "", []graph.Part{
			{Name: "a", Graph: a}, {Name: "b c", Graph: b},
			{Name: "T", Graph: []*graph.Graph{graph.Number(1), graph.Number(2.5), graph.Number(-3), empty}[i%4], Value: true},
			{Name: "assay", Graph: []*graph.Graph{graph.Category("x"), graph.Category("y"), empty}[i%3], Value: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// A kernel on a part of rows has the values of the kernel on these parts, also in features that were
// selected, joined, written and read. A missing part is like other missing ones.
func TestRows(t *testing.T) {
	train, other := rows(t, 14), rows(t, 9)
	for _, text := range []string{`wl("b c") h=2`, "labels(assay)", "gaussian(T)", "(0.5 wl + 0.5 sp)(a)", `nspd(a) * wl("b c") * gaussian(T) width=2`} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if k.String() != text && !strings.HasPrefix(text, "(") {
			t.Errorf("%s is written %s", text, k)
		}
		if back, err := kernel.Parse(k.String()); err != nil || back.String() != k.String() {
			t.Errorf("%s comes back as %v, %v", k, back, err)
		}
		in := kernel.NewCollection(train)
		sum, err := in.Fit(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		want := literalRows(t, sum, train, other)
		cross, err := sum.Cross(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if math.Abs(cross.Data[i]-w) > 1e-12 {
				t.Errorf("%s: value %d is %v, want %v", text, i, cross.Data[i], w)
			}
		}

		data, err := sum.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		features, err := sum.Train(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		some := features.Select([]int{3, 3, 12, 0})
		bytes, err := sum.Join(some, features).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		read, err := kernel.SumOf(k).Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := read.DecodeFeatures(bytes)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kernel.Between(t.Context(), read, back, back)
		if err != nil {
			t.Fatal(err)
		}
		all, err := sum.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range []int{3, 3, 12, 0} {
			for q := range train {
				if math.Float64bits(got.At(i, 4+q)) != math.Float64bits(all.At(p, q)) {
					t.Fatalf("%s: k(%d, %d) = %v after reading, %v before", text, p, q, got.At(i, 4+q), all.At(p, q))
				}
			}
		}
	}
}

// literalRows compares rows part by part.
func literalRows(t *testing.T, sum *kernel.FittedSum, train, other []*graph.Graph) []float64 {
	var out []float64
	for _, g := range other {
		for _, h := range train {
			total := 0.0
			for _, term := range sum.Sum.Terms {
				product := term.Weight
				for _, f := range term.Factors {
					product *= literalPart(t, f, train, g, h)
				}
				total += product
			}
			out = append(out, total)
		}
	}
	return out
}

func literalPart(t *testing.T, f kernel.Factor, train []*graph.Graph, g, h *graph.Graph) float64 {
	x, y := g.Part(f.Of), h.Part(f.Of)
	switch {
	case x.N() == 0 && y.N() == 0:
		return 1
	case x.N() == 0 || y.N() == 0:
		return 0
	}
	if k, ok := f.Kernel.(classic.NumberGaussian); ok { // deviations are those of the different values
		s := math.Sqrt((math.Pow(1-1./6, 2) + math.Pow(2.5-1./6, 2) + math.Pow(-3-1./6, 2)) / 3)
		u := (x.Attributes(0)[0] - y.Attributes(0)[0]) / s / k.Width
		return math.Exp(-u * u / 2)
	}
	var different []*graph.Graph
	for _, r := range train {
		if p := r.Part(f.Of); p.N() > 0 {
			known := false
			for _, d := range different {
				known = known || d == p
			}
			if !known {
				different = append(different, p)
			}
		}
	}
	fitted, err := f.Kernel.Fit(t.Context(), different)
	if err != nil {
		t.Fatal(err)
	}
	two, err := fitted.Transform(t.Context(), []*graph.Graph{x, y})
	if err != nil {
		t.Fatal(err)
	}
	m, err := kernel.Between(t.Context(), fitted.Map, two, two)
	if err != nil {
		t.Fatal(err)
	}
	return m.At(0, 1)
}

// What is wrong with parts is said with its place.
func TestRowsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"wl()": "no name in brackets", "wl(a": "want a closing bracket", "(wl(a) + sp)(b)": `the part "a" of the part "b"`,
		"core base=(wl(a))": "without a form",
	} {
		if _, err := kernel.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	k, err := kernel.Parse("wl(solvent)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.Fit(t.Context(), k, rows(t, 3)); err == nil || !strings.Contains(err.Error(), `no part "solvent", want one of ["a" "b c" "T" "assay"]`) {
		t.Errorf("error %v", err)
	}
	if _, err := kernel.Fit(t.Context(), k, graphtest.Suite(3)); err == nil || !strings.Contains(err.Error(), "no row of a table") {
		t.Errorf("error %v", err)
	}
}

// A kernel that names no part compares all: it is the mean over the structures, times the values.
func TestRowsByDefault(t *testing.T) {
	graphs := rows(t, 8)
	want, err := kernel.Parse(`wl(a) h=2 * gaussian(T) * labels(assay) + wl("b c") h=2 * gaussian(T) * labels(assay)`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Parse("wl h=2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := kernel.SumOf(k).Expand(graphs)
	if err != nil || got.String() != want.String() {
		t.Errorf("expanded to %s, %v, want %s", got, err, want)
	}
	if got, err = kernel.SumOf(want).Expand(graphs); err != nil || got.String() != want.String() {
		t.Errorf("parts that are named change to %s, %v", got, err)
	}
	if got, err = kernel.SumOf(k).Expand(graphtest.Suite(1)); err != nil || got.String() != k.String() {
		t.Errorf("other graphs change it to %s, %v", got, err)
	}
}
