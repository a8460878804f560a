package mlg

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// goldenCase is a case of the files in testdata/golden. Their values come from an independent
// implementation; a second one, testdata/golden/generate.py, checks them.
type goldenCase struct {
	Graphs []struct {
		N      int
		Labels []int
		Edges  [][3]float64
	}
	Features   [][][]float64
	Radii      []int
	Eta, Gamma float64
	Gram       [][]float64
	MLS        map[string][][]float64 `json:"mls_graph0_graph1"`
}

func golden(t *testing.T, name string) []goldenCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func (c *goldenCase) graphs(t *testing.T) []*graph.Graph {
	t.Helper()
	var out []*graph.Graph
	for i, x := range c.Graphs {
		b := graph.NewBuilder(x.N)
		for v, l := range x.Labels {
			b.SetLabel(v, strconv.Itoa(l))
		}
		for _, e := range x.Edges {
			b.AddWeightedEdge(int(e[0]), int(e[1]), e[2])
		}
		if c.Features != nil {
			for v, row := range c.Features[i] {
				b.SetAttributes(v, row)
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// close reports a relative difference above tol.
func checkClose(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (relative difference %.2g)", what, got, want, math.Abs(got-want)/math.Abs(want))
	}
}

func checkGram(t *testing.T, got *kernel.Matrix, want [][]float64, tol float64) {
	t.Helper()
	for i := range want {
		for j := range want[i] {
			checkClose(t, fmt.Sprintf("k(%d,%d)", i, j), got.At(i, j), want[i][j], tol)
		}
	}
}

const goldenTol = 1e-9

func TestGoldenLG(t *testing.T) {
	for _, c := range golden(t, "lg.json") {
		gs := c.graphs(t)
		for i, g := range gs {
			for j, h := range gs {
				k, err := LG(g, h, c.Eta, c.Gamma)
				if err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
				same := func(a *graph.Graph, v int, b *graph.Graph, w int) float64 {
					if v == w {
						return 1
					}
					return 0
				}
				// LG is eq. (3) with the identity as base kernel between equal positions.
				if k, err = flgKernel(g, h, same, c.Eta, c.Gamma); err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("FLG form of k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
			}
		}
	}
}

func featureMatrix(g *graph.Graph) *kernel.Matrix {
	m := kernel.NewMatrix(g.N(), g.AttributeDim())
	for v := range g.N() {
		copy(m.Row(v), g.Attributes(v))
	}
	return m
}

func TestGoldenFLGFeatures(t *testing.T) {
	for _, c := range golden(t, "flg_features.json") {
		gs := c.graphs(t)
		linear := func(a *graph.Graph, v int, b *graph.Graph, w int) float64 {
			return dense.Dot(a.Attributes(v), b.Attributes(w))
		}
		for i, g := range gs {
			for j, h := range gs {
				k, err := FLG(g, featureMatrix(g), h, featureMatrix(h), c.Eta, c.Gamma)
				if err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
				if k, err = flgKernel(g, h, linear, c.Eta, c.Gamma); err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("kernel form of k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
			}
		}
		checkExact(t, gs, Kernel{Base: "attributes"}, c)
	}
}

func TestGoldenFLGKernel(t *testing.T) {
	kappa := func(a *graph.Graph, v int, b *graph.Graph, w int) float64 {
		var s float64
		for i, x := range a.Attributes(v) {
			d := x - b.Attributes(w)[i]
			s += d * d
		}
		return math.Exp(-s / 2)
	}
	for _, c := range golden(t, "flg_kernel.json") {
		gs := c.graphs(t)
		for i, g := range gs {
			for j, h := range gs {
				joint, err := jointGram(g, h, kappa, c.Eta, c.Gamma)
				if err != nil {
					t.Fatal(err)
				}
				k, err := flgSylvester(g, h, joint, c.Eta, c.Gamma)
				if err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("eq. 3 of k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
				if k, err = flgEigen(g, h, joint, 0, c.Eta, c.Gamma); err != nil {
					t.Fatal(err)
				}
				checkClose(t, fmt.Sprintf("eq. 2 of k(%d,%d)", i, j), k, c.Gram[i][j], goldenTol)
			}
		}
		checkExact(t, gs, Kernel{Base: "gaussian"}, c)
	}
}

// checkExact compares Exact.Gram and Exact.Cross, in the forms of eq. (3) and eq. (2), with
// a golden Gram matrix. Zero fields of o other than Base and Radii get defaults.
func checkExact(t *testing.T, gs []*graph.Graph, o Kernel, c goldenCase) {
	t.Helper()
	for _, rank := range []int{0, 1000} { // 1000 is more than there is: eigenvectors, all of them
		d := Default()
		d.Base, d.Radii, d.Eta, d.Gamma, d.PairRank = o.Base, c.Radii, c.Eta, c.Gamma, rank
		e, err := NewExact(t.Context(), gs, d)
		if err != nil {
			t.Fatal(err)
		}
		k, err := e.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		checkGram(t, k, c.Gram, goldenTol)
		for i := range gs { // alone, so that the others go in parts
			x, err := e.Cross(t.Context(), gs[i:i+1])
			if err != nil {
				t.Fatal(err)
			}
			checkGram(t, x, c.Gram[i:i+1], goldenTol)
		}
	}
}

func TestGoldenMLG(t *testing.T) {
	for i, c := range golden(t, "mlg_exact.json") {
		t.Run(fmt.Sprint(i, c.Radii), func(t *testing.T) {
			gs := c.graphs(t)
			checkExact(t, gs, Kernel{Base: "labels"}, c)
			for level, rows := range c.MLS {
				l, _ := strconv.Atoi(level)
				d := Default()
				d.Base, d.Radii, d.Eta, d.Gamma = "labels", c.Radii[:l], c.Eta, c.Gamma
				e, err := NewExact(t.Context(), gs, d)
				if err != nil {
					t.Fatal(err)
				}
				k, err := e.MLS(t.Context(), 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				checkGram(t, k, rows, goldenTol)
			}
		})
	}
}
