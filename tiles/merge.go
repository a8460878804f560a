package tiles

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/mapped"
)

// Problems are what keeps tiles from being merged. Every list is sorted.
type Problems struct {
	Tiles      int      // of the plan
	Missing    []string // names of tiles
	Damaged    []string // paths, with what is wrong
	Foreign    []string // paths, with what is wrong
	Duplicates []string // paths of tiles that are there more than once with different values
}

// Error says how many tiles of each kind there are and names the first of them.
func (p *Problems) Error() string {
	const most = 10
	var b strings.Builder
	fmt.Fprintf(&b, "the tiles cannot be merged:")
	for _, kind := range []struct {
		name string
		list []string
	}{{"missing", p.Missing}, {"damaged", p.Damaged}, {"foreign", p.Foreign}, {"twice, with different values", p.Duplicates}} {
		if len(kind.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n  %s, %d of %d:", kind.name, len(kind.list), p.Tiles)
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
	for _, list := range [][]string{p.Missing, p.Damaged, p.Foreign, p.Duplicates} {
		slices.Sort(list)
	}
	return p
}

// Merged says what Merge did.
type Merged struct {
	*Manifest
	Tiles int
	// Copies are the paths of tiles that were left out because the same tile, to the bit,
	// is there under another path.
	Copies []string
}

// Merge writes the Gram matrix of the tiles in some folders to a .npy file, with identifiers
// and targets beside it as dataset.WriteGram has them. The matrix is filled in by memory map
// and has its name only when it is whole; it may be larger than the memory. Every tile is
// verified. If tiles are missing, damaged, foreign or contradict each other, the error is a
// *Problems that lists all of them, and nothing is written. progress, which may be nil, is
// called with the number of tiles that are done, from one goroutine at a time.
func Merge(ctx context.Context, out string, dirs []string, workers int, progress func(done, total int)) (*Merged, error) {
	if filepath.Ext(out) != ".npy" {
		return nil, fmt.Errorf("%s: tiles are merged to a .npy file", out)
	}
	m, err := commonManifest(dirs)
	if err != nil {
		return nil, err
	}
	found, copies, problems, err := collect(m, dirs)
	if err != nil {
		return nil, err
	}
	if problems.err() != nil {
		// Whoever repairs the folder wants to know of everything, so look at the rest too.
		if err := inspect(ctx, found, workers, problems); err != nil {
			return nil, err
		}
		return nil, problems.err()
	}
	if err := fill(ctx, out, m, found, workers, problems, progress); err != nil {
		return nil, err
	}
	axis := dataset.Axis{IDs: m.IDs, Targets: m.Targets}
	if err := dataset.WriteFile(ctx, strings.TrimSuffix(out, ".npy")+".ids.csv", axis.WriteCSV); err != nil {
		return nil, err
	}
	return &Merged{m, m.Plan.Tiles(), copies}, nil
}

// commonManifest returns the manifest that all folders have.
func commonManifest(dirs []string) (*Manifest, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no folder of tiles")
	}
	var first *Manifest
	for i, dir := range dirs {
		m, err := readManifest(dir)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: no %s in it, so no folder of tiles", dir, ManifestName)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = m
			continue
		}
		a, errA := first.Encode()
		b, errB := m.Encode()
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if !bytes.Equal(a, b) {
			return nil, fmt.Errorf("%s is of %s, unlike %s", dir, difference(m, first), dirs[0])
		}
	}
	return first, nil
}

