package work

import (
	"errors"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// What does not fit into memory is refused with its numbers; what fits, or where nothing is known, is not.
func TestCheckMemory(t *testing.T) {
	if err := CheckMatrices(2, 3, 4, ""); err != nil {
		t.Errorf("192 bytes: %v", err)
	}
	if Available() == 0 {
		graphtest.Missing(t, "the amount of free memory is not known here")
	}
	var e *MemoryError
	err := CheckMatrices(2, 1e7, 1e7, "take fewer graphs")
	if !errors.As(err, &e) || e.Need != 16e14 || !strings.HasPrefix(err.Error(), "a matrix of 10000000×10000000 values would take about 1600000 GB of memory, but ") ||
		!strings.HasSuffix(err.Error(), " GB are free: take fewer graphs") {
		t.Errorf("error %v", err)
	}
}

// Amounts of memory are written without exponents.
func TestGigabytes(t *testing.T) {
	for bytes, want := range map[float64]string{4e6: "0.004 GB", 5.94e8: "0.59 GB", 3.4e9: "3.4 GB", 99.4e9: "99 GB", 99.7e9: "100 GB", 2.14e11: "214 GB"} {
		if got := Gigabytes(bytes); got != want {
			t.Errorf("%g bytes are %q, want %q", bytes, got, want)
		}
	}
}
