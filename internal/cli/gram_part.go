package cli

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/kernel"
)

// fingerprint identifies a matrix: kernel, graphs, and the program, since another version or
// processor may round differently.
func fingerprint(k kernel.Kernel, sets ...*dataset.Dataset) []byte {
	h := sha256.New()
	b := thisBuild()
	fmt.Fprintf(h, "%s\n%s %s %s\n", k, b.Version, b.Revision, b.System)
	var line []byte
	for _, ds := range sets {
		fmt.Fprintf(h, "%d\n", len(ds.Graphs))
		for _, g := range ds.Graphs {
			var err error
			// A graph that has no JSON form stands for itself by its numbers.
			if line, err = dataset.AppendJSON(line[:0], g); err != nil {
				fmt.Fprintf(h, "%v %d %d\n", err, g.N(), g.M())
			}
			h.Write(line)
		}
	}
	return h.Sum(nil)
}

// unfinished is a matrix whose finished rows are kept in OUT.part: a container (package file) of
// kind "rows" with a section "matrix", the fingerprint, and sections of rows one after the other.
type unfinished struct {
	*file.Log
	path string
	m    *kernel.Matrix
	rows int // finished
}

// resume returns the matrix of a fingerprint with the rows that are kept.
func resume(out string, fingerprint []byte, rows, cols int) (*unfinished, error) {
	log, kept, err := file.Resume(out, "rows", 1, file.Section{Name: "matrix", Data: fingerprint})
	if err != nil {
		return nil, err
	}
	u := &unfinished{log, out + file.Partial, kernel.NewMatrix(rows, cols), 0}
	n := 0
	for _, s := range kept {
		n += copy(u.m.Data[n:], file.Floats(s.Data))
	}
	u.rows = n / max(1, cols)
	return u, nil
}

// add appends finished rows.
func (u *unfinished) add(rows *kernel.Matrix) error {
	if err := u.Append(fmt.Sprintf("rows/%d/%d", u.rows, rows.Rows), file.Bytes(rows.Data)); err != nil {
		return fmt.Errorf("%s: %w", u.path, cause(err))
	}
	copy(u.m.Data[u.rows*u.m.Cols:], rows.Data)
	u.rows += rows.Rows
	return nil
}

// A block of rows should take between these times: what an interrupt can cost, and what
// writing it takes in comparison. The rows of a block do not change their values.
const (
	blockLeast = time.Second
	blockMost  = 5 * time.Second
)

// fill computes the rows that are missing and returns the whole matrix.
func (u *unfinished) fill(g *globals, f kernel.Fitted, graphs []*graph.Graph) (*kernel.Matrix, error) {
	cols := int64(u.m.Cols)
	if u.rows > 0 {
		g.note("%s: going on with row %d of %d", u.path, u.rows+1, u.m.Rows)
	}
	for n := 32; u.rows < u.m.Rows; {
		g.kept.set("%s has %d of %d rows, with which the same command goes on", u.path, u.rows, u.m.Rows)
		g.bar.show("gram", int64(u.rows)*cols, int64(u.m.Rows)*cols, "pairs")
		start := time.Now()
		block, err := f.Cross(g.ctx, graphs[u.rows:min(u.rows+n, len(graphs))])
		if err != nil {
			return nil, err
		}
		if err := u.add(block); err != nil {
			return nil, err
		}
		switch took := time.Since(start); {
		case took < blockLeast:
			n *= 2
		case took > blockMost:
			n = max(1, n/2)
		}
	}
	return u.m, nil
}
