package learn

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
	if again.Slope != c.Slope {
		t.Error("same seed, other probabilities")
	}
	opt.Seed++
	if again, err = Train(ctx, full.Select(train, train), Targets{Labels: trainLabels}, opt); err != nil {
		t.Fatal(err)
	}
	if again.Slope == c.Slope {
		t.Error("other seed, same slope: the folds do not depend on it")
	}
}

// At the minimum all derivatives vanish, by the definition of the loss and differences of it. With two
// classes the probability is Platt's sigmoid of the difference of the scores.
func TestSoftmaxIsStationary(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, k := range []int{2, 3, 5} {
		for _, separated := range []bool{false, true} {
			const n = 200
			scores, class := kernel.NewMatrix(n, k), make([]int, n)
			for i := range n {
				class[i] = rng.IntN(k) * rng.IntN(k) / max(1, k-1)
				for c := range k {
					scores.Set(i, c, rng.NormFloat64())
				}
				scores.Row(i)[class[i]] += 1
				if separated {
					scores.Row(i)[class[i]] += 10
				}
			}
			weights := make([]float64, n)
			for i := range weights {
				weights[i] = 0.5 + float64(i%3)
			}
			loss := func(theta []float64) float64 {
				sum := 0.0
				for i := range n {
					all := 0.0
					for c := range k {
						all += math.Exp(theta[0]*scores.At(i, c) + theta[1+c])
					}
					for c := range k {
						target := 1.0 / (n + 2) / float64(k-1)
						if c == class[i] {
							target = (n + 1.0) / (n + 2)
						}
						sum -= weights[i] * target * math.Log(math.Exp(theta[0]*scores.At(i, c)+theta[1+c])/all)
					}
				}
				return sum
			}
			for _, offsets := range []bool{false, true} {
				theta := fitSoftmax(scored{Matrix: scores, class: class, weights: weights}, offsets)
				if !(theta[0] > leastSlope) {
					t.Errorf("%d classes: slope %g", k, theta[0])
				}
				for j := range theta {
					if j > 0 && !offsets {
						if theta[j] != 0 {
							t.Errorf("offset %g, want none", theta[j])
						}
						continue
					}
					const h = 1e-4
					up, down := slices.Clone(theta), slices.Clone(theta)
					up[j] += h
					down[j] -= h
					if d := (loss(up) - loss(down)) / (2 * h); math.Abs(d) > 1e-4 {
						t.Errorf("%d classes, separated %v, offsets %v: derivative %d is %g", k, separated, offsets, j, d)
					}
				}
			}
		}
	}
	// Equal scores: only the shares of the classes are known, P = Σt/n = (4 + 1·2)/(3·5).
	theta := fitSoftmax(scored{Matrix: kernel.NewMatrix(3, 2), class: []int{0, 1, 1}}, true)
	if p := 1 / (1 + math.Exp(theta[2]-theta[1])); math.Abs(p-6./15) > 1e-4 {
		t.Errorf("no information: %g, want 0.4", p)
	}
	// Scores that say the contrary do not turn the learner round.
	against := &kernel.Matrix{Rows: 4, Cols: 2, Data: []float64{-1, 1, -1, 1, 1, -1, 1, -1}}
	if theta := fitSoftmax(scored{Matrix: against, class: []int{0, 0, 1, 1}}, true); theta[0] != leastSlope {
		t.Errorf("slope %g, want %g", theta[0], leastSlope)
	}
}

// The class that is told is the most probable one, and Decision speaks for it.
func TestOneClassIsTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 30))
	for _, kind := range []Kind{SVM, KernelRidge} {
		for _, classes := range []int{2, 3, 6} {
			gram, labels := blobs(rng, 150, classes, 1)
			for i := range labels { // an uneven one
				if labels[i] == 20 && i%4 > 0 {
					labels[i] = 10
				}
			}
			train, test, trainLabels, _ := halves(len(labels), labels)
			opt := DefaultOptions()
			opt.Kind, opt.Probability = kind, true
			l, err := Train(ctx, Full(gram).Select(train, train), Targets{Labels: trainLabels}, opt)
			if err != nil {
				t.Fatal(err)
			}
			values, err := l.Values(Full(gram).Select(test, train))
			if err != nil {
				t.Fatal(err)
			}
			for i := range values.Rows {
				v := values.Row(i)
				p, d := l.Probability(v), l.Decision(v)
				best := slices.Index(p, slices.Max(p))
				if l.Classes[best] != l.Class(v) || d[best] < 0 {
					t.Errorf("%v, %d classes: class %d, probabilities %v, decision %v", kind, classes, l.Class(v), p, d)
				}
			}
		}
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
	predicted, err := labelsOf(c, cross)
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
		t.Errorf("right: %d by class, %d by probability, of %d", right, rightP, len(test))
	}
}
