package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/mlgkernel/mlg/param"
	"github.com/mlgkernel/mlg/work"
)

// apiError is an answer that is no result.
type apiError struct {
	status  int
	message string
	field   string // what of the request is wrong, "" for nothing in particular
}

func (e *apiError) Error() string { return e.message }

func badRequest(field, format string, args ...any) error {
	return &apiError{http.StatusBadRequest, fmt.Sprintf(format, args...), field}
}

func notFound(field, format string, args ...any) error {
	return &apiError{http.StatusNotFound, fmt.Sprintf(format, args...), field}
}

// cannot says that a request is understood, but has no answer for these graphs.
func cannot(format string, args ...any) error {
	return &apiError{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...), ""}
}

// textError is about a place in the text of a kernel.
type textError struct {
	apiError
	position *int // characters before the place, nil for none
}

func (e *textError) Unwrap() error { return &e.apiError }

// within says that the field that an error names is part of another.
func within(part string, err error) error {
	var a *apiError
	if part == "" || !errors.As(err, &a) || a.field == "" {
		return err
	}
	return &apiError{a.status, a.message, part + "." + a.field}
}

// fieldError makes an error of param.Check one of a field.
func fieldError(err error) *apiError {
	out := &apiError{http.StatusBadRequest, err.Error(), ""}
	var wrong *param.Error
	if errors.As(err, &wrong) {
		out.field = wrong.Name
	}
	return out
}

// errBusy asks to try again.
var errBusy error = &apiError{http.StatusServiceUnavailable, "too many computations are waiting; try again in a moment", ""}

// asRequestError makes an error of the library, which speaks of graphs and parameters that
// the client chose, an answer.
func asRequestError(ctx context.Context, err error) error {
	var a *apiError
	if err == nil || ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.As(err, &a) {
		return err
	}
	return cannot("%v", err)
}

// errorAnswer is what is sent for an error.
type errorAnswer struct {
	Error struct {
		Status   int    `json:"status"`
		Message  string `json:"message"`
		Field    string `json:"field" help:"what of the request is wrong, as in smiles, kernel or graphs[2].index; empty for nothing in particular"`
		Position *int   `json:"position" help:"where the text of a kernel is wrong, in characters from 0; null for other errors"`
	} `json:"error"`
}

// writeError answers with an error and returns its status.
func writeError(w http.ResponseWriter, err error) int {
	a := &apiError{http.StatusInternalServerError, "internal error", ""}
	if !errors.As(err, &a) && errors.Is(err, context.Canceled) {
		a = &apiError{499, "cancelled", ""} // nobody reads it
	}
	if a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	var out errorAnswer
	out.Error.Status, out.Error.Message, out.Error.Field = a.status, a.message, a.field
	if text := (*textError)(nil); errors.As(err, &text) {
		out.Error.Position = text.position
	}
	writeJSON(w, a.status, out)
	return a.status
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // a number that is not finite
		status, b = http.StatusInternalServerError, []byte(`{"error":{"status":500,"message":"the result cannot be written"}}`)
	}
	send(w, status, "application/json", b)
}

func send(w http.ResponseWriter, status int, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	w.Write(data)
}

// endpoint is an operation of the API. Its document (openapi.go) follows from the types of its
// request and answer; errors are further ones that it may answer with.
type endpoint struct {
	method, path, summary string
	errors                []int
	request, answer       reflect.Type
	run                   func(q *request) (any, error)
	global                bool // it is about the server, not about a source
	raw                   bool // the body is a file, and the request in the query
}

// global is about the server itself.
func global(e endpoint) endpoint {
	e.global = true
	return e
}

// raw has a file as its body.
func raw(e endpoint) endpoint {
	e.raw = true
	return e
}

// operation returns the endpoint that f answers. A request is read from path and query, or from
// the body of a POST.
func operation[In, Out any](method, path, summary string, errors []int, f func(q *request, in *In) (Out, error)) endpoint {
	e := endpoint{method: method, path: "/api/v1/" + path, summary: summary, errors: errors,
		request: reflect.TypeFor[In](), answer: reflect.TypeFor[Out]()}
	e.run = func(q *request) (any, error) {
		in := new(In)
		if err := q.read(reflect.ValueOf(in).Elem()); err != nil {
			return nil, err
		}
		return f(q, in)
	}
	return e
}

