package explain

import (
	"context"
	"math"
	"slices"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// products holds a function f of the values of a sum of products with some graphs H_i.
type products struct {
	sum       *kernel.FittedSum
	factors   []factor
	kernel    []float64 // k(G, H_i)
	explained Explained

	levels    []int          // of the multiscale kernel that was differentiated last
	levelLogs *kernel.Matrix // log k_ℓ(G, H_i)
}

// factor is what is known of a factor of the sum.
type factor struct {
	values   []float64           // k_j(G, H_i)
	slopes   []float64           // ∂f/∂log k_j(G, H_i)
	lowRank  *mlg.Model          // with others: a multiscale kernel and the H_i
	others   *mlg.Covariances    //
	counting baseline.Attributer // a kernel that counts vertices, fitted to the H_i
}

func (f factor) explains() bool { return f.lowRank != nil || f.counting != nil }

// add adds the next factor: its values, and the kernel fitted to the H_i.
func (p *products) add(values []float64, fitted kernel.Fitted) {
	f := factor{values: values}
	switch x := fitted.(type) {
	case *mlg.Model:
		f.lowRank, f.others = x, x.Train()
	case baseline.Attributer:
		f.counting = x
	}
	p.factors = append(p.factors, f)
}

// compare adds the next factor for one graph H.
func (p *products) compare(ctx context.Context, f *kernel.FittedFactor, g, h *graph.Graph) error {
	v, err := f.Compare(ctx, g, h)
	if err != nil {
		return err
	}
	other, err := f.Prepare([]*graph.Graph{h})
	if err != nil {
		return err
	}
	if m, ok := f.Known().(*mlg.Model); ok {
		c, err := m.Transform(ctx, other)
		p.factors = append(p.factors, factor{values: []float64{v}, lowRank: m, others: c})
		return err
	}
	k, err := f.Resolved()
	if err != nil {
		return err
	}
	fitted, err := k.Fit(ctx, other)
	p.add([]float64{v}, fitted)
	return err
}

// multiply sets what follows from the values of the factors and from the slopes ∂f/∂k(G, H_i).
func (p *products) multiply(slopes []float64) {
	p.kernel = make([]float64, len(slopes))
	for j := range p.factors {
		p.factors[j].slopes = make([]float64, len(slopes))
	}
	var all, seen float64 // absolute values of terms, and of what is explained of them
	for t, term := range p.sum.Sum.Terms {
		out := Term{Kernel: kernel.Sum{Terms: []kernel.Term{{Weight: 1, Factors: term.Factors}}}.String(), Weight: term.Weight}
		factors := p.sum.Positions(t)
		var size, share float64
		for i, c := range slopes {
			value, logs, own, count := term.Weight, 0.0, 0.0, 0
			for _, j := range factors {
				v := p.factors[j].values[i]
				value *= v
				logs -= math.Log(v)
				if p.factors[j].explains() {
					own -= math.Log(v)
					count++
				}
			}
			p.kernel[i] += value
			value *= c
			if value == 0 {
				continue
			}
			out.Value += value
			explained := float64(count) / float64(len(factors))
			if logs > 0 {
				explained = own / logs
			}
			size += math.Abs(value)
			share += math.Abs(value) * explained
			for _, j := range factors {
				p.factors[j].slopes[i] += value
			}
		}
		if size > 0 {
			out.Share = share / size
		}
		all, seen = all+size, seen+share
		p.explained.Terms = append(p.explained.Terms, out)
	}
	if all > 0 {
		p.explained.Share = seen / all
	}
}

// contributions adds up those of all factors that have some.
func (p *products) contributions(ctx context.Context, g *graph.Graph) (Contributions, error) {
	var out Contributions
	if !slices.ContainsFunc(p.factors, factor.explains) {
		return out, ErrUnexplained
	}
	for i, f := range p.factors {
		if !f.explains() {
			continue
		}
		record := p.sum.Factors[i]
		prepared, err := record.Prepare([]*graph.Graph{g})
		if err != nil {
			return out, err
		}
		toEnds := func(x []float64) []float64 {
			if record.Subdivide {
				return ends(g, x)
			}
			return x
		}
		if f.counting != nil {
			v, err := f.counting.Attribute(ctx, prepared[0], f.slopes)
			if err != nil {
				return out, err
			}
			out.Counted = addTo(out.Counted, toEnds(v))
			continue
		}
		a, err := f.lowRank.Attribute(ctx, prepared[0], 1, f.others, func([]float64) []float64 { return f.slopes })
		if err != nil {
			return out, err
		}
		p.levels, p.levelLogs = a.Levels, a.LevelLogK
		for j, l := range a.Levels {
			out.Through = addLevel(out.Through, l, toEnds(a.Through[j]))
		}
		for l, x := range a.Features {
			out.Features = addLevel(out.Features, l, toEnds(x))
		}
	}
	if len(out.Features) > 0 {
		out.Vertices = slices.Clone(out.Features[0].Vertices)
	}
	out.Vertices = addTo(out.Vertices, out.Counted)
	out.Sum = sumOf(out.Vertices)
	return out, nil
}

// ends gives the contributions of edges that have become vertices to their ends, one half each:
// an edge counts √(s_u s_v).
func ends(g *graph.Graph, values []float64) []float64 {
	out := slices.Clone(values[:g.N()])
	at := g.N()
	for e := range g.Edges() {
		out[e.U] += values[at] / 2
		out[e.V] += values[at] / 2
		at++
	}
	return out
}

func addTo(x, y []float64) []float64 {
	if x == nil && y != nil {
		x = make([]float64, len(y))
	}
	for i, v := range y {
		x[i] += v
	}
	return x
}

// addLevel adds values to those of a level in a list by ascending levels.
func addLevel(list []Level, level int, values []float64) []Level {
	at, found := slices.BinarySearchFunc(list, level, func(l Level, n int) int { return l.Level - n })
	if !found {
		list = slices.Insert(list, at, Level{Level: level})
	}
	list[at].Vertices = addTo(list[at].Vertices, values)
	list[at].Sum = sumOf(list[at].Vertices)
	return list
}
