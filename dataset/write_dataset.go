package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mlgkernel/mlg/graph"
)

// WriteDataset writes a collection. Auto takes the format from the extension (.jsonl,
// .graphml, each perhaps with .gz); a path without an extension is the folder of a
// TUDataset of that name. Formats hold different things, see docs/formats.md.
func WriteDataset(ctx context.Context, path string, d *Dataset, f Format) error {
	if f == Auto {
		f = TUDataset
		ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
		switch e, ok := extensions[ext]; {
		case ext == ".zip":
			return fmt.Errorf("%s: a TUDataset is written as a folder, not as a zip file", path)
		case ok:
			f = e
		case ext != "":
			return fmt.Errorf("%s: no format is known by the extension %s, want .jsonl, .graphml, or a name without extension for the folder of a TUDataset", path, ext)
		}
	}
	switch f {
	case JSONLines:
		return WriteFile(ctx, path, func(w io.Writer) error { return writeJSONLines(w, d) })
	case GraphML:
		return WriteFile(ctx, path, func(w io.Writer) error { return writeGraphML(w, d) })
	case TUDataset:
		return writeTU(ctx, path, d)
	}
	return fmt.Errorf("%s: no writer for format %s, want %s, %s or %s", path, f, JSONLines, GraphML, TUDataset)
}

// AppendJSON appends a graph as a line of Graph JSON Lines, with its end.
func AppendJSON(b []byte, g *graph.Graph) ([]byte, error) {
	var bad error
	str := func(b []byte, s string) []byte {
		if !utf8.ValidString(s) && bad == nil {
			bad = fmt.Errorf("graph %q: text %q is not UTF-8", g.ID(), s)
		}
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil && bad == nil {
			bad = err
		}
		return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
	}
	b = append(b, '{')
	if g.ID() != "" {
		b = str(append(b, `"id":`...), g.ID())
		b = append(b, ',')
	}
	b = strconv.AppendInt(append(b, `"nodes":`...), int64(g.N()), 10)
	b = append(b, `,"edges":[`...)
	first := true
	for e := range g.Edges() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = strconv.AppendInt(append(b, '['), int64(e.U), 10)
		b = strconv.AppendInt(append(b, ','), int64(e.V), 10)
		if g.Weighted() {
			b = appendReal(append(b, ','), e.Weight)
		}
		b = append(b, ']')
	}
	b = append(b, ']')
	list := func(name string, n int, item func(b []byte, i int) []byte) {
		b = append(append(append(b, `,"`...), name...), `":[`...)
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			b = item(b, i)
		}
		b = append(b, ']')
	}
	if g.HasLabels() {
		list("node_labels", g.N(), func(b []byte, v int) []byte { return str(b, g.Label(v)) })
	}
	if g.AttributeDim() > 0 {
		list("node_attributes", g.N(), func(b []byte, v int) []byte {
			for i, x := range g.Attributes(v) {
				b = appendReal(append(b, "[,"[min(i, 1)]), x)
			}
			return append(b, ']')
		})
	}
	if g.HasEdgeLabels() {
		var labels []string
		for e := range g.Edges() {
			labels = append(labels, e.Label)
		}
		list("edge_labels", len(labels), func(b []byte, i int) []byte { return str(b, labels[i]) })
	}
	if g.N() > 0 {
		if _, _, ok := g.Coordinates(0); ok {
			list("coordinates", g.N(), func(b []byte, v int) []byte {
				x, y, _ := g.Coordinates(v)
				b = appendReal(append(b, '['), x)
				return append(appendReal(append(b, ','), y), ']')
			})
		}
	}
	if g.Target() != "" {
		b = str(append(b, `,"target":`...), g.Target())
	}
	return append(b, "}\n"...), bad
}

// appendReal appends the shortest decimal that reads back to the same bits.
func appendReal(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

func writeJSONLines(w io.Writer, d *Dataset) error {
	var line []byte
	for _, g := range d.Graphs {
		var err error
		if line, err = AppendJSON(line[:0], g); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// xmlText escapes a text; it must be valid in XML.
func xmlText(s string) (string, error) {
	for _, r := range s {
		ok := r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
		if !ok || r == utf8.RuneError && !utf8.ValidString(s) {
			return "", fmt.Errorf("text %q cannot stand in XML", s)
		}
	}
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

func writeGraphML(w io.Writer, d *Dataset) error {
	dim, weighted, edgeLabels, labels, coordinates, targets := 0, false, false, false, false, false
	for _, g := range d.Graphs {
		dim = max(dim, g.AttributeDim())
		weighted = weighted || g.Weighted()
		edgeLabels = edgeLabels || g.HasEdgeLabels()
		labels = labels || g.HasLabels()
		targets = targets || g.Target() != ""
		if g.N() > 0 {
			_, _, ok := g.Coordinates(0)
			coordinates = coordinates || ok
		}
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	key := func(use bool, id, domain, name, kind string) {
		if use {
			fmt.Fprintf(&b, "  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", id, domain, name, kind)
		}
	}
	key(targets, "target", "graph", "target", "string")
	key(labels, "label", "node", "label", "string")
	for i := range dim {
		key(true, fmt.Sprintf("a%d", i+1), "node", fmt.Sprintf("a%d", i+1), "double")
	}
	key(coordinates, "x", "node", "x", "double")
	key(coordinates, "y", "node", "y", "double")
	key(edgeLabels, "bond", "edge", "label", "string")
	key(weighted, "weight", "edge", "weight", "double")
	for _, g := range d.Graphs {
		if err := graphmlGraph(&b, g); err != nil {
			return fmt.Errorf("graph %q: %w", g.ID(), err)
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		b.Reset()
	}
	b.WriteString("</graphml>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func graphmlGraph(b *strings.Builder, g *graph.Graph) error {
	var bad error
	esc := func(s string) string {
		t, err := xmlText(s)
		if err != nil && bad == nil {
			bad = err
		}
		return t
	}
	b.WriteString("  <graph")
	if g.ID() != "" {
		b.WriteString(` id="` + esc(g.ID()) + `"`)
	}
	b.WriteString(` edgedefault="undirected">` + "\n")
	data := func(key, value string) {
		b.WriteString(`<data key="` + key + `">` + esc(value) + "</data>")
	}
	if g.Target() != "" {
		b.WriteString("    ")
		data("target", g.Target())
		b.WriteString("\n")
	}
	for v := range g.N() {
		fmt.Fprintf(b, `    <node id="n%d">`, v)
		if g.HasLabels() {
			data("label", g.Label(v))
		}
		for i, x := range g.Attributes(v) {
			data(fmt.Sprintf("a%d", i+1), text(x))
		}
		if x, y, ok := g.Coordinates(v); ok {
			data("x", text(x))
			data("y", text(y))
		}
		b.WriteString("</node>\n")
	}
	for e := range g.Edges() {
		fmt.Fprintf(b, `    <edge source="n%d" target="n%d">`, e.U, e.V)
		if g.HasEdgeLabels() {
			data("bond", e.Label)
		}
		if g.Weighted() {
			data("weight", text(e.Weight))
		}
		b.WriteString("</edge>\n")
	}
	b.WriteString("  </graph>\n")
	return bad
}
