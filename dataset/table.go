package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

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

// molecules gives the graphs of next. A *lineError of it is about one molecule, which is left
// out unless the options are strict.
func molecules(s *stream, next nextGraph) nextGraph {
	return func() (*graph.Graph, error) {
		g, err := next()
		one, bad := err.(*lineError)
		if !bad {
			return g, err
		}
		if s.opts.Strict {
			return nil, s.at(0, err)
		}
		s.skip(one.line, err)
		s.warn.add(1, "molecule cannot be read", "molecules cannot be read")
		return nil, nil
	}
}

// readSMILES reads lines of a SMILES string and, after a blank, a name. Empty lines and
// lines that begin with # are skipped, and a first line that is a header.
func readSMILES(s *stream) (nextGraph, error) {
	l := s.lines()
	s.beside = Fields{Names: []string{"smiles", "name"}, Values: make([]string, 2)}
	s.roles = Roles{Structure: Role{Column: "smiles", Why: "the format"}, ID: Role{Column: "name", Why: "the format"}}
	read := func() (smiles, id []byte, err error) {
		for {
			line, err := l.content("#")
			if err != nil {
				return nil, nil, err
			}
			smiles, id := line, []byte(nil)
			if i := bytes.IndexAny(line, " \t"); i >= 0 {
				smiles, id = line[:i], bytes.TrimSpace(line[i:])
			}
			if l.n == 1 && findColumn([]string{string(smiles)}, smilesNames) >= 0 {
				continue
			}
			return smiles, id, nil
		}
	}
	s.pass = func() error {
		_, _, err := read()
		return err
	}
	return molecules(s, func() (*graph.Graph, error) {
		smiles, id, err := read()
		if err != nil {
			return nil, err
		}
		s.beside.Values[0], s.beside.Values[1], s.beside.Line = string(smiles), string(id), l.n
		return s.smiles(s.beside.Values[0], s.beside.Values[1], "", l.n)
	}), nil
}

// tableRow returns the cells of the next row, valid until the next call, and its line.
type tableRow func() ([]string, int, error)

func readTSV(s *stream) (nextGraph, error) { return readTable(s, tsvRows(s)) }

func readCSV(s *stream) (nextGraph, error) { return readTable(s, csvRows(s)) }

// tsvRows reads rows whose cells are separated by tabs. Quotes around a cell are dropped;
// they do not protect anything in it.
func tsvRows(s *stream) tableRow {
	l := s.lines()
	return func() ([]string, int, error) {
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
	}
}

// separators are the characters that may stand between the cells of a CSV file.
const separators = ",;\t|"

// separator returns the character that separates the cells of a line: the most frequent one outside quotes.
func separator(line string) rune {
	best, most, quoted := ',', 0, false
	count := map[rune]int{}
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if quoted || !strings.ContainsRune(separators, c) {
			continue
		}
		if count[c]++; count[c] > most {
			best, most = c, count[c]
		}
	}
	return best
}

// csvRows reads rows whose cells are separated by commas, semicolons, tabs or bars. A line "sep=;" before the header,
// as Excel writes it, says which.
func csvRows(s *stream) tableRow {
	head, _ := s.in.Peek(4096)
	first, _, _ := strings.Cut(string(head), "\n")
	sep, skipped := separator(first), 0
	if text, ok := strings.CutPrefix(strings.ToLower(strings.Trim(first, "\r\"")), "sep="); ok && len(text) == 1 {
		sep, skipped = rune(text[0]), 1
		s.in.Discard(len(first) + 1)
	}
	s.comma, s.point = sep == ';', sep == ','
	in := &bounded{r: s.in, max: s.opts.Limits.Record}
	r := csv.NewReader(in)
	r.Comma = sep
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	line := skipped // of the last row
	return func() ([]string, int, error) {
		in.reset()
		row, err := r.Read()
		if err == nil {
			line, _ = r.FieldPos(0)
			line += skipped
		}
		if err == nil || err == io.EOF {
			return row, line, err
		}
		var p *csv.ParseError
		if !errors.As(err, &p) || in.last != nil {
			return nil, 0, s.at(line+1, broken(err))
		}
		if p.Line > p.StartLine { // an open quote has taken other rows with it
			return nil, 0, s.at(0, &lineError{p.StartLine + skipped,
				fmt.Errorf("a quote opens in this row and takes those up to line %d with it: it is not closed, or text stands beside it", p.Line+skipped)})
		}
		return nil, 0, &lineError{p.Line + skipped, fmt.Errorf("column %d: %w", p.Column, p.Err)}
	}
}

