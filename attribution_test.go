package mlg

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// scaledLogK computes log k(G, H_i) by the letter of docs/explanation/explain.md: features of the
// vertices, one row each, explicit inverses of dense Laplacians, determinants by LU. The
// base features of vertex v are multiplied by s[v].
func scaledLogK(t *testing.T, m *lowRank, g *graph.Graph, s []float64) []float64 {
	t.Helper()
	n := g.N()
	descs, err := m.base.Describe(g)
	if err != nil {
		t.Fatal(err)
	}
	q := mat.NewDense(n, m.projections[0].p, nil)
	bottom := &level{classes: &classes{descriptor: descs}}
	if err := new(projector).block(t.Context(), q.RawMatrix().Data, m.LowRank, &m.projections[0], bottom, 0, n); err != nil {
		t.Fatal(err)
	}
	// cov is γI + ZᵀL⁻¹Z for the subgraph that a set induces.
	cov := func(q *mat.Dense, set []int32, factor []float64) *mat.Dense {
		_, p := q.Dims()
		z := mat.NewDense(len(set), p, nil)
		for i, u := range set {
			for c := range p {
				z.Set(i, c, factor[i]*q.At(int(u), c))
			}
		}
		var inv, lz, out mat.Dense
		if err := inv.Inverse(mat.NewDense(len(set), len(set), g.Induced(set).Laplacian(m.kernel.Eta, nil))); err != nil {
			t.Fatal(err)
		}
		lz.Mul(&inv, z)
		out.Mul(z.T(), &lz)
		for c := range p {
			out.Set(c, c, out.At(c, c)+m.kernel.Gamma)
		}
		return &out
	}
	logDet := func(a mat.Matrix) float64 {
		l, sign := mat.LogDet(a)
		if sign <= 0 {
			t.Fatal("not positive definite")
		}
		return l
	}
	logK := func(a *mat.Dense, packed []float64) float64 {
		p, _ := a.Dims()
		b, mean := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil)
		for i := range p {
			for j := range p {
				b.Set(i, j, packed[spd.Index(max(i, j), min(i, j))])
			}
		}
		mean.Add(a, b)
		mean.Scale(0.5, mean)
		return logDet(a)/4 + logDet(b)/4 - logDet(mean)/2
	}
	all := make([]int32, n)
	for v := range all {
		all[v] = int32(v)
	}
	var levels [][]float64 // by level that enters, graph
	for level := range m.projections {
		proj := &m.projections[level]
		if level > 0 {
			next := mat.NewDense(n, proj.p, nil)
			var scratch graph.Scratch
			for v := range n {
				dist := make(map[int32]int32)
				for i, u := range scratch.Ball(g, v, n) {
					dist[u] = scratch.Distances()[i]
				}
				var set []int32
				for u, d := range dist {
					if int(d) <= m.kernel.Radii[level-1] {
						set = append(set, u)
					}
				}
				factor := make([]float64, len(set))
				for i, u := range set {
					factor[i] = 1
					if m.kernel.Discount {
						factor[i] = 1 / float64(1+dist[u])
					}
				}
				a := cov(q, set, factor)
				for i := range proj.n {
					k := math.Exp(logK(a, proj.marks.At(i, nil)))
					for c := range proj.p {
						next.Set(v, c, next.At(v, c)+k*proj.w[i*proj.p+c])
					}
				}
			}
			q = next
		}
		if level == 0 {
			for v := range n {
				for c := range proj.p {
					q.Set(v, c, s[v]*q.At(v, c))
				}
			}
		}
		if m.kernel.Combine == Top && level < len(m.projections)-1 {
			continue
		}
		a := cov(q, all, ones(n))
		b := m.train.levels[len(levels)]
		row := make([]float64, m.train.Len())
		for i := range row {
			row[i] = logK(a, b.At(i, nil))
		}
		levels = append(levels, row)
	}
	out := make([]float64, m.train.Len())
	for i := range out {
		sum, product, last := 0.0, 1.0, 0.0
		for _, row := range levels {
			last = math.Exp(row[i])
			sum += last
			product *= last
		}
		n := float64(len(levels))
		k := map[Combine]float64{Top: last, Sum: sum / n, Product: product, GeometricMean: math.Pow(product, 1/n), Mixed: (last + sum/n + product) / 3}
		out[i] = float64(m.kernel.Power) * math.Log(k[m.kernel.Combine])
	}
	return out
}

