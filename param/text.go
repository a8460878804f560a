package param

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sum is a text as Read has read it: terms that are added.
type Sum struct{ Terms []Term }

// Weighted reports whether the terms have weights. Else the sum is their mean.
func (s *Sum) Weighted() bool { return s.Terms[0].Weight != 0 }

// Term is a product of factors. Its weight is 0 where none is given.
type Term struct {
	Weight  float64
	Factors []Factor
}

// Factor is a record, or a sum in brackets.
type Factor struct {
	At    int    // where it begins in the text, in bytes
	Name  string // of the record, "" for a sum
	Sum   *Sum
	Of    string // the name in brackets right behind it, "" for none
	OfAt  int    // where that begins
	Given []Assignment
}

// Assignment is a parameter of a factor with its value.
type Assignment struct {
	At      int // where its name begins
	Name    string
	ValueAt int    // where the value begins, behind a bracket or quotation mark
	Value   string // "true" where none is given; without brackets or quotation marks
	Items   []string
}

// TextError says what is wrong in a text, and where.
type TextError struct {
	Text string
	At   int // in bytes, NoPlace where it is about the whole text
	Err  error
}

// NoPlace is the place of an error about a whole text.
const NoPlace = -1

// Error implements error, as in `wl: h = "x", want a whole number (character 6 of "wl h=x")`.
func (e *TextError) Error() string {
	if e.At == NoPlace {
		return e.Err.Error()
	}
	text, _ := e.Window(120)
	return fmt.Sprintf("%v (character %d of %q)", e.Err, e.Column(), text)
}

// Column returns the place in characters, the first one 1, or 0 for none.
func (e *TextError) Column() int {
	if e.At == NoPlace {
		return 0
	}
	return 1 + utf8.RuneCountInString(e.Text[:e.At])
}

// Window returns at most so many characters of the text around the place, and the column of the place in them.
// Ellipses stand for what is left out.
func (e *TextError) Window(most int) (string, int) {
	all := []rune(e.Text)
	at := max(0, e.Column()-1)
	lo := max(0, min(at-most/2, len(all)-most))
	hi := min(lo+most, len(all))
	text := string(all[lo:hi])
	if hi < len(all) {
		text += "…"
	}
	if lo > 0 {
		return "…" + text, at - lo + 2
	}
	return text, at + 1
}

// Unwrap returns what is wrong.
func (e *TextError) Unwrap() error { return e.Err }

// clip shortens what an error shows of a long text.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// At says that an error is at a place of a text. What is wrong inside a given value is at its place there.
// No error is none.
func At(text string, at int, err error) error {
	var inner *TextError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &inner):
		return &TextError{text, at, err}
	case inner.At != NoPlace:
		at = min(max(0, at)+inner.At, len(text))
	}
	return &TextError{text, at, inner.Err}
}

// Bounds of texts. The longest text that people write has a few hundred bytes. Those of programs may have
// tables: 4096² values of a function of two labels.
const (
	maxText  = 1 << 29
	maxDepth = 64
)

// Read reads a text; the package comment has the grammar. Its errors are TextErrors.
func Read(text string) (*Sum, error) {
	s, _, err := read(text)
	return s, err
}

func read(text string) (*Sum, cursor, error) {
	if len(text) > maxText {
		err := fmt.Errorf("a text of %d bytes, want at most %d", len(text), maxText)
		return nil, cursor{}, &TextError{text, NoPlace, err}
	}
	r := &reader{text: text}
	s, err := r.sum()
	if err == nil && r.at < len(text) {
		err = r.wanted("+, * or the end")
	}
	return s, r.cursor, err
}

type reader struct {
	text   string
	at     int
	depth  int
	within spot // the parameter whose value is read, if one is
	items  int  // of a list that were read
	cursor cursor
}

// spot is a parameter of a record; both are "" where no parameter is meant.
type spot struct{ Record, Parameter string }

// cursor says what stands at the end of a text.
type cursor struct {
	// Open says that a word ends or begins there. Else all below is empty.
	Open bool
	// Within is the parameter whose value, in brackets, the end is in.
	Within spot
	// Record is the record whose parameters may follow, and Parameter the one whose value is written.
	// Without Record a new record begins.
	spot
	// Items are those before in the list that the value is.
	Items int
	// Begun is what is there of the word at the end.
	Begun string
}

