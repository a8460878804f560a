package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
)

// writeTU writes the folder of a TUDataset. Its name is that of the folder. Old files of
// the same dataset that the new one does not have are removed.
func writeTU(ctx context.Context, dir string, d *Dataset) error {
	content, err := tuContent(d)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	made := false
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		made = true
	}
	name := filepath.Base(filepath.Clean(dir))
	path := func(kind string) string { return filepath.Join(dir, name+"_"+kind+".txt") }
	var files file.Group
	for _, kind := range tuKinds {
		text, ok := content[kind]
		if !ok {
			continue
		}
		write := func(w io.Writer) error {
			_, err := w.Write(text.Bytes())
			return err
		}
		if err := files.Add(ctx, path(kind), write); err != nil {
			if made {
				os.Remove(dir)
			}
			return err
		}
	}
	if err := files.Commit(); err != nil {
		return err
	}
	for _, kind := range tuKinds {
		if content[kind] == nil {
			if err := os.Remove(path(kind)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// tuText are the texts of the files by kind.
type tuText map[string]*bytes.Buffer

// line adds a line to a file.
func (t tuText) line(kind, text string) {
	if t[kind] == nil {
		t[kind] = &bytes.Buffer{}
	}
	t[kind].WriteString(text + "\n")
}

func tuContent(d *Dataset) (tuText, error) {
	if err := tuComplete(d); err != nil {
		return nil, err
	}
	vertexLabels, edgeLabels, targets := map[string]string{}, map[string]string{}, map[string]string{}
	weighted := false
	for _, g := range d.Graphs {
		for _, label := range g.Labels() {
			vertexLabels[label] = label
		}
		if g.HasEdgeLabels() {
			for e := range g.Arcs() {
				edgeLabels[e.Label] = e.Label
			}
		}
		if g.Target() != "" {
			targets[g.Target()] = g.Target()
		}
		weighted = weighted || g.Weighted()
	}
	out := tuText{"A": {}, "graph_indicator": {}}
	targetFile := "graph_labels"
	if areValues(targets) {
		targetFile = "graph_attributes"
	} else if err := out.numbers("graph", targets); err != nil {
		return nil, err
	}
	if err := errors.Join(out.numbers("node", vertexLabels), out.numbers("edge", edgeLabels)); err != nil {
		return nil, err
	}
	first := 1 // number of the first vertex of a graph
	for i, g := range d.Graphs {
		if len(targets) > 0 {
			out.line(targetFile, targets[g.Target()])
		}
		for v := range g.N() {
			out.line("graph_indicator", strconv.Itoa(i+1))
			if g.HasLabels() {
				out.line("node_labels", vertexLabels[g.Label(v)])
			}
			if g.AttributeDim() > 0 {
				var row []string
				for _, x := range g.Attributes(v) {
					row = append(row, decimalText(x))
				}
				out.line("node_attributes", strings.Join(row, ", "))
			}
		}
		arc := func(u, v int, e graph.Edge) {
			out.line("A", strconv.Itoa(first+u)+", "+strconv.Itoa(first+v))
			if g.HasEdgeLabels() {
				out.line("edge_labels", edgeLabels[e.Label])
			}
			if weighted {
				out.line("edge_attributes", decimalText(e.Weight))
			}
		}
		if g.Directed() {
			for e := range g.Arcs() {
				arc(e.U, e.V, e)
			}
		} else {
			for e := range g.Edges() {
				arc(e.U, e.V, e)
				arc(e.V, e.U, e)
			}
		}
		first += g.N()
	}
	return out, nil
}

// tuComplete returns an error unless all graphs or none have labels, attributes and targets.
func tuComplete(d *Dataset) error {
	have, none := map[string]int{}, map[string]int{}
	count := func(what string, able, has bool) {
		switch {
		case able && has:
			have[what]++
		case able:
			none[what]++
		}
	}
	for _, g := range d.Graphs {
		count("vertex labels", g.N() > 0, g.HasLabels())
		count("attributes", g.N() > 0, g.AttributeDim() > 0)
		count("edge labels", g.M() > 0, g.HasEdgeLabels())
		count("targets", true, g.Target() != "")
	}
	for _, what := range slices.Sorted(maps.Keys(have)) {
		if none[what] > 0 {
			return fmt.Errorf("%s %s, %s none; a TUDataset has them for all or for none",
				counted(have[what], "graph has", "graphs have"), what, counted(none[what], "has", "have"))
		}
	}
	if n := len(d.Graphs); n > 0 && d.Graphs[n-1].N() == 0 {
		return fmt.Errorf("graph %d, the last, has no vertices; a TUDataset has such graphs only before others", n)
	}
	dim := Info(d).Attributes
	for i, g := range d.Graphs {
		if g.AttributeDim() > 0 && g.AttributeDim() != dim {
			return fmt.Errorf("graph %d has %s, others have %d", i+1, counted(g.AttributeDim(), "attribute", "attributes"), dim)
		}
	}
	return nil
}

// areValues reports whether all texts are numbers, and some not whole.
func areValues(texts map[string]string) bool {
	fraction := false
	for s := range texts {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return false
		}
		fraction = fraction || !whole(s)
	}
	return fraction
}

// whole reports whether a text is a whole number, or several with commas between them.
func whole(s string) bool {
	for f := range strings.SplitSeq(s, ",") {
		if _, err := integer([]byte(f)); err != nil || strings.HasPrefix(f, "+") {
			return false
		}
	}
	return true
}

// numbers returns the numbers that are written for labels. If all labels are whole numbers, these
// are the labels. Otherwise they are positions, from 0, in the sorted list of labels, which becomes
// a file of its own.
func (t tuText) numbers(kind string, labels map[string]string) error {
	names := slices.Sorted(maps.Keys(labels))
	if !slices.ContainsFunc(names, func(s string) bool { return !whole(s) }) {
		return nil
	}
	for i, s := range names {
		if strings.ContainsAny(s, "\r\n") || s != strings.TrimSpace(s) || s == "" {
			return fmt.Errorf("label %q cannot be a line of a TUDataset", s)
		}
		t.line(kind+"_label_names", s)
		labels[s] = strconv.Itoa(i)
	}
	return nil
}
