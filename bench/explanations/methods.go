package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/learn"
	"github.com/mlgkernel/mlg/model"
)

// methods are ways to explain. All but slopes add up to the value.
var methods = []struct {
	name    string
	explain func(x *game) ([]float64, error)
}{
	{"contributions", (*game).contributions},
	{"rest in proportion", (*game).proportional},
	{"unknown labels", (*game).masked},
	{"balls, least squares", (*game).balls},
	{"Shapley, 10 orders", (*game).shapley},
	{"slopes", (*game).slopes},
}

// game is a graph whose vertices make up a value.
type game struct {
	ctx   context.Context
	m     *model.Model
	g     *graph.Graph
	f     learn.Function
	e     *explain.Explanation
	asked map[string]float64 // values of the graph with some of its vertices
}

func newGame(ctx context.Context, m *model.Model, g *graph.Graph, e *explain.Explanation) *game {
	return &game{ctx, m, g, m.Learner.For(max(0, slices.Index(m.Classes, e.Class))), e, map[string]float64{}}
}

// values returns the value of the graph without each of some sets of vertices.
func (x *game) values(sets [][]int32) ([]float64, error) {
	keys := make([]string, len(sets))
	var fresh []*graph.Graph
	var names []string
	for i, set := range sets {
		key, kept := make([]byte, x.g.N()), []int32{}
		for _, v := range set {
			key[v] = 1
		}
		for v, out := range key {
			if out == 0 {
				kept = append(kept, int32(v))
			}
		}
		keys[i] = string(key)
		if _, ok := x.asked[keys[i]]; !ok {
			x.asked[keys[i]] = 0
			fresh, names = append(fresh, x.g.Induced(kept)), append(names, keys[i])
		}
	}
	if len(fresh) > 0 {
		cross, err := x.m.Kernel.Cross(x.ctx, fresh)
		if err != nil {
			return nil, err
		}
		for i, name := range names {
			x.asked[name] = x.f.Value(cross.Row(i))
		}
	}
	out := make([]float64, len(sets))
	for i, key := range keys {
		out[i] = x.asked[key]
	}
	return out, nil
}

// effects returns what is lost without each of some sets of vertices.
func (x *game) effects(sets [][]int32) ([]float64, error) {
	out, err := x.values(sets)
	for i, v := range out {
		out[i] = x.e.Value - v
	}
	return out, err
}

// rest adds what is missing for the sum, by weights.
func (x *game) rest(values, weights []float64) []float64 {
	total, missing := 0.0, x.e.Value-x.e.Baseline
	for v, w := range weights {
		total += w
		missing -= values[v]
	}
	for v, w := range weights {
		values[v] += missing * w / total
	}
	return values
}

func (x *game) contributions() ([]float64, error) {
	_, err := x.values(singles(x.g.N())) // to count them
	return x.e.Vertices, err
}

func (x *game) proportional() ([]float64, error) {
	values, err := x.effects(singles(x.g.N()))
	weights := make([]float64, len(values))
	for v, d := range values {
		weights[v] = math.Abs(d)
	}
	return x.rest(values, weights), err
}

// masked replaces the label of a vertex by one that no training graph has.
func (x *game) masked() ([]float64, error) {
	var graphs []*graph.Graph
	for v := range x.g.N() {
		b := graph.NewBuilder(x.g.N())
		for u, l := range x.g.Labels() {
			if u == v {
				l = "unknown"
			}
			b.SetLabel(u, l)
		}
		for e := range x.g.Edges() {
			b.AddLabeledEdge(e.U, e.V, e.Weight, e.Label)
		}
		g, err := b.Build()
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, g)
	}
	cross, err := x.m.Kernel.Cross(x.ctx, graphs)
	if err != nil {
		return nil, err
	}
	values, weights := make([]float64, len(graphs)), make([]float64, len(graphs))
	for v := range values {
		values[v], weights[v] = x.e.Value-x.f.Value(cross.Row(v)), 1
	}
	return x.rest(values, weights), nil
}

