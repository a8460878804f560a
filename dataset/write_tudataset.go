package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
		if content[kind] == nil {
			continue
		}
		write := func(w io.Writer) error {
			for s := range content[kind] {
				if _, err := io.WriteString(w, s+"\n"); err != nil {
					return err
				}
			}
			return nil
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

// tuContent returns the lines of the files by kind.
func tuContent(d *Dataset) (map[string]iter.Seq[string], error) {
	has, err := tuParts(d)
	if err != nil {
		return nil, err
	}
	files := map[string]iter.Seq[string]{
		"graph_indicator": tuVertices(d, func(number int, _ *graph.Graph, _ int) string { return strconv.Itoa(number) }),
		"A": tuEdges(d, func(first int, e graph.Edge, back bool) string {
			if back {
				e.U, e.V = e.V, e.U
			}
			return strconv.Itoa(first+e.U) + ", " + strconv.Itoa(first+e.V)
		}),
	}
	if has["weights"] {
		files["edge_attributes"] = tuEdges(d, func(_ int, e graph.Edge, _ bool) string { return decimalText(e.Weight) })
	}
	if has["attributes"] {
		files["node_attributes"] = tuVertices(d, func(_ int, g *graph.Graph, v int) string {
			var f []string
			for _, x := range g.Attributes(v) {
				f = append(f, decimalText(x))
			}
			return strings.Join(f, ", ")
		})
	}
	targets := slices.Values(d.Targets())
	values := has["targets"] && areValues(targets)
	if values {
		files["graph_attributes"] = targets
	}
	for _, c := range []struct {
		kind   string
		use    bool
		labels iter.Seq[string]
	}{
		{"node_label", has["vertex labels"], tuVertices(d, func(_ int, g *graph.Graph, v int) string { return g.Label(v) })},
		{"edge_label", has["edge labels"], tuEdges(d, func(_ int, e graph.Edge, _ bool) string { return e.Label })},
		{"graph_label", has["targets"] && !values, targets},
	} {
		if c.use {
			if err := tuLabels(files, c.kind, c.labels); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// tuParts returns what the graphs have, which must be all or none of them.
func tuParts(d *Dataset) (map[string]bool, error) {
	have, could := map[string]int{}, map[string]int{}
	count := func(what string, able, has bool) {
		if able {
			could[what]++
		}
		if able && has {
			have[what]++
		}
	}
	dim := 0
	for i, g := range d.Graphs {
		count("vertex labels", g.N() > 0, g.HasLabels())
		count("attributes", g.N() > 0, g.AttributeDim() > 0)
		count("edge labels", g.M() > 0, g.HasEdgeLabels())
		count("targets", true, g.Target() != "")
		count("weights", g.M() > 0, g.Weighted())
		if dim == 0 {
			dim = g.AttributeDim()
		}
		if g.AttributeDim() > 0 && g.AttributeDim() != dim {
			return nil, fmt.Errorf("graph %d has %d attributes, others have %d", i+1, g.AttributeDim(), dim)
		}
	}
	has := map[string]bool{"weights": have["weights"] > 0}
	for _, what := range []string{"vertex labels", "attributes", "edge labels", "targets"} {
		has[what] = have[what] > 0
		if have[what] > 0 && have[what] < could[what] {
			return nil, fmt.Errorf("%d graphs have %s, %d have none; a TUDataset has them for all or for none", have[what], what, could[what]-have[what])
		}
	}
	return has, nil
}

// tuVertices gives a line for every vertex, of a graph with its number from 1.
func tuVertices(d *Dataset, line func(number int, g *graph.Graph, v int) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, g := range d.Graphs {
			for v := range g.N() {
				if !yield(line(i+1, g, v)) {
					return
				}
			}
		}
	}
}

// tuEdges gives two lines for every edge, there and back. first is the number of the first
// vertex of its graph.
func tuEdges(d *Dataset, line func(first int, e graph.Edge, back bool) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		first := 1
		for _, g := range d.Graphs {
			for e := range g.Edges() {
				if !yield(line(first, e, false)) || !yield(line(first, e, true)) {
					return
				}
			}
			first += g.N()
		}
	}
}

// areValues reports whether all texts are numbers, and some not whole.
func areValues(texts iter.Seq[string]) bool {
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

// tuLabels adds a file of labels: as they are when all are whole numbers, else by their
// place, from 0, in the sorted list of labels, which becomes a file of its own.
func tuLabels(files map[string]iter.Seq[string], kind string, labels iter.Seq[string]) error {
	number := map[string]string{}
	numbers := true
	for s := range labels {
		if _, ok := number[s]; !ok {
			number[s] = s
			numbers = numbers && whole(s)
		}
	}
	if numbers {
		files[kind+"s"] = labels
		return nil
	}
	names := slices.Sorted(maps.Keys(number))
	for i, s := range names {
		if strings.ContainsAny(s, "\r\n") || s != strings.TrimSpace(s) || s == "" {
			return fmt.Errorf("label %q cannot be a line of a TUDataset", s)
		}
		number[s] = strconv.Itoa(i)
	}
	files[kind+"_names"] = slices.Values(names)
	files[kind+"s"] = func(yield func(string) bool) {
		for s := range labels {
			if !yield(number[s]) {
				return
			}
		}
	}
	return nil
}
