package cli

import (
	"fmt"
	"io"

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
		fmt.Fprintf(w, " %5s %7.3g  %-5s  %s\n", p, x.Acquisition, front, x.Why)
	}
}
