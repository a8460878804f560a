package param

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text writes a record: its name and all its parameters but those that have the values of usual. Where
// usual is nil it writes them all.
func Text(name string, record, usual any) string {
	v := reflect.ValueOf(record)
	var defaults []field
	if usual != nil {
		defaults = fieldsOf(reflect.ValueOf(usual))
	}
	var b strings.Builder
	b.WriteString(name)
	for i, p := range fieldsOf(v) {
		text := p.text()
		switch {
		case defaults != nil && text == defaults[i].text():
		case text == "true":
			b.WriteString(" " + p.name)
		default:
			b.WriteString(" " + p.name + "=" + text)
		}
	}
	return b.String()
}

// text writes the value of a parameter.
func (p field) text() string {
	if p.value.Kind() == reflect.String && strings.HasPrefix(p.want, "a kernel") && p.value.Len() > 0 {
		text := p.value.String()
		if plain(text) {
			return text
		}
		if _, err := Read(text); err == nil {
			return "(" + text + ")"
		}
	}
	return textOf(p.value)
}

// Value writes the value of a parameter.
func Value(v any) string { return textOf(reflect.ValueOf(v)) }

// textOf writes a value, or values with commas between them.
func textOf(v reflect.Value) string {
	switch {
	case v.CanFloat():
		return Number(v.Float())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.Kind() == reflect.String:
		if !plain(v.String()) {
			return strconv.Quote(v.String())
		}
		return v.String()
	case v.Kind() != reflect.Slice:
		return fmt.Sprint(v.Interface())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = textOf(v.Index(i))
	}
	return strings.Join(parts, ",")
}

// Number writes a number so that it is read back to the same bits, with no more signs than it needs.
func Number(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', -1, 64), "e+", "e", 1)
}

// plain reports whether a text is a word of the grammar.
func plain(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(",()\"=*+", r)
	})
}