// end returns what stands at the end of a text, for those who complete it.
func end(text string) cursor {
	_, c, _ := read(text)
	return c
}

// here notes what word ends at the end of the text.
func (r *reader) here(at int, place spot) {
	if r.at == len(r.text) {
		r.cursor = cursor{Open: true, Within: r.within, spot: place, Items: r.items, Begun: r.text[at:]}
	}
}

func (r *reader) fail(at int, format string, args ...any) error {
	return &TextError{r.text, at, fmt.Errorf(format, args...)}
}

// wanted says that something else stands where the reader is.
func (r *reader) wanted(what string) error {
	if r.at == len(r.text) {
		return r.fail(r.at, "the end, want %s", what)
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	return r.fail(r.at, "%q, want %s", c, what)
}

func (r *reader) spaces() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take takes a sign, and the spaces around it.
func (r *reader) take(sign byte) bool {
	r.spaces()
	if r.at == len(r.text) || r.text[r.at] != sign {
		return false
	}
	r.at++
	r.spaces()
	return true
}

func (r *reader) sum() (*Sum, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, r.fail(r.at, "more than %d brackets in each other", maxDepth)
	}
	defer func() { r.depth-- }()
	out := &Sum{}
	for more := true; more; more = r.take('+') {
		at := r.at
		t, err := r.term()
		if err != nil {
			return nil, err
		}
		if out.Terms = append(out.Terms, t); out.Weighted() != (t.Weight != 0) {
			return nil, r.fail(at, "weights of some terms, want all or none to have one")
		}
	}
	return out, nil
}

func (r *reader) term() (t Term, err error) {
	if t.Weight, err = r.weight(); err != nil {
		return t, err
	}
	for more := true; more; more = r.take('*') {
		f, err := r.factor()
		if err != nil {
			return t, err
		}
		t.Factors = append(t.Factors, f)
	}
	return t, nil
}

// weight reads a weight, 0 for none.
func (r *reader) weight() (float64, error) {
	r.spaces()
	at := r.at
	if at == len(r.text) || strings.IndexByte("0123456789.-", r.text[at]) < 0 {
		return 0, nil
	}
	word := r.word()
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 1) {
		return 0, r.fail(at, "the weight %s, want a positive, finite number", word)
	}
	if r.at == len(r.text) {
		return 0, r.wanted("a name") // which a space separates
	}
	r.take('*')
	return x, nil
}

// word takes characters up to a space or a sign. A plus sign may stand in an exponent.
func (r *reader) word() string {
	start := r.at
	for r.at < len(r.text) && (strings.IndexByte(" \t\r\n,()\"=*+", r.text[r.at]) < 0 || r.exponent(start)) {
		r.at++
	}
	return r.text[start:r.at]
}

// exponent reports whether the reader is at the sign of an exponent of a number that begins at start.
func (r *reader) exponent(start int) bool {
	number, ok := strings.CutSuffix(r.text[start:r.at], "e")
	_, err := strconv.ParseFloat(number, 64)
	return ok && err == nil && r.text[r.at] == '+'
}

func (r *reader) factor() (f Factor, err error) {
	r.spaces()
	f.At = r.at
	if r.take('(') {
		if f.Sum, err = r.sum(); err != nil {
			return f, err
		}
		if !r.take(')') {
			return f, r.wanted("a closing bracket")
		}
	} else if f.Name = r.word(); f.Name == "" {
		r.here(f.At, spot{})
		return f, r.wanted("a name")
	} else {
		r.here(f.At, spot{})
	}
	if err := r.of(&f); err != nil {
		return f, err
	}
	for {
		before := r.at
		r.spaces()
		if r.at > before {
			r.here(r.at, spot{Record: f.Name})
		}
		if r.at == len(r.text) || strings.IndexByte("+*)", r.text[r.at]) >= 0 {
			return f, nil
		}
		g, err := r.given(f.Name)
		if err != nil {
			return f, err
		}
		if slices.ContainsFunc(f.Given, func(other Assignment) bool { return other.Name == g.Name }) {
			return f, r.fail(g.At, "%s is given twice", g.Name)
		}
		f.Given = append(f.Given, g)
	}
}

