package dataset

import (
	"fmt"
	"slices"
	"strings"
	"text/scanner"
)

// dotToken is a token of the DOT language: a name, numeral or quoted text, or else a keyword in
// lower case, a mark { } [ ] ; , : = + -> --, or nothing at the end of the file.
type dotToken struct {
	text string
	name bool
	html bool // the text is HTML
	line int
}

var dotWords = []string{"node", "edge", "graph", "digraph", "subgraph", "strict"}

func (t dotToken) String() string {
	if t.is("") {
		return "the end of the file"
	}
	return quote([]byte(t.text))
}

// is reports whether the token is one of the given keywords or marks.
func (t dotToken) is(texts ...string) bool { return !t.name && slices.Contains(texts, t.text) }

// dotScanner splits DOT into tokens. After the first error there are no more of them. It reads
// bytes as if they were ISO-8859-1, so that names and texts keep theirs in any encoding.
type dotScanner struct {
	in    scanner.Scanner
	last  int  // line in which the last token ends
	ahead bool // token was read and not taken
	token dotToken
	err   error // a *lineError
}

func newDotScanner(src *bounded) *dotScanner {
	s := &dotScanner{}
	s.in.Init(latin1(src))
	s.in.Mode = scanner.ScanIdents | scanner.ScanComments | scanner.SkipComments
	s.in.Whitespace |= 1<<'\f' | 1<<'\v'
	s.in.IsIdentRune = func(c rune, _ int) bool { return dotName(c) }
	s.in.Error = func(in *scanner.Scanner, text string) {
		if src.last != nil {
			s.fail(in.Pos().Line, "%w", broken(src.last))
		}
		line := in.Position.Line
		if !in.Position.IsValid() { // between tokens
			line = in.Pos().Line
		}
		s.fail(line, "%s", text)
	}
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
	s.ahead = s.err != nil
	return t
}

// dotName reports whether a character may stand in a name or a numeral.
func dotName(c rune) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// dotEscapes are the pairs with a backslash in quoted text. A line that ends with one goes on.
var dotEscapes = strings.NewReplacer(`\\`, `\\`, `\"`, `"`, "\\\n", "")

// scan reads a token.
func (s *dotScanner) scan() dotToken {
	c := s.in.Scan()
	for c == '#' && s.in.Line > s.last { // output of a C preprocessor
		for c != '\n' && c != scanner.EOF {
			c = s.in.Next()
		}
		c = s.in.Scan()
	}
	t := dotToken{text: s.in.TokenText(), line: s.in.Position.Line}
	switch next := s.in.Peek(); {
	case c == scanner.EOF:
		t.text = ""
	case c == '"':
		t.text, t.name = dotEscapes.Replace(s.text('"', '"')), true
	case c == '<':
		t.text, t.name, t.html = s.text('<', '>'), true, true
	case c == '-' && (next == '-' || next == '>'):
		t.text += string(s.in.Next())
	case c == '-' && dotName(next):
		s.in.Scan()
		t.text, t.name = "-"+latin1Bytes(s.in.TokenText()), true
	case c == scanner.Ident && slices.Contains(dotWords, strings.ToLower(t.text)):
		t.text = strings.ToLower(t.text)
	case c == scanner.Ident:
		t.text, t.name = latin1Bytes(t.text), true
	case !strings.ContainsRune("{}[];,:=+", c):
		s.fail(t.line, "unexpected character %q", c)
	}
	if s.err != nil {
		return dotToken{line: t.line}
	}
	s.last = s.in.Pos().Line
	return t
}

// latin1Bytes returns the bytes that stand as characters of ISO-8859-1 in a text.
func latin1Bytes(text string) string {
	var out []byte
	for _, c := range text {
		out = append(out, byte(c))
	}
	return string(out)
}

// text reads up to the mark that closes a text. Marks < > may be nested; a backslash in quotes
// protects what follows.
func (s *dotScanner) text(open, end rune) string {
	line := s.in.Position.Line
	var text []byte
	for depth := 1; ; {
		c := s.in.Next()
		switch c {
		case scanner.EOF:
			s.fail(line, "text after %c is not closed", open)
			return ""
		case end:
			depth--
		case open:
			depth++
		}
		if depth == 0 {
			return string(text)
		}
		text = append(text, byte(c))
		if c == '\\' && open == '"' {
			text = append(text, byte(s.in.Next()))
		}
	}
}
