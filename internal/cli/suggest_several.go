package cli

import (
	"fmt"
	"io"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/table"
	"github.com/mlgkernel/mlg/suggest"
)

// printSeveral prints a batch for goals of several targets, with a column of predictions for each.
func printSeveral(w io.Writer, r *suggest.Result) {
	if len(r.Batch) == 0 {
		return
	}
	fmt.Fprintf(w, "rank %-13s", "id")
	for _, e := range r.Batch[0].Targets {
		fmt.Fprintf(w, " %8s", table.ClipMiddle(e.Target, 8))
	}
	fmt.Fprintf(w, " %5s %7s  front  why\n", "p", "gain")
	for _, x := range r.Batch {
		fmt.Fprintf(w, "%4d %-13s", x.Rank, table.ClipMiddle(x.ID, 13))
		for _, e := range x.Targets {
			fmt.Fprintf(w, " %8s", figure("", e.Value))
		}
		p, front := "", ""
		if x.Probability != nil {
			p = fmt.Sprintf("%.3f", *x.Probability)
		}
		if *x.Front {
			front = "yes"
		}
		fmt.Fprintf(w, " %5s %7.3g  %-5s  %s\n", p, x.Acquisition, front, x.Why+isomerMark(x))
	}
}

// isomerMark marks a graph that differs from a measured one in stereochemistry alone, as predict does.
func isomerMark(x suggest.Suggestion) string {
	if x.Known != nil && x.Known.Same == dataset.OtherStereo {
		return " ~"
	}
	return ""
}

// noteIsomers says how many graphs have the mark.
func noteIsomers(g *globals, r *suggest.Result) {
	n := 0
	for _, x := range r.Batch {
		if isomerMark(x) != "" {
			n++
		}
	}
	if n > 0 {
		g.note("~ %s", table.Wrap(agree(n, "graph is the same molecule as a measured one, with other stereochemistry",
			"graphs are the same molecules as measured ones, with other stereochemistry"), 2, 2))
	}
}
