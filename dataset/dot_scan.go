package dataset

import (
	"bufio"
	"fmt"
	"io"
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
	dotPunct         // { } [ ] ; , : = -> --
)

func (t dotToken) String() string {
	if t.kind == dotEnd {
		return "the end of the file"
	}
	return quote([]byte(t.text))
}

// dotScanner splits DOT into tokens.
type dotScanner struct {
	r     *bufio.Reader
	line  int
	fresh bool // at the beginning of a line
	ahead *dotToken
}

func (s *dotScanner) fail(format string, args ...any) error {
	return &dotError{s.line, fmt.Errorf(format, args...)}
}

// dotError is an error with its line.
type dotError struct {
	line int
	err  error
}

func (e *dotError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *dotError) Unwrap() error { return e.err }

func (s *dotScanner) read() (byte, error) {
	c, err := s.r.ReadByte()
	if err == nil && c == '\n' {
		s.line++
	}
	if err != nil && err != io.EOF {
		return 0, s.fail("%w", broken(err))
	}
	return c, err
}

func (s *dotScanner) unread(c byte) {
	if c == '\n' {
		s.line--
	}
	s.r.UnreadByte()
}

// peek returns the next token without taking it.
func (s *dotScanner) peek() (dotToken, error) {
	if s.ahead == nil {
		t, err := s.scan()
		if err != nil {
			return t, err
		}
		s.ahead = &t
	}
	return *s.ahead, nil
}

func (s *dotScanner) next() (dotToken, error) {
	t, err := s.peek()
	s.ahead = nil
	return t, err
}

func dotNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (s *dotScanner) scan() (dotToken, error) {
	for {
		c, err := s.read()
		if err == io.EOF {
			return dotToken{kind: dotEnd, line: s.line}, nil
		}
		if err != nil {
			return dotToken{}, err
		}
		if s.fresh && c == '#' { // output of a C preprocessor
			if err := s.skipLine(); err != nil {
				return dotToken{}, err
			}
			continue
		}
		s.fresh = c == '\n' || s.fresh && isBlank(c)
		t := dotToken{kind: dotPunct, text: string(rune(c)), line: s.line}
		switch {
		case c == '\n' || isBlank(c) || c == '\f' || c == '\v':
			continue
		case c == '/':
			if err := s.comment(); err != nil {
				return dotToken{}, err
			}
			continue
		case strings.IndexByte("{}[];,:=+", c) >= 0:
			return t, nil
		case c == '"':
			t.kind = dotID
			t.text, err = s.quoted()
			return t, err
		case c == '<':
			t.kind = dotID
			t.text, err = s.html()
			return t, err
		case c == '-':
			d, err := s.read()
			if err == nil && (d == '-' || d == '>') {
				t.text = "-" + string(rune(d))
				return t, nil
			}
			if err == nil {
				s.unread(d)
			} else if err != io.EOF {
				return dotToken{}, err
			}
			return s.name(c)
		case c == '.' || dotNameByte(c):
			return s.name(c)
		default:
			return dotToken{}, s.fail("unexpected character %q", c)
		}
	}
}

// name reads a name or a numeral whose first character is c.
func (s *dotScanner) name(c byte) (dotToken, error) {
	t := dotToken{kind: dotID, line: s.line}
	text := []byte{c}
	numeral := c == '-' || c == '.' || c >= '0' && c <= '9'
	for {
		d, err := s.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return t, err
		}
		if !dotNameByte(d) && !(numeral && d == '.') {
			s.unread(d)
			break
		}
		text = append(text, d)
	}
	t.text = string(text)
	if t.text == "-" || t.text == "." || t.text == "-." {
		return t, s.fail("%q, want a name, a number or an edge", t.text)
	}
	switch w := strings.ToLower(t.text); w {
	case "node", "edge", "graph", "digraph", "subgraph", "strict":
		t.kind, t.text = dotWord, w
	}
	return t, nil
}

func (s *dotScanner) quoted() (string, error) {
	first := s.line
	var text []byte
	for {
		c, err := s.read()
		if err == io.EOF {
			s.line = first
			return "", s.fail("text in quotes is not closed")
		}
		if err != nil {
			return "", err
		}
		switch c {
		case '"':
			return string(text), nil
		case '\\':
			d, err := s.read()
			if err != nil {
				if err == io.EOF {
					continue
				}
				return "", err
			}
			switch d {
			case '"':
				text = append(text, '"')
			case '\n': // a line that goes on
			default:
				text = append(text, '\\', d)
			}
		default:
			text = append(text, c)
		}
	}
}

func (s *dotScanner) html() (string, error) {
	first := s.line
	var text []byte
	for depth := 1; ; {
		c, err := s.read()
		if err == io.EOF {
			s.line = first
			return "", s.fail("text in < > is not closed")
		}
		if err != nil {
			return "", err
		}
		switch c {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return string(text), nil
			}
		}
		text = append(text, c)
	}
}

func (s *dotScanner) skipLine() error {
	for {
		c, err := s.read()
		if err == io.EOF || err == nil && c == '\n' {
			s.fresh = true
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// comment skips a comment after its first slash.
func (s *dotScanner) comment() error {
	first := s.line
	c, err := s.read()
	switch {
	case err == nil && c == '/':
		return s.skipLine()
	case err == nil && c == '*':
	case err == nil || err == io.EOF:
		return s.fail(`"/", want // or /*`)
	default:
		return err
	}
	last := byte(0)
	for {
		c, err := s.read()
		if err == io.EOF {
			s.line = first
			return s.fail("comment is not closed")
		}
		if err != nil {
			return err
		}
		if last == '*' && c == '/' {
			return nil
		}
		last = c
	}
}
