package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

func init() { sources[SDF] = sdfSource }

// sdfSource reads molecules that end with "$$$$", the last one possibly without.
func sdfSource(in *bufio.Reader, name string, opts Options, warn *warnings) (func() (*graph.Graph, error), error) {
	l := newLines(name, in, opts.Limits)
	return func() (*graph.Graph, error) {
		for {
			first := l.n + 1
			text, err := sdfRecord(l, opts.Limits)
			if err != nil {
				return nil, err
			}
			g, line, err := sdfGraph(text, opts)
			if err == nil {
				return g, nil
			}
			if !opts.SkipInvalid {
				return nil, at(name, first+line-1, "%w", err)
			}
			skipped(warn)
		}
	}, nil
}

// sdfRecord returns the lines of the next record without the separator, io.EOF when
// nothing but blank lines is left.
func sdfRecord(l *lines, lim Limits) ([]string, error) {
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

// sdfGraph makes a graph of a record. With an error comes its line in the record.
func sdfGraph(text []string, opts Options) (*graph.Graph, int, error) {
	m, n, err := chem.ParseMol(text, opts.Limits.Vertices)
	if err != nil {
		var at *chem.LineError
		if errors.As(err, &at) {
			return nil, at.Line, at.Err
		}
		return nil, 1, err
	}
	fields := sdfFields(text[n:])
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f[0]
	}
	target, id := "", m.Name
	if i := findColumn(names, wanted(opts.TargetColumn, targetNames)); i >= 0 {
		target = fields[i][1]
	} else if opts.TargetColumn != "" {
		return nil, len(text), fmt.Errorf("no data field %q among %s", opts.TargetColumn, quoteList(names))
	}
	if opts.IDColumn != "" || id == "" {
		if i := findColumn(names, wanted(opts.IDColumn, idNames)); i >= 0 {
			id = fields[i][1]
		} else if opts.IDColumn != "" {
			return nil, len(text), fmt.Errorf("no data field %q among %s", opts.IDColumn, quoteList(names))
		}
	}
	b, err := moleculeBuilder(m, opts)
	if err != nil {
		return nil, 1, err
	}
	b.SetID(id)
	b.SetTarget(target)
	g, err := b.Build()
	return g, 1, err
}

// sdfFields returns names and values of the data fields: a line "> … <NAME>", then the
// value up to a blank line.
func sdfFields(text []string) [][2]string {
	var out [][2]string
	for i := 0; i < len(text); i++ {
		if !strings.HasPrefix(text[i], ">") {
			continue
		}
		open := strings.IndexByte(text[i], '<')
		end := strings.LastIndexByte(text[i], '>')
		if open < 0 || end < open {
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
