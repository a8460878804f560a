package classic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// propagations are the kernels of this kind in the list of all.
func propagations(normalize bool) []kernel.Kernel {
	k := Propagation{Steps: 3, Distance: L1, Width: 0.01, Seed: 1, Labels: Auto, Normalize: normalize}
	roots, wide, rows, alike := k, k, k, k
	roots.Distance = Hellinger
	wide.Distance, wide.Width, wide.Steps = L2, 0.7, 5
	rows.Labels, rows.Width = Attributes, 0.5
	alike.Labels = Unlabeled
	return []kernel.Kernel{k, roots, wide, rows, alike}
}

// referencePropagation forms all rows.
func referencePropagation(k Propagation, graphs []*graph.Graph) [][]float64 {
	f := make([]map[string]float64, len(graphs))
	draw := func(name string, t int) float64 {
		rng := rand.NewPCG(hashText(k.Seed, name), mixed(uint64(t)))
		if k.Distance == L1 {
			return drawCauchy(rng)
		}
		return drawNormal(rng)
	}
	for i, g := range graphs {
		x := make([]map[string]float64, g.N())
		for v := range x {
			x[v] = map[string]float64{}
			if k.Labels != Attributes {
				x[v][referenceLabel(k.Labels, g, v)] = 1
			}
			for a, y := range g.Attributes(v) {
				if k.Labels == Attributes {
					x[v][fmt.Sprint(a)] = y
				}
			}
		}
		f[i] = map[string]float64{}
		for t := range k.Steps + 1 {
			shift := func(column int) float64 {
				return k.Width * uniform(rand.NewPCG(mixed(k.Seed), uint64(column)<<32|uint64(t)))
			}
			next := make([]map[string]float64, g.N())
			for v := range x {
				bin := fmt.Sprint(t)
				sum := shift(0)
				for name, y := range x[v] {
					if k.Distance == Hellinger {
						y = math.Sqrt(y)
					}
					sum += y * draw(name, t)
				}
				if k.Labels != Attributes {
					bin += fmt.Sprint(" ", math.Floor(sum/k.Width))
				}
				for a := range g.AttributeDim() {
					if name := fmt.Sprint(a); k.Labels == Attributes {
						bin += fmt.Sprint(" ", math.Floor((x[v][name]*draw(name, t)+shift(a))/k.Width))
					}
				}
				f[i][bin]++
				next[v] = map[string]float64{}
				weights := weightMatrix(g)[v]
				total := 0.0
				for _, w := range weights {
					total += w
				}
				for u, w := range weights {
					for name, y := range x[u] {
						if w > 0 {
							next[v][name] += w * y / total
						}
					}
				}
			}
			x = next
		}
	}
	return pairsOf(len(graphs), func(i, j int) float64 { return mapDot(f[i], f[j]) })
}

// With bins that hold equal rows only, the kernel counts pairs of them. The graphs are a path a-b-c, a path
// a-a-b, and an edge a-b with a vertex a or b beside it, which has nothing after the first step.
func TestPropagationByHand(t *testing.T) {
	graphs := []*graph.Graph{
		labelledGraph(t, "abc", "01 12"), labelledGraph(t, "aab", "01 12"),
		labelledGraph(t, "aba", "01"), labelledGraph(t, "abb", "01"),
	}
	// Rows of the first after one step: b, (a+c)/2, b; after two: (a+c)/2, b, (a+c)/2.
	for steps, want := range [][]float64{
		{3, 3, 3, 3, 3, 5, 5, 4, 3, 5, 5, 4, 3, 4, 4, 5},
		{8, 3, 5, 5, 3, 10, 7, 6, 5, 7, 8, 7, 5, 6, 7, 8},
		{13, 3, 6, 6, 3, 15, 8, 7, 6, 8, 11, 10, 6, 7, 10, 11},
	} {
		for _, d := range []Distance{L1, L2, Hellinger} {
			k := Propagation{Steps: steps, Distance: d, Width: 1e-7, Labels: Labels}
			if got := fitGram(t, k, graphs); !slices.Equal(got.Data, want) {
				t.Errorf("%s: %v, want %v", k, got.Data, want)
			}
		}
	}
}

func TestPropagationErrors(t *testing.T) {
	b := graph.NewBuilder(1)
	b.SetAttributes(0, []float64{1e300})
	huge, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	k := DefaultPropagation()
	k.Labels = Attributes
	roots := k
	roots.Distance = Hellinger
	for want, try := range map[string]func() error{
		"want less than 2^53 bins": func() error { _, err := k.Fit(t.Context(), []*graph.Graph{huge}); return err },
		"graph 0 has no attributes": func() error {
			_, err := k.Fit(t.Context(), []*graph.Graph{labelledGraph(t, "a", "")})
			return err
		},
		"want l1 or l2 with labels = attributes": roots.Validate,
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A quarter of a Cauchy distribution is above 1, and 16 % of a normal one.
func TestDraws(t *testing.T) {
	const n = 20000
	above, mean, square := 0.0, 0.0, 0.0
	normalAbove := 0.0
	for i := range n {
		rng := rand.NewPCG(hashText(7, fmt.Sprint(i)), mixed(3))
		if drawCauchy(rng) > 1 {
			above++
		}
		x := drawNormal(rng)
		mean, square = mean+x/n, square+x*x/n
		if x > 1 {
			normalAbove++
		}
	}
	for what, x := range map[string][2]float64{ // within five standard errors
		"Cauchy above 1": {above / n, 0.25}, "normal above 1": {normalAbove / n, 0.1587}, "mean": {mean, 0}, "variance": {square, 1},
	} {
		if math.Abs(x[0]-x[1]) > 5/math.Sqrt(n) {
			t.Errorf("%s: %v, want %v", what, x[0], x[1])
		}
	}
}

// Draws are the same numbers on every machine and in every version: models and matrices depend on them.
func TestDrawsStay(t *testing.T) {
	for _, c := range []struct {
		label          string
		hash           uint64
		cauchy, normal float64
	}{
		{"", 0x36178ff42bee28e5, -1.1339927984463956, 1.7884420251939446},
		{"C", 0x983085c56a7132d8, 1.4129758795241778, 0.04834789643064141},
		{"N+", 0x4252223c75deae94, -1.3421556033115802, -0.5426337053067982},
	} {
		hash := hashText(1, c.label)
		rng := rand.NewPCG(hash, mixed(3))
		if x, y := drawCauchy(rng), drawNormal(rng); hash != c.hash || x != c.cauchy || y != c.normal {
			t.Errorf("%q: %#x, %v, %v, want %#x, %v, %v", c.label, hash, x, y, c.hash, c.cauchy, c.normal)
		}
	}
}
