package explorer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// object is a JSON object of the document.
type object = map[string]any

// statuses says what errors mean.
var statuses = map[int]string{
	400: "The request is wrong. The message says where.",
	401: "The server asks for a token, and the request has none.",
	429: "Too many requests from one address, or too many wrong tokens, at a time.",
	403: "The request comes from a page of another origin.",
	404: "The page, graph or collection does not exist.",
	408: "The body came too slowly.",
	413: "The body is too large.",
	415: "The Content-Type of the body is wrong.",
	421: "The Host header names another server.",
	422: "The request is correct, but there is no answer for these data or graphs.",
	503: "Too many computations are waiting. Retry-After says when to try again.",
}

func getDocument(q *request, _ *struct{}) (object, error) { return q.s.document, nil }

// document describes the API (OpenAPI 3.1). It follows from the endpoints and from the types of
// their requests and answers.
func document() object {
	s, paths := schemas{}, map[string]object{}
	for _, e := range endpoints {
		if paths[e.path] == nil {
			paths[e.path] = object{}
		}
		paths[e.path][strings.ToLower(e.method)] = s.operation(e)
	}
	errors := object{}
	for code, text := range statuses {
		errors[fmt.Sprint(code)] = object{"description": text, "content": s.content(reflect.TypeFor[errorAnswer]())}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "mlg explorer", "version": "1", "license": object{"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
			"description": "Similarity, predictions and explanations of graphs with the Multiscale Laplacian Graph kernel. The server writes nothing to disk. It keeps uploaded files in memory, as graphs. " +
				"A request without a kernel uses that of info, or the model as it was trained."},
		"servers":    []object{{"url": "/"}},
		"paths":      paths,
		"components": object{"schemas": s, "responses": errors},
	}
}

// schemas has the types that have names.
type schemas object

// operation describes an endpoint.
func (s schemas) operation(e endpoint) object {
	name := strings.TrimPrefix(e.path, "/api/v1/")
	name = name[:strings.IndexAny(name+"/", "/.")] // without a parameter or an extension
	out := object{"operationId": strings.ToLower(e.method) + "_" + name, "summary": e.summary}
	codes := append([]int{400, 401, 403, 421, 429}, e.errors...)
	if !e.global {
		codes = append(codes, 404)
	}
	if e.method == http.MethodPost {
		codes = append(codes, 408, 413, 415)
		body := s.content(e.request)
		if e.raw {
			body = object{"application/octet-stream": object{}}
		}
		out["requestBody"] = object{"required": true, "content": body}
	}
	out["parameters"] = s.parameters(e)
	responses := object{"200": object{"description": "The answer.", "content": s.content(e.answer)}}
	for _, code := range codes {
		responses[fmt.Sprint(code)] = object{"$ref": fmt.Sprintf("#/components/responses/%d", code)}
	}
	out["responses"] = responses
	return out
}

// content describes a body of a type.
func (s schemas) content(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != reflect.TypeFor[file]() {
		return object{"application/json": object{"schema": s.schema(t)}}
	}
	out := object{}
	for _, kind := range []string{"image/svg+xml", "image/png", "text/csv", "text/plain", "chemical/x-mdl-sdfile", "text/html", "application/octet-stream"} {
		out[kind] = object{"schema": object{"type": "string"}}
	}
	return out
}

// parameters describes the path and the query of an endpoint.
func (s schemas) parameters(e endpoint) []object {
	out := []object{}
	fields := queryFields(reflect.New(e.request).Elem())
	if e.method == http.MethodPost && !e.raw {
		fields = nil
	}
	if !e.global {
		fields = append(fields, field{name: sourceField, kind: reflect.TypeFor[string](),
			help: "collection that the request is about; by default the one given at the start"})
	}
	for _, f := range fields {
		p := object{"name": f.name, "in": "query", "required": false, "explode": false, "schema": s.field(f)}
		if strings.Contains(e.path, "{"+f.name+"}") {
			p["in"], p["required"] = "path", true
		}
		if e.raw && !f.optional {
			p["required"] = true
		}
		out = append(out, p)
	}
	return out
}

// jsonTypes are the types of JSON that have no parts.
var jsonTypes = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.String: "string", reflect.Float32: "number", reflect.Float64: "number",
	reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Uint64: "integer",
}

// schema describes a type.
func (s schemas) schema(t reflect.Type) object {
	if name := jsonTypes[t.Kind()]; name != "" {
		return object{"type": name}
	}
	switch t.Kind() {
	case reflect.Array:
		return object{"type": "array", "items": s.schema(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Pointer:
		return object{"oneOf": []object{s.schema(t.Elem()), {"type": "null"}}}
	case reflect.Slice:
		if t == reflect.TypeFor[json.RawMessage]() {
			return object{"type": "object", "description": "A graph as a line of Graph JSON Lines (docs/reference/formats.md)."}
		}
		return object{"type": "array", "items": s.schema(t.Elem())}
	case reflect.Map, reflect.Struct:
		if t == reflect.TypeFor[object]() {
			return object{"type": "object"}
		}
		if t.Name() == "" {
			return s.object(t)
		}
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if s[name] == nil {
			s[name] = s.object(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	return object{} // anything
}

// object describes what is an object in JSON.
func (s schemas) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	out := object{"type": "object", "properties": properties, "additionalProperties": false}
	if t == reflect.TypeFor[reference]() {
		out["description"] = "A graph. Give one of three: its position in the data, a molecule as SMILES, or Graph JSON."
		out["minProperties"], out["maxProperties"] = 1, 1
	}
	for _, f := range fieldsOf(t) {
		properties[f.name] = s.field(f)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	out["required"] = required
	return out
}

// field describes a field of a struct.
func (s schemas) field(f field) object {
	t := f.kind
	if t.Kind() == reflect.Pointer && f.optional {
		t = t.Elem() // it is there, or not, but not null
	}
	out := s.schema(t)
	if f.help != "" {
		out["description"] = f.help
	}
	if choices, ok := strings.CutPrefix(f.want, "one of "); ok {
		out["enum"] = strings.Fields(choices)
	}
	low, high, ranged := between(f.want)
	switch {
	case !ranged:
	case t == reflect.TypeFor[[]int](): // of every entry
		out["items"] = object{"type": "integer", "minimum": low, "maximum": high}
	case t.Kind() == reflect.Slice:
		out["minItems"], out["maxItems"] = low, high
	case t.Kind() == reflect.String:
		out["minLength"], out["maxLength"] = low, high
	default:
		out["minimum"], out["maximum"] = low, high
	}
	return out
}
