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
				ID       string `json:"id"`
				Endpoint string `json:"endpoint,omitempty"`
				Target   string `json:"target,omitempty"`
				Error    string `json:"error"`
			}{x.ID, x.Endpoint, x.Target, x.Error}
		}
	}
	return printLines(w, rows)
}

// said returns the names of the columns that an endpoint has of CSV, for the one endpoint of a model. Of several,
// each has its name in front of them, and the nearest graphs are left out.
func (c *predictCmd) said(e *model.Model, several bool) []string {
	out := []string{"predicted"}
	if e.Learner.Process != nil {
		out = append(out, "deviation", "true_deviation", "low", "high")
	}
	if e.Task() == model.Classification {
		out = append(out, "margin")
		if e.Learner.Slope > 0 {
			for _, name := range e.Classes {
				out = append(out, "p("+name+")")
			}
		}
	}
	out = append(out, "similarity", "percentile", "unlike")
	if several {
		for i, name := range out {
			out[i] = e.Target + " " + name
		}
		return out
	}
	out = append(out, "known", "same")
	for i := range c.Nearest {
		n := strconv.Itoa(i + 1)
		out = append(out, "nearest"+n, "target"+n, "similarity"+n)
	}
	return out
}

// csvWriter writes the columns of the data, or identifier and target, then the predictions, and why a
// record cannot be read. A column name that is already in the data gets a suffix.
func (c *predictCmd) csvWriter(m *model.Model, w *csv.Writer) func(p []predicted) error {
	all := m.Endpoints()
	several := len(all) > 1
	widths := make([]int, len(all))
	var said []string
	for i, e := range all {
		columns := c.said(e, several)
		said, widths[i] = append(said, columns...), len(columns)
	}
	if several {
		said = append(said, "known", "same")
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
			switch head = slices.Clone(kept); {
			case kept == nil && several:
				head = []string{"id"}
			case kept == nil:
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
		for one := range slices.Chunk(p, len(all)) {
			row := one[0].beside(kept, several)
			at := len(row)
			for i := range one {
				row = append(row, one[i].cells(several)...)
				at += widths[i]
				row = append(row, make([]string, at-len(row))...)
			}
			if several {
				row = append(row, one[0].known()...)
			}
			w.Write(append(row, one[0].Error))
		}
		w.Flush()
		return w.Error()
	}
}

// beside returns the kept columns of the data, or what stands for them.
func (p *predicted) beside(kept []string, several bool) []string {
	switch {
	case kept == nil && several:
		return []string{p.ID}
	case kept == nil:
		return []string{p.ID, p.Target}
	}
	row := make([]string, len(kept))
	for i, name := range kept {
		if k := slices.Index(p.columns.Names, name); k >= 0 {
			row[i] = p.columns.Values[k]
		}
	}
	return row
}

// known returns the training graph that is the same molecule, and in what way.
func (p *predicted) known() []string {
	if k := p.Known; k != nil {
		return []string{k.ID, string(k.Same)}
	}
	return []string{"", ""}
}

// cells returns what is predicted, for the columns that said names.
func (p *predicted) cells(several bool) (row []string) {
	if p.Error != "" {
		return nil
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
	if several {
		return row
	}
	row = append(row, p.known()...)
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
	case m.Task() == model.Regression:
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

// severalColumns returns those of the table of several endpoints, which has a line for each.
func (c *predictCmd) severalColumns(m *model.Model, targets bool) []column {
	out := []column{
		{"id", 18, func(x *predicted) string { return x.ID }},
		{"target", 15, func(x *predicted) string { return x.Endpoint }},
		{"predicted", -9, func(x *predicted) string {
			if x.Value != nil {
				return figure("", *x.Value)
			}
			return x.Class
		}},
		{"p or ±", -7, func(x *predicted) string {
			switch {
			case x.Deviation != nil:
				return fmt.Sprintf("±%.3g", *x.Deviation)
			case x.Probability != nil:
				return fmt.Sprintf("%.3f", x.Probability[x.Class])
			}
			return ""
		}},
	}
	nearest := column{"nearest", 20, func(x *predicted) string {
		if len(x.Nearest) == 0 {
			return ""
		}
		return x.Nearest[0].ID
	}}
	if targets {
		nearest.width = 11
		out = append(out, column{"value", -8, func(x *predicted) string { return x.Target }})
	}
	return append(out, nearest)
}

// textWriter prints a table.
func (c *predictCmd) textWriter(m *model.Model, w io.Writer) func(p []predicted) error {
	var columns []column
	each := len(m.Endpoints())
	several := each > 1
	return func(p []predicted) error {
		var b strings.Builder
		line := func(last string, cell func(c column) string) {
			for _, x := range columns {
				if x.head == "nearest" { // after numbers
					b.WriteByte(' ')
				}
				clip := table.Clip
				if x.head == "id" || x.head == "nearest" {
					clip = table.ClipMiddle
				}
				fmt.Fprintf(&b, "%*s ", -x.width, clip(cell(x), max(x.width, -x.width)))
			}
			b.WriteString(last + "\n")
		}
		if columns == nil && len(p) > 0 {
			of := c.columns
			if several {
				of = c.severalColumns
			}
			columns = of(m, slices.ContainsFunc(p, func(x predicted) bool { return x.Target != "" }))
			line("like", func(c column) string { return c.head })
		}
		for i := range p {
			if p[i].Error != "" {
				if i%each > 0 {
					continue
				}
				fmt.Fprintf(&b, "%*s %s\n", -columns[0].width, table.ClipMiddle(p[i].ID, columns[0].width), p[i].Error)
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
