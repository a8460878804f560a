package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/param"
)

// keyed lists the formats whose vertices and edges have data by keys.
var keyed = []Format{GraphML, GEXF, GML, Pajek, NodeLink, DOT}

// maxKeys is the number of keys that a reader remembers.
const maxKeys = 200

// seen remembers the keys of the data of vertices (0) or edges (1).
func (s *stream) seen(which int, all []data) {
	if s.keys[which] == nil {
		s.keys[which] = keySet{}
	}
	known := s.keys[which]
	for _, d := range all {
		for key := range d {
			if len(known) < maxKeys && !strings.HasPrefix(key, "*") { // Pajek's own
				known[key] = true
			}
		}
	}
}

// Keys returns the keys of the data that vertices and edges had so far: what Options.NodeLabel, Attributes,
// EdgeLabel and EdgeWeight can name.
func (r *Reader) Keys() (vertices, edges []string) {
	return slices.SortedFunc(maps.Keys(r.in.keys[0]), natural), slices.SortedFunc(maps.Keys(r.in.keys[1]), natural)
}

// attributesOf remembers the keys that give attributes, if they are the same in all graphs. x and y may be the position.
func (s *stream) attributesOf(names []string, position bool) {
	if position {
		names = slices.DeleteFunc(slices.Clone(names), func(key string) bool { return key == "x" || key == "y" })
	}
	text := strings.Join(names, ",")
	if commas := strings.Count(text, ","); len(names) > 0 && commas != len(names)-1 { // a key that no list can name
		text = ""
	}
	if s.attributes == nil {
		s.attributes = &text
	} else if *s.attributes != text {
		*s.attributes = ""
	}
}

// AttributeKeys returns the keys of vertices whose numbers are the attributes of all graphs so far, with commas between
// them, "" where they are not known.
func (r *Reader) AttributeKeys() string {
	if r.in.attributes == nil {
		return ""
	}
	return *r.in.attributes
}

// parts returns a graph with what the options choose of it, where its format has no keys. Keys of other data fall
// back on what the graph has, and are counted.
func (o Options) parts(g *graph.Graph, warn *warnings) (*graph.Graph, error) {
	if slices.Contains(keyed, o.Format) || o.Format == Auto { // chosen by key; a folder of files has chosen
		return g, nil
	}
	for _, c := range o.choices() {
		if c.name == "Attributes" || c.name == "EdgeAttributes" && o.Format == TUDataset || c.key == "" || c.key == Nothing && c.name != "EdgeWeight" {
			continue
		}
		if o.inherited {
			c.fallBack(warn)
			continue
		}
		e := &param.Error{Of: "Options", Name: c.name, Value: c.key, Err: fmt.Errorf("data in the format %s have no keys", o.Format)}
		if c.name == "EdgeWeight" {
			e.Want = "one of unit, weight, order, distance"
		}
		return nil, e
	}
	edge := 0 // attributes of edges that have become vertices, behind those of vertices
	if o.Format == TUDataset {
		edge = len(keyList(o.EdgeAttributes))
	}
	if o.NodeLabel == Nothing && g.HasLabels() && edge == 0 {
		g = g.WithoutLabels()
	}
	if o.EdgeLabel == Nothing && g.HasEdgeLabels() {
		g = g.WithoutEdgeLabels()
	}
	if o.Attributes == "" || g.AttributeDim() == 0 {
		return g, nil
	}
	var which []int
	keys, dim := keyList(o.Attributes), g.AttributeDim()-edge
	for _, text := range keys {
		k, err := strconv.Atoi(text)
		if err == nil && k >= 1 && k <= dim {
			which = append(which, k-1)
			continue
		}
		if o.inherited && len(keys) == dim { // they were chosen before
			o.choices()[0].fallBack(warn)
			return g, nil
		}
		return nil, fmt.Errorf("attribute %q, want a number from 1 to %d: data in the format %s have no keys", text, dim, o.Format)
	}
	for k := range edge {
		which = append(which, dim+k)
	}
	return g.PickAttributes(which), nil
}

// choice is an option that names keys, and what counts where data have none of them.
type choice struct{ name, key, of, instead string }

// choices returns those of the options.
func (o Options) choices() []choice {
	return []choice{{"Attributes", o.Attributes, "node", "attributes"}, {"NodeLabel", o.NodeLabel, "node", "labels"},
		{"EdgeLabel", o.EdgeLabel, "edge", "labels of edges"}, {"EdgeWeight", o.EdgeWeight.key(), "edge", "weights"},
		{"EdgeAttributes", o.EdgeAttributes, "edge", "edges as they are"}}
}

