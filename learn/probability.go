package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mlgkernel/mlg/internal/dense"
	"github.com/mlgkernel/mlg/kernel"
)

// Probability returns the probabilities of the classes, in the order of l.Classes, for an example
// with the given values of the functions,
//
//	P(a) = exp(Slope·s_a) / Σ_b exp(Slope·s_b),   s = Scores(values).
//
// The most probable class is that of Class. Probability panics if the learner was trained without.
func (l *Learner) Probability(values []float64) []float64 {
	if l.Slope == 0 {
		panic("learn: the learner was trained without probabilities")
	}
	z := l.Scores(values)
	for c := range z {
		z[c] *= l.Slope
	}
	softmax(z)
	return z
}

// softmax turns z into exp(z)/Σ exp(z) and returns log Σ exp(z).
func softmax(z []float64) float64 {
	most, sum := slices.Max(z), 0.0
	for c, v := range z {
		z[c] = math.Exp(v - most)
		sum += z[c]
	}
	for c := range z {
		z[c] /= sum
	}
	return most + math.Log(sum)
}

// calibrate sets Slope so that probabilities agree best with the classes of examples. Their scores
// (rows) must come from functions that have not seen them. Regressions also get an offset for each
// class in their biases, for which examples count by their weights. The machines of pairs stay as
// they are.
func (l *Learner) calibrate(scores *kernel.Matrix, t Targets) {
	class := make([]int, len(t.Labels))
	for i, label := range t.Labels {
		class[i], _ = slices.BinarySearch(l.Classes, label)
	}
	e := scored{Matrix: scores, class: class}
	if l.Kind == KernelRidge {
		e.weights = t.Weights
	}
	theta := fitSoftmax(e, l.Kind == KernelRidge)
	l.Slope = theta[0]
	if l.Kind == KernelRidge {
		for c, o := range theta[1:] {
			l.Functions[c].Bias += o / l.Slope
		}
	}
}

// Calibrated turns the scores of examples (rows) for classes, the columns, into probabilities: those of
// a learner with the slope, and for kernel ridge regression the offsets, that agree best with the
// classes.
func Calibrated(learner Kind, scores *kernel.Matrix, class []int) *kernel.Matrix {
	theta := fitSoftmax(scored{Matrix: scores, class: class}, learner == KernelRidge)
	out := kernel.NewMatrix(scores.Rows, scores.Cols)
	for i := range out.Rows {
		row := out.Row(i)
		for c, s := range scores.Row(i) {
			row[c] = theta[0]*s + theta[1+c]
		}
		softmax(row)
	}
	return out
}

// leastSlope is the smallest slope of a softmax. For scores that say nothing, or the contrary, the
// best slope is not above 0. Then the offsets alone would decide the class, not the scores.
const leastSlope = 0.1

// scored is examples with scores for classes, their class, and weights; nil for 1.
type scored struct {
	*kernel.Matrix
	class   []int
	weights Weights
}

// fitSoftmax returns the slope T and the offsets o_c, or offsets of 0, of the probabilities
//
//	p_ic = exp(T·s_ic + o_c) / Σ_b exp(T·s_ib + o_b)
//
// that minimise −Σ_i w_i Σ_c t_ic log p_ic for the scores s and weights w of n examples. t_ic is
// (n+1)/(n+2) for the class of the example, and the rest is shared by the others, which keeps T
// finite when the scores separate the classes (with two classes: Platt 2000). The problem is convex;
// Newton's method with backtracking stops when no derivative is above 1e-5, or after 100 steps. A
// slope below leastSlope becomes leastSlope.
func fitSoftmax(e scored, offsets bool) []float64 {
	k := e.Cols
	theta := make([]float64, 1+k)
	theta[0] = 1
	free := []int{0}
	for c := range k {
		if offsets {
			free = append(free, 1+c)
		}
	}
	minimise(e, theta, free)
	if theta[0] < leastSlope {
		theta[0] = leastSlope
		minimise(e, theta, free[1:])
	}
	return theta
}

