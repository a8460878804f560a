package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

var ctx = context.Background()

// randomGram returns the Gram matrix of n Gaussian vectors of dimension d, scaled to about
// unit diagonal, plus the vectors.
func randomGram(rng *rand.Rand, n, d int) (*kernel.Matrix, [][]float64) {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for k := range x[i] {
			x[i][k] = rng.NormFloat64() / math.Sqrt(float64(d))
		}
	}
	g := kernel.NewMatrix(n, n)
	for i := range x {
		for j := range x {
			g.Set(i, j, dense.Dot(x[i], x[j]))
		}
	}
	return g, x
}

func twoClasses(rng *rand.Rand, n int) []int {
	y := make([]int, n)
	for k := range y {
		y[k] = rng.IntN(2)
	}
	y[0], y[1] = 0, 1
	return y
}

// checkKKT checks the optimality conditions of a learner of the classes 0 and 1 from their definition:
//
//	α_k = 0 ⇒ y_k f(x_k) ≥ 1,   0 < α_k < C ⇒ y_k f(x_k) = 1,   α_k = C ⇒ y_k f(x_k) ≤ 1,   Σ y_k α_k = 0,
//
// each within the tolerance.
func checkKKT(t *testing.T, gram View, labels []int, m *Function, bound func(label int) float64, tol float64) {
	t.Helper()
	coef := make([]float64, len(labels))
	sum, size := 0.0, 0.0
	for k, s := range m.Support {
		coef[s] = m.Coefficients[k]
		sum += m.Coefficients[k]
		size += math.Abs(m.Coefficients[k])
	}
	if math.Abs(sum) > 1e-12*size {
		t.Errorf("Σ yα = %g", sum)
	}
	for k, l := range labels {
		y := 1.0
		if l == 1 {
			y = -1
		}
		f := m.Bias
		for s, c := range coef {
			f += c * gram.At(k, s)
		}
		alpha, c := y*coef[k], bound(l)
		switch {
		case alpha < 0 || alpha > c:
			t.Errorf("example %d: α = %g is not in [0, %g]", k, alpha, c)
		case alpha < c && y*f < 1-tol:
			t.Errorf("example %d: α = %g < C, but y·f = %g < 1", k, alpha, y*f)
		case alpha > 0 && y*f > 1+tol:
			t.Errorf("example %d: α = %g > 0, but y·f = %g > 1", k, alpha, y*f)
		}
	}
}

func TestKKT(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 10, 60, 300} {
		for _, c := range []float64{1e-6, 0.01, 1, 100, 1e5} {
			if n > 100 && c > 100 {
				continue // slow
			}
			gram, _ := randomGram(rng, n, max(2, n/2))
			labels := twoClasses(rng, n)
			opt := DefaultOptions()
			opt.C = c
			weights := ones(n)
			for i, l := range labels {
				if l == 1 {
					weights[i] = 2.5
				}
			}
			m, err := Train(ctx, Full(gram), Targets{Labels: labels, Weights: weights}, opt)
			if err != nil {
				t.Fatal(err)
			}
			checkKKT(t, Full(gram), labels, &m.Functions[0], func(l int) float64 {
				if l == 1 {
					return 2.5 * c
				}
				return c
			}, opt.Tolerance)
		}
	}
}

