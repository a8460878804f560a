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
