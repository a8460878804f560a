package explorer

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed docs
var docsFiles embed.FS

var docsPage = template.Must(template.ParseFS(docsFiles, "docs/docs.html"))

// serveDocs sends the page that describes the API, which is made from its document.
func (s *Server) serveDocs(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	if err := docsPage.Execute(&b, describeAPI(s.document, "http://"+r.Host)); err != nil {
		writeError(w, err)
		return
	}
	send(w, http.StatusOK, kinds[".html"], b.Bytes())
}

func serveDocsStyle(w http.ResponseWriter, _ *http.Request) {
	data, err := docsFiles.ReadFile("docs/docs.css")
	if err != nil {
		writeError(w, err)
		return
	}
	send(w, http.StatusOK, kinds[".css"], data)
}

// docs is the document of the API as the page shows it.
type docs struct {
	Description string
	Operations  []docsOperation
	Types       []docsType
}

type docsOperation struct {
	ID, Method, Path, Summary, Example string
	Query, Body, Answer                []docsField
	BodyKind, AnswerKinds              string
	Errors                             []docsError
}

type docsField struct {
	Name, Before, Link, After, Text string // the type is Before, a link to another type, After
}

type docsError struct{ Code, Text string }

type docsType struct {
	Name, Text string
	Fields     []docsField
}

// describeAPI makes the page of the document.
func describeAPI(document object, address string) *docs {
	out := &docs{Description: document["info"].(object)["description"].(string)}
	components := document["components"].(object)
	types := components["schemas"].(schemas)
	for _, e := range endpoints {
		op := document["paths"].(map[string]object)[e.path][strings.ToLower(e.method)].(object)
		out.Operations = append(out.Operations, types.describe(e, op, components["responses"].(object)))
		last := &out.Operations[len(out.Operations)-1]
		last.Example = example(e, address)
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name].(object)
		text, _ := t["description"].(string)
		out.Types = append(out.Types, docsType{name, text, fieldRows(t)})
	}
	return out
}

// describe makes the part of an operation.
func (s schemas) describe(e endpoint, op, errors object) docsOperation {
	out := docsOperation{ID: op["operationId"].(string), Method: e.method, Path: e.path, Summary: e.summary}
	for _, p := range op["parameters"].([]object) {
		row := fieldRow(p["name"].(string), p["schema"].(object), p["required"] == true)
		out.Query = append(out.Query, row)
	}
	if body, ok := op["requestBody"].(object); ok {
		out.BodyKind, out.Body = s.bodyFields(body)
	}
	responses := op["responses"].(object)
	out.AnswerKinds, out.Answer = s.bodyFields(responses["200"].(object))
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if code != "200" {
			out.Errors = append(out.Errors, docsError{code, errors[code].(object)["description"].(string)})
		}
	}
	return out
}

// bodyFields returns the kinds of a body and its fields, where it is JSON.
func (s schemas) bodyFields(body object) (kinds string, fields []docsField) {
	content := body["content"].(object)
	kinds = strings.Join(slices.Sorted(maps.Keys(content)), ", ")
	if json, ok := content["application/json"].(object); ok {
		schema := json["schema"].(object)
		if ref, ok := schema["$ref"].(string); ok {
			schema = s[path.Base(ref)].(object)
		}
		return "", fieldRows(schema)
	}
	return kinds, nil
}

// fieldRows describes the fields of an object.
func fieldRows(t object) []docsField {
	properties, _ := t["properties"].(object)
	required, _ := t["required"].([]string)
	var out []docsField
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		out = append(out, fieldRow(name, properties[name].(object), slices.Contains(required, name)))
	}
	return out
}

