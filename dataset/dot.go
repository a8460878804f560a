package dataset

import (
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// dotDepth is the deepest nesting of subgraphs.
const dotDepth = 200

// dotParser reads one graph. Parsing goes on to the end after an error, which the scanner
// keeps: there are no more tokens then.
type dotParser struct {
	*dotScanner
	g        *named
	directed bool
}

// dotScope holds the default data of vertices and edges in a subgraph, the data of the
// subgraph, and the vertices that were named in it, in their order.
type dotScope struct {
	node, edge, data map[string]string
	member           []int
	has              map[int]bool
	depth            int
}

func (c *dotScope) add(vs ...int) {
	for _, v := range vs {
		if !c.has[v] {
			c.has[v] = true
			c.member = append(c.member, v)
		}
	}
}

func readDOT(s *stream) (nextGraph, error) {
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	scan := newDotScanner(in)
	return func() (*graph.Graph, error) {
		in.reset()
		p := &dotParser{dotScanner: scan, g: newNamed(s.opts.Limits)}
		more := p.graph()
		if scan.err != nil {
			return nil, s.at(0, scan.err)
		}
		if !more {
			return nil, io.EOF
		}
		b, err := p.g.builder(s.opts, s.warn)
		if err != nil {
			return nil, s.at(scan.line, err)
		}
		p.g.positions(b)
		g, err := b.Build()
		if err != nil {
			return nil, s.at(scan.line, err)
		}
		return g, nil
	}, nil
}

// positions takes coordinates from the data "pos" when every vertex has it.
func (n *named) positions(b *graph.Builder) {
	at := make([][2]float64, len(n.node))
	for v, data := range n.node {
		xs, ys, ok := strings.Cut(strings.TrimSuffix(data["pos"], "!"), ",")
		ys, _, _ = strings.Cut(ys, ",") // a third coordinate
		x, err1 := strconv.ParseFloat(strings.TrimSpace(xs), 64)
		y, err2 := strconv.ParseFloat(strings.TrimSpace(ys), 64)
		if !ok || err1 != nil || err2 != nil {
			return
		}
		at[v] = [2]float64{x, y}
	}
	for v, xy := range at {
		b.SetCoordinates(v, xy[0], xy[1])
	}
}

// have moves past the next token if it is one of the given marks.
func (p *dotParser) have(marks ...string) bool {
	ok := p.peek().is(marks...)
	if ok {
		p.next()
	}
	return ok
}

func (p *dotParser) want(mark string) {
	if !p.have(mark) {
		p.fail(p.peek().line, "%s, want %q", p.peek(), mark)
	}
}

// graph parses: strict? (graph | digraph) ID? { … }. It returns false at the end.
func (p *dotParser) graph() bool {
	if p.peek().kind == dotEnd {
		return false
	}
	if p.peek().kind == dotWord && p.peek().text == "strict" {
		p.next()
	}
	t := p.next()
	if t.kind != dotWord || t.text != "graph" && t.text != "digraph" {
		p.fail(t.line, "%s, want graph or digraph", t)
	}
	p.directed = t.text == "digraph"
	if p.peek().kind == dotID {
		p.g.id = p.id()
	}
	p.want("{")
	p.statements(&dotScope{data: p.g.data, has: map[int]bool{}, depth: 1})
	return true
}

// id parses a name; quoted texts may be joined by +.
func (p *dotParser) id() string {
	t := p.next()
	if t.kind != dotID {
		p.fail(t.line, "%s, want a name", t)
	}
	text := t.text
	for p.have("+") {
		t := p.next()
		if t.kind != dotID {
			p.fail(t.line, "%s after +, want a text", t)
		}
		text += t.text
	}
	return text
}

// statements parses up to the closing brace.
func (p *dotParser) statements(c *dotScope) {
	for !p.have("}") {
		t := p.peek()
		switch {
		case t.kind == dotEnd:
			p.fail(t.line, "the graph breaks off, want }")
			return
		case p.have(";", ","):
		case t.kind == dotWord && (t.text == "graph" || t.text == "node" || t.text == "edge"):
			p.next()
			given := p.attributes()
			switch t.text {
			case "node":
				c.node = merged(c.node, given)
			case "edge":
				c.edge = merged(c.edge, given)
			default:
				maps.Copy(c.data, given)
			}
		default:
			p.chain(c)
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
func (p *dotParser) attributes() map[string]string {
	var out map[string]string
	for p.have("[") {
		for !p.have("]") && p.err == nil {
			if p.have(";", ",") {
				continue
			}
			key, value := p.id(), "true"
			if p.have("=") {
				value = p.id()
			}
			out = put(out, key, value)
		}
	}
	return out
}

// chain parses a vertex, an assignment ID = ID, a subgraph, or edges between such.
func (p *dotParser) chain(c *dotScope) {
	first := p.peek()
	if first.kind == dotID {
		name := p.id()
		if p.have("=") {
			c.data[name] = p.id()
			return
		}
		first.text = name
	}
	from, isNode := p.end(c, first)
	type hop struct {
		from, to []int
		line     int
	}
	var hops []hop
	for p.peek().is("->", "--") {
		t := p.next()
		if (t.text == "->") != p.directed {
			p.fail(t.line, "%s, want %s in this kind of graph", t, map[bool]string{true: "->", false: "--"}[p.directed])
		}
		next := p.peek()
		if next.kind == dotID {
			next.text = p.id()
		}
		to, _ := p.end(c, next)
		hops = append(hops, hop{from, to, t.line})
		from = to
	}
	given := p.attributes()
	switch {
	case len(hops) > 0:
	case isNode && len(given) > 0:
		p.g.node[from[0]] = merged(p.g.node[from[0]], given)
	case len(given) > 0:
		p.fail(first.line, "attributes after a subgraph")
	}
	edge := merged(c.edge, given)
	for _, h := range hops {
		for _, u := range h.from {
			for _, v := range h.to {
				if err := p.g.edge(u, v, edge, p.directed, h.line); err != nil {
					p.fail(h.line, "%w", err)
					return
				}
			}
		}
	}
}

// end parses an end of an edge: a vertex, whose name t was read and which may have a port,
// or a subgraph, of which t is the next token.
func (p *dotParser) end(c *dotScope, t dotToken) (vs []int, isNode bool) {
	if t.kind != dotID {
		return p.subgraph(c), false
	}
	for range 2 { // port and compass point
		if p.have(":") {
			p.id()
		}
	}
	if p.err != nil {
		return nil, false
	}
	n := len(p.g.node)
	v, err := p.g.vertex(t.text)
	if err != nil {
		p.fail(t.line, "%w", err)
		return nil, false
	}
	if v == n { // new: it takes the defaults of here
		p.g.node[v] = c.node
	}
	c.add(v)
	return []int{v}, true
}

// subgraph parses a subgraph and returns the vertices that are named in it.
func (p *dotParser) subgraph(c *dotScope) []int {
	if t := p.peek(); t.kind == dotWord && t.text == "subgraph" {
		p.next()
		if p.peek().kind == dotID {
			p.id()
		}
		p.want("{")
	} else if !p.have("{") {
		p.fail(t.line, "%s, want a name", t)
	}
	if c.depth >= dotDepth {
		p.fail(p.peek().line, "more than %d subgraphs inside each other", dotDepth)
	}
	sub := &dotScope{node: c.node, edge: c.edge, data: map[string]string{}, has: map[int]bool{}, depth: c.depth + 1}
	p.statements(sub)
	c.add(sub.member...)
	return sub.member
}
