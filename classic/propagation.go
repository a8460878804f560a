package classic

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
)

// Distance says which distance of rows the bins of a Propagation keep.
type Distance string

const (
	L1        Distance = "l1"        // sum of differences; for distributions of labels twice the total variation
	L2        Distance = "l2"        // Euclidean
	Hellinger Distance = "hellinger" // Euclidean, of square roots
)

// Propagation is the propagation kernel (Neumann, Garnett, Bauckhage, Kersting: Propagation
// kernels, Machine Learning 102, 2016, algorithms 1 and 3). Labels or attributes spread along the
// edges. After every step vertices are counted by bins of what has reached them,
//
//	k(G, G') = Σ_{t=0..Steps} Σ_b c_tb(G) c_tb(G'),
//	bin of v after t steps = ⌊(x_t(v)·a_t + b_t) / Width⌋,   X_{t+1} = D⁻¹A X_t.
//
// c_tb counts the vertices in bin b. x_0(v) has a 1 for the label of v. A is the weighted adjacency
// matrix and D its row sums. A vertex without neighbours has x_t = 0 after the first step. The
// entries of a_t are drawn from the Cauchy distribution for L1, and from the normal one for L2 and
// Hellinger. b_t is drawn uniformly from [0, Width). Two rows fall into the same bin with a
// probability that falls with their distance over Width. Each attribute has its own bin, and
// vertices are counted by all of them together.
//
// The draw for a label depends only on Seed, t and its text, so a graph has the same features in
// every collection. Sums over neighbours run in ascending order of their terms, so the order of
// vertices does not matter. Since x_t·a_t = (D⁻¹A)^t x_0·a_t, no row of labels is formed. A graph
// takes O(Steps² m) time, and O(Steps d m) for d attributes, or for Hellinger and d labels.
type Propagation struct {
	Steps     int       `json:"steps" want:"0 to 1000" help:"Number of steps along edges."`
	Distance  Distance  `json:"distance" want:"one of l1 l2 hellinger" help:"Distance that bins keep: l1 (total variation), l2 or hellinger."`
	Width     float64   `json:"width" want:"positive" help:"Width of a bin."`
	Seed      uint64    `json:"seed" help:"Seed of the bins."`
	Labels    Labelling `json:"labels" want:"one of auto labels degrees unlabeled attributes" help:"What is propagated: auto (labels, else degrees), labels, degrees, unlabeled or attributes."`
	Normalize bool      `json:"normalize" help:"Scale values so that k(G,G) = 1."`
}

// DefaultPropagation returns the normalised kernel of labels with 5 steps and narrow bins.
func DefaultPropagation() Propagation {
	return Propagation{Steps: 5, Distance: L1, Width: 0.01, Seed: 1, Labels: Auto, Normalize: true}
}

// Name implements kernel.Kernel, as String, Validate, Fit, Decode and Resolve do.
func (k Propagation) Name() string   { return "propagation" }
func (k Propagation) String() string { return kernel.Text(k) }

func (k Propagation) Validate() error {
	if k.Distance == Hellinger && k.Labels == Attributes {
		return param.Wrong(k.Name(), k, "distance", "l1 or l2 with labels = attributes, which may be negative", nil)
	}
	return kernel.Check(k)
}

func (k Propagation) Fit(ctx context.Context, graphs []*graph.Graph) (*kernel.Fitted, error) {
	return fit(ctx, k, graphs)
}
func (k Propagation) Decode(data []byte) (kernel.Map, error)               { return decode(k, data) }
func (k Propagation) Resolve(graphs []*graph.Graph) (kernel.Kernel, error) { return resolve(k, graphs) }

// Levels implements kernel.Levelled: one step along edges after the other.
func (k Propagation) Levels() []kernel.Level {
	return levelsOf("step", k.Steps, func(steps int) kernel.Kernel { k.Steps = steps; return k })
}

// Stretch implements kernel.Directional.
func (k Propagation) Stretch(times int) (kernel.Kernel, bool) {
	k.Steps *= times
	return k, k.Labels.discrete()
}

func (k Propagation) recipe() recipe {
	return recipe{labels: k.Labels, normalize: k.Normalize, count: k.count}
}

// count counts the vertices of graphs by bins.
func (k Propagation) count() countFunc {
	p := propagator{Propagation: k, drawn: map[string][]float64{}}
	var bins []uint64 // by vertex
	return func(ctx context.Context, g *coloured, out *vector) error {
		if err := p.project(ctx, g); err != nil {
			return err
		}
		for t := range p.y {
			bins = bins[:0]
			for v := range g.N() {
				bin, err := p.bin(t, v)
				if err != nil {
					return err
				}
				bins = append(bins, bin)
			}
			slices.Sort(bins)
			eachRun(bins, out.add)
		}
		return nil
	}
}

// propagator projects the rows of one graph after the other. A vertex has one projection, or one
// for each attribute.
type propagator struct {
	Propagation
	drawn   map[string][]float64 // by label or number of an attribute: its entries of a_t
	columns int                  // projections of a vertex
	shift   [][]float64          // by t and column: b_t
	y       [][]float64          // by t, vertex and column: x_t·a_t
	total   []float64            // by vertex: sum of the weights of its edges
	x, z    []float64
	terms   []float64
	words   []uint64
}

