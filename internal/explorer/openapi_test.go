package explorer

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// spec is the OpenAPI document, decoded.
type spec struct {
	doc map[string]any
	// seen has "GET /path 200" for every answer that was checked.
	seen map[string]bool
}

func readSpec(t *testing.T) *spec {
	t.Helper()
	s := &spec{seen: map[string]bool{}}
	b, err := json.Marshal(document())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s.doc); err != nil {
		t.Fatal(err)
	}
	return s
}

// at follows names into the document.
func (s *spec) at(names ...string) map[string]any {
	x := s.doc
	for _, n := range names {
		x, _ = x[n].(map[string]any)
	}
	return x
}

// resolve follows a $ref.
func (s *spec) resolve(x map[string]any) map[string]any {
	for {
		r, ok := x["$ref"].(string)
		if !ok {
			return x
		}
		x = s.at(strings.Split(strings.TrimPrefix(r, "#/"), "/")...)
		if x == nil {
			panic("no such reference: " + r)
		}
	}
}

// operations calls f for every operation.
func (s *spec) operations(f func(method, path string, op map[string]any)) {
	for path, item := range s.at("paths") {
		for method, op := range item.(map[string]any) {
			f(strings.ToUpper(method), path, op.(map[string]any))
		}
	}
}

// template finds the path of the document that a request path matches.
func (s *spec) template(path string) string {
	if _, ok := s.at("paths")[path]; ok {
		return path
	}
	cut := strings.LastIndex(path, "/")
	for p := range s.at("paths") {
		if strings.HasPrefix(p, path[:cut+1]+"{") {
			return p
		}
	}
	return ""
}

// check checks an answer against the document and returns its body.
func (s *spec) check(r *http.Request, a *http.Response) ([]byte, error) {
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, err
	}
	path := s.template(r.URL.EscapedPath())
	op := s.at("paths", path, strings.ToLower(r.Method))
	if op == nil {
		return body, fmt.Errorf("%s %s is not in the document", r.Method, r.URL.Path)
	}
	code := fmt.Sprint(a.StatusCode)
	answers, _ := op["responses"].(map[string]any)
	documented, ok := answers[code].(map[string]any)
	if !ok {
		return body, fmt.Errorf("%s %s: status %s is not in the document: %s", r.Method, path, code, body)
	}
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		return body, err
	}
	content, ok := s.resolve(documented)["content"].(map[string]any)[kind].(map[string]any)
	if !ok {
		return body, fmt.Errorf("%s %s %s: type %s is not in the document", r.Method, path, code, kind)
	}
	s.seen[r.Method+" "+path+" "+code] = true
	if kind != "application/json" {
		return body, nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return body, err
	}
	if err := s.validate(content["schema"].(map[string]any), v, "answer"); err != nil {
		return body, fmt.Errorf("%s %s %s: %w", r.Method, path, code, err)
	}
	return body, nil
}

