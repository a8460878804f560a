package cli

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/model"
)

// writer returns the function that prints predictions.
func (c *predictCmd) writer(g *globals, m *model.Model, w io.Writer) func(p []predicted) error {
	switch {
	case g.JSON:
		return func(p []predicted) error { return jsonRows(w, p) }
	case c.CSV:
		g.forPrograms()
		return c.csvWriter(m, csv.NewWriter(w))
	}
	return c.textWriter(m, w)
}

// jsonRows prints an object a line.
func jsonRows(w io.Writer, p []predicted) error {
	rows := make([]any, len(p))
	for i, x := range p {
		if rows[i] = x; x.Error != "" {
			rows[i] = struct {
				ID     string `json:"id"`
				Target string `json:"target,omitempty"`
				Error  string `json:"error"`
			}{x.ID, x.Target, x.Error}
		}
	}
	return printLines(w, rows)
}

// csvWriter writes the columns of the data, or identifier and target, then the predictions, and why a
// record cannot be read. A column name that is already in the data gets a suffix.
func (c *predictCmd) csvWriter(m *model.Model, w *csv.Writer) func(p []predicted) error {
	said := []string{"predicted"}
	if m.Learner.Process != nil {
		said = append(said, "deviation", "true_deviation", "low", "high")
	}
	if m.Classes != nil {
		said = append(said, "margin")
		if m.Learner.Slope > 0 {
			for _, name := range m.Classes {
				said = append(said, "p("+name+")")
			}
		}
	}
	said = append(said, "similarity", "percentile", "unlike", "known", "same")
	for i := range c.Nearest {
		n := strconv.Itoa(i + 1)
		said = append(said, "nearest"+n, "target"+n, "similarity"+n)
	}
	said = append(said, "error")
	var kept []string // columns of the data
	var head []string
	return func(p []predicted) error {
		if head == nil && len(p) > 0 {
			for _, x := range p {
				for _, name := range x.columns.Names {
					if !slices.Contains(kept, name) {
						kept = append(kept, name)
					}
				}
			}
			if head = slices.Clone(kept); kept == nil {
				head = []string{"id", "target"}
			}
			for _, name := range said {
				for slices.Contains(head, name) {
					name += " (mlg)"
				}
				head = append(head, name)
			}
			w.Write(head) // an error is that of Flush
		}
		for _, x := range p {
			row := x.cells(kept)
			row = append(row, make([]string, len(head)-len(row))...)
			row[len(row)-1] = x.Error
			w.Write(row)
		}
		w.Flush()
		return w.Error()
	}
}

// cells returns a row of the table, with the kept columns of the data.
func (p *predicted) cells(kept []string) []string {
	row := make([]string, len(kept))
	if kept == nil {
		row = []string{p.ID, p.Target}
	}
	for i, name := range kept {
		if k := slices.Index(p.columns.Names, name); k >= 0 {
			row[i] = p.columns.Values[k]
		}
	}
	if p.Error != "" {
		return row
	}
	if p.Value != nil {
		if row = append(row, number(*p.Value)); p.Deviation != nil {
			row = append(row, number(*p.Deviation), number(*p.True), number(p.Interval.Low), number(p.Interval.High))
		}
	} else {
		row = append(row, p.Class, number(*p.Margin))
		for _, v := range p.classes {
			row = append(row, number(v))
		}
	}
	row = append(row, number(p.Similarity), strconv.Itoa(p.Percentile), strconv.FormatBool(p.Unlike))
	if k := p.Known; k != nil {
		row = append(row, k.ID, string(k.Same))
	} else {
		row = append(row, "", "")
	}
	for _, n := range p.Nearest {
		row = append(row, n.ID, n.Target, number(n.Similarity))
	}
	return row
}

// column is one of the table of predictions. A negative width puts it to the right.
type column struct {
	head  string
	width int
	cell  func(x *predicted) string
}

// columns returns those of a table of 80 columns.
func (c *predictCmd) columns(m *model.Model, targets bool) []column {
	id := column{"id", 20, func(x *predicted) string { return x.ID }}
	target := column{"target", 15, func(x *predicted) string { return x.Target }}
	nearest := column{"nearest", 22, func(x *predicted) string {
		switch {
		case x.Known != nil:
			return x.Known.ID
		case len(x.Nearest) > 0:
			return x.Nearest[0].ID
		}
		return ""
	}}
	said := []column{
		{"class", 18, func(x *predicted) string { return x.Class }},
		{"margin", -6, func(x *predicted) string { return fmt.Sprintf("%.3f", *x.Margin) }},
	}
	switch {
	case m.Learner.Process != nil:
		id.width, nearest.width, target.width = 20, 18, -8
		said = []column{
			{"value", -8, func(x *predicted) string { return figure("", *x.Value) }},
			{"±", -7, func(x *predicted) string { return fmt.Sprintf("%.3g", *x.Deviation) }},
			{fmt.Sprintf("%g %% interval", c.Interval), -18, func(x *predicted) string {
				return fmt.Sprintf("%.3g to %.3g", x.Interval.Low, x.Interval.High)
			}},
		}
	case m.Classes == nil:
		said = []column{{"value", 18, func(x *predicted) string { return figure("", *x.Value) }}}
	case m.Learner.Slope > 0:
		said[1] = column{"p", -6, func(x *predicted) string { return fmt.Sprintf("%.3f", x.Probability[x.Class]) }}
	}
	out := append([]column{id}, said...)
	if targets {
		out[0].width, out[1].width = 16, min(out[1].width, 15)
		if nearest.width = 16; m.Learner.Process != nil {
			nearest.width = 13
		}
		out = slices.Insert(out, 2, target)
	}
	return append(out, nearest)
}

// textWriter prints a table.
func (c *predictCmd) textWriter(m *model.Model, w io.Writer) func(p []predicted) error {
	var columns []column
	return func(p []predicted) error {
		var b strings.Builder
		line := func(last string, cell func(c column) string) {
			for _, x := range columns {
				if x.head == "nearest" { // after numbers
					b.WriteByte(' ')
				}
				fmt.Fprintf(&b, "%*s ", -x.width, table.Clip(cell(x), max(x.width, -x.width)))
			}
			b.WriteString(last + "\n")
		}
		if columns == nil && len(p) > 0 {
			columns = c.columns(m, slices.ContainsFunc(p, func(x predicted) bool { return x.Target != "" }))
			line("like", func(c column) string { return c.head })
		}
		for i := range p {
			if p[i].Error != "" {
				fmt.Fprintf(&b, "%*s %s\n", -columns[0].width, table.Clip(p[i].ID, columns[0].width), p[i].Error)
				continue
			}
			like, mark := p[i].Similarity, ""
			switch k := p[i].Known; {
			case k != nil && k.Same == dataset.SameMolecule:
				like, mark = k.Similarity, " ="
			case k != nil:
				like, mark = k.Similarity, " ~"
			case p[i].Unlike:
				mark = " !"
			}
			line(fmt.Sprintf("%.3f%s", like, mark), func(c column) string { return c.cell(&p[i]) })
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
}
