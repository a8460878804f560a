package classic

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/work"
)

// levelled is a kernel that adds up a base kernel b over levels of graphs,
//
//	k(G, G') = Σ_i b(G_i, G'_i).
//
// Level i of a graph, G_i, is the graph with other labels, or a part of it. A graph may have fewer
// levels than others. The sum is over those that both have.
type levelled struct {
	kernel.Kernel
	base      string // text of the base kernel; its values are not normalised
	normalize bool
	levels    leveller
}

// leveller makes levels of graphs. Those of a new graph depend on what the training graphs decide.
type leveller interface {
	fit(graphs []*graph.Graph) error
	levels(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) // by graph and level
	appendBinary(b []byte) []byte
	decode(data []byte) error
}

// baseKernel returns the base kernel of a text, raw.
func baseKernel(text string) (kernel.Kernel, error) {
	k, err := kernel.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, ok := k.(kernel.Sum); ok {
		return nil, errors.New("a base kernel is one kernel without a form, not a sum or product")
	}
	if _, ok := k.(kernel.Resolver); !ok {
		return nil, fmt.Errorf("%s cannot be a base kernel, because its values depend on the collection that it is fitted to", k.Name())
	}
	for _, p := range param.Of(k) {
		if p.Name == "normalize" {
			return kernel.With(k, "normalize", "false")
		}
	}
	return k, nil // normalised by its definition
}

// stretched returns the text of a base kernel with radii and steps some times as long. What is wrong with
// it, checkBase says.
func stretched(base string, times int) string {
	k, err := kernel.Parse(base)
	if d, ok := k.(kernel.Directional); ok && err == nil {
		longer, _ := d.Stretch(times)
		return longer.String()
	}
	return base
}

// checkBase validates a kernel that has a base kernel.
func checkBase(k kernel.Kernel, base string) error {
	if err := kernel.Check(k); err != nil {
		return err
	}
	if _, err := baseKernel(base); err != nil {
		return param.Wrong(k.Name(), k, "base", "a kernel", err)
	}
	return nil
}

// levelMap is the map of a levelled kernel. The base kernel has one map for all levels.
type levelMap struct {
	levelled
	base kernel.Map
}

var _ kernel.Map = (*levelMap)(nil)

// levelFeatures are the features of graphs by level.
type levelFeatures struct {
	level []levelOf
	self  []float64 // by graph: its kernel with itself, not normalised
}

// levelOf has the features of one level of the graphs that have it, under the base kernel.
type levelOf struct {
	kernel.Features
	members []int // the graphs, ascending
}

// fitLevels fits the base kernel to the first level, which all graphs have that have others.
func fitLevels(ctx context.Context, l levelled, graphs []*graph.Graph) (*kernel.Fitted, error) {
	raw, err := l.validBase()
	if err != nil {
		return nil, err
	}
	if err := l.levels.fit(graphs); err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name(), err)
	}
	of, err := l.levels.levels(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name(), err)
	}
	var first []*graph.Graph
	for _, levels := range of {
		first = append(first, levels[:min(1, len(levels))]...)
	}
	base, err := raw.Fit(ctx, first)
	if err != nil {
		return nil, fmt.Errorf("%s: level 0: %w", l.Name(), err)
	}
	m := &levelMap{l, base.Map}
	train, err := m.features(ctx, of, base.Train)
	if err != nil {
		return nil, err
	}
	return &kernel.Fitted{Map: m, Train: train}, nil
}

// validBase validates the kernel and returns its base kernel.
func (l levelled) validBase() (kernel.Kernel, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return baseKernel(l.base)
}

// decodeLevels returns the map that AppendBinary wrote.
func decodeLevels(l levelled, data []byte) (kernel.Map, error) {
	raw, err := l.validBase()
	if err != nil {
		return nil, err
	}
	r := reader{data: data}
	own, base := r.section(), r.section()
	if r.end(); r.err == nil {
		r.err = l.levels.decode(own)
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name(), r.err)
	}
	of, err := raw.Decode(base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name(), err)
	}
	return &levelMap{l, of}, nil
}

// AppendBinary implements kernel.Map: what the training graphs decided, and the map of the base
// kernel.
func (m *levelMap) AppendBinary(b []byte) ([]byte, error) {
	base, err := m.base.AppendBinary(nil)
	return kernel.AppendSection(kernel.AppendSection(b, m.levels.appendBinary(nil)), base), err
}

