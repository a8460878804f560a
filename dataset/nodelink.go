package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
)

// nodeLinkReader reads graphs as NetworkX and D3 write them: an object, several of them, or a list of them.
//
//	{"directed": true, "graph": {"class": "a"},
//	 "nodes": [{"id": "u", "label": "x"}, {"id": "v"}], "links": [{"source": "u", "target": "v", "weight": 2}]}
type nodeLinkReader struct {
	*stream
	d       *json.Decoder
	bounded *bounded
	lines   lineCounter
	list    bool // the graphs are in a list
	n       *named
	byPlace bool      // vertices have no identifiers: edges name them by their places
	edges   []jsonArc // until all vertices are known
	texts   keySet    // keys of vertices with a value that is no number
}

type jsonArc struct {
	u, v string
	data data
	line int
}

// lineCounter finds the line of an offset in what went through it.
type lineCounter struct {
	r    io.Reader
	at   int64   // bytes so far
	ends []int64 // offsets of line ends behind the last place that was asked for
	line int     // lines before these
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.ends = append(c.ends, c.at+int64(i))
		}
	}
	c.at += int64(n)
	return n, err
}

// of returns the line of an offset, which does not decrease from call to call.
func (c *lineCounter) of(offset int64) int {
	i, _ := slices.BinarySearch(c.ends, offset)
	c.ends, c.line = c.ends[i:], c.line+i
	return c.line + 1
}

func readNodeLink(s *stream) (nextGraph, error) {
	r := &nodeLinkReader{stream: s, bounded: &bounded{r: s.in, max: s.opts.Limits.Record}}
	r.lines.r = r.bounded
	r.d = json.NewDecoder(&r.lines)
	r.d.UseNumber()
	return func() (*graph.Graph, error) {
		g, err := r.next()
		var syntax *json.SyntaxError
		switch {
		case err == nil || err == io.EOF:
			return g, err
		case r.bounded.last != nil:
			err = broken(r.bounded.last)
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("the graph ends too early")
		case errors.As(err, &syntax):
			err = errors.New(syntax.Error())
		}
		return nil, s.at(r.line(), err)
	}, nil
}

func (r *nodeLinkReader) line() int { return r.lines.of(r.d.InputOffset()) }

// next returns the next graph.
func (r *nodeLinkReader) next() (*graph.Graph, error) {
	r.bounded.reset()
	if r.list && !r.d.More() {
		if _, err := r.d.Token(); err != nil {
			return nil, err
		}
		r.list = false
	}
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	if t == json.Delim('[') && !r.list {
		r.list = true
		return r.next()
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("%v, want a graph as an object", t)
	}
	return r.graph()
}

