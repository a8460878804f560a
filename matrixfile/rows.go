package matrixfile

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/mlgkernel/mlg/internal/file"
)

// WriteRows writes a matrix whose number of rows is not known before to a .npy file, with identifiers
// and targets beside it as Write has them. make calls write with some whole rows at a time, one row after
// the other, and returns the axis of all rows.
func WriteRows(ctx context.Context, path string, cols int, make func(write func(rows []float64) error) (Axis, error)) error {
	if filepath.Ext(path) != ".npy" {
		return fmt.Errorf("%s: want a name that ends with .npy for vectors", path)
	}
	var g file.Group
	var axis Axis
	var failed error // what is not about the file
	err := g.AddAt(path, func(f *file.File) error {
		w := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<20)
		n := 0
		w.Write(NPYHeader(0, cols)) // as long as the one below; its error comes with the next ones
		axis, failed = make(func(rows []float64) error {
			if len(rows)%cols != 0 {
				panic(fmt.Sprintf("matrixfile: %d numbers for rows of %d", len(rows), cols))
			}
			n += len(rows) / cols
			_, err := w.Write(file.Bytes(rows))
			return err
		})
		if err := w.Flush(); err != nil {
			failed = nil
			return err
		}
		if failed == nil {
			failed = axis.validate("rows", n)
		}
		if failed != nil {
			return failed
		}
		_, err := f.WriteAt(NPYHeader(n, cols), 0)
		return err
	})
	return publish(ctx, &g, path, axis, cmp.Or(failed, err))
}
