package dataset

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

func init() { sources[DOT] = dotSource }

// dotDepth is the deepest nesting of subgraphs.
const dotDepth = 200

// dotParser reads one graph.
type dotParser struct {
	s        *dotScanner
	g        *named
	directed bool
	lim      Limits
}

// dotScope holds the default data of vertices and edges in a subgraph, and the vertices
// that were named in it, in their order.
type dotScope struct {
	node, edge map[string]string
	member     []int
	has        map[int]bool
}

func (c *dotScope) add(vs ...int) {
	for _, v := range vs {
		if !c.has[v] {
			c.has[v] = true
			c.member = append(c.member, v)
		}
	}
}

func dotSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	bounded := &record{r: in, max: opts.Limits.Record}
	s := &dotScanner{r: bufio.NewReader(bounded), line: 1, fresh: true}
	return func() (*graph.Graph, error) {
		bounded.reset()
		p := &dotParser{s: s, g: newNamed(), lim: opts.Limits}
		more, err := p.graph()
		if err == nil && !more {
			return nil, io.EOF
		}
		line := s.line
		var g *graph.Graph
		if err == nil {
			g, line, err = p.build(opts, warn)
		}
		if err != nil {
			var d *dotError
			if errors.As(err, &d) {
				line, err = d.line, d.err
			}
			if line == 0 {
				line = s.line
			}
			return nil, at(name, line, "%w", err)
		}
		return g, nil
	}, nil
}

func (p *dotParser) build(opts Options, warn *warnings) (*graph.Graph, int, error) {
	b, line, err := p.g.builder(opts, warn)
	if err != nil {
		return nil, line, err
	}
	// Positions count when every vertex has one.
	at := make([][2]float64, len(p.g.node))
	all := true
	for v, data := range p.g.node {
		xs, ys, ok := strings.Cut(strings.TrimSuffix(data["pos"], "!"), ",")
		ys, _, _ = strings.Cut(ys, ",") // a third coordinate
		x, err1 := strconv.ParseFloat(strings.TrimSpace(xs), 64)
		y, err2 := strconv.ParseFloat(strings.TrimSpace(ys), 64)
		if all = all && ok && err1 == nil && err2 == nil; !all {
			break
		}
		at[v] = [2]float64{x, y}
	}
	for v, xy := range at {
		if all {
			b.SetCoordinates(v, xy[0], xy[1])
		}
	}
	g, err := b.Build()
	return g, 0, err
}

func (p *dotParser) want(text string) error {
	t, err := p.s.next()
	if err != nil {
		return err
	}
	if t.kind != dotPunct || t.text != text {
		return p.at(t, "%s, want %q", t, text)
	}
	return nil
}

func (p *dotParser) at(t dotToken, format string, args ...any) error {
	e := p.s.fail(format, args...)
	e.(*dotError).line = t.line
	return e
}

// graph parses: strict? (graph | digraph) ID? { … }. It returns false at the end.
func (p *dotParser) graph() (bool, error) {
	t, err := p.s.next()
	if err != nil || t.kind == dotEnd {
		return false, err
	}
	if t.kind == dotWord && t.text == "strict" {
		if t, err = p.s.next(); err != nil {
			return false, err
		}
	}
	if t.kind != dotWord || t.text != "graph" && t.text != "digraph" {
		return false, p.at(t, "%s, want graph or digraph", t)
	}
	p.directed = t.text == "digraph"
	if t, err = p.s.peek(); err != nil {
		return false, err
	}
	if t.kind == dotID {
		if p.g.id, err = p.id(); err != nil {
			return false, err
		}
	}
	if err := p.want("{"); err != nil {
		return false, err
	}
	root := &dotScope{has: map[int]bool{}}
	return true, p.statements(root, p.g.data, 1)
}

// id parses a name; quoted texts may be joined by +.
func (p *dotParser) id() (string, error) {
	t, err := p.s.next()
	if err != nil {
		return "", err
	}
	if t.kind != dotID {
		return "", p.at(t, "%s, want a name", t)
	}
	text := t.text
	for {
		if t, err = p.s.peek(); err != nil || t.text != "+" || t.kind != dotPunct {
			return text, err
		}
		p.s.next()
		if t, err = p.s.next(); err != nil {
			return "", err
		}
		if t.kind != dotID {
			return "", p.at(t, "%s after +, want a text", t)
		}
		text += t.text
	}
}

// statements parses up to the closing brace.
func (p *dotParser) statements(c *dotScope, data map[string]string, depth int) error {
	for {
		t, err := p.s.peek()
		if err != nil {
			return err
		}
		switch {
		case t.kind == dotEnd:
			return p.at(t, "the graph breaks off, want }")
		case t.text == "}" && t.kind == dotPunct:
			p.s.next()
			return nil
		case t.text == ";" && t.kind == dotPunct || t.text == "," && t.kind == dotPunct:
			p.s.next()
		case t.kind == dotWord && (t.text == "graph" || t.text == "node" || t.text == "edge"):
			p.s.next()
			given, err := p.attributes()
			if err != nil {
				return err
			}
			switch t.text {
			case "node":
				c.node = merged(c.node, given)
			case "edge":
				c.edge = merged(c.edge, given)
			default:
				maps.Copy(data, given)
			}
		default:
			if err := p.chain(c, data, depth); err != nil {
				return err
			}
		}
	}
}