// collect finds the file of every tile by the headers of all files in the folders: what a
// file holds counts, not its name. Files that cannot be told are noted in problems.
func collect(m *Manifest, dirs []string) (found, copies []string, problems *Problems, err error) {
	problems = &Problems{Tiles: m.Plan.Tiles()}
	found = make([]string, m.Plan.Tiles())
	sums := make(map[int]string) // digests of the headers, which hold those of the values
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != extension || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			path := filepath.Join(dir, e.Name())
			h, sum, err := readHeader(path)
			if errors.Is(err, ErrDamaged) {
				problems.Damaged = append(problems.Damaged, err.Error())
				continue
			}
			if err != nil {
				return nil, nil, nil, err
			}
			if err := m.Check(h); err != nil {
				problems.Foreign = append(problems.Foreign, fmt.Sprintf("%s %v", path, err))
				continue
			}
			t := m.Index(h.Row, h.Col)
			switch {
			case found[t] == "":
				found[t], sums[t] = path, sum
			case sums[t] == sum:
				copies = append(copies, path)
			default:
				problems.Duplicates = append(problems.Duplicates, found[t]+" and "+path)
			}
		}
	}
	for t, path := range found {
		if path == "" {
			row, col := m.Place(t)
			problems.Missing = append(problems.Missing, Name(row, col))
		}
	}
	return found, copies, problems, nil
}

// readHeader reads the header of a tile and returns its digest too.
func readHeader(path string) (*Header, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	var head [headerSize]byte
	n, err := io.ReadFull(f, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", err
	}
	h, err := decodeHeader(head[:n], st.Size())
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return h, string(head[sumAt:]), nil
}

// inspect verifies the tiles that were found and adds the damaged ones to problems.
func inspect(ctx context.Context, found []string, workers int, problems *Problems) error {
	var mu sync.Mutex
	return each(ctx, workers, len(found), func(t int) error {
		if found[t] == "" {
			return nil
		}
		_, err := verify(found[t])
		if errors.Is(err, ErrDamaged) {
			mu.Lock()
			defer mu.Unlock()
			problems.Damaged = append(problems.Damaged, err.Error())
			return nil
		}
		return err
	})
}

// fill writes the matrix.
func fill(ctx context.Context, out string, m *Manifest, found []string, workers int, problems *Problems, progress func(done, total int)) (err error) {
	if st, err := os.Stat(out); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is there and not a regular file, which a matrix is merged into", out)
	}
	// A killed merge leaves a file as large as the matrix.
	dir, base := filepath.Split(out)
	entries, _ := os.ReadDir(filepath.Dir(out))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+base+".merge-") {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	head := dataset.NPYHeader(m.Graphs, m.Graphs)
	temp := filepath.Join(dir, "."+base+".merge-"+rand.Text()[:10]+".tmp")
	f, err := mapped.Create(temp, int64(len(head))+8*int64(m.Graphs)*int64(m.Graphs))
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err == nil {
			err = os.Rename(temp, out)
		}
		if err != nil {
			os.Remove(temp)
		}
	}()
	copy(f.Bytes(), head)
	matrix := f.Bytes()[len(head):]
	var mu sync.Mutex
	count := 0
	err = each(ctx, workers, len(found), func(t int) error {
		data, err := os.ReadFile(found[t])
		if err != nil {
			return err
		}
		h, err := check(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			problems.Damaged = append(problems.Damaged, found[t]+": "+err.Error())
			return nil
		}
		if m.Check(h) != nil || m.Index(h.Row, h.Col) != t {
			return fmt.Errorf("%s changed while it was merged", found[t])
		}
		place(matrix, m.Graphs, h, data[headerSize:])
		mu.Lock()
		defer mu.Unlock()
		count++
		if progress != nil {
			progress(count, len(found))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := problems.err(); err != nil {
		return err
	}
	return f.Sync()
}

// place copies the values of a tile, and those across the diagonal, to where they belong in
// the matrix of n rows.
func place(matrix []byte, n int, h *Header, values []byte) {
	le := binary.LittleEndian
	lo, _ := h.Block(h.Row)
	first, _ := h.Block(h.Col)
	rows, cols := h.Shape()
	for i := range rows {
		copy(matrix[8*((lo+i)*n+first):], values[8*i*cols:8*(i+1)*cols])
	}
	if h.Row == h.Col {
		return
	}
	const line = 8 // numbers in a cache line
	for i := 0; i < rows; i += line {
		for j := range cols {
			to := matrix[8*((first+j)*n+lo):]
			for k := i; k < min(i+line, rows); k++ {
				le.PutUint64(to[8*k:], le.Uint64(values[8*(k*cols+j):]))
			}
		}
	}
}
