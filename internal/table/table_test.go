package table

import (
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

func TestClip(t *testing.T) {
	if got := Clip("äöü\nß", 4); got != "äöü…" {
		t.Errorf("%q", got)
	}
	if got := Clip("a\nb", 4); got != "a?b" {
		t.Errorf("%q", got)
	}
}
