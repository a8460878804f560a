package dataset

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
)

// WriteDataset writes a collection. Auto takes the format from the extension (.jsonl,
// .graphml, each perhaps with .gz); a path without an extension is the folder of a
// TUDataset of that name. Formats hold different things, see docs/reference/formats.md.
func WriteDataset(ctx context.Context, path string, d *Dataset, f Format) error {
	if f == Auto {
		f = TUDataset
		ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
		switch e, ok := extensions[ext]; {
		case ext == ".zip":
			return fmt.Errorf("%s: a TUDataset is written to a folder, not to a zip file", path)
		case ok:
			f = e
		case ext != "":
			return fmt.Errorf("%s: unknown extension %s, want .jsonl, .graphml, or a name without extension for the folder of a TUDataset", path, ext)
		}
	}
	switch f {
	case JSONLines:
		return file.Write(ctx, path, func(w io.Writer) error { return writeJSONLines(w, d) })
	case GraphML:
		return file.Write(ctx, path, func(w io.Writer) error { return writeGraphML(w, d) })
	case TUDataset:
		return writeTU(ctx, path, d)
	}
	return fmt.Errorf("%s: no writer for format %s, want %s, %s or %s", path, f, JSONLines, GraphML, TUDataset)
}

// decimalText returns the shortest decimal that reads back to the same bits.
func decimalText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

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
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(s))
	const unknown = "\uFFFD" // stands for what XML cannot hold
	if strings.Count(b.String(), unknown) != strings.Count(s, unknown) {
		err = fmt.Errorf("XML cannot contain the text %q", s)
	}
	return b.String(), err
}

func writeGraphML(w io.Writer, d *Dataset) error {
	has := Info(d)
	var b strings.Builder
	b.WriteString(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	key := func(use bool, id, domain, name, kind string) {
		if use {
			fmt.Fprintf(&b, "  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", id, domain, name, kind)
		}
	}
	key(has.Targets > 0, "target", "graph", "target", "string")
	key(has.NodeLabels > 0, "label", "node", "label", "string")
	for i := range has.Attributes {
		key(true, fmt.Sprintf("a%d", i+1), "node", fmt.Sprintf("a%d", i+1), "double")
	}
	key(has.Coordinates, "x", "node", "x", "double")
	key(has.Coordinates, "y", "node", "y", "double")
	key(has.EdgeLabels > 0, "bond", "edge", "label", "string")
	key(has.Weighted, "weight", "edge", "weight", "double")
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
	edges, kind := g.Edges(), "undirected"
	if g.Directed() {
		edges, kind = g.Arcs(), "directed"
	}
	b.WriteString(` edgedefault="` + kind + `">` + "\n")
	data := func(key, value string) {
		b.WriteString(`<data key="` + key + `">` + esc(value) + "</data>")
	}
	if g.Target() != "" {
		b.WriteString("    ")
		data("target", g.Target())
		b.WriteString("\n")
	}
	name := graphmlNames(g)
	for v := range g.N() {
		b.WriteString(`    <node id="` + esc(name(v)) + `">`)
		if g.HasLabels() {
			data("label", g.Label(v))
		}
		for i, x := range g.Attributes(v) {
			data(fmt.Sprintf("a%d", i+1), decimalText(x))
		}
		if x, y, ok := g.Coordinates(v); ok {
			data("x", decimalText(x))
			data("y", decimalText(y))
		}
		b.WriteString("</node>\n")
	}
	for e := range edges {
		b.WriteString(`    <edge source="` + esc(name(e.U)) + `" target="` + esc(name(e.V)) + `">`)
		if g.HasEdgeLabels() {
			data("bond", e.Label)
		}
		if g.Weighted() {
			data("weight", decimalText(e.Weight))
		}
		b.WriteString("</edge>\n")
	}
	b.WriteString("  </graph>\n")
	return bad
}

// graphmlNames returns the names of vertices, n0, n1, … where some are the same or there are none.
func graphmlNames(g *graph.Graph) func(v int) string {
	seen := map[string]bool{}
	for v := range g.N() {
		seen[g.Name(v)] = true
	}
	if g.HasNames() && len(seen) == g.N() {
		return g.Name
	}
	return func(v int) string { return "n" + strconv.Itoa(v) }
}
