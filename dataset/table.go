package dataset

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// smilesColumn returns the column that has the longest SMILES of at least two atoms in the first row, for
// tables whose header does not tell, and what reads the row again.
func smilesColumn(header []string, read tableRow) (int, tableRow, error) {
	row, line, err := read()
	row = slices.Clone(row)
	found, length := -1, 0
	for i, c := range row {
		m, bad := chem.ParseSMILES(strings.TrimSpace(c), 1<<20)
		if bad == nil && len(m.Atoms) > 1 && len(c) > length && i < len(header) {
			found, length = i, len(c)
		}
	}
	if found < 0 {
		return found, read, fmt.Errorf("no SMILES column among %s", quoteList(header))
	}
	again := false
	return found, func() ([]string, int, error) {
		if again {
			return read()
		}
		again = true
		return row, line, err
	}, nil
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

// molecules gives the graphs of next. A *lineError of it is about one molecule, which is left
// out where the options say so.
func molecules(s *stream, next nextGraph) nextGraph {
	return func() (*graph.Graph, error) {
		for {
			g, err := next()
			if _, one := err.(*lineError); !one {
				return g, err
			}
			if !s.opts.SkipInvalid {
				return nil, s.at(0, err)
			}
			s.skip(err.(*lineError).line, err)
			s.warn.add(1, "molecule that cannot be read left out", "molecules that cannot be read left out")
		}
	}
}

// readSMILES reads lines of a SMILES string and, after a blank, a name. Empty lines and
// lines that begin with # are skipped, and a first line that is a header.
func readSMILES(s *stream) (nextGraph, error) {
	l := s.lines()
	s.names, s.values, s.structure = []string{"smiles", "name"}, make([]string, 2), 1
	var next nextGraph
	next = func() (*graph.Graph, error) {
		line, err := l.content("#")
		if err != nil {
			return nil, err
		}
		smiles, id := line, []byte(nil)
		if i := bytes.IndexAny(line, " \t"); i >= 0 {
			smiles, id = line[:i], bytes.TrimSpace(line[i:])
		}
		if l.n == 1 && findColumn([]string{string(smiles)}, smilesNames) >= 0 {
			return next()
		}
		s.values[0], s.values[1] = string(smiles), string(id)
		return s.smiles(s.values[0], s.values[1], "", l.n)
	}
	return molecules(s, next), nil
}

// tableRow returns the cells of the next row, valid until the next call, and its line.
type tableRow func() ([]string, int, error)

// readTSV reads rows whose cells are separated by tabs. Quotes around a cell are dropped;
// they do not protect anything in it.
func readTSV(s *stream) (nextGraph, error) {
	l := s.lines()
	return readTable(s, func() ([]string, int, error) {
		for {
			line, err := l.next()
			if err != nil {
				return nil, 0, err
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			row := strings.Split(string(line), "\t")
			for i, c := range row {
				if c = strings.TrimSpace(c); len(c) > 1 && c[0] == '"' && c[len(c)-1] == '"' {
					c = c[1 : len(c)-1]
				}
				row[i] = c
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
	r.ReuseRecord, r.FieldsPerRecord = true, -1
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
		if !errors.As(err, &p) || in.last != nil {
			return nil, 0, s.at(line+1, broken(err))
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
	header = slices.Clone(header)
	s.names = header
	smiles, err := chosen("column", header, s.opts.SMILESColumn, smilesNames)
	target, err2 := chosen("column", header, s.opts.TargetColumn, targetNames)
	id, err3 := chosen("column", header, s.opts.IDColumn, idNames)
	err = cmp.Or(err, err2, err3)
	if err == nil && smiles < 0 {
		smiles, read, err = smilesColumn(header, read)
	}
	if err != nil {
		return nil, s.at(1, err)
	}
	s.structure = smiles + 1
	return molecules(s, func() (*graph.Graph, error) {
		row, line, err := read()
		if err != nil {
			return nil, err
		}
		if len(row) != len(header) {
			return nil, &lineError{line, fmt.Errorf("%d columns, want %d as in the header", len(row), len(header))}
		}
		s.values = row
		cell := func(i int) string {
			if i < 0 {
				return ""
			}
			return strings.TrimSpace(row[i])
		}
		return s.smiles(cell(smiles), cell(id), cell(target), line)
	}), nil
}