// readTable reads a table with a header, one molecule a row.
func readTable(s *stream, read tableRow) (nextGraph, error) {
	header, _, err := read()
	if err == io.EOF {
		err = &lineError{1, errors.New("no header, want a line with the names of the columns")}
	}
	if _, bad := err.(*lineError); bad {
		err = s.at(1, err)
	}
	if err != nil {
		return nil, err
	}
	all := columnNames(header)
	keep := s.columns(all)
	names := pick(all, keep)
	return readRecords(s, "column", names, func() (record, error) {
		for {
			row, line, err := read()
			if err != nil {
				return record{}, err
			}
			for len(row) > len(all) && strings.TrimSpace(row[len(row)-1]) == "" { // separators at the end
				row = row[:len(row)-1]
			}
			if !slices.ContainsFunc(row, func(c string) bool { return strings.TrimSpace(c) != "" }) {
				continue
			}
			for i, c := range row {
				row[i] = validText(strings.TrimSpace(c))
			}
			if len(row) != len(all) {
				n := sort.SearchInts(keep, len(row)) // as far as they are there
				return record{line: line, names: names[:n], values: pick(row, keep[:n])},
					&lineError{line, fmt.Errorf("%s, want %d as in the header", counted(len(row), "column", "columns"), len(all))}
			}
			return record{line: line, names: names, values: pick(row, keep)}, nil
		}
	})
}

// columns returns the positions of the columns that are read, ascending. It is all of them, but at
// most maxColumns. Columns that the options name, and those with usual names, come first.
func (s *stream) columns(names []string) []int {
	keep := make([]bool, len(names))
	n := 0
	take := func(i int) {
		if i >= 0 && !keep[i] && n < maxColumns {
			keep[i] = true
			n++
		}
	}
	if len(names) > maxColumns {
		o := s.opts
		wanted := append(strings.Split(o.TargetColumn+","+o.Structure+","+o.With, ","), o.Structure, o.IDColumn, o.TargetColumn, o.like)
		if o.Rows != nil {
			wanted = append(wanted, o.Rows.Names()...)
		}
		for _, name := range wanted {
			take(findColumn(names, []string{name}))
		}
		for _, usual := range [][]string{smilesNames, idNames, targetNames} {
			take(findColumn(names, usual))
		}
		s.warn.add(len(names)-maxColumns, fmt.Sprintf("column not read: at most %d are read, named ones first", maxColumns),
			fmt.Sprintf("columns not read: at most %d are read, named ones first", maxColumns))
	}
	for i := range names {
		take(i)
	}
	var out []int
	for i, k := range keep {
		if k {
			out = append(out, i)
		}
	}
	return out
}

// pick returns some of the cells of a row.
func pick(row []string, at []int) []string {
	if len(at) == len(row) {
		return row
	}
	out := make([]string, len(at))
	for k, i := range at {
		out[k] = row[i]
	}
	return out
}

// columnNames returns the names of a header. A column without one, and one whose name stands before it, gets its number.
func columnNames(header []string) []string {
	names := make([]string, len(header))
	seen := map[string]bool{}
	for i, n := range header {
		names[i] = validText(strings.Trim(strings.TrimSpace(n), `"`))
		switch {
		case names[i] == "":
			names[i] = fmt.Sprintf("column %d", i+1)
		case seen[names[i]]:
			names[i] = fmt.Sprintf("%s (column %d)", names[i], i+1)
		}
		seen[names[i]] = true
	}
	return names
}

// validText returns a text that is not UTF-8 as Latin-1, in which older programs write tables.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// record is a row of a table, or a molecule of an SDF with its data.
type record struct {
	line          int
	names, values []string
	molecule      *chem.Molecule // nil: the column of structures has it
}

// The first records decide the roles of the columns: at most so many records, and so many bytes.
const (
	sampleRecords = 200
	sampleBytes   = 1 << 20
)

