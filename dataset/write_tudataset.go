package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/graph"
)

// writeTU writes the folder of a TUDataset. Its name is that of the folder. Old files of
// the same dataset that the new one does not have are removed.
func writeTU(ctx context.Context, dir string, d *Dataset) error {
	files, err := tuContent(d)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	name := filepath.Base(filepath.Clean(dir))
	made := false
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		made = true
	}
	var s staged
	for _, k := range tuKinds {
		write := files[k]
		if write == nil {
			continue
		}
		if err := s.add(ctx, filepath.Join(dir, name+"_"+k+".txt"), write); err != nil {
			if made {
				os.Remove(dir)
			}
			return err
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	for _, k := range tuKinds {
		if files[k] == nil {
			if err := os.Remove(filepath.Join(dir, name+"_"+k+".txt")); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// tuContent returns the writers of the files by kind.
func tuContent(d *Dataset) (map[string]func(io.Writer) error, error) {
	var labels, edgeLabels, attributes, weighted, targets, vertices, edges int
	dim := 0
	for i, g := range d.Graphs {
		if g.N() > 0 {
			vertices++
			labels += count(g.HasLabels())
			attributes += count(g.AttributeDim() > 0)
			if dim == 0 {
				dim = g.AttributeDim()
			}
			if g.AttributeDim() > 0 && g.AttributeDim() != dim {
				return nil, fmt.Errorf("graph %d has %d attributes, others have %d", i+1, g.AttributeDim(), dim)
			}
		}
		if g.M() > 0 {
			edges++
			edgeLabels += count(g.HasEdgeLabels())
			weighted += count(g.Weighted())
		}
		targets += count(g.Target() != "")
	}
	for _, c := range []struct {
		what     string
		have, of int
	}{{"vertex labels", labels, vertices}, {"attributes", attributes, vertices}, {"edge labels", edgeLabels, edges}, {"targets", targets, len(d.Graphs)}} {
		if c.have > 0 && c.have < c.of {
			return nil, fmt.Errorf("%d graphs have %s, %d have none; a TUDataset has them for all or for none", c.have, c.what, c.of-c.have)
		}
	}
	files := map[string]func(io.Writer) error{}
	line := func(kind string, each func(row func(string))) {
		files[kind] = func(w io.Writer) (err error) {
			each(func(s string) {
				if err == nil {
					_, err = io.WriteString(w, s+"\n")
				}
			})
			return err
		}
	}
	line("graph_indicator", func(row func(string)) {
		for i, g := range d.Graphs {
			for range g.N() {
				row(strconv.Itoa(i + 1))
			}
		}
	})
	// Every edge stands twice.
	arc := func(kind string, f func(e graph.Edge, first int) [2]string) {
		line(kind, func(row func(string)) {
			first := 1
			for _, g := range d.Graphs {
				for e := range g.Edges() {
					for _, s := range f(e, first) {
						row(s)
					}
				}
				first += g.N()
			}
		})
	}
	arc("A", func(e graph.Edge, first int) [2]string {
		u, v := strconv.Itoa(first+e.U), strconv.Itoa(first+e.V)
		return [2]string{u + ", " + v, v + ", " + u}
	})
	if weighted > 0 {
		arc("edge_attributes", func(e graph.Edge, _ int) [2]string { return [2]string{text(e.Weight), text(e.Weight)} })
	}
	if attributes > 0 {
		line("node_attributes", func(row func(string)) {
			for _, g := range d.Graphs {
				for v := range g.N() {
					var f []string
					for _, x := range g.Attributes(v) {
						f = append(f, text(x))
					}
					row(strings.Join(f, ", "))
				}
			}
		})
	}
	if labels > 0 {
		number, err := tuNumbers("node_label_names", files, func(use func(string)) {
			for _, g := range d.Graphs {
				for _, s := range g.Labels() {
					use(s)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		line("node_labels", func(row func(string)) {
			for _, g := range d.Graphs {
				for _, s := range g.Labels() {
					row(number(s))
				}
			}
		})
	}
	if edgeLabels > 0 {
		number, err := tuNumbers("edge_label_names", files, func(use func(string)) {
			for _, g := range d.Graphs {
				for e := range g.Edges() {
					use(e.Label)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		arc("edge_labels", func(e graph.Edge, _ int) [2]string { return [2]string{number(e.Label), number(e.Label)} })
	}
	if targets > 0 {
		return files, tuTargets(d, files, line)
	}
	return files, nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tuTargets writes whole numbers and texts as classes, other numbers as attributes.
func tuTargets(d *Dataset, files map[string]func(io.Writer) error, line func(string, func(func(string)))) error {
	real := false
	for _, g := range d.Graphs {
		if _, err := strconv.ParseFloat(g.Target(), 64); err != nil {
			real = false
			break
		}
		real = real || !whole(g.Target())
	}
	if real {
		line("graph_attributes", func(row func(string)) {
			for _, g := range d.Graphs {
				row(g.Target())
			}
		})
		return nil
	}
	number, err := tuNumbers("graph_label_names", files, func(use func(string)) {
		for _, g := range d.Graphs {
			use(g.Target())
		}
	})
	if err != nil {
		return err
	}
	line("graph_labels", func(row func(string)) {
		for _, g := range d.Graphs {
			row(number(g.Target()))
		}
	})
	return nil
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

// tuNumbers returns how labels are written: as they are when all are whole numbers, else
// by their place, from 0, in the sorted list of labels, which becomes a file of its own.
func tuNumbers(kind string, files map[string]func(io.Writer) error, all func(use func(string))) (func(string) string, error) {
	set := map[string]bool{}
	numbers := true
	all(func(s string) {
		if !set[s] {
			set[s] = true
			numbers = numbers && whole(s)
		}
	})
	if numbers {
		return func(s string) string { return s }, nil
	}
	var names []string
	for s := range set {
		if strings.ContainsAny(s, "\r\n") || s != strings.TrimSpace(s) || s == "" {
			return nil, fmt.Errorf("label %q cannot be a line of a TUDataset", s)
		}
		names = append(names, s)
	}
	slices.Sort(names)
	number := make(map[string]string, len(names))
	for i, s := range names {
		number[s] = strconv.Itoa(i)
	}
	files[kind] = func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(names, "\n")+"\n")
		return err
	}
	return func(s string) string { return number[s] }, nil
}
