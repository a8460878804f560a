package dataset

import (
	"bytes"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
)

// readSDF reads molecules that end with "$$$$", the last one possibly without.
func readSDF(s *stream) (nextGraph, error) {
	l := s.lines()
	return readRecords(s, "data field", nil, func() (record, error) {
		first := l.n + 1
		text, err := sdfText(l, s.opts.Limits)
		if err != nil {
			return record{}, err
		}
		m, n, err := chem.ParseMol(text, s.opts.Limits.Vertices)
		if err != nil {
			names, values := sdfFields(text)
			return record{line: first, names: names, values: values}, &lineError{first + n - 1, err}
		}
		r := record{line: first, molecule: m}
		r.names, r.values = sdfFields(text[n:])
		return r, nil
	})
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
			return nil, l.fail("record longer than %d bytes, which is the limit", lim.Record)
		}
		text = append(text, string(line))
		blank = blank && len(bytes.TrimSpace(line)) == 0
	}
}

// sdfFields returns names and values of the data fields: a line "> … <NAME>", then the
// value up to a blank line.
func sdfFields(text []string) (names, values []string) {
	for i := 0; i < len(text); i++ {
		open := strings.IndexByte(text[i], '<')
		end := strings.LastIndexByte(text[i], '>')
		if !strings.HasPrefix(text[i], ">") || open < 0 || end < open {
			continue
		}
		names = append(names, text[i][open+1:end])
		var value []string
		for i+1 < len(text) && strings.TrimSpace(text[i+1]) != "" {
			i++
			value = append(value, strings.TrimSpace(text[i]))
		}
		values = append(values, strings.Join(value, "\n"))
	}
	return names, values
}
