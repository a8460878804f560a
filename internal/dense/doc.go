// Package dense is linear algebra on dense matrices, in row-major order unless a comment says
// otherwise: products, Cholesky factors, tridiagonal forms and eigenvectors.
//
// Products and factorisations have the same bits with and without assembly. Eigenvectors and
// singular values that gonum computes have not: the build tag noasm turns off gonum's assembly as
// well.
package dense
