package explorer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
)

// columnBytes is how long the texts of the columns of a source may be together.
const columnBytes = 128 << 20

// column is a field beside the graphs.
type column struct {
	name    string
	values  []string // of each graph, "" for none
	numeric bool     // its values are numbers, and texts among them none
}

// newColumn returns a column. Where most values are numbers, other texts such as ">10" are no values.
func newColumn(name string, values []string) column {
	_, numeric := dataset.Learnable(values)
	return column{name, values, numeric}
}

// odd returns the texts among the numbers of a column.
func (c *column) odd() (out []string) {
	for i, v := range c.values {
		if c.numeric && v != "" && math.IsNaN(c.number(i)) {
			out = append(out, v)
		}
	}
	return out
}

// remarkOnColumns says which columns have texts among their numbers.
func (d *Data) remarkOnColumns() {
	for _, c := range d.columns {
		if odd := c.odd(); len(odd) > 0 {
			d.info.Warnings = append(d.info.Warnings, fmt.Sprintf("the column %s counts as numbers: %d of its values are not, such as %q, and count as not measured",
				c.name, len(odd), odd[0]))
		}
	}
}

// number returns the value of a graph as a number, NaN for none.
func (c *column) number(i int) float64 {
	v, err := strconv.ParseFloat(c.values[i], 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// others returns the columns that are neither structure, identifier nor target, until their texts have too many bytes.
func (l *loader) others(d *Data, read dataset.Options, c Choices, most int) []column {
	used := []string{l.columns.Roles.Structure.Column, l.columns.Suggest(read).Target()}
	if c.ID == nil {
		used = append(used, l.columns.Suggest(read).ID.Column)
	}
	for _, name := range []*string{c.Target, c.ID} {
		if name != nil {
			used = append(used, *name)
		}
	}
	var out []column
	bytes := 0
	for _, name := range l.columns.Names {
		if slices.ContainsFunc(used, func(u string) bool { return strings.EqualFold(u, name) }) && (c.Color == nil || *c.Color != name) {
			continue
		}
		values := withoutMissing(l.columns.Values(name))
		for _, v := range values {
			bytes += len(v) + 16
		}
		if bytes > most {
			d.info.Warnings = append(d.info.Warnings, fmt.Sprintf("the column %s and those behind it are too long to be shown", name))
			break
		}
		out = append(out, newColumn(name, values))
	}
	return out
}

// column returns the column of a name.
func (d *Data) column(name string) (*column, error) {
	i := slices.IndexFunc(d.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return nil, notFound("column", "no column %.100q", name)
	}
	return &d.columns[i], nil
}

// columnInfo describes a column.
type columnInfo struct {
	Name    string    `json:"name"`
	Numeric bool      `json:"numeric" help:"its values are numbers; other texts among them are no values"`
	Range   []float64 `json:"range" help:"least and largest number; empty for a column of texts"`
}

func (d *Data) columnInfos() []columnInfo {
	out := []columnInfo{}
	for _, c := range d.columns {
		known := []float64{}
		for i := range c.values {
			if v := c.number(i); c.numeric && !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		if len(known) > 0 {
			known = []float64{slices.Min(known), slices.Max(known)}
		}
		out = append(out, columnInfo{c.name, c.numeric, known})
	}
	return out
}

// columnsAnswer has columns with their values.
type columnsAnswer struct {
	Columns []columnValues `json:"columns"`
}

// columnValues has one of two lists, which has a value for each graph.
type columnValues struct {
	Name    string     `json:"name"`
	Numbers []*float64 `json:"numbers" help:"null for none; empty for a column of texts"`
	Texts   []string   `json:"texts" help:"empty texts for none; empty for a column of numbers"`
}

func getColumns(q *request, in *struct {
	Column string `json:"column,omitempty" help:"only the column of this name, as info has it"`
}) (*columnsAnswer, error) {
	wanted, out := q.s.data.columns, &columnsAnswer{Columns: []columnValues{}}
	if in.Column != "" {
		c, err := q.s.data.column(in.Column)
		if err != nil {
			return nil, err
		}
		wanted = []column{*c}
	}
	for _, c := range wanted {
		out.Columns = append(out.Columns, c.answer())
	}
	return out, nil
}

func (c *column) answer() columnValues {
	out := columnValues{Name: c.name, Numbers: []*float64{}, Texts: []string{}}
	if !c.numeric {
		out.Texts = c.values
		return out
	}
	for i := range c.values {
		var v *float64
		if number := c.number(i); !math.IsNaN(number) {
			v = &number
		}
		out.Numbers = append(out.Numbers, v)
	}
	return out
}
