// Package worker answers requests of a parent process: it is the Go side of the Python package,
// which starts "mlg worker" and keeps it for many calls.
//
// # Frames
//
// Requests come on standard input, and answers go to standard output, one answer to each request
// in order. Both are frames:
//
//	uint32  length of the header in bytes
//	uint64  length of the body in bytes
//	header  a JSON object
//	body    arrays, little-endian
//
// A large body may stand in a file of the folder that both sides share, if that has room. The field
// "file" of the header then has its name without a path, and the receiver removes the file.
//
// The header of a request has the operation ("op"), arguments ("args"), the handle of what it is about
// ("handle") and handles to forget ("release"). The header of an answer has a result, or an error with
// its kind and what it is about, such as a parameter or a place in the text of a kernel (wrong.go). It says
// which arrays the body holds. If the request asks for it ("progress"), frames that
// tell how far the work has come precede the answer.
//
// Graphs travel as a batch (graph.Encode), which is the body of a request.
//
// # Life
//
// Fitted kernels and models stay under a handle until they are released. The worker holds
// no state that the parent could not make again, so it may be killed at any time. It
// ends when its input does, also in the middle of a computation, and removes the folder.
package worker
