package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// readEdgeList reads one graph: a line for every edge, two vertex names and perhaps a
// weight and a label, separated by blanks, commas or semicolons. A line with one name is
// a vertex. Lines that begin with # or % are comments.
func readEdgeList(s *stream) (nextGraph, error) {
	done := false
	return func() (*graph.Graph, error) {
		if done {
			return nil, io.EOF
		}
		done = true
		return edgeListGraph(s)
	}, nil
}

func edgeListSeparator(c rune) bool { return strings.ContainsRune(" \t\r,;", c) }

func edgeListGraph(s *stream) (*graph.Graph, error) {
	l := newLines(s.name, budget(s.opts.Limits)(s.in), s.opts.Limits)
	n := newNamed(s.opts.Limits)
	var edges []graph.Edge
	var field [][]byte
	columns := 0 // of the first edge
	for {
		line, err := l.content("#%")
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		field = slices.AppendSeq(field[:0], bytes.FieldsFuncSeq(line, edgeListSeparator))
		var ends [2]int
		for i := range min(2, len(field)) {
			if ends[i], err = n.vertex(string(field[i])); err != nil {
				return nil, l.fail("%w", err)
			}
		}
		if columns == 0 && len(field) > 1 {
			columns = len(field)
		}
		switch {
		case len(field) == 0:
			return nil, l.fail("%s, want two vertices", quote(line))
		case len(field) == 1:
			continue
		case columns > 4:
			return nil, l.fail("%s, want two vertices, and perhaps a weight and a label", counted(columns, "column", "columns"))
		case len(field) != columns:
			return nil, l.fail("%s, want %d as in the first edge", counted(len(field), "column", "columns"), columns)
		case len(edges) >= s.opts.Limits.Edges:
			return nil, l.fail("more than %d edges, which is the limit", s.opts.Limits.Edges)
		}
		w, label := 1.0, ""
		if columns > 2 {
			if w, err = decimal(field[2]); err != nil || !positive(w) {
				return nil, l.fail("weight %s, want a positive, finite number", quote(field[2]))
			}
		}
		if columns > 3 {
			label = string(field[3])
		}
		edges = append(edges, graph.Edge{U: ends[0], V: ends[1], Weight: w, Label: label})
	}
	if len(n.name) == 0 {
		return nil, io.EOF // no graphs, as in every other format
	}
	order := vertexOrder(n.name)
	b := graph.NewBuilder(len(n.node))
	if s.opts.Directed {
		b.SetDirected()
	}
	name := make([]string, len(n.name))
	for v, k := range order {
		name[k] = n.name[v]
	}
	nameVertices(b, name)
	for _, e := range edges {
		b.AddLabeledEdge(int(order[e.U]), int(order[e.V]), e.Weight, e.Label)
	}
	g, err := b.Build()
	if err == nil {
		err = corrections(b.Given(), s.opts, s.warn, func(v int) string { return name[v] })
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return g, nil
}

// vertexOrder returns new numbers for the vertices: in the order of their names when all
// are whole numbers, else as they came.
func vertexOrder(names []string) []int32 {
	vertices, order, number := make([]int, len(names)), make([]int32, len(names)), make([]int, len(names))
	whole := true
	for v, name := range names {
		x, err := strconv.Atoi(name)
		whole = whole && err == nil
		vertices[v], number[v] = v, x
	}
	if whole {
		slices.SortStableFunc(vertices, func(a, b int) int { return cmp.Compare(number[a], number[b]) })
	}
	for i, v := range vertices {
		order[v] = int32(i)
	}
	return order
}