// kernelRequest chooses a kernel.
type kernelRequest struct {
	Kernel string `json:"kernel,omitempty" want:"0 to 1000" help:"the text of a kernel, as in wl h=3 or 0.5 mlg + 0.5 sp, or chosen for what mlg train would choose; without it that of info, or the model as it was trained"`
}

func (r kernelRequest) chosen() string { return r.Kernel }

// on answers requests that choose a kernel. get is a long computation: it makes the object that a
// request needs. f is a short one: it makes the answer from that object.
func on[T, Out any, In interface{ chosen() string }](
	get func(x *session, ctx context.Context) (T, error), f func(ctx context.Context, x *session, v T, in *In) (Out, error),
) func(q *request, in *In) (Out, error) {
	return func(q *request, in *In) (out Out, err error) {
		x, err := q.s.session((*in).chosen())
		if err != nil {
			return out, err
		}
		v, err := get(x, q.Context())
		if err != nil {
			return out, err
		}
		return short(q, func(ctx context.Context) (Out, error) { return f(ctx, x, v, in) })
	}
}

// computing are the errors of what computes, beyond those that every operation has.
var computing = []int{422, 503}

var endpoints = []endpoint{
	global(operation("GET", "health", "Whether the server is running, and how busy it is", nil, getHealth)),
	global(operation("GET", "openapi.json", "This document", nil, getDocument)),
	global(operation("GET", "sources", "All collections: first the one given at the start, then uploaded files", nil, getSources)),
	raw(global(operation("POST", "upload", "Reads a file with graphs from the body, and keeps it as a collection", []int{422, 503}, postUpload))),
	operation("GET", "info", "What the collection has: sizes, classes, kernels, limits", nil, getInfo),
	operation("GET", "kernel", "A text of a kernel: what it means, what may follow in it, or what is wrong with it", nil, getKernel),
	operation("GET", "chosen", "The kernels that mlg train would choose for the data, which takes a while; then they are the kernel of requests with kernel=chosen", computing, getChosen),
	operation("GET", "graphs", "All graphs: identifiers, targets, sizes", nil, getGraphs),
	operation("GET", "graph/{index}", "A graph with its drawing", []int{503}, getGraph),
	operation("POST", "graph", "Any graph with its drawing", []int{503}, postGraph),
	operation("POST", "read", "Reads the text of a file with graphs", []int{503}, postRead),
	operation("GET", "map", "Positions of all graphs on both maps", computing, getMap),
	operation("GET", "colors", "A class or a value of every graph, to colour the map by", computing, getColors),
	operation("GET", "columns", "The columns of the data: the values beside the graphs", nil, getColumns),
	operation("GET", "matrix", "The Gram matrix as a picture", computing, on((*session).ordered, getMatrix)),
	operation("GET", "gram", "A block of the Gram matrix", computing, on((*session).fitted, getGram)),
	operation("GET", "evaluate", "How good predictions are: what the file of a model says, or cross-validation beside the majority class and the label histogram", computing, getEvaluate),
	operation("POST", "evaluate", "The same about some of the graphs, without baselines of others", computing, postEvaluate),
	operation("POST", "versus", "The model compared with another: their predictions of the same graphs, which neither had seen", computing, postVersus),
	operation("GET", "trust", "How far predictions can be trusted: coverage of intervals, reliability of probabilities, ROC and precision-recall, error against likeness", computing, getTrust),
	operation("POST", "trust", "The same about some of the graphs", computing, postTrust),
	operation("GET", "structure", "What the data consist of: clusters, scaffolds, duplicates and activity cliffs", computing, on((*session).structured, getStructure)),
	operation("GET", "outliers", "Graphs that a learner which has not seen them cannot explain", computing, on((*session).outlying, getOutliers)),
	operation("GET", "progress", "What the server computes for a kernel at the moment", nil, getProgress),
	global(operation("POST", "stop", "Stops computations that nobody waits for any more, which else go on for some seconds", nil, postStop)),
	operation("GET", "neighbours", "Most similar graphs", computing, on((*session).fitted, findNeighbours)),
	operation("POST", "neighbours", "Most similar graphs", computing, on((*session).fitted, findNeighbours)),
	operation("GET", "predict", "Prediction for one graph", computing, predict),
	operation("POST", "predict", "Predictions for graphs, in their order", computing, predict),
	raw(operation("POST", "batch", "Reads a file with many new graphs from the body, to be predicted", []int{422, 503}, postBatch)),
	operation("GET", "batch/{batch}", "Predictions for the graphs of a batch, as a table", computing, getBatch),
	operation("GET", "member/{row}", "A graph of a batch with its drawing", []int{503}, getBatchGraph),
	operation("POST", "suggest", "What to measure next: graphs of a batch, or of the data", computing, postSuggest),
	operation("POST", "target", "Makes other data: the same graphs with a column as their targets", nil, postTarget),
	operation("POST", "derive", "Makes other data: some of the graphs, with values that were measured since", nil, postDerive),
	operation("POST", "report", "The map, the figures, what was selected and what was noted, as one HTML file", computing, postReport),
	operation("POST", "session", "The data, the model and the state of the page as one file", nil, postSession),
	raw(global(operation("POST", "open", "Opens a session that was kept as a file", []int{503}, postOpen))),
	operation("POST", "table", "Some rows of a batch as CSV or SDF", computing, postBatchExport),
	operation("GET", "explain", "What each vertex contributes to a prediction", computing, postExplain),
	operation("POST", "explain", "What each vertex contributes to a prediction", computing, postExplain),
	operation("GET", "compare", "Two graphs compared at each scale, with their vertices matched", computing, getCompare),
	operation("POST", "compare", "Two graphs compared at each scale, with their vertices matched", computing, on((*session).fitted, compare)),
	operation("POST", "vertex", "The neighbourhood of a vertex at a scale, and similar vertices", computing, postVertex),
	operation("GET", "find", "Graphs by name, class or fragment", computing, getFind),
	operation("POST", "export", "Some of the graphs as a table, as SMILES or as Graph JSON Lines", computing, postExport),
	operation("GET", "download/{file}", "A picture, a table or the model as a file", computing, getDownload),
}

