package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
)

// Columns keeps the texts that stand beside the graphs of a collection: one column a name, one value a graph.
// The zero value has none.
type Columns struct {
	Names []string
	Roles Roles // how the columns are used

	values [][]string     // by column; values that end early are missing
	place  map[string]int // by name: its column
	lines  []int          // by graph: its line in the file, 0 where that is not known
	bytes  int64          // of the values
}

// Limits: columns that are kept, bytes of a value that is not a structure, and bytes of all values
// together.
const (
	maxColumns      = 2000
	maxValue        = 1000
	maxColumnsBytes = 512 << 20
)

// Add keeps the fields of the next graph. Beyond 512 MB of texts it is an error.
func (c *Columns) Add(f Fields) error {
	c.lines = append(c.lines, f.Line)
	for i, name := range f.Names {
		value := strings.TrimSpace(f.Values[i])
		if i != f.SMILES && len(value) > maxValue {
			value = strings.ToValidUTF8(value[:maxValue], "")
		}
		if c.bytes += int64(len(value)) + 16; c.bytes > maxColumnsBytes {
			return fmt.Errorf("the columns have more than %d MB of text; remove columns that are not needed", maxColumnsBytes>>20)
		}
		c.put(i, strings.TrimSpace(name), strings.Clone(value)) // a part would keep the whole record
	}
	return nil
}

// put keeps a field of the last graph, which most often stands where it stood before. One without a name
// is no column.
func (c *Columns) put(place int, name, value string) {
	if name == "" {
		return
	}
	i := place
	if i >= len(c.Names) || c.Names[i] != name {
		var known bool
		if i, known = c.place[name]; !known {
			if len(c.Names) == maxColumns {
				return
			}
			if c.place == nil {
				c.place = map[string]int{}
			}
			i = len(c.Names)
			c.place[name] = i
			c.Names, c.values = append(c.Names, name), append(c.values, nil)
		}
	}
	if missing := len(c.lines) - 1 - len(c.values[i]); missing >= 0 { // the first of several fields of a name counts
		c.values[i] = append(append(c.values[i], make([]string, missing)...), value)
	}
}

// find returns the name of a column as the data spells it: the same, or the same without regard to case and blanks
// around, "" for none.
func (c *Columns) find(name string) string {
	if c == nil || name == "" {
		return ""
	}
	if i := slices.Index(c.Names, name); i >= 0 {
		return name
	}
	if i := findColumn(c.Names, []string{name}); i >= 0 {
		return c.Names[i]
	}
	return ""
}

// Values returns the values of a column, by graph, nil for none.
func (c *Columns) Values(name string) []string {
	if name = c.find(name); name == "" {
		return nil
	}
	i := slices.Index(c.Names, name)
	return append(slices.Clip(c.values[i]), make([]string, len(c.lines)-len(c.values[i]))...) // readers share what is behind
}

// Pick returns the columns with the given graphs alone.
func (c *Columns) Pick(graphs []int) *Columns {
	if c == nil {
		return nil
	}
	out := *c
	out.lines, out.values = make([]int, len(graphs)), make([][]string, len(c.Names))
	for k, i := range graphs {
		out.lines[k] = c.lines[i]
	}
	out.bytes = 0
	for n, name := range c.Names {
		all := c.Values(name)
		out.values[n] = make([]string, len(graphs))
		for k, i := range graphs {
			out.values[n][k] = all[i]
			out.bytes += int64(len(all[i])) + 16
		}
	}
	return &out
}

// Column returns the values of a column beside the graphs, in their order. An empty value is
// missing. [Missing] knows other texts for missing values. Every format has columns: the columns of
// a table, the data fields of an SDF, and the other [Fields].
func (d *Dataset) Column(name string) ([]string, error) {
	if v := d.Columns.Values(name); v != nil {
		return v, nil
	}
	if d.Columns == nil || len(d.Columns.Names) == 0 {
		return nil, fmt.Errorf("%s has no columns, want one named %q", d.Name, name)
	}
	return nil, fmt.Errorf("%s has no column %q, want one of %s", d.Name, name, quoteList(d.Columns.Names))
}

// Select returns the graphs at the given positions, with their columns.
func (d *Dataset) Select(graphs []int) *Dataset {
	out := &Dataset{Name: d.Name, Warnings: d.Warnings, Columns: d.Columns.Pick(graphs), Skipped: d.Skipped}
	rows := d.Rows()
	for _, i := range graphs {
		out.Graphs, out.rows = append(out.Graphs, d.Graphs[i]), append(out.rows, rows[i])
	}
	return out
}

// Rows returns the positions of the graphs in the collection from which they were picked, once or several times.
func (d *Dataset) Rows() []int {
	if d.rows != nil {
		return d.rows
	}
	out := make([]int, len(d.Graphs))
	for i := range out {
		out[i] = i
	}
	return out
}

// line names a graph by its line, or by its identifier where no line is known.
func (d *Dataset) line(i int) string {
	if d.Columns != nil && d.Columns.lines[i] > 0 {
		return fmt.Sprintf("line %d", d.Columns.lines[i])
	}
	return "graph " + identifier(d.Graphs[i], i+1)
}

// missing are the texts that stand for no value, in lower case.
var missing = []string{"", "na", "n/a", "#n/a", "nan", "none", "null", "-", "?"}

// Missing reports whether a cell says that there is no value: it is empty, or NA, N/A, NaN, None, null, - or ?, in any case.
func Missing(v string) bool {
	return len(v) <= 4 && slices.Contains(missing, strings.ToLower(strings.TrimSpace(v)))
}

// Kind is the kind of the values of a column.
type Kind string

