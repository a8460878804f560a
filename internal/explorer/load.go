package explorer

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// Choices say which of the fields beside the graphs is what: nil leaves it as the reader has it, an empty
// name is none.
type Choices struct {
	Target, ID, Color *string
	Task              string // classification or regression; empty: by the targets
}

// Load reads a collection to be explored. Whatever cannot be read is an error, unless the options let it be
// left out.
func Load(ctx context.Context, r *dataset.Reader, read dataset.Options, c Choices) (*Data, error) {
	l := &loader{most: math.MaxInt, items: read.Limits.Items}
	if err := l.read(ctx, r, func(int) {}); err != nil {
		return nil, err
	}
	if err := l.choose(&c, false); err != nil {
		return nil, err
	}
	return l.data(r, read, c)
}

// loader keeps graphs with the fields beside them.
type loader struct {
	most  int   // graphs to read
	items int64 // graphs, vertices and edges that may still come
	more  bool  // there are more graphs

	graphs    []*graph.Graph
	names     []string       // of the columns
	place     map[string]int // by name: its column
	columns   [][]string
	bytes     int64  // of the columns
	structure string // the column that has the SMILES, "" for none
}

// Of fields so many are kept, of a value that is no structure so many bytes, and of all together.
const (
	maxColumns = 2000
	maxValue   = 1000
	maxBytes   = 512 << 20
)

// read reads graphs and calls tick with their number.
func (l *loader) read(ctx context.Context, r *dataset.Reader, tick func(graphs int)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		g, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case len(l.graphs) == l.most:
			l.more = true
			return nil
		}
		if l.items -= 1 + int64(g.N()) + int64(g.M()); l.items < 0 {
			return fmt.Errorf("%s: too many graphs, vertices and edges in all", r.Name())
		}
		l.graphs = append(l.graphs, g)
		f := r.Fields()
		for i, name := range f.Names {
			value := strings.TrimSpace(f.Values[i])
			if i != f.SMILES && len(value) > maxValue {
				value = strings.ToValidUTF8(value[:maxValue], "")
			}
			if l.bytes += int64(len(value)) + 16; l.bytes > maxBytes {
				return fmt.Errorf("%s: columns of more than %d MB; leave out some that are not needed", r.Name(), maxBytes>>20)
			}
			l.put(i, strings.TrimSpace(name), strings.Clone(value)) // a part would keep the whole record
		}
		if f.SMILES >= 0 {
			l.structure = strings.TrimSpace(f.Names[f.SMILES])
		}
		tick(len(l.graphs))
	}
}

// put keeps a field of the last graph, which most often stands where it stood before.
func (l *loader) put(place int, name, value string) {
	i := place
	if i >= len(l.names) || l.names[i] != name {
		var known bool
		if i, known = l.place[name]; !known {
			if len(l.names) == maxColumns {
				return
			}
			if l.place == nil {
				l.place = map[string]int{}
			}
			i = len(l.names)
			l.place[name] = i
			l.names, l.columns = append(l.names, name), append(l.columns, nil)
		}
	}
	missing := len(l.graphs) - 1 - len(l.columns[i])
	if missing >= 0 { // the first of several fields of a name counts
		l.columns[i] = append(append(l.columns[i], make([]string, missing)...), value)
	}
}

