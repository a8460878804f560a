package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// blobs returns linear kernels of n points of k Gaussian classes in the plane, whose means
// lie on a circle of the given radius: the Gram matrix and the labels 10, 20, ….
func blobs(rng *rand.Rand, n, k int, radius float64) (*kernel.Matrix, []int) {
	x := make([][]float64, n)
	labels := make([]int, n)
	for i := range x {
		c := rng.IntN(k)
		angle := 2 * math.Pi * float64(c) / float64(k)
		x[i] = []float64{radius*math.Cos(angle) + rng.NormFloat64(), radius*math.Sin(angle) + rng.NormFloat64()}
		labels[i] = 10 * (c + 1)
	}
	g := kernel.NewMatrix(n, n)
	for i := range x {
		for j := range x {
			g.Set(i, j, dense.Dot(x[i], x[j]))
		}
	}
	return g, labels
}

// halves splits 0 … n−1 into even and odd.
func halves(n int, labels []int) (train, test, trainLabels, testLabels []int) {
	for k := range n {
		if k%2 == 0 {
			train = append(train, k)
			trainLabels = append(trainLabels, labels[k])
		} else {
			test = append(test, k)
			testLabels = append(testLabels, labels[k])
		}
	}
	return
}

// probabilities returns those of the classes (columns) for examples (rows).
func probabilities(t *testing.T, l *Learner, cross View) *kernel.Matrix {
	t.Helper()
	v, err := l.Values(cross)
	if err != nil {
		t.Fatal(err)
	}
	p := kernel.NewMatrix(v.Rows, len(l.Classes))
	for i := range v.Rows {
		copy(p.Row(i), l.Probability(v.Row(i)))
	}
	return p
}

