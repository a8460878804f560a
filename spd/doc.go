// Package spd compares many small symmetric positive definite matrices with one another. It
// is the inner loop of the MLG kernel: for covariances A and B it computes the
// Bhattacharyya kernel
//
//	k = |A|^¼ |B|^¼ / |½(A+B)|^½
//
// (docs/explanation/math.md, eq. 2), one factorisation of A+B for each pair.
//
// # Storage
//
// A packed matrix of order p is its lower triangle by rows: entry (i, j), j ≤ i, is at
// Index(i, j) = i(i+1)/2 + j of Size(p) numbers. AddGram makes one of its factor. A Batch holds
// many matrices for Cross and LogCross. A tile interleaves Lanes packed matrices for Dets, for
// callers who make up their own. Factors compares low-rank matrices through small determinants
// of the size of their rank.
//
// # What a value depends on
//
// The factorisation is S = U D⁻¹ Uᵀ with
//
//	u_rc = s_rc − Σ_{m<c} u_rm t_cm,   t_cm = u_cm·(1/d_m),   d_c = u_cc,
//
// where each term is subtracted by one fused multiply-add, in the order of m, and
// |S| = Π d_c, multiplied in the order of c. The operations on one matrix never depend on the
// matrices beside it. So a kernel value has the same bits in whatever rectangle, order or number
// of goroutines it is computed, and k(A,B) has the bits of k(B,A).
//
// The factorisation runs two matrices at a time by NEON instructions on arm64, and four or eight by
// AVX2 or AVX-512 instructions on amd64, if the processor has them. They do the same operations as
// the plain Go code, which the build tag noasm selects, and so give the same bits. Only a processor
// without fused multiply-adds rounds differently (dense.FMA). All this holds for the other
// functions here as well, except for the logarithms, which are math.Log's.
//
// Determinants are kept as a mantissa and an exponent, and
//
//	k = |2A|^¼ |2B|^¼ / |A+B|^½
//
// takes fourth roots that are computed once for a matrix. There is no overflow at any order, and
// no logarithm or exponential in k. The exact exponents cancel, so a value underflows only
// if k itself does. The last step adds a relative error of at most 5·2⁻⁵³. For A = B the error is 0,
// and k is exactly 1. A Batch takes matrices whose pivots and diagonal entries are within 2^±125.
//
// docs/explanation/spd.md says how this is done, and how fast it is.
package spd
