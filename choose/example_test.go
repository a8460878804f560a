package choose_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
)

// Choose among two kernels and all ways to combine them, on all the data, as an evaluation does on
// the training part of every fold.
func ExampleChoose() {
	data, err := dataset.Read(context.Background(), "builtin:drugs", dataset.DefaultOptions())
	check(err)
	wl, pairs := classic.DefaultWL(), classic.DefaultNSPD()
	candidates := []choose.Candidate{
		{Name: "wl", Settings: []choose.Setting{{Parameters: wl.String(), Kernel: wl}}},
		{Name: "nspd", Settings: []choose.Setting{{Parameters: pairs.String(), Kernel: pairs}}},
	}
	o := choose.DefaultOptions()
	o.Folds = 5
	o.ForCandidates()
	plan, err := choose.Choose(context.Background(), data, candidates, o)
	check(err)
	fmt.Printf("%s, ridge = %g\n", plan.Combination, plan.Parameter)
	for _, s := range plan.Settings {
		fmt.Printf("%.2f %s\n", s.Weight, s.Candidate)
	}
	fmt.Printf("%s %.2f by %s\n", plan.Estimate.Measure, plan.Estimate.Value, plan.Estimate.Method)
	// Output:
	// weighted, ridge = 0.001
	// 0.14 wl
	// 0.86 nspd
	// accuracy 0.99 by leave-one-out of kernel ridge regression, each fold with the weights and the choice of the other folds; not fully nested
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
