package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// pajekNodeLabels are keys for the label of a vertex: data of other programs, a partition, then the
// text of the vertex, which is its name first.
var pajekNodeLabels = slices.Concat(nodeLabelNames, []string{pajekPartition, pajekName})

const (
	pajekPartition = "*partition"
	pajekName      = "*name"
)

// Drawing parameters of Pajek, which stand with a value behind a vertex or an edge, and shapes of vertices,
// which stand alone.
var (
	pajekVertexDrawing = keysOf("x_fact y_fact phi r q ic bc bw lc la lr lphi fos font s_size x y")
	pajekEdgeDrawing   = keysOf("c a ap p s lp lr lphi lc la fos font h1 h2 a1 k1 a2 k2 hook1 hook2")
	pajekShapes        = keysOf("box ellipse circle diamond triangle cross empty house man woman")
)

// pajekReader reads one network after the other.
//
//	*Network name
//	*Vertices 2
//	1 "a" 0.1 0.2
//	2 "b" 0.3 0.4
//	*Arcs
//	1 2 1.5 l "text"
type pajekReader struct {
	*stream
	l       *lines
	n       *named
	drawn   int    // vertices with a position
	section string // in lower case, "" before the first
	rest    string // what stands behind it
	rows    int    // lines of the section so far
	edges   string // relation of arcs and edges
	key     string // of the values that follow, in a partition or a vector
	matrix  [2]int // the first and the last edge of a matrix
	name    string // of the next network
	wait    bool   // the line that was read last begins the next network
}

func readPajek(s *stream) (nextGraph, error) {
	r := &pajekReader{stream: s, l: s.lines()}
	return func() (*graph.Graph, error) {
		g, err := r.next()
		if err != nil && err != io.EOF && !r.l.broken {
			err = s.at(r.l.n, err)
		}
		return g, err
	}, nil
}

// next returns the next network, which ends where another one begins or with the file.
func (r *pajekReader) next() (*graph.Graph, error) {
	r.n, r.drawn, r.key, r.matrix = nil, 0, "", [2]int{}
	size := 0
	for {
		if !r.wait {
			line, err := r.l.content("%")
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			if size += len(line); size > r.opts.Limits.Record {
				return nil, fmt.Errorf("record longer than %d bytes, which is the limit", r.opts.Limits.Record)
			}
			if line[0] != '*' {
				if err := r.row(line); err != nil {
					return nil, err
				}
				continue
			}
			word := line[:len(line)-len(bytes.TrimLeftFunc(line, func(c rune) bool { return c != ' ' && c != '\t' }))]
			r.section, r.rest, r.rows = strings.ToLower(string(word[1:])), string(bytes.TrimSpace(line[len(word):])), 0
		}
		begins := r.section == "network" || r.section == "vertices" && r.key == ""
		if r.wait = begins && r.n != nil; r.wait {
			break
		}
		if err := r.open(); err != nil {
			return nil, err
		}
	}
	if r.n == nil {
		return nil, io.EOF
	}
	return r.network()
}

// open begins a section.
func (r *pajekReader) open() error {
	field := strings.Fields(r.rest)
	switch r.section {
	case "network":
		r.name, r.key = r.rest, ""
	case "vertices":
		return r.vertices(field)
	case "arcs", "edges", "arcslist", "edgeslist", "matrix":
		if r.n == nil {
			return fmt.Errorf("*%s before *Vertices", r.section)
		}
		r.n.directed = r.n.directed || r.section == "arcs" || r.section == "arcslist"
		// Several relations: *Arcs :1 "name"
		number, name, _ := strings.Cut(r.rest, " ")
		if r.edges = ""; strings.HasPrefix(number, ":") {
			if r.edges = number[1:]; strings.TrimSpace(name) != "" {
				r.edges = strings.Trim(strings.TrimSpace(name), `"`)
			}
		}
		if r.section == "matrix" {
			r.matrix = [2]int{len(r.n.edges), len(r.n.edges)}
		}
	case "partition", "vector":
		if r.n == nil {
			return fmt.Errorf("*%s before the network that it belongs to", r.section)
		}
		if r.key = pajekPartition; r.section == "vector" {
			r.key = cmp.Or(r.rest, "vector")
		}
	default:
		r.warn.add(1, "section that is neither vertices nor edges left out", "sections that are neither vertices nor edges left out")
	}
	return nil
}

