package table

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	x := &Table{Header: []string{"kernel", "label", "value"}}
	x.Add("mlg", "C", "+1.5")
	x.Add(strings.Repeat("long ", 20), "Cl", "-")
	var b strings.Builder
	if err := x.Write(&b, "  "); err != nil {
		t.Fatal(err)
	}
	want := `  kernel                                                            label  value
  mlg                                                               C       +1.5
  long long long long long long long long long long long long lon…  Cl         -
`
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
	b.Reset()
	x = &Table{Header: []string{"a_b", "n"}}
	x.Add("x|y", "1")
	if err := x.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if want := "| a\\_b | n |\n|---|---|\n| x\\|y | 1 |\n"; b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
}

func TestWrap(t *testing.T) {
	got := Wrap(strings.Repeat("words ", 20), 70, 4)
	want := "words\n    " + strings.TrimSpace(strings.Repeat("words ", 12)) + "\n    " + strings.TrimSpace(strings.Repeat("words ", 7))
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// Of identifiers that begin alike the end tells.
func TestClipMiddle(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"O0/library.c.254t.optimized/addEdge", 16, "O0/li…ed/addEdge"},
		{"short", 5, "short"},
		{"äöüäöü", 5, "ä…äöü"},
		{"a\nbcdefg", 6, "a…defg"},
	} {
		if got := ClipMiddle(c.text, c.n); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := Clip("äöü\nß", 4); got != "äöü…" {
		t.Errorf("%q", got)
	}
	if got := Clip("a\nb", 4); got != `a\nb` {
		t.Errorf("%q", got)
	}
}

// What data say to a terminal is shown, not sent.
func TestVisible(t *testing.T) {
	for s, want := range map[string]string{
		"":                            "",
		"plain, ä µ 水 – \n\tline two": "plain, ä µ 水 – \n\tline two",
		"\x1b[2J\x1b]0;title\a":       `\x1b[2J\x1b]0;title\a`,
		"a\rb\x7f\x00":                `a\rb\x7f\x00`,
		"\u009b31m":                   `\u009b31m`,
		"\x9b31m\xff":                 `\x9b31m\xff`,
		"\u202eabc\u2066":             `\u202eabc\u2066`,
		"\ufffd":                      "\ufffd",
		"'":                           "'",
	} {
		if got := Visible(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	var b strings.Builder
	x := &Table{Header: []string{"name", "\x1b[1m"}}
	x.Add("\x1b[2J", "a\nb\tc")
	if err := errors.Join(x.Write(&b, ""), x.WriteMarkdown(&b)); err != nil {
		t.Fatal(err)
	}
	if want := "name     \\x1b[1m\n\\x1b[2J  a\\nb\\tc\n| name | \\x1b[1m |\n|---|---|\n| \\x1b[2J | a b\tc |\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// A number and its deviation end at the same decimal.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		value, deviation float64
		want             string
	}{
		{2.276, 7.877e-06, "2.276±0.000"}, {2.3, 0.0123, "2.300±0.012"}, {0.0456, 1.2, "0.046±1.200"}, {12.3456, 0.5, "12.35±0.50"},
		{12345.6, 100, "12346±100"}, {1.23456e7, 4e5, "1.235e+07±0.040e+07"}, {2.5e-5, 1e-6, "2.500e-05±0.100e-05"}, {0, 0, "0.000±0.000"},
		{-1.5, 0.25, "-1.500±0.250"}, {math.Inf(1), 1, "+Inf±1.000"}, {math.NaN(), math.NaN(), "NaN±NaN"},
	} {
		v, d := Spread(4, c.value, c.deviation)
		if got := v + "±" + d; got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.value, c.deviation, got, c.want)
		}
	}
}
