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

	"github.com/mlgkernel/mlg/param"
)

// A request is a struct, as is an answer. The tags of a field are those of kernels, and one more:
//
//	json     its name in a body and in the query; omitempty says that it need not be there
//	want     its range, "1 to 1000", for a text or a list of objects that of its length; or "one of a b"
//	help     what it is
//	default  its value where it is not there

// field is one of a request or of an answer.
type field struct {
	name, want, help, standard string
	optional                   bool // it need not be there
	kind                       reflect.Type
	index                      []int         // in the struct
	value                      reflect.Value // that a query sets, from queryFields
}

// fieldsOf returns the fields of a struct that JSON has, with those of embedded structs.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get
		name, rest, _ := strings.Cut(tag("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		whole := t.Field(f.Index[0])
		optional := rest == "omitempty" || whole.Anonymous && whole.Type.Kind() == reflect.Pointer
		out = append(out, field{name, tag("want"), tag("help"), tag("default"), optional, f.Type, f.Index, reflect.Value{}})
	}
	return out
}

// between reads a range of numbers, as in "1 to 1000".
func between(want string) (low, high float64, ok bool) {
	n, err := fmt.Sscanf(want, "%g to %g", &low, &high)
	return low, high, err == nil && n == 2
}

// queryFields returns the fields of a request that a query may set. Fields of nested structs are
// among them. A list has a single element. Fields that only JSON can express are left out.
func queryFields(in reflect.Value) []field {
	var out []field
	for _, f := range fieldsOf(in.Type()) {
		f.value = in.FieldByIndex(f.index)
		switch f.value.Interface().(type) {
		case reference:
			out = append(out, queryFields(f.value)...)
		case []reference:
			f.value.Set(reflect.ValueOf([]reference{{}}))
			out = append(out, queryFields(f.value.Index(0))...)
		case json.RawMessage:
		default:
			out = append(out, f)
		}
	}
	return out
}

// read reads a request, with defaults for what it leaves out.
func (q *request) read(in reflect.Value) error {
	for _, f := range fieldsOf(in.Type()) {
		if f.standard != "" {
			setText(in.FieldByIndex(f.index), f.name, f.standard) // tests see all defaults
		}
	}
	var err error
	switch {
	case q.e.raw:
		err = cmp.Or(q.wantBody("application/octet-stream"), q.readQuery(queryFields(in)))
	case q.Method == http.MethodPost:
		err = cmp.Or(q.readQuery(nil), q.readBody(in.Addr().Interface()))
	default:
		err = q.readQuery(queryFields(in))
	}
	if err != nil {
		return err
	}
	if err := param.Check("request", in.Interface()); err != nil {
		return fieldError(err)
	}
	return nil
}

// wantBody checks how the body is announced.
func (q *request) wantBody(want string) error {
	if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); err != nil || kind != want {
		return &apiError{http.StatusUnsupportedMediaType, "want Content-Type: " + want, "body"}
	}
	return nil
}

// readQuery reads the path and the query, and refuses unknown names.
func (q *request) readQuery(fields []field) error {
	values := q.URL.Query()
	if !q.e.global {
		values.Del(sourceField)
	}
	for _, f := range fields {
		if text := q.PathValue(f.name); text != "" {
			values.Add(f.name, text)
		}
	}
	for name, list := range values {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return badRequest(name, "query: %q is not known here", name)
		}
		if len(list) > 1 {
			return badRequest(name, "query: %q is given more than once", name)
		}
		if err := setText(fields[i].value, name, list[0]); err != nil {
			return err
		}
	}
	return nil
}

// setText sets a value from a text.
func setText(v reflect.Value, name, text string) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		v.SetString(text)
	} else if json.Unmarshal([]byte(text), v.Addr().Interface()) != nil || text == "null" {
		return badRequest(name, "%s: %q, want %s", name, text, jsonKinds[v.Kind()])
	}
	return nil
}

// readBody decodes the JSON body into dst.
func (q *request) readBody(dst any) error {
	if err := q.wantBody("application/json"); err != nil {
		return err
	}
	d := json.NewDecoder(q.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(dst); err != nil {
		return bodyError(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest("body", "body: more than one JSON value")
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
		return &apiError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d bytes", large.Limit), "body"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &apiError{http.StatusRequestTimeout, "the body of the request came too slowly", "body"}
	case errors.Is(err, io.EOF):
		return badRequest("body", "body: empty, want a JSON object")
	case errors.As(err, &kind):
		return badRequest(kind.Field, "body: %s is a %s, want %s", cmp.Or(kind.Field, "it"), kind.Value, jsonKinds[kind.Type.Kind()])
	}
	return badRequest("body", "body: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// jsonKinds are the kinds of values in words.
var jsonKinds = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Int: "a whole number in range", reflect.Float64: "a number",
	reflect.Slice: "a list", reflect.Struct: "an object", reflect.Map: "an object",
}
