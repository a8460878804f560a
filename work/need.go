package work

import (
	"cmp"
	"fmt"
)

// MemoryError is the error of work that needs more memory than is free.
type MemoryError struct {
	What       string  // as in "the matrix of 50000×50000 values"
	Need, Free float64 // bytes
	Instead    string  // what to do, as in "take fewer graphs"
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s would take about %.2g GB of memory, but %.2g GB are free: %s", e.What, e.Need/1e9, e.Free/1e9, e.Instead)
}

// CheckMemory returns a *MemoryError if work needs more bytes than there are, 0 for what is Available.
func CheckMemory(what string, need float64, most int64, instead string) error {
	if free := float64(cmp.Or(most, Available())); free > 0 && need > free {
		return &MemoryError{what, need, free, instead}
	}
	return nil
}

// CheckMatrices is CheckMemory for a number of matrices of so many rows and columns.
func CheckMatrices(matrices, rows, cols int, instead string) error {
	what := fmt.Sprintf("a matrix of %d×%d values", rows, cols)
	return CheckMemory(what, 8*float64(matrices)*float64(rows)*float64(cols), 0, instead)
}
