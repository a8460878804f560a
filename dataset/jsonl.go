package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// jsonGraph is a line of Graph JSON Lines. Edges and texts have types of their own when they
// are read.
type jsonGraph[Text, Edges any] struct {
	ID          Text        `json:"id,omitempty"`
	Nodes       *int        `json:"nodes"`
	Edges       Edges       `json:"edges"`
	NodeNames   []Text      `json:"node_names,omitempty"`
	NodeLabels  []Text      `json:"node_labels,omitempty"`
	Attributes  [][]float64 `json:"node_attributes,omitempty"`
	EdgeLabels  []Text      `json:"edge_labels,omitempty"`
	Directed    *bool       `json:"directed,omitempty"`
	Coordinates [][]float64 `json:"coordinates,omitempty"`
	Target      Text        `json:"target,omitempty"`
	SMILES      string      `json:"smiles,omitempty"`
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

// UnmarshalJSON parses the text of a list, which is valid JSON.
func (e *jsonEdges) UnmarshalJSON(b []byte) error {
	*e = jsonEdges{}
	list, ok := bytes.CutPrefix(b, []byte("["))
	if !ok {
		return fmt.Errorf("%s, want a list of edges", quote(b))
	}
	for text := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte("]")), []byte("]")) {
		text = bytes.TrimLeft(text, " \t\r\n,")
		if len(text) == 0 { // after the last edge
			continue
		}
		numbers, ok := bytes.CutPrefix(text, []byte("["))
		if !ok {
			return fmt.Errorf("edge %d: %s, want a list of two vertices and perhaps a weight", len(*e), quote(text))
		}
		edge, err := parseJSONEdge(numbers)
		if err != nil {
			return fmt.Errorf("edge %d: %w", len(*e), err)
		}
		*e = append(*e, edge)
	}
	return nil
}

func parseJSONEdge(b []byte) (e jsonEdge, err error) {
	if n := 1 + bytes.Count(b, comma); n != 2 && n != 3 {
		return e, fmt.Errorf("%s, want two vertices and perhaps a weight", counted(n, "number", "numbers"))
	}
	from, rest, _ := bytes.Cut(b, comma)
	to, weight, weighted := bytes.Cut(rest, comma)
	if e.u, err = integer(bytes.TrimSpace(from)); err != nil {
		return e, err
	}
	if e.v, err = integer(bytes.TrimSpace(to)); err != nil {
		return e, err
	}
	e.w = 1
	if weighted {
		if e.w, err = decimal(bytes.TrimSpace(weight)); err == nil && !positive(e.w) {
			err = fmt.Errorf("weight %v, want a positive number", e.w)
		}
	}
	return e, err
}

// jsonReader reads one line after the other into the same place.
type jsonReader struct {
	*stream
	graph  jsonGraph[jsonText, *jsonEdges]
	fields map[string]any // where the values of the fields go
}

func readJSONLines(s *stream) (nextGraph, error) {
	l := s.lines()
	r := &jsonReader{stream: s}
	j := &r.graph
	r.fields = map[string]any{"id": &j.ID, "nodes": &j.Nodes, "edges": &j.Edges, "node_names": &j.NodeNames, "node_labels": &j.NodeLabels, "node_attributes": &j.Attributes,
		"edge_labels": &j.EdgeLabels, "directed": &j.Directed, "coordinates": &j.Coordinates, "target": &j.Target, "smiles": &j.SMILES}
	s.pass = func() error {
		_, err := l.content("")
		return err
	}
	return func() (*graph.Graph, error) {
		line, err := l.content("")
		if err != nil {
			return nil, err
		}
		*j = jsonGraph[jsonText, *jsonEdges]{}
		s.beside = Fields{SMILES: -1, Line: s.read.n}
		err = r.parse(line)
		if err == nil {
			var g *graph.Graph
			if g, err = r.build(); err == nil {
				return g, nil
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the object does not end in its line")
		}
		return nil, s.at(l.n, err)
	}, nil
}

// parse decodes a graph field by field, to name the field that is wrong and to count those
// that are unknown.
func (r *jsonReader) parse(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("%s, want an object", quote(line))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder takes nothing else
		to := r.fields[key]
		if to == nil {
			to = new(json.RawMessage)
			r.warn.add(1, "unknown field ignored", "unknown fields ignored")
		}
		if err := d.Decode(to); err != nil {
			return fmt.Errorf("field %s: %w", quote([]byte(key)), err)
		}
		r.field(key, to)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the object, want one graph per line")
	}
	return nil
}

// field keeps a value that is a text, a number or a truth value.
func (r *jsonReader) field(key string, value any) {
	var text jsonText
	switch v := value.(type) {
	case *jsonText:
		text = *v
	case *json.RawMessage:
		if text.UnmarshalJSON(*v) != nil {
			return
		}
	default:
		return
	}
	r.beside.Names, r.beside.Values = append(r.beside.Names, key), append(r.beside.Values, string(text))
}

