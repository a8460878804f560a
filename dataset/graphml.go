package dataset

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/graph"
)

// graphmlKey declares data.
type graphmlKey struct {
	domain  string // "node", "edge", "graph", "all"
	name    string
	numeric bool
}

// graphmlReader reads one graph after the other. After the first error it sees no more
// elements.
type graphmlReader struct {
	*stream
	d       *xml.Decoder
	bounded *bounded
	keys    map[string]*graphmlKey // by identifier
	order   []*graphmlKey
	initial map[string]map[string]string // default data by domain
	root    bool                         // the root element was read
	err     error
}

func readGraphML(s *stream) (nextGraph, error) {
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	r := &graphmlReader{stream: s, d: xml.NewDecoder(in), bounded: in, keys: map[string]*graphmlKey{}, initial: map[string]map[string]string{}}
	r.d.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "us-ascii", "utf8":
			return input, nil
		case "iso-8859-1", "latin1":
			return latin1(input), nil
		}
		return nil, fmt.Errorf("encoding %q, want UTF-8 or ISO-8859-1", charset)
	}
	return func() (*graph.Graph, error) {
		g := r.next()
		return g, r.err
	}, nil
}

// latin1 turns ISO-8859-1 into UTF-8, in which a byte becomes two at most.
func latin1(r io.Reader) io.Reader {
	return bufio.NewReader(readerFunc(func(p []byte) (int, error) {
		in := p[len(p)/2:]
		n, err := r.Read(in)
		out := p[:0]
		for _, c := range in[:n] {
			out = utf8.AppendRune(out, rune(c))
		}
		return len(out), err
	}))
}

func (r *graphmlReader) line() int {
	line, _ := r.d.InputPos()
	return line
}

// fail keeps the first error.
func (r *graphmlReader) fail(format string, args ...any) {
	r.failAt(r.line(), fmt.Errorf(format, args...))
}

func (r *graphmlReader) failAt(line int, err error) {
	if r.err == nil {
		r.err = r.at(line, err)
	}
}

// token returns the next element start or end, or text. After the last one, and after an
// error, it is nil.
func (r *graphmlReader) token() xml.Token {
	if r.err != nil {
		return nil
	}
	t, err := r.d.Token()
	switch s, syntax := err.(*xml.SyntaxError); {
	case err == nil:
		return t
	case err == io.EOF:
	case r.bounded.last != nil:
		r.fail("%w", broken(r.bounded.last))
	case syntax:
		r.failAt(s.Line, fmt.Errorf("%s", s.Msg))
	default:
		r.fail("%w", err)
	}
	return nil
}

// within calls element for every element inside the one that was opened last. element
// reads to the end of its element.
func (r *graphmlReader) within(element func(xml.StartElement)) {
	for {
		switch t := r.token().(type) {
		case xml.StartElement:
			element(t)
		case xml.EndElement:
			return
		case nil:
			r.fail("the file breaks off")
			return
		}
	}
}

// text returns the text in the element that was opened last, without elements inside.
func (r *graphmlReader) text() string {
	var text []byte
	for {
		switch t := r.token().(type) {
		case xml.CharData:
			text = append(text, t...)
		case xml.StartElement:
			r.skip()
		case xml.EndElement:
			return string(text)
		case nil:
			r.fail("the file breaks off")
			return ""
		}
	}
}

