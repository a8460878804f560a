package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/vertex"
)

// Compared says what the kernel compares of graphs, as in "atoms by element, bonds by order". Nothing needs to be fitted.
func (m *Model) Compared() string {
	var vertices []string
	edges, labelled := false, slices.ContainsFunc(m.Graphs, (*graph.Graph).HasEdgeLabels)
	directed, stereo := false, false
	structures, values := m.comparedParts()
	for i, f := range m.Kernel.Factors {
		if !m.Kernel.Has(i) || slices.Contains(values, f.Of) && f.Of != "" {
			continue
		}
		directed, stereo = directed || f.Directed, stereo || f.Stereo
		edges = edges || labelled && (f.Edges() || slices.ContainsFunc(withBases(f.Kernel), seesEdges))
		for _, feature := range m.looksAt(f) {
			if !slices.Contains(vertices, feature) {
				vertices = append(vertices, feature)
			}
		}
	}
	if !slices.ContainsFunc(m.Graphs, (*graph.Graph).HasLabels) {
		vertices = slices.DeleteFunc(vertices, func(feature string) bool { return feature == "label" })
	}
	atoms, bonds, seen := "vertices", "", slices.Clone(vertices)
	switch molecules := chem.Molecules(m.Graphs); {
	case molecules && edges:
		bonds = ", bonds by order"
	case molecules && m.reader != nil && m.reader.EdgeWeight == dataset.OrderWeight:
		bonds = ", bonds by order as their weight"
	case molecules:
		bonds = ", bonds alike"
	case directed && edges:
		bonds = ", arcs by direction and label"
	case directed:
		bonds = ", arcs by direction"
	case edges:
		bonds = ", edges by label"
	}
	if !directed && slices.ContainsFunc(m.Graphs, (*graph.Graph).Directed) {
		bonds += ", directions left out"
	}
	if chem.Molecules(m.Graphs) {
		if atoms = "atoms"; stereo {
			bonds += ", stereo"
		}
		if i := slices.Index(vertices, "label"); i >= 0 && m.reader != nil {
			uncharged := func(feature string) bool { return feature == "charge" && !slices.ContainsFunc(m.Graphs, chem.Charged) }
			vertices = slices.Replace(vertices, i, i+1, slices.DeleteFunc(m.reader.AtomFeatures(), uncharged)...)
		}
	}
	switch n := len(vertices); n {
	case 0:
		atoms += " alike"
	default:
		atoms += " by " + and(vertices)
	}
	if structures != nil {
		atoms = and(structures) + ": " + atoms
	}
	if values != nil {
		bonds += "; " + and(values) + " by value"
	}
	return atoms + bonds + m.leftOut(seen, edges)
}

// comparedParts returns the structures and the values of rows that the kernel looks at, nil for other graphs.
func (m *Model) comparedParts() (structures, values []string) {
	all, numbers, categories := graph.PartNames(m.Graphs)
	for i, f := range m.Kernel.Factors {
		if !m.Kernel.Has(i) || all == nil {
			continue
		}
		switch {
		case f.Of == "":
			structures = all
		case slices.Contains(numbers, f.Of) || slices.Contains(categories, f.Of):
			if !slices.Contains(values, f.Of) {
				values = append(values, f.Of)
			}
		case !slices.Contains(structures, f.Of):
			structures = append(structures, f.Of)
		}
	}
	return structures, values
}

// leftOut says what graphs have that the kernel does not look at. seen is what it sees of vertices.
func (m *Model) leftOut(seen []string, edges bool) string {
	var out []string
	has := func(what string, part func(*graph.Graph) bool) {
		if slices.ContainsFunc(m.Graphs, part) {
			out = append(out, what)
		}
	}
	structures, values := m.comparedParts()
	all, numbers, categories := graph.PartNames(m.Graphs)
	for _, name := range slices.Concat(all, numbers, categories) {
		if !slices.Contains(structures, name) && !slices.Contains(values, name) {
			out = append(out, name)
		}
	}
	if !slices.Contains(seen, "label") && !slices.Contains(seen, "neighbours") {
		has("labels", (*graph.Graph).HasLabels)
	}
	if !slices.Contains(seen, "attributes") {
		has("attributes", func(g *graph.Graph) bool { return g.AttributeDim() > 0 })
	}
	if !edges && !chem.Molecules(m.Graphs) { // of molecules bonds say it
		has("labels of edges", (*graph.Graph).HasEdgeLabels)
	}
	if len(out) == 0 {
		return ""
	}
	return "; left out: " + and(out)
}

// and joins texts.
func and(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// looks names what kernels look at in a vertex, by the names that base kernels and labellings have for it.
var looks = map[string]string{
	"labels": "label", "auto": "label", "attributes": "attributes", "gaussian": "attributes",
	"degree": "degree", "degrees": "degree", "heat": "heat", "wl": "neighbours", "configuration": "label",
}

// withBases returns a kernel with its base kernel on graphs, and the base kernel of that.
func withBases(k kernel.Kernel) []kernel.Kernel {
	out := []kernel.Kernel{k}
	for _, p := range param.Of(k) {
		if p.Want != kernel.Language {
			continue
		}
		if b, err := kernel.Parse(fmt.Sprint(p.Default)); err == nil { // without base kernel the text is empty
			out = append(out, withBases(b)...)
		}
	}
	return out
}

// seesEdges reports whether a kernel looks at the labels of edges.
func seesEdges(k kernel.Kernel) bool {
	return k.Name() == "edge-labels" || k.Name() == "composition" || slices.ContainsFunc(param.Of(k), func(p param.Parameter) bool {
		return p.Name == "edge_labels" && p.Default == true
	})
}

// looksAt returns what a factor looks at in a vertex.
func (m *Model) looksAt(f *kernel.FittedFactor) []string {
	k, err := f.Resolved()
	if err != nil {
		k = f.Kernel // fitting it will say what is wrong
	}
	text := ""
	for _, k := range withBases(k) { // a base kernel sees the labels that the kernel makes, if it makes some
		for _, p := range param.Of(k) {
			if value, ok := p.Default.(string); ok && p.Name == "base" && p.Want != kernel.Language {
				if text = value; text == "" {
					text = vertex.Choose(m.Graphs)
				}
			} else if p.Name == "labels" && text == "" {
				text = fmt.Sprint(p.Default)
			}
		}
	}
	if low := LowRank(f); low != nil {
		text = low.Base().String()
	}
	var out []string
	for _, name := range vertex.Elementary(text) {
		if feature := looks[name]; feature != "" && !slices.Contains(out, feature) {
			out = append(out, feature)
		}
	}
	return out
}
