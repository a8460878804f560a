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
	return fmt.Sprintf("%s would take about %s of memory, but %s are free: %s", e.What, Gigabytes(e.Need), Gigabytes(e.Free), e.Instead)
}

// Gigabytes writes a number of bytes with two digits, and all digits before the point.
func Gigabytes(bytes float64) string {
	if gb := bytes / 1e9; gb < 99.5 {
		return fmt.Sprintf("%.2g GB", gb)
	}
	return fmt.Sprintf("%.0f GB", bytes/1e9)
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
