// Package explorer is the server behind mlg serve: a page that shows a collection of graphs
// under a kernel, and the JSON API that the page is made with.
//
// Data is a dataset or a model. The server has those given at the start, those that are uploaded, and
// those that are derived: parts, and data with values that were measured since. Each is a source, which requests
// name, and which never changes (source.go, upload.go, load.go, derive.go). A session of the page is
// a file with a source in it (keep.go).
//
// Every kernel of a source is a session: the fitted kernel with what follows from it (Gram
// matrix, maps, learner, cross-validation). Each result is computed once, when it is first asked for,
// and kept while the session is among the last ones used. Computations wait in a bounded queue,
// report progress, and are cancelled when nobody waits for them any more.
//
// Requests and answers are structs. What is read, checked, answered and documented follows from
// their fields and tags (request.go, openapi.go). A kernel is a text, which package kernel reads. The
// page asks what a text means, and has no parser of its own (kernels.go).
//
// The server writes nothing, and nothing in a request names a file. The page is embedded. Graphs
// come from the data, from the request, or from an upload, which is kept in memory as graphs.
// docs/howto/explorer.md describes the page, docs/reference/http-api.md the API and the limits.
package explorer
