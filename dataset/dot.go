package dataset

import (
	"io"
	"maps"
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
	clusters []*dotCluster // the outermost ones
	inside   bool          // one of these is read
}

// dotCluster is a subgraph whose name begins with "cluster".
type dotCluster struct {
	name string
	*dotScope
}

// dotScope holds the default data of vertices and edges in a subgraph, the data of the
// subgraph, and the vertices that were named in it, in their order.
type dotScope struct {
	node, edge, data data
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
	var left []*named // clusters of the last graph
	return func() (*graph.Graph, error) {
		for len(left) == 0 {
			in.reset()
			p := &dotParser{dotScanner: scan, g: newNamed(s.opts.Limits)}
			more := p.graph()
			if scan.err != nil {
				return nil, s.at(0, scan.err)
			}
			if !more {
				return nil, io.EOF
			}
			p.g.undrawn(s.warn)
			if left = []*named{p.g}; s.opts.Clusters {
				left = p.pieces(s.warn)
			} else {
				p.apart(s.warn)
			}
		}
		g, err := left[0].build(s)
		if err != nil {
			return nil, s.at(scan.last, err)
		}
		left = left[1:]
		return g, nil
	}, nil
}

// have moves past the next token if it is one of the given keywords or marks.
func (p *dotParser) have(texts ...string) bool {
	ok := p.peek().is(texts...)
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
	if p.peek().is("") {
		return false
	}
	p.have("strict")
	t := p.next()
	if !t.is("graph", "digraph") {
		p.fail(t.line, "%s, want graph or digraph", t)
	}
	p.directed = t.text == "digraph"
	if p.peek().name {
		p.g.id = p.id()
	}
	p.want("{")
	p.statements(&dotScope{data: p.g.data, has: map[int]bool{}, depth: 1})
	return true
}

// id parses a name; quoted texts may be joined by +.
func (p *dotParser) id() string {
	t := p.next()
	if !t.name {
		p.fail(t.line, "%s, want a name", t)
	}
	text := t.text
	for p.have("+") {
		t := p.next()
		if !t.name {
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
		case t.is(""):
			p.fail(t.line, "the graph ends too early, want }")
			return
		case p.have(";", ","):
		case p.have("node"):
			c.node = c.node.with(p.attributes())
		case p.have("edge"):
			c.edge = c.edge.with(p.attributes())
		case p.have("graph"):
			maps.Copy(c.data, p.attributes())
		default:
			p.chain(c)
		}
	}
}

// attributes parses lists [a=b, c=d; …] as long as they follow.
func (p *dotParser) attributes() data {
	var out data
	for p.have("[") {
		if out == nil {
			out = data{}
		}
		for !p.have("]") && p.err == nil {
			if p.have(";", ",") {
				continue
			}
			key, value := p.id(), "true"
			if p.have("=") {
				if html := p.peek().html; html {
					value = htmlText(p.id())
				} else {
					value = p.id()
				}
			}
			out[key] = value
		}
	}
	return out
}

// chain parses a vertex, an assignment ID = ID, a subgraph, or edges between such.
func (p *dotParser) chain(c *dotScope) {
	first := p.peek()
	var from []int
	if first.name {
		name := p.id()
		if p.have("=") {
			c.data[name] = p.id()
			return
		}
		from = p.vertex(c, name, first.line)
	} else {
		from = p.subgraph(c)
	}
	ends := [][]int{from}
	var lines []int // of the edges between two ends
	for p.peek().is("->", "--") {
		t := p.next()
		if want := map[bool]string{true: "->", false: "--"}[p.directed]; t.text != want {
			p.fail(t.line, "%s, want %s in this kind of graph", t, want)
		}
		lines = append(lines, t.line)
		if t := p.peek(); t.name {
			ends = append(ends, p.vertex(c, p.id(), t.line))
		} else {
			ends = append(ends, p.subgraph(c))
		}
	}
	given := p.attributes()
	if p.err != nil {
		return
	}
	if len(lines) == 0 && len(given) > 0 {
		if !first.name {
			p.fail(first.line, "attributes after a subgraph")
			return
		}
		v := ends[0][0]
		p.g.node[v] = p.g.node[v].with(given)
	}
	edge := c.edge.with(given)
	for i, line := range lines {
		for _, u := range ends[i] {
			for _, v := range ends[i+1] {
				if err := p.g.edge(u, v, edge, p.directed, line); err != nil {
					p.fail(line, "%w", err)
					return
				}
			}
		}
	}
}

// vertex returns the vertex of a name that was read in a line, and reads its port.
func (p *dotParser) vertex(c *dotScope, name string, line int) []int {
	for range 2 { // port and compass point
		if p.have(":") {
			p.id()
		}
	}
	n := len(p.g.node)
	v, err := p.g.vertex(name)
	if err != nil {
		p.fail(line, "%w", err)
		return nil
	}
	if v == n { // new: it takes the defaults of here
		p.g.node[v] = c.node
		p.g.lines = append(p.g.lines, line)
	}
	c.add(v)
	return []int{v}
}

// subgraph parses a subgraph and returns the vertices that are named in it.
func (p *dotParser) subgraph(c *dotScope) []int {
	name := ""
	if t := p.peek(); p.have("subgraph") {
		if p.peek().name {
			name = p.id()
		}
		p.want("{")
	} else if !p.have("{") {
		p.fail(t.line, "%s, want a name", t)
	}
	if c.depth >= dotDepth {
		p.fail(p.peek().line, "more than %d subgraphs inside each other", dotDepth)
	}
	sub := &dotScope{node: c.node, edge: c.edge, data: data{}, has: map[int]bool{}, depth: c.depth + 1}
	outer := p.inside
	if strings.HasPrefix(strings.ToLower(name), "cluster") && !outer {
		p.clusters, p.inside = append(p.clusters, &dotCluster{name, sub}), true
	}
	p.statements(sub)
	p.inside = outer
	c.add(sub.member...)
	return sub.member
}
