package dataset

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	*xmlReader
	byID    map[string]*graphmlKey
	numbers keyKinds        // keys of nodes
	initial map[string]data // default data by domain
}

func readGraphML(s *stream) (nextGraph, error) {
	r := &graphmlReader{xmlReader: newXMLReader(s, "graphml"), byID: map[string]*graphmlKey{}, numbers: keyKinds{},
		initial: map[string]data{"node": {}, "edge": {}, "graph": {}}}
	return r.graphs(r.next), nil
}

// next returns the next graph of the file.
func (r *graphmlReader) next() (*graph.Graph, error) {
	for {
		e, err := r.element()
		if err != nil {
			return nil, err
		}
		switch e.Name.Local {
		case "key":
			err = r.key(e)
		case "graph":
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
	r.byID[k.ID] = k
	if k.Domain == "node" || k.Domain == "all" {
		r.numbers[k.Name] = slices.Contains([]string{"int", "long", "float", "double"}, k.Type)
	}
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

// given reads the data of a node or an edge up to its end. They are not nil.
func (r *graphmlReader) given(e xml.StartElement) (data, error) {
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
			line := r.line()
			d, err := r.given(c)
			if err == nil {
				err = n.newVertex(attr(c, "id"), d, line)
			}
			return err
		case "edge":
			line, way := r.line(), attr(c, "directed")
			u, err1 := n.vertex(attr(c, "source"))
			v, err2 := n.vertex(attr(c, "target"))
			d, err3 := r.given(c)
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
	if err := n.whole(); err != nil {
		return nil, err
	}
	n.numbers = r.numbers
	return n.build(r.stream)
}
