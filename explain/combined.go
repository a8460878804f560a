package explain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// ErrUnexplained is the error of a model none of whose kernels has contributions of
// vertices.
var ErrUnexplained = errors.New("no kernel in the model has contributions of vertices: want a multiscale kernel, wl, wl-oa or labels")

// Explained says how much of a sum of products of kernels has contributions of vertices. The
// kernel of a stored model is
//
//	k(G, H) = Σ_t w_t Π_j k_tj(G, H).
//
// Multiscale kernels depend on the factors s_v of the vertices' base features, kernels that
// count vertices (baseline.Attributer) on factors s_v by which they count; other baselines
// count larger things, to which s_v means nothing, and are held fixed. By the product rule
//
//	∂k/∂s_v = Σ_t w_t Π_j k_tj · Σ_j ∂log k_tj/∂s_v,
//
// j running over the factors that depend on s_v. What is left out is measured by logarithms,
// which add up over factors: the explained share of the term of one training graph is that
// of these factors in log Π_j k_tj = Σ_j log k_tj (one half for one of two factors that are
// both 1), and terms count by their absolute values. Where a kernel sees edges as vertices, an
// edge counts √(s_u s_v).
type Explained struct {
	// Share is between 0, nothing explained, and 1, all.
	Share   float64      `json:"share"`
	Kernels []KernelPart `json:"kernels"`
}

// KernelPart is one kernel of the sum.
type KernelPart struct {
	Kernel string  `json:"kernel"`
	Weight float64 `json:"weight"`
	// Value is what the kernel adds to f without the bias, or to k for a similarity.
	Value float64 `json:"value"`
	Share float64 `json:"share"` // explained
}

// ModelContributions are contributions under a sum of products. The parts of Through and
// Counted add up to Vertices; Features are those of the multiscale kernels alone.
type ModelContributions struct {
	Contributions
	// Counted is the part that comes from kernels that count vertices, nil for none.
	Counted []float64 `json:"counted,omitempty"`
}

// ModelPrediction explains f(G) for a Function of the kernel of a stored model.
type ModelPrediction struct {
	Value float64 `json:"value"`
	Bias  float64 `json:"bias"`
	// Terms has the terms of the sum, one for each of Support: Value is Bias and their sum.
	Terms []Term `json:"terms"`
	ModelContributions
	Explained Explained `json:"explained"`
}

// ModelDecision explains the value f(G) of a learner of a stored model. Contributions of all
// kernels that have some add up, those of multiscale kernels level by level. It is
// ErrUnexplained where there is none.
func ModelDecision(ctx context.Context, m *model.Model, g *graph.Graph, f Function) (*ModelPrediction, error) {
	if err := f.checkRange(m.Examples()); err != nil {
		return nil, err
	}
	p := newProducts(m, m.Examples())
	for s, i := range f.Support {
		p.slope[i] += f.Coefficients[s]
	}
	for _, x := range p.factors {
		k, err := m.CrossFactor(ctx, x, []*graph.Graph{g})
		if err != nil {
			return nil, err
		}
		var fitted mlg.Fitted
		if x.Baseline != nil {
			if fitted, err = m.FitBaseline(ctx, x); err != nil {
				return nil, err
			}
		}
		p.set(x, k.Row(0), fitted)
	}
	p.multiply()
	out := &ModelPrediction{Bias: f.Bias, Value: f.Bias, Explained: p.explained}
	for s, i := range f.Support {
		t := Term{Graph: i, K: p.kernel[i], Value: f.Coefficients[s] * p.kernel[i]}
		out.Terms = append(out.Terms, t)
		out.Value += t.Value
	}
	var err error
	out.ModelContributions, err = p.contributions(ctx, g, func(x model.Factor) (*mlg.Covariances, error) { return x.Fitted.Train(), nil })
	return out, err
}

