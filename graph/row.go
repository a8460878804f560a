package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is what a column of a table says in a row: a structure, such as the solvent, or a value, such as the
// temperature. A structure that is missing has no vertices. A value is a graph of one vertex: its label is the
// text, and its attribute the number, if it is one. A value that is missing has no vertex.
type Part struct {
	Name  string
	Graph *Graph
	Value bool
}

// Row returns the graph of a row of a table. It is the disjoint union of the structures, one after the other;
// Graph.Part returns each of them, and each value. The union has the SMILES of the structures, if all
// that are there have one. It is an error if two parts have one name.
func Row(id, target string, parts []Part) (*Graph, error) {
	n := 0
	for i, p := range parts {
		if p.Name == "" || slices.ContainsFunc(parts[:i], func(q Part) bool { return q.Name == p.Name }) {
			return nil, fmt.Errorf("part %d of a row is named %q, want a name of its own", i+1, p.Name)
		}
		if !p.Value {
			n += p.Graph.N()
		}
	}
	b := NewBuilder(n)
	b.SetID(id)
	b.SetTarget(target)
	at := 0
	for _, p := range parts {
		if !p.Value {
			b.put(at, p.Graph)
			at += p.Graph.N()
		}
	}
	g, err := b.Build()
	if err != nil {
		return nil, err
	}
	g.setParts(parts)
	return g, nil
}

// put gives the vertices from a number on those of a graph.
func (b *Builder) put(at int, g *Graph) {
	if g.directed {
		b.SetDirected()
	}
	for v := range g.N() {
		if g.label != nil {
			b.SetLabel(at+v, g.label[v])
		}
		if g.name != nil {
			b.SetName(at+v, g.name[v])
		}
		if g.dim > 0 {
			b.SetAttributes(at+v, g.Attributes(v))
		}
	}
	edges := g.Edges()
	if g.directed {
		edges = g.Arcs()
	}
	for e := range edges {
		b.AddLabeledEdge(at+e.U, at+e.V, e.Weight, e.Label)
	}
}

// setParts sets the parts of a graph that is their union.
func (g *Graph) setParts(parts []Part) {
	g.parts = parts
	var origins []*Graph
	for _, p := range parts {
		if !p.Value && p.Graph.N() > 0 {
			origins = append(origins, p.Graph)
		}
	}
	if g.origin = nil; len(origins) > 0 && !slices.ContainsFunc(origins, func(p *Graph) bool { return p.origin == nil }) {
		g.origin = &origin{write: func() string {
			texts := make([]string, len(origins))
			for i, p := range origins {
				texts[i] = p.SMILES()
			}
			return strings.Join(texts, ".")
		}}
	}
}

// Number returns the graph of a number that a column says. It must be finite.
func Number(x float64) *Graph {
	x += 0 // not −0
	b := NewBuilder(1)
	b.SetAttributes(0, []float64{x})
	b.SetLabel(0, strconv.FormatFloat(x, 'g', -1, 64))
	return b.valid()
}

// Category returns the graph of a text that a column says.
func Category(text string) *Graph {
	b := NewBuilder(1)
	b.SetLabel(0, text)
	return b.valid()
}

// Absent returns the graph without vertices: a part that is missing.
func Absent() *Graph { return NewBuilder(0).valid() }

// Parts returns the parts of a row, nil for any other graph. Kernels see the parts that their Form names.
func (g *Graph) Parts() []Part { return g.parts }

// Part returns the part of a name, nil if there is none.
func (g *Graph) Part(name string) *Graph {
	for _, p := range g.parts {
		if p.Name == name {
			return p.Graph
		}
	}
	return nil
}

// PartAt returns the number of the first vertex of a structure of a row.
func (g *Graph) PartAt(name string) int {
	at := 0
	for _, p := range g.parts {
		if p.Name == name {
			break
		}
		if !p.Value {
			at += p.Graph.N()
		}
	}
	return at
}

// PartNames returns the names of the parts of rows: structures, numbers and categories. All are nil where some graph
// is no row, or has other parts than the first.
func PartNames(graphs []*Graph) (structures, numbers, categories []string) {
	var number []bool
	for _, g := range graphs {
		if g.parts == nil || !slices.EqualFunc(g.parts, graphs[0].parts, func(p, q Part) bool { return p.Name == q.Name && p.Value == q.Value }) {
			return nil, nil, nil
		}
		if number == nil {
			number = make([]bool, len(g.parts))
		}
		for i, p := range g.parts {
			number[i] = number[i] || p.Value && p.Graph.dim > 0
		}
	}
	for i, is := range number {
		switch p := graphs[0].parts[i]; {
		case !p.Value:
			structures = append(structures, p.Name)
		case is:
			numbers = append(numbers, p.Name)
		default:
			categories = append(categories, p.Name)
		}
	}
	return structures, numbers, categories
}

