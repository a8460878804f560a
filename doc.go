// Package mlg compares graphs at every scale at once: it computes the Multiscale
// Laplacian Graph (MLG) kernel of Kondor and Pan (2016) and its relatives.
//
// A kernel gives two graphs a similarity between 0 and 1. Learners that work with dot products, such
// as those of package learn, then work on graphs. The MLG kernel compares vertices by a kernel on
// vertices (such as equal labels), small neighbourhoods by their vertices, larger neighbourhoods by the
// smaller ones, and at last whole graphs.
//
// From graphs to predictions:
//
//	ds, err := dataset.Read(ctx, "molecules.csv", dataset.DefaultOptions())
//	k, err := kernel.Parse("0.5 mlg + 0.5 wl h=3") // with package classic imported
//	m, plan, err := model.Learn(ctx, ds, choose.Each(k), model.DefaultLearnOptions())
//	fmt.Println(plan.Estimate) // how good it is on graphs that were left out
//	err = model.Write(ctx, "molecules.mlg", m)
//
//	m, err = model.Read("molecules.mlg")
//	predictions, err := m.Predict(ctx, graphs, model.DefaultPredictOptions())
//
// With choose.DefaultCandidates in place of choose.Each, Learn weighs a list of kernels. Kernel
// matrices alone:
//
//	fitted, err := kernel.Fit(ctx, k, ds.Graphs)
//	gram, err := fitted.Gram(ctx)           // the graphs with each other
//	cross, err := fitted.Cross(ctx, others) // new graphs with them
//
// # Which kernel
//
// [Kernel] holds all parameters; start from [Default], which has those of the paper. Package vertex has
// the kernels on vertices, written as texts such as "labels * gaussian".
//
//   - [Kernel] is the low-rank method of the paper. It samples landmark vertices at every level
//     and keeps the leading directions. Fitting takes time and memory in proportion to the
//     graphs, and a pair of graphs takes a factorisation of order Rank. This is the one to use.
//   - [NewExact] follows the definition without sampling or truncation, for small collections
//     and for checking. It estimates how accurate its values are, and refuses parameters for
//     which float64 is not accurate enough.
//   - [FLG] and [LG] compare two graphs by given vertex features, or by the numbers of their
//     vertices. With no Radii, these give the FLG kernel of the kernel on vertices.
//
// # Results
//
// A fitted [LowRank] gives a graph the same features whether it was in training or not. Equal
// seeds give equal bits for any number of workers, with assembly or without, and whatever other
// graphs are in the call. The low-rank kernel has the same bits on all processors with fused
// multiply-adds. Values do not depend on the order of vertices, except through the sample of
// landmarks. Two graphs that the kernel cannot tell apart have exactly 1.
//
// Functions that take a while have a context, and stop with its error. Nothing here prints,
// reads the clock, or draws from a global source of random numbers.
//
// docs/explanation/math.md has the definitions, with the functions that compute them.
// docs/explanation/architecture.md follows a graph through the packages.
package mlg
