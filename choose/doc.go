// Package choose finds the kernel to learn from, and the parameter of the learner, by
// cross-validation. It scores kernels on training graphs and weighs sums of kernels.
//
//	candidates := choose.DefaultCandidates(dataset.Info(ds))
//	o := choose.DefaultOptions()
//	o.ForCandidates()
//	plan, err := choose.Choose(ctx, ds, candidates, o)
//
// # Terms
//
//	Candidate     a named family of kernels; each of its Settings is one of them
//	grid          the values of the learner's parameter: C, or the ridge
//	TrainingPart  the graphs outside one fold, or all
//	validator     a fold of a training part whose predictions are scored
//	Scores        what the validators say about one kernel on one training part
//	Combination   a way to use many kernels together; weights are learned on a training part
//	Plan          what was chosen for all graphs: kernels with weights, and the parameter
//
// Choose does this with all graphs. Package evaluate does it with the training part of every
// fold of a cross-validation, and so measures how good the choice is. Results do not depend on the
// number of workers. docs/explanation/evaluation.md has the formulas.
package choose
