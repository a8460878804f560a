package dataset

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	mlg "github.com/mlgkernel/mlg"
)

// Axis names the graphs along the rows or columns of a kernel matrix.
type Axis struct {
	IDs     []string
	Targets []string // nil when there are none
}

// AxisOf returns identifiers and targets of a dataset.
func AxisOf(d *Dataset) Axis { return Axis{d.IDs(), d.Targets()} }

func (a Axis) target(i int) string {
	if a.Targets == nil {
		return ""
	}
	return a.Targets[i]
}

func (a Axis) validate(name string, n int) error {
	if len(a.IDs) != n || a.Targets != nil && len(a.Targets) != n {
		return fmt.Errorf("%d identifiers and %d targets for %d %s", len(a.IDs), len(a.Targets), n, name)
	}
	return nil
}

// WriteGram writes a kernel matrix in the format that the extension names, and beside it
// the identifiers and targets of the rows as NAME.ids.csv and, unless cols is nil because
// they are the same, those of the columns as NAME.columns.csv.
//
//	.npy     NumPy, float64, row-major
//	.csv     identifiers as header and first column; numbers read back to the same bits
//	.libsvm  the precomputed-kernel format of LIBSVM (svm-train -t 4)
//
// LIBSVM wants numbers as classes: targets that are not all numbers are numbered from 1 in
// the order of their texts, and NAME.ids.csv has the number in the column label. A missing
// target is 0.
func WriteGram(ctx context.Context, path string, m *mlg.Matrix, rows Axis, cols *Axis) error {
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
		write = func(w io.Writer) error { return writeGramCSV(w, m, rows, top) }
	case ".libsvm", ".svm":
		labels = numericTargets(rows)
		write = func(w io.Writer) error { return writeLIBSVM(w, m, labels) }
	default:
		return fmt.Errorf("%s: unknown extension %q for a kernel matrix, want .npy, .csv or .libsvm", path, ext)
	}
	base := path[:len(path)-len(ext)]
	var s staged
	if err := s.add(ctx, path, write); err != nil {
		return err
	}
	if len(s.temp) == 0 { // a device: nothing beside it
		return nil
	}
	if err := s.add(ctx, base+".ids.csv", func(w io.Writer) error { return writeAxis(w, rows, labels) }); err != nil {
		return err
	}
	if cols != nil {
		if err := s.add(ctx, base+".columns.csv", func(w io.Writer) error { return writeAxis(w, top, nil) }); err != nil {
			return err
		}
	}
	return s.commit()
}

// WriteCSV writes the identifiers and targets as WriteGram does.
func (a Axis) WriteCSV(w io.Writer) error { return writeAxis(w, a, nil) }

func writeAxis(w io.Writer, a Axis, labels []string) error {
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

// text returns the shortest decimal that reads back to the same bits.
func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func writeGramCSV(w io.Writer, m *mlg.Matrix, rows, cols Axis) error {
	c := csv.NewWriter(w)
	c.Write(append([]string{"id"}, cols.IDs...))
	row := make([]string, m.Cols+1)
	for i := range m.Rows {
		row[0] = rows.IDs[i]
		for j, x := range m.Row(i) {
			row[j+1] = text(x)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// numericTargets returns the targets as numbers, see WriteGram.
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
func writeLIBSVM(w io.Writer, m *mlg.Matrix, labels []string) error {
	var line []byte
	for i := range m.Rows {
		line = append(line[:0], labels[i]...)
		line = append(line, " 0:"...)
		line = strconv.AppendInt(line, int64(i+1), 10)
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

const npyMagic = "\x93NUMPY\x01\x00"

// NPYHeader returns the beginning of a .npy file of float64 numbers: the numbers follow in
// little-endian order, row by row. It is version 1.0 of the format of NumPy: magic, length of
// the header, header padded so that the data begin at a multiple of 64.
func NPYHeader(rows, cols int) []byte {
	h := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	h += strings.Repeat(" ", 63-(len(npyMagic)+2+len(h))%64) + "\n"
	head := append([]byte(npyMagic), byte(len(h)), byte(len(h)>>8))
	return append(head, h...)
}

func writeNPY(w io.Writer, m *mlg.Matrix) error {
	if _, err := w.Write(NPYHeader(m.Rows, m.Cols)); err != nil {
		return err
	}
	buf := make([]byte, 8*m.Cols)
	for i := range m.Rows {
		for j, x := range m.Row(i) {
			binary.LittleEndian.PutUint64(buf[8*j:], math.Float64bits(x))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

var npyShape = regexp.MustCompile(`'shape':\s*\((\d+),\s*(\d*),?\s*\)`)

// ReadNPY reads a matrix of float64 from a .npy file, in either order; a vector becomes a
// column. The data must fit the size of the file.
func ReadNPY(path string) (*mlg.Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := readNPY(bufio.NewReaderSize(f, 1<<16), st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func readNPY(r io.Reader, size int64) (*mlg.Matrix, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:6]) != npyMagic[:6] {
		return nil, errors.New("not a .npy file")
	}
	length := int64(0)
	var buf [4]byte
	switch head[6] {
	case 1:
		if _, err := io.ReadFull(r, buf[:2]); err != nil {
			return nil, err
		}
		length = int64(binary.LittleEndian.Uint16(buf[:]))
	case 2, 3:
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return nil, err
		}
		length = int64(binary.LittleEndian.Uint32(buf[:]))
	default:
		return nil, fmt.Errorf("version %d of .npy, want 1, 2 or 3", head[6])
	}
	if length > size {
		return nil, errors.New("the header breaks off")
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("the header breaks off: %w", err)
	}
	if !strings.Contains(string(text), "'<f8'") {
		return nil, errors.New("want numbers of type float64 in little-endian order ('<f8')")
	}
	shape := npyShape.FindSubmatch(text)
	if shape == nil {
		return nil, errors.New("want an array of one or two dimensions")
	}
	rows, err1 := strconv.ParseInt(string(shape[1]), 10, 64)
	cols, err2 := int64(1), error(nil)
	if len(shape[2]) > 0 {
		cols, err2 = strconv.ParseInt(string(shape[2]), 10, 64)
	}
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if rows > 0 && cols > size/8/rows {
		return nil, fmt.Errorf("shape (%d, %d), but the file has %d bytes", rows, cols, size)
	}
	m := mlg.NewMatrix(int(rows), int(cols))
	columnMajor := strings.Contains(string(text), "'fortran_order': True")
	row := make([]byte, 8)
	for k := range m.Data {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, fmt.Errorf("the data break off: %w", err)
		}
		x := math.Float64frombits(binary.LittleEndian.Uint64(row))
		if columnMajor {
			m.Data[k%m.Rows*m.Cols+k/m.Rows] = x
		} else {
			m.Data[k] = x
		}
	}
	return m, nil
}
