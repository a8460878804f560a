package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A record is a struct. Each of its exported fields is a parameter, unless its JSON name is
// "-", and has tags:
//
//	json  its name everywhere: in JSON, text, messages, and, with "-" for "_", as a flag
//	want  its range: "positive", "at least 1", "0 to 20", "one of top sum product", "a kernel" for
//	      the text of one, or none; for a list that of every entry; for a number without the tag any finite one
//	help  one sentence on what it does
//
// Parameters are bool, int, uint64, float64, strings, or lists of them.

// Parameter describes a parameter of a kernel.
type Parameter struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // boolean, integer, number, text, integers or numbers
	Default any      `json:"default"`
	Want    string   `json:"want,omitempty"`
	Choices []string `json:"choices,omitempty"`
	Help    string   `json:"help"`
}

// defaults are the kernels that are known, by name.
var defaults = map[string]Kernel{}

// Register makes a kernel known under its name, with the values of its parameters as their
// defaults. Packages register their kernels when they are initialised, and not later; a name that is
// taken panics.
func Register(k Kernel) {
	if defaults[k.Name()] != nil {
		panic("kernel: " + k.Name() + " is registered twice")
	}
	defaults[k.Name()] = k
}

// Names returns the names of all kernels that are known, sorted.
func Names() []string { return slices.Sorted(maps.Keys(defaults)) }

