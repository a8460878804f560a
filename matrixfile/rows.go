package matrixfile

import (
	"bufio"
	"fmt"
	"path/filepath"

	"github.com/mlgkernel/mlg/internal/file"
)

// Rows is a .npy file that is written row by row, without knowing how many there will be. It has
// its name only when it is complete.
type Rows struct {
	f    *file.File
	w    *bufio.Writer
	cols int
	rows int
}

// CreateRows starts a file of rows with the given number of columns.
func CreateRows(path string, cols int) (*Rows, error) {
	if filepath.Ext(path) != ".npy" {
		return nil, fmt.Errorf("%s: want a name that ends with .npy for vectors", path)
	}
	f, err := file.Create(path)
	if err != nil {
		return nil, err
	}
	r := &Rows{f: f, w: bufio.NewWriterSize(f, 1<<20), cols: cols}
	if _, err := r.w.Write(NPYHeader(0, cols)); err != nil { // as long as the one of Commit
		r.Discard()
		return nil, err
	}
	return r, nil
}

// Write appends rows.
func (r *Rows) Write(rows []float64) error {
	if len(rows)%r.cols != 0 {
		panic(fmt.Sprintf("matrixfile: %d numbers for rows of %d", len(rows), r.cols))
	}
	r.rows += len(rows) / r.cols
	_, err := r.w.Write(file.Bytes(rows))
	return err
}

// Commit completes the file. After an error it is removed.
func (r *Rows) Commit() error {
	err := r.w.Flush()
	if err == nil {
		_, err = r.f.WriteAt(NPYHeader(r.rows, r.cols), 0)
	}
	if err != nil {
		r.Discard()
		return err
	}
	return r.f.Commit()
}

// Discard removes what was written.
func (r *Rows) Discard() { r.f.Discard() }