// ModelComparison explains f = log k(G, H) for the kernel of a stored model.
type ModelComparison struct {
	K         float64            `json:"k"`
	LogK      float64            `json:"log_k"`
	G         ModelContributions `json:"g"`
	H         ModelContributions `json:"h"`
	Explained Explained          `json:"explained"`
}

// ModelSimilarity explains the similarity log k(G, H) of two graphs under the kernel of a
// stored model. It is ErrUnexplained where no kernel has contributions, and an error where
// k = 0.
func ModelSimilarity(ctx context.Context, m *model.Model, g, h *graph.Graph) (*ModelComparison, error) {
	k, err := m.Compare(ctx, g, h)
	if err != nil {
		return nil, err
	}
	if !(k > 0) {
		return nil, fmt.Errorf("the similarity is %v: its logarithm has no slope", k)
	}
	out := &ModelComparison{K: k, LogK: math.Log(k)}
	side := func(g, other *graph.Graph) (ModelContributions, error) {
		p := newProducts(m, 1)
		p.slope[0] = 1 / k // ∂log k/∂k
		for _, x := range p.factors {
			v, err := x.Compare(ctx, g, other)
			if err != nil {
				return ModelContributions{}, err
			}
			var fitted mlg.Fitted
			if x.Baseline != nil {
				prepared, err := x.Prepare(other)
				if err != nil {
					return ModelContributions{}, err
				}
				if fitted, err = x.Baseline.Kernel().Fit(ctx, []*graph.Graph{prepared}); err != nil {
					return ModelContributions{}, err
				}
			}
			p.set(x, []float64{v}, fitted)
		}
		p.multiply()
		out.Explained = p.explained
		return p.contributions(ctx, g, func(x model.Factor) (*mlg.Covariances, error) {
			prepared, err := x.Prepare(other)
			if err != nil {
				return nil, err
			}
			return x.Fitted.Transform(ctx, []*graph.Graph{prepared})
		})
	}
	if out.G, err = side(g, h); err != nil {
		return nil, err
	}
	if out.H, err = side(h, g); err != nil {
		return nil, err
	}
	for i := range out.Explained.Kernels {
		out.Explained.Kernels[i].Value *= k
	}
	return out, nil
}

