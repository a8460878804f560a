package learn_test

import (
	"context"
	"fmt"

	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// Four points on a line, at −2, −1, 1 and 3, with the kernel k(x, y) = xy. The last one is
// left out of the training and predicted.
func ExampleTrain() {
	gram := &kernel.Matrix{Rows: 4, Cols: 4, Data: []float64{
		4, 2, -2, -6,
		2, 1, -1, -3,
		-2, -1, 1, 3,
		-6, -3, 3, 9,
	}}
	all := learn.Full(gram)
	train, test := []int{0, 1, 2}, []int{3}

	opt := learn.DefaultOptions()
	opt.C = 10
	learner, err := learn.Train(context.Background(), all.Select(train, train), learn.Targets{Labels: []int{5, 5, 8}}, opt)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := learner.Functions[0]
	fmt.Println("support", f.Support, "coefficients", f.Coefficients, "bias", f.Bias)
	values, err := learner.Values(all.Select(test, train))
	fmt.Println(learner.Class(values.Row(0)), err)
	// Output:
	// support [1 2] coefficients [0.5 -0.5] bias 0
	// 8 <nil>
}
