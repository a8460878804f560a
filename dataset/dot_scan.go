package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// dotToken is a token of the DOT language.
type dotToken struct {
	kind dotKind
	text string
	line int
}

type dotKind int

const (
	dotEnd   dotKind = iota
	dotID            // name, numeral or quoted text
	dotWord          // keyword, in lower case
	dotPunct         // { } [ ] ; , : = + -> --
)

func (t dotToken) String() string {
	if t.kind == dotEnd {
		return "the end of the file"
	}
	return quote([]byte(t.text))
}

// is reports whether the token is one of the given punctuation marks.
func (t dotToken) is(marks ...string) bool {
	return t.kind == dotPunct && slices.Contains(marks, t.text)
}

// dotScanner splits DOT into tokens. After the first error there are no more of them.
type dotScanner struct {
	in    *bufio.Scanner
	line  int  // behind what was split off
	first int  // in which the last token begins
	fresh bool // nothing but blanks stand before in the line
	ahead bool // token was read and not taken
	token dotToken
	err   error // a *lineError
}

func newDotScanner(r *bounded) *dotScanner {
	s := &dotScanner{in: bufio.NewScanner(r), line: 1, fresh: true}
	s.in.Buffer(nil, 2*r.max) // r has the last word
	s.in.Split(s.split)
	return s
}

// fail keeps the first error.
func (s *dotScanner) fail(line int, format string, args ...any) {
	if s.err == nil {
		s.err = &lineError{line, fmt.Errorf(format, args...)}
	}
	s.token, s.ahead = dotToken{line: line}, true
}

// peek returns the next token without taking it.
func (s *dotScanner) peek() dotToken {
	if !s.ahead {
		s.token = s.scan()
		s.ahead = true
	}
	return s.token
}

func (s *dotScanner) next() dotToken {
	t := s.peek()
	s.ahead = false
	return t
}

// dotEscapes are the pairs with a backslash in quoted text. A line that ends with one goes on.
var dotEscapes = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "\\\n", "")

func (s *dotScanner) scan() dotToken {
	if s.err != nil || !s.in.Scan() {
		switch err := s.in.Err().(type) {
		case nil:
		case *lineError:
			s.fail(err.line, "%w", err.err)
		default:
			s.fail(s.line, "%w", broken(err))
		}
		return dotToken{line: s.line}
	}
	t := dotToken{dotPunct, s.in.Text(), s.first}
	switch c := t.text[0]; {
	case c == '"':
		t.kind, t.text = dotID, dotEscapes.Replace(t.text[1:len(t.text)-1])
	case c == '<':
		t.kind, t.text = dotID, t.text[1:len(t.text)-1]
	case dotName(c) || c == '.' || c == '-' && t.text != "--" && t.text != "->":
		t.kind = dotID
		switch w := strings.ToLower(t.text); w {
		case "node", "edge", "graph", "digraph", "subgraph", "strict":
			t.kind, t.text = dotWord, w
		}
	}
	return t
}

// split is the bufio.SplitFunc that finds the next token. Blanks and comments are none.
func (s *dotScanner) split(data []byte, atEOF bool) (int, []byte, error) {
	bad := func(format string, args ...any) (int, []byte, error) {
		return 0, nil, &lineError{s.line, fmt.Errorf(format, args...)}
	}
	for at := 0; at < len(data); {
		n, skip, open := dotLength(data[at:], s.fresh)
		text := data[at : at+max(n, 0)]
		switch {
		case !atEOF && (n < 0 || at+n == len(data)): // it may go on
			return at, nil, nil
		case n < 0:
			return bad("%s is not closed", open)
		case n == 0:
			return bad("unexpected character %q", data[at])
		case string(text) == "-" || string(text) == "." || string(text) == "-.":
			return bad("%q, want a name, a number or an edge", text)
		}
		s.first = s.line
		s.line += bytes.Count(text, []byte("\n"))
		s.fresh = dotBlank(text[0]) && (s.fresh || s.line > s.first)
		if at += n; !skip {
			return at, text, nil
		}
	}
	return len(data), nil, nil
}

func dotName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func dotBlank(c byte) bool { return isBlank(c) || c == '\n' || c == '\f' || c == '\v' }

// dotLength returns the length of what data begins with and whether that is no token: blanks
// or a comment. The length is 0 where nothing can begin so, and -1 for something open that
// is not closed. fresh is as in the scanner.
func dotLength(data []byte, fresh bool) (n int, skip bool, open string) {
	while := func(from int, in func(c byte) bool) int {
		for from < len(data) && in(data[from]) {
			from++
		}
		return from
	}
	switch c := data[0]; {
	case dotBlank(c):
		return while(1, dotBlank), true, ""
	case c == '#' && fresh || bytes.HasPrefix(data, []byte("//")): // # is output of a C preprocessor
		return while(1, func(c byte) bool { return c != '\n' }), true, ""
	case bytes.HasPrefix(data, []byte("/*")):
		if end := bytes.Index(data[2:], []byte("*/")); end >= 0 {
			return end + 4, true, ""
		}
		return -1, true, "comment"
	case strings.IndexByte("{}[];,:=+", c) >= 0:
		return 1, false, ""
	case c == '"':
		for i := 1; i < len(data); i++ {
			if data[i] == '"' {
				return i + 1, false, ""
			}
			if data[i] == '\\' {
				i++
			}
		}
		return -1, false, "text in quotes"
	case c == '<':
		depth := 0
		for i, c := range data {
			if c == '<' {
				depth++
			}
			if c == '>' {
				depth--
			}
			if depth == 0 {
				return i + 1, false, ""
			}
		}
		return -1, false, "text in < >"
	case c == '-' && len(data) > 1 && (data[1] == '-' || data[1] == '>'):
		return 2, false, ""
	case c == '-' || c == '.' || c >= '0' && c <= '9':
		return while(1, func(c byte) bool { return dotName(c) || c == '.' }), false, ""
	case dotName(c):
		return while(1, dotName), false, ""
	}
	return 0, false, ""
}
