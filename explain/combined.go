package explain

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/model"
)

// ErrUnexplained is the error of a model none of whose kernels has contributions of
// vertices.
var ErrUnexplained = errors.New("no multiscale kernel in the model, and only they have contributions of vertices")

// Explained says how much of a sum of products of kernels has contributions of vertices. The
// kernel of a stored model is
//
//	k(G, H) = Σ_t w_t Π_j k_tj(G, H),
//
// where some factors are multiscale kernels, which depend on the factors s_v of the vertices,
// and others, the baselines, count whole things, to which s_v means nothing. By the product
// rule
//
//	∂k/∂s_v = Σ_t w_t Π_j k_tj · Σ_{j multiscale} ∂log k_tj/∂s_v,
//
// the baselines being held fixed. What is left out is measured by logarithms, which add up
// over factors: the explained share of the term of one training graph is that of its
// multiscale factors in log Π_j k_tj = Σ_j log k_tj (one half of two factors that are both 1),
// and terms count by their absolute values.
type Explained struct {
	// Share is between 0, no multiscale kernel, and 1, nothing else.
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

// ModelPrediction explains f(G) for a Function of the kernel of a stored model.
type ModelPrediction struct {
	Prediction
	Explained Explained `json:"explained"`
}

// ModelDecision explains the value f(G) of a learner of a stored model. Contributions of all
// multiscale kernels in it add up, level by level. It is ErrUnexplained where there is none.
func ModelDecision(ctx context.Context, m *model.Model, g *graph.Graph, f Function) (*ModelPrediction, error) {
	if err := f.checkRange(m.Examples()); err != nil {
		return nil, err
	}
	rows := map[model.Factor][]float64{}
	for _, x := range factors(m) {
		k, err := m.CrossFactor(ctx, x, []*graph.Graph{g})
		if err != nil {
			return nil, err
		}
		rows[x] = k.Row(0)
	}
	coefficient := make([]float64, m.Examples())
	for s, i := range f.Support {
		coefficient[i] += f.Coefficients[s]
	}
	p := newProducts(m, rows, coefficient)
	out := &ModelPrediction{Explained: p.explained}
	out.Bias, out.Value = f.Bias, f.Bias
	for s, i := range f.Support {
		t := Term{Graph: i, K: p.kernel[i], Value: f.Coefficients[s] * p.kernel[i]}
		out.Terms = append(out.Terms, t)
		out.Value += t.Value
	}
	var err error
	out.Contributions, err = p.contributions(ctx, g, func(x model.Factor) (*mlg.Covariances, error) { return x.Fitted.Train(), nil })
	return out, err
}

// ModelComparison explains f = log k(G, H) for the kernel of a stored model.
type ModelComparison struct {
	K         float64       `json:"k"`
	LogK      float64       `json:"log_k"`
	G         Contributions `json:"g"`
	H         Contributions `json:"h"`
	Explained Explained     `json:"explained"`
}

// ModelSimilarity explains the similarity log k(G, H) of two graphs under the kernel of a
// stored model. It is ErrUnexplained where no kernel has contributions, and an error where
// k = 0.
func ModelSimilarity(ctx context.Context, m *model.Model, g, h *graph.Graph) (*ModelComparison, error) {
	rows := map[model.Factor][]float64{}
	for _, x := range factors(m) {
		k, err := x.Compare(ctx, g, h)
		if err != nil {
			return nil, err
		}
		rows[x] = []float64{k}
	}
	k := newProducts(m, rows, []float64{1}).kernel[0]
	if !(k > 0) {
		return nil, fmt.Errorf("the similarity is %v: its logarithm has no slope", k)
	}
	p := newProducts(m, rows, []float64{1 / k}) // ∂log k/∂k
	out := &ModelComparison{K: k, LogK: math.Log(k), Explained: p.explained}
	for i := range out.Explained.Kernels {
		out.Explained.Kernels[i].Value *= k
	}
	side := func(g, other *graph.Graph) (Contributions, error) {
		return p.contributions(ctx, g, func(x model.Factor) (*mlg.Covariances, error) {
			prepared, err := x.Prepare(other)
			if err != nil {
				return nil, err
			}
			return x.Fitted.Transform(ctx, []*graph.Graph{prepared})
		})
	}
	var err error
	if out.G, err = side(g, h); err != nil {
		return nil, err
	}
	out.H, err = side(h, g)
	return out, err
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

// products holds a function f of kernel values with some graphs H_i, given by its slopes
// c_i = ∂f/∂k(G, H_i).
type products struct {
	m         *model.Model
	kernel    []float64                  // k(G, H_i)
	slopes    map[model.Factor][]float64 // ∂f/∂log k_j(G, H_i) of multiscale factors
	explained Explained
}

func newProducts(m *model.Model, rows map[model.Factor][]float64, c []float64) *products {
	p := &products{m: m, kernel: make([]float64, len(c)), slopes: map[model.Factor][]float64{}}
	var all, seen float64 // absolute values of terms, and of what is explained of them
	for _, k := range m.Kernels {
		part := KernelPart{Kernel: k.String(), Weight: k.Weight}
		var size, share float64
		for i := range c {
			term, logs, multiscale, count := k.Weight, 0.0, 0.0, 0
			for _, f := range k.Factors {
				v := rows[f][i]
				term *= v
				logs -= math.Log(v)
				if f.Fitted != nil {
					multiscale -= math.Log(v)
					count++
				}
			}
			p.kernel[i] += term
			term *= c[i]
			if term == 0 {
				continue
			}
			part.Value += term
			of := float64(count) / float64(len(k.Factors))
			if logs > 0 {
				of = multiscale / logs
			}
			size += math.Abs(term)
			share += math.Abs(term) * of
			for _, f := range k.Factors {
				if f.Fitted != nil {
					if p.slopes[f] == nil {
						p.slopes[f] = make([]float64, len(c))
					}
					p.slopes[f][i] += term
				}
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
	return p
}

// contributions adds up those of all multiscale factors.
func (p *products) contributions(ctx context.Context, g *graph.Graph, others func(model.Factor) (*mlg.Covariances, error)) (Contributions, error) {
	var out Contributions
	found := false
	for _, f := range factors(p.m) {
		if f.Fitted == nil {
			continue
		}
		found = true
		prepared, err := f.Prepare(g)
		if err != nil {
			return out, err
		}
		c, err := others(f)
		if err != nil {
			return out, err
		}
		slopes := p.slopes[f]
		if slopes == nil { // all of its terms are 0
			slopes = make([]float64, c.Len())
		}
		a, err := f.Fitted.Attribute(ctx, prepared, c, func([]float64) []float64 { return slopes })
		if err != nil {
			return out, err
		}
		out.add(contributions(a))
	}
	if !found {
		return out, ErrUnexplained
	}
	return out, nil
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
