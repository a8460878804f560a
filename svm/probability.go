package svm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/mlgkernel/mlg/kernel"
)

// Sigmoid turns the decision value f of a machine into the probability of its positive
// class,
//
//	P(positive | f) = 1 / (1 + exp(A·f + B)).
type Sigmoid struct{ A, B float64 }

// Probability returns the probability of the positive class for decision value f.
func (s Sigmoid) Probability(f float64) float64 {
	if z := s.A*f + s.B; z >= 0 {
		return math.Exp(-z) / (1 + math.Exp(-z))
	} else {
		return 1 / (1 + math.Exp(z))
	}
}

// fitSigmoid returns the sigmoid of greatest likelihood for decision values whose true
// class is known (Platt 2000), by the method of Lin, Lin and Weng (2007). It minimises
//
//	−Σ_k [ t_k log p_k + (1 − t_k) log(1 − p_k) ],   p_k = 1/(1 + exp(A·f_k + B)),
//
// where t_k is (N₊+1)/(N₊+2) for the N₊ positive and 1/(N₋+2) for the N₋ negative examples,
// which keeps A finite when the classes are separated. The problem is convex in two
// variables; Newton's method with backtracking starts at A = 0, B = log((N₋+1)/(N₊+1)) and
// stops when both derivatives are below 1e-5, or after 100 steps.
func fitSigmoid(decision []float64, positive []bool) Sigmoid {
	np, nn := 0.0, 0.0
	for _, p := range positive {
		if p {
			np++
		} else {
			nn++
		}
	}
	target := func(p bool) float64 {
		if p {
			return (np + 1) / (np + 2)
		}
		return 1 / (nn + 2)
	}
	// loss is written so that no exponential overflows: −t log p − (1−t) log(1−p) with
	// z = A·f + B is t·z + log(1+e^(−z)) = (t−1)·z + log(1+e^z).
	loss := func(s Sigmoid) float64 {
		sum := 0.0
		for k, f := range decision {
			z, t := s.A*f+s.B, target(positive[k])
			if z >= 0 {
				sum += t*z + math.Log1p(math.Exp(-z))
			} else {
				sum += (t-1)*z + math.Log1p(math.Exp(z))
			}
		}
		return sum
	}
	const (
		ridge    = 1e-12 // keeps the Hessian invertible when all f are equal
		gradient = 1e-5  // the derivatives at which the paper stops
		shortest = 1e-10 // the paper's shortest step
	)
	s := Sigmoid{A: 0, B: math.Log((nn + 1) / (np + 1))}
	value := loss(s)
	for range 100 {
		haa, hbb, hab, ga, gb := ridge, ridge, 0.0, 0.0, 0.0
		for k, f := range decision {
			p := s.Probability(f)
			w := p * (1 - p)
			haa += f * f * w
			hbb += w
			hab += f * w
			d := target(positive[k]) - p
			ga += f * d
			gb += d
		}
		if math.Abs(ga) < gradient && math.Abs(gb) < gradient {
			break
		}
		det := haa*hbb - hab*hab
		da := -(hbb*ga - hab*gb) / det
		db := -(haa*gb - hab*ga) / det
		slope := ga*da + gb*db
		size := 1.0
		for ; size >= shortest; size /= 2 {
			next := Sigmoid{A: s.A + size*da, B: s.B + size*db}
			if v := loss(next); v < value+1e-4*size*slope {
				s, value = next, v
				break
			}
		}
		if size < shortest {
			break // rounding leaves nothing to gain
		}
	}
	return s
}

// plattFolds is the number of trainings from which the sigmoid of a pair of classes comes.
const plattFolds = 5

// platt fits the sigmoid of a pair of classes to decision values of examples that the
// machine has not seen, by cross-validation. The examples of each class are shuffled by the
// seed and dealt to the folds in turn.
func (p *problem) platt(ctx context.Context, c float64, opt Options, limit *limit) (Sigmoid, error) {
	n := len(p.q)
	fold := make([]int, n)
	positive := make([]bool, n)
	rng := rand.New(rand.NewPCG(opt.Seed, uint64(n)))
	next := 0
	for _, first := range []bool{true, false} {
		var class []int
		for k, q := range p.q {
			if positive[k] = q < 0; positive[k] == first {
				class = append(class, k)
			}
		}
		rng.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		for _, k := range class {
			fold[k] = next % plattFolds
			next++
		}
	}
	decision := make([]float64, n)
	for f := range plattFolds {
		var train, test []int
		for k := range n {
			if fold[k] == f {
				test = append(test, k)
			} else {
				train = append(train, k)
			}
		}
		err := p.heldOut(ctx, train, test, c, opt, decision)
		if err := limit.pass(err, "probabilities, C = %g%s", c, p.name); err != nil {
			return Sigmoid{}, err
		}
	}
	return fitSigmoid(decision, positive), nil
}

