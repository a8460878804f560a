package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/work"
)

// someSums returns a frame with examples for it, whose kernel values with the centres are the columns of a matrix.
func someSums(t *testing.T, rng *rand.Rand, n, m, folds int, weights bool) (Frame, *kernel.Matrix, Targets, []int) {
	t.Helper()
	gram, points := pointGram(rng, n, 2, 3, false)
	for i, v := range gram.Data {
		gram.Data[i] = 7 * v // no kernel is normalised to a power of two
	}
	targets := Targets{Values: pointTargets(rng, points, 1)[0]}
	if weights {
		targets = Targets{Weights: randomWeights(rng, n)}
		for _, x := range points {
			targets.Labels = append(targets.Labels, 3+int(3*x[0]))
		}
	}
	f, err := newFrame(targets, m, folds, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	dealt := make([]int, n)
	for i := range dealt {
		dealt[i] = rng.IntN(folds)
	}
	return f, gram.Select(kernel.UpTo(n), kernel.UpTo(m)), targets, dealt
}

// Sums are those of products of rounded numbers, added one by one, to the bit.
func TestSums(t *testing.T) {
	for _, weights := range []bool{false, true} {
		const n, m, folds = 900, 150, 3
		f, values, targets, dealt := someSums(t, rand.New(rand.NewPCG(5, 1)), n, m, folds, weights)
		s := newSums(f)
		if err := s.Add(t.Context(), values, targets, dealt); err != nil {
			t.Fatal(err)
		}
		columns, err := targets.regressions()
		if err != nil {
			t.Fatal(err)
		}
		order := m + len(columns) + 1
		want := make([][]int64, folds)
		for k := range want {
			want[k] = make([]int64, order*order)
		}
		x, unit := make([]int64, order), make([]float64, order)
		for i := range n {
			for j := range x {
				v, largest := 1.0, 1.0
				switch {
				case j < m:
					v, largest = values.At(i, j), 8 // the next power of two
				case j < order-1:
					_, mean, deviation := StandardScores(columns[j-m], nil)
					v, largest = (columns[j-m][i]-mean)/deviation, f.Columns[j-m].Bound
					largest = math.Exp2(math.Ceil(math.Log2(largest)))
				}
				unit[j] = largest / (1 << 22)
				x[j] = int64(math.RoundToEven(v / unit[j]))
			}
			for p := range x {
				left := x[p]
				if weights {
					left = int64(math.RoundToEven(targets.Weights[i] / slices.Max(append(targets.Weights, 1)) * float64(x[p])))
				}
				for q := range p + 1 {
					want[dealt[i]][p*order+q] += left * x[q]
				}
			}
		}
		for k := range folds {
			for p := range order {
				for q := range p + 1 {
					if got, want := s.folds[k].at(p, q), float64(want[k][p*order+q]); got != want {
						t.Fatalf("fold %d, sum %d, %d: %v, want %v", k, p, q, got, want)
					}
				}
			}
		}
		// Read over some folds, they are the sums of the numbers themselves, but for rounding.
		sum := s.of([]int{0, 2})
		literal := 0.0
		for i := range n {
			if dealt[i] != 1 {
				literal += targets.Weights.Of(i) * values.At(i, 7) * values.At(i, 5)
			}
		}
		if got := sum(7, 5); math.Abs(got-literal) > 1e-6*literal {
			t.Errorf("sum of two folds %v, want %v", got, literal)
		}
	}
}

// However examples are dealt to calls and machines, in any order, sums have the same bits.
func TestSumsAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const n, m, folds = 1100, 140, 4
	for _, weights := range []bool{false, true} {
		f, values, targets, dealt := someSums(t, rng, n, m, folds, weights)
		want := newSums(f)
		if err := want.Add(t.Context(), values, targets, dealt); err != nil {
			t.Fatal(err)
		}
		for workers := 1; workers < 5; workers++ {
			ctx := work.WithWorkers(t.Context(), workers)
			machines := []*Sums{newSums(f), newSums(f), newSums(f)}
			order := rng.Perm(n)
			for len(order) > 0 {
				some := order[:min(len(order), 1+rng.IntN(400))]
				order = order[len(some):]
				part := Targets{}
				if weights {
					part.Labels, part.Weights = pick(targets.Labels, some), pick(targets.Weights, some)
				} else {
					part.Values = pick(targets.Values, some)
				}
				s := machines[rng.IntN(len(machines))]
				if err := s.Add(ctx, values.Select(some, kernel.UpTo(m)), part, pick(dealt, some)); err != nil {
					t.Fatal(err)
				}
			}
			rng.Shuffle(len(machines), func(i, j int) { machines[i], machines[j] = machines[j], machines[i] })
			total := newSums(f)
			for _, s := range machines {
				if err := total.Join(s); err != nil {
					t.Fatal(err)
				}
			}
			if total.Examples() != n {
				t.Errorf("%d examples, want %d", total.Examples(), n)
			}
			for k := range total.folds {
				for s, strip := range total.folds[k].low {
					if !slices.Equal(strip, want.folds[k].low[s]) {
						t.Fatalf("%d goroutines: other bits", workers)
					}
				}
			}
		}
	}
}