// skip reads to the end of the element that was opened last, however deep it is.
func (r *graphmlReader) skip() {
	for depth := 1; depth > 0; {
		switch r.token().(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case nil:
			r.fail("the file breaks off")
			return
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// next returns the next graph of the file, nil with r.err.
func (r *graphmlReader) next() *graph.Graph {
	for {
		t := r.token()
		e, ok := t.(xml.StartElement)
		switch {
		case t == nil:
			if !r.root {
				r.fail("no element graphml")
			} else if r.err == nil {
				r.err = io.EOF
			}
			return nil
		case !ok:
		case !r.root && e.Name.Local != "graphml":
			r.fail("root element %q, want graphml", e.Name.Local)
		case !r.root:
			r.root = true
		case e.Name.Local == "key":
			r.key(e)
		case e.Name.Local == "graph":
			g := r.graph(e)
			r.bounded.reset()
			return g
		default:
			r.skip()
		}
	}
}

// key reads a declaration.
func (r *graphmlReader) key(e xml.StartElement) {
	id := attr(e, "id")
	k := &graphmlKey{domain: cmp.Or(attr(e, "for"), "all"), name: cmp.Or(attr(e, "attr.name"), id)}
	switch attr(e, "attr.type") {
	case "int", "long", "float", "double":
		k.numeric = true
	}
	r.within(func(c xml.StartElement) {
		text := r.text()
		for _, domain := range []string{"node", "edge", "graph"} {
			if c.Name.Local == "default" && (k.domain == domain || k.domain == "all") {
				r.initial[domain] = put(r.initial[domain], k.name, text)
			}
		}
	})
	if old := r.keys[id]; old != nil {
		*old = *k
		return
	}
	r.keys[id] = k
	r.order = append(r.order, k)
}

// put sets a value in a map, which is made when it is nil.
func put(data map[string]string, key, value string) map[string]string {
	if data == nil {
		data = map[string]string{}
	}
	data[key] = value
	return data
}

// element reads the data of a node or an edge up to its end.
func (r *graphmlReader) element(e xml.StartElement) map[string]string {
	data := maps.Clone(r.initial[e.Name.Local])
	r.within(func(c xml.StartElement) {
		switch c.Name.Local {
		case "data":
			data = r.datum(data, c)
		case "graph":
			r.fail("graph inside %s, want flat graphs", e.Name.Local)
		default: // port, desc
			r.skip()
		}
	})
	return data
}

// datum adds a value to data.
func (r *graphmlReader) datum(data map[string]string, e xml.StartElement) map[string]string {
	text := r.text()
	k := r.keys[attr(e, "key")]
	if k == nil {
		r.fail("data of key %q, which is not declared", attr(e, "key"))
		return data
	}
	return put(data, k.name, strings.TrimSpace(text))
}

// graph reads a graph, nil with r.err.
func (r *graphmlReader) graph(e xml.StartElement) *graph.Graph {
	n := newNamed(r.opts.Limits)
	n.id = attr(e, "id")
	n.data = maps.Clone(r.initial["graph"])
	directed := attr(e, "edgedefault") == "directed"
	known := map[string]bool{} // nodes that were declared
	vertex := func(name string) int {
		v, err := n.vertex(name)
		if err != nil {
			r.fail("%w", err)
		}
		return v
	}
	type end struct {
		name string
		line int
	}
	var used []end // nodes that edges name, to be declared somewhere
	r.within(func(c xml.StartElement) {
		switch c.Name.Local {
		case "data":
			n.data = r.datum(n.data, c)
		case "node":
			id := attr(c, "id")
			if known[id] {
				r.fail("second node %q", id)
			}
			known[id] = true
			v := vertex(id)
			if data := r.element(c); r.err == nil {
				n.node[v] = data
			}
		case "edge":
			line, from, to, way := r.line(), attr(c, "source"), attr(c, "target"), attr(c, "directed")
			for _, name := range []string{from, to} {
				if !known[name] {
					used = append(used, end{name, line})
				}
			}
			u, v := vertex(from), vertex(to)
			if err := n.edge(u, v, r.element(c), way == "true" || way == "" && directed, line); err != nil {
				r.fail("%w", err)
			}
		case "hyperedge":
			r.fail("hyperedge, want edges between two nodes")
		default:
			r.skip()
		}
	})
	for _, u := range used {
		if !known[u.name] {
			r.failAt(u.line, fmt.Errorf("edge to node %q, which does not exist", u.name))
		}
	}
	if r.err != nil {
		return nil
	}
	g, err := r.build(n)
	if err != nil {
		r.failAt(r.line(), err)
	}
	return g
}

func (r *graphmlReader) build(n *named) (*graph.Graph, error) {
	b, err := n.builder(r.opts, r.warn)
	if err != nil {
		return nil, err
	}
	if err := r.columns(n, b); err != nil {
		return nil, err
	}
	g, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("graph %q: %w", n.id, err)
	}
	return g, nil
}

// columns takes coordinates from the numeric keys x and y, and attributes from the other
// numeric keys that every node has.
func (r *graphmlReader) columns(n *named, b *graph.Builder) error {
	label := "" // the key that is the label
	for _, name := range nodeLabelNames {
		for _, k := range r.order {
			if label == "" && strings.EqualFold(k.name, name) {
				label = k.name
			}
		}
	}
	var names []string
	for _, k := range r.order {
		if k.domain != "node" && k.domain != "all" || k.name == label {
			continue
		}
		have := 0
		for _, data := range n.node {
			if _, ok := data[k.name]; ok {
				have++
			}
		}
		if have > 0 && k.numeric && have == len(n.node) {
			names = append(names, k.name)
			continue
		}
		r.warn.add(have, "value of node data that is no number or not there for every node ignored", "values of node data that are no numbers or not there for every node ignored")
	}
	// One of x and y alone is an attribute.
	drawn := slices.Contains(names, "x") && slices.Contains(names, "y")
	row := make([]float64, 0, len(names))
	for v, data := range n.node {
		var x, y float64
		row = row[:0]
		for _, name := range names {
			value, err := strconv.ParseFloat(data[name], 64)
			switch {
			case err != nil:
				return fmt.Errorf("node data %q: %s, want a number", name, quote([]byte(data[name])))
			case drawn && name == "x":
				x = value
			case drawn && name == "y":
				y = value
			default:
				row = append(row, value)
			}
		}
		if len(row) > 0 {
			b.SetAttributes(v, row)
		}
		if drawn {
			b.SetCoordinates(v, x, y)
		}
	}
	return nil
}