// vertices begins a network, or the values of a partition or a vector.
func (r *pajekReader) vertices(field []string) error {
	if len(field) == 0 {
		return errors.New("*Vertices without their number")
	}
	n, err := integer([]byte(field[0]))
	if err != nil || n < 0 {
		return fmt.Errorf("*Vertices %s, want their number", quote([]byte(field[0])))
	}
	if r.key != "" {
		if r.section = "values"; int(n) != len(r.n.node) {
			return fmt.Errorf("values of %d vertices for a network of %d", n, len(r.n.node))
		}
		return nil
	}
	if int(n) > r.opts.Limits.Vertices {
		return fmt.Errorf("more than %d vertices, which is the limit", r.opts.Limits.Vertices)
	}
	if err := r.bare(int(n)); err != nil {
		return err
	}
	r.n = newNamed(r.opts.Limits)
	r.n.labels = pajekNodeLabels
	r.n.id, r.name = r.name, ""
	r.n.drawn = keySet{pajekName: true}
	r.n.name, r.n.node, r.n.lines = make([]string, n), make([]data, n), make([]int, n)
	for v := range int(n) {
		r.n.name[v] = strconv.Itoa(v + 1)
	}
	return nil
}

// row reads a line of a section.
func (r *pajekReader) row(line []byte) error {
	field, err := pajekFields(line)
	if err != nil {
		return err
	}
	r.rows++
	switch r.section {
	case "":
		return fmt.Errorf("%s, want a section such as *Vertices", quote(line))
	case "vertices":
		return r.vertex(field)
	case "arcs", "edges":
		return r.edge(field)
	case "arcslist", "edgeslist":
		for _, to := range field[1:] {
			if err := r.edge([]string{field[0], to}); err != nil {
				return err
			}
		}
	case "matrix":
		return r.matrixRow(field)
	case "values":
		return r.value(field)
	}
	return nil
}

// pajekFields splits a line at blanks. A text in quotes is one field.
func pajekFields(line []byte) (out []string, err error) {
	for {
		line = bytes.TrimLeft(line, " \t")
		if len(line) == 0 {
			return out, nil
		}
		end := bytes.IndexAny(line, " \t")
		if line[0] == '"' {
			if end = bytes.IndexByte(line[1:], '"'); end < 0 {
				return nil, fmt.Errorf("text %s is not closed", quote(line))
			}
			out, line = append(out, string(line[1:end+1])), line[end+2:]
			continue
		}
		if end < 0 {
			end = len(line)
		}
		out, line = append(out, string(line[:end])), line[end:]
	}
}

// number returns the vertex that a field names.
func (r *pajekReader) number(field string) (int, error) {
	v, err := integer([]byte(field))
	if err != nil || v < 1 || int(v) > len(r.n.node) {
		return 0, fmt.Errorf("vertex %s out of range [1, %d]", quote([]byte(field)), len(r.n.node))
	}
	return int(v) - 1, nil
}

// vertex reads the number of a vertex, its text, position and parameters.
func (r *pajekReader) vertex(field []string) error {
	v, err := r.number(field[0])
	if err != nil {
		return err
	}
	if r.n.node[v] == nil {
		r.n.node[v] = data{}
	}
	d := r.n.node[v]
	r.n.lines[v] = r.l.n
	if len(field) > 1 {
		r.n.name[v], d[pajekName] = field[1], field[1]
	}
	field = field[min(2, len(field)):]
	at := 0
	for at < min(3, len(field)) {
		if _, err := decimal([]byte(field[at])); err != nil {
			break
		}
		at++
	}
	if at >= 2 {
		d["x"], d["y"] = field[0], field[1]
		r.drawn++
	}
	parameters(d, field[at:], pajekVertexDrawing, pajekShapes)
	return nil
}

