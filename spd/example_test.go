package spd_test

import (
	"fmt"

	"github.com/mlgkernel/mlg/spd"
)

// The kernel of diagonal matrices by hand: for A = 1 and B = 4 it is
// 1·4^¼ / 2.5^½ = 0.894.
func ExampleCross() {
	b := spd.NewBatch(2, 1)
	for i, v := range []float64{1, 4} {
		if err := b.Set(i, []float64{v}); err != nil {
			panic(err)
		}
	}
	k := make([]float64, 4)
	spd.Cross(k, 2, b, 0, 2, b, 0, 2)
	fmt.Printf("%.3f\n", k)
	// Output: [1.000 0.894 0.894 1.000]
}

// Entries of a packed matrix, row by row of the lower triangle.
func ExampleLogDet() {
	s := make([]float64, spd.Size(2))
	s[spd.Index(0, 0)] = 2
	s[spd.Index(1, 0)] = 1
	s[spd.Index(1, 1)] = 1
	logDet, ok := spd.LogDet(s, 2, nil)
	fmt.Println(logDet, ok) // log(2·1 − 1·1)
	// Output: 0 true
}