// fallBack counts a graph that has no such key.
func (c choice) fallBack(warn *warnings) {
	warn.add(1, fmt.Sprintf("graph has no %s data %s of the model, so its %s count", c.of, quote([]byte(c.key)), c.instead),
		fmt.Sprintf("graphs have no %s data %s of the model, so their %s count", c.of, quote([]byte(c.key)), c.instead))
}

// inherit returns the options for this graph: a key of other data that it does not have gives way to the usual ones.
// A label must be there by some key. A weight need not be.
func (n *named) inherit(s *stream) Options {
	o := s.opts
	if !o.inherited {
		return o
	}
	edges := make([]data, len(n.edges))
	for i, e := range n.edges {
		edges[i] = e.data
	}
	lacks := func(keys []string, all []data) bool {
		return !slices.ContainsFunc(all, func(d data) bool { _, ok := d.key(keys); return ok })
	}
	usual := map[string][]string{"NodeLabel": n.labels, "EdgeLabel": edgeLabelNames}
	for _, c := range o.choices() {
		all := edges
		if c.of == "node" {
			all = n.node
		}
		if keys := keyList(c.key); len(keys) == 0 || len(all) == 0 || !lacks(keys, all) || usual[c.name] != nil && lacks(usual[c.name], all) {
			continue
		}
		switch c.name {
		case "Attributes":
			o.Attributes = ""
		case "NodeLabel":
			o.NodeLabel = ""
		case "EdgeLabel":
			o.EdgeLabel = ""
		case "EdgeWeight":
			o.EdgeWeight = GivenWeight
		case "EdgeAttributes":
			o.EdgeAttributes = ""
		}
		c.fallBack(s.warn)
	}
	return o
}

// keyList returns the keys in a list with commas, none for Nothing.
func keyList(list string) []string {
	if list == "" || list == Nothing {
		return nil
	}
	var out []string
	for key := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(key))
	}
	return out
}

// chosenKeys returns the keys to look for: the one that an option names, none, or else the usual ones.
func chosenKeys(option string, usual []string) []string {
	if option == Nothing {
		return nil
	}
	return wanted(option, usual)
}

// missingKey says that a key which an option names is nowhere in a graph. It is no error where there is
// nothing that could have it.
func missingKey(option, of string, all []data) error {
	if option == "" || option == Nothing || len(all) == 0 {
		return nil
	}
	have := map[string]int{}
	for _, d := range all {
		if _, ok := d.key([]string{option}); ok {
			return nil
		}
		for key := range d {
			have[key]++
		}
	}
	return fmt.Errorf("no %s has data %q, they have %s", of, option, quoteList(slices.SortedFunc(maps.Keys(have), natural)))
}

// LabelsAreNames reports whether the labels of vertices say nothing that graphs can share: in every graph
// of some collections, each vertex has another one. There must be at least ten vertices. Labels that were
// chosen by Options.NodeLabel, and those of formats without keys, are what they are.
func LabelsAreNames(o Options, sets ...*Dataset) bool {
	vertices := 0
	for _, d := range sets {
		if o.NodeLabel != "" || !d.Keyed {
			return false
		}
		for _, g := range d.Graphs {
			seen := make(map[string]bool, g.N())
			for v := range g.N() {
				if label := g.Label(v); seen[label] || label == "" {
					return false
				}
				seen[g.Label(v)] = true
			}
			vertices += g.N()
		}
	}
	return vertices >= 10
}

// NamesWarning is the warning about labels that are names.
const NamesWarning = "every node has a label of its own, so labels are names and are not compared"

// WithoutLabels takes the labels of vertices for their names, and returns the options that read other graphs
// in the same way.
func WithoutLabels(o Options, sets ...*Dataset) Options {
	for _, d := range sets {
		for i, g := range d.Graphs {
			d.Graphs[i] = g.WithoutLabels()
		}
	}
	if len(sets) > 0 {
		sets[0].Warnings = append(sets[0].Warnings, NamesWarning)
	}
	o.NodeLabel = Nothing
	return o
}

// FillLabels gives the vertices of graphs without labels the label "" if other graphs of the collection have labels,
// and a warning counts these graphs. Within one graph it is the same: a vertex without a label has this one.
func (d *Dataset) FillLabels() {
	if !slices.ContainsFunc(d.Graphs, (*graph.Graph).HasLabels) {
		return
	}
	for i, g := range d.Graphs {
		if g.N() > 0 && !g.HasLabels() {
			d.Graphs[i] = g.WithEmptyLabels()
			d.Filled++
		}
	}
	if d.Filled > 0 {
		d.Warnings = append(d.Warnings, counted(d.Filled, `graph without labels among others that have some: its vertices have the label ""`,
			`graphs without labels among others that have some: their vertices have the label ""`))
	}
}