// Transform implements kernel.Map.
func (m *levelMap) Transform(ctx context.Context, graphs []*graph.Graph) (kernel.Features, error) {
	of, err := m.levels.levels(ctx, graphs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	out, err := m.features(ctx, of, nil)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// features returns the features of graphs, given their levels and, where they are known, the features
// of the first one.
func (m *levelMap) features(ctx context.Context, of [][]*graph.Graph, first kernel.Features) (*levelFeatures, error) {
	out := &levelFeatures{self: make([]float64, len(of))}
	for i := 0; ; i++ {
		var level levelOf
		var graphs []*graph.Graph
		for g, levels := range of {
			if i < len(levels) {
				level.members, graphs = append(level.members, g), append(graphs, levels[i])
			}
		}
		if len(graphs) == 0 {
			return out, ctx.Err()
		}
		level.Features = first
		if i > 0 || first == nil {
			var err error
			if level.Features, err = m.base.Transform(ctx, graphs); err != nil {
				return nil, fmt.Errorf("%s: level %d: %w", m.Name(), i, err)
			}
		}
		if err := m.add(ctx, out, level); err != nil {
			return nil, err
		}
	}
}

// add appends a level, and adds the base kernels of its graphs with themselves.
func (m *levelMap) add(ctx context.Context, to *levelFeatures, level levelOf) error {
	self, err := diagonal(ctx, m.base, level.Features)
	for k, g := range level.members {
		to.self[g] += self[k]
	}
	to.level = append(to.level, level)
	return err
}

// diagonal returns the kernel of every graph with itself, which is not normalised.
func diagonal(ctx context.Context, m kernel.Map, a kernel.Features) ([]float64, error) {
	if d, ok := m.(interface {
		Diagonal(a kernel.Features) []float64
	}); ok {
		return d.Diagonal(a), nil
	}
	return kernel.Self(ctx, m, a)
}

// Fill implements kernel.Map.
func (m *levelMap) Fill(ctx context.Context, dst []float64, stride int, b kernel.Block) error {
	x, y := b.A.(*levelFeatures), b.B.(*levelFeatures)
	width := b.J1 - b.J0
	for i := range b.I1 - b.I0 {
		clear(dst[i*stride:][:width])
	}
	var values []float64
	for l := range min(len(x.level), len(y.level)) {
		part, rows, cols := levelBlock(x.level[l], y.level[l], b)
		if len(rows) == 0 || len(cols) == 0 {
			continue
		}
		resized(&values, len(rows)*len(cols))
		if err := m.base.Fill(ctx, values, len(cols), part); err != nil {
			return err
		}
		for i, r := range rows {
			to := dst[(r-b.I0)*stride:]
			for j, c := range cols {
				to[c-b.J0] += values[i*len(cols)+j]
			}
		}
	}
	for i := b.I0; i < b.I1 && m.normalize; i++ {
		normalize(dst[(i-b.I0)*stride:][:width], x.self[i], y.self[b.J0:])
	}
	return ctx.Err()
}

// levelBlock returns the block of a level, and the graphs that are its rows and columns.
func levelBlock(x, y levelOf, b kernel.Block) (part kernel.Block, rows, cols []int) {
	i0, i1 := x.between(b.I0, b.I1)
	j0, j1 := y.between(b.J0, b.J1)
	part = kernel.Block{A: x.Features, I0: i0, I1: i1, B: y.Features, J0: j0, J1: j1}
	return part, x.members[i0:i1], y.members[j0:j1]
}

// between returns the range of the members from lo to hi.
func (l levelOf) between(lo, hi int) (from, to int) {
	from, _ = slices.BinarySearch(l.members, lo)
	to, _ = slices.BinarySearch(l.members, hi)
	return from, to
}

// Join implements kernel.Map.
func (m *levelMap) Join(parts ...kernel.Features) kernel.Features {
	out := &levelFeatures{}
	most := 0
	for _, p := range parts {
		out.self = append(out.self, p.(*levelFeatures).self...)
		most = max(most, len(p.(*levelFeatures).level))
	}
	for l := range most {
		var of []kernel.Features
		var level levelOf
		first := 0
		for _, p := range parts {
			x := p.(*levelFeatures)
			if l < len(x.level) {
				of = append(of, x.level[l].Features)
				for _, g := range x.level[l].members {
					level.members = append(level.members, first+g)
				}
			}
			first += x.Len()
		}
		level.Features = m.base.Join(of...)
		out.level = append(out.level, level)
	}
	return out
}

// Diagonal returns the kernel of every graph with itself, before normalisation.
func (m *levelMap) Diagonal(a kernel.Features) []float64 { return a.(*levelFeatures).self }

// Len implements kernel.Features.
func (x *levelFeatures) Len() int { return len(x.self) }

// Select implements kernel.Features.
func (x *levelFeatures) Select(at []int) kernel.Features {
	out := &levelFeatures{self: make([]float64, len(at))}
	for k, i := range at {
		out.self[k] = x.self[i]
	}
	for _, l := range x.level {
		var level levelOf
		var places []int
		for k, i := range at {
			if place, ok := slices.BinarySearch(l.members, i); ok {
				level.members, places = append(level.members, k), append(places, place)
			}
		}
		if len(places) == 0 { // and none has a level above
			break
		}
		level.Features = l.Features.Select(places)
		out.level = append(out.level, level)
	}
	return out
}

// AppendBinary implements kernel.Features: the number of graphs, how many levels each of them has,
// and the features of every level.
func (x *levelFeatures) AppendBinary(b []byte) ([]byte, error) {
	levels := make([]int, x.Len())
	for _, l := range x.level {
		for _, g := range l.members {
			levels[g]++
		}
	}
	b = binary.AppendUvarint(b, uint64(len(levels)))
	for _, n := range levels {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, l := range x.level {
		data, err := l.Features.AppendBinary(nil)
		if err != nil {
			return nil, err
		}
		b = kernel.AppendSection(b, data)
	}
	return b, nil
}

// DecodeFeatures implements kernel.Map.
func (m *levelMap) DecodeFeatures(data []byte) (kernel.Features, error) {
	r := reader{data: data}
	levels := make([]uint64, r.size(1))
	for g := range levels {
		levels[g] = r.uvarint()
	}
	x := &levelFeatures{self: make([]float64, len(levels))}
	for r.err == nil && len(r.data) > 0 {
		level := levelOf{}
		if level.Features, r.err = m.base.DecodeFeatures(r.section()); r.err != nil {
			break
		}
		for g, n := range levels {
			if n > uint64(len(x.level)) && len(level.members) <= level.Len() {
				level.members = append(level.members, g)
			}
		}
		if n := len(level.members); n == 0 || n != level.Len() {
			r.fail(fmt.Errorf("level %d has features of %d graphs, want %d or more", len(x.level), level.Len(), n))
			break
		}
		r.err = m.add(context.Background(), x, level)
	}
	if len(levels) > 0 && slices.Max(levels) != uint64(len(x.level)) {
		r.fail(fmt.Errorf("%d levels, want %d", len(x.level), slices.Max(levels)))
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), r.err)
	}
	return x, nil
}

// refinedGraphs are levels of graphs whose labels are colours.
type refinedGraphs struct{ colouring }

// refinements returns the levels of h refinements; see recipe for sign.
func refinements(labels Labelling, h int, sign func() signFunc) *refinedGraphs {
	return &refinedGraphs{colouring{wanted: labels, h: h, signer: sign}}
}

func (r *refinedGraphs) levels(ctx context.Context, graphs []*graph.Graph) ([][]*graph.Graph, error) {
	c, err := r.forNew(graphs)
	if err != nil {
		return nil, err
	}
	out := make([][]*graph.Graph, len(graphs))
	painters := make([]*painter, work.Workers(ctx))
	return out, work.Each(ctx, len(graphs), 16, func(w, i int) error {
		if painters[w] == nil {
			painters[w] = c.painter()
		}
		g, err := painters[w].paint(ctx, graphs[i])
		if err != nil {
			return graphError(i, err)
		}
		out[i] = make([]*graph.Graph, len(g.colours))
		for l, colours := range g.colours {
			texts := make([]string, len(colours))
			for v, c := range colours {
				texts[v] = strconv.FormatUint(c, 36)
			}
			out[i][l] = g.Relabel(texts)
		}
		return nil
	})
}
