package tiles

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/work"
)

// Problems are the reasons why tiles cannot be merged. Every list is in order.
type Problems struct {
	Tiles      int      // of the plan
	Missing    []string // names of tiles
	Damaged    []string // paths of files, with what is wrong
	Foreign    []string // paths of files, with what is wrong
	Duplicates []string // tiles with the paths of two files that have different values of them
}

// Error says how many of each kind there are and names the first of them.
func (p *Problems) Error() string {
	const most = 10
	var b strings.Builder
	b.WriteString("the tiles cannot be merged:")
	for _, kind := range []struct {
		name string
		list []string
	}{{fmt.Sprintf("missing, %d of %d tiles", len(p.Missing), p.Tiles), p.Missing}, {"damaged", p.Damaged}, {"foreign", p.Foreign},
		{"in two files, with different values", p.Duplicates}} {
		if len(kind.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n  %s:", kind.name)
		for _, x := range kind.list[:min(most, len(kind.list))] {
			fmt.Fprintf(&b, "\n    %s", x)
		}
		if more := len(kind.list) - most; more > 0 {
			fmt.Fprintf(&b, "\n    and %d more", more)
		}
	}
	return b.String()
}

func (p *Problems) err() error {
	if len(p.Missing)+len(p.Damaged)+len(p.Foreign)+len(p.Duplicates) == 0 {
		return nil
	}
	for _, list := range [][]string{p.Damaged, p.Foreign, p.Duplicates} {
		slices.Sort(list)
	}
	return p
}

// Merged says what Merge did.
type Merged struct {
	Layout
	// Copies are the paths of files of whose tiles some were left out, because the same tile, to
	// the bit, is in a file before.
	Copies []string
}

// Merge writes the Gram matrix of tiles to a .npy file, with identifiers and targets beside it as
// matrixfile.Write has them. paths are files of tiles and folders of them. The matrix is filled in place
// and has its name only when it is whole; it may be larger than the memory. Every tile is verified.
// If tiles are missing, damaged, foreign or contradict each other, the error is a *Problems that
// lists all of them (unless more than a million are missing), and nothing is written.
func Merge(ctx context.Context, out string, paths []string) (*Merged, error) {
	if filepath.Ext(out) != ".npy" {
		return nil, fmt.Errorf("%s: want a name that ends with .npy for the merged matrix", out)
	}
	all, err := list(paths)
	if err != nil {
		return nil, err
	}
	m := &merger{found: map[int]string{}}
	for _, path := range all {
		if err := m.collect(path); err != nil {
			return nil, err
		}
	}
	if m.plan == (Layout{}) { // every file is damaged
		return nil, cmp.Or(m.problems.err(), errors.New("no files of tiles"))
	}
	if n := m.plan.Tiles() - len(m.found); n > mostMissing {
		return nil, fmt.Errorf("%d of %d tiles are missing, too many to list", n, m.plan.Tiles())
	}
	m.missing()
	if m.problems.err() != nil {
		// Whoever repairs the files wants to know of everything, so look at the rest too.
		if err := m.each(ctx, func(int, []byte) error { return nil }); err != nil {
			return nil, err
		}
		return nil, m.problems.err()
	}
	if err := m.write(ctx, out); err != nil {
		return nil, err
	}
	return &Merged{m.plan, m.copies}, nil
}

// list returns the files of tiles among paths and in folders among them.
func list(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		if st, err := os.Stat(path); err != nil || !st.IsDir() {
			out = append(out, path)
			continue
		}
		files, err := finished(path)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: no finished files of tiles (*%s) in the folder", path, Extension)
		}
		out = append(out, files...)
	}
	return out, nil
}

// finished returns the files of tiles in a folder.
func finished(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == Extension && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, err
}

// merger collects what is in files of tiles.
type merger struct {
	plan     Layout
	files    []string // of the plan
	ids      []byte
	found    map[int]string // by tile: the first file that has it
	copies   []string
	mu       sync.Mutex
	problems Problems
}

// collect notes the contents of a file. It checks only tiles that another file has too.
func (m *merger) collect(path string) error {
	c, err := open(path)
	if err != nil {
		return err
	}
	defer c.close()
	if c.damage != nil {
		m.damaged(path, c.damage)
	}
	switch {
	case c.plan == (Layout{}):
		return nil
	case len(m.files) == 0:
		m.plan = c.plan
	case c.plan != m.plan:
		m.problems.Foreign = append(m.problems.Foreign, fmt.Sprintf("%s is of %s as in %s", path, c.plan.difference(m.plan), m.files[0]))
		return nil
	}
	if !slices.Contains(m.files, path) { // named twice, it is read once
		m.files = append(m.files, path)
	}
	if c.ids != nil {
		if err := c.guard(func() error {
			if err := c.ids.Check(); err != nil {
				m.damaged(path, err)
			}
			m.ids = slices.Clone(c.ids.Data)
			return nil
		}); err != nil {
			return err
		}
	}
	copies := map[string][]int{} // by file: tiles that it has too
	for t := range c.tiles {
		if first, ok := m.found[t]; ok {
			copies[first] = append(copies[first], t)
		} else {
			m.found[t] = path
		}
	}
	if len(copies) > 0 {
		m.copies = append(m.copies, path)
	}
	for first, tiles := range copies {
		if err := m.compare(path, c, first, tiles); err != nil {
			return err
		}
	}
	return nil
}

