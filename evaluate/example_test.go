package evaluate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mlgkernel/mlg/baseline"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
)

// Choose among two kernels and all ways to combine them, on all the data, as Run does on the
// training part of every fold.
func ExampleChoose() {
	data, err := dataset.Drugs(dataset.DefaultOptions())
	check(err)
	wl, paths := baseline.DefaultWL(), baseline.DefaultShortestPath()
	candidates := []evaluate.Candidate{
		{Name: "wl", Settings: []evaluate.Setting{{Parameters: wl.String(), Kernel: wl}}},
		{Name: "paths", Settings: []evaluate.Setting{{Parameters: paths.String(), Kernel: paths}}},
	}
	o := evaluate.DefaultOptions()
	o.Folds = 5
	o.ForCandidates()
	plan, err := evaluate.Choose(context.Background(), data, candidates, o)
	check(err)
	fmt.Printf("%s, ridge = %g\n", plan.Combination, plan.Parameter)
	for _, s := range plan.Settings {
		fmt.Printf("%.2f %s\n", s.Weight, s.Candidate)
	}
	fmt.Printf("%s %.2f by %s\n", plan.Estimate.Measure, plan.Estimate.Value, plan.Estimate.Method)
	// Output:
	// weighted, ridge = 0.001
	// 1.00 wl
	// accuracy 0.98 by leave-one-out of kernel ridge regression, each fold with what the others choose; not fully nested
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
