package dataset

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// gexfReader reads one graph after the other.
type gexfReader struct {
	*xmlReader
	n       *named
	way     string                       // of edges that say nothing: directed, undirected or mutual
	title   map[string]map[string]string // by class, node or edge, and by id: the name of an attribute
	initial map[string]data              // default data by class
}

func readGEXF(s *stream) (nextGraph, error) {
	r := &gexfReader{xmlReader: newXMLReader(s, "gexf")}
	return r.graphs(r.next), nil
}

// next returns the next graph of the file.
func (r *gexfReader) next() (*graph.Graph, error) {
	for {
		e, err := r.element()
		if err != nil {
			return nil, err
		}
		if e.Name.Local == "graph" {
			g, err := r.graph(e)
			r.bounded.reset()
			return g, err
		}
		if err := r.d.Skip(); err != nil { // meta
			return nil, err
		}
	}
}

// graph reads a graph.
func (r *gexfReader) graph(e xml.StartElement) (*graph.Graph, error) {
	r.n = newNamed(r.opts.Limits)
	r.way = cmp.Or(attr(e, "defaultedgetype"), "undirected")
	r.title = map[string]map[string]string{"node": {}, "edge": {}}
	r.initial = map[string]data{"node": {}, "edge": {}}
	r.n.id = cmp.Or(attr(e, "name"), attr(e, "id"))
	for _, a := range e.Attr {
		if !slices.Contains([]string{"mode", "defaultedgetype", "name", "id", "timeformat", "timerepresentation"}, a.Name.Local) {
			r.n.data[a.Name.Local] = a.Value
		}
	}
	err := r.within(func(c xml.StartElement) error {
		switch c.Name.Local {
		case "attributes":
			return r.attributes(attr(c, "class"))
		case "nodes":
			return r.within(r.node)
		case "edges":
			return r.within(r.edge)
		}
		return r.d.Skip()
	})
	if err == nil {
		err = r.n.whole()
	}
	if err != nil {
		return nil, err
	}
	// A label that repeats the identifier is none.
	if !slices.ContainsFunc(r.n.node, func(d data) bool { return d["label"] != "" }) {
		for _, d := range r.n.node {
			delete(d, "label")
		}
	}
	return r.n.build(r.stream)
}

// attributes reads the declarations of a class.
func (r *gexfReader) attributes(class string) error {
	return r.within(func(c xml.StartElement) error {
		titles := r.title[class]
		if c.Name.Local != "attribute" || titles == nil {
			return r.d.Skip()
		}
		id := attr(c, "id")
		name := cmp.Or(attr(c, "title"), id)
		titles[id] = name
		if class == "node" {
			r.n.numbers[name] = slices.Contains([]string{"integer", "long", "float", "double", "short", "byte"}, attr(c, "type"))
		}
		return r.within(func(c xml.StartElement) error {
			if c.Name.Local != "default" {
				return r.d.Skip()
			}
			text, err := r.text()
			r.initial[class][name] = strings.TrimSpace(text)
			return err
		})
	})
}

// given reads what stands inside a node or an edge, up to its end: values, the position, and nodes
// inside, which are an error.
func (r *gexfReader) given(class string, out data) error {
	return r.within(func(c xml.StartElement) error {
		switch c.Name.Local {
		case "attvalues":
			return r.within(func(c xml.StartElement) error {
				id := cmp.Or(attr(c, "for"), attr(c, "id"))
				name, ok := r.title[class][id]
				if !ok {
					return fmt.Errorf("value of attribute %q, which is not declared for class %q", id, class)
				}
				out[name] = strings.TrimSpace(attr(c, "value"))
				return r.d.Skip()
			})
		case "position":
			if out["x"] == "" && out["y"] == "" {
				out["x"], out["y"] = attr(c, "x"), attr(c, "y")
			}
		case "nodes", "edges":
			return fmt.Errorf("%s inside a %s, want graphs that are not nested", c.Name.Local, class)
		}
		return r.d.Skip()
	})
}

func (r *gexfReader) node(c xml.StartElement) error {
	if c.Name.Local != "node" {
		return r.d.Skip()
	}
	line := r.line()
	id, label := attr(c, "id"), attr(c, "label")
	out := maps.Clone(r.initial["node"])
	if label == id {
		label = ""
	}
	if out["label"] == "" {
		out["label"] = label
	}
	if attr(c, "pid") != "" {
		return errors.New("a node with a parent, want graphs that are not nested")
	}
	if err := r.given("node", out); err != nil {
		return err
	}
	return r.n.newVertex(id, out, line)
}

func (r *gexfReader) edge(c xml.StartElement) error {
	if c.Name.Local != "edge" {
		return r.d.Skip()
	}
	line := r.line()
	u, err1 := r.n.vertex(attr(c, "source"))
	v, err2 := r.n.vertex(attr(c, "target"))
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	d := maps.Clone(r.initial["edge"])
	for _, key := range []string{"label", "weight", "kind"} {
		if value := attr(c, key); value != "" {
			d[key] = value
		}
	}
	if err := r.given("edge", d); err != nil {
		return err
	}
	switch way := cmp.Or(attr(c, "type"), r.way); way {
	case "undirected":
		return r.n.edge(u, v, d, false, line)
	case "mutual": // an arc in both directions
		if err := r.n.edge(u, v, d, true, line); err != nil || u == v {
			return err
		}
		return r.n.edge(v, u, d, true, line)
	case "directed":
		return r.n.edge(u, v, d, true, line)
	default:
		return fmt.Errorf("edge of type %q, want directed, undirected or mutual", way)
	}
}