// balls returns the values that add up and agree best with leaving out vertices and balls of radius 1: the
// squared differences, divided by numbers of vertices, are least.
func (x *game) balls() ([]float64, error) {
	n := x.g.N()
	sets := singles(n)
	var near graph.Scratch
	for v := range n {
		sets = append(sets, slices.Clone(near.Ball(x.g, v, 1)))
	}
	effects, err := x.effects(sets)
	if err != nil {
		return nil, err
	}
	a, y := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	for i, set := range sets {
		w := 1 / float64(len(set))
		for _, u := range set {
			for _, v := range set {
				a.Set(int(u), int(v), a.At(int(u), int(v))+w)
			}
			y.SetVec(int(u), y.AtVec(int(u))+w*effects[i])
		}
	}
	for v := range n {
		a.Set(v, n, 1)
		a.Set(n, v, 1)
	}
	y.SetVec(n, x.e.Value-x.e.Baseline)
	var out mat.VecDense
	err = out.SolveVec(a, y)
	return out.RawVector().Data[:n], err
}

// shapley returns means of what a vertex adds when the graph is built up in random orders, five and the
// same backwards.
func (x *game) shapley() ([]float64, error) {
	n, r := x.g.N(), rand.New(rand.NewPCG(1, 1))
	values, weights := make([]float64, n), slices.Repeat([]float64{1}, n)
	for range 5 {
		order := r.Perm(n)
		for range 2 {
			var missing [][]int32
			for i := range n + 1 {
				var set []int32
				for _, v := range order[i:] {
					set = append(set, int32(v))
				}
				missing = append(missing, set)
			}
			f, err := x.values(missing)
			if err != nil {
				return nil, err
			}
			for i, v := range order {
				values[v] += (f[i+1] - f[i]) / 10
			}
			slices.Reverse(order)
		}
	}
	return x.rest(values, weights), nil
}

func (x *game) slopes() ([]float64, error) {
	e, err := explain.Prediction(x.ctx, x.m, x.g, explain.Options{Class: x.e.Class, Slopes: true})
	if err != nil {
		return nil, err
	}
	return e.Vertices, nil
}

func singles(n int) (out [][]int32) {
	for v := range int32(n) {
		out = append(out, []int32{v})
	}
	return out
}

// fragmentsOf returns random connected sets of two to four vertices.
func fragmentsOf(g *graph.Graph, n int) (out [][]int32) {
	r := rand.New(rand.NewPCG(3, 7))
	for range n {
		set := []int32{int32(r.IntN(g.N()))}
		for size := 2 + r.IntN(3); len(set) < size; {
			var next []int32
			for _, v := range set {
				for _, w := range g.Neighbors(int(v)) {
					if !slices.Contains(set, w) {
						next = append(next, w)
					}
				}
			}
			if len(next) == 0 {
				break
			}
			set = append(set, next[r.IntN(len(next))])
		}
		if len(set) > 1 && len(set) < g.N() {
			out = append(out, set)
		}
	}
	return out
}

// ranks returns the places of numbers in their order; equal ones share the mean of theirs.
func ranks(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		for _, w := range x {
			if d := v - w; math.Abs(d) <= 1e-12 {
				out[i] += 0.5
			} else if d > 0 {
				out[i]++
			}
		}
	}
	return out
}

func spearman(x, y []float64) float64 { return stat.Correlation(ranks(x), ranks(y), nil) }

// auroc returns the probability that a vertex of the structure has more than another.
func auroc(x []float64, of []bool) float64 {
	sum, yes := 0.0, count(of)
	for i, r := range ranks(x) {
		if of[i] {
			sum += r - 0.5
		}
	}
	n := float64(yes)
	return (sum - n*(n-1)/2) / (n * float64(len(x)-yes))
}
