// Package explorer is the server behind mlg serve: a page that shows a collection of graphs
// under the multiscale kernel, and the JSON API that the page is made with.
//
// A Source is a dataset or a model. Every set of parameters is a session: a fitted kernel
// with what follows from it (Gram matrix, maps, learner, cross-validation), each part
// computed when it is first asked for, once, and kept while the session is among the last
// ones used. Parts wait in a bounded queue, report progress, and are cancelled when nobody
// waits for them any more.
//
// The server writes nothing, and no part of a request names a file: the page is embedded,
// graphs come from the source or from the body of the request. docs/explorer.md describes
// the page, the API and the limits.
package explorer
