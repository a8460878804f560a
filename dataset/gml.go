package dataset

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"strconv"
	"strings"
	"text/scanner"

	"github.com/mlgkernel/mlg/graph"
)

// gmlDepth is the deepest nesting of lists.
const gmlDepth = 100

// gmlNodeLabels are keys for the label of a vertex. In GML "label" is the name of a vertex first.
var gmlNodeLabels = []string{"element", "symbol", "type", "label"}

// gmlReader reads one graph after the other: keys with values, which are numbers, texts in quotes, and
// lists of keys with values in brackets.
//
//	graph [ directed 1 node [ id 0 label "a" ] edge [ source 0 target 0 weight 2 ] ]
type gmlReader struct {
	*stream
	in      scanner.Scanner
	bounded *bounded
	token   string // the next one; "" at the end
	quoted  bool   // it is a text in quotes
	place   int    // its line
	ahead   bool
	err     error // the first, a *lineError
	n       *named
}

func readGML(s *stream) (nextGraph, error) {
	r := &gmlReader{stream: s, bounded: &bounded{r: s.in, max: s.opts.Limits.Record}}
	r.in.Init(latin1(r.bounded))
	r.in.Mode = scanner.ScanIdents
	r.in.IsIdentRune = func(c rune, _ int) bool { return dotName(c) || c == '-' || c == '+' }
	r.in.Error = func(_ *scanner.Scanner, text string) { r.fail(r.in.Pos().Line, "%s", text) }
	return func() (*graph.Graph, error) {
		g, err := r.next()
		if err == io.EOF {
			return nil, err
		}
		if r.bounded.last != nil {
			err = broken(r.bounded.last)
		}
		if err != nil {
			return nil, s.at(r.place, err)
		}
		return g, nil
	}, nil
}

// fail keeps the first error. There are no more tokens then.
func (r *gmlReader) fail(line int, format string, args ...any) {
	if r.err == nil {
		r.err = &lineError{line, fmt.Errorf(format, args...)}
	}
}

// peek returns the next token.
func (r *gmlReader) peek() string {
	if r.ahead {
		return r.token
	}
	c := r.in.Scan()
	for c == '#' { // a comment up to the end of the line
		for c != '\n' && c != scanner.EOF {
			c = r.in.Next()
		}
		c = r.in.Scan()
	}
	r.token, r.quoted, r.place = latin1Bytes(r.in.TokenText()), false, r.in.Position.Line
	switch {
	case c == scanner.EOF:
		r.token, r.place = "", r.in.Pos().Line
	case c == '"':
		r.token, r.quoted = html.UnescapeString(r.text()), true
	case c != scanner.Ident && c != '[' && c != ']':
		r.fail(r.place, "unexpected character %q", c)
	}
	if r.err != nil {
		r.token, r.quoted = "", false
	}
	r.ahead = true
	return r.token
}

// text reads up to the quote that ends a text.
func (r *gmlReader) text() string {
	var text []byte
	for {
		switch c := r.in.Next(); c {
		case scanner.EOF:
			r.fail(r.place, `text after " is not closed`)
			return ""
		case '"':
			return string(text)
		default:
			text = append(text, byte(c))
		}
	}
}

// key returns the next key of a list, and false at the end of the list. The outermost list has no bracket.
func (r *gmlReader) key(depth int) (string, bool) {
	key := r.peek()
	end := !r.quoted && (key == "" && depth == 0 || key == "]" && depth > 0)
	switch {
	case r.err != nil:
		return "", false
	case end:
	case key == "" && !r.quoted:
		r.fail(r.place, "the list ends too early, want ]")
		return "", false
	case r.quoted || key == "[" || key == "]" || key[0] >= '0' && key[0] <= '9':
		r.fail(r.place, "%s, want a key", quote([]byte(key)))
		return "", false
	}
	r.ahead = key == "" && !r.quoted
	return key, !end
}

// value returns the value that follows a key, or opens its list.
func (r *gmlReader) value(key string) (text string, list bool) {
	text = r.peek()
	switch {
	case r.err != nil:
	case !r.quoted && (text == "" || text == "]"):
		r.fail(r.place, "key %q without a value", key)
	default:
		r.ahead = false
		return text, text == "[" && !r.quoted
	}
	return "", false
}