// checkBody checks the body of a request against the document.
func (s *spec) checkBody(method, path string, body []byte) error {
	path, _, _ = strings.Cut(path, "?")
	schema := s.at("paths", s.template(path), strings.ToLower(method), "requestBody", "content", "application/json", "schema")
	if schema == nil {
		return fmt.Errorf("%s %s: no body in the document", method, path)
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return s.validate(schema, v, "body")
}

// validate checks a value against a schema. Keywords that it does not know are errors.
func (s *spec) validate(schema map[string]any, v any, at string) error {
	schema = s.resolve(schema)
	for key, want := range schema {
		var ok bool
		switch key {
		case "description", "required", "additionalProperties": // the latter two with properties
			ok = true
		case "type":
			ok = slices.ContainsFunc(texts(want), func(t string) bool { return isType(v, t) })
		case "enum":
			ok = slices.Contains(want.([]any), v)
		case "oneOf":
			matches := 0
			for _, o := range want.([]any) {
				if s.validate(o.(map[string]any), v, at) == nil {
					matches++
				}
			}
			ok = matches == 1
		case "properties":
			if err := s.validateObject(schema, v, at); err != nil {
				return err
			}
			ok = true
		case "items":
			list, _ := v.([]any)
			for i, x := range list {
				if err := s.validate(want.(map[string]any), x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
			ok = true
		case "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength":
			size := sizeOf(v)
			ok = strings.HasPrefix(key, "min") && size >= want.(float64) || strings.HasPrefix(key, "max") && size <= want.(float64)
		default:
			return fmt.Errorf("%s: the test does not know the keyword %s", at, key)
		}
		if !ok {
			return fmt.Errorf("%s: %.80v does not satisfy %s %v", at, v, key, want)
		}
	}
	return nil
}

func (s *spec) validateObject(schema map[string]any, v any, at string) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil // "type" says whether it must be an object
	}
	properties := schema["properties"].(map[string]any)
	for _, name := range texts(schema["required"]) {
		if _, ok := m[name]; !ok {
			return fmt.Errorf("%s: %s is missing", at, name)
		}
	}
	for name, x := range m {
		p, ok := properties[name].(map[string]any)
		if !ok {
			if schema["additionalProperties"] == false {
				return fmt.Errorf("%s: %s is not in the schema", at, name)
			}
			continue
		}
		if err := s.validate(p, x, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// texts returns a text or a list of texts as a list.
func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	var out []string
	list, _ := v.([]any)
	for _, x := range list {
		out = append(out, x.(string))
	}
	return out
}

func isType(v any, name string) bool {
	switch x := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case float64:
		return name == "number" || name == "integer" && x == math.Trunc(x)
	}
	return false
}

func sizeOf(v any) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case string:
		return float64(len(x))
	case []any:
		return float64(len(x))
	case map[string]any:
		return float64(len(x))
	}
	return math.NaN()
}

