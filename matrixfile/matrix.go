// Package matrixfile reads and writes files of kernel matrices: NumPy, CSV and LIBSVM. Beside a
// matrix stand the identifiers and targets of its graphs.
package matrixfile

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// Axis names the graphs along the rows or columns of a kernel matrix.
type Axis struct {
	IDs     []string
	Targets []string // nil when there are none
}

func (a Axis) target(i int) string {
	if a.Targets == nil {
		return ""
	}
	return a.Targets[i]
}

func (a Axis) validate(name string, n int) error {
	if len(a.IDs) != n || a.Targets != nil && len(a.Targets) != n {
		return fmt.Errorf("%d identifiers and %d targets, want one of each for the %d %s", len(a.IDs), len(a.Targets), n, name)
	}
	return nil
}

// Write writes a kernel matrix in the format that the extension names. Beside it, NAME.ids.csv has
// the identifiers and targets of the rows, and NAME.columns.csv those of the columns. If cols is nil
// the columns are the same as the rows, and there is no file for them.
//
//	.npy     NumPy, float64, row-major
//	.csv     identifiers as header and first column; numbers read back to the same bits
//	.libsvm  the precomputed-kernel format of LIBSVM (svm-train -t 4)
//
// LIBSVM wants numbers as classes: targets that are not all numbers are numbered from 1 in
// the order of their texts, and NAME.ids.csv has the number in the column label. A missing
// target is 0.
func Write(ctx context.Context, path string, m *kernel.Matrix, rows Axis, cols *Axis) error {
	if err := rows.validate("rows", m.Rows); err != nil {
		return err
	}
	top := rows
	if cols != nil {
		top = *cols
	}
	if err := top.validate("columns", m.Cols); err != nil {
		return err
	}
	ext := strings.ToLower(filepath.Ext(path))
	var labels []string
	var write func(io.Writer) error
	switch ext {
	case ".npy":
		write = func(w io.Writer) error { return writeNPY(w, m) }
	case ".csv":
		write = func(w io.Writer) error { return WriteCSV(w, m, rows.IDs, top.IDs) }
	case ".libsvm", ".svm":
		labels = numericTargets(rows)
		write = func(w io.Writer) error { return writeLIBSVM(w, m, labels) }
	default:
		return fmt.Errorf("%s: unknown extension %q for a kernel matrix, want .npy, .csv or .libsvm", path, ext)
	}
	var g file.Group
	if err := g.Add(ctx, path, write); err != nil || g.Len() == 0 { // nothing stands beside a device
		return err
	}
	if err := g.Add(ctx, IDsFile(path), func(w io.Writer) error { return rows.write(w, labels) }); err != nil {
		return err
	}
	if cols != nil {
		if err := g.Add(ctx, path[:len(path)-len(ext)]+".columns.csv", top.WriteCSV); err != nil {
			return err
		}
	}
	return g.Commit()
}

// IDsFile returns the name of the file of identifiers and targets that stands beside a matrix.
func IDsFile(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + ".ids.csv" }

// WriteCSV writes the identifiers and targets as Write does.
func (a Axis) WriteCSV(w io.Writer) error { return a.write(w, nil) }

// write writes identifiers, targets and, unless they are nil, numeric labels.
func (a Axis) write(w io.Writer, labels []string) error {
	c := csv.NewWriter(w)
	row := []string{"id", "target"}
	if labels != nil {
		row = append(row, "label")
	}
	c.Write(row)
	for i, id := range a.IDs {
		row[0], row[1] = id, a.target(i)
		if labels != nil {
			row[2] = labels[i]
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// WriteCSV writes a matrix with identifiers as header and first column.
func WriteCSV(w io.Writer, m *kernel.Matrix, rows, cols []string) error {
	c := csv.NewWriter(w)
	c.Write(append([]string{"id"}, cols...))
	row := make([]string, m.Cols+1)
	for i := range m.Rows {
		row[0] = rows[i]
		for j, x := range m.Row(i) {
			row[j+1] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// numericTargets returns the targets as numbers, see Write.
func numericTargets(a Axis) []string {
	out := make([]string, len(a.IDs))
	var classes []string
	numeric := true
	for i := range out {
		out[i] = a.target(i)
		if out[i] == "" {
			out[i] = "0"
			continue
		}
		x, err := strconv.ParseFloat(out[i], 64)
		numeric = numeric && err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
		classes = append(classes, out[i])
	}
	if numeric {
		return out
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	for i := range out {
		if t := a.target(i); t != "" {
			k, _ := slices.BinarySearch(classes, t)
			out[i] = strconv.Itoa(k + 1)
		}
	}
	return out
}

// writeLIBSVM writes lines "label 0:number 1:K(i,1) 2:K(i,2) …", numbered from 1.
func writeLIBSVM(w io.Writer, m *kernel.Matrix, labels []string) error {
	var line []byte
	for i := range m.Rows {
		line = fmt.Appendf(line[:0], "%s 0:%d", labels[i], i+1)
		for j, x := range m.Row(i) {
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(j+1), 10)
			line = append(line, ':')
			line = strconv.AppendFloat(line, x, 'g', -1, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