// factors returns the different factors of a model, in their order.
func factors(m *model.Model) []model.Factor {
	var out []model.Factor
	seen := map[model.Factor]bool{}
	for _, k := range m.Kernels {
		for _, f := range k.Factors {
			if !seen[f] {
				seen[f] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// products holds a function f of kernel values with some graphs H_i.
type products struct {
	m         *model.Model
	factors   []model.Factor
	values    map[model.Factor][]float64           // k_j(G, H_i)
	counts    map[model.Factor]baseline.Attributer // fitted to the H_i
	slope     []float64                            // ∂f/∂k(G, H_i)
	kernel    []float64                            // k(G, H_i)
	slopes    map[model.Factor][]float64           // ∂f/∂log k_j(G, H_i)
	explained Explained
}

func newProducts(m *model.Model, n int) *products {
	return &products{m: m, factors: factors(m), values: map[model.Factor][]float64{}, counts: map[model.Factor]baseline.Attributer{},
		slope: make([]float64, n), kernel: make([]float64, n), slopes: map[model.Factor][]float64{}}
}

// set says what is known of a factor: its values, and a baseline fitted to the H_i.
func (p *products) set(f model.Factor, values []float64, fitted mlg.Fitted) {
	p.values[f] = values
	if a, ok := fitted.(baseline.Attributer); ok {
		p.counts[f] = a
	}
}

// explains reports whether a factor has contributions of vertices.
func (p *products) explains(f model.Factor) bool { return f.Fitted != nil || p.counts[f] != nil }

// multiply sets what follows from values and slope.
func (p *products) multiply() {
	for _, f := range p.factors {
		p.slopes[f] = make([]float64, len(p.slope))
	}
	var all, seen float64 // absolute values of terms, and of what is explained of them
	for _, k := range p.m.Kernels {
		part := KernelPart{Kernel: k.String(), Weight: k.Weight}
		var size, share float64
		for i, c := range p.slope {
			term, logs, own, count := k.Weight, 0.0, 0.0, 0
			for _, f := range k.Factors {
				v := p.values[f][i]
				term *= v
				logs -= math.Log(v)
				if p.explains(f) {
					own -= math.Log(v)
					count++
				}
			}
			p.kernel[i] += term
			term *= c
			if term == 0 {
				continue
			}
			part.Value += term
			of := float64(count) / float64(len(k.Factors))
			if logs > 0 {
				of = own / logs
			}
			size += math.Abs(term)
			share += math.Abs(term) * of
			for _, f := range k.Factors {
				p.slopes[f][i] += term
			}
		}
		if size > 0 {
			part.Share = share / size
		}
		all, seen = all+size, seen+share
		p.explained.Kernels = append(p.explained.Kernels, part)
	}
	if all > 0 {
		p.explained.Share = seen / all
	}
}

// contributions adds up those of all factors that have some.
func (p *products) contributions(ctx context.Context, g *graph.Graph, others func(model.Factor) (*mlg.Covariances, error)) (ModelContributions, error) {
	var out ModelContributions
	found := false
	for _, f := range p.factors {
		if !p.explains(f) {
			continue
		}
		found = true
		prepared, err := f.Prepare(g)
		if err != nil {
			return out, err
		}
		if a := p.counts[f]; a != nil {
			v, err := a.Attribute(ctx, prepared, p.slopes[f])
			if err != nil {
				return out, err
			}
			v = ends(g, f, v)
			out.Vertices, out.Counted = addTo(out.Vertices, v), addTo(out.Counted, v)
			for _, x := range v {
				out.Sum += x
			}
			continue
		}
		c, err := others(f)
		if err != nil {
			return out, err
		}
		a, err := f.Fitted.Attribute(ctx, prepared, c, func([]float64) []float64 { return p.slopes[f] })
		if err != nil {
			return out, err
		}
		part := contributions(a)
		part.Vertices, part.Sum = ends(g, f, part.Vertices), 0
		for _, x := range part.Vertices {
			part.Sum += x
		}
		for _, levels := range [][]Level{part.Through, part.Features} {
			for i, l := range levels {
				levels[i] = newLevel(l.Level, ends(g, f, l.Vertices))
			}
		}
		out.add(part)
	}
	if !found {
		return out, ErrUnexplained
	}
	return out, nil
}

// ends gives the contributions of edges, where a factor has made vertices of them, to their
// ends, one half each: an edge counts √(s_u s_v).
func ends(g *graph.Graph, f model.Factor, values []float64) []float64 {
	if !f.Subdivided {
		return values
	}
	out := slices.Clone(values[:g.N()])
	at := g.N()
	for e := range g.Edges() {
		out[e.U] += values[at] / 2
		out[e.V] += values[at] / 2
		at++
	}
	return out
}

// add adds contributions of the same vertices, level by level.
func (c *Contributions) add(d Contributions) {
	c.Vertices = addTo(c.Vertices, d.Vertices)
	c.Sum += d.Sum
	c.Through = addLevels(c.Through, d.Through)
	c.Features = addLevels(c.Features, d.Features)
}

func addTo(x, y []float64) []float64 {
	if x == nil {
		x = make([]float64, len(y))
	}
	for i, v := range y {
		x[i] += v
	}
	return x
}

// addLevels adds lists in ascending order of levels.
func addLevels(x, y []Level) []Level {
	for _, l := range y {
		at := 0
		for at < len(x) && x[at].Level < l.Level {
			at++
		}
		if at == len(x) || x[at].Level != l.Level {
			x = append(x, Level{})
			copy(x[at+1:], x[at:])
			x[at] = Level{Level: l.Level}
		}
		x[at].Vertices = addTo(x[at].Vertices, l.Vertices)
		x[at].Sum += l.Sum
	}
	return x
}
