package learn

import (
	"testing"

	"github.com/mlgkernel/mlg/classic"
	tudata "github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// dataset reads a real dataset and returns its normalised Weisfeiler-Lehman Gram matrix with
// h iterations and the classes, renumbered 0, 1, … in the order in which they first occur
// (which is the order that LIBSVM gives them).
func dataset(t testing.TB, name string, h int) (*kernel.Matrix, []int) {
	t.Helper()
	k := classic.DefaultWL()
	k.H = h
	return datasetGram(t, name, k)
}

// datasetGram is dataset for any kernel.
func datasetGram(t testing.TB, name string, k kernel.Kernel) (*kernel.Matrix, []int) {
	t.Helper()
	ds, err := tudata.Read(t.Context(), graphtest.Dataset(t, name), tudata.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]int{}
	var y []int
	for _, c := range ds.Targets() {
		if _, ok := classes[c]; !ok {
			classes[c] = len(classes)
		}
		y = append(y, classes[c])
	}
	fitted, err := k.Fit(t.Context(), ds.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	gram, err := fitted.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return gram, y
}

// labelsOf returns the label of each new example.
func labelsOf(l *Learner, cross View) ([]int, error) {
	values, err := l.Values(cross)
	if err != nil {
		return nil, err
	}
	labels := make([]int, values.Rows)
	for i := range labels {
		labels[i] = l.Class(values.Row(i))
	}
	return labels, nil
}
