package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/file"
	"github.com/mlgkernel/mlg/model"
)

// pickGraph returns the graph with an identifier or a 1-based number.
func pickGraph(list []*graph.Graph, from, which string) (*graph.Graph, error) {
	if i := slices.IndexFunc(list, func(g *graph.Graph) bool { return g.ID() == which }); i >= 0 {
		return list[i], nil
	}
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(list) {
		return list[n-1], nil
	}
	return nil, fmt.Errorf("%s has no graph with the identifier %q, and it is no number from 1 to %d", from, which, len(list))
}

// graphName returns the identifier of graph i of a list, or its number.
func graphName(x *graph.Graph, i int) string {
	if x.ID() != "" {
		return x.ID()
	}
	return strconv.Itoa(i + 1)
}

// readModel reads a model file.
func readModel(g *globals, path string) (*model.Model, error) {
	m, err := model.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such model file; \"mlg train DATA -o %s\" makes one", path, path)
	}
	return m, err
}

// output calls write with the file of the given name, which is there whole or not at all, or
// with standard output if it has none.
func output(g *globals, path string, write func(w io.Writer) error) error {
	if path != "" {
		return g.write(path, func() error { return file.Write(g.ctx, path, write) })
	}
	b := bufio.NewWriter(g.stdout)
	if err := write(b); err != nil {
		b.Flush()
		return err
	}
	return b.Flush()
}

// clip shortens a text to a number of characters.
func clip(s string, n int) string {
	r := []rune(s)
	for i, c := range r {
		if c < ' ' || c == 0x7f { // a line end in an identifier must not break the table
			r[i] = '?'
		}
	}
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// fileSize returns the size of a file, 0 if it cannot be told.
func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