// graph reads a graph, whose object is open.
func (r *nodeLinkReader) graph() (*graph.Graph, error) {
	r.n, r.edges, r.byPlace, r.texts = newNamed(r.opts.Limits), nil, false, keySet{}
	directed, nodes := r.opts.Directed, false
	for r.d.More() {
		t, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		switch key {
		case "nodes":
			nodes = true
			err = r.each(key, r.node)
		case "links", "edges":
			err = r.each(key, r.edge)
		case "graph":
			err = r.about()
		case "directed":
			if err = r.d.Decode(&directed); err != nil {
				err = errors.New(`field "directed": want true or false`)
			}
		default:
			err = r.other(key)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := r.d.Token(); err != nil {
		return nil, err
	}
	if !nodes {
		return nil, errors.New(`no field "nodes"`)
	}
	for key := range r.texts {
		r.n.numbers[key] = false
	}
	if err := r.connect(directed); err != nil {
		return nil, err
	}
	r.n.id, _ = r.n.data.find([]string{"name", "id"})
	return r.n.build(r.stream)
}

// connect adds the edges.
func (r *nodeLinkReader) connect(directed bool) error {
	r.n.directed = directed
	for _, e := range r.edges {
		var ends [2]int
		for i, name := range []string{e.u, e.v} {
			v, ok := r.n.index[name]
			if !ok {
				return &lineError{e.line, fmt.Errorf("edge to node %q, which does not exist", name)}
			}
			ends[i] = v
		}
		if err := r.n.edge(ends[0], ends[1], e.data, directed, e.line); err != nil {
			return &lineError{e.line, err}
		}
	}
	if !r.byPlace {
		return nil
	}
	r.n.title = make([]string, len(r.n.node)) // names that are no identifiers
	for v, d := range r.n.node {
		key, ok := d.key([]string{"name"})
		if !ok {
			r.n.title = nil
			return nil
		}
		r.n.title[v] = d[key]
	}
	for _, d := range r.n.node {
		delete(d, "name")
	}
	return nil
}

// each reads the objects of a list.
func (r *nodeLinkReader) each(key string, object func(map[string]json.RawMessage) error) error {
	t, err := r.d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("field %q: want a list of objects", key)
	}
	for r.d.More() {
		var fields map[string]json.RawMessage
		if err := r.d.Decode(&fields); err != nil {
			var kind *json.UnmarshalTypeError
			if errors.As(err, &kind) {
				err = fmt.Errorf("field %q: %s, want an object", key, kind.Value)
			}
			return err
		}
		if err := object(fields); err != nil {
			return err
		}
	}
	_, err = r.d.Token()
	return err
}

// about reads the data of the graph.
func (r *nodeLinkReader) about() error {
	var fields json.RawMessage
	if err := r.d.Decode(&fields); err != nil {
		return err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(fields, &object) != nil { // another form of the same: pairs
		var pairs [][2]json.RawMessage
		if json.Unmarshal(fields, &pairs) != nil {
			return errors.New(`field "graph": want an object`)
		}
		object = map[string]json.RawMessage{}
		for _, p := range pairs {
			object[jsonName(p[0])] = p[1]
		}
	}
	for key, value := range object {
		r.graphData(key, value)
	}
	return nil
}

func (r *nodeLinkReader) other(key string) error {
	var value json.RawMessage
	err := r.d.Decode(&value)
	if err == nil && key != "multigraph" {
		r.graphData(key, value)
	}
	return err
}

// graphData keeps a value of the graph that is a text, a number or a truth value.
func (r *nodeLinkReader) graphData(key string, value json.RawMessage) {
	if value = bytes.TrimSpace(value); len(value) > 0 && value[0] != '{' && value[0] != '[' && value[0] != 'n' {
		r.n.data[key] = jsonName(value)
	}
}

// jsonName returns a value as a text: what is in the quotes of a text, else its JSON.
func jsonName(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return string(value)
	}
	return out.String()
}

// nodeLinkValues adds the values of an object to data. A list of numbers becomes one value for each:
// x.1, x.2, …. It calls text for every key with a value that is no number.
func nodeLinkValues(out data, fields map[string]json.RawMessage, text func(key string)) {
	for key, value := range fields {
		value = bytes.TrimSpace(value)
		var list []json.Number
		switch {
		case string(value) == "null":
		case value[0] == '[' && json.Unmarshal(value, &list) == nil:
			for i, x := range list {
				out[key+"."+strconv.Itoa(i+1)] = string(x)
			}
		default:
			out[key] = jsonName(value)
			if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
				text(key)
			}
		}
	}
}

func (r *nodeLinkReader) node(fields map[string]json.RawMessage) error {
	id, ok := fields["id"]
	place := strconv.Itoa(len(r.n.node))
	if r.byPlace = r.byPlace || len(r.n.node) == 0 && !ok; !r.byPlace && !ok {
		return errors.New("node without an id, which nodes before it have")
	}
	name := place
	if !r.byPlace {
		name = jsonName(id)
		delete(fields, "id")
	}
	d := data{}
	nodeLinkValues(d, fields, func(key string) { r.texts[key] = true })
	return r.n.newVertex(name, d, r.line())
}

func (r *nodeLinkReader) edge(fields map[string]json.RawMessage) error {
	e := jsonArc{data: data{}, line: r.line()}
	for i, key := range []string{"source", "target"} {
		end, ok := fields[key]
		if !ok {
			return fmt.Errorf("edge without a %s", key)
		}
		*[]*string{&e.u, &e.v}[i] = jsonName(end)
		delete(fields, key)
	}
	delete(fields, "key") // of parallel edges
	nodeLinkValues(e.data, fields, func(string) {})
	if len(r.edges) >= r.opts.Limits.Edges {
		return fmt.Errorf("more than %d edges, which is the limit", r.opts.Limits.Edges)
	}
	r.edges = append(r.edges, e)
	return nil
}

// nodeLink reports whether JSON that begins so is a graph of this form, and not a line of Graph JSON Lines.
func nodeLink(head []byte) bool {
	return head[0] == '[' || nodeLinkStart.Match(head)
}