// Two unit Gaussians at distance 2: P(class | x) is the logistic function of 2x₁, which a
// linear machine and a sigmoid can represent. Among held-out examples, of those given a
// probability near p a share near p must be of the class.
func TestProbabilityIsCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	gram, labels := blobs(rng, 1600, 2, 1)
	train, test, trainLabels, testLabels := halves(len(labels), labels)
	opt := DefaultOptions()
	opt.Probability, opt.C, opt.Seed = true, 0.1, 5
	full := Full(gram)
	c, err := Train(ctx, full.Select(train, train), Targets{Labels: trainLabels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	cross := full.Select(test, train)
	p := probabilities(t, c, cross)
	d, err := c.Values(cross)
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, len(test))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		if d.At(a, 0) < d.At(b, 0) {
			return -1
		}
		return 1
	})
	for k := 1; k < len(order); k++ {
		if p.At(order[k], 0) < p.At(order[k-1], 0) {
			t.Fatalf("probability falls from %g to %g while the decision value rises", p.At(order[k-1], 0), p.At(order[k], 0))
		}
	}
	const groups = 5
	for g := range groups {
		part := order[g*len(order)/groups : (g+1)*len(order)/groups]
		mean, share, variance := 0.0, 0.0, 0.0
		for _, k := range part {
			v := p.At(k, 0)
			if s := v + p.At(k, 1); math.Abs(s-1) > 1e-15 {
				t.Fatalf("probabilities sum to %g", s)
			}
			mean += v
			variance += v * (1 - v)
			if testLabels[k] == c.Classes[0] {
				share++
			}
		}
		n := float64(len(part))
		// Three standard deviations of the share, and 0.05 for the error of the fit.
		if math.Abs(mean-share)/n > 3*math.Sqrt(variance)/n+0.05 {
			t.Errorf("group %d: mean probability %.3f, share %.3f", g, mean/n, share/n)
		}
	}
	again, err := Train(ctx, full.Select(train, train), Targets{Labels: trainLabels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if again.Sigmoids[0] != c.Sigmoids[0] {
		t.Error("same seed, other sigmoid")
	}
	opt.Seed++
	if again, err = Train(ctx, full.Select(train, train), Targets{Labels: trainLabels}, opt); err != nil {
		t.Fatal(err)
	}
	if again.Sigmoids[0] == c.Sigmoids[0] {
		t.Error("other seed, same sigmoid: the folds do not depend on it")
	}
}

// At the minimum of the likelihood both derivatives vanish: Σ(t − p) = 0 and Σf(t − p) = 0.
func TestSigmoidIsStationary(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, separated := range []bool{false, true} {
		f, y := make([]float64, 200), make([]bool, 200)
		np, nn := 0.0, 0.0
		for k := range f {
			y[k] = rng.IntN(3) == 0
			f[k] = rng.NormFloat64()
			if separated {
				f[k] = math.Abs(f[k])
			}
			if y[k] {
				f[k] += 1
				np++
			} else {
				f[k] = -f[k]
				nn++
			}
		}
		s := fitSigmoid(f, y)
		if !(s.A < 0) {
			t.Errorf("A = %g, want it negative: larger values are for the class", s.A)
		}
		ga, gb := 0.0, 0.0
		for k := range f {
			target := 1 / (nn + 2)
			if y[k] {
				target = (np + 1) / (np + 2)
			}
			r := target - 1/(1+math.Exp(s.A*f[k]+s.B))
			ga += f[k] * r
			gb += r
		}
		if math.Abs(ga) > 1e-5 || math.Abs(gb) > 1e-5 {
			t.Errorf("separated %v: derivatives %g and %g", separated, ga, gb)
		}
	}
	// Equal decision values: only the prior is known, P = Σt/n.
	s := fitSigmoid([]float64{0, 0, 0}, []bool{true, false, false})
	if want := (2./3 + 1./4 + 1./4) / 3; math.Abs(s.Probability(0)-want) > 1e-5 {
		t.Errorf("no information: %g, want %g", s.Probability(0), want)
	}
	if p := (Sigmoid{A: -1}).Probability(-1e4); p != 0 {
		t.Errorf("far away: %g", p)
	}
}

// A class with one example is missing from the training part of one fold.
func TestProbabilityOfRareClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	gram, _ := randomGram(rng, 12, 20)
	labels := make([]int, 12)
	labels[3] = 1
	opt := DefaultOptions()
	opt.Probability = true
	c, err := Train(ctx, Full(gram), Targets{Labels: labels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	p := probabilities(t, c, Full(gram))
	for k := range 12 {
		if !(p.At(k, 0) > 0.5) { // no example of the class was ever foreseen
			t.Errorf("example %d: probability %g of the common class", k, p.At(k, 0))
		}
	}
}

// Pairwise probabilities that come from class probabilities are coupled back to them.
func TestCouple(t *testing.T) {
	want := []float64{0.5, 0.2, 0.2, 0.1}
	r := kernel.NewMatrix(4, 4)
	for a, x := range want {
		for b, y := range want {
			if a != b {
				r.Set(a, b, x/(x+y))
			}
		}
	}
	sum := 0.0
	for k, p := range couple(r) {
		sum += p
		if math.Abs(p-want[k]) > 0.005 {
			t.Errorf("class %d: %g, want %g", k, p, want[k])
		}
	}
	if math.Abs(sum-1) > 1e-14 {
		t.Errorf("sum %g", sum)
	}
}

func TestSeveralClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	gram, labels := blobs(rng, 600, 4, 3)
	train, test, trainLabels, testLabels := halves(len(labels), labels)
	opt := DefaultOptions()
	opt.Probability = true
	full := Full(gram)
	c, err := Train(ctx, full.Select(train, train), Targets{Labels: trainLabels}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Classes, []int{10, 20, 30, 40}) || len(c.Functions) != 6 {
		t.Fatalf("classes %v, %d functions", c.Classes, len(c.Functions))
	}
	cross := full.Select(test, train)
	predicted, err := c.Labels(cross)
	if err != nil {
		t.Fatal(err)
	}
	p := probabilities(t, c, cross)
	right, rightP := 0, 0
	for k, want := range testLabels {
		if predicted[k] == want {
			right++
		}
		sum, best := 0.0, 0
		for class, v := range p.Row(k) {
			if v < 0 {
				t.Fatalf("example %d: probability %g", k, v)
			}
			sum += v
			if v > p.At(k, best) {
				best = class
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("example %d: probabilities sum to %g", k, sum)
		}
		if c.Classes[best] == want {
			rightP++
		}
	}
	// Neighbouring means are 3√2 apart: an error needs a deviation of 2.1 towards one of two
	// neighbours, so the best rule has 1 − 2·Φ(−2.12) ≈ 96.6 % right, ± 1 % for 300 examples.
	if right < 280 || rightP < 280 {
		t.Errorf("right: %d by votes, %d by probability, of %d", right, rightP, len(test))
	}
}
