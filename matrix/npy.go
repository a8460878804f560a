package matrix

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

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

var npyShape = regexp.MustCompile(`'shape':\s*\((\d+),\s*(\d*),?\s*\)`)

// ReadNPY reads a matrix of float64 from a .npy file, in either order; a vector becomes a
// column. The data must fit the size of the file.
func ReadNPY(path string) (*kernel.Matrix, error) {
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

func readNPY(r io.Reader, size int64) (*kernel.Matrix, error) {
	head, err := npyHead(r, size)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(head, "'<f8'") {
		return nil, errors.New("want numbers of type float64 in little-endian order ('<f8')")
	}
	shape := npyShape.FindStringSubmatch(head)
	if shape == nil {
		return nil, errors.New("want an array of one or two dimensions")
	}
	if shape[2] == "" { // a vector
		shape[2] = "1"
	}
	rows, err1 := strconv.ParseInt(shape[1], 10, 64)
	cols, err2 := strconv.ParseInt(shape[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if rows > 0 && cols > size/8/rows {
		return nil, fmt.Errorf("shape (%d, %d), but the file has %d bytes", rows, cols, size)
	}
	m := kernel.NewMatrix(int(rows), int(cols))
	columnMajor := strings.Contains(head, "'fortran_order': True")
	var word [8]byte
	for k := range m.Data {
		if _, err := io.ReadFull(r, word[:]); err != nil {
			return nil, fmt.Errorf("the data break off: %w", err)
		}
		at := k
		if columnMajor {
			at = k%m.Rows*m.Cols + k/m.Rows
		}
		m.Data[at] = math.Float64frombits(binary.LittleEndian.Uint64(word[:]))
	}
	return m, nil
}

// npyHead reads everything before the data and returns the text of the header.
func npyHead(r io.Reader, size int64) (string, error) {
	var b [12]byte
	if _, err := io.ReadFull(r, b[:8]); err != nil || string(b[:6]) != npyMagic[:6] {
		return "", errors.New("not a .npy file")
	}
	bytes := 4 // of the length of the header
	switch b[6] {
	case 1:
		bytes = 2
	case 2, 3:
	default:
		return "", fmt.Errorf("version %d of .npy, want 1, 2 or 3", b[6])
	}
	_, err := io.ReadFull(r, b[8:8+bytes])
	length := int64(binary.LittleEndian.Uint32(b[8:])) // the bytes behind a short length are 0
	if err == nil && length > size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("the header breaks off: %w", err)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", fmt.Errorf("the header breaks off: %w", err)
	}
	return string(text), nil
}
