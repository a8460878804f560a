// Package evaluate measures how well graph kernels classify or predict, honestly: kernel
// parameters, the parameter of the learner and the weights of combined kernels are chosen
// anew on the training part of every fold, kernels never get a target, and every figure
// stands beside the majority class and the kernel of label histograms.
//
//	info := dataset.Info(ds)
//	candidates, err := evaluate.DefaultCandidates(info)
//	o := evaluate.DefaultOptions()
//	o.ForCandidates()
//	report, err := evaluate.Run(ctx, ds, candidates, o)
//	report.WriteText(os.Stdout)
//
// # Order of work
//
// Run reads the targets and deals the graphs to folds (Splits). For every setting of every
// Candidate it computes one kernel matrix (Transductive) or one per outer fold (Inductive),
// and evaluates it on all outer folds: an inner score for every value of the learner's grid
// by trainings inside the training part, then one training on the whole training part and
// the predictions for the test fold. Combinations of kernels are evaluated in the same way,
// their weights being learned on every training part. A row of the Report takes, fold by
// fold, the predictions of the setting with the best inner score.
//
// Results of finished parts can be kept in a folder, from which an interrupted run goes on.
// Results do not depend on the number of workers. docs/evaluation.md has the formulas of
// intervals and tests.
package evaluate
