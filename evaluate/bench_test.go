package evaluate

import (
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/paper"
)

// BenchmarkPaperGrid is the whole nested evaluation of MUTAG, 10 × 10 folds, with the
// paper's 144 settings of the MLG kernel. Use -benchtime 1x.
func BenchmarkPaperGrid(b *testing.B) {
	ds := real(b, "MUTAG")
	for b.Loop() {
		r, err := Run(b.Context(), ds, paper.Candidates(ds.Graphs)[:1], DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*row(b, r, "mlg").Accuracy, "%accuracy")
	}
}

// BenchmarkLargeData is that of NCI1 with one setting of the MLG kernel. Use -benchtime 1x.
func BenchmarkLargeData(b *testing.B) {
	ds := real(b, "NCI1")
	for b.Loop() {
		r, err := Run(b.Context(), ds, []choose.Candidate{settings("mlg", mlg.Default())}, DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*row(b, r, "mlg").Accuracy, "%accuracy")
	}
}
