// Package mlg compares graphs at every scale at once: it computes the Multiscale
// Laplacian Graph (MLG) kernel of Kondor and Pan (2016) and its relatives.
package mlg