// column returns the values of a column of that name, by graph, nil for none.
func (l *loader) column(name string) []string {
	i := slices.Index(l.names, name)
	if i < 0 {
		i = slices.IndexFunc(l.names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if i < 0 || name == "" {
		return nil
	}
	return append(l.columns[i], make([]string, len(l.graphs)-len(l.columns[i]))...)
}

// choose checks the choices, and makes those that are left open where it shall suggest some: the target is
// the column of a usual name, else the last one whose values are numbers or few.
func (l *loader) choose(c *Choices, suggest bool) error {
	for _, choice := range []struct {
		field string
		name  *string
	}{{"target", c.Target}, {"id", c.ID}, {"color", c.Color}} {
		if choice.name != nil && *choice.name != "" && l.column(*choice.name) == nil {
			return badRequest(choice.field, "%s: no column %q, want one of %s", choice.field, *choice.name, strings.Join(l.names, ", "))
		}
	}
	if !suggest {
		return nil
	}
	_, id, target := dataset.Usual(l.names)
	if c.ID == nil && id >= 0 && l.describe(l.names[id]).Distinct > 0 {
		c.ID = &l.names[id]
	}
	if c.Target == nil && target < 0 {
		for i := len(l.names) - 1; i >= 0 && target < 0; i-- {
			if name := l.names[i]; name != l.structure && i != id && l.describe(name).target() {
				target = i
			}
		}
	}
	if c.Target == nil && target >= 0 {
		c.Target = &l.names[target]
	}
	return nil
}

// data makes a collection of what was read.
func (l *loader) data(r *dataset.Reader, read dataset.Options, c Choices) (*Data, error) {
	ids, targets := l.chosen(c.ID), l.chosen(c.Target)
	if c.Target != nil {
		targets = withoutMissing(targets)
	}
	for i, g := range l.graphs {
		id, target := strings.Clone(g.ID()), strings.Clone(g.Target())
		if c.ID != nil {
			id = ids[i]
		}
		if c.Target != nil {
			target = targets[i]
		}
		l.graphs[i] = g.With(id, target)
	}
	d, err := fromDataset(&dataset.Dataset{Name: r.Name(), Graphs: l.graphs, Warnings: r.Warnings()}, read, task(c.Task))
	if err != nil {
		return nil, err
	}
	d.smiles = l.column(l.structure)
	if _, _, target := dataset.Usual(l.names); c.Target != nil {
		d.targetName = *c.Target
	} else if target >= 0 && read.TargetColumn == "" {
		d.targetName = l.names[target]
	} else {
		d.targetName = read.TargetColumn
	}
	if c.Color != nil && *c.Color != "" {
		d.colorName, d.color = *c.Color, withoutMissing(l.column(*c.Color))
	}
	return d, nil
}

// chosen returns the values of a chosen column, empty ones for none.
func (l *loader) chosen(name *string) []string {
	if name == nil || *name == "" {
		return make([]string, len(l.graphs))
	}
	return l.column(*name)
}

// withoutMissing empties the values of a column of numbers that say that there is none.
func withoutMissing(values []string) []string {
	d := describe("", values)
	if !d.Numeric {
		return values
	}
	out := slices.Clone(values)
	for i, v := range out {
		if isMissing(v) {
			out[i] = ""
		}
	}
	return out
}

func isMissing(v string) bool {
	return slices.Contains([]string{"", "nan", "na", "n/a", "null", "-", "?"}, strings.ToLower(v))
}

// column is a column of an uploaded file.
type column struct {
	Name     string   `json:"name"`
	Role     string   `json:"role" help:"structure, target, id, color or nothing"`
	Samples  []string `json:"samples" help:"some of its values"`
	Distinct int      `json:"distinct" help:"number of different values, up to 1000"`
	Numeric  bool     `json:"numeric" help:"all values are numbers"`
	Missing  int      `json:"missing" help:"graphs without a value"`
}

// Of a column: values that are told and characters of each, and different values that are counted.
const (
	maxSamples    = 5
	maxSampleText = 80
	maxDistinct   = 1000
)

func (l *loader) describe(name string) column { return describe(name, l.column(name)) }

// describe says what a column holds.
func describe(name string, values []string) column {
	out := column{Name: name, Samples: []string{}, Numeric: true}
	seen := map[string]bool{}
	for _, v := range values {
		if isMissing(v) {
			out.Missing++
			continue
		}
		if x, err := strconv.ParseFloat(v, 64); err != nil || math.IsInf(x, 0) {
			out.Numeric = false
		}
		if len(seen) < maxDistinct && !seen[v] {
			seen[v] = true
			if len(out.Samples) < maxSamples {
				out.Samples = append(out.Samples, shortened(v))
			}
		}
	}
	out.Distinct = len(seen)
	out.Numeric = out.Numeric && out.Distinct > 0
	return out
}

func shortened(s string) string {
	if r := []rune(s); len(r) > maxSampleText {
		return string(r[:maxSampleText]) + "…"
	}
	return s
}

// target reports whether the column may be what is to be predicted.
func (c column) target() bool { return c.Distinct > 1 && (c.Numeric || c.Distinct <= 20) }
