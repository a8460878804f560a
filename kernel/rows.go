package kernel

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mlgkernel/mlg/graph"
)

// ofRows is the map of a kernel on one part of the rows of a table, such as the solvent (Form.Of). Equal parts
// of several rows are transformed and compared once. A part that is missing is like other missing ones,
// with the value 1, and unlike all others, with the value 0.
type ofRows struct{ Map }

// ofWholeRows is such a map whose kernel is Whole.
type ofWholeRows struct{ ofRows }

func (ofWholeRows) Whole() {}

// rowFeatures are the features of different parts, and which of these the rows have.
type rowFeatures struct {
	distinct Features
	at       []int32 // by row; −1 for a part that is missing
}

// mapOfRows returns the map of a kernel on parts of rows.
func mapOfRows(m Map) Map {
	if _, whole := m.(Whole); whole {
		return ofWholeRows{ofRows{m}}
	}
	return ofRows{m}
}

// PartsOf returns, for the map of a kernel on a part of rows, that of the kernel on the parts themselves, their
// features, and the rows that have one. It reports whether the map is of that kind.
func PartsOf(m Map, a Features) (inner Map, parts Features, rows []int, ok bool) {
	if whole, is := m.(ofWholeRows); is {
		m = whole.ofRows
	}
	of, ok := m.(ofRows)
	if !ok {
		return nil, nil, nil, false
	}
	x := a.(*rowFeatures)
	var at []int
	for i, k := range x.at {
		if k >= 0 {
			at, rows = append(at, int(k)), append(rows, i)
		}
	}
	return of.Map, x.distinct.Select(at), rows, true
}

// distinctParts returns the different ones of some parts, and which of these each is.
func distinctParts(parts []*graph.Graph) (distinct []*graph.Graph, at []int32) {
	known, same := map[*graph.Graph]int32{}, map[string]int32{}
	for _, g := range parts {
		k, seen := known[g]
		if !seen {
			k = -1
			if g.N() > 0 {
				key := string(graph.Encode([]*graph.Graph{g.With("", "")}))
				if k, seen = same[key]; !seen {
					k = int32(len(distinct))
					same[key], distinct = k, append(distinct, g)
				}
			}
			known[g] = k
		}
		at = append(at, k)
	}
	return distinct, at
}

// fitRows fits a kernel to the different ones of some parts.
func fitRows(ctx context.Context, k Kernel, parts []*graph.Graph) (*Fitted, error) {
	distinct, at := distinctParts(parts)
	fitted, err := k.Fit(ctx, distinct)
	if err != nil {
		return nil, err
	}
	return &Fitted{mapOfRows(fitted.Map), &rowFeatures{fitted.Train, at}}, nil
}

// Transform implements Map.
func (m ofRows) Transform(ctx context.Context, parts []*graph.Graph) (Features, error) {
	distinct, at := distinctParts(parts)
	a, err := m.Map.Transform(ctx, distinct)
	return &rowFeatures{a, at}, err
}

// Fill implements Map.
func (m ofRows) Fill(ctx context.Context, dst []float64, stride int, b Block) error {
	x, y := b.A.(*rowFeatures), b.B.(*rowFeatures)
	rows, ofRow := some(x.at[b.I0:b.I1])
	cols, ofCol := rows, ofRow
	inner := Block{A: x.distinct.Select(rows), I1: len(rows)}
	if inner.B = inner.A; !b.Square() {
		cols, ofCol = some(y.at[b.J0:b.J1])
		inner.B = y.distinct.Select(cols)
	}
	inner.J1 = len(cols)
	values := takeBuffer(len(rows) * len(cols))
	defer buffers.Put(values)
	if len(rows) > 0 && len(cols) > 0 {
		if err := m.Map.Fill(ctx, *values, len(cols), inner); err != nil {
			return err
		}
	}
	for i, r := range ofRow {
		to := dst[i*stride:][:len(ofCol)]
		for j, c := range ofCol {
			switch {
			case r >= 0 && c >= 0:
				to[j] = (*values)[int(r)*len(cols)+int(c)]
			case r == c:
				to[j] = 1
			default:
				to[j] = 0
			}
		}
	}
	return nil
}

