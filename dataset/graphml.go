package dataset

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

func init() { sources[GraphML] = graphmlSource }

// graphmlKey declares data.
type graphmlKey struct {
	domain  string // "node", "edge", "graph", "all"
	name    string
	numeric bool
	initial string
	hasInit bool
}

// graphmlReader reads one graph after the other.
type graphmlReader struct {
	d     *xml.Decoder
	in    *record
	name  string
	keys  map[string]*graphmlKey
	order []string // ids of the keys
	opts  Options
	warn  *warnings
	root  bool // the root element was read
}

func graphmlSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	bounded := &record{r: in, max: opts.Limits.Record}
	r := &graphmlReader{d: xml.NewDecoder(bounded), in: bounded, name: name, keys: map[string]*graphmlKey{}, opts: opts, warn: warn}
	r.d.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		switch strings.ToLower(charset) {
		case "us-ascii", "utf8":
			return input, nil
		case "iso-8859-1", "latin1":
			return &latin1{r: input}, nil
		}
		return nil, fmt.Errorf("encoding %q, want UTF-8 or ISO-8859-1", charset)
	}
	return r.next, nil
}

// latin1 turns ISO-8859-1 into UTF-8.
type latin1 struct {
	r    io.Reader
	rest []byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		var buf [1024]byte
		n, err := l.r.Read(buf[:])
		for _, c := range buf[:n] {
			l.rest = append(l.rest, string(rune(c))...)
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (r *graphmlReader) line() int {
	line, _ := r.d.InputPos()
	return line
}

func (r *graphmlReader) fail(format string, args ...any) error {
	return at(r.name, r.line(), format, args...)
}

// token returns the next element start or end, or text.
func (r *graphmlReader) token() (xml.Token, error) {
	t, err := r.d.Token()
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		if r.in.last != nil {
			err = broken(r.in.last)
		}
		if s, ok := err.(*xml.SyntaxError); ok {
			return nil, at(r.name, s.Line, "%s", s.Msg)
		}
		return nil, r.fail("%w", err)
	}
	return t, nil
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// next returns the next graph of the file.
func (r *graphmlReader) next() (*graph.Graph, error) {
	for {
		t, err := r.token()
		if err == io.EOF {
			if !r.root {
				return nil, r.fail("no element graphml")
			}
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if !r.root {
			if e.Name.Local != "graphml" {
				return nil, r.fail("root element %q, want graphml", e.Name.Local)
			}
			r.root = true
			continue
		}
		switch e.Name.Local {
		case "key":
			err = r.key(e)
		case "graph":
			g, err := r.graph(e)
			r.in.reset()
			return g, err
		default:
			err = r.skip()
		}
		if err != nil {
			return nil, err
		}
	}
}

// skip reads to the end of the element that was opened last.
func (r *graphmlReader) skip() error {
	for depth := 1; depth > 0; {
		t, err := r.token()
		if err != nil {
			return r.early(err)
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

func (r *graphmlReader) early(err error) error {
	if err == io.EOF {
		return r.fail("the file breaks off")
	}
	return err
}

// text returns the text up to the end of the element; elements inside are skipped.
func (r *graphmlReader) text() (string, error) {
	var s strings.Builder
	for {
		t, err := r.token()
		if err != nil {
			return "", r.early(err)
		}
		switch t := t.(type) {
		case xml.CharData:
			s.Write(t)
		case xml.StartElement:
			if err := r.skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return s.String(), nil
		}
	}
}

func (r *graphmlReader) key(e xml.StartElement) error {
	k := &graphmlKey{domain: attr(e, "for"), name: attr(e, "attr.name")}
	if k.name == "" {
		k.name = attr(e, "id")
	}
	if k.domain == "" {
		k.domain = "all"
	}
	switch attr(e, "attr.type") {
	case "int", "long", "float", "double":
		k.numeric = true
	}
	for {
		t, err := r.token()
		if err != nil {
			return r.early(err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			text, err := r.text()
			if err != nil {
				return err
			}
			if t.Name.Local == "default" {
				k.initial, k.hasInit = text, true
			}
		case xml.EndElement:
			id := attr(e, "id")
			if r.keys[id] == nil {
				r.order = append(r.order, id)
			}
			r.keys[id] = k
			return nil
		}
	}
}

// defaults returns the data that elements of a domain have before their own, nil when
// there is none.
func (r *graphmlReader) defaults(domain string) map[string]string {
	var m map[string]string
	for _, id := range r.order {
		if k := r.keys[id]; k.hasInit && (k.domain == domain || k.domain == "all") {
			if m == nil {
				m = map[string]string{}
			}
			m[k.name] = k.initial
		}
	}
	return m
}

// children reads the data of an element up to its end and adds it to data.
func (r *graphmlReader) children(of xml.StartElement, data map[string]string) (map[string]string, error) {
	for {
		t, err := r.token()
		if err != nil {
			return nil, r.early(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return data, nil
		case xml.StartElement:
			switch t.Name.Local {
			case "data":
				data, err = r.datum(t, data)
			case "graph":
				err = r.fail("graph inside %s, want flat graphs", of.Name.Local)
			default: // port, desc
				err = r.skip()
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

func (r *graphmlReader) datum(e xml.StartElement, data map[string]string) (map[string]string, error) {
	text, err := r.text()
	if err != nil {
		return nil, err
	}
	k := r.keys[attr(e, "key")]
	if k == nil {
		return nil, r.fail("data of key %q, which is not declared", attr(e, "key"))
	}
	if data == nil {
		data = map[string]string{}
	}
	data[k.name] = strings.TrimSpace(text)
	return data, nil
}

func (r *graphmlReader) graph(e xml.StartElement) (*graph.Graph, error) {
	n := newNamed()
	n.id = attr(e, "id")
	n.data = r.defaults("graph")
	directed := attr(e, "edgedefault") == "directed"
	known := map[string]bool{} // nodes that were declared
	type end struct {
		name string
		line int
	}
	var used []end // nodes that edges name, to be declared somewhere
	for {
		t, err := r.token()
		if err != nil {
			return nil, r.early(err)
		}
		if _, ok := t.(xml.EndElement); ok {
			break
		}
		c, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch c.Name.Local {
		case "data":
			n.data, err = r.datum(c, n.data)
		case "node":
			id := attr(c, "id")
			if known[id] {
				return nil, r.fail("second node %q", id)
			}
			known[id] = true
			v, err := n.vertex(id, r.opts.Limits)
			if err != nil {
				return nil, r.fail("%w", err)
			}
			if n.node[v], err = r.children(c, r.defaults("node")); err != nil {
				return nil, err
			}
		case "edge":
			line := r.line()
			ends := [2]int{}
			for i, key := range []string{"source", "target"} {
				name := attr(c, key)
				if ends[i], err = n.vertex(name, r.opts.Limits); err != nil {
					return nil, r.fail("%w", err)
				}
				if !known[name] {
					used = append(used, end{name, line})
				}
			}
			data, err := r.children(c, r.defaults("edge"))
			if err != nil {
				return nil, err
			}
			way := directed
			if d := attr(c, "directed"); d != "" {
				way = d == "true"
			}
			if err := n.edge(ends[0], ends[1], data, way, line, r.opts.Limits); err != nil {
				return nil, r.fail("%w", err)
			}
		case "hyperedge":
			err = r.fail("hyperedge, want edges between two nodes")
		default:
			err = r.skip()
		}
		if err != nil {
			return nil, err
		}
	}
	for _, u := range used {
		if !known[u.name] {
			return nil, at(r.name, u.line, "edge to node %q, which does not exist", u.name)
		}
	}
	b, line, err := n.builder(r.opts, r.warn)
	if err == nil {
		line, err = r.line(), r.columns(n, b)
	}
	if err != nil {
		if line == 0 {
			line = r.line()
		}
		return nil, at(r.name, line, "%w", err)
	}
	g, err := b.Build()
	if err != nil {
		return nil, r.fail("graph %q: %w", n.id, err)
	}
	return g, nil
}

// columns takes coordinates from the numeric keys x and y, and attributes from the other
// numeric keys that every node has.
func (r *graphmlReader) columns(n *named, b *graph.Builder) error {
	if len(n.node) == 0 {
		return nil
	}
	label := ""
	for _, k := range wanted(r.opts.NodeLabelKey, nodeLabelNames) {
		for _, id := range r.order {
			if label == "" && strings.EqualFold(r.keys[id].name, k) {
				label = r.keys[id].name
			}
		}
	}
	var names []string
	x, y := false, false
	for _, id := range r.order {
		k := r.keys[id]
		if k.domain != "node" && k.domain != "all" || k.name == label {
			continue
		}
		have := 0
		for _, data := range n.node {
			if _, ok := data[k.name]; ok {
				have++
			}
		}
		switch {
		case have == 0:
		case !k.numeric || have < len(n.node):
			r.warn.add(have, "value of node data that is no number or not there for every node ignored", "values of node data that are no numbers or not there for every node ignored")
		case k.name == "x":
			x = true
		case k.name == "y":
			y = true
		default:
			names = append(names, k.name)
		}
	}
	if x != y { // one of them alone is an attribute
		names = append(names, map[bool]string{true: "x", false: "y"}[x])
	}
	parse := func(v int, key string) (float64, error) {
		f, err := strconv.ParseFloat(n.node[v][key], 64)
		if err != nil {
			return 0, fmt.Errorf("node data %q: %s, want a number", key, quote([]byte(n.node[v][key])))
		}
		return f, nil
	}
	row := make([]float64, len(names))
	for v := range n.node {
		var err error
		for i, name := range names {
			if row[i], err = parse(v, name); err != nil {
				return err
			}
		}
		if len(row) > 0 {
			b.SetAttributes(v, row)
		}
		if x && y {
			px, err := parse(v, "x")
			if err != nil {
				return err
			}
			py, err := parse(v, "y")
			if err != nil {
				return err
			}
			b.SetCoordinates(v, px, py)
		}
	}
	return nil
}