// bin returns the hash of t and the bins of a vertex after t steps.
func (p *propagator) bin(t, v int) (uint64, error) {
	p.words = append(p.words[:0], uint64(t))
	for c, y := range p.y[t][v*p.columns : (v+1)*p.columns] {
		bin := math.Floor((y + p.shift[t][c]) / p.Width)
		if !(math.Abs(bin) < maxLength) {
			return 0, fmt.Errorf("vertex %d: bin %g, want less than 2^53 bins; use wider bins or smaller attributes", v, bin)
		}
		p.words = append(p.words, uint64(int64(bin)))
	}
	return hashWords(p.words...), nil
}

// draws returns the entries of a_t for a label or an attribute.
func (p *propagator) draws(name string) []float64 {
	a, ok := p.drawn[name]
	if !ok {
		for t := range p.Steps + 1 {
			rng := rand.NewPCG(hashText(p.Seed, name), mixed(uint64(t)))
			if p.Distance == L1 {
				a = append(a, drawCauchy(rng))
			} else {
				a = append(a, drawNormal(rng))
			}
		}
		p.drawn[name] = a
	}
	return a
}

// project sets y to the projections of a graph's rows.
func (p *propagator) project(ctx context.Context, g *coloured) error {
	n := g.N()
	p.columns = 1
	if p.Labels == Attributes {
		p.columns = g.AttributeDim()
	}
	p.y = slices.Grow(p.y[:0], p.Steps+1)[:p.Steps+1]
	p.shift = slices.Grow(p.shift, p.Steps+1)[:p.Steps+1]
	for t := range p.y {
		resized(&p.y[t], n*p.columns)
		for c := len(p.shift[t]); c < p.columns; c++ {
			p.shift[t] = append(p.shift[t], p.Width*uniform(rand.NewPCG(mixed(p.Seed), uint64(c)<<32|uint64(t))))
		}
	}
	resized(&p.total, n)
	for v := range p.total {
		p.total[v] = p.sum(g.Graph, v, nil)
	}
	switch {
	case p.Labels == Attributes:
		return p.projectAttributes(ctx, g.Graph)
	case p.Distance == Hellinger:
		return p.projectRoots(ctx, g)
	}
	for v := range n {
		for t, d := range p.draws(g.label(v)) {
			p.y[t][v] = d
		}
	}
	for t := range p.y {
		for range t {
			if err := p.step(ctx, g.Graph, &p.y[t]); err != nil {
				return err
			}
		}
	}
	return nil
}

// projectAttributes sets y to the attributes times the entries of a_t.
func (p *propagator) projectAttributes(ctx context.Context, g *graph.Graph) error {
	for c := range p.columns {
		resized(&p.x, g.N())
		for v := range p.x {
			p.x[v] = g.Attributes(v)[c]
		}
		if err := p.spread(ctx, g, p.draws(strconv.Itoa(c)), c, func(x float64) float64 { return x }); err != nil {
			return err
		}
	}
	return nil
}

// projectRoots sets y to the projections of the square roots of the rows, label by label.
func (p *propagator) projectRoots(ctx context.Context, g *coloured) error {
	having := map[string][]int{}
	for v := range g.N() {
		l := g.label(v)
		having[l] = append(having[l], v)
	}
	for _, l := range slices.Sorted(maps.Keys(having)) {
		resized(&p.x, g.N())
		for _, v := range having[l] {
			p.x[v] = 1
		}
		if err := p.spread(ctx, g.Graph, p.draws(l), 0, math.Sqrt); err != nil {
			return err
		}
	}
	return nil
}

// spread adds f(x) times the entries of a_t to a column of y, for x after t steps.
func (p *propagator) spread(ctx context.Context, g *graph.Graph, draws []float64, column int, f func(x float64) float64) error {
	for t, d := range draws {
		if t > 0 {
			if err := p.step(ctx, g, &p.x); err != nil {
				return err
			}
		}
		for v, x := range p.x {
			p.y[t][v*p.columns+column] += float64(d * f(x))
		}
	}
	return nil
}

// step replaces x by D⁻¹A x.
func (p *propagator) step(ctx context.Context, g *graph.Graph, x *[]float64) error {
	resized(&p.z, g.N())
	for v := range p.z {
		if g.Degree(v) > 0 {
			p.z[v] = p.sum(g, v, *x) / p.total[v]
		}
	}
	*x, p.z = p.z, *x
	return ctx.Err()
}

// sum returns (A x)_v, or (A 1)_v without x, with the terms in ascending order.
func (p *propagator) sum(g *graph.Graph, v int, x []float64) float64 {
	weights := g.Weights(v)
	p.terms = p.terms[:0]
	for i, u := range g.Neighbors(v) {
		t := 1.0
		if weights != nil {
			t = weights[i]
		}
		if x != nil {
			t = float64(t * x[u])
		}
		p.terms = append(p.terms, t)
	}
	if len(p.terms) > 2 { // two terms have the same sum in both orders
		slices.Sort(p.terms)
	}
	sum := 0.0
	for _, t := range p.terms {
		sum += t
	}
	return sum
}