// minimise moves the free entries of θ = (T, o) to the minimum.
func minimise(e scored, theta []float64, free []int) {
	const (
		ridge    = 1e-9  // per example: the offsets are known but for a constant
		gradient = 1e-5  // the derivatives at which Lin, Lin and Weng (2007) stop
		shortest = 1e-10 // and their shortest step
	)
	m := len(free)
	g, h := make([]float64, 1+e.Cols), kernel.NewMatrix(1+e.Cols, 1+e.Cols)
	value := softmaxLoss(e, theta, g, h)
	for range 100 {
		step, hessian := make([]float64, m), make([]float64, m*m)
		worst := 0.0
		for a, j := range free {
			step[a] = -g[j]
			worst = max(worst, math.Abs(g[j]))
			for b, l := range free {
				hessian[a*m+b] = h.At(j, l)
			}
			hessian[a*m+a] += ridge * float64(e.Rows)
		}
		if worst < gradient {
			return
		}
		if _, ok := dense.Cholesky(hessian, m); !ok {
			return // rounding leaves nothing to gain
		}
		dense.SolveCholesky(hessian, m, step)
		slope, start := 0.0, slices.Clone(theta)
		for a, j := range free {
			slope += g[j] * step[a]
		}
		for size := 1.0; ; size /= 2 {
			if size < shortest {
				copy(theta, start)
				return
			}
			for a, j := range free {
				theta[j] = start[j] + size*step[a]
			}
			if v := softmaxLoss(e, theta, g, h); v <= value+1e-4*size*slope {
				value = v
				break
			}
		}
	}
}

// softmaxLoss returns the loss of fitSoftmax at θ and sets its gradient and Hessian.
func softmaxLoss(e scored, theta, g []float64, h *kernel.Matrix) float64 {
	n, k := e.Rows, e.Cols
	clear(g)
	clear(h.Data)
	rest := 1 / float64(n+2)
	loss := 0.0
	p := make([]float64, k)
	for i := range n {
		s, w := e.Row(i), e.weights.Of(i)
		for c := range p {
			p[c] = theta[0]*s[c] + theta[1+c]
		}
		target := func(c int) float64 {
			if c == e.class[i] {
				return 1 - rest
			}
			return rest / float64(k-1)
		}
		for c, z := range p {
			loss -= w * target(c) * z
		}
		loss += w * softmax(p)
		mean := dense.Dot(p, s)
		for c, v := range p {
			g[0] += w * (v - target(c)) * s[c]
			g[1+c] += w * (v - target(c))
			h.Row(0)[0] += w * v * s[c] * (s[c] - mean)
			h.Row(0)[1+c] += w * v * (s[c] - mean)
			h.Row(1 + c)[1+c] += w * v
			for b, u := range p {
				h.Row(1 + c)[1+b] -= w * v * u
			}
		}
	}
	for c := range k {
		h.Set(1+c, 0, h.At(0, 1+c))
	}
	return loss
}

// calibrationFolds is the number of trainings from which the probabilities of machines come.
const calibrationFolds = 5

// heldOut returns the scores of all examples by machines that have not seen them, in
// cross-validation. The examples of each class are shuffled by the seed and dealt to the folds in
// turn. A class that training lacks has the score −1, at the margin of the others.
func (l *Learner) heldOut(ctx context.Context, gram View, members [][]int, t Targets, c float64, opt Options,
	limit *limit) (*kernel.Matrix, error) {
	n := l.Examples
	fold := make([]int, n)
	random := rand.New(rand.NewPCG(opt.Seed, uint64(n)))
	next := 0
	for _, class := range members {
		for _, k := range random.Perm(len(class)) {
			fold[class[k]] = next % calibrationFolds
			next++
		}
	}
	out := kernel.NewMatrix(n, len(l.Classes))
	opt.Probability, opt.C = false, c
	for f := range calibrationFolds {
		var train, test, labels []int
		for i, g := range fold {
			if g == f {
				test = append(test, i)
			} else {
				train, labels = append(train, i), append(labels, t.Labels[i])
			}
		}
		one := slices.Min(labels) == slices.Max(labels)
		for _, i := range test {
			copy(out.Row(i), slices.Repeat([]float64{-1}, out.Cols))
			if one {
				out.Set(i, slices.Index(l.Classes, labels[0]), 1)
			}
		}
		if one || len(test) == 0 {
			continue
		}
		part, err := Train(ctx, gram.Select(train, train), Targets{Labels: labels, Weights: t.Weights.at(train)}, opt)
		if err := limit.pass(err, "probabilities, C = %g", c); err != nil {
			return nil, err
		}
		values, err := part.Values(gram.Select(test, train))
		if err != nil {
			return nil, err
		}
		for i, at := range test {
			for k, s := range part.Scores(values.Row(i)) {
				class, _ := slices.BinarySearch(l.Classes, part.Classes[k])
				out.Set(at, class, s)
			}
		}
	}
	return out, nil
}