// heldOut sets the decision values of the test examples by a machine trained on others. A
// class that training lacks has nothing to say for it: the value is then +1 or −1, at the
// margin of the other class, or 0 without any example.
func (p *problem) heldOut(ctx context.Context, train, test []int, c float64, opt Options, decision []float64) error {
	rest := &problem{gram: p.gram.Select(train, train)}
	sum := 0.0
	for _, k := range train {
		rest.add(-p.q[k], p.high[k]-p.low[k])
		sum -= p.q[k]
	}
	if math.Abs(sum) == float64(len(train)) {
		for _, k := range test {
			decision[k] = max(-1, min(1, sum))
		}
		return nil
	}
	s := newSolver(rest)
	s.widen(c)
	err := s.solve(ctx, opt)
	if err != nil && !errors.Is(err, ErrIterations) {
		return err
	}
	b := s.bias()
	for _, k := range test {
		decision[k] = b
		for t, v := range s.beta {
			if v != 0 {
				decision[k] += v * p.gram.At(k, train[t])
			}
		}
	}
	return err
}

// Probability returns the probabilities of the classes, in the order of l.Classes, for an example
// with the given values of the functions. With two classes they are those of the sigmoid, with
// more they come from all pairs by coupling. The class of highest probability need not be that of Class.
// Probability panics if the learner was trained without.
func (l *Learner) Probability(values []float64) []float64 {
	if l.Sigmoids == nil {
		panic("svm: the learner was trained without Probability")
	}
	if len(l.Classes) == 2 {
		p := l.Sigmoids[0].Probability(l.pairValue(values, 0))
		return []float64{p, 1 - p}
	}
	// As in LIBSVM no pair is certain: couple needs entries strictly inside (0, 1).
	const least = 1e-7
	r := kernel.NewMatrix(len(l.Classes), len(l.Classes))
	for p, s := range l.Sigmoids {
		a, b := l.Pair(p)
		v := s.Probability(l.pairValue(values, p))
		r.Set(a, b, max(least, min(1-least, v)))
		r.Set(b, a, max(least, min(1-least, 1-v)))
	}
	return couple(r)
}

// couple returns the class probabilities p that agree best with probabilities r_ab of
// class a against class b (Wu, Lin, Weng 2004, second method):
//
//	minimise   Σ_a Σ_{b≠a} (r_ba p_a − r_ab p_b)²   subject to   Σ p_a = 1,   p ≥ 0.
//
// r must be square with r_ab + r_ba = 1 and entries strictly between 0 and 1 off the
// diagonal, which is not read. The minimum satisfies Qp = (pᵀQp)·1 with
// Q_aa = Σ_{b≠a} r_ba² and Q_ab = −r_ab r_ba; each update solves one equation and
// renormalises. It stops when no equation is off by more than 0.005/k (that is LIBSVM's
// limit: a probability is then good to about half a per cent), or after 100 rounds or k if that is more.
func couple(r *kernel.Matrix) []float64 {
	k := r.Rows
	q := kernel.NewMatrix(k, k)
	p := make([]float64, k)
	qp := make([]float64, k)
	for a := range k {
		p[a] = 1 / float64(k)
		for b := range k {
			if b != a {
				q.Set(a, a, q.At(a, a)+r.At(b, a)*r.At(b, a))
				q.Set(a, b, -r.At(a, b)*r.At(b, a))
			}
		}
	}
	for range max(100, k) {
		pqp := 0.0
		for a := range k {
			qp[a] = 0
			for b := range k {
				qp[a] += q.At(a, b) * p[b]
			}
			pqp += p[a] * qp[a]
		}
		worst := 0.0
		for a := range k {
			worst = max(worst, math.Abs(qp[a]-pqp))
		}
		if worst < 0.005/float64(k) {
			break
		}
		for a := range k {
			d := (pqp - qp[a]) / q.At(a, a)
			p[a] += d
			pqp = (pqp + d*(d*q.At(a, a)+2*qp[a])) / ((1 + d) * (1 + d))
			for b := range k {
				qp[b] = (qp[b] + d*q.At(a, b)) / (1 + d)
				p[b] /= 1 + d
			}
		}
	}
	return p
}
