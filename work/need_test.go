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
	if !errors.As(err, &e) || e.Need != 16e14 || !strings.HasPrefix(err.Error(), "a matrix of 10000000×10000000 values would take about 1.6e+06 GB of memory, but ") ||
		!strings.HasSuffix(err.Error(), " GB are free: take fewer graphs") {
		t.Errorf("error %v", err)
	}
}
