package draw

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/nearest"
)

// linearKernel returns the Gram matrix of points with the dot product.
func linearKernel(ps [][]float64) *kernel.Matrix {
	k := kernel.NewMatrix(len(ps), len(ps))
	for i, p := range ps {
		for j, q := range ps {
			s := 0.0
			for a := range p {
				s += p[a] * q[a]
			}
			k.Set(i, j, s)
		}
	}
	return k
}

func cloud(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(3, 4))
	ps := make([][]float64, n)
	for i := range ps {
		ps[i] = []float64{5 * rng.NormFloat64(), 2*rng.NormFloat64() + 7}
	}
	return ps
}

// For points in the plane kernel PCA is a rotation and shift of them: it keeps distances,
// and explains all of the variance.
func TestKernelPCA(t *testing.T) {
	for _, n := range []int{3, 60, 420} {
		ps := cloud(n)
		gram := linearKernel(ps)
		e, err := KernelPCA(t.Context(), gram)
		if err != nil {
			t.Fatal(err)
		}
		if s := e.Share[0] + e.Share[1]; math.Abs(s-1) > 1e-9 || e.Share[0] < e.Share[1] {
			t.Errorf("n = %d: shares %v, want a sum of 1, the larger first", n, e.Share)
		}
		mean := 0.0
		for i := range ps {
			mean += e.Axes[0][i] / float64(n)
			for j := range i {
				got := math.Hypot(e.Axes[0][i]-e.Axes[0][j], e.Axes[1][i]-e.Axes[1][j])
				want := math.Hypot(ps[i][0]-ps[j][0], ps[i][1]-ps[j][1])
				if math.Abs(got-want) > 1e-8 {
					t.Fatalf("n = %d: points %d and %d are %v apart, want %v", n, i, j, got, want)
				}
			}
		}
		if math.Abs(mean) > 1e-8 {
			t.Errorf("n = %d: mean %v, want 0", n, mean)
		}
		// Objects of the embedding get their own coordinates; others are as far away as they are.
		other := []float64{0.25, -0.5}
		k := make([]float64, n)
		for i := range ps {
			k[i] = ps[i][0]*other[0] + ps[i][1]*other[1]
			if x, y := e.Project(gram.Row(i)); math.Hypot(x-e.Axes[0][i], y-e.Axes[1][i]) > 1e-8 {
				t.Errorf("n = %d: object %d is projected to (%v, %v), want (%v, %v)", n, i, x, y, e.Axes[0][i], e.Axes[1][i])
			}
		}
		x, y := e.Project(k)
		for i := range ps {
			got, want := math.Hypot(x-e.Axes[0][i], y-e.Axes[1][i]), math.Hypot(other[0]-ps[i][0], other[1]-ps[i][1])
			if math.Abs(got-want) > 1e-8 {
				t.Fatalf("n = %d: another object is %v from object %d, want %v", n, got, i, want)
			}
		}
	}
	// All objects equal: no variance, all at the origin.
	k := kernel.NewMatrix(4, 4)
	for i := range k.Data {
		k.Data[i] = 1
	}
	e, err := KernelPCA(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Axes[0] {
		if e.Axes[0][i] != 0 || e.Axes[1][i] != 0 {
			t.Errorf("equal objects: object %d at (%v, %v)", i, e.Axes[0][i], e.Axes[1][i])
		}
	}
	for name, bad := range map[string]*kernel.Matrix{"square": kernel.NewMatrix(2, 3), "(0, 1)": {Rows: 2, Cols: 2, Data: []float64{1, math.NaN(), 0, 1}}, "0×0": kernel.NewMatrix(0, 0)} {
		if _, err := KernelPCA(t.Context(), bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

// Groups that have nothing in common are apart, equal input gives equal bits, and it can be
// cancelled.
func TestNeighbourMap(t *testing.T) {
	const n = 30 // in three groups
	near, start := make([][]nearest.Hit, n), [2][]float64{make([]float64, n), make([]float64, n)}
	for i := range n {
		for j := i % 3; j < n; j += 3 {
			if j != i {
				near[i] = append(near[i], nearest.Hit{Index: j, Similarity: 0.9})
			}
		}
	}
	at, err := NeighbourMap(t.Context(), near, 1, start)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			d := math.Hypot(at[0][i]-at[0][j], at[1][i]-at[1][j])
			if same := i%3 == j%3; same && d > 5 || !same && d < 2 {
				t.Fatalf("objects %d and %d are %v apart", i, j, d)
			}
		}
	}
	again, err := NeighbourMap(t.Context(), near, 1, start)
	if err != nil || !slices.Equal(again[0], at[0]) || !slices.Equal(again[1], at[1]) {
		t.Errorf("another map of the same differs: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NeighbourMap(cancelled, near, 1, start); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
}

func TestCharts(t *testing.T) {
	graphtest.Slow(t)
	ps := cloud(50)
	class := make([]string, len(ps))
	for i := range class {
		class[i] = hostile + strconv.Itoa(i%16)
	}
	k := linearKernel(ps)
	series := []Series{
		{Name: "a", X: []float64{1, 10, 100}, Y: []float64{0.1, 2, 30}},
		{Name: hostile, X: []float64{1, 100}, Y: []float64{1, 1}},
	}
	charts := map[string]func() (*Picture, error){
		"heat":        func() (*Picture, error) { return HeatMap(t.Context(), hostile, k, class, DefaultSize) },
		"heat plain":  func() (*Picture, error) { return HeatMap(t.Context(), "", k, nil, Size{300, 200}) },
		"heat of one": func() (*Picture, error) { return HeatMap(t.Context(), "", linearKernel(ps[:1]), nil, DefaultSize) },
		"values": func() (*Picture, error) {
			return Scatter{X: []float64{1, 2, 3}, Y: []float64{1, 2, 1}, Value: &PointValues{hostile, []float64{0.5, math.NaN(), -1}, true}, Size: DefaultSize}.Picture()
		},
		"named": func() (*Picture, error) {
			return Scatter{X: []float64{1, 2, 3}, Y: []float64{1, 2, 1}, Class: []string{"b", "", "b"}, Names: []string{"a", "b"}, Size: DefaultSize}.Picture()
		},
		"map":        func() (*Picture, error) { return Map(t.Context(), "map", k, class, DefaultSize) },
		"map plain":  func() (*Picture, error) { return Map(t.Context(), "map", k, nil, DefaultSize) },
		"map of one": func() (*Picture, error) { return Map(t.Context(), "map", linearKernel(ps[:1]), nil, DefaultSize) },
		"bars": func() (*Picture, error) {
			return BarChart{Title: "t", Axis: "%", Bars: []Bar{{"x", 3, 1}, {hostile, -2, 0}}, Size: DefaultSize}.Picture()
		},
		"bar of 0": func() (*Picture, error) { return BarChart{Bars: []Bar{{"x", 0, 0}}, Size: DefaultSize}.Picture() },
		"lines": func() (*Picture, error) {
			return LineChart{Title: "t", XAxis: "x", YAxis: "y", Series: series, Size: DefaultSize}.Picture()
		},
		"lines on plain axes": func() (*Picture, error) {
			return LineChart{Linear: true, Series: []Series{{X: []float64{0, 50, 100}, Y: []float64{0, -2, 7}}}, Size: DefaultSize}.Picture()
		},
		"lines without names": func() (*Picture, error) {
			return LineChart{Series: series, Size: DefaultSize}.Picture()
		},
		"line of a point": func() (*Picture, error) {
			return LineChart{Series: []Series{{X: []float64{2}, Y: []float64{10}}}, Size: DefaultSize}.Picture()
		},
	}
	for name, f := range charts {
		p, err := f()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkPicture(t, p)
		if strings.Contains(string(p.SVG()), "<script") {
			t.Errorf("%s: a text of the data became markup", name)
		}
		q, err := f()
		if err != nil || string(p.SVG()) != string(q.SVG()) {
			t.Errorf("%s: two runs gave different bytes", name)
		}
	}
}

func TestChartErrors(t *testing.T) {
	for name, f := range map[string]func() (*Picture, error){
		"no bars": func() (*Picture, error) { return BarChart{Size: DefaultSize}.Picture() },
		`bar "x"`: func() (*Picture, error) {
			return BarChart{Size: DefaultSize, Bars: []Bar{{"x", math.NaN(), 0}}}.Picture()
		},
		"no points": func() (*Picture, error) { return LineChart{Size: DefaultSize}.Picture() },
		"2 x and 1 y": func() (*Picture, error) {
			return LineChart{Size: DefaultSize, Series: []Series{{X: []float64{1, 2}, Y: []float64{1}}}}.Picture()
		},
		"point 1": func() (*Picture, error) {
			return LineChart{Size: DefaultSize, Series: []Series{{X: []float64{1, 2}, Y: []float64{1, 0}}}}.Picture()
		},
		"0×0 pixels": func() (*Picture, error) { return LineChart{}.Picture() },
		"49 classes": func() (*Picture, error) {
			return HeatMap(t.Context(), "", linearKernel(cloud(50)), make([]string, 49), DefaultSize)
		},
		"1 y": func() (*Picture, error) {
			return Scatter{Size: DefaultSize, X: []float64{1, 2}, Y: []float64{1}}.Picture()
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

// Positions on the axes follow the numbers: bars are as long as their values.
func TestBarLengths(t *testing.T) {
	p, err := BarChart{Bars: []Bar{{"a", 10, 0}, {"b", 30, 0}}, Size: DefaultSize}.Picture()
	if err != nil {
		t.Fatal(err)
	}
	var lengths []float64
	for _, s := range p.shapes {
		if f, ok := s.(*filled); ok && f.fill == ClassColor(0) {
			lengths = append(lengths, f.pts[1].x-f.pts[0].x)
		}
	}
	if len(lengths) != 2 || math.Abs(lengths[1]/lengths[0]-3) > 1e-9 {
		t.Errorf("bars of 10 and 30 are %v pixels long", lengths)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		want []float64
	}{
		{axis{lo: 0, hi: 100}, []float64{0, 20, 40, 60, 80, 100}},
		{axis{lo: -0.2, hi: 0.4}, []float64{-0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4}},
		{axis{lo: -3, hi: 1, log: true}, []float64{-3, -2, -1, 0, 1}},
	} {
		got := c.a.ticks(6)
		if !slices.EqualFunc(got, c.want, func(x tick, y float64) bool { return math.Abs(x.at-y) < 1e-12 }) {
			t.Errorf("[%v, %v]: ticks %v, want %v", c.a.lo, c.a.hi, got, c.want)
		}
	}
}

// A legend keeps to its room and says what it leaves out.
func TestLegend(t *testing.T) {
	names := make([]string, 200)
	for i := range names {
		names[i] = strings.Repeat("class ", 6) + strconv.Itoa(i)
	}
	l := newLegend(names, 300, 70)
	last := len(l.entries) - 1
	if l.height > 70 || l.width > 300 || l.entries[last].marked || l.entries[last].name != fmt.Sprintf("and %d more", 200-last) {
		t.Errorf("legend of %v × %v ends with %q after %d names", l.width, l.height, l.entries[last].name, last)
	}
}

// A heat map of more objects than cells shows means, within the range of the values.
func TestHeatMapOfMany(t *testing.T) {
	const n = maxCells + 150
	ps := make([][]float64, n)
	for i := range ps {
		ps[i] = []float64{math.Cos(float64(i)), math.Sin(float64(i))}
	}
	p, err := HeatMap(t.Context(), "", linearKernel(ps), nil, DefaultSize)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.shapes {
		if c, ok := s.(*cells); ok {
			if size := c.img.Bounds().Size(); size.X != maxCells || size.Y != maxCells {
				t.Errorf("%v cells, want %d", size, maxCells)
			}
			return
		}
	}
	t.Error("no cells")
}

func TestReport(t *testing.T) {
	p, err := Graph(parse(t, "CCO"), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Title: hostile, Summary: hostile, Footer: hostile, Sections: []Section{
		{"One", []Block{Paragraph("first\n\nsecond " + hostile), Code("a\n  b " + hostile)}},
		{hostile, []Block{Table{Caption: hostile, Header: []string{"kernel", "accuracy"}, Rows: [][]string{{hostile, "91.2 ± 1.3"}, {"wl", "−3"}}}}},
		{"Pictures", []Block{Figure{Picture: p, Caption: hostile}}},
	}}
	b, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	s := string(b)
	for _, want := range []string{"<!DOCTYPE html>", "<p>first</p>", `<td class="number">91.2 ± 1.3</td>`, "a\n  b ", "<svg xmlns", "prefers-color-scheme: dark", "@media print", `href="#s1"`} {
		if !strings.Contains(s, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(s, "<script") || strings.Contains(s, "\x00") {
		t.Error("a text of the data became markup")
	}
	// Nothing is loaded from anywhere: the only address is the name of the SVG language.
	if rest := strings.ReplaceAll(s, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, "://") {
		t.Error("the report refers to something outside")
	}
	if c, err := r.HTML(); err != nil || string(c) != s {
		t.Error("two runs gave different bytes")
	}
	for name, block := range map[string]Block{"row 0 has 1 cells": Table{Header: []string{"a", "b"}, Rows: [][]string{{"x"}}}, "no picture": Figure{}} {
		bad := Report{Sections: []Section{{"S", []Block{block}}}}
		if _, err := bad.HTML(); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `section "S"`) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}

func TestGallery(t *testing.T) {
	g, o := parse(t, "CCO"), DefaultOptions()
	a, err := Graph(g, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Gallery("three", 2, []Panel{{Graph: g}, {Graph: g}, {Graph: g}}, o)
	if err != nil {
		t.Fatal(err)
	}
	checkPicture(t, s)
	w, h := s.Width, s.Height
	aw, ah := a.Width, a.Height
	if w != 2*aw || h < 2*ah {
		t.Errorf("the gallery is %v × %v for pictures of %v × %v", w, h, aw, ah)
	}
	if _, err := Gallery("none", 2, nil, o); err == nil {
		t.Error("a gallery without graphs: no error")
	}
}
