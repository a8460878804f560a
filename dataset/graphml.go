package dataset

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/graph"
)

// graphmlKey declares data.
type graphmlKey struct {
	ID      string  `xml:"id,attr"`
	Domain  string  `xml:"for,attr"` // "node", "edge", "graph", "all"
	Name    string  `xml:"attr.name,attr"`
	Type    string  `xml:"attr.type,attr"`
	Default *string `xml:"default"`
}

// graphmlReader reads one graph after the other.
type graphmlReader struct {
	*stream
	d       *xml.Decoder
	bounded *bounded
	keys    []*graphmlKey // in the order of their declarations
	byID    map[string]*graphmlKey
	initial map[string]data // default data by domain
	root    bool            // the root element was read
}

func readGraphML(s *stream) (nextGraph, error) {
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	r := &graphmlReader{stream: s, d: xml.NewDecoder(in), bounded: in, byID: map[string]*graphmlKey{},
		initial: map[string]data{"node": {}, "edge": {}, "graph": {}}}
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
		g, err := r.next()
		var syntax *xml.SyntaxError
		switch {
		case err == nil || err == io.EOF:
			return g, err
		case in.last != nil:
			err = broken(in.last)
		case errors.As(err, &syntax):
			err = &lineError{syntax.Line, errors.New(syntax.Msg)}
		}
		return nil, s.at(r.line(), err)
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

// within calls element for every element inside the one that was opened last. element
// reads to the end of its element.
func (r *graphmlReader) within(element func(xml.StartElement) error) error {
	for {
		t, err := r.d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := element(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// text returns the text in the element that was opened last, without elements inside.
func (r *graphmlReader) text() (string, error) {
	var text []byte
	for {
		t, err := r.d.Token()
		switch t := t.(type) {
		case xml.CharData:
			text = append(text, t...)
		case xml.StartElement:
			err = r.d.Skip()
		case xml.EndElement:
			return string(text), nil
		}
		if err != nil {
			return "", err
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

// next returns the next graph of the file.
func (r *graphmlReader) next() (*graph.Graph, error) {
	for {
		t, err := r.d.Token()
		if err == io.EOF && !r.root {
			err = errors.New("no element graphml")
		}
		if err != nil {
			return nil, err
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case !r.root && e.Name.Local != "graphml":
			return nil, fmt.Errorf("root element %q, want graphml", e.Name.Local)
		case !r.root:
			r.root = true
		case e.Name.Local == "key":
			err = r.key(e)
		case e.Name.Local == "graph":
			g, err := r.graph(e)
			r.bounded.reset()
			return g, err
		default:
			err = r.d.Skip()
		}
		if err != nil {
			return nil, err
		}
	}
}

// key reads a declaration.
func (r *graphmlReader) key(e xml.StartElement) error {
	k := &graphmlKey{}
	if err := r.d.DecodeElement(k, &e); err != nil {
		return err
	}
	k.Domain, k.Name = cmp.Or(k.Domain, "all"), cmp.Or(k.Name, k.ID)
	for domain, initial := range r.initial {
		if k.Default != nil && (k.Domain == domain || k.Domain == "all") {
			initial[k.Name] = *k.Default
		}
	}
	if old := r.byID[k.ID]; old != nil {
		*old = *k
		return nil
	}
	r.byID[k.ID] = k
	r.keys = append(r.keys, k)
	return nil
}

// datum adds a value to data, which is made when it is nil.
func (r *graphmlReader) datum(to *data, e xml.StartElement) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	k := r.byID[attr(e, "key")]
	if k == nil {
		return fmt.Errorf("data of key %q, which is not declared", attr(e, "key"))
	}
	if *to == nil {
		*to = data{}
	}
	(*to)[k.Name] = strings.TrimSpace(text)
	return nil
}

// element reads the data of a node or an edge up to its end. They are not nil.
func (r *graphmlReader) element(e xml.StartElement) (data, error) {
	var given data
	err := r.within(func(c xml.StartElement) error {
		switch c.Name.Local {
		case "data":
			return r.datum(&given, c)
		case "graph":
			return fmt.Errorf("graph inside %s, want graphs that are not nested", e.Name.Local)
		}
		return r.d.Skip() // port, desc
	})
	return r.initial[e.Name.Local].with(given), err
}

// graph reads a graph.
func (r *graphmlReader) graph(e xml.StartElement) (*graph.Graph, error) {
	n := newNamed(r.opts.Limits)
	n.id = attr(e, "id")
	given := data{}
	directed := attr(e, "edgedefault") == "directed"
	err := r.within(func(c xml.StartElement) error {
		switch c.Name.Local {
		case "data":
			return r.datum(&given, c)
		case "node":
			v, err := n.vertex(attr(c, "id"))
			if err == nil && n.node[v] != nil {
				err = fmt.Errorf("second node with the name %q", n.name[v])
			}
			if err == nil {
				n.node[v], err = r.element(c)
			}
			return err
		case "edge":
			line, way := r.line(), attr(c, "directed")
			u, err1 := n.vertex(attr(c, "source"))
			v, err2 := n.vertex(attr(c, "target"))
			d, err3 := r.element(c)
			if err := cmp.Or(err1, err2, err3); err != nil {
				return err
			}
			return n.edge(u, v, d, way == "true" || way == "" && directed, line)
		case "hyperedge":
			return errors.New("hyperedge, want edges between two nodes")
		}
		return r.d.Skip()
	})
	if err != nil {
		return nil, err
	}
	n.data = r.initial["graph"].with(given)
	for _, e := range n.edges {
		for _, v := range []int{e.u, e.v} {
			if n.node[v] == nil {
				return nil, &lineError{e.line, fmt.Errorf("edge to node %q, which does not exist", n.name[v])}
			}
		}
	}
	return n.build(r.stream, func(b *graph.Builder) error { return r.numbers(n, b) })
}

// numbers takes coordinates from the numeric keys x and y, and attributes from the other
// numeric keys that every node has.
func (r *graphmlReader) numbers(n *named, b *graph.Builder) error {
	var declared, names []string
	for _, k := range r.keys {
		declared = append(declared, k.Name)
	}
	label := findColumn(declared, nodeLabelNames)
	for _, k := range r.keys {
		if k.Domain != "node" && k.Domain != "all" || label >= 0 && k.Name == declared[label] {
			continue
		}
		have := 0
		for _, d := range n.node {
			if _, ok := d[k.Name]; ok {
				have++
			}
		}
		if have > 0 && have == len(n.node) && slices.Contains([]string{"int", "long", "float", "double"}, k.Type) {
			names = append(names, k.Name)
			continue
		}
		r.warn.add(have, "value of node data ignored, because it is not a number or some nodes have none", "values of node data ignored, because they are not numbers or some nodes have none")
	}
	// One of x and y alone is an attribute.
	drawn := slices.Contains(names, "x") && slices.Contains(names, "y")
	if drawn {
		names = append(slices.DeleteFunc(names, func(s string) bool { return s == "x" || s == "y" }), "x", "y")
	}
	numbers := make([]float64, len(names))
	for v, d := range n.node {
		for i, name := range names {
			var err error
			if numbers[i], err = strconv.ParseFloat(d[name], 64); err != nil {
				return fmt.Errorf("node data %q: %s, want a number", name, quote([]byte(d[name])))
			}
		}
		row := numbers
		if drawn {
			k := len(names) - 2
			row = numbers[:k]
			b.SetCoordinates(v, numbers[k], numbers[k+1])
		}
		if len(row) > 0 {
			b.SetAttributes(v, row)
		}
	}
	return nil
}
