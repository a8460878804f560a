package dataset

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

func init() { sources[EdgeList] = edgeListSource }

// edgeListSource reads one graph: a line for every edge, two vertex names and perhaps a
// weight and a label, separated by blanks, commas or semicolons. A line with one name is
// a vertex. Lines that begin with # or % are comments.
func edgeListSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	l := newLines(name, bufio.NewReaderSize(&budgeted{in, newBudget(opts.Limits.Bytes)}, 64<<10), opts.Limits)
	done := false
	return func() (*graph.Graph, error) {
		if done {
			return nil, io.EOF
		}
		done = true
		return readEdgeList(l, opts, warn)
	}, nil
}

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

func readEdgeList(l *lines, opts Options, warn *warnings) (*graph.Graph, error) {
	n := newNamed()
	var as arcs
	var field [][]byte
	columns := 0 // of the first edge
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		line = trim(line)
		if len(line) == 0 || line[0] == '#' || line[0] == '%' {
			continue
		}
		field = edgeListFields(line, field)
		if len(field) == 0 {
			return nil, l.fail("%s, want two vertices", quote(line))
		}
		u, err := n.vertex(string(field[0]), opts.Limits)
		if err != nil {
			return nil, l.fail("%w", err)
		}
		if len(field) == 1 {
			continue
		}
		if columns == 0 {
			columns = len(field)
			as.labeled = columns == 4
		}
		if len(field) != columns || columns > 4 {
			return nil, l.fail("%d columns, want %s", len(field), edgeListColumns(columns))
		}
		v, err := n.vertex(string(field[1]), opts.Limits)
		if err != nil {
			return nil, l.fail("%w", err)
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
		if len(as.list) >= opts.Limits.Edges {
			return nil, l.fail("more than %d edges, the limit Limits.Edges", opts.Limits.Edges)
		}
		as.add(u, v, w, label, l.n)
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
	if line, err := as.put(b, eitherWay, warn); err != nil {
		return nil, at(l.name, line, "%w", err)
	}
	g, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	return g, nil
}

func edgeListColumns(columns int) string {
	if columns > 4 {
		return "two vertices, and perhaps a weight and a label"
	}
	return fmt.Sprintf("%d as in the first edge", columns)
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
