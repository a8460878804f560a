package explorer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

// apiError is an answer that is no result.
type apiError struct {
	status  int
	message string
}

func (e *apiError) Error() string { return e.message }

func badRequest(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &apiError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// asRequestError makes an error of the library, which speaks of graphs and parameters that
// the client chose, an answer.
func asRequestError(ctx context.Context, err error) error {
	var a *apiError
	if ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.As(err, &a) {
		return err
	}
	return &apiError{http.StatusUnprocessableEntity, err.Error()}
}

// statusClientGone is written when nobody reads the answer.
const statusClientGone = 499

// writeError answers with an error and returns its status.
func writeError(w http.ResponseWriter, err error) int {
	status, message := http.StatusInternalServerError, "internal error"
	var a *apiError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &a):
		status, message = a.status, a.message
	case errors.Is(err, errBusy):
		status, message = http.StatusServiceUnavailable, err.Error()
		w.Header().Set("Retry-After", "1")
	case errors.As(err, &large):
		status, message = http.StatusRequestEntityTooLarge, fmt.Sprintf("the request has more than %d bytes", large.Limit)
	case errors.Is(err, context.Canceled):
		status, message = statusClientGone, "cancelled"
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"status": status, "message": message}})
	return status
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // a number that is not finite
		status, b = http.StatusInternalServerError, []byte(`{"error":{"status":500,"message":"the result cannot be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}

// endpoint is a path of the API with what answers it.
type endpoint struct {
	method, path string
	query        []string // names that a query may have, beside parameters
	params       bool     // kernel parameters may be given
	answer       func(*Server, *request) (any, error)
}

// request is a checked request.
type request struct {
	*http.Request
	s     *Server
	query map[string]string
	// x is the session of the parameters in the query.
	x *session
	w http.ResponseWriter
}

// raw is an answer that is not JSON.
type raw struct {
	kind, name string // name of the file to save it under
	data       []byte
}

var endpoints = []endpoint{
	{"GET", "/api/v1/health", nil, false, (*Server).getHealth},
	{"GET", "/api/v1/info", nil, false, (*Server).getInfo},
	{"GET", "/api/v1/graphs", nil, false, (*Server).getGraphs},
	{"GET", "/api/v1/graph/{index}", nil, false, (*Server).getGraph},
	{"POST", "/api/v1/graph", nil, false, (*Server).postGraph},
	{"POST", "/api/v1/read", nil, false, (*Server).postRead},
	{"GET", "/api/v1/map", nil, true, (*Server).getMap},
	{"GET", "/api/v1/matrix", []string{"cells"}, true, (*Server).getMatrix},
	{"GET", "/api/v1/gram", []string{"rows", "columns"}, true, (*Server).getGram},
	{"GET", "/api/v1/evaluate", nil, true, (*Server).getEvaluate},
	{"GET", "/api/v1/progress", nil, true, (*Server).getProgress},
	{"GET", "/api/v1/neighbours", []string{"index", "smiles", "k"}, true, (*Server).getNeighbours},
	{"POST", "/api/v1/neighbours", nil, false, (*Server).postNeighbours},
	{"GET", "/api/v1/predict", []string{"index", "smiles", "k"}, true, (*Server).getPredict},
	{"POST", "/api/v1/predict", nil, false, (*Server).postPredict},
	{"POST", "/api/v1/explain", nil, false, (*Server).postExplain},
	{"POST", "/api/v1/compare", nil, false, (*Server).postCompare},
	{"POST", "/api/v1/vertex", nil, false, (*Server).postVertex},
	{"GET", "/api/v1/download/{file}", []string{"layout", "index", "smiles"}, true, (*Server).getDownload},
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("/", s.servePage)
	s.mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(openAPI)
	})
	allowed := map[string][]string{}
	for _, e := range endpoints {
		s.mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serveEndpoint(e, w, r) })
		allowed[e.path] = append(allowed[e.path], e.method)
	}
	allowed["/api/v1/openapi.json"] = []string{"GET"}
	for path, methods := range allowed {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			list := strings.Join(methods, ", ")
			w.Header().Set("Allow", list)
			writeError(w, &apiError{http.StatusMethodNotAllowed, "want " + list})
		})
	}
}

func (s *Server) serveEndpoint(e endpoint, w http.ResponseWriter, r *http.Request) {
	q := &request{Request: r, s: s, query: map[string]string{}, w: w}
	answer, err := safely(r.Context(), func(context.Context) (any, error) {
		if err := q.readQuery(e); err != nil {
			return nil, err
		}
		return e.answer(s, q)
	})
	if err != nil {
		if status := writeError(w, err); status == http.StatusInternalServerError && s.o.Log != nil {
			s.o.Log("%s %s: %v", e.method, e.path, err)
		}
		return
	}
	switch v := answer.(type) {
	case raw:
		w.Header().Set("Content-Type", v.kind)
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": v.name}))
		w.Header().Set("Content-Length", strconv.Itoa(len(v.data)))
		w.Write(v.data)
	default:
		writeJSON(w, http.StatusOK, v)
	}
}

// readQuery refuses names that the endpoint does not know, and finds the session.
func (q *request) readQuery(e endpoint) error {
	values := q.URL.Query()
	for name, list := range values {
		if !slices.Contains(e.query, name) && !(e.params && slices.Contains(parameterNames, name)) {
			return badRequest("query: %q is not known here", name)
		}
		if len(list) > 1 {
			return badRequest("query: %q is given more than once", name)
		}
		q.query[name] = list[0]
	}
	if !e.params {
		return nil
	}
	p := q.s.src.defaults()
	given, err := p.fromQuery(values)
	if err != nil {
		return err
	}
	if e.path == "/api/v1/progress" { // must not start or touch anything
		q.x = q.s.lookup(p, !given && q.s.src.Model != nil)
		return nil
	}
	q.x, err = q.s.session(p, !given && q.s.src.Model != nil)
	return err
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

func bodyError(err error) error {
	var large *http.MaxBytesError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &large):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return &apiError{http.StatusRequestTimeout, "the body of the request came too slowly"}
	case errors.Is(err, io.EOF):
		return badRequest("body: empty, want a JSON object")
	}
	return badRequest("body: %s", jsonMessage(err))
}

// jsonMessage says what is wrong with JSON without naming types of this program.
func jsonMessage(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Sprintf("%s is a %s, want %s", cmp.Or(kind.Field, "it"), kind.Value, jsonKind(kind.Type.Kind()))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
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

// bodySession returns the session of the parameters in a body: nil means the defaults, or the
// model as it is.
func (s *Server) bodySession(params json.RawMessage) (*session, error) {
	p := s.src.defaults()
	if params == nil || string(params) == "null" {
		return s.session(p, s.src.Model != nil)
	}
	d := json.NewDecoder(strings.NewReader(string(params)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, badRequest("parameters: %s", jsonMessage(err))
	}
	return s.session(p, false)
}

// Limits of graphs in requests.
const (
	maxSMILES   = 4000
	maxVertices = 5000
	maxEdges    = 50000
	maxRead     = 1000 // graphs of a file
	maxBatch    = 1000 // graphs of a prediction
	maxNearest  = 1000
)

// reference names a graph in a request: one of the source, or one that the request holds.
type reference struct {
	Index  *int            `json:"index,omitempty"`
	SMILES *string         `json:"smiles,omitempty"`
	Graph  json.RawMessage `json:"graph,omitempty"`
}

// resolve returns the graph, and its position in the source or −1.
func (s *Server) resolve(r reference) (*graph.Graph, int, error) {
	given := 0
	for _, b := range []bool{r.Index != nil, r.SMILES != nil, r.Graph != nil} {
		if b {
			given++
		}
	}
	if given != 1 {
		return nil, -1, badRequest("a graph is given by one of index, smiles and graph; %d of them are there", given)
	}
	if r.Index != nil {
		g, err := s.src.graph(*r.Index)
		return g, *r.Index, err
	}
	o := s.src.Read
	o.Limits.Vertices, o.Limits.Edges = maxVertices, maxEdges
	var g *graph.Graph
	var err error
	if r.SMILES != nil {
		text := strings.TrimSpace(*r.SMILES)
		if text == "" {
			return nil, -1, badRequest("smiles: empty, want a molecule")
		}
		if len(text) > maxSMILES {
			return nil, -1, badRequest("smiles: %d bytes, want at most %d", len(text), maxSMILES)
		}
		if g, err = dataset.ParseSMILES(text, o); err != nil {
			return nil, -1, badRequest("smiles: %v", err)
		}
		g = g.With(text, "")
	} else {
		o.Format = dataset.JSONLines
		ds, err := dataset.ReadFrom(context.Background(), strings.NewReader(string(r.Graph)), "graph", o)
		if err != nil {
			return nil, -1, badRequest("graph: %v", err)
		}
		if len(ds.Graphs) != 1 {
			return nil, -1, badRequest("graph: %d graphs, want one", len(ds.Graphs))
		}
		g = ds.Graphs[0]
	}
	g, err = s.prepare(g)
	return g, -1, err
}

// prepare gives a new graph the weights that the source has and checks its size.
func (s *Server) prepare(g *graph.Graph) (*graph.Graph, error) {
	if g.N() > maxVertices || g.M() > maxEdges {
		return nil, badRequest("a graph of %d vertices and %d edges, want at most %d and %d", g.N(), g.M(), maxVertices, maxEdges)
	}
	if g.N() == 0 {
		return nil, badRequest("a graph without vertices")
	}
	w, err := s.src.Weight.Apply(g)
	if err != nil {
		return nil, badRequest("%v", err)
	}
	return w, nil
}

// short runs a short computation in its queue.
func short[T any](q *request, work func(ctx context.Context) (T, error)) (T, error) {
	if err := q.s.light.enter(q.Context()); err != nil {
		var zero T
		return zero, err
	}
	defer q.s.light.leave()
	ctx, cancel := context.WithTimeout(q.Context(), q.s.o.ShortTimeout)
	defer cancel()
	v, err := work(ctx)
	switch {
	case err == nil:
	case q.Context().Err() == nil && ctx.Err() != nil:
		err = &apiError{http.StatusUnprocessableEntity, fmt.Sprintf("the computation takes longer than %v", q.s.o.ShortTimeout)}
	default:
		err = asRequestError(q.Context(), err)
	}
	return v, err
}

// number reads an integer of the query; without it the value is otherwise.
func (q *request) number(name string, otherwise, low, high int) (int, error) {
	text, ok := q.query[name]
	if !ok {
		return otherwise, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < low || v > high {
		return 0, badRequest("query: %s=%q, want a number from %d to %d", name, text, low, high)
	}
	return v, nil
}

// queried returns the graph that index or smiles in the query name.
func (q *request) queried() (reference, error) {
	var r reference
	if text, ok := q.query["index"]; ok {
		i, err := strconv.Atoi(text)
		if err != nil {
			return r, badRequest("query: index=%q, want a number", text)
		}
		r.Index = &i
	}
	if text, ok := q.query["smiles"]; ok {
		r.SMILES = &text
	}
	return r, nil
}
