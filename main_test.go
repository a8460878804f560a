package mlg_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/mlgkernel/mlg/cuda"
	"github.com/mlgkernel/mlg/work"
)

// With MLG_DEVICE=cuda all tests compute on the GPU, however small they are.
func TestMain(m *testing.M) {
	if os.Getenv("MLG_DEVICE") == "cuda" {
		d, err := cuda.Open()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		d.Least = 0
		work.DefaultDevice = d
	}
	os.Exit(m.Run())
}