// reference minimises ½βᵀKβ + qᵀβ + εΣ|β|, Σβ = 0, lo ≤ β ≤ hi by trying all ways to put
// each variable at a bound, at 0, or between (on the side where |β| is smooth), and solving
// the linear system of each: exponential, but literally the definition. It returns the
// least objective.
func reference(gram *kernel.Matrix, q, lo, hi []float64, eps float64) float64 {
	n := len(q)
	type place struct {
		free        bool
		value, sign float64
		low, high   float64
	}
	places := make([][]place, n)
	for k := range places {
		places[k] = []place{{value: lo[k]}, {value: hi[k]}}
		if lo[k] < 0 {
			places[k] = append(places[k], place{free: true, sign: -1, low: lo[k], high: min(0, hi[k])})
		}
		if hi[k] > 0 {
			places[k] = append(places[k], place{free: true, sign: 1, low: max(0, lo[k]), high: hi[k]})
		}
		if lo[k] < 0 && hi[k] > 0 {
			places[k] = append(places[k], place{value: 0})
		}
	}
	best := math.Inf(1)
	choice := make([]place, n)
	var try func(k int)
	try = func(k int) {
		if k < n {
			for _, p := range places[k] {
				choice[k] = p
				try(k + 1)
			}
			return
		}
		var free []int
		beta := make([]float64, n)
		rest := 0.0
		for i, p := range choice {
			if p.free {
				free = append(free, i)
			} else {
				beta[i] = p.value
				rest -= p.value
			}
		}
		if len(free) == 0 && math.Abs(rest) > 1e-12 {
			return
		}
		if len(free) > 0 {
			// K_FF b + μ1 = −q_F − ε·sign − K_FB β_B,   1ᵀb = rest
			w := len(free)
			a := make([][]float64, w+1)
			for r := range a {
				a[r] = make([]float64, w+2)
			}
			for r, i := range free {
				for s, j := range free {
					a[r][s] = gram.At(i, j)
				}
				a[r][w], a[w][r] = 1, 1
				a[r][w+1] = -q[i] - eps*choice[i].sign
				for j, p := range choice {
					if !p.free {
						a[r][w+1] -= gram.At(i, j) * beta[j]
					}
				}
			}
			a[w][w+1] = rest
			x, ok := gauss(a)
			if !ok {
				return // a minimum on this face lies on a smaller one as well
			}
			for r, i := range free {
				if x[r] < choice[i].low-1e-12 || x[r] > choice[i].high+1e-12 {
					return
				}
				beta[i] = x[r]
			}
		}
		best = min(best, value(gram, q, beta, eps))
	}
	try(0)
	return best
}

func value(gram *kernel.Matrix, q, beta []float64, eps float64) float64 {
	v := 0.0
	for i, b := range beta {
		v += q[i]*b + eps*math.Abs(b)
		for j, c := range beta {
			v += 0.5 * b * c * gram.At(i, j)
		}
	}
	return v
}

// gauss solves the augmented system a by elimination with pivoting.
func gauss(a [][]float64) ([]float64, bool) {
	n := len(a)
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		if math.Abs(a[p][c]) < 1e-10 {
			return nil, false
		}
		a[c], a[p] = a[p], a[c]
		for r := range n {
			if r != c {
				f := a[r][c] / a[c][c]
				for k := c; k <= n; k++ {
					a[r][k] -= f * a[c][k]
				}
			}
		}
	}
	x := make([]float64, n)
	for r := range x {
		x[r] = a[r][n] / a[r][r]
	}
	return x, true
}

func TestObjectiveEqualsExhaustiveSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	opt := DefaultOptions()
	opt.Tolerance = 1e-10
	for round := range 60 {
		n := 2 + rng.IntN(5)
		gram, _ := randomGram(rng, n, 1+rng.IntN(6))
		opt.C = math.Exp(4 * rng.NormFloat64())
		labels := twoClasses(rng, n)
		q, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
		for k, l := range labels {
			q[k], hi[k] = -1, opt.C
			if l == 1 {
				q[k], lo[k], hi[k] = 1, -opt.C, 0
			}
		}
		c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		want := reference(gram, q, lo, hi, 0)
		if got := c.Functions[0].Objective; math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("round %d: C-SVC objective %.12g, want %.12g", round, got, want)
		}
		if n > 5 {
			continue // five places a variable
		}
		z := make([]float64, n)
		for k := range z {
			z[k] = rng.NormFloat64()
			q[k], lo[k], hi[k] = -z[k], -opt.C, opt.C
		}
		opt.Epsilon = 0.2 * rng.Float64()
		r, err := Train(ctx, Full(gram), Targets{Values: z}, opt)
		if err != nil {
			t.Fatal(err)
		}
		want = reference(gram, q, lo, hi, opt.Epsilon)
		if got := r.Functions[0].Objective; math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("round %d: ε-SVR objective %.12g, want %.12g", round, got, want)
		}
	}
}