// damaged takes note of damage.
func (m *merger) damaged(path string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems.Damaged = append(m.problems.Damaged, fmt.Sprintf("%s: %v", path, err))
}

// compare takes note of tiles that are damaged in a file or differ from those of the first file.
func (m *merger) compare(path string, c *contents, first string, tiles []int) error {
	before, err := open(first)
	if err != nil {
		return err
	}
	defer before.close()
	return c.guard(func() error {
		return before.guard(func() error {
			for _, t := range tiles {
				x, y := before.tiles[t], c.tiles[t]
				if err := y.Check(); err != nil {
					m.damaged(path, err)
				} else if x.Check() == nil && !bytes.Equal(x.Data, y.Data) {
					m.problems.Duplicates = append(m.problems.Duplicates, fmt.Sprintf("%s in %s and %s", y.Name, first, path))
				}
			}
			return nil
		})
	})
}

// mostMissing bounds the list of missing tiles: a file of a few bytes may have a plan of 2²⁷.
const mostMissing = 1 << 20

// missing takes note of what no file has.
func (m *merger) missing() {
	m.problems.Tiles = m.plan.Tiles()
	for row := range m.plan.Blocks() {
		for col := row; col < m.plan.Blocks(); col++ {
			if t := m.plan.Index(row, col); m.found[t] == "" {
				m.problems.Missing = append(m.problems.Missing, m.plan.name(t))
			}
		}
	}
	if m.ids == nil {
		m.problems.Missing = append(m.problems.Missing, "ids")
	}
}

// each checks every tile and calls place with the data of the good ones.
func (m *merger) each(ctx context.Context, place func(t int, data []byte) error) error {
	const together = 256 // files that are mapped at a time
	meter := work.NewMeter(ctx, "tiles", len(m.found))
	left := len(m.found)
	for files := range slices.Chunk(m.files, together) {
		err := func() error {
			type found struct {
				t  int
				in *contents
			}
			var tiles []found
			for _, path := range files {
				c, err := open(path)
				if err != nil {
					return err
				}
				defer c.close()
				for t := range c.tiles {
					if m.found[t] == path && c.plan == m.plan {
						tiles = append(tiles, found{t, c})
					}
				}
			}
			left -= len(tiles)
			return work.Each(ctx, len(tiles), 1, func(_, i int) error {
				defer meter.Add(1)
				t, c := tiles[i].t, tiles[i].in
				return c.guard(func() error {
					if err := c.tiles[t].Check(); err != nil {
						m.damaged(c.path, err)
						return nil
					}
					return place(t, c.tiles[t].Data)
				})
			})
		}()
		if err != nil {
			return err
		}
	}
	if left > 0 {
		return errors.New("the tiles changed while they were merged")
	}
	return nil
}

// write writes the matrix, and identifiers and targets beside it.
func (m *merger) write(ctx context.Context, out string) error {
	n := int64(m.plan.Graphs)
	head := matrixfile.NPYHeader(m.plan.Graphs, m.plan.Graphs)
	var g file.Group
	var failed error // what is not about the file
	err := g.AddPart(out, func(f *file.File) error {
		if err := f.Truncate(int64(len(head)) + 8*n*n); err != nil { // all of it is written
			return err
		}
		if _, err := f.WriteAt(head, 0); err != nil {
			return err
		}
		err := m.each(ctx, func(t int, data []byte) error { return place(f, int64(len(head)), m.plan, t, data) })
		if err == nil {
			failed = m.problems.err()
		}
		return cmp.Or(err, failed)
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	if err := g.Add(ctx, matrixfile.IDsFile(out), func(w io.Writer) error {
		_, err := w.Write(m.ids)
		return err
	}); err != nil {
		return err
	}
	return g.Commit()
}

// place writes the values of tile t, and those across the diagonal, to where they belong in a
// matrix, whose first byte is at offset.
func place(w io.WriterAt, offset int64, p Layout, t int, values []byte) error {
	row, col := p.Place(t)
	rows, cols := p.shape(t)
	if err := placeRows(w, offset, p, row, col, values, rows, cols); err != nil || row == col {
		return err
	}
	// By squares of one cache line.
	const line = 8
	across := make([]byte, len(values))
	for i := 0; i < rows; i += line {
		for j := range cols {
			for k := i; k < min(i+line, rows); k++ {
				copy(across[8*(j*rows+k):][:8], values[8*(k*cols+j):])
			}
		}
	}
	return placeRows(w, offset, p, col, row, across, cols, rows)
}

// placeRows writes the rows of a rectangle that begins at two blocks.
func placeRows(w io.WriterAt, offset int64, p Layout, row, col int, values []byte, rows, cols int) error {
	lo, _ := p.Block(row)
	first, _ := p.Block(col)
	for i := range rows {
		at := offset + 8*(int64(lo+i)*int64(p.Graphs)+int64(first))
		if _, err := w.WriteAt(values[8*i*cols:8*(i+1)*cols], at); err != nil {
			return err
		}
	}
	return nil
}
