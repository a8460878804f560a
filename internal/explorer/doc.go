// Package explorer is the server behind mlg serve: a page that shows a collection of graphs
// under the multiscale kernel, and the JSON API that the page is made with.
//
// Data is a dataset or a model. The server has the one given at the start and those that are uploaded; each is
// a source, which requests name (source.go, upload.go, load.go). Every set of parameters of a source is a
// session: a fitted kernel with what follows from it (Gram matrix, maps, learner, cross-validation), each result
// computed when it is first asked for, once, and kept while the session is among the last
// ones used. Computations wait in a bounded queue, report progress, and are cancelled when
// nobody waits for them any more.
//
// A request is a struct, as is an answer: what is read, checked, answered and documented
// follows from their fields and tags (request.go, openapi.go), and what may be said of the
// kernel from those of its record (kernels.go).
//
// The server writes nothing, and nothing in a request names a file: the page is embedded,
// graphs come from the data, from the request or from an upload, which is kept in memory as graphs.
// docs/howto/explorer.md describes the page, the API and the limits.
package explorer
