// Package learn learns from a kernel matrix: support vector machines for classes and for
// numbers, kernel ridge regression, and Gaussian processes.
//
// Every learner sees the training examples through their Gram matrix K, K_kl = k(x_k, x_l),
// and a new example x through its row of kernel values k(x, x_k). A View is such a matrix or
// some rows and columns of one, so that the folds of a cross-validation share one matrix.
//
//	Train, TrainPath    C-SVC, ε-SVR, or kernel ridge for classes and values, for one parameter or many
//	RidgeSolver         kernel ridge for many examples, by conjugate gradients on a Triangle
//	Learner.Deviations  deviations of kernel ridge regression on values, which is a Gaussian process
//	Learner.Posterior   what the process says of several examples together, and draws from it
//	Clip                makes an indefinite K positive semi-definite
//
// They return a Learner, or its Functions: sums over training examples, Σ_k coefficient_k·k(x, x_k) +
// bias. Their terms are exported, so that they can be stored and explained.
//
// Everything depends only on its arguments: the same matrix, options and seed give the same bits for
// any number of goroutines. Kernel ridge regression and Learner.Deviations use the goroutines of the
// context, the rest one. Functions and their values have the same bits on all processors with fused
// multiply-adds. Probabilities and deviations may differ in the last digits, because Go computes
// logarithms and exponentials differently on each architecture. A Gram matrix must be symmetric; no
// function checks it.
//
// docs/explanation/learners.md states the problems, the algorithm and what was measured.
package learn