// next returns the next graph of the file.
func (r *gmlReader) next() (*graph.Graph, error) {
	for {
		key, ok := r.key(0)
		if !ok {
			return nil, cmp.Or(r.err, io.EOF)
		}
		_, list := r.value(key)
		switch {
		case list && strings.EqualFold(key, "graph"):
			g, err := r.graph()
			r.bounded.reset()
			return g, err
		case list:
			r.list(data{}, nil, "", 1)
		}
	}
}

// list reads a list up to its end. The values inside lists get keys with a point, as in graphics.x, and
// those of a key that comes again get numbers, as in l, l.2, l.3. sub reads the lists that it knows.
func (r *gmlReader) list(out data, sub map[string]func(), prefix string, depth int) {
	if depth > gmlDepth {
		r.fail(r.place, "more than %d lists inside each other", gmlDepth)
	}
	times := map[string]int{}
	for {
		key, ok := r.key(depth)
		if !ok {
			return
		}
		text, list := r.value(key)
		if r.err != nil {
			return
		}
		lower := strings.ToLower(key)
		switch {
		case list && sub[lower] != nil:
			sub[lower]()
		case list:
			r.list(out, nil, prefix+key+".", depth+1)
		default:
			key = prefix + key
			if times[key]++; times[key] > 1 {
				key += "." + strconv.Itoa(times[key])
			}
			out[key] = text
		}
	}
}

// graph reads a graph, whose list is open.
func (r *gmlReader) graph() (*graph.Graph, error) {
	r.n = newNamed(r.opts.Limits)
	r.n.labels = gmlNodeLabels
	n := r.n
	all := data{}
	r.list(all, map[string]func(){"node": r.node, "edge": r.edge}, "", 1)
	if r.err != nil {
		return nil, r.err
	}
	directed, _ := all.find([]string{"directed"})
	for key, value := range all {
		if key == "directed" || key == "multigraph" || key == "label" || strings.Contains(key, ".") {
			continue
		}
		n.data[key] = value
	}
	n.id, _ = all.find([]string{"name", "label", "id"})
	n.directed = directed == "1"
	for i := range n.edges {
		n.edges[i].directed = n.directed
	}
	if err := n.whole(); err != nil {
		return nil, err
	}
	n.titles()
	return n.build(r.stream)
}

// titles takes the label of the vertices for their names, if every vertex has one and not all are the
// number of the vertex.
func (n *named) titles() {
	title := make([]string, len(n.node))
	number := true
	for v, d := range n.node {
		label, ok := d["label"]
		if !ok {
			return
		}
		title[v] = label
		number = number && (label == n.name[v] || label == strconv.Itoa(v))
	}
	if !number {
		n.title, n.drawn = title, keySet{"label": true}
		return
	}
	for _, d := range n.node {
		delete(d, "label")
	}
}

func (r *gmlReader) node() {
	line, d := r.place, data{}
	r.list(d, nil, "", 2)
	id, ok := d.find([]string{"id"})
	if !ok {
		r.fail(line, "node without an id")
	}
	for key := range d {
		if x, drawn := strings.CutPrefix(key, "graphics."); drawn && (x == "x" || x == "y") {
			d[x] = d[key]
		}
	}
	gmlUndrawn(d)
	delete(d, "id")
	if err := r.n.newVertex(id, d, line); err != nil && r.err == nil {
		r.err = err
	}
}

// gmlUndrawn removes what says how to draw.
func gmlUndrawn(d data) {
	maps.DeleteFunc(d, func(key, _ string) bool {
		list, _, inside := strings.Cut(strings.ToLower(key), ".")
		return inside && (list == "graphics" || list == "labelgraphics")
	})
}

func (r *gmlReader) edge() {
	line, d := r.place, data{}
	r.list(d, nil, "", 2)
	gmlUndrawn(d)
	var ends [2]int
	for i, key := range []string{"source", "target"} {
		name, ok := d[key]
		if !ok {
			r.fail(line, "edge without a %s", key)
			return
		}
		v, err := r.n.vertex(name)
		if err != nil {
			r.fail(line, "%w", err)
		}
		ends[i] = v
		delete(d, key)
	}
	if err := r.n.edge(ends[0], ends[1], d, false, line); err != nil {
		r.fail(line, "%w", err)
	}
}
