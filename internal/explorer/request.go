package explorer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A request is a struct, as is an answer. The tags of a field are those of kernels, and one more:
//
//	json     its name in a body and in the query; omitempty says that it need not be there
//	want     its range, "1 to 1000", for a text or a list of objects that of its length; or "one of a b"
//	help     what it is
//	default  its value where it is not there

// fieldsOf returns the fields of a struct that JSON has, with those of embedded structs.
func fieldsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return f.Anonymous || !f.IsExported() || f.Tag.Get("json") == "-"
	})
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// between reads a range of numbers, as in "1 to 1000".
func between(want string) (low, high float64, ok bool) {
	n, err := fmt.Sscanf(want, "%g to %g", &low, &high)
	return low, high, err == nil && n == 2
}

// oneOf reads a list of texts, as in "one of a b".
func oneOf(want string) []string { return strings.Fields(strings.TrimPrefix(want, "one of ")) }

// queryField is a value that a query may set.
type queryField struct {
	reflect.StructField
	value reflect.Value
}

// queryFields returns what a query may set of a request: fields of its fields stand beside the
// others, of a list there is one, and what only JSON can say is left out.
func queryFields(in reflect.Value) []queryField {
	var out []queryField
	for _, f := range fieldsOf(in.Type()) {
		v := in.FieldByIndex(f.Index)
		switch v.Interface().(type) {
		case parameters:
			for _, p := range kernelFields() {
				out = append(out, queryField{p, v})
			}
		case reference:
			out = append(out, queryFields(v)...)
		case []reference:
			v.Set(reflect.ValueOf([]reference{{}}))
			out = append(out, queryFields(v.Index(0))...)
		case graphJSON:
		default:
			out = append(out, queryField{f, v})
		}
	}
	return out
}

// read reads a request, with defaults for what it leaves out.
func (q *request) read(in reflect.Value) error {
	for _, f := range fieldsOf(in.Type()) {
		if text, ok := f.Tag.Lookup("default"); ok {
			setText(in.FieldByIndex(f.Index), nameOf(f), text) // tests see all defaults
		}
	}
	var err error
	if q.Method == http.MethodPost {
		err = cmp.Or(q.readQuery(nil), q.readBody(in.Addr().Interface()))
	} else {
		err = q.readQuery(queryFields(in))
	}
	if err != nil {
		return err
	}
	return q.check(in)
}

// readQuery reads what is in the path and in the query, and refuses names that are not known.
func (q *request) readQuery(fields []queryField) error {
	values := q.URL.Query()
	for _, f := range fields {
		if text := q.PathValue(nameOf(f.StructField)); text != "" {
			values.Add(nameOf(f.StructField), text)
		}
	}
	for name, list := range values {
		i := slices.IndexFunc(fields, func(f queryField) bool { return nameOf(f.StructField) == name })
		if i < 0 {
			return badRequest("query: %q is not known here", name)
		}
		if len(list) > 1 {
			return badRequest("query: %q is given more than once", name)
		}
		if err := setText(fields[i].value, name, list[0]); err != nil {
			return err
		}
	}
	return nil
}

// setText sets a value to what a text says.
func setText(v reflect.Value, name, text string) error {
	if p, ok := v.Addr().Interface().(*parameters); ok {
		if *p == nil {
			*p = parameters{}
		}
		(*p)[name] = text
		return nil
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		v.SetString(text)
	} else if json.Unmarshal([]byte(text), v.Addr().Interface()) != nil || text == "null" {
		return badRequest("%s: %q, want %s", name, text, jsonKind(v.Kind()))
	}
	return nil
}

// readBody decodes the JSON body into dst.
func (q *request) readBody(dst any) error {
	if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &apiError{http.StatusUnsupportedMediaType, "want Content-Type: application/json"}
	}
	d := json.NewDecoder(q.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(dst); err != nil {
		return bodyError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("body: more than one JSON value")
	}
	// The rest may take its time; the server goes on listening whether the client is there.
	http.NewResponseController(q.w).SetReadDeadline(time.Time{})
	return nil
}

// bodyError says what is wrong with a body without naming types of this program.
func bodyError(err error) error {
	var large *http.MaxBytesError
	var timeout interface{ Timeout() bool }
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return &apiError{http.StatusRequestTimeout, "the body of the request came too slowly"}
	case errors.Is(err, io.EOF):
		return badRequest("body: empty, want a JSON object")
	case errors.As(err, &kind):
		return badRequest("body: %s is a %s, want %s", cmp.Or(kind.Field, "it"), kind.Value, jsonKind(kind.Type.Kind()))
	}
	return badRequest("body: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func jsonKind(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number in range"
}

// check returns an error that names the first value of a request that is out of its range. A path
// with such a value leads nowhere.
func (q *request) check(in reflect.Value) error {
	for _, f := range fieldsOf(in.Type()) {
		v, want := reflect.Indirect(in.FieldByIndex(f.Index)), f.Tag.Get("want")
		if want == "" || !v.IsValid() {
			continue
		}
		value, size := fmt.Sprint(v), 0
		switch v.Kind() {
		case reflect.Int:
			size = int(v.Int())
		case reflect.Slice:
			value, size = fmt.Sprint(v.Len()), v.Len()
		case reflect.String:
			value, size = fmt.Sprintf("%d bytes", v.Len()), v.Len()
		}
		low, high, ranged := between(want)
		switch {
		case ranged && (float64(size) < low || float64(size) > high):
			return badRequest("%s: %s, want %s", nameOf(f), value, want)
		case ranged || slices.Contains(oneOf(want), v.String()):
		case q.PathValue(nameOf(f)) != "":
			return notFound("%s: %q, want %s", nameOf(f), v, want)
		default:
			return badRequest("%s: %q, want %s", nameOf(f), v, want)
		}
	}
	return nil
}