// handler answers requests for the page and the endpoints, with all checks; what is none of them,
// net/http refuses.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", servePage)
	mux.HandleFunc("GET /{file}", servePage)
	mux.HandleFunc("GET /docs", s.serveDocs)
	mux.HandleFunc("GET /docs.css", serveDocsStyle)
	for _, e := range endpoints {
		mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serveEndpoint(e, w, r) })
	}
	return s.guard(mux)
}

// request is a request that is being answered.
type request struct {
	*http.Request
	e endpoint
	s *source // that the request means, the one given at the start for those that mean none
	w http.ResponseWriter
}

// file is an answer that is not JSON.
type file struct {
	kind, name string // name to save it under
	data       []byte
}

func (s *Server) serveEndpoint(e endpoint, w http.ResponseWriter, r *http.Request) {
	answer, err := safely(r.Context(), func(context.Context) (any, error) {
		src, err := s.meant(e, r)
		if err != nil {
			return nil, err
		}
		return e.run(&request{r, e, src, w})
	})
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.WriteTimeout)) // the computation took its own time
	if err != nil {
		if status := writeError(w, err); status == http.StatusInternalServerError && s.o.Log != nil {
			s.o.Log("%s %s: %v", e.method, e.path, err)
		}
		return
	}
	if f, ok := answer.(*file); ok {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
		send(w, http.StatusOK, f.kind, f.data)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// short runs a short computation in its queue, in one goroutine: as many run as there are cores.
func short[T any](q *request, answer func(ctx context.Context) (T, error)) (T, error) {
	var none T
	if err := q.s.light.enter(q.Context()); err != nil {
		return none, err
	}
	defer q.s.light.leave()
	ctx, cancel := context.WithTimeout(work.WithWorkers(q.Context(), 1), q.s.o.ShortTimeout)
	defer cancel()
	v, err := answer(ctx)
	switch {
	case err == nil:
		return v, nil
	case q.Context().Err() == nil && ctx.Err() != nil:
		return none, cannot("the computation takes longer than %v", q.s.o.ShortTimeout)
	}
	return none, asRequestError(q.Context(), err)
}