// build makes a graph of what a line says.
func (r *jsonReader) build() (*graph.Graph, error) {
	j := &r.graph
	if j.Nodes == nil || j.Edges == nil {
		return nil, errors.New(`no field "nodes" or no field "edges", want both`)
	}
	n := *j.Nodes
	if most := r.opts.Limits.Vertices; n < 0 || n > most {
		return nil, fmt.Errorf("%d nodes, want 0 to %d", n, most)
	}
	if err := r.bare(n); err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name       string
		given      bool
		have, want int
		what       string
	}{
		{"node_names", j.NodeNames != nil, len(j.NodeNames), n, "nodes"},
		{"node_labels", j.NodeLabels != nil, len(j.NodeLabels), n, "nodes"},
		{"node_attributes", j.Attributes != nil, len(j.Attributes), n, "nodes"},
		{"coordinates", j.Coordinates != nil, len(j.Coordinates), n, "nodes"},
		{"edge_labels", j.EdgeLabels != nil, len(j.EdgeLabels), len(*j.Edges), "edges"},
	} {
		if c.given && c.have != c.want {
			return nil, fmt.Errorf("field %q: %d entries for %d %s", c.name, c.have, c.want, c.what)
		}
	}
	b := graph.NewBuilder(n)
	in := interner{}
	for v, t := range j.NodeLabels {
		b.SetLabel(v, in.text([]byte(t)))
	}
	for v, name := range j.NodeNames {
		b.SetName(v, string(name))
	}
	for v, row := range j.Attributes {
		b.SetAttributes(v, row)
	}
	for v, xy := range j.Coordinates {
		if len(xy) != 2 {
			return nil, fmt.Errorf(`field "coordinates": %s for node %d, want 2`, counted(len(xy), "number", "numbers"), v)
		}
		b.SetCoordinates(v, xy[0], xy[1])
	}
	if j.Directed == nil && r.opts.Directed || j.Directed != nil && *j.Directed {
		b.SetDirected()
	}
	for i, e := range *j.Edges {
		for _, v := range []int32{e.u, e.v} {
			if v < 0 || int(v) >= n {
				return nil, fmt.Errorf("edge %d: vertex %d out of range [0, %d)", i, v, n)
			}
		}
		label := ""
		if len(j.EdgeLabels) > 0 {
			label = in.text([]byte(j.EdgeLabels[i]))
		}
		b.AddLabeledEdge(int(e.u), int(e.v), e.w, label)
	}
	b.SetID(string(j.ID))
	b.SetTarget(string(j.Target))
	b.SetSMILES(j.SMILES)
	g, err := b.Build()
	if err == nil {
		err = corrections(b.Given(), r.opts, r.warn, nil)
	}
	if err == nil && j.SMILES != "" {
		if _, wrong := chem.Of(g); wrong != nil {
			r.warn.add(1, "SMILES string ignored, because it is not the molecule of its graph",
				"SMILES strings ignored, because they are not the molecules of their graphs")
			b.SetSMILES("")
			g, err = b.Build()
		}
	}
	return g, err
}

// AppendJSON appends a graph as a line of Graph JSON Lines, with its end.
func AppendJSON(b []byte, g *graph.Graph) ([]byte, error) {
	n := g.N()
	j := jsonGraph[string, [][]float64]{ID: g.ID(), Nodes: &n, Edges: make([][]float64, 0, g.M()),
		Target: g.Target(), SMILES: g.SMILES()}
	if g.HasLabels() {
		j.NodeLabels = g.Labels()
	}
	edges := g.Edges()
	if g.Directed() {
		edges, j.Directed = g.Arcs(), new(true)
	}
	for e := range edges {
		row := []float64{float64(e.U), float64(e.V), e.Weight}
		if !g.Weighted() {
			row = row[:2]
		}
		j.Edges = append(j.Edges, row)
		if g.HasEdgeLabels() {
			j.EdgeLabels = append(j.EdgeLabels, e.Label)
		}
	}
	for v := range n {
		if g.HasNames() {
			j.NodeNames = append(j.NodeNames, g.Name(v))
		}
		if g.AttributeDim() > 0 {
			j.Attributes = append(j.Attributes, g.Attributes(v))
		}
		if x, y, ok := g.Coordinates(v); ok {
			j.Coordinates = append(j.Coordinates, []float64{x, y})
		}
	}
	for _, s := range slices.Concat([]string{j.ID, j.Target, j.SMILES}, j.NodeLabels, j.NodeNames, j.EdgeLabels) {
		if !utf8.ValidString(s) {
			return b, fmt.Errorf("graph %q: text %q is not UTF-8", g.ID(), s)
		}
	}
	buf := bytes.NewBuffer(b)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	err := e.Encode(j)
	return buf.Bytes(), err
}