// MapStructures returns the row with other structures, which f makes of its own.
func (g *Graph) MapStructures(f func(*Graph) *Graph) *Graph {
	parts := slices.Clone(g.parts)
	for i, p := range parts {
		if !p.Value {
			parts[i].Graph = f(p.Graph)
		}
	}
	row, err := Row(g.id, g.target, parts)
	if err != nil {
		panic("graph: " + err.Error()) // the names are those of a valid row
	}
	return row
}

// inducedParts returns the parts of a row with some of its vertices, which ascend.
func (g *Graph) inducedParts(vs []int32) []Part {
	out := slices.Clone(g.parts)
	lo := int32(0)
	for i, p := range out {
		if p.Value {
			continue
		}
		hi := lo + int32(p.Graph.N())
		var inside []int32
		for ; len(vs) > 0 && vs[0] < hi; vs = vs[1:] {
			inside = append(inside, vs[0]-lo)
		}
		if lo = hi; len(inside) < p.Graph.N() {
			out[i].Graph = p.Graph.Induced(inside)
		}
	}
	return out
}

// Kinds of parts that are no structures, in place of their number of vertices.
const (
	categoryPart = -1
	numberPart   = -2
)

// Numbers of a part in a batch.
const (
	partName = iota
	partText
	partSMILES
	partVertices
	partNumbers
)

// numbers returns those of the part in a batch. number is that of a string.
func (p Part) numbers(number func(has bool, s string) int32) []int32 {
	switch g := p.Graph; {
	case !p.Value:
		return []int32{number(true, p.Name), -1, number(g.origin != nil, g.SMILES()), int32(g.N())}
	case g.dim > 0:
		return []int32{number(true, p.Name), number(true, g.label[0]), -1, numberPart}
	case g.N() > 0:
		return []int32{number(true, p.Name), number(true, g.label[0]), -1, categoryPart}
	default:
		return []int32{number(true, p.Name), -1, -1, categoryPart}
	}
}

// takeParts takes the parts of rows off the front of the bytes of a batch.
func (b *Batch) takeParts(r *arrayReader) {
	rows := int64(0)
	for _, s := range b.starts[1:] {
		if s.kind&tableRow != 0 {
			rows++
		}
	}
	counts := take[int32](r, "numbers of parts", rows)
	all, at := int64(0), 0
	for i := range b.starts[1:] {
		if b.starts[i+1].kind&tableRow != 0 && at < len(counts) {
			if counts[at] < 1 && r.err == nil {
				r.err = fmt.Errorf("a row of %d parts, want at least one", counts[at])
			}
			all += int64(max(counts[at], 0))
			at++
		}
		b.starts[i+1].parts = int(all)
	}
	if b.parts = take[int32](r, "parts of rows", partNumbers*all); r.err != nil {
		b.parts = nil
	}
}

// partTexts returns the numbers of the strings of parts.
func (b *Batch) partTexts() []int32 {
	var out []int32
	for p := range slices.Chunk(b.parts, partNumbers) {
		out = append(out, p[partName], p[partText], p[partSMILES])
	}
	return out
}

// addParts gives graph i its parts, if it is a row. It trusts nothing.
func (b *Batch) addParts(g *Graph, i int) error {
	if b.starts[i+1].kind&tableRow == 0 {
		return nil
	}
	var parts []Part
	at := 0
	for p := range slices.Chunk(b.parts[partNumbers*b.starts[i].parts:partNumbers*b.starts[i+1].parts], partNumbers) {
		part := Part{Name: b.text(p[partName]), Value: p[partVertices] < 0, Graph: Absent()}
		if part.Value {
			x, err := strconv.ParseFloat(b.text(p[partText]), 64)
			switch {
			case p[partText] < 0:
			case p[partVertices] != numberPart:
				part.Graph = Category(b.text(p[partText]))
			case err == nil && x-x == 0:
				part.Graph = Number(x)
			default:
				return fmt.Errorf("graph %d: the part %q is %q, want a finite number", i, part.Name, b.text(p[partText]))
			}
		} else {
			n := int(p[partVertices])
			if n > g.N()-at {
				return fmt.Errorf("graph %d: parts of more than its %d vertices", i, g.N())
			}
			vs := make([]int32, n)
			for k := range vs {
				vs[k] = int32(at + k)
			}
			at += n
			if n > 0 {
				part.Graph = g.Induced(vs)
			}
			if smiles := b.text(p[partSMILES]); smiles != "" {
				part.Graph.origin = &origin{smiles: smiles}
			}
		}
		parts = append(parts, part)
	}
	row, err := Row(g.id, g.target, parts)
	if err != nil || row.N() != g.N() || row.M() != g.M() {
		return fmt.Errorf("graph %d: its parts do not make it up", i)
	}
	g.setParts(parts)
	return nil
}