// parameters reads keys with values. Words that stand alone, and keys for drawing, are left out.
func parameters(d data, field []string, drawing, alone keySet) {
	for len(field) > 1 {
		key := strings.ToLower(field[0])
		if alone[key] {
			field = field[1:]
			continue
		}
		if !drawing[key] {
			d[field[0]] = field[1]
		}
		field = field[2:]
	}
}

// edge reads the ends of an edge, its weight and parameters.
func (r *pajekReader) edge(field []string) error {
	if len(field) < 2 {
		return fmt.Errorf("%s, want two vertices", quote([]byte(field[0])))
	}
	u, err := r.number(field[0])
	if err != nil {
		return err
	}
	v, err := r.number(field[1])
	if err != nil {
		return err
	}
	d := data{}
	if field = field[2:]; len(field) > 0 {
		if _, err := decimal([]byte(field[0])); err == nil {
			d["weight"] = field[0]
			field = field[1:]
		}
	}
	parameters(d, field, pajekEdgeDrawing, nil)
	if text, ok := d["l"]; ok {
		delete(d, "l")
		d["label"] = text
	}
	if _, ok := d["label"]; !ok && r.edges != "" {
		d["label"] = r.edges
	}
	return r.n.edge(u, v, d, r.section == "arcs" || r.section == "arcslist", r.l.n)
}

// matrixRow reads the weights from a vertex to all others, 0 for no arc.
func (r *pajekReader) matrixRow(field []string) error {
	if r.rows > len(r.n.node) || len(field) != len(r.n.node) {
		return fmt.Errorf("row %d of the matrix has %s, want %d rows of as many", r.rows, counted(len(field), "number", "numbers"), len(r.n.node))
	}
	r.n.directed = true
	for v, text := range field {
		w, err := decimal([]byte(text))
		if err != nil {
			return err
		}
		if w == 0 {
			continue
		}
		if err := r.n.edge(r.rows-1, v, data{"weight": text}, true, r.l.n); err != nil {
			return err
		}
	}
	r.matrix[1] = len(r.n.edges)
	return nil
}

// value reads the value of the next vertex in a partition or a vector.
func (r *pajekReader) value(field []string) error {
	if r.rows > len(r.n.node) {
		return fmt.Errorf("%d values for %d vertices", r.rows, len(r.n.node))
	}
	r.n.node[r.rows-1] = r.n.node[r.rows-1].with(data{r.key: field[0]})
	return nil
}

// network makes the graph.
func (r *pajekReader) network() (*graph.Graph, error) {
	same := true // all vertices at one place
	for _, d := range r.n.node {
		same = same && d["x"] == r.n.node[0]["x"] && d["y"] == r.n.node[0]["y"]
	}
	if r.drawn < len(r.n.node) || same && len(r.n.node) > 1 {
		for _, d := range r.n.node { // nil for one without a line
			delete(d, "x")
			delete(d, "y")
		}
	}
	r.symmetric()
	return r.n.build(r.stream)
}

// symmetric makes the graph undirected if its edges are those of a symmetric matrix.
func (r *pajekReader) symmetric() {
	n := r.n
	if from, to := r.matrix[0], r.matrix[1]; from > 0 || to < len(n.edges) || to == 0 {
		return
	}
	weight := map[[2]int]string{}
	for _, e := range n.edges {
		weight[[2]int{e.u, e.v}] = e.data["weight"]
	}
	for _, e := range n.edges {
		if weight[[2]int{e.v, e.u}] != e.data["weight"] {
			return
		}
	}
	n.directed = false
	n.edges = slices.DeleteFunc(n.edges, func(e namedEdge) bool { return e.u > e.v })
	for i := range n.edges {
		n.edges[i].directed = false
	}
}
