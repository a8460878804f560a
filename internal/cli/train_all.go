package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/metrics"
)

// printAll writes the report on a model of several targets.
func printAll(w io.Writer, ds *dataset.Dataset, reports []trained) error {
	fmt.Fprintf(w, "%s: %d graphs, %d targets\n\n", ds.Name, len(ds.Graphs), len(reports))
	t := table.Table{Header: []string{"target", "graphs", "measure", "", "±", "alone", "in groups", reports[0].Parameter, "weights"}}
	methods, edges, limited := []string{}, []string{}, 0
	for i := range reports {
		r := &reports[i]
		value, deviation := r.figures(&r.Estimate)
		groups := "–"
		if r.Groups != nil {
			groups, _ = r.figures(r.Groups)
		}
		weights := "own"
		if r.Shared {
			weights = "shared"
		} else if len(r.Kernels) == 1 {
			weights = "one kernel"
		}
		t.Add(r.Target, fmt.Sprint(r.Graphs), r.Estimate.Measure, value, deviation, figure(r.Estimate.Measure, r.Baseline), groups, fmt.Sprint(r.Value), weights)
		if !slices.Contains(methods, r.Estimate.Method) {
			methods = append(methods, r.Estimate.Method)
		}
		if r.Edge {
			edges = append(edges, r.Target)
		}
		limited += r.Limited
	}
	if err := t.Write(w, ""); err != nil {
		return err
	}
	for _, measure := range measures(reports) {
		var values []float64
		for _, r := range reports {
			if r.Estimate.Measure == measure {
				values = append(values, r.Estimate.Value)
			}
		}
		if len(values) > 1 {
			fmt.Fprintf(w, "median %s of %d targets: %s\n", measure, len(values), figure(measure, metrics.Median(values)))
		}
	}
	by := []string{}
	for _, r := range reports {
		if r.Groups != nil && !slices.Contains(by, wholeGroups(r.Groups.Groups)) {
			by = append(by, wholeGroups(r.Groups.Groups))
		}
	}
	notes := "alone: the largest class, or the mean value"
	if len(by) > 0 {
		notes += "; in groups: when " + strings.Join(by, " or ") + " are left out"
	}
	fmt.Fprintf(w, "\n%s\n", table.Wrap(notes, 0, 2))
	for _, m := range methods {
		fmt.Fprintf(w, "%s\n", table.Wrap("by "+m, 0, 2))
	}
	printKernels(w, reports)
	if len(edges) > 0 {
		text := fmt.Sprintf("the %s is at the edge of those that were tried, and one beyond it may be better: %s", reports[0].Parameter, strings.Join(edges, ", "))
		fmt.Fprintf(w, "%s\n", table.Wrap(text, 0, 2))
	}
	if limited > 0 {
		fmt.Fprintf(w, "%s stopped at the solver's limit of iterations\n", agree(limited, "training", "trainings"))
	}
	last := reports[len(reports)-1]
	_, err := fmt.Fprintf(w, "\n%s: %s, %s\n", last.File, count(float64(last.Bytes), "B"), round(time.Duration(last.Seconds*float64(time.Second))))
	return err
}

// figures writes an estimate and its deviation.
func (r *trained) figures(e *choose.Estimate) (value, deviation string) {
	value, deviation = figure(e.Measure, e.Value), figure(e.Measure, e.Deviation)
	if r.Classes == nil {
		value, deviation = table.Spread(4, e.Value, e.Deviation)
	}
	return value, deviation
}

// measures returns those of the reports, in their order.
func measures(reports []trained) (out []string) {
	for _, r := range reports {
		if !slices.Contains(out, r.Estimate.Measure) {
			out = append(out, r.Estimate.Measure)
		}
	}
	return out
}

// printKernels lists the kernels of targets, those that several have once.
func printKernels(w io.Writer, reports []trained) {
	done := make([]bool, len(reports))
	for i, r := range reports {
		if done[i] {
			continue
		}
		var names []string
		for k := i; k < len(reports); k++ {
			if slices.Equal(reports[k].Kernels, r.Kernels) {
				names, done[k] = append(names, reports[k].Target), true
			}
		}
		of := strings.Join(names, ", ")
		if len(names) == len(reports) {
			of = "all targets"
		}
		fmt.Fprintf(w, "\n%s\n", table.Wrap("kernel of "+of+":", 0, 2))
		r.printKernel(w)
	}
	fmt.Fprintln(w)
}
