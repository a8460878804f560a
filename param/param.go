// Package param reads and writes parameters: their names, ranges and defaults, and the text in which
// kernels are written.
//
// A record is a struct. Each of its exported fields is a parameter, unless its JSON name is "-", and
// has tags:
//
//	json  its name everywhere: in JSON, texts and messages
//	want  its range: "positive", "at least 1", "0 to 20", "one of top sum product", "a kernel" for the
//	      text of one, or none; for a list that of every entry; for a number without the tag any finite one
//	help  one sentence on what it does
//
// Parameters are bool, int, uint64, float64, strings, or lists of them.
//
// The text of a record is its name and the parameters that do not have their defaults. Texts can be
// multiplied and added:
//
//	sum    = term {"+" term}
//	term   = [weight] factor {"*" factor}
//	factor = name [of] {parameter} | "(" sum ")" [of] {parameter}
//	of     = "(" word ")" | "(" "quoted text" ")"      right behind, without a space
//	parameter = name ["=" value]          without a value it is true
//	value  = item {"," item}
//	item   = word | "quoted text" | "(" sum ")"
//
// Either all terms of a sum have a weight, or none has one, and then the sum is their mean.
// Read reads such a text. What names mean is up to those who have records: package kernel for
// kernels on graphs, and package vertex for kernels on vertices.
package param

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Parameter describes a parameter of a record.
type Parameter struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // boolean, integer, number, text, integers, numbers or texts
	Default any      `json:"default"`
	Want    string   `json:"want,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Help    string   `json:"help"`
}

// Error says that a parameter of a record has an impossible value.
type Error struct {
	Of    string // the record, such as the name of a kernel; "" for none
	Name  string // the parameter
	Value string // as a text has it
	Want  string
	Err   error // what is wrong inside the value, nil for nothing in particular
}

// Error implements error, as in "wl: h = -1, want 0 to 65536".
func (e *Error) Error() string {
	out := e.Name + " = " + e.Value
	if e.Of != "" {
		out = e.Of + ": " + out
	}
	if e.Want != "" {
		out += ", want " + e.Want
	}
	if e.Err != nil {
		out += ": " + e.Err.Error()
	}
	return out
}

// Unwrap returns what is wrong inside the value.
func (e *Error) Unwrap() error { return e.Err }

// Wrong returns an Error about a parameter of a record of some name, with the value that it has.
func Wrong(of string, record any, name, want string, why error) *Error {
	e := &Error{Of: of, Name: name, Want: want, Err: why}
	for _, p := range fieldsOf(reflect.ValueOf(record)) {
		if p.name == name {
			e.Value = shown(p.value)
		}
	}
	return e
}

// shown writes a value for an error: texts in quotation marks.
func shown(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return strconv.Quote(clip(v.String()))
	}
	return textOf(v)
}

// Unknown says that a record has no parameter of a name, or a text names no record that is known.
type Unknown struct {
	Of   string // the record, "" where a record is asked for
	What string // "parameter", "kernel", …
	Name string
	Want []string // the names that are known
	Hint string   // what may be meant instead, "" for nothing
}

// Error implements error.
func (e *Unknown) Error() string {
	hint := ""
	if e.Hint != "" {
		hint = "; " + e.Hint
	}
	switch {
	case len(e.Want) == 0:
		return fmt.Sprintf("%s: no %s %s, because it has none%s", e.Of, e.What, clip(e.Name), hint)
	case e.Of == "":
		return fmt.Sprintf("%s %q, want one of %s%s", e.What, clip(e.Name), strings.Join(e.Want, ", "), hint)
	}
	return fmt.Sprintf("%s: no %s %s, want one of %s%s", e.Of, e.What, clip(e.Name), strings.Join(e.Want, ", "), hint)
}

// Fixer is a record in which some fields are not parameters of the records of its name. These
// fields are zero, and left out of texts.
type Fixer interface {
	// Fixed reports whether the field of a parameter is none.
	Fixed(parameter string) bool
}

// field is a parameter of a record with its value.
type field struct {
	name, want, help string
	value            reflect.Value
}

// fieldsOf returns the parameters of a record in the order of its fields.
func fieldsOf(v reflect.Value) []field {
	var out []field
	if v.Kind() != reflect.Struct {
		return nil // no record: its parameters are not known
	}
	fixer, _ := v.Interface().(Fixer)
	tags := tagsOf(v.Type())
	out = make([]field, 0, len(tags))
	for i, t := range tags {
		if t.name != "" && (fixer == nil || !fixer.Fixed(t.name)) {
			t.value = v.Field(i)
			out = append(out, t)
		}
	}
	return out
}

// known has what tagsOf returned, by type. Kernels are checked and written thousands of times.
var known sync.Map

// tagsOf returns what the fields of a struct say, without values; those that are no parameters have no name.
func tagsOf(t reflect.Type) []field {
	if out, ok := known.Load(t); ok {
		return out.([]field)
	}
	out := make([]field, t.NumField())
	for i := range out {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && name != "-" {
			out[i] = field{name: name, want: f.Tag.Get("want"), help: f.Tag.Get("help")}
		}
	}
	known.Store(t, out)
	return out
}

// copyOf returns a record that can be changed without changing the given one, lists included. No
// list is nil.
func copyOf(record any) reflect.Value {
	v := reflect.New(reflect.TypeOf(record)).Elem()
	v.Set(reflect.ValueOf(record))
	for _, p := range fieldsOf(v) {
		if f := p.value; f.Kind() == reflect.Slice {
			f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
		}
	}
	return v
}

// Copy returns a record that can be changed without changing the given one, lists included.
func Copy[R any](record R) R { return copyOf(record).Interface().(R) }

// Of describes the parameters of a record; their defaults are the values that they have.
func Of(record any) []Parameter {
	var out []Parameter
	for _, p := range fieldsOf(copyOf(record)) {
		x := Parameter{Name: p.name, Type: typeName(p.value.Type()), Default: p.value.Interface(), Want: p.wanted(), Help: p.help}
		if choices, ok := strings.CutPrefix(p.want, "one of "); ok {
			x.Choices = strings.Fields(choices)
		}
		out = append(out, x)
	}
	return out
}

// Get returns the value of a parameter of a record, nil if it has none of that name.
func Get(record any, name string) any {
	for _, p := range fieldsOf(reflect.ValueOf(record)) {
		if p.name == name {
			return p.value.Interface()
		}
	}
	return nil
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	case reflect.Slice:
		if name := typeName(t.Elem()); name != "" {
			return name + "s"
		}
	}
	return ""
}

// With returns a record of some name with a parameter set from a text. The range of the value is not
// checked; see Check.
func With[R any](name string, record R, parameter, text string) (R, error) {
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
	}
	return with(name, record, parameter, text, items)
}

// with is With for the items of a text.
func with[R any](name string, record R, parameter, text string, items []string) (R, error) {
	v := copyOf(record)
	all := fieldsOf(v)
	i := slices.IndexFunc(all, func(p field) bool { return p.name == parameter })
	if i < 0 {
		unknown := &Unknown{Of: name, What: "parameter", Name: parameter}
		for _, p := range all {
			unknown.Want = append(unknown.Want, p.name)
		}
		return record, unknown
	}
	if err := set(all[i].value, text, items); err != nil {
		return record, &Error{Of: name, Name: parameter, Value: strconv.Quote(text), Want: typeWanted(all[i].value.Type())}
	}
	return v.Interface().(R), nil
}

// set sets a parameter from a text, or from its items where it is a list.
func set(v reflect.Value, text string, items []string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 0, len(items))
		for _, item := range items {
			if item == "" && len(items) == 1 {
				break
			}
			x := reflect.New(v.Type().Elem()).Elem()
			if err := set(x, item, nil); err != nil {
				return err
			}
			list = reflect.Append(list, x)
		}
		v.Set(list)
	default: // JSON writes bools and numbers as Go does
		return json.Unmarshal([]byte(strings.TrimSpace(text)), v.Addr().Interface())
	}
	return nil
}

func typeWanted(t reflect.Type) string {
	switch name := typeName(t); name {
	case "boolean":
		return "true or false"
	case "integer":
		return "a whole number"
	case "number", "text":
		return "a " + name
	default:
		return name + " with commas between them"
	}
}

// Check validates the parameters of a record of some name by their tags.
func Check(name string, record any) error {
	for _, p := range fieldsOf(reflect.ValueOf(record)) {
		if !p.admitsValue(p.value) {
			e := &Error{Of: name, Name: p.name, Value: shown(p.value), Want: p.wanted()}
			if p.value.Kind() == reflect.Slice {
				e.Want += " for each"
			}
			return e
		}
	}
	return nil
}

// admitsValue reports whether a value, or every entry of a list, is in the range that the tag says.
// Texts of kernels are not looked at.
func (p field) admitsValue(v reflect.Value) bool {
	switch {
	case v.CanFloat():
		return p.admits(v.Float())
	case v.CanInt():
		return p.admits(float64(v.Int()))
	case v.Kind() == reflect.String:
		choices, closed := strings.CutPrefix(p.want, "one of ")
		return !closed || slices.Contains(strings.Fields(choices), v.String())
	case v.Kind() == reflect.Slice && typeName(v.Type()) != "":
		for i := range v.Len() {
			if !p.admitsValue(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// admits reports whether a number is in the range that the tag says.
func (p field) admits(x float64) bool {
	var lo, hi float64
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return false
	case p.want == "":
		return true
	case p.want == "positive":
		return x > 0
	case scan(p.want, "at least %g", &lo):
		return x >= lo
	case scan(p.want, "%g to %g", &lo, &hi):
		return lo <= x && x <= hi
	}
	panic(fmt.Sprintf("param: parameter %s: tag want:%q is not understood", p.name, p.want))
}

func scan(text, format string, to ...any) bool {
	n, err := fmt.Sscanf(text, format, to...)
	return err == nil && n == len(to)
}

// wanted says the range in words.
func (p field) wanted() string {
	choices, closed := strings.CutPrefix(p.want, "one of ")
	switch {
	case closed:
		all := strings.Fields(choices)
		last := len(all) - 1
		return strings.Join(all[:last], ", ") + " or " + all[last]
	case p.want == "positive":
		return "a positive, finite number"
	case p.want == "" && strings.HasPrefix(typeName(p.value.Type()), "number"):
		return "a finite number"
	}
	return p.want
}
