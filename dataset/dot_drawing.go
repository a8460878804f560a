package dataset

import (
	"cmp"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// dotDrawing are the attributes by which Graphviz draws a vertex.
var dotDrawing = keysOf("area class color colorscheme comment distortion fillcolor fixedsize fontcolor fontname fontsize gradientangle " +
	"group height href id image imagepos imagescale labelloc layer margin nojustify ordering orientation penwidth peripheries pin pos " +
	"rects regular root samplepoints shape shapefile showboxes sides skew sortv style target tooltip url vertices width xlabel xlp z")

// dotEdgeDrawing are those by which it draws an edge. With one of dotLayout beside it, "weight" is one of them: it says
// how straight an edge shall be.
var (
	dotLayout      = []string{"constraint", "minlen", "len", "headport", "tailport", "lhead", "ltail", "samehead", "sametail"}
	dotEdgeDrawing = keysOf(strings.Join(dotLayout, " ") + " arrowhead arrowsize arrowtail class color colorscheme comment decorate dir " +
		"edgehref edgetarget edgetooltip edgeurl fillcolor fontcolor fontname fontsize head_lp headclip headhref headlabel headtarget " +
		"headtooltip headurl href id labelangle labeldistance labelfloat labelfontcolor labelfontname labelfontsize labelhref labeltarget " +
		"labeltooltip labelurl layer lp nojustify penwidth pos radius showboxes style tail_lp tailclip tailhref taillabel tailtarget " +
		"tailtooltip tailurl target tooltip url xlabel xlp")
)

// dotGraphDrawing are those by which it draws a graph or a cluster. "size", "label" and "class" may be data.
var dotGraphDrawing = keysOf("bb bgcolor center charset color compound concentrate dpi fillcolor fontcolor fontname fontsize labeljust " +
	"labelloc landscape layout lheight lp lwidth margin nodesep nojustify ordering outputorder overlap pack packmode pad page pencolor " +
	"penwidth peripheries rank rankdir ranksep ratio rotate splines start style stylesheet truecolor viewport xdotversion")

// undrawn leaves out what is there for drawing alone: invisible edges, weights for the layout, and the
// marks in labels. Positions become numbers.
func (n *named) undrawn(warn *warnings) {
	undrawnGraph(n.data)
	all := len(n.edges)
	n.edges = slices.DeleteFunc(n.edges, func(e namedEdge) bool { return slices.Contains(dotStyles(e.data), "invis") })
	warn.add(all-len(n.edges), "invisible edge left out", "invisible edges left out")
	n.drawn, n.edgesDrawn = dotDrawing, dotEdgeDrawing
	if slices.ContainsFunc(n.edges, func(e namedEdge) bool { _, ok := e.data.key(dotLayout); return ok }) {
		n.weights = nil
		n.edgesDrawn = maps.Clone(dotEdgeDrawing)
		n.edgesDrawn["weight"] = true
	}
	for v, d := range n.node {
		if key, ok := d.key([]string{"label"}); ok {
			n.node[v] = maps.Clone(d)
			if text := dotLabel(d[key], d["shape"], n.name[v]); text != n.name[v] || d[key] == text {
				n.node[v][key] = text
			} else { // "\\N" is the name
				delete(n.node[v], key)
			}
		}
	}
	for i, e := range n.edges {
		if key, ok := e.data.key([]string{"label"}); ok && strings.Contains(e.data[key], `\`) {
			n.edges[i].data = e.data.with(data{key: dotLabel(e.data[key], "", "")})
		}
	}
	n.positions()
}

// undrawnGraph removes what says how to draw a graph.
func undrawnGraph(d data) {
	maps.DeleteFunc(d, func(key, _ string) bool { return dotGraphDrawing[strings.ToLower(key)] })
}

// dotStyles returns the styles of an element.
func dotStyles(d data) []string {
	style, _ := d.find([]string{"style"})
	return strings.FieldsFunc(style, func(c rune) bool { return c == ',' || c == ' ' })
}

// positions makes numbers x and y of the data "pos" when every vertex has it.
func (n *named) positions() {
	at := make([][2]string, len(n.node))
	for v, d := range n.node {
		x, y, _ := strings.Cut(strings.TrimSuffix(d["pos"], "!"), ",")
		y, _, _ = strings.Cut(y, ",") // a third coordinate
		for i, text := range []string{x, y} {
			at[v][i] = strings.TrimSpace(text)
			if _, err := decimal([]byte(at[v][i])); err != nil {
				return
			}
		}
	}
	for v, xy := range at {
		n.node[v] = n.node[v].with(data{"x": xy[0], "y": xy[1]})
	}
}

// dotLabel returns the text that a label shows on a vertex of some shape and name. Ends of lines, and of the
// fields of a record, become blanks.
func dotLabel(text, shape, name string) string {
	record := shape == "record" || shape == "Mrecord"
	if !record && !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			switch text[i] {
			case 'n', 'l', 'r':
				out.WriteByte('\n')
			case 'N':
				out.WriteString(name)
			default:
				out.WriteByte(text[i])
			}
		case record && (c == '{' || c == '}' || c == '|'):
			out.WriteByte('\n')
		case record && c == '<': // the name of a port
			end := strings.IndexByte(text[i:], '>')
			if end < 0 {
				end = len(text) - i - 1
			}
			i += end
		default:
			out.WriteByte(c)
		}
	}
	return oneLine(out.String())
}

// oneLine joins the lines of a text by blanks.
func oneLine(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

var (
	htmlBreak = regexp.MustCompile(`(?i)<\s*/?\s*(?:br|hr|tr|td|table)\b[^<>]*>`)
	htmlTag   = regexp.MustCompile(`<[^<>]*>`)
)

// htmlText returns the text that HTML shows.
func htmlText(text string) string {
	text = htmlTag.ReplaceAllString(htmlBreak.ReplaceAllString(text, "\n"), "")
	return oneLine(html.UnescapeString(text))
}

// pieces returns a graph for each cluster. A vertex that stands in several belongs to the first. What is in no
// cluster, and edges between two, are left out. A file without clusters is one graph.
func (p *dotParser) pieces(warn *warnings) []*named {
	if len(p.clusters) == 0 {
		return []*named{p.g}
	}
	all := p.g
	in, number := make([]int, len(all.node)), make([]int, len(all.node)) // cluster from 1, and the vertex in it
	out := make([]*named, len(p.clusters))
	for k, c := range p.clusters {
		n := newNamed(all.lim)
		n.weights, n.drawn, n.edgesDrawn, n.directed = all.weights, all.drawn, all.edgesDrawn, p.directed
		n.id = cmp.Or(oneLine(dotLabel(c.data["label"], "", "")), strings.TrimLeft(c.name[len("cluster"):], "_"), c.name)
		n.data = maps.Clone(all.data.with(c.data))
		undrawnGraph(n.data)
		delete(n.data, "label")
		for _, v := range c.member {
			if in[v] > 0 {
				continue
			}
			in[v], number[v] = k+1, len(n.node)
			n.name, n.node, n.lines = append(n.name, all.name[v]), append(n.node, all.node[v]), append(n.lines, all.lines[v])
		}
		out[k] = n
	}
	vertices, edges := 0, 0
	for _, k := range in {
		if k == 0 {
			vertices++
		}
	}
	for _, e := range all.edges {
		if in[e.u] == 0 || in[e.u] != in[e.v] {
			edges++
			continue
		}
		n := out[in[e.u]-1]
		e.u, e.v = number[e.u], number[e.v]
		n.edges = append(n.edges, e)
	}
	warn.add(vertices, "node in no cluster left out", "nodes in no cluster left out")
	warn.add(edges, "edge outside of clusters left out", "edges outside of clusters left out")
	return out
}

// ClustersWarning is the end of the warning about clusters that are most likely graphs of their own.
const ClustersWarning = "clusters without edges between them are one graph"

// apart counts the clusters if there are several and no edge leads from one to another.
func (p *dotParser) apart(warn *warnings) {
	in := make([]int, len(p.g.node))
	for k, c := range p.clusters {
		for _, v := range c.member {
			in[v] = k + 1
		}
	}
	if len(p.clusters) > 1 && !slices.ContainsFunc(p.g.edges, func(e namedEdge) bool { return in[e.u] != in[e.v] }) {
		warn.add(len(p.clusters), "", ClustersWarning)
	}
}
