package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// checkGramName returns an error unless the name of a matrix says its format.
func checkGramName(path string) error {
	ext := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
	switch ext {
	case ".npy", ".csv", ".libsvm":
		return nil
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil // a device or a pipe; WriteGram has the last word
	}
	return usageError(fmt.Sprintf("%s: want a name that ends with .npy, .csv or .libsvm", path))
}

// fingerprint identifies a matrix: kernel, flags, graphs, and the program, since another
// version or processor may round differently.
func (c *gramCmd) fingerprint(k mlg.Kernel, sets ...*dataset.Dataset) [sha256.Size]byte {
	h := sha256.New()
	b := thisBuild()
	flags, err := json.Marshal(c.kernelFlags)
	if err != nil {
		panic(err) // a struct of numbers and strings
	}
	fmt.Fprintf(h, "%s\n%s\n%s %s %s\n", k, flags, b.Version, b.Revision, b.System)
	var line []byte
	for _, ds := range sets {
		fmt.Fprintf(h, "%d\n", len(ds.Graphs))
		for _, g := range ds.Graphs {
			// A graph that has no JSON form stands for itself by its numbers.
			if line, err = dataset.AppendJSON(line[:0], g); err != nil {
				fmt.Fprintf(h, "%v %d %d\n", err, g.N(), g.M())
			}
			h.Write(line)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// A part file holds finished rows of a matrix. All numbers are little-endian.
//
//	magic        16 bytes
//	fingerprint  32 bytes
//	blocks       first row, number of rows (uint64 each), the rows (float64), SHA-256 of the
//	             fingerprint and all of the block before it
//
// Blocks follow each other in the order of the rows. A block that is cut short or damaged ends
// the file: what comes after it is computed again.
const partMagic = "mlg gram part 1\n"

type partFile struct {
	f           *os.File
	path        string
	fingerprint [sha256.Size]byte
	m           *mlg.Matrix
	rows        int // finished
}

// openPart opens a part file for a matrix, takes from it the rows that it has, and is ready to
// append. A file of another matrix is an error.
func openPart(path string, fingerprint [sha256.Size]byte, rows, cols int) (*partFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	p := &partFile{f: f, path: path, fingerprint: fingerprint, m: mlg.NewMatrix(rows, cols)}
	if err := p.load(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	return p, nil
}

func (p *partFile) load() error {
	header := make([]byte, len(partMagic)+len(p.fingerprint))
	n, err := io.ReadFull(p.f, header)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && bytes.HasPrefix([]byte(partMagic), header[:min(n, len(partMagic))]):
		// New, or interrupted before the first row.
		if err := p.f.Truncate(0); err != nil {
			return err
		}
		_, err := p.f.WriteAt(append([]byte(partMagic), p.fingerprint[:]...), 0)
		if err == nil {
			_, err = p.f.Seek(int64(len(header)), io.SeekStart)
		}
		return err
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(header[:len(partMagic)]) != partMagic:
		return errors.New("is no file of finished rows; remove it, or choose another --out")
	case [sha256.Size]byte(header[len(partMagic):]) != p.fingerprint:
		return errors.New("has rows of other data, flags or another version; remove it to begin anew")
	}
	at := int64(len(header))
	for p.rows < p.m.Rows {
		size, ok := p.block()
		if !ok {
			break
		}
		at += size
	}
	if err := p.f.Truncate(at); err != nil {
		return err
	}
	_, err = p.f.Seek(at, io.SeekStart)
	return err
}

// block reads the next block; ok is false if it is not whole.
func (p *partFile) block() (size int64, ok bool) {
	var head [16]byte
	if _, err := io.ReadFull(p.f, head[:]); err != nil {
		return 0, false
	}
	first, n := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	if first != uint64(p.rows) || n == 0 || n > uint64(p.m.Rows-p.rows) {
		return 0, false
	}
	body := make([]byte, int(n)*p.m.Cols*8+sha256.Size)
	if _, err := io.ReadFull(p.f, body); err != nil {
		return 0, false
	}
	data, sum := body[:len(body)-sha256.Size], body[len(body)-sha256.Size:]
	if !bytes.Equal(sum, p.checksum(head[:], data)) {
		return 0, false
	}
	dst := p.m.Data[p.rows*p.m.Cols:][:int(n)*p.m.Cols]
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	p.rows += int(n)
	return int64(len(head) + len(body)), true
}

func (p *partFile) checksum(head, data []byte) []byte {
	h := sha256.New()
	h.Write(p.fingerprint[:])
	h.Write(head)
	h.Write(data)
	return h.Sum(nil)
}

// add appends finished rows.
func (p *partFile) add(rows *mlg.Matrix) error {
	b := make([]byte, 16, 16+8*len(rows.Data)+sha256.Size)
	binary.LittleEndian.PutUint64(b, uint64(p.rows))
	binary.LittleEndian.PutUint64(b[8:], uint64(rows.Rows))
	for _, v := range rows.Data {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	b = append(b, p.checksum(b[:16], b[16:])...)
	if _, err := p.f.Write(b); err != nil {
		return err
	}
	copy(p.m.Data[p.rows*p.m.Cols:], rows.Data)
	p.rows += rows.Rows
	return p.f.Sync()
}

// A block of rows should take between these times: what an interrupt can cost, and what
// writing it takes in comparison. The rows of a block do not change their values.
const (
	blockLeast = time.Second
	blockMost  = 5 * time.Second
)

// fill computes the rows that are missing and returns the whole matrix.
func (p *partFile) fill(g *globals, f mlg.Fitted, graphs []*graph.Graph, bar *bar) (*mlg.Matrix, error) {
	bar.fixed = true
	cols := int64(p.m.Cols)
	if p.rows > 0 {
		g.note("%s: going on with row %d of %d", p.path, p.rows+1, p.m.Rows)
	}
	for n := 32; p.rows < p.m.Rows; {
		g.kept.set("%s has %d of %d rows, with which the same command goes on", p.path, p.rows, p.m.Rows)
		bar.show("gram", int64(p.rows)*cols, int64(p.m.Rows)*cols, "pairs")
		start := time.Now()
		block, err := f.Cross(g.ctx, graphs[p.rows:min(p.rows+n, len(graphs))])
		if err != nil {
			return nil, err
		}
		if err := p.add(block); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, cause(err))
		}
		switch took := time.Since(start); {
		case took < blockLeast:
			n *= 2
		case took > blockMost:
			n = max(1, n/2)
		}
	}
	return p.m, nil
}

func (p *partFile) close() {
	if p != nil {
		p.f.Close()
	}
}

// remove deletes the file when its rows are in the matrix.
func (p *partFile) remove() error {
	if p == nil {
		return nil
	}
	p.close()
	return os.Remove(p.path)
}