// readRecords reads molecules with values beside them. next returns io.EOF at the end and a *lineError for a record that
// cannot be read, with what else is in it. what says what a column is called here; names has the columns of a table, one of
// which has the molecule, and is nil for an SDF.
func readRecords(s *stream, what string, names []string, next func() (record, error)) (nextGraph, error) {
	type result struct {
		record
		err error
	}
	var sample []result
	columns := Columns{Names: slices.Clone(names), values: make([][]string, len(names))}
	var last error
	decimal := 0 // numbers with a comma, less those with a point
	for size := 0; len(sample) < sampleRecords && size < sampleBytes; {
		r, err := next()
		if _, one := err.(*lineError); err != nil && !one {
			if err != io.EOF && len(sample) == 0 {
				return nil, err
			}
			last = err
			break
		}
		r.names, r.values = slices.Clone(r.names), slices.Clone(r.values)
		for _, v := range r.values {
			size += len(v)
			decimal += commas(v)
		}
		sample = append(sample, result{r, err})
		if err == nil {
			if err := columns.Add(Fields{r.names, r.values, -1, r.line}); err != nil {
				return nil, s.at(r.line, err)
			}
		}
	}
	t := &tableReader{s: s, what: what, structure: names != nil, comma: !s.point && (decimal > 0 || decimal == 0 && s.comma)}
	if t.comma {
		for n := range columns.values {
			for i, v := range columns.values[n] {
				columns.values[n][i] = withPoint(v)
			}
		}
	}
	if err := t.start(&columns, last == io.EOF); err != nil {
		return nil, err
	}
	read := func() (r result, err error) {
		if len(sample) > 0 {
			r, sample = sample[0], sample[1:]
		} else if last != nil {
			return r, t.end(last)
		} else if r.record, r.err = next(); r.err != nil {
			if _, one := r.err.(*lineError); !one {
				return r, t.end(r.err)
			}
		}
		return r, nil
	}
	if names != nil {
		s.pass = func() error {
			_, err := read()
			return err
		}
	}
	return molecules(s, func() (*graph.Graph, error) {
		r, err := read()
		if err != nil {
			return nil, err
		}
		if r.err != nil {
			s.beside = Fields{r.names, r.values, -1, r.line}
			return nil, r.err
		}
		return t.graph(r.record)
	}), nil
}

// tableReader makes graphs of records.
type tableReader struct {
	s         *stream
	what      string
	structure bool
	comma     bool  // numbers have a decimal comma
	unseen    error // a column that the options name and no record had so far
}

// start decides the roles of the columns from the first records. If more records follow, an SDF may
// have other fields later.
func (t *tableReader) start(columns *Columns, whole bool) error {
	var err error
	if t.s.roles, err = columns.roles(t.s.opts, t.what, t.structure); err == nil {
		return nil
	}
	if t.structure || whole {
		return t.s.at(1, err)
	}
	t.unseen = err
	return nil
}

// end returns the error of the end of the input.
func (t *tableReader) end(err error) error {
	if err == io.EOF && t.unseen != nil {
		return t.s.at(1, t.unseen)
	}
	return err
}

// graph makes a graph of a record.
func (t *tableReader) graph(r record) (*graph.Graph, error) {
	s := t.s
	if t.comma {
		for i, v := range r.values {
			if role, _ := s.roles.of(r.names[i]); role != "structure" && role != "id" {
				r.values[i] = withPoint(v)
			}
		}
	}
	if t.unseen != nil {
		one := Columns{}
		if err := one.Add(Fields{r.names, r.values, -1, r.line}); err != nil {
			return nil, s.at(r.line, err)
		}
		if roles, err := one.roles(s.opts, t.what, false); err == nil {
			s.roles, t.unseen = roles, nil
		}
	}
	s.beside = Fields{r.names, r.values, slices.Index(r.names, s.roles.Structure.Column), r.line}
	id, target := s.beside.Value(s.roles.ID.Column), s.beside.Value(s.roles.Target())
	if Missing(target) {
		target = ""
	}
	if r.molecule != nil && (id == "" || s.opts.IDColumn == "" && r.molecule.Name != "") {
		id = r.molecule.Name
	}
	if s.roles.Row() != nil {
		return t.row(r, id, target)
	}
	if r.molecule != nil {
		g, err := s.moleculeGraph(r.molecule, id, target)
		if err != nil {
			return nil, &lineError{r.line, err}
		}
		return g, nil
	}
	structure := s.beside.Value(s.roles.Structure.Column)
	if Missing(structure) {
		return nil, &lineError{r.line, fmt.Errorf("no structure in the column %q", s.roles.Structure.Column)}
	}
	return s.smiles(structure, id, target, r.line)
}

var (
	commaNumber = regexp.MustCompile(`^[-+]?(?:\d*|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][-+]?\d+)?$`)
	pointNumber = regexp.MustCompile(`^[-+]?\d*\.\d+(?:[eE][-+]?\d+)?$`)
)

// commas returns 1 for a number with a decimal comma, −1 for one with a point, and 0 for everything else.
func commas(v string) int {
	switch {
	case len(v) > 30 || v == "": // no number is so long
		return 0
	case commaNumber.MatchString(v):
		return 1
	case pointNumber.MatchString(v):
		return -1
	}
	return 0
}

// withPoint replaces the decimal comma of a number by a point. It does not change other texts.
func withPoint(v string) string {
	if commas(v) != 1 {
		return v
	}
	return strings.Replace(strings.ReplaceAll(v, ".", ""), ",", ".", 1)
}
