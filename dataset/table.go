package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

func init() {
	sources[SMILES] = smilesSource
	sources[CSV] = func(in *bufio.Reader, name string, o Options, w *warnings) (func() (*graph.Graph, error), error) {
		return tableSource(commaRows(in, name, o.Limits), name, o, w)
	}
	sources[TSV] = func(in *bufio.Reader, name string, o Options, w *warnings) (func() (*graph.Graph, error), error) {
		return tableSource(tabRows(in, name, o.Limits), name, o, w)
	}
}

// skipped counts a molecule that cannot be read.
func skipped(warn *warnings) {
	warn.add(1, "molecule that cannot be read left out", "molecules that cannot be read left out")
}

// looksLikeSMILES reports whether the first field of a line is a SMILES string.
func looksLikeSMILES(line string) bool {
	f := strings.Fields(line)
	if len(f) == 0 {
		return false
	}
	m, err := chem.ParseSMILES(f[0], 1<<20)
	return err == nil && len(m.Atoms) > 0
}

// smilesSource reads lines of a SMILES string and, after a blank, a name. Empty lines and
// lines that begin with # are skipped, and a first line that is a header.
func smilesSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	l := newLines(name, in, opts.Limits)
	return func() (*graph.Graph, error) {
		for {
			line, err := l.next()
			if err != nil {
				return nil, err
			}
			line = trim(line)
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			smiles, id := line, []byte(nil)
			if i := bytes.IndexAny(line, " \t"); i >= 0 {
				smiles, id = line[:i], trim(line[i:])
			}
			if l.n == 1 && findColumn([]string{string(smiles)}, smilesNames) >= 0 {
				continue
			}
			g, err := fromSMILES(string(smiles), string(id), "", opts)
			if err == nil {
				return g, nil
			}
			if !opts.SkipInvalid {
				return nil, l.fail("%w", err)
			}
			skipped(warn)
		}
	}, nil
}

// tableRow returns the cells of the next row, valid until the next call, and its line.
type tableRow func() ([]string, int, error)

// tabRows reads rows whose cells are separated by tabs. Quotes around a cell are dropped;
// they do not protect anything in it.
func tabRows(in *bufio.Reader, name string, lim Limits) tableRow {
	l := newLines(name, in, lim)
	columns := 0
	return func() ([]string, int, error) {
		for {
			line, err := l.next()
			if err != nil {
				return nil, 0, err
			}
			if len(trim(line)) == 0 {
				continue
			}
			row := strings.Split(string(line), "\t")
			for i, c := range row {
				if c = strings.TrimSpace(c); len(c) > 1 && c[0] == '"' && c[len(c)-1] == '"' {
					c = c[1 : len(c)-1]
				}
				row[i] = c
			}
			if columns == 0 {
				columns = len(row)
			}
			if len(row) != columns {
				return nil, 0, l.fail("%d columns, want %d as in the header", len(row), columns)
			}
			return row, l.n, nil
		}
	}
}

// commaRows reads rows whose cells are separated by commas or, when the header has
// semicolons and no comma, by semicolons.
func commaRows(in *bufio.Reader, name string, lim Limits) tableRow {
	head, _ := in.Peek(4096)
	first, _, _ := strings.Cut(string(head), "\n")
	bounded := &record{r: in, max: lim.Record}
	r := csv.NewReader(bounded)
	if strings.Contains(first, ";") && !strings.Contains(first, ",") {
		r.Comma = ';'
	}
	r.ReuseRecord = true
	return func() ([]string, int, error) {
		bounded.reset()
		row, err := r.Read()
		if err == nil {
			line, _ := r.FieldPos(0)
			return row, line, nil
		}
		if err == io.EOF {
			return nil, 0, err
		}
		var p *csv.ParseError
		if errors.As(err, &p) && bounded.last == nil {
			if errors.Is(p.Err, csv.ErrFieldCount) {
				return nil, 0, at(name, p.Line, "%d columns, want %d as in the header", len(row), r.FieldsPerRecord)
			}
			return nil, 0, at(name, p.Line, "column %d: %w", p.Column, p.Err)
		}
		line, _ := r.FieldPos(0)
		return nil, 0, at(name, line+1, "%w", broken(err))
	}
}

// tableSource reads a table with a header, one molecule a row.
func tableSource(read tableRow, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	header, _, err := read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s:1: no header, want a line with the names of the columns", name)
	}
	if err != nil {
		return nil, err
	}
	header = append([]string(nil), header...)
	smiles, err := column(header, opts.SMILESColumn, smilesNames)
	if err == nil && smiles < 0 {
		err = fmt.Errorf("no SMILES column among %s", quoteList(header))
	}
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	target, err := column(header, opts.TargetColumn, targetNames)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	id, err := column(header, opts.IDColumn, idNames)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	cell := func(row []string, i int) string {
		if i < 0 {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	return func() (*graph.Graph, error) {
		for {
			row, line, err := read()
			if err != nil {
				return nil, err
			}
			g, err := fromSMILES(cell(row, smiles), cell(row, id), cell(row, target), opts)
			if err == nil {
				return g, nil
			}
			if !opts.SkipInvalid {
				return nil, at(name, line, "%w", err)
			}
			skipped(warn)
		}
	}, nil
}

// column finds a column that must exist when its name is given.
func column(header []string, given string, usual []string) (int, error) {
	if given == "" {
		return findColumn(header, usual), nil
	}
	if i := findColumn(header, []string{given}); i >= 0 {
		return i, nil
	}
	return -1, fmt.Errorf("no column %q among %s", given, quoteList(header))
}

// quoteList shows up to ten names.
func quoteList(names []string) string {
	var q []string
	for i, n := range names {
		if i == 10 {
			q = append(q, "…")
			break
		}
		q = append(q, quote([]byte(n)))
	}
	return strings.Join(q, ", ")
}