// The kinds.
const (
	StructureKind  Kind = "structure"  // SMILES strings
	IdentifierKind Kind = "identifier" // names, or numbers that count
	NumberKind     Kind = "number"     // values, as ValueRange says
	ClassKind      Kind = "class"      // texts or whole numbers with few different values
	DateKind       Kind = "date"
	TextKind       Kind = "text"
	EmptyKind      Kind = "empty" // no value at all
)

// Column says what a column holds.
type Column struct {
	Name     string       `json:"name"`
	Kind     Kind         `json:"kind" want:"one of structure identifier number class date text empty"`
	Role     string       `json:"role" help:"structure, value, target, id, color or nothing"`
	Why      string       `json:"why,omitempty" help:"why it has its role"`
	Missing  int          `json:"missing" help:"graphs without a value"`
	Odd      int          `json:"odd" help:"texts among numbers, which are left out"`
	Distinct int          `json:"distinct" help:"number of different values, up to 1000"`
	Numeric  bool         `json:"numeric" help:"all values are numbers"`
	Range    []float64    `json:"range,omitempty" help:"least and largest of numbers"`
	Classes  []ClassCount `json:"classes,omitempty" help:"the most frequent classes"`
	Samples  []string     `json:"samples" help:"some of its values"`
}

// ClassCount says how often a class occurs.
type ClassCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Limits of the description of a column: sample values, characters of each, different values that
// are counted, and classes.
const (
	maxSamples    = 5
	maxSampleText = 80
	maxDistinct   = 1000
	maxKindClass  = 20
)

// Describe says what each column holds and how it is used.
func (c *Columns) Describe() []Column {
	if c == nil {
		return nil
	}
	out := make([]Column, len(c.Names))
	for i, name := range c.Names {
		out[i] = c.describe(name)
		out[i].Role, out[i].Why = c.Roles.of(name)
		if out[i].Role == "structure" || slices.Contains(c.Roles.Others, name) {
			out[i].Kind, out[i].Classes = StructureKind, nil
		}
	}
	return out
}

// describe says what a column holds.
func (c *Columns) describe(name string) Column {
	out := Column{Name: name, Samples: []string{}, Numeric: true}
	values, odd := numbersAlone(c.Values(name))
	out.Odd = odd
	counts := map[string]int{}
	lo, hi := math.Inf(1), math.Inf(-1)
	ascending, whole, before := true, true, math.NaN()
	for _, v := range values {
		if Missing(v) {
			out.Missing++
			continue
		}
		x, ok := finite(v)
		if out.Numeric = out.Numeric && ok; out.Numeric {
			lo, hi = min(lo, x), max(hi, x)
			whole = whole && x == math.Trunc(x)
			ascending = ascending && !(x != before+1 && !math.IsNaN(before))
			before = x
		}
		if _, known := counts[v]; !known && len(counts) < maxDistinct {
			counts[v] = 0
			if len(out.Samples) < maxSamples {
				out.Samples = append(out.Samples, shortened(v))
			}
		}
		if _, known := counts[v]; known {
			counts[v]++
		}
	}
	out.Distinct = len(counts)
	out.Numeric = out.Numeric && out.Distinct > 0
	if out.Numeric {
		out.Range = []float64{lo, hi}
	}
	n := len(c.lines) - out.Missing
	out.Missing -= odd
	out.Kind = kindOf(out, counts, n, whole && ascending && n > 2)
	if out.Kind == ClassKind {
		for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		}) {
			if len(out.Classes) < maxKindClass {
				out.Classes = append(out.Classes, ClassCount{name, counts[name]})
			}
		}
	}
	return out
}

// finite parses a finite number.
func finite(s string) (float64, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// allNumbers reports whether the values that are not missing are numbers, and there are some.
func allNumbers(values []string) bool {
	some := false
	for _, v := range values {
		if Missing(v) {
			continue
		}
		if _, ok := finite(v); !ok {
			return false
		}
		some = true
	}
	return some
}

func shortened(s string) string {
	if r := []rune(s); len(r) > maxSampleText {
		return string(r[:maxSampleText]) + "…"
	}
	return s
}

// kindOf tells the kind of a column with n values, that may count 1, 2, 3, … and so on.
func kindOf(c Column, counts map[string]int, n int, counting bool) Kind {
	unique := c.Distinct == min(n, maxDistinct) && n > 1
	every := func(ok func(string) bool) bool {
		for v := range counts {
			if !ok(v) {
				return false
			}
		}
		return true
	}
	switch {
	case n == 0:
		return EmptyKind
	case every(isDate):
		return DateKind
	case c.Numeric && (counting || hasWord(c.Name, idWords) && unique && every(isWhole)):
		return IdentifierKind
	case c.Numeric && valueLike(counts, n):
		return NumberKind
	case c.Numeric:
		return ClassKind
	case 2*c.Distinct > n && n > 1 && structures(counts):
		return StructureKind
	case unique, hasWord(c.Name, idWords):
		return IdentifierKind
	case c.Distinct <= maxKindClass || 10*c.Distinct <= n && c.Distinct < maxDistinct:
		return ClassKind
	}
	return TextKind
}

func isWhole(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// structures reports whether values are SMILES strings and most have several atoms. It looks at the
// first values in alphabetic order.
func structures(values map[string]int) bool {
	const enough = 50
	large := 0
	tried := slices.Sorted(maps.Keys(values))
	tried = tried[:min(enough, len(tried))]
	for _, v := range tried {
		m, err := chem.ParseSMILES(v, 1<<20)
		if err != nil {
			return false
		}
		if len(m.Atoms) > 2 {
			large++
		}
	}
	return 2*large > len(tried)
}

// SameClass reports whether two targets name one class: 1 and 1.0 do.
func SameClass(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil || a == b {
		return a == b
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y
}
