package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/graph"
)

func init() { sources[JSONLines] = jsonSource }

// jsonGraph is a line of Graph JSON Lines.
type jsonGraph struct {
	ID          jsonText    `json:"id,omitempty"`
	Nodes       *int        `json:"nodes"`
	Edges       *jsonEdges  `json:"edges"`
	NodeLabels  []jsonText  `json:"node_labels,omitempty"`
	Attributes  [][]float64 `json:"node_attributes,omitempty"`
	EdgeLabels  []jsonText  `json:"edge_labels,omitempty"`
	Coordinates [][]float64 `json:"coordinates,omitempty"`
	Target      jsonText    `json:"target,omitempty"`
}

// jsonText is a text that may also stand as a number or a truth value.
type jsonText string

func (t *jsonText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case '{', '[':
		return fmt.Errorf("%s, want a text or a number", quote(b))
	case 'n': // null: absent
		*t = ""
	default:
		*t = jsonText(b)
	}
	return nil
}

// jsonEdges are edges [u, v] or [u, v, weight]. They are parsed by hand: a slice for each
// would cost ten times the memory of the text.
type jsonEdges []jsonEdge

type jsonEdge struct {
	u, v int32
	w    float64
}

func (e *jsonEdges) UnmarshalJSON(b []byte) error {
	*e = jsonEdges{}
	if b[0] != '[' {
		return fmt.Errorf("%s, want a list of edges", quote(b))
	}
	b = bytes.TrimLeft(b[1:], " \t\r\n")
	for b[0] != ']' {
		if b[0] != '[' {
			return fmt.Errorf("edge %d: %s, want a list of two vertices and perhaps a weight", len(*e), quote(b))
		}
		end := bytes.IndexByte(b, ']')
		if end < 0 { // inside a text: the whole is valid JSON
			return fmt.Errorf("edge %d: %s, want numbers", len(*e), quote(b))
		}
		edge, err := parseJSONEdge(b[1:end])
		if err != nil {
			return fmt.Errorf("edge %d: %w", len(*e), err)
		}
		*e = append(*e, edge)
		b = bytes.TrimLeft(b[end+1:], " \t\r\n,")
		if len(b) == 0 {
			return fmt.Errorf("edge %d: want a list of numbers", len(*e))
		}
	}
	return nil
}

func parseJSONEdge(b []byte) (jsonEdge, error) {
	e := jsonEdge{w: 1}
	n := 0
	for ; ; n++ {
		field, rest, more := bytes.Cut(b, []byte(","))
		field = bytes.TrimSpace(field)
		var err error
		switch n {
		case 0:
			e.u, err = integer(field)
		case 1:
			e.v, err = integer(field)
		case 2:
			if e.w, err = decimal(field); err == nil && !positive(e.w) {
				err = fmt.Errorf("weight %v, want a positive number", e.w)
			}
		}
		if err != nil {
			return e, err
		}
		if !more {
			break
		}
		b = rest
	}
	if n != 1 && n != 2 {
		return e, fmt.Errorf("%d numbers, want two vertices and perhaps a weight", n+1)
	}
	return e, nil
}

func jsonSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	l := newLines(name, in, opts.Limits)
	return func() (*graph.Graph, error) {
		for {
			line, err := l.next()
			if err != nil {
				return nil, err
			}
			if line = trim(line); len(line) == 0 {
				continue
			}
			j, err := decodeJSONGraph(line, warn)
			if err != nil {
				return nil, l.fail("%w", err)
			}
			g, err := j.graph(l.n, opts, warn)
			if err != nil {
				return nil, l.fail("%w", err)
			}
			return g, nil
		}
	}, nil
}

// decodeJSONGraph decodes field by field, to name the field that is wrong and to count
// those that are unknown.
func decodeJSONGraph(line []byte, warn *warnings) (*jsonGraph, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	open, err := d.Token()
	if err != nil {
		return nil, jsonError(err)
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("%s, want an object", quote(line))
	}
	var j jsonGraph
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, jsonError(err)
		}
		key, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("%v, want the name of a field", t)
		}
		var to any
		switch key {
		case "id":
			to = &j.ID
		case "nodes":
			to = &j.Nodes
		case "edges":
			to = &j.Edges
		case "node_labels":
			to = &j.NodeLabels
		case "node_attributes":
			to = &j.Attributes
		case "edge_labels":
			to = &j.EdgeLabels
		case "coordinates":
			to = &j.Coordinates
		case "target":
			to = &j.Target
		default:
			to = new(json.RawMessage)
			warn.add(1, "unknown field ignored", "unknown fields ignored")
		}
		if err := d.Decode(to); err != nil {
			return nil, fmt.Errorf("field %s: %w", quote([]byte(key)), jsonError(err))
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, jsonError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the object, want one graph a line")
	}
	return &j, nil
}

func jsonError(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the object breaks off in the line")
	}
	return err
}

func (j *jsonGraph) graph(line int, opts Options, warn *warnings) (*graph.Graph, error) {
	if j.Nodes == nil || j.Edges == nil {
		return nil, errors.New(`no field "nodes" or no field "edges", want both`)
	}
	n := *j.Nodes
	if n < 0 || n > opts.Limits.Vertices {
		return nil, fmt.Errorf("%d nodes, want 0 to %d, the limit Limits.Vertices", n, opts.Limits.Vertices)
	}
	for _, c := range []struct {
		name       string
		have, want int
		what       string
	}{
		{"node_labels", len(j.NodeLabels), n, "nodes"},
		{"node_attributes", len(j.Attributes), n, "nodes"},
		{"coordinates", len(j.Coordinates), n, "nodes"},
		{"edge_labels", len(j.EdgeLabels), len(*j.Edges), "edges"},
	} {
		if c.have > 0 && c.have != c.want {
			return nil, fmt.Errorf("field %q: %d entries for %d %s", c.name, c.have, c.want, c.what)
		}
	}
	b := graph.NewBuilder(n)
	in := interner{}
	for v, t := range j.NodeLabels {
		b.SetLabel(v, in.text([]byte(t)))
	}
	for v, row := range j.Attributes {
		b.SetAttributes(v, row)
	}
	for v, xy := range j.Coordinates {
		if len(xy) != 2 {
			return nil, fmt.Errorf(`field "coordinates": %d numbers for node %d, want 2`, len(xy), v)
		}
		b.SetCoordinates(v, xy[0], xy[1])
	}
	as := arcs{labeled: len(j.EdgeLabels) > 0}
	for i, e := range *j.Edges {
		for _, v := range []int32{e.u, e.v} {
			if v < 0 || int(v) >= n {
				return nil, fmt.Errorf("edge %d: vertex %d out of range [0, %d)", i, v, n)
			}
		}
		label := ""
		if as.labeled {
			label = in.text([]byte(j.EdgeLabels[i]))
		}
		as.add(int(e.u), int(e.v), e.w, label, line)
	}
	if _, err := as.put(b, undirected, warn); err != nil {
		return nil, err
	}
	b.SetID(string(j.ID))
	b.SetTarget(string(j.Target))
	return b.Build()
}