// some returns which different parts some rows have, and for each row which of these; −1 for none.
func some(at []int32) (distinct []int, of []int32) {
	known := map[int32]int32{-1: -1}
	for _, k := range at {
		i, seen := known[k]
		if !seen {
			i = int32(len(distinct))
			known[k], distinct = i, append(distinct, int(k))
		}
		of = append(of, i)
	}
	return distinct, of
}

// Join implements Map.
func (m ofRows) Join(parts ...Features) Features {
	out := &rowFeatures{}
	var all []Features
	n := int32(0)
	for _, p := range parts {
		x := p.(*rowFeatures)
		all = append(all, x.distinct)
		for _, k := range x.at {
			if k >= 0 {
				k += n
			}
			out.at = append(out.at, k)
		}
		n += int32(x.distinct.Len())
	}
	out.distinct = m.Map.Join(all...)
	return out
}

// Len implements Features.
func (x *rowFeatures) Len() int { return len(x.at) }

// Select implements Features.
func (x *rowFeatures) Select(at []int) Features {
	out := &rowFeatures{x.distinct, make([]int32, len(at))}
	for k, i := range at {
		out.at[k] = x.at[i]
	}
	return out
}

// AppendBinary implements Features: the parts that rows have, and then those of each row.
func (x *rowFeatures) AppendBinary(b []byte) ([]byte, error) {
	distinct, of := some(x.at)
	data, err := x.distinct.Select(distinct).AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	b = AppendSection(b, data)
	for _, k := range of {
		b = binary.LittleEndian.AppendUint32(b, uint32(k))
	}
	return b, nil
}

// DecodeFeatures implements Map.
func (m ofRows) DecodeFeatures(data []byte) (Features, error) {
	parts, rest, err := Section(data)
	if err != nil {
		return nil, err
	}
	out := &rowFeatures{at: make([]int32, len(rest)/4)}
	if out.distinct, err = m.Map.DecodeFeatures(parts); err != nil {
		return nil, err
	}
	if len(rest)%4 != 0 {
		return nil, fmt.Errorf("%d bytes for the parts of rows, want a multiple of 4", len(rest))
	}
	n := int32(out.distinct.Len())
	for i := range out.at {
		if out.at[i] = int32(binary.LittleEndian.Uint32(rest[4*i:])); out.at[i] < -1 || out.at[i] >= n {
			return nil, fmt.Errorf("part %d of row %d, want one of %d", out.at[i], i, n)
		}
	}
	return out, nil
}

// partsOf returns a part of rows.
func partsOf(graphs []*graph.Graph, name string) ([]*graph.Graph, error) {
	out := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		if out[i] = g.Part(name); out[i] != nil {
			continue
		}
		if g.Parts() == nil {
			return nil, AboutGraph(graphs, i, fmt.Errorf("it is no row of a table, of which a kernel could see the part %q", name))
		}
		var names []string
		for _, p := range g.Parts() {
			names = append(names, p.Name)
		}
		return nil, AboutGraph(graphs, i, &NoPart{name, names})
	}
	return out, nil
}

// byParts returns the sum for rows. Where it names no part, its products are those for each structure, of which it
// is the mean, times gaussian for each number and labels for each category.
func (s Sum) byParts(rows []*graph.Graph) (Sum, error) {
	structures, numbers, categories := graph.PartNames(rows)
	named := slices.ContainsFunc(s.Terms, func(t Term) bool {
		return slices.ContainsFunc(t.Factors, func(f Factor) bool { return f.Of != "" })
	})
	if named || structures == nil {
		return s, nil
	}
	var values []Factor
	for i, name := range append(slices.Clone(numbers), categories...) {
		of := "gaussian"
		if i >= len(numbers) {
			of = "labels"
		}
		k, err := Named(of)
		if err != nil {
			return s, err
		}
		values = append(values, Factor{k, Form{Of: name}})
	}
	var out Sum
	for _, name := range structures {
		for _, t := range s.Terms {
			part := Term{Weight: t.Weight / float64(len(structures))}
			for _, f := range t.Factors {
				f.Of = name
				part.Factors = append(part.Factors, f)
			}
			part.Factors = append(part.Factors, values...)
			out.Terms = append(out.Terms, part)
		}
	}
	return out, nil
}

// NoPart says that a kernel names a part that rows do not have.
type NoPart struct {
	Name string
	Want []string
}

// Error implements error.
func (e *NoPart) Error() string { return fmt.Sprintf("no part %q, want one of %q", e.Name, e.Want) }
