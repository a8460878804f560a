package matrixfile

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

const npyMagic = "\x93NUMPY\x01\x00"

// NPYHeader returns the beginning of a .npy file of float64 numbers: the numbers follow in
// little-endian order, row by row. It is version 1.0 of the format of NumPy: magic, length of
// the header, header padded so that the data begin at a multiple of 64.
func NPYHeader(rows, cols int) []byte {
	h := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	h += strings.Repeat(" ", 63-(len(npyMagic)+2+len(h))%64) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte(npyMagic), uint16(len(h)))
	return append(head, h...)
}

func writeNPY(w io.Writer, m *kernel.Matrix) error {
	if _, err := w.Write(NPYHeader(m.Rows, m.Cols)); err != nil {
		return err
	}
	for i := range m.Rows {
		if _, err := w.Write(file.Bytes(m.Row(i))); err != nil {
			return err
		}
	}
	return nil
}

// WriteBlocks writes the Gram matrix of the graphs of an axis as Write does, to a .npy file, block by
// block as it is computed from their features. So it may be larger than the memory.
func WriteBlocks(ctx context.Context, path string, axis Axis, m kernel.Map, a kernel.Features) error {
	n := a.Len()
	if err := axis.validate("rows", n); err != nil {
		return err
	}
	var g file.Group
	var failed error // what is not about the file
	err := g.AddAt(path, func(f *file.File) error {
		head := NPYHeader(n, n)
		if _, err := f.WriteAt(head, 0); err != nil {
			return err
		}
		var unwritten atomic.Bool
		write := func(i0, j0 int, values *kernel.Matrix) error {
			for i := range values.Rows {
				if err := ctx.Err(); err != nil { // a disk may be slow
					return err
				}
				at := int64(len(head)) + 8*(int64(i0+i)*int64(n)+int64(j0))
				if _, err := f.WriteAt(file.Bytes(values.Row(i)), at); err != nil {
					unwritten.Store(true)
					return err
				}
			}
			return nil
		}
		err := kernel.Blocks(ctx, m, a, a, func(i0, j0 int, values *kernel.Matrix) error {
			if err := write(i0, j0, values); err != nil || i0 == j0 {
				return err
			}
			across := kernel.NewMatrix(values.Cols, values.Rows)
			kernel.Transpose(across.Data, across.Cols, values.Data, values.Cols, values.Rows, values.Cols)
			return write(j0, i0, across)
		})
		if !unwritten.Load() {
			failed = err
		}
		return err
	})
	return publish(ctx, &g, path, axis, cmp.Or(failed, err))
}

// publish writes the identifiers of a matrix beside it and makes both files appear, unless writing the matrix has failed.
func publish(ctx context.Context, g *file.Group, path string, axis Axis, err error) error {
	if err != nil {
		return err
	}
	if err := g.Add(ctx, IDsFile(path), axis.WriteCSV); err != nil {
		return err
	}
	return g.Commit()
}
