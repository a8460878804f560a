package baseline

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// levelled is a kernel that adds up a base kernel b over levels of graphs,
//
//	k(G, G') = Σ_i b(G_i, G'_i).
//
// Level i of a graph, G_i, is the graph with other labels, or a part of it. A graph may have fewer
// levels than others. The sum is over those that both have.
type levelled struct {
	base      string // text of the base kernel; its values are not normalised
	normalize bool
	levels    levels
}

// levels makes levels of graphs. Those of a new graph may depend on what fit has seen of the
// training graphs.
type levels interface {
	fit(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) // by graph and level
	apply(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error)
}

// baseKernel returns the base kernel of a text, raw.
func baseKernel(text string) (kernel.Kernel, error) {
	k, err := kernel.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, ok := k.(kernel.Resolver); !ok {
		return nil, fmt.Errorf("%s cannot be a base kernel, because its values depend on the collection that it is fitted to", k.Name())
	}
	for _, p := range kernel.Parameters(k) {
		if p.Name == "normalize" {
			return kernel.With(k, "normalize", "false")
		}
	}
	return k, nil // normalised by its definition
}

// checkBase validates a kernel that has a base kernel.
func checkBase(k kernel.Kernel, base string) error {
	if err := kernel.Check(k); err != nil {
		return err
	}
	if _, err := baseKernel(base); err != nil {
		return fmt.Errorf("%s: base = %q: %w", k.Name(), base, err)
	}
	return nil
}

// fittedLevels is a levelled kernel that is fitted to training graphs.
type fittedLevels struct {
	levelled
	name  string // of the kernel, for errors
	level []fittedLevel
	self  []float64 // by training graph: its kernel with itself, not normalised
}

// fittedLevel is the base kernel on the graphs that have a level.
type fittedLevel struct {
	rawFitted
	members []int // of the training graphs, ascending
}

// rawFitted is a fitted kernel of this package.
type rawFitted interface {
	kernel.Fitted
	Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error)
}

// fitLevels fits the base kernel of a kernel to every level.
func fitLevels(ctx context.Context, k kernel.Kernel, l levelled, graphs []*graph.Graph) (kernel.Fitted, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	raw, err := baseKernel(l.base)
	if err != nil {
		return nil, err
	}
	f := &fittedLevels{levelled: l, name: k.Name(), self: make([]float64, len(graphs))}
	of, err := l.levels.fit(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	err = f.eachLevel(of, func(i int, members []int, graphs []*graph.Graph) error {
		level, err := fitRaw(ctx, raw, members, graphs)
		if err != nil {
			return err
		}
		f.level = append(f.level, level)
		return level.addSelf(ctx, members, graphs, f.self)
	})
	if err == nil && len(f.level) == 0 { // for new graphs
		f.level = make([]fittedLevel, 1)
		f.level[0], err = fitRaw(ctx, raw, nil, nil)
	}
	return f, err
}

// fitRaw fits the base kernel to the graphs that have a level.
func fitRaw(ctx context.Context, raw kernel.Kernel, members []int, graphs []*graph.Graph) (fittedLevel, error) {
	fitted, err := raw.Fit(ctx, graphs)
	if err != nil {
		return fittedLevel{}, err
	}
	base, ok := fitted.(rawFitted)
	if !ok {
		return fittedLevel{}, fmt.Errorf("%s cannot be a base kernel, because it does not give the value of a graph with itself", raw.Name())
	}
	return fittedLevel{base, members}, nil
}

// eachLevel calls work with the graphs that have level i, and their positions.
func (f *fittedLevels) eachLevel(of [][]*graph.Graph, work func(i int, members []int, graphs []*graph.Graph) error) error {
	most := 0
	for _, levels := range of {
		most = max(most, len(levels))
	}
	for i := range most {
		var members []int
		var graphs []*graph.Graph
		for g, levels := range of {
			if i < len(levels) {
				members, graphs = append(members, g), append(graphs, levels[i])
			}
		}
		if err := work(i, members, graphs); err != nil {
			return fmt.Errorf("%s: level %d: %w", f.name, i, err)
		}
	}
	return nil
}

// addSelf adds the base kernels of graphs with themselves.
func (l fittedLevel) addSelf(ctx context.Context, members []int, graphs []*graph.Graph, to []float64) error {
	d, err := l.Diagonal(ctx, graphs)
	for i, v := range d {
		to[members[i]] += v
	}
	return err
}

// Gram returns the kernel matrix of the training graphs.
func (f *fittedLevels) Gram(ctx context.Context) (*kernel.Matrix, error) {
	out := kernel.NewMatrix(len(f.self), len(f.self))
	for _, level := range f.level {
		m, err := level.Gram(ctx)
		if err != nil {
			return nil, err
		}
		add(out, m, level.members, level.members)
	}
	f.scale(out, f.self)
	return out, ctx.Err()
}

// Cross returns the kernel matrix between graphs (rows) and the training graphs (columns).
func (f *fittedLevels) Cross(ctx context.Context, graphs []*graph.Graph) (*kernel.Matrix, error) {
	out, self := kernel.NewMatrix(len(graphs), len(f.self)), make([]float64, len(graphs))
	err := f.eachNew(ctx, graphs, self, func(level fittedLevel, members []int, graphs []*graph.Graph) error {
		m, err := level.Cross(ctx, graphs)
		if err == nil {
			add(out, m, members, level.members)
		}
		return err
	})
	f.scale(out, self)
	return out, err
}

// Diagonal returns the kernel of every graph with itself, before normalisation.
func (f *fittedLevels) Diagonal(ctx context.Context, graphs []*graph.Graph) ([]float64, error) {
	self := make([]float64, len(graphs))
	return self, f.eachNew(ctx, graphs, self, func(fittedLevel, []int, []*graph.Graph) error { return nil })
}

// eachNew calls work with every level that training graphs have too, and adds the kernels of new
// graphs with themselves. In a level that no training graph has, these come from the fit of the
// first level, whose values are the same.
func (f *fittedLevels) eachNew(ctx context.Context, graphs []*graph.Graph, self []float64,
	work func(level fittedLevel, members []int, graphs []*graph.Graph) error) error {
	of, err := f.levels.apply(ctx, graphs)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return f.eachLevel(of, func(i int, members []int, graphs []*graph.Graph) error {
		level := f.level[0]
		if i < len(f.level) {
			level = f.level[i]
			if err := work(level, members, graphs); err != nil {
				return err
			}
		}
		return level.addSelf(ctx, members, graphs, self)
	})
}

// add adds the values of some rows and columns.
func add(to, values *kernel.Matrix, rows, cols []int) {
	for i, r := range rows {
		row := to.Row(r)
		for j, v := range values.Row(i) {
			row[cols[j]] += v
		}
	}
}

// scale normalises values, where that is wanted.
func (f *fittedLevels) scale(m *kernel.Matrix, self []float64) {
	if !f.normalize {
		return
	}
	for i := range m.Rows {
		row := m.Row(i)
		for j, v := range row {
			row[j] = normalized(v, self[i], f.self[j])
		}
	}
}