// of reads a name in brackets behind a factor, if there is one.
func (r *reader) of(f *Factor) (err error) {
	if f.Sum != nil && r.at > 0 && r.text[r.at-1] != ')' { // spaces behind the bracket were taken
		return nil
	}
	if r.at == len(r.text) || r.text[r.at] != '(' {
		return nil
	}
	r.take('(')
	f.OfAt = r.at
	if strings.HasPrefix(r.text[r.at:], `"`) {
		if f.OfAt, f.Of, err = r.item(spot{}); err != nil {
			return err
		}
	} else {
		f.Of = r.word()
	}
	if f.Of == "" {
		return r.fail(f.OfAt, "no name in brackets, want the part of a row that %s sees", cmp.Or(f.Name, "the sum"))
	}
	if r.spaces(); r.at == len(r.text) || r.text[r.at] != ')' {
		return r.wanted("a closing bracket")
	}
	r.at++
	return nil
}

// given reads a parameter of a record.
func (r *reader) given(record string) (g Assignment, err error) {
	g.At = r.at
	if g.Name = r.word(); g.Name == "" {
		return g, r.wanted("a parameter, + or *")
	}
	r.here(g.At, spot{Record: record})
	if r.at == len(r.text) || r.text[r.at] != '=' {
		g.ValueAt, g.Value = r.at, "true"
		return g, nil
	}
	place := spot{record, g.Name}
	for more := true; more; more = r.at < len(r.text) && r.text[r.at] == ',' {
		r.at++
		r.items = len(g.Items)
		at, item, err := r.item(place)
		if err != nil {
			return g, err
		}
		if g.Items == nil {
			g.ValueAt = at
		}
		g.Items = append(g.Items, item)
	}
	g.Value = strings.Join(g.Items, ",")
	return g, nil
}

// item reads an item of a value. It begins behind the bracket or quotation mark, if there is one.
func (r *reader) item(place spot) (at int, item string, err error) {
	at = r.at
	switch {
	case strings.HasPrefix(r.text[at:], `"`):
		quoted, err := strconv.QuotedPrefix(r.text[at:])
		if err != nil {
			return at, "", r.fail(at, "no quotation mark at the end of %s", clip(r.text[at:]))
		}
		r.at += len(quoted)
		item, err = strconv.Unquote(quoted)
		return at + 1, item, err
	case strings.HasPrefix(r.text[at:], "("):
		outer := r.within
		r.within = place
		r.take('(')
		at = r.at
		if _, err := r.sum(); err != nil {
			return at, "", err
		}
		item = strings.TrimSpace(r.text[at:r.at])
		if r.spaces(); r.at == len(r.text) || r.text[r.at] != ')' {
			return at, "", r.wanted("a closing bracket")
		}
		r.at++
		r.within = outer
		return at, item, nil
	}
	item = r.word()
	r.here(at, place)
	return at, item, nil
}

// Set returns a record with the parameters that a factor of a text gives, and those that are none of the
// record's.
func Set[R any](text string, f Factor, record R) (out R, others []Assignment, err error) {
	out = record
	for _, g := range f.Given {
		changed, err := with(f.Name, out, g.Name, g.Value, g.Items)
		var unknown *Unknown
		switch {
		case errors.As(err, &unknown):
			others = append(others, g)
		case err != nil:
			return out, nil, At(text, g.ValueAt, err)
		default:
			out = changed
		}
	}
	return out, others, nil
}

// Locate says where an error about a record, which a factor of a text has given, is in the text.
func Locate(text string, f Factor, err error) error {
	var wrong *Error
	if !errors.As(err, &wrong) || wrong.Of != f.Name {
		return At(text, f.At, err)
	}
	for _, g := range f.Given {
		if g.Name == wrong.Name {
			return At(text, g.ValueAt, err)
		}
	}
	return &TextError{text, f.At, err}
}