func fieldRow(name string, schema object, required bool) docsField {
	out := docsField{Name: name}
	out.Text, _ = schema["description"].(string)
	out.Before, out.Link, out.After = typeText(schema)
	for _, limit := range [][2]string{{"minimum", "maximum"}, {"minItems", "maxItems"}, {"minLength", "maxLength"}} {
		if low, ok := schema[limit[0]]; ok {
			out.After += fmt.Sprintf(", %v to %v", low, schema[limit[1]])
		}
	}
	if !required {
		out.After += ", optional"
	}
	if out.Link == "" {
		out.Before += out.After
	}
	return out
}

// typeText describes a schema in words, with a link to another type if it has one.
func typeText(schema object) (before, link, after string) {
	if ref, ok := schema["$ref"].(string); ok {
		return "", path.Base(ref), ""
	}
	if items, ok := schema["items"].(object); ok {
		before, link, after = typeText(items)
		return "list of " + before, link, after
	}
	if one, ok := schema["oneOf"].([]object); ok {
		before, link, after = typeText(one[0])
		return before, link, after + " or null"
	}
	if choices, ok := schema["enum"].([]string); ok {
		return strings.Join(choices, ", "), "", ""
	}
	name, _ := schema["type"].(string)
	return cmp.Or(name, "anything"), "", ""
}

// example is a request to an address as it may be typed.
func example(e endpoint, address string) string {
	address += strings.NewReplacer("{index}", "3", "{file}", "map.svg", "{batch}", "BATCH", "{row}", "0").Replace(e.path)
	if text := examples[e.method+" "+strings.TrimPrefix(e.path, "/api/v1/")]; text != "" {
		if e.method == http.MethodGet {
			return "curl '" + address + text + "'"
		}
		if e.raw {
			return "curl '" + address + "?name=" + text + "' -H 'Content-Type: application/octet-stream' --data-binary @" + text
		}
		return "curl " + address + " -H 'Content-Type: application/json' -d '" + text + "'"
	}
	return "curl " + address
}

// examples are the queries and bodies of requests that need one.
var examples = map[string]string{
	"POST evaluate":    `{"graphs":[0,1,2,3]}`,
	"POST versus":      `{"other":"labels"}`,
	"POST trust":       `{"graphs":[0,1,2,3,4,5,6,7,8,9,10,11]}`,
	"POST stop":        `{}`,
	"POST upload":      "molecules.csv",
	"POST batch":       "molecules.smi",
	"GET member/{row}": "?batch=BATCH",
	"POST table":       `{"batch": "BATCH", "rows": [0], "format": "sdf"}`,
	"POST suggest":     `{"batch": "BATCH", "class": "steroid", "k": 1}`,
	"POST derive":      `{"name": "part", "graphs": [0, 1, 2, 3]}`,
	"POST target":      `{"name": "class of a drug", "check": true}`,
	"POST report":      `{"graphs": [3, 17], "text": "Two to look at."}`,
	"POST session":     `{"page": ""}`,
	"POST open":        "drugs-session.json",
	"POST graph":       `{"smiles": "CCO"}`,
	"POST read":        `{"name": "two.smi", "text": "CCO ethanol\nCCN ethylamine\n"}`,
	"GET kernel":       "?text=wl%20h=3%20",
	"GET colors":       "?by=error",
	"GET gram":         "?rows=0-9&columns=0-9",
	"GET neighbours":   "?smiles=CCO&k=3",
	"POST neighbours":  `{"graph": {"smiles": "CCO"}, "k": 3}`,
	"GET predict":      "?smiles=CCO",
	"POST predict":     `{"graphs": [{"smiles": "CCO"}, {"index": 3}], "kernel": "mlg radii=1,2,4"}`,
	"GET explain":      "?index=3",
	"POST explain":     `{"graph": {"smiles": "CCO"}}`,
	"GET compare":      "?a=3&b=CCO",
	"POST compare":     `{"a": {"index": 3}, "b": {"smiles": "CCO"}}`,
	"POST vertex":      `{"graph": {"index": 3}, "vertex": 0, "level": 1}`,
	"GET find":         "?smiles=c1ccccc1Cl",
	"POST export":      `{"graphs": [3, 17], "format": "csv"}`,
}