// merged returns base with more on top, without changing either.
func merged(base, more map[string]string) map[string]string {
	if len(more) == 0 {
		return base
	}
	m := maps.Clone(base)
	if m == nil {
		m = map[string]string{}
	}
	maps.Copy(m, more)
	return m
}

// attributes parses lists [a=b, c=d; …] as long as they follow.
func (p *dotParser) attributes() (map[string]string, error) {
	var out map[string]string
	for {
		t, err := p.s.peek()
		if err != nil || t.kind != dotPunct || t.text != "[" {
			return out, err
		}
		p.s.next()
		for {
			if t, err = p.s.peek(); err != nil {
				return nil, err
			}
			if t.kind == dotPunct && (t.text == ";" || t.text == ",") {
				p.s.next()
				continue
			}
			if t.kind == dotPunct && t.text == "]" {
				p.s.next()
				break
			}
			key, err := p.id()
			if err != nil {
				return nil, err
			}
			value := "true"
			if t, err = p.s.peek(); err != nil {
				return nil, err
			}
			if t.kind == dotPunct && t.text == "=" {
				p.s.next()
				if value, err = p.id(); err != nil {
					return nil, err
				}
			}
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
}

// chain parses a vertex, an assignment ID = ID, a subgraph, or edges between such.
func (p *dotParser) chain(c *dotScope, data map[string]string, depth int) error {
	first, err := p.s.peek()
	if err != nil {
		return err
	}
	from, isNode, err := p.end(c, data, depth)
	if err != nil {
		return err
	}
	if from == nil { // an assignment
		return nil
	}
	type hop struct {
		from, to []int
		line     int
	}
	var hops []hop
	for {
		t, err := p.s.peek()
		if err != nil {
			return err
		}
		if t.kind != dotPunct || t.text != "->" && t.text != "--" {
			break
		}
		p.s.next()
		if (t.text == "->") != p.directed {
			return p.at(t, "%s, want %s in this kind of graph", t, map[bool]string{true: "->", false: "--"}[p.directed])
		}
		to, _, err := p.end(c, nil, depth)
		if err != nil {
			return err
		}
		hops = append(hops, hop{from, to, t.line})
		from = to
	}
	given, err := p.attributes()
	if err != nil {
		return err
	}
	if len(hops) == 0 {
		if isNode && len(given) > 0 {
			v := from[0]
			p.g.node[v] = merged(p.g.node[v], given)
		} else if !isNode && len(given) > 0 {
			return p.at(first, "attributes after a subgraph")
		}
		return nil
	}
	edge := merged(c.edge, given)
	for _, h := range hops {
		for _, u := range h.from {
			for _, v := range h.to {
				if err := p.g.edge(u, v, edge, p.directed, h.line, p.lim); err != nil {
					return &dotError{h.line, err}
				}
			}
		}
	}
	return nil
}

// end parses an end of an edge: a vertex with perhaps a port, or a subgraph. With data, an
// assignment may stand here too; then the list is nil.
func (p *dotParser) end(c *dotScope, data map[string]string, depth int) (vs []int, isNode bool, err error) {
	t, err := p.s.peek()
	if err != nil {
		return nil, false, err
	}
	if t.kind == dotWord && t.text == "subgraph" || t.kind == dotPunct && t.text == "{" {
		p.s.next()
		if t.text == "subgraph" {
			if t, err = p.s.peek(); err != nil {
				return nil, false, err
			}
			if t.kind == dotID {
				if _, err := p.id(); err != nil {
					return nil, false, err
				}
			}
			if err := p.want("{"); err != nil {
				return nil, false, err
			}
		}
		if depth >= dotDepth {
			return nil, false, p.at(t, "more than %d subgraphs inside each other", dotDepth)
		}
		sub := &dotScope{node: c.node, edge: c.edge, has: map[int]bool{}}
		if err := p.statements(sub, map[string]string{}, depth+1); err != nil {
			return nil, false, err
		}
		c.add(sub.member...)
		if sub.member == nil {
			sub.member = []int{}
		}
		return sub.member, false, nil
	}
	name, err := p.id()
	if err != nil {
		return nil, false, err
	}
	next, err := p.s.peek()
	if err != nil {
		return nil, false, err
	}
	if next.kind == dotPunct && next.text == "=" && data != nil {
		p.s.next()
		value, err := p.id()
		if err != nil {
			return nil, false, err
		}
		data[name] = value
		return nil, false, nil
	}
	for range 2 { // port and compass point
		if next.kind != dotPunct || next.text != ":" {
			break
		}
		p.s.next()
		if _, err := p.id(); err != nil {
			return nil, false, err
		}
		if next, err = p.s.peek(); err != nil {
			return nil, false, err
		}
	}
	n := len(p.g.node)
	v, err := p.g.vertex(name, p.lim)
	if err != nil {
		return nil, false, &dotError{t.line, err}
	}
	if v == n { // new: it takes the defaults of here
		p.g.node[v] = c.node
	}
	c.add(v)
	return []int{v}, true, nil
}
