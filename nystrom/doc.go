// Package nystrom gives graphs explicit vectors whose inner products approximate their kernel,
//
//	φ(G)·φ(H) ≈ k(G, H),
//
// so that linear methods, vector databases and plain arithmetic can stand in for a Gram
// matrix that would be too large.
//
// It is the Nyström approximation. Let Z₁, …, Z_d be landmark graphs, K their Gram matrix, K = L Lᵀ
// its Cholesky factorisation and k_Z(G) = (k(G, Z₁), …, k(G, Z_d)). Then
//
//	φ(G) = L⁻¹ k_Z(G),   φ(G)·φ(H) = k_Z(G)ᵀ K⁻¹ k_Z(H)
//
// is the projection of the feature vector of G on the span of those of the landmarks. It is exact
// where G or H is a landmark. Pivoted Cholesky factorisation chooses the landmarks among candidate
// graphs, one after the other: the next is the one that those so far represent worst. So the first c
// coordinates are the vectors of dimension c.
//
// What is lost is known. The residual k(G,G) − |φ(G)|² ≥ 0 of a graph is its squared distance
// from the span. The error of a kernel value is at most the geometric mean of the two
// residuals (Cauchy-Schwarz). Residuals reports both.
//
// Choose is the algorithm, for any kernel of which rows can be computed. An Embedding applies it to the
// features of any fitted kernel (kernel.Map).
package nystrom
