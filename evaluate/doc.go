// Package evaluate measures honestly how well graph kernels classify or predict.
//
// On the training part of every fold package choose chooses kernel parameters, the parameter of the
// learner and the weights of combined kernels. Kernels never get a target. Every figure stands
// beside the majority class and the kernel of label histograms.
//
//	candidates := choose.DefaultCandidates(dataset.Info(ds))
//	o := evaluate.DefaultOptions()
//	o.ForCandidates()
//	report, err := evaluate.Run(ctx, ds, candidates, o)
//	report.WriteText(os.Stdout)
//
// # Order of work
//
// Run deals the graphs to folds. Every setting of every candidate has one kernel matrix for all
// folds or, with Inductive, one for each fold. It is scored on the training parts of all folds. If
// it may be chosen for a fold, it is trained on the training part and predicts the fold. Then its
// matrix is dropped, unless a combination needs it. Combinations come last and are treated in the
// same way. A row of the Report takes, fold by fold, the predictions of the setting with the best
// score.
//
// Results of finished parts can be kept in a folder, from which an interrupted run goes on.
// Results do not depend on the number of workers. docs/explanation/evaluation.md has the formulas of
// intervals and tests.
package evaluate