// Two points: with D = K₁₁ + K₂₂ − 2K₁₂ the dual is ½α²D − 2α, so α = min(C, 2/D); both
// points are on the margin if α < C.
func TestTwoPoints(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{4, 1, 1, 2}} // D = 4
	for _, v := range []struct{ c, alpha, bias, objective float64 }{
		{10, 0.5, -0.5, -0.5},      // f(1) = ½·4 − ½·1 + b = 1 ⇒ b = −½; f(2) = ½ − 1 − ½ = −1
		{0.25, 0.25, -0.25, -.375}, // f − b: ¾ and −¼; b between −¾+1 and ¼−1 ⇒ the middle, −¼
	} {
		opt := DefaultOptions()
		opt.C = v.c
		c, err := Train(ctx, Full(gram), Targets{Labels: []int{-7, 40}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		m := c.Functions[0]
		if !slices.Equal(m.Support, []int{0, 1}) || !near(m.Coefficients[0], v.alpha) || !near(m.Coefficients[1], -v.alpha) ||
			!near(m.Bias, v.bias) || !near(m.Objective, v.objective) {
			t.Errorf("C = %g: %+v, want α = %g, bias %g, objective %g", v.c, m, v.alpha, v.bias, v.objective)
		}
		got, err := labelsOf(c, Full(gram))
		if err != nil || !slices.Equal(got, []int{-7, 40}) {
			t.Errorf("C = %g: predicted %v, %v", v.c, got, err)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(b)) }

// Two targets ±z on orthonormal points: β = (b, −b) minimises b² − 2zb + 2εb, so b = z − ε up
// to C, f(x₁) = b = z − ε (the edge of the tube), bias 0.
func TestRegressionTwoPoints(t *testing.T) {
	gram := &kernel.Matrix{Rows: 2, Cols: 2, Data: []float64{1, 0, 0, 1}}
	for _, v := range []struct{ z, eps, c, b float64 }{
		{2, 0.5, 10, 1.5}, {2, 0.5, 1, 1}, {0.3, 0.5, 10, 0}, {2, 0, 10, 2},
	} {
		opt := DefaultOptions()
		opt.C, opt.Epsilon = v.c, v.eps
		r, err := Train(ctx, Full(gram), Targets{Values: []float64{v.z, -v.z}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Values(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Data[0], v.b) || !near(got.Data[1], -v.b) || !near(r.Functions[0].Bias, 0) {
			t.Errorf("%+v: predictions %v, bias %g", v, got.Data, r.Functions[0].Bias)
		}
	}
}

// With ε = 0 and C out of reach the ε-SVR interpolates: (K 1; 1ᵀ 0)(β b) = (z 0).
func TestRegressionInterpolates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	gram, _ := randomGram(rng, 30, 60)
	z := make([]float64, 30)
	for k := range z {
		z[k] = 100 + 10*rng.NormFloat64()
	}
	opt := DefaultOptions()
	opt.C, opt.Epsilon, opt.Tolerance = 1e6, 0, 1e-9
	r, err := Train(ctx, Full(gram), Targets{Values: z}, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Values(Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	a := make([][]float64, 31)
	for i := range a {
		a[i] = make([]float64, 32)
		for j := range a {
			switch {
			case i < 30 && j < 30:
				a[i][j] = gram.At(i, j)
			case i < 30 || j < 30:
				a[i][j] = 1
			}
		}
		if i < 30 {
			a[i][31] = z[i]
		}
	}
	x, _ := gauss(a)
	if math.Abs(r.Functions[0].Bias-x[30]) > 1e-7 {
		t.Errorf("bias %.12g, want %.12g", r.Functions[0].Bias, x[30])
	}
	for k := range z {
		if math.Abs(got.Data[k]-z[k]) > 1e-8 {
			t.Errorf("example %d: %.12g, want %.12g", k, got.Data[k], z[k])
		}
	}
}

func TestOrderOfExamplesDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	n := 120
	gram, _ := randomGram(rng, n, 200)
	labels := make([]int, n)
	for k := range labels {
		labels[k] = rng.IntN(4)*17 - 20
	}
	opt := DefaultOptions()
	opt.Tolerance = 1e-9
	want, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	wantD, err := want.Values(Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	perm := rng.Perm(n)
	moved := make([]int, n)
	for k, p := range perm {
		moved[k] = labels[p]
	}
	v := Full(gram).Select(perm, perm)
	got, err := Train(ctx, v, Targets{Labels: moved}, opt)
	if err != nil {
		t.Fatal(err)
	}
	gotD, err := got.Values(Full(gram).Select(nil, perm))
	if err != nil {
		t.Fatal(err)
	}
	for k := range wantD.Data {
		if math.Abs(wantD.Data[k]-gotD.Data[k]) > 1e-7 {
			t.Fatalf("decision value %d: %.12g, want %.12g", k, gotD.Data[k], wantD.Data[k])
		}
	}
	// An indexed view and its copy are the same problem to the bit.
	again, err := Train(ctx, Full(v.Matrix()), Targets{Labels: moved}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for m := range got.Functions {
		a, b := got.Functions[m], again.Functions[m]
		if a.Bias != b.Bias || a.Iterations != b.Iterations || !slices.Equal(a.Coefficients, b.Coefficients) {
			t.Errorf("machine %d: view and copy differ", m)
		}
	}
}

// Contradicting duplicates all end at the bound; agreeing ones share what one would have.
func TestPathEqualsSingleTrainings(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	n := 150
	gram, _ := randomGram(rng, n, 80)
	labels := make([]int, n)
	for k := range labels {
		labels[k] = rng.IntN(3)
	}
	opt := DefaultOptions()
	opt.Tolerance = 1e-8
	cs := []float64{1, 100, 0.01, 10, 0.001, 0.1, 1} // any order, twice the same
	models, err := TrainPath(ctx, Full(gram), Targets{Labels: labels}, cs, opt)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range cs {
		opt.C = c
		want, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
		if err != nil {
			t.Fatal(err)
		}
		for m := range want.Functions {
			got, want := models[k].Functions[m], want.Functions[m]
			if math.Abs(got.Objective-want.Objective) > 1e-9*math.Abs(want.Objective) || math.Abs(got.Bias-want.Bias) > 1e-6 {
				t.Errorf("C = %g, machine %d: objective %.12g, bias %g, want %.12g, %g", c, m, got.Objective, got.Bias, want.Objective, want.Bias)
			}
		}
	}
}

func TestRegressorPathEqualsSingleTrainings(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	n := 120
	gram, x := randomGram(rng, n, 60)
	z := make([]float64, n)
	for k := range z {
		z[k] = 20 + 3*x[k][0] + 0.5*rng.NormFloat64()
	}
	opt := DefaultOptions()
	opt.Tolerance = 1e-8
	cs := []float64{1, 0.01, 10}
	models, err := TrainPath(ctx, Full(gram), Targets{Values: z}, cs, opt)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range cs {
		opt.C = c
		learner, err := Train(ctx, Full(gram), Targets{Values: z}, opt)
		if err != nil {
			t.Fatal(err)
		}
		want := learner.Functions[0]
		if got := models[k].Functions[0]; math.Abs(got.Objective-want.Objective) > 1e-9*math.Abs(want.Objective) || math.Abs(got.Bias-want.Bias) > 1e-6 {
			t.Errorf("C = %g: objective %.12g, bias %g, want %.12g, %g", c, got.Objective, got.Bias, want.Objective, want.Bias)
		}
		if err := models[k].Validate(); err != nil {
			t.Error(err)
		}
	}
}

// An entry that is not finite is found wherever it is, unless no step ever needs it.
// FuzzClassifier trains on random Gram matrices and checks the optimality conditions.

// An example of weight 2 counts as two examples of weight 1.
func TestWeightsCountExamples(t *testing.T) {
	gram, x := randomGram(rand.New(rand.NewPCG(1, 1)), 60, 5)
	y := make([]int, len(x))
	for i := range y {
		if x[i][0]+x[i][1]*x[i][2] > 0 {
			y[i] = 1
		}
	}
	weights, twice := make([]float64, len(y)), []int{}
	for i := range y {
		weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			twice = append(twice, i)
		}
	}
	values := make([]float64, len(y))
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	repeated := Targets{}
	for _, i := range twice {
		repeated.Labels, repeated.Values = append(repeated.Labels, y[i]), append(repeated.Values, values[i])
	}
	opt := DefaultOptions()
	opt.Tolerance = 1e-9
	for name, targets := range map[string][2]Targets{
		"classes": {{Labels: y, Weights: weights}, {Labels: repeated.Labels}},
		"values":  {{Values: values, Weights: weights}, {Values: repeated.Values}},
		"ridge":   {{Labels: y, Weights: weights}, {Labels: repeated.Labels}},
	} {
		opt := opt
		if name == "ridge" {
			opt.Kind, opt.Ridge = KernelRidge, 0.3
		}
		one, err := Train(t.Context(), Full(gram), targets[0], opt)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Train(t.Context(), Full(gram).Select(twice, twice), targets[1], opt)
		if err != nil {
			t.Fatal(err)
		}
		a, err := one.Values(Full(gram))
		if err != nil {
			t.Fatal(err)
		}
		b, err := two.Values(Full(gram).Select(nil, twice))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range a.Data {
			if math.Abs(v-b.Data[i]) > 1e-6 {
				t.Fatalf("%s: value %d is %v, want %v", name, i, v, b.Data[i])
			}
		}
	}
	for _, weights := range [][]float64{{1}, make([]float64, len(y))} {
		if _, err := Train(t.Context(), Full(gram), Targets{Labels: y, Weights: weights}, opt); err == nil {
			t.Errorf("no error for %d weights, first %v", len(weights), weights[0])
		}
	}
}

// Leaving out an example with a weight is training without it. A path has the learners of single ridges.
func TestWeightedRidgeLeavesOneOut(t *testing.T) {
	gram, x := randomGram(rand.New(rand.NewPCG(1, 2)), 20, 4)
	all := Targets{Labels: make([]int, len(x)), Weights: make([]float64, len(x))}
	for i := range x {
		all.Labels[i], all.Weights[i] = i%2, 0.5+float64(i%4)
	}
	opt := DefaultOptions()
	opt.Kind, opt.LeaveOneOut, opt.Ridge = KernelRidge, true, 0.7
	path, err := TrainPath(t.Context(), Full(gram), all, []float64{0.1, 0.7}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for left := range x {
		var others []int
		var rest Targets
		for i := range x {
			if i != left {
				others = append(others, i)
				rest.Labels, rest.Weights = append(rest.Labels, all.Labels[i]), append(rest.Weights, all.Weights[i])
			}
		}
		l, err := Train(t.Context(), Full(gram).Select(others, others), rest, opt)
		if err != nil {
			t.Fatal(err)
		}
		want, err := l.Values(Full(gram).Select([]int{left}, others))
		if err != nil {
			t.Fatal(err)
		}
		for c, w := range want.Data {
			if got := path[1].LeaveOneOut.At(left, c); math.Abs(got-w) > 1e-9 {
				t.Errorf("example %d, class %d: %v, want %v", left, c, got, w)
			}
		}
	}
}
