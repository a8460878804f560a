// Package table writes tables, and the texts around them, for terminals of 80 columns and for Markdown.
package table

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Width is the number of columns that tables and lines keep to.
const Width = 80

// Table has a header and rows of as many texts. The first column has names.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write writes the table in columns behind an indentation. Columns of numbers are set to the right.
// Names lose their ends where the table is too wide.
func (t *Table) Write(w io.Writer, indent string) error {
	rows := slices.Concat([][]string{t.Header}, t.Rows)
	for i, row := range rows {
		rows[i] = make([]string, len(row))
		for c, cell := range row {
			rows[i][c] = line(cell)
		}
	}
	width, number := make([]int, len(t.Header)), t.Numbers()
	total := len(indent) - 2
	for c := range width {
		for _, row := range rows {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
		total += width[c] + 2
	}
	width[0] = min(width[0], max(8, width[0]-max(0, total-Width)))
	var b strings.Builder
	for _, row := range rows {
		text := fmt.Sprintf("%s%-*s", indent, width[0], Clip(row[0], width[0]))
		for c := 1; c < len(row); c++ {
			if number[c] {
				text += fmt.Sprintf("  %*s", width[c], row[c])
			} else {
				text += fmt.Sprintf("  %-*s", width[c], row[c])
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Numbers says which columns have numbers only.
func (t *Table) Numbers() []bool {
	out := make([]bool, len(t.Header))
	for c := range out {
		out[c] = len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []string) bool { return !numeric(row[c]) })
	}
	return out
}

// numeric reports whether a cell begins like a number, or stands for a missing one.
func numeric(cell string) bool {
	s := strings.TrimLeft(strings.TrimSpace(cell), "+-−–.")
	return s == "" || unicode.IsDigit(rune(s[0]))
}

// WriteMarkdown writes the table as Markdown.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for i, row := range slices.Concat([][]string{t.Header}, t.Rows) {
		b.WriteByte('|')
		for _, c := range row {
			b.WriteString(" " + Escape(c) + " |")
		}
		b.WriteByte('\n')
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Escape keeps names from being read as Markdown.
func Escape(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ").Replace(Visible(s))
}

// Visible returns a text with its control characters written as in Go: `\x1b` for the character with
// which commands to a terminal begin. So are bytes that are not UTF-8, and characters that change the
// direction of writing. Line ends and tabs stay.
func Visible(s string) string {
	var b strings.Builder
	kept := 0 // s[:kept] is in b
	for i, c := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		var shown string
		switch {
		case c == utf8.RuneError && size == 1:
			shown = fmt.Sprintf(`\x%02x`, s[i])
		case c == '\n', c == '\t':
			continue
		case unicode.IsControl(c), unicode.Is(unicode.Bidi_Control, c):
			shown = strings.Trim(strconv.QuoteRuneToASCII(c), "'")
		default:
			continue
		}
		b.WriteString(s[kept:i] + shown)
		kept = i + size
	}
	return b.String() + s[kept:]
}

// line is Visible for a text that must stay on one line.
func line(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Visible(s))
}

// Wrap breaks a text at spaces so that lines keep to the width. The first begins behind something
// that takes some columns, those after it are indented.
func Wrap(s string, at, indent int) string {
	var b strings.Builder
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && at+1+n > Width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// Clip shortens a text to n characters, on one line and as Visible shows it.
func Clip(s string, n int) string {
	r := []rune(line(s))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

// ClipMiddle is Clip for identifiers: a third of what is left is the beginning, and the rest the end, which mostly
// tells them apart.
func ClipMiddle(s string, n int) string {
	r := []rune(line(s))
	if len(r) <= n {
		return string(r)
	}
	first := (n - 1) / 3
	return string(r[:first]) + "…" + string(r[len(r)-(n-1-first):])
}

// Spread writes a number and its deviation with the same number of decimals. The larger one has
// some significant digits. If it is very large or small, both get the same power of ten.
func Spread(digits int, value, deviation float64) (v, d string) {
	most := max(math.Abs(value), math.Abs(deviation))
	exponent := 0
	if most > 0 && !math.IsInf(most, 0) {
		exponent = int(math.Floor(math.Log10(most)))
	}
	power := ""
	if exponent < -3 || exponent > 5 {
		scale := math.Pow10(exponent)
		power = fmt.Sprintf("e%+03d", exponent)
		value, deviation, exponent = value/scale, deviation/scale, 0
	}
	decimals := max(0, digits-1-exponent)
	return fmt.Sprintf("%.*f%s", decimals, value, power), fmt.Sprintf("%.*f%s", decimals, deviation, power)
}