// attributionVariants are the options that derivatives are tried with; under the race
// detector a few that use all code.
func attributionVariants() map[string]Kernel {
	out := make(map[string]Kernel)
	add := func(name string, f func(o *Kernel)) {
		o := Default()
		o.Samples, o.Rank = 12, 5
		f(&o)
		out[name] = o
	}
	for _, b := range []string{"labels", "attributes", "gaussian", "degree", "heat", "wl", "labels*gaussian", "labels+wl*heat"} {
		add("base "+b, func(o *Kernel) { o.Base = b })
	}
	for _, c := range []Combine{Sum, Product, GeometricMean, Mixed} {
		add(string(c), func(o *Kernel) { o.Combine = c })
		add(string(c)+" power", func(o *Kernel) { o.Combine, o.Power = c, 3 })
	}
	add("flg", func(o *Kernel) { o.Radii = nil })
	add("flg sum power", func(o *Kernel) { o.Radii, o.Combine, o.Power = nil, Sum, 2 })
	add("radii 0,1,1,3", func(o *Kernel) { o.Radii = []int{0, 1, 1, 3} })
	add("power", func(o *Kernel) { o.Power = 4 })
	add("discount", func(o *Kernel) { o.Discount = true })
	add("discount sum pivoted", func(o *Kernel) { o.Discount, o.Combine, o.Landmarks = true, Sum, Pivoted })
	add("full rank", func(o *Kernel) { o.Samples, o.Rank = 1<<20, 1<<20 })
	add("rank 1", func(o *Kernel) { o.Rank = 1 })
	add("gamma eta", func(o *Kernel) { o.Gamma, o.Eta, o.Combine = 0.01, 1, Product })
	if testing.Short() {
		maps.DeleteFunc(out, func(name string, _ Kernel) bool {
			return !slices.Contains([]string{"base gaussian", "sum power", "gmean", "mixed power", "discount"}, name)
		})
	}
	return out
}

// A function of log k(G, H_i), and its slopes.
type target struct {
	name   string
	value  func(logK []float64) float64
	slopes func(logK []float64) []float64
}

func targets(r *rand.Rand, n int) []target {
	coef := make([]float64, n)
	for i := range coef {
		coef[i] = r.NormFloat64()
	}
	coef[1] = 0
	one := make([]float64, n)
	one[2] = 1
	return []target{
		{"log k", func(l []float64) float64 { return l[2] }, func([]float64) []float64 { return one }},
		{"decision", func(l []float64) float64 {
			f := 0.7
			for i, c := range coef {
				f += c * math.Exp(l[i])
			}
			return f
		}, func(l []float64) []float64 {
			w := make([]float64, n)
			for i, c := range coef {
				w[i] = c * math.Exp(l[i])
			}
			return w
		}},
	}
}