// The checker finds what it should find.
func TestValidate(t *testing.T) {
	s := readSpec(t)
	good := `{"neighbours":[{"index":1,"id":"a","target":"","similarity":0.5}]}`
	for body, want := range map[string]string{
		good:                                     "",
		`{}`:                                     "neighbours is missing",
		strings.Replace(good, "1,", `"1",`, 1):   "does not satisfy type",
		strings.Replace(good, "1,", `1.5,`, 1):   "does not satisfy type",
		strings.Replace(good, "{", `{"x":1,`, 1): "x is not in the schema",
	} {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		err := s.validate(map[string]any{"$ref": "#/components/schemas/NeighboursAnswer"}, v, "it")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if err := s.validate(map[string]any{"type": "array", "maxItems": 1.0}, []any{1.0, 2.0}, "it"); err == nil {
		t.Error("two items pass maxItems 1")
	}
}

// The document has every operation with the query that it takes.
func TestDocumentedOperations(t *testing.T) {
	const kernel = "kernel"
	want := map[string]string{
		"GET /health": "", "GET /openapi.json": "", "GET /sources": "",
		"POST /upload": "name key check file target target_name id color structure with task format hydrogens edge_weight node_label attributes edge_label edge_attributes clusters directed atom_charge atom_aromatic atom_hydrogens largest_fragment",
		"GET /info":    "", "GET /graphs": "", "GET /graph/{index}": "", "POST /graph": "", "POST /read": "",
		"GET /map": kernel + " part", "GET /colors": kernel + " by column", "GET /columns": "column", "GET /structure": kernel, "GET /outliers": kernel, "GET /chosen": "", "GET /trust": kernel + " by", "POST /trust": "", "POST /evaluate": "", "POST /versus": "", "GET /matrix": kernel + " cells", "GET /gram": kernel + " rows columns", "GET /evaluate": kernel + " cross_validate part", "GET /progress": kernel + " upload",
		"GET /neighbours": kernel + " index smiles k", "POST /neighbours": "", "GET /predict": kernel + " index smiles k place endpoint early", "POST /predict": "",
		"GET /explain": kernel + " index smiles class slopes early", "POST /explain": "", "GET /compare": kernel + " a b", "POST /compare": "", "POST /vertex": "", "GET /download/{file}": kernel + " layout color column index smiles slopes",
		"GET /find": "text class smiles limit", "GET /kernel": "text cursor set value", "POST /batch": kernel + " name key", "GET /batch/{batch}": kernel + " endpoint", "GET /member/{row}": "batch", "POST /table": "", "POST /suggest": "", "POST /report": "", "POST /session": "", "POST /open": "name key", "POST /derive": "", "POST /target": "", "POST /export": "", "POST /stop": "",
	}
	s := readSpec(t)
	ids := map[any]bool{}
	s.operations(func(method, path string, op map[string]any) {
		var query []string
		list, _ := op["parameters"].([]any)
		for _, p := range list {
			if x := s.resolve(p.(map[string]any)); x["in"] == "query" {
				query = append(query, x["name"].(string))
			}
		}
		slices.Sort(query)
		name := method + " " + strings.TrimPrefix(path, "/api/v1")
		names, ok := want[name]
		switch name {
		case "GET /health", "GET /openapi.json", "GET /sources", "POST /upload", "POST /open", "POST /stop":
		default:
			names += " source"
		}
		if !ok || !slices.Equal(query, slices.Sorted(slices.Values(strings.Fields(names)))) {
			t.Errorf("%s: documented query %v, want %s", name, query, names)
		}
		delete(want, name)
		if ids[op["operationId"]] {
			t.Errorf("%s: operationId %v is taken", name, op["operationId"])
		}
		ids[op["operationId"]] = true
	})
	for name := range want {
		t.Errorf("%s is not in the document", name)
	}
}

// What the document says of requests and answers is what they hold, with ranges and help.
func TestDocumentedTypes(t *testing.T) {
	s := readSpec(t)
	for path, want := range map[string]string{
		"paths /api/v1/matrix get parameters 0 schema":           `{"description":"largest number of rows","maximum":800,"minimum":1,"type":"integer"}`,
		"components schemas NeighboursRequest properties kernel": `{"description":"the text of a kernel, as in wl h=3 or 0.5 mlg + 0.5 sp, or chosen for what mlg train would choose; without it that of info, or the model as it was trained","maxLength":1000,"minLength":0,"type":"string"}`,
		"components schemas Reference properties smiles":         fmt.Sprintf(`{"description":"a molecule; of rows, their parts with semicolons between them","maxLength":%d,"minLength":1,"type":"string"}`, maxSMILES),
		"components schemas PredictRequest required":             `["graphs"]`,
		"components schemas VertexRequest required":              `["graph","vertex","level"]`,
		"components schemas Prediction properties place":         `{"description":"null unless asked for","oneOf":[{"$ref":"#/components/schemas/Place"},{"type":"null"}]}`,
		"components schemas Place":                               `{"additionalProperties":false,"properties":{"neighbours":{"items":{"type":"number"},"maxItems":2,"minItems":2,"type":"array"},"pca":{"items":{"type":"number"},"maxItems":2,"minItems":2,"type":"array"}},"required":["pca","neighbours"],"type":"object"}`,
	} {
		var x any = s.doc
		for _, name := range strings.Fields(path) {
			switch v := x.(type) {
			case map[string]any:
				x = v[name]
			case []any:
				i, err := strconv.Atoi(name)
				if err != nil || i >= len(v) {
					t.Fatalf("%s: no element %s", path, name)
				}
				x = v[i]
			}
		}
		var v any
		if err := json.Unmarshal([]byte(want), &v); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(x, v) {
			t.Errorf("%s: %v, want %s", path, x, want)
		}
	}
}

// Defaults of requests are values of their fields, and ranges can be read.
func TestRequestTags(t *testing.T) {
	for _, e := range endpoints {
		if e.request.Kind() != reflect.Struct {
			t.Errorf("%s %s: the request is no struct", e.method, e.path)
			continue
		}
		for _, f := range fieldsOf(e.request) {
			v := reflect.New(e.request).Elem().FieldByIndex(f.index)
			if f.standard != "" {
				if err := setText(v, f.name, f.standard); err != nil || !f.optional {
					t.Errorf("%s %s: default of %s: %v", e.method, e.path, f.name, err)
				}
			}
			_, _, ranged := between(f.want)
			if f.want != "" && !ranged && !(v.Kind() == reflect.String && strings.HasPrefix(f.want, "one of ")) {
				t.Errorf("%s %s: range %q of %s", e.method, e.path, f.want, f.name)
			}
		}
	}
}
