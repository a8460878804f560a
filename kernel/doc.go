// Package kernel says what a graph kernel is, how it is written down, and how kernels make
// others.
//
// A kernel is a struct whose exported fields are all the parameters that change a value. Its text
// (language.go), help and forms in the browser are derived from the fields and their tags (package
// param), so a new parameter is one new field. What only changes how a computation is carried out,
// such as the number of goroutines, travels in the context (Work).
//
// A [Sum] is a weighted sum of products of kernels,
//
//	k(G, H) = Σ_t weight_t · Π_j k_tj(G, H).
//
// A [Collection] fits kernels to graphs, each distinct kernel once.
package kernel
