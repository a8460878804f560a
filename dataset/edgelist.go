package dataset

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

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

// edgeListFields splits a line at blanks, commas and semicolons, into out.
func edgeListFields(line []byte, out [][]byte) [][]byte {
	out = out[:0]
	from := -1
	for i := 0; i <= len(line); i++ {
		sep := i == len(line) || isBlank(line[i]) || line[i] == ',' || line[i] == ';'
		if sep && from >= 0 {
			out = append(out, line[from:i])
			from = -1
		} else if !sep && from < 0 {
			from = i
		}
	}
	return out
}

func edgeListGraph(s *stream) (*graph.Graph, error) {
	l := newLines(s.name, budget(s.opts.Limits)(s.in), s.opts.Limits)
	n := newNamed(s.opts.Limits)
	var as arcs
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
		field = edgeListFields(line, field)
		var ends [2]int
		for i := range min(2, len(field)) {
			if ends[i], err = n.vertex(string(field[i])); err != nil {
				return nil, l.fail("%w", err)
			}
		}
		if columns == 0 && len(field) > 1 {
			columns = len(field)
			as.labeled = columns == 4
		}
		switch {
		case len(field) == 0:
			return nil, l.fail("%s, want two vertices", quote(line))
		case len(field) == 1:
			continue
		case columns > 4:
			return nil, l.fail("%d columns, want two vertices, and perhaps a weight and a label", columns)
		case len(field) != columns:
			return nil, l.fail("%d columns, want %d as in the first edge", len(field), columns)
		case len(as.list) >= s.opts.Limits.Edges:
			return nil, l.fail("more than %d edges, the limit Limits.Edges", s.opts.Limits.Edges)
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
		as.add(ends[0], ends[1], w, label, l.n)
	}
	order := vertexOrder(n.index)
	for i := range as.list {
		e := &as.list[i]
		e.u, e.v = order[e.u], order[e.v]
		if e.u > e.v {
			e.u, e.v, e.back = e.v, e.u, !e.back
		}
	}
	b := graph.NewBuilder(len(n.node))
	if err := as.put(b, eitherWay, s.warn); err != nil {
		return nil, s.at(0, err)
	}
	g, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return g, nil
}

// vertexOrder returns new numbers for the vertices: in the order of their names when all
// are whole numbers, else as they came.
func vertexOrder(index map[string]int) []int32 {
	type vertex struct{ name, v int }
	list := make([]vertex, 0, len(index))
	order := make([]int32, len(index))
	for v := range order {
		order[v] = int32(v)
	}
	for name, v := range index {
		x, err := strconv.Atoi(name)
		if err != nil {
			return order
		}
		list = append(list, vertex{x, v})
	}
	slices.SortFunc(list, func(a, b vertex) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.v, b.v))
	})
	for i, x := range list {
		order[x.v] = int32(i)
	}
	return order
}