// Named returns the kernel of a name with its defaults.
func Named(name string) (Kernel, error) {
	k := defaults[name]
	if k == nil {
		return nil, fmt.Errorf("kernel %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return copyOf(k).Interface().(Kernel), nil
}

// copyOf returns a record that can be changed without changing k, lists included. No list is nil.
func copyOf(k Kernel) reflect.Value {
	v := reflect.New(reflect.TypeOf(k)).Elem()
	v.Set(reflect.ValueOf(k))
	for _, p := range parametersOf(v) {
		if f := p.value; f.Kind() == reflect.Slice {
			f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
		}
	}
	return v
}

// parameter is a field of a record.
type parameter struct {
	name, want, help string
	value            reflect.Value
}

// Fixer is a record in which some fields are not parameters of the kernels of its name. These
// fields are zero, and left out of JSON.
type Fixer interface {
	// Fixed reports whether the field of a parameter is none.
	Fixed(parameter string) bool
}

// parametersOf returns the parameters of a record in the order of its fields.
func parametersOf(v reflect.Value) []parameter {
	var out []parameter
	if v.Kind() != reflect.Struct {
		return nil // no record: its parameters are not known
	}
	fixer, _ := v.Interface().(Fixer)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		if f.IsExported() && name != "-" && (fixer == nil || !fixer.Fixed(name)) {
			out = append(out, parameter{name, f.Tag.Get("want"), f.Tag.Get("help"), v.Field(i)})
		}
	}
	return out
}

func find(v reflect.Value, name string) (parameter, error) {
	all := parametersOf(v)
	i := slices.IndexFunc(all, func(p parameter) bool { return p.name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.name
		}
		return parameter{}, fmt.Errorf("no parameter %s, want one of %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// Parameters describes the parameters of a kernel; their defaults are the values that they have.
func Parameters(k Kernel) []Parameter {
	var out []Parameter
	for _, p := range parametersOf(copyOf(k)) {
		x := Parameter{Name: p.name, Type: typeName(p.value.Type()), Default: p.value.Interface(), Want: p.wanted(), Help: p.help}
		if choices, ok := strings.CutPrefix(p.want, "one of "); ok {
			x.Choices = strings.Fields(choices)
		}
		out = append(out, x)
	}
	return out
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

// Text returns the text that identifies a kernel: its name and all its parameters, except those
// that have their defaults. Kernels with equal texts have equal values.
func Text(k Kernel) string {
	standard, v := reflect.ValueOf(defaults[k.Name()]), reflect.ValueOf(k)
	if !standard.IsValid() || standard.Type() != v.Type() {
		standard = reflect.Zero(v.Type())
	}
	usual := parametersOf(standard)
	var b strings.Builder
	b.WriteString(k.Name())
	for i, p := range parametersOf(v) {
		text := textOf(p.value)
		switch {
		case text == textOf(usual[i].value):
		case text == "true":
			b.WriteString(" " + p.name)
		default:
			b.WriteString(" " + p.name + "=" + text)
		}
	}
	return b.String()
}

func textOf(v reflect.Value) string {
	text := plainText(v)
	if strings.ContainsAny(text, " =\"") {
		return strconv.Quote(text)
	}
	return text
}

// plainText returns a value without quotation marks, as With reads it.
func plainText(v reflect.Value) string {
	switch {
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.Kind() != reflect.Slice:
		return fmt.Sprint(v.Interface())
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = plainText(v.Index(i))
	}
	return strings.Join(parts, ",")
}

// aKernel is the range of a parameter that is the text of a kernel.
const aKernel = "a kernel"

// maxKernelText bounds the texts that Parse reads, and so how deep kernels are nested.
const maxKernelText = 1000

// Parse reads a kernel from a text as Text writes it: its name and parameters, as in "sp ordered
// h=2". A value with spaces stands in quotation marks. The kernel is validated.
func Parse(text string) (Kernel, error) {
	if len(text) > maxKernelText {
		return nil, fmt.Errorf("kernel: a text of %d bytes, want at most %d", len(text), maxKernelText)
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	k, err := Named(name)
	if err != nil {
		return nil, err
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		end := strings.IndexAny(rest, " =")
		if end < 0 {
			end = len(rest)
		}
		name, value := rest[:end], "true"
		if rest = rest[end:]; strings.HasPrefix(rest, "=\"") {
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil {
				return nil, fmt.Errorf("%s: %s: no quotation mark at the end of %s", k.Name(), name, rest[1:])
			}
			value, _ = strconv.Unquote(quoted)
			rest = rest[1+len(quoted):]
		} else if strings.HasPrefix(rest, "=") {
			value, rest, _ = strings.Cut(rest[1:], " ")
		}
		if k, err = With(k, name, value); err != nil {
			return nil, err
		}
	}
	return k, k.Validate()
}

// With returns the kernel with a parameter set from a text: numbers as Go writes them, lists with
// commas, true or false. The value itself is not checked; see Validate.
func With(k Kernel, name, text string) (Kernel, error) {
	v := copyOf(k)
	p, err := find(v, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name(), err)
	}
	if err := parse(p.value, text); err != nil {
		return nil, fmt.Errorf("%s: %s = %q, want %s", k.Name(), name, text, typeWanted(p.value.Type()))
	}
	return v.Interface().(Kernel), nil
}

func parse(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), 0, 0)
		for part := range strings.SplitSeq(text, ",") {
			if strings.TrimSpace(text) == "" {
				break
			}
			x := reflect.New(v.Type().Elem()).Elem()
			if err := parse(x, strings.TrimSpace(part)); err != nil {
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

// Marshal writes a kernel as JSON: an object with its name as "kernel" and all its parameters.
func Marshal(k Kernel) ([]byte, error) {
	out := []byte(`{"kernel":` + strconv.Quote(k.Name()))
	v := copyOf(k)
	if len(parametersOf(v)) == 0 {
		return append(out, '}'), nil
	}
	body, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Name(), err)
	}
	return append(append(out, ','), body[1:]...), nil
}

// Unmarshal reads a kernel from JSON as Marshal writes it. Parameters that are not there have
// their defaults; others than those of the kernel are an error. The kernel is validated.
func Unmarshal(data []byte) (Kernel, error) {
	k, rest, err := unmarshal(data)
	if err == nil && len(rest) > 0 {
		for name := range rest {
			_, err = find(reflect.ValueOf(k), name)
		}
		err = fmt.Errorf("%s: %w", k.Name(), err)
	}
	if err != nil {
		return nil, err
	}
	return k, k.Validate()
}

// unmarshal reads a kernel and returns the fields that are none of its parameters.
func unmarshal(data []byte) (k Kernel, rest map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(data, &rest); err != nil {
		return nil, nil, fmt.Errorf("kernel: %w", err)
	}
	var name string
	if err := json.Unmarshal(rest["kernel"], &name); err != nil {
		return nil, nil, fmt.Errorf("kernel: no name in the field %q", "kernel")
	}
	delete(rest, "kernel")
	if k, err = Named(name); err != nil {
		return nil, nil, err
	}
	v := copyOf(k)
	for _, p := range parametersOf(v) {
		text, ok := rest[p.name]
		if !ok {
			continue
		}
		delete(rest, p.name)
		p.value.SetZero()
		err := json.Unmarshal(text, p.value.Addr().Interface())
		if err == nil && string(bytes.TrimSpace(text)) == "null" {
			err = errors.New("null")
		}
		if err != nil {
			if p.value.Kind() == reflect.Slice && typeName(p.value.Type()) == "" {
				return nil, nil, fmt.Errorf("%s: %s: %w", name, p.name, err)
			}
			return nil, nil, fmt.Errorf("%s: %s = %s, want %s", name, p.name, bytes.TrimSpace(text), typeWanted(p.value.Type()))
		}
	}
	return v.Interface().(Kernel), rest, nil
}

// Check validates the parameters of a kernel by their tags. It is what the Validate of a record
// starts with.
func Check(k Kernel) error { return CheckFields(k.Name(), k) }

// CheckFields validates the fields of any struct by their want tags. Its error begins with the
// name of the struct.
func CheckFields(name string, record any) error {
	for _, p := range parametersOf(reflect.ValueOf(record)) {
		if err := p.check(p.value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (p parameter) check(v reflect.Value) error {
	ok, each := true, ""
	switch {
	case v.CanFloat():
		ok = p.admits(v.Float())
	case v.CanInt():
		ok = p.admits(float64(v.Int()))
	case v.Kind() == reflect.String && p.want == aKernel:
		if _, err := Parse(v.String()); err != nil && v.String() != "" {
			return fmt.Errorf("%s = %q, want a kernel: %w", p.name, v.String(), err)
		}
	case v.Kind() == reflect.String:
		choices, closed := strings.CutPrefix(p.want, "one of ")
		ok = !closed || slices.Contains(strings.Fields(choices), v.String())
	case v.Kind() == reflect.Slice && typeName(v.Type()) != "":
		each = " for each"
		for i := range v.Len() {
			ok = ok && p.check(v.Index(i)) == nil
		}
	}
	if ok {
		return nil
	}
	text := textOf(v)
	if v.Kind() == reflect.String {
		text = strconv.Quote(v.String())
	}
	return fmt.Errorf("%s = %s, want %s%s", p.name, text, p.wanted(), each)
}

// admits reports whether a number is in the range that the tag says.
func (p parameter) admits(x float64) bool {
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
	panic(fmt.Sprintf("kernel: parameter %s: tag want:%q is not understood", p.name, p.want))
}

func scan(text, format string, to ...any) bool {
	n, err := fmt.Sscanf(text, format, to...)
	return err == nil && n == len(to)
}

// wanted says the range in words.
func (p parameter) wanted() string {
	choices, closed := strings.CutPrefix(p.want, "one of ")
	switch {
	case closed:
		all := strings.Fields(choices)
		last := len(all) - 1
		return strings.Join(all[:last], ", ") + " or " + all[last]
	case p.want == "positive":
		return "a positive, finite number"
	case p.want == "" && typeName(p.value.Type()) == "number":
		return "a finite number"
	}
	return p.want
}
