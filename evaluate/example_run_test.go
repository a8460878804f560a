package evaluate_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/evaluate"
)

// Two kernels on artificial graphs whose classes show only at a distance. The majority class and
// the label histogram always stand beside them.
func ExampleRun() {
	wl := classic.DefaultWL()
	wl.H = 2 // sees too little
	o := evaluate.DefaultOptions()
	o.Folds, o.Repeats = 5, 1
	report, err := evaluate.Run(context.Background(), dataset.Scales(100, 1), []choose.Candidate{
		{Name: "mlg", Settings: []choose.Setting{{Parameters: "default", Kernel: mlg.Default()}}},
		{Name: "wl", Settings: []choose.Setting{{Parameters: "h=2", Kernel: wl}}},
	}, o)
	if err != nil {
		panic(err)
	}
	for _, r := range report.Results {
		fmt.Printf("%-15s %3.0f %%\n", r.Name, 100*r.Accuracy)
	}
	// Output:
	// majority class   50 %
	// labels           48 %
	// mlg             100 %
	// wl               50 %
}
