package evaluate

import (
	"testing"

	"github.com/mlgkernel/mlg"
)

// BenchmarkPaperGrid is the whole nested evaluation of MUTAG, 10 × 10 folds, with the
// paper's 144 settings of the MLG kernel. Use -benchtime 1x.
func BenchmarkPaperGrid(b *testing.B) {
	ds := real(b, "MUTAG")
	for b.Loop() {
		r, err := Run(b.Context(), ds, PaperTable1(ds.Name)[:1], DefaultOptions())
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
		r, err := Run(b.Context(), ds, []Candidate{{Name: "mlg", Settings: []Setting{MLGSetting(mlg.DefaultOptions())}}}, DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*row(b, r, "mlg").Accuracy, "%accuracy")
	}
}
