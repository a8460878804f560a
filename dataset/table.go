package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// looksLikeSMILES reports whether the first field of a line is a SMILES string.
func looksLikeSMILES(line string) bool {
	f := strings.Fields(line)
	if len(f) == 0 {
		return false
	}
	m, err := chem.ParseSMILES(f[0], 1<<20)
	return err == nil && len(m.Atoms) > 0
}

// molecules gives the graphs that parse makes of what read returns one after the other. It
// leaves out what cannot be parsed, where the options say so. parse tells the line of an error.
func molecules[T any](s *stream, read func() (T, error), parse func(T) (*graph.Graph, int, error)) nextGraph {
	return func() (*graph.Graph, error) {
		for {
			x, err := read()
			if err != nil {
				return nil, err
			}
			g, line, err := parse(x)
			if err == nil {
				return g, nil
			}
			if !s.opts.SkipInvalid {
				return nil, s.at(line, err)
			}
			s.warn.add(1, "molecule that cannot be read left out", "molecules that cannot be read left out")
		}
	}
}

// smilesRow is a SMILES string with what belongs to it.
type smilesRow struct {
	smiles, id, target string
	line               int
}

// smilesRows gives the molecules of rows.
func smilesRows(s *stream, read func() (smilesRow, error)) nextGraph {
	return molecules(s, read, func(r smilesRow) (*graph.Graph, int, error) {
		g, err := smilesGraph(r.smiles, r.id, r.target, s.opts)
		return g, r.line, err
	})
}

// readSMILES reads lines of a SMILES string and, after a blank, a name. Empty lines and
// lines that begin with # are skipped, and a first line that is a header.
func readSMILES(s *stream) (nextGraph, error) {
	l := s.lines()
	var read func() (smilesRow, error)
	read = func() (smilesRow, error) {
		line, err := l.content("#")
		if err != nil {
			return smilesRow{}, err
		}
		r := smilesRow{smiles: string(line), line: l.n}
		if i := bytes.IndexAny(line, " \t"); i >= 0 {
			r.smiles, r.id = string(line[:i]), string(trim(line[i:]))
		}
		if l.n == 1 && findColumn([]string{r.smiles}, smilesNames) >= 0 {
			return read()
		}
		return r, nil
	}
	return smilesRows(s, read), nil
}

// tableRow returns the cells of the next row, valid until the next call, and its line.
type tableRow func() ([]string, int, error)

// readTSV reads rows whose cells are separated by tabs. Quotes around a cell are dropped;
// they do not protect anything in it.
func readTSV(s *stream) (nextGraph, error) {
	l := s.lines()
	columns := 0
	return readTable(s, func() ([]string, int, error) {
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
	})
}

// readCSV reads rows whose cells are separated by commas or, when the header has
// semicolons and no comma, by semicolons.
func readCSV(s *stream) (nextGraph, error) {
	head, _ := s.in.Peek(4096)
	first, _, _ := strings.Cut(string(head), "\n")
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	r := csv.NewReader(in)
	if strings.Contains(first, ";") && !strings.Contains(first, ",") {
		r.Comma = ';'
	}
	r.ReuseRecord = true
	line := 0 // of the last row
	return readTable(s, func() ([]string, int, error) {
		in.reset()
		row, err := r.Read()
		if err == nil {
			line, _ = r.FieldPos(0)
		}
		if err == nil || err == io.EOF {
			return row, line, err
		}
		var p *csv.ParseError
		switch {
		case !errors.As(err, &p) || in.last != nil:
			return nil, 0, s.at(line+1, broken(err))
		case errors.Is(p.Err, csv.ErrFieldCount):
			return nil, 0, at(s.name, p.Line, "%d columns, want %d as in the header", len(row), r.FieldsPerRecord)
		}
		return nil, 0, at(s.name, p.Line, "column %d: %w", p.Column, p.Err)
	})
}

// readTable reads a table with a header, one molecule a row.
func readTable(s *stream, read tableRow) (nextGraph, error) {
	header, _, err := read()
	if err == io.EOF {
		err = s.at(1, errors.New("no header, want a line with the names of the columns"))
	}
	if err != nil {
		return nil, err
	}
	header = append([]string(nil), header...)
	place := map[string]int{} // by what the columns hold
	for _, c := range []struct {
		what, given string
		usual       []string
	}{
		{"smiles", s.opts.SMILESColumn, smilesNames}, {"target", s.opts.TargetColumn, targetNames}, {"id", s.opts.IDColumn, idNames},
	} {
		at := findColumn(header, wanted(c.given, c.usual))
		switch {
		case at < 0 && c.given != "":
			return nil, s.at(1, fmt.Errorf("no column %q among %s", c.given, quoteList(header)))
		case at < 0 && c.what == "smiles":
			return nil, s.at(1, fmt.Errorf("no SMILES column among %s", quoteList(header)))
		case at >= 0:
			place[c.what] = at
		}
	}
	return smilesRows(s, func() (smilesRow, error) {
		row, line, err := read()
		if err != nil {
			return smilesRow{}, err
		}
		cell := func(what string) string {
			if i, ok := place[what]; ok {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		return smilesRow{cell("smiles"), cell("id"), cell("target"), line}, nil
	}), nil
}

// quoteList shows up to ten names.
func quoteList(names []string) string {
	var q []string
	for _, n := range names[:min(10, len(names))] {
		q = append(q, quote([]byte(n)))
	}
	if len(names) > 10 {
		q = append(q, "…")
	}
	return strings.Join(q, ", ")
}
