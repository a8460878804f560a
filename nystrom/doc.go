// Package nystrom gives graphs explicit vectors whose inner products approximate their kernel,
//
//	φ(G)·φ(H) ≈ k(G, H),
//
// so that linear methods, vector databases and plain arithmetic can stand in for a Gram
// matrix that would be too large.
//
// It is the Nyström approximation. With landmark graphs Z₁, …, Z_d, K their Gram matrix, K =
// L Lᵀ its Cholesky factorisation and k_Z(G) = (k(G, Z₁), …, k(G, Z_d)),
//
//	φ(G) = L⁻¹ k_Z(G),   φ(G)·φ(H) = k_Z(G)ᵀ K⁻¹ k_Z(H):
//
// the projection of the feature vector of G on the span of those of the landmarks. It is exact
// where G or H is a landmark. The landmarks are chosen by pivoted Cholesky factorisation
// among candidate graphs: one after the other, by how badly those so far represent each. So
// the first c coordinates are the vectors of dimension c.
//
// What is lost is known: the residual k(G,G) − |φ(G)|² ≥ 0 of a graph is its squared distance
// from the span, and the error of a kernel value is at most the geometric mean of the two
// residuals (Cauchy-Schwarz). Errors reports both.
//
// Choose is the algorithm, for any kernel of which rows can be computed. An Embedding applies it
// to the records of package store.
package nystrom
