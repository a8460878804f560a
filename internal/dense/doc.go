// Package dense is linear algebra on dense matrices: products, Cholesky factors, tridiagonal forms
// and eigenvectors. Matrices are in row-major order unless a comment says otherwise.
//
// Everything has the same bits with and without assembly, on amd64 and arm64, except singular values,
// which are gonum's. A conversion float64(x*y) + z keeps the compiler from fusing the product with the
// sum, which it does on some machines.
package dense