// Derivatives agree with differences of the literal forward computation, for all options.
func TestAttributeDifferences(t *testing.T) {
	r := graphtest.Rand(61)
	var train []*graph.Graph
	for i := range 5 {
		train = append(train, graphtest.Random(r, graphtest.Options{N: 5 + i, Edge: 0.35, Labels: 3, Dim: 2, Weighted: i%2 == 1}))
	}
	queries := map[string]*graph.Graph{
		"random":   graphtest.Random(r, graphtest.Options{N: 7, Edge: 0.3, Labels: 4, Dim: 2}),
		"weighted": graphtest.Random(r, graphtest.Options{N: 6, Edge: 0.5, Labels: 3, Dim: 2, Weighted: true}),
		// Disconnected; colours alone do not tell its vertices apart, balls do.
		"triangle and square": graphtest.Labeled(r, graphtest.Union(graphtest.Cycle(3), graphtest.Cycle(4)), 1, 2),
	}
	fs := targets(r, len(train))
	for name, o := range attributionVariants() {
		m, err := Fit(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		for qn, g := range queries {
			t.Run(name+"/"+qn, func(t *testing.T) {
				logK := scaledLogK(t, m, g, ones(g.N()))
				want := differences(g.N(), func(s []float64) (out []float64) {
					logK := scaledLogK(t, m, g, s)
					for _, f := range fs {
						out = append(out, f.value(logK))
					}
					return out
				})
				for j, f := range fs {
					got, err := m.Attribute(t.Context(), g, m.train, f.slopes(logK))
					if err != nil {
						t.Fatal(err)
					}
					checkDerivatives(t, f.name, got, want[j])
				}
			})
		}
	}
}

func ones(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// differences returns the derivatives of each value of f at s = 1 by central differences,
// extrapolated from steps h and h/2: the error is of order h⁴.
func differences(n int, f func(s []float64) []float64) [][]float64 {
	var out [][]float64 // by value and variable
	s := ones(n)
	for v := range s {
		var values [4][]float64
		const h = 1e-3
		for i, step := range []float64{h, -h, h / 2, -h / 2} {
			s[v] = 1 + step
			values[i] = f(s)
		}
		s[v] = 1
		for j := range values[0] {
			if v == 0 {
				out = append(out, make([]float64, n))
			}
			wide := (values[0][j] - values[1][j]) / (2 * h)
			narrow := (values[2][j] - values[3][j]) / h
			out[j][v] = (4*narrow - wide) / 3
		}
	}
	return out
}

func checkDerivatives(t *testing.T, what string, got, want []float64) {
	t.Helper()
	size := 0.0
	for _, x := range want {
		size = max(size, math.Abs(x))
	}
	for v := range want {
		if !(math.Abs(got[v]-want[v]) <= 1e-7*size+1e-11) { // 1e-11: rounding errors of f over h
			t.Errorf("%s: vertex %d: %v, by differences %v", what, v, got[v], want[v])
		}
	}
}

// Euler's identity: without levels above the base, S_G − γI is homogeneous of degree 2 in the base
// features, so that the derivatives of log k with respect to their factors add up to
// 2⟨∂log k/∂S_G, S_G − γI⟩ = ½ tr (S_G⁻¹ − 2(S_G+S_H)⁻¹)(S_G − γI).
func TestAttributeEuler(t *testing.T) {
	train := graphtest.Suite(4)
	o := Default()
	o.Radii, o.Samples, o.Rank = nil, 20, 6
	m, err := Fit(t.Context(), train, o)
	if err != nil {
		t.Fatal(err)
	}
	dense := func(i int) *mat.Dense {
		packed, p := m.train.levels[0].At(i, nil), m.train.levels[0].Order()
		out := mat.NewDense(p, p, nil)
		for r := range p {
			for c := range p {
				out.Set(r, c, packed[spd.Index(max(r, c), min(r, c))])
			}
		}
		return out
	}
	for gi, g := range train {
		for hi := range train {
			w := make([]float64, len(train))
			w[hi] = 1
			a, err := m.Attribute(t.Context(), g, m.train, w)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, x := range a {
				sum += x
			}
			s, h := dense(gi), dense(hi)
			p, _ := s.Dims()
			var si, hi2, d, prod mat.Dense
			hi2.Add(s, h)
			if si.Inverse(s) != nil || hi2.Inverse(&hi2) != nil {
				t.Fatal("singular")
			}
			hi2.Scale(2, &hi2)
			d.Sub(&si, &hi2)
			for c := range p {
				s.Set(c, c, s.At(c, c)-o.Gamma)
			}
			prod.Mul(&d, s)
			if want := mat.Trace(&prod) / 2; math.Abs(sum-want) > 1e-10 {
				t.Errorf("graphs %d and %d: derivatives add up to %v, want %v", gi, hi, sum, want)
			}
			if gi == hi {
				for v, x := range a {
					if x != 0 { // k(G, G) = 1 is the largest value there is
						t.Errorf("graph %d with itself: derivative %v at vertex %d, want 0", gi, x, v)
					}
				}
			}
		}
	}
}

// Vertex order, the number of workers and graphs with weight 0 do not matter; derivatives are
// linear in f.
func TestAttributeInvariance(t *testing.T) {
	train := graphtest.Suite(5)
	r := graphtest.Rand(5)
	for name, o := range attributionVariants() {
		t.Run(name, func(t *testing.T) {
			m, err := Fit(work.WithWorkers(t.Context(), 1), train, o)
			if err != nil {
				t.Fatal(err)
			}
			m3, err := Fit(work.WithWorkers(t.Context(), 3), train, o)
			if err != nil {
				t.Fatal(err)
			}
			fs := targets(r, len(train))
			for _, g := range train {
				shuffled, perm := graphtest.Shuffle(r, g)
				k, err := m.Cross(t.Context(), []*graph.Graph{g})
				if err != nil {
					t.Fatal(err)
				}
				logK := make([]float64, k.Cols)
				for i, x := range k.Data {
					logK[i] = math.Log(x)
				}
				var a [2][]float64
				for j, f := range fs {
					w := f.slopes(logK)
					if a[j], err = m.Attribute(t.Context(), g, m.train, w); err != nil {
						t.Fatal(err)
					}
					b, err := m3.Attribute(t.Context(), shuffled, m3.train, w)
					if err != nil {
						t.Fatal(err)
					}
					c, err := m3.Attribute(t.Context(), g, m3.train, w)
					if err != nil {
						t.Fatal(err)
					}
					for v, x := range a[j] {
						if y := b[perm[v]]; math.Abs(x-y) > 1e-9 {
							t.Errorf("%s: vertex %d has %v, shuffled %v", f.name, v, x, y)
						}
						if y := c[v]; x != y {
							t.Errorf("%s: vertex %d has %v, with 3 workers %v", f.name, v, x, y)
						}
					}
				}
				w := slices.Clone(fs[0].slopes(logK))
				for i, x := range fs[1].slopes(logK) {
					w[i] = 3*w[i] - x
				}
				both, err := m.Attribute(t.Context(), g, m.train, w)
				if err != nil {
					t.Fatal(err)
				}
				for v, x := range both {
					if want := 3*a[0][v] - a[1][v]; math.Abs(x-want) > 1e-9 {
						t.Errorf("vertex %d: derivative of a sum %v, sum of derivatives %v", v, x, want)
					}
				}
			}
		})
	}
}

// Neighbourhoods of more than 64 vertices and weights over many orders of magnitude.
func TestAttributeLarge(t *testing.T) {
	r := graphtest.Rand(17)
	g := graphtest.Labeled(r, graphtest.Grid(8, 11), 2, 0)
	g, err := g.Reweight(func(graph.Edge) (float64, error) { return math.Exp(3 * r.NormFloat64()), nil })
	if err != nil {
		t.Fatal(err)
	}
	o := Default()
	o.Radii, o.Samples, o.Rank, o.Combine = []int{1, 12}, 6, 3, Sum
	m, err := Fit(t.Context(), []*graph.Graph{graphtest.Labeled(r, graphtest.Grid(4, 3), 2, 0), graphtest.Labeled(r, graphtest.Path(9), 2, 0), graphtest.Labeled(r, graphtest.Cycle(7), 2, 0)}, o)
	if err != nil {
		t.Fatal(err)
	}
	f := targets(r, 3)[1]
	a, err := m.Attribute(t.Context(), g, m.train, f.slopes(scaledLogK(t, m, g, ones(g.N()))))
	if err != nil {
		t.Fatal(err)
	}
	// One direction, in which all factors move.
	dir, want := make([]float64, g.N()), 0.0
	for v := range dir {
		dir[v] = r.NormFloat64()
		want += dir[v] * a[v]
	}
	got := differences(1, func(x []float64) []float64 {
		s := make([]float64, g.N())
		for v := range s {
			s[v] = 1 + (x[0]-1)*dir[v]
		}
		return []float64{f.value(scaledLogK(t, m, g, s))}
	})
	checkDerivatives(t, "direction", got[0], []float64{want})
}

// −a⁻¹ times a is −I, also with many zeros; matrices that are not positive definite are told.
func TestNegInverse(t *testing.T) {
	r := graphtest.Rand(2)
	for p := 1; p < 20; p++ {
		a := make([]float64, spd.Size(p))
		for range 3 {
			x := make([]float64, p)
			for i := range x {
				if r.IntN(3) == 0 {
					x[i] = r.NormFloat64()
				}
			}
			spd.AddGram(a, x, 1, p)
		}
		for i := range p {
			a[spd.Index(i, i)] += 0.1
		}
		inv := append([]float64(nil), a...)
		if !negInverse(inv, p, make([]float64, p)) {
			t.Fatal("refused")
		}
		for i := range p {
			for j := range p {
				s := 0.0
				for k := range p {
					s -= inv[spd.Index(max(i, k), min(i, k))] * a[spd.Index(max(k, j), min(k, j))]
				}
				if i == j {
					s--
				}
				if math.Abs(s) > 1e-11 {
					t.Errorf("order %d: (a⁻¹a − I)[%d,%d] = %v", p, i, j, s)
				}
			}
		}
		a[spd.Index(p-1, p-1)] = -1
		if negInverse(a, p, make([]float64, p)) {
			t.Error("a matrix that is not positive definite was inverted")
		}
	}
}

func TestVertexFeatures(t *testing.T) {
	train := graphtest.Suite(6)
	m, err := Fit(t.Context(), train, fullRank(Default()))
	if err != nil {
		t.Fatal(err)
	}
	// At full rank their dot products are 𝔎_ℓ.
	for level := range 3 {
		o := Default()
		o.Radii = o.Radii[:level]
		e, err := NewExact(t.Context(), train, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, g := range train {
			x, err := m.VertexFeatures(t.Context(), g, level)
			if err != nil {
				t.Fatal(err)
			}
			for j, h := range train {
				y, err := m.VertexFeatures(t.Context(), h, level)
				if err != nil {
					t.Fatal(err)
				}
				want, err := e.MLS(t.Context(), i, j)
				if err != nil {
					t.Fatal(err)
				}
				for v := range g.N() {
					for w := range h.N() {
						if got := dense.Dot(x.Row(v), y.Row(w)); math.Abs(got-want.At(v, w)) > 1e-8 {
							t.Errorf("level %d, graphs %d and %d, vertices %d and %d: %v, want %v", level, i, j, v, w, got, want.At(v, w))
						}
					}
				}
			}
		}
	}
	if _, err := m.VertexFeatures(t.Context(), train[0], 3); err == nil || !strings.Contains(err.Error(), "level 3, want 0 … 2") {
		t.Errorf("error %v", err)
	}
}