// Numbers that are too large are errors.
func TestSumsErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	f, values, targets, dealt := someSums(t, rng, 50, 10, 2, false)
	add := func(spoil func(values *kernel.Matrix, t *Targets)) error {
		s, v, x := newSums(f), values.Select(kernel.UpTo(50), kernel.UpTo(10)), Targets{Values: slices.Clone(targets.Values)}
		spoil(v, &x)
		return s.Add(t.Context(), v, x, dealt)
	}
	for want, spoil := range map[string]func(values *kernel.Matrix, t *Targets){
		"kernel value of 8":   func(v *kernel.Matrix, _ *Targets) { v.Set(3, 3, 8) },
		"kernel value of NaN": func(v *kernel.Matrix, _ *Targets) { v.Set(3, 3, math.NaN()) },
		"target of 1e+09":     func(_ *kernel.Matrix, t *Targets) { t.Values[4] = 1e9 },
		"49 targets":          func(_ *kernel.Matrix, t *Targets) { t.Values = t.Values[1:] },
	} {
		if err := add(spoil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	s := newSums(f)
	g := f
	g.Largest = 8
	if err := s.Join(newSums(g)); err == nil || !strings.Contains(err.Error(), "other centres") {
		t.Errorf("error %v for sums of another frame", err)
	}
}

// Sums of any number of the largest products do not overflow, and have the same bits however they are joined.
func TestSumsCarry(t *testing.T) {
	const largest, times = 1 << mostBits, 40
	x := kernel.NewMatrix(carried, 2)
	for i := range carried {
		x.Row(i)[0], x.Row(i)[1] = largest, -largest
	}
	one := newTriangle(2)
	if err := one.add(t.Context(), x, nil); err != nil {
		t.Fatal(err)
	}
	if one.high != nil {
		t.Error("carried too early")
	}
	in, apart := newTriangle(2), newTriangle(2)
	for range times {
		if err := in.add(t.Context(), x, nil); err != nil {
			t.Fatal(err)
		}
	}
	five := newTriangle(2)
	for range 5 {
		five.join(one)
	}
	for range times / 5 {
		apart.join(five)
	}
	want := float64(times*carried) * largest * largest
	for _, s := range []triangle{in, apart} {
		if s.at(0, 0) != want || s.at(1, 0) != -want || s.at(1, 1) != want || s.examples != times*carried {
			t.Errorf("%v, %v, %v of %d examples, want %v", s.at(0, 0), s.at(1, 0), s.at(1, 1), s.examples, want)
		}
	}
	for k := range in.low {
		if !slices.Equal(in.low[k], apart.low[k]) || !slices.Equal(in.high[k], apart.high[k]) {
			t.Error("other bits when joined")
		}
	}
	// A join that only just carries does not overflow.
	two := newTriangle(2)
	two.join(one)
	two.join(one)
	if got, want := two.at(1, 1), float64(2*carried)*largest*largest; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// Regressions from sums are those of the normal equations, of all examples for the learner and of those in other folds for
// centres that are held out. What the centres say of their deviations holds for examples that nobody has seen.
func TestCentresOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	const n, m, folds = 1500, 80, 4
	gram, points := pointGram(rng, n, 3, 2, false)
	labels := make([]int, n)
	for i, x := range points {
		labels[i] = 3 + int(1.5*x[0])
	}
	dealt := make([]int, n)
	for i := range dealt {
		dealt[i] = rng.IntN(folds)
	}
	at, seen := kernel.UpTo(m), n-300
	k, centres := givenFeatures(t, gram.Select(at, at))
	for name, all := range map[string]Targets{"values": {Values: pointTargets(rng, points, 1)[0]}, "classes": {Labels: labels}} {
		part := func(n int) Targets {
			if all.Labels == nil {
				return Targets{Values: all.Values[:n]}
			}
			return Targets{Labels: all.Labels[:n]}
		}
		s, err := SumsFor(t.Context(), k, centres, part(m), folds)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(t.Context(), gram.Select(kernel.UpTo(seen), at), part(seen), dealt[:seen]); err != nil {
			t.Fatal(err)
		}
		parts := make([][]byte, folds)
		for f := range parts {
			parts[f] = s.Fold(f)
		}
		if s, err = DecodeSums(s.Frame, parts); err != nil {
			t.Fatal(err)
		}
		c, err := CentresOf(t.Context(), k, centres, part(m), dealt[:m], s)
		if err != nil {
			t.Fatal(err)
		}
		held, err := c.HeldOut(t.Context(), []float64{0.1, 1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := c.Learn(t.Context(), held[1], nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Validate(); err != nil {
			t.Fatal(err)
		}
		columns, _ := part(seen).regressions()
		for column, z := range columns {
			alpha, b := literalCentres(gram, at, kernel.UpTo(seen), z, 1, nil)
			want := Function{Support: at, Coefficients: alpha, Bias: b}
			for i := range n {
				if got, want := l.Functions[column].Value(gram.Row(i)[:m]), want.Value(gram.Row(i)); math.Abs(got-want) > 1e-3 {
					t.Fatalf("%s, target %d, example %d: %v, want %v", name, column, i, got, want)
				}
			}
			for f := range folds {
				var training, others, some []int
				for i, g := range dealt[:seen] {
					if g != f {
						training = append(training, i)
					}
				}
				for i, g := range dealt[:m] {
					if g != f {
						others = append(others, i)
					} else {
						some = append(some, i)
					}
				}
				for r, lambda := range []float64{0.1, 1} {
					alpha, b := literalCentres(gram, others, training, z, lambda, nil)
					want := Function{Support: others, Coefficients: alpha, Bias: b}
					for _, i := range some {
						if got, want := held[r].Values.At(i, column), want.Value(gram.Row(i)); math.Abs(got-want) > 5e-3 {
							t.Fatalf("%s, target %d, ridge %v, centre %d held out: %v, want %v", name, column, lambda, i, got, want)
						}
					}
				}
			}
		}
		if l.Process == nil {
			continue
		}
		unseen := kernel.UpTo(n)[seen:]
		told, err := l.Deviations(t.Context(), Full(gram.Select(unseen, at)), slices.Repeat([]float64{1}, len(unseen)), nil,
			func(_ context.Context, at []int) (*kernel.Matrix, error) { return gram.Select(at, at), nil })
		if err != nil {
			t.Fatal(err)
		}
		inside := 0
		for k, i := range unseen {
			if math.Abs(all.Values[i]-l.Functions[0].Value(gram.Row(i)[:m])) < 1.645*told.Measured[k] {
				inside++
			}
		}
		if share := float64(inside) / float64(len(unseen)); share < 0.82 || share > 0.98 {
			t.Errorf("%.2f of the examples that nobody has seen are in intervals of 90 %%", share)
		}
	}
}

// What does not belong together is an error, also in bytes.
func TestCentresOfErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	gram, points := pointGram(rng, 30, 2, 3, false)
	targets := Targets{Values: pointTargets(rng, points, 1)[0]}
	k, centres := givenFeatures(t, gram)
	folds := make([]int, 30)
	for i := range folds {
		folds[i] = i % 3
	}
	s, err := SumsFor(t.Context(), k, centres, targets, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), gram, targets, folds); err != nil {
		t.Fatal(err)
	}
	other := Targets{Values: slices.Clone(targets.Values)}
	other.Values[3]++
	if _, err := CentresOf(t.Context(), k, centres, other, folds, s); err == nil || !strings.Contains(err.Error(), "other centres") {
		t.Errorf("error %v for other targets", err)
	}
	if _, err := CentresOf(t.Context(), k, centres, targets, make([]int, 30), s); err == nil || !strings.Contains(err.Error(), "fold 2 of 3") {
		t.Errorf("error %v for a fold without centres", err)
	}
	parts := [][]byte{s.Fold(0), s.Fold(1), s.Fold(2)}
	for want, spoil := range map[string]func(f *Frame, parts [][]byte) [][]byte{
		"2 folds, want 3":     func(_ *Frame, p [][]byte) [][]byte { return p[:2] },
		"fold 1 have 15":      func(_ *Frame, p [][]byte) [][]byte { return [][]byte{p[0][:15], p[1], p[2]} },
		"fold 3 have":         func(_ *Frame, p [][]byte) [][]byte { return [][]byte{p[0], p[1], p[2][:len(p[2])-8]} },
		"sums of fold 2 are":  func(_ *Frame, p [][]byte) [][]byte { q := slices.Clone(p[1]); q[7] = 1; return [][]byte{p[0], q, p[2]} },
		"sums of 2147483647":  func(f *Frame, p [][]byte) [][]byte { f.Centres = math.MaxInt32; f.Folds = 1; return p },
		"deviation 0":         func(f *Frame, p [][]byte) [][]byte { f.Columns = []Column{{0, 0, 1}}; return p },
		"classes of sums":     func(f *Frame, p [][]byte) [][]byte { f.Classes = []int{2, 1}; return p },
		"2 columns for 0":     func(f *Frame, p [][]byte) [][]byte { f.Columns = append(f.Columns[:1:1], f.Columns[0]); return p },
		"kernel values up to": func(f *Frame, p [][]byte) [][]byte { f.Largest = math.NaN(); return p },
	} {
		f := s.Frame
		p := spoil(&f, parts)
		if _, err := DecodeSums(f, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
