package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/draw"
	"github.com/mlgkernel/mlg/evaluate"
)

// accuracyBars draws the results of an evaluation: accuracies with confidence intervals, or
// root mean squared errors with their deviation between repeats.
func accuracyBars(title string, r *evaluate.Report) (*draw.Picture, error) {
	c := draw.BarChart{Title: title, Axis: "accuracy in %, with 95 % interval", Size: draw.Size{Width: 720, Height: 140 + 34*float64(len(r.Results))}}
	for _, x := range r.Results {
		b := draw.Bar{Name: x.Name}
		switch {
		case x.ClassificationSummary != nil:
			b.Value = 100 * x.Accuracy
			if x.Interval != nil {
				b.Error = 50 * (x.Interval.High - x.Interval.Low)
				c.Axis = fmt.Sprintf("accuracy in %%, with %.0f %% interval", 100*x.Interval.Level)
			}
		default:
			c.Axis = "root mean squared error, with deviation between repeats"
			b.Value, b.Error = x.RMSE, x.RMSEStd
		}
		c.Bars = append(c.Bars, b)
	}
	return c.Picture()
}

// evaluationSections are the figures of an evaluation.
func evaluationSections(r *evaluate.Report) ([]draw.Section, error) {
	bars, err := accuracyBars("", r)
	if err != nil {
		return nil, err
	}
	var out []draw.Section
	for i, t := range r.Tables() {
		s := draw.Section{Heading: t.Caption}
		if i == 0 {
			s.Blocks = []draw.Block{draw.Paragraph(strings.Join(r.Facts(), " ")), draw.Figure{Picture: bars}}
		}
		s.Blocks = append(s.Blocks, draw.Table{Header: t.Header, Rows: t.Rows})
		out = append(out, s)
	}
	return out, nil
}

// report makes the report of an evaluation. The pictures of a kernel matrix are those of mlg
// where it was evaluated, else of the first kernel.
func (c *evaluateCmd) report(g *globals, ds *dataset.Dataset, r *evaluate.Report) (*draw.Report, error) {
	sections, err := evaluationSections(r)
	if err != nil {
		return nil, err
	}
	name := c.Kernel[0]
	if c.Default || c.Paper || slices.Contains(c.Kernel, "mlg") {
		name = "mlg"
	}
	heading := "The kernel " + name
	if len(ds.Graphs) > largestPicture {
		sections = append(sections, draw.Section{Heading: heading, Blocks: []draw.Block{draw.Paragraph(fmt.Sprintf("No pictures of the kernel matrix: more than %d graphs.", largestPicture))}})
	} else {
		k, err := c.kernel(g.quietly(), name, ds.Graphs)
		if err != nil {
			return nil, err
		}
		f, err := k.Fit(g.ctx, ds.Graphs)
		if err != nil {
			return nil, err
		}
		m, err := f.Gram(g.ctx)
		if err != nil {
			return nil, err
		}
		blocks, err := kernelFigures(name, f, m, classesOf(ds))
		if err != nil {
			return nil, err
		}
		sections = append(sections, draw.Section{Heading: heading, Blocks: append([]draw.Block{draw.Code(k.String())}, blocks...)})
	}
	what := "values"
	if n := len(r.Classes); n > 0 {
		what = fmt.Sprintf("%d classes", n)
	}
	return &draw.Report{Title: "Kernels on " + strings.TrimPrefix(r.Dataset, "builtin:"), Summary: fmt.Sprintf("%d graphs, %s.", r.Graphs, what),
		Sections: sections, Footer: footer(commandLine())}, nil
}
