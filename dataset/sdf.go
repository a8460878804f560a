package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// sdfMolecule is the lines of a molecule with its data fields.
type sdfMolecule struct {
	text  []string
	first int // number of the first line in the file
}

// readSDF reads molecules that end with "$$$$", the last one possibly without.
func readSDF(s *stream) (nextGraph, error) {
	l := s.lines()
	read := func() (sdfMolecule, error) {
		first := l.n + 1
		text, err := sdfText(l, s.opts.Limits)
		return sdfMolecule{text, first}, err
	}
	return molecules(s, read, func(m sdfMolecule) (*graph.Graph, error) {
		g, err := sdfGraph(m.text, s.opts)
		if e, ok := err.(*lineError); ok {
			return nil, s.at(m.first+e.line-1, e.err)
		}
		if err != nil {
			return nil, s.at(m.first, err)
		}
		return g, nil
	}), nil
}

// sdfText returns the lines of the next molecule without the separator, io.EOF when
// nothing but blank lines is left.
func sdfText(l *lines, lim Limits) ([]string, error) {
	var text []string
	size, blank := 0, true
	for {
		line, err := l.next()
		if err == io.EOF && !blank {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(line), "$$$$") {
			return text, nil
		}
		if size += len(line) + 16; size > lim.Record { // 16: the header of the string
			return nil, l.fail("record longer than %d bytes, the limit Limits.Record", lim.Record)
		}
		text = append(text, string(line))
		blank = blank && len(trim(line)) == 0
	}
}

// sdfGraph makes a graph of a molecule. The line of a *lineError counts from the first.
func sdfGraph(text []string, opts Options) (*graph.Graph, error) {
	m, n, err := chem.ParseMol(text, opts.Limits.Vertices)
	if err != nil {
		var at *chem.LineError
		if errors.As(err, &at) {
			err = &lineError{at.Line, at.Err}
		}
		return nil, err
	}
	fields := sdfFields(text[n:])
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f[0]
	}
	value := func(given string, usual []string) (string, error) {
		if i := findColumn(names, wanted(given, usual)); i >= 0 {
			return fields[i][1], nil
		}
		if given == "" {
			return "", nil
		}
		return "", &lineError{len(text), fmt.Errorf("no data field %q among %s", given, quoteList(names))}
	}
	target, err := value(opts.TargetColumn, targetNames)
	if err != nil {
		return nil, err
	}
	id := m.Name
	if opts.IDColumn != "" || id == "" {
		if id, err = value(opts.IDColumn, idNames); err != nil {
			return nil, err
		}
	}
	return moleculeGraph(m, id, target, opts)
}

// sdfFields returns names and values of the data fields: a line "> … <NAME>", then the
// value up to a blank line.
func sdfFields(text []string) [][2]string {
	var out [][2]string
	for i := 0; i < len(text); i++ {
		open := strings.IndexByte(text[i], '<')
		end := strings.LastIndexByte(text[i], '>')
		if !strings.HasPrefix(text[i], ">") || open < 0 || end < open {
			continue
		}
		name := text[i][open+1 : end]
		var value []string
		for i+1 < len(text) && strings.TrimSpace(text[i+1]) != "" {
			i++
			value = append(value, strings.TrimSpace(text[i]))
		}
		out = append(out, [2]string{name, strings.Join(value, "\n")})
	}
	return out
}
