package embed

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/mlgkernel/mlg/dataset"
)

// File is a .npy file of vectors that is written row by row, without knowing how many there
// will be. It has its name only when it is complete.
type File struct {
	path string
	f    *os.File
	w    *bufio.Writer
	dim  int
	rows int
}

// headerRows is what the header says while the file is written: its length must be that of
// the real one.
const headerRows = 0

// Create starts a file of vectors of one dimension.
func Create(path string, dim int) (*File, error) {
	if filepath.Ext(path) != ".npy" {
		return nil, fmt.Errorf("%s: vectors are written to a .npy file", path)
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:10]+".tmp")
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	out := &File{path: path, f: f, w: bufio.NewWriterSize(f, 1<<20), dim: dim}
	_, err = out.w.Write(dataset.NPYHeader(headerRows, dim))
	if err != nil {
		out.Discard()
		return nil, err
	}
	return out, nil
}

// Write appends vectors.
func (f *File) Write(vectors []float64) error {
	if len(vectors)%f.dim != 0 {
		panic(fmt.Sprintf("embed: %d numbers for vectors of dimension %d", len(vectors), f.dim))
	}
	f.rows += len(vectors) / f.dim
	var buf [8]byte
	for _, v := range vectors {
		binary.LittleEndian.PutUint64(buf[:], math.Float64bits(v))
		if _, err := f.w.Write(buf[:]); err != nil {
			return err
		}
	}
	return nil
}

// Commit completes the file.
func (f *File) Commit() error {
	err := f.w.Flush()
	if err == nil {
		head := dataset.NPYHeader(f.rows, f.dim)
		if len(head) != len(dataset.NPYHeader(headerRows, f.dim)) {
			err = fmt.Errorf("%s: the header for %d rows has another length", f.path, f.rows)
		} else {
			_, err = f.f.WriteAt(head, 0)
		}
	}
	if err == nil {
		err = f.f.Sync()
	}
	if e := f.f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.f.Name())
	}
	return err
}

// Discard removes what was written.
func (f *File) Discard() {
	f.f.Close()
	os.Remove(f.f.Name())
}
