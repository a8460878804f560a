package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// What is said of graphs together is what is said of each, after a file as well. A class has no posterior.
func TestPosterior(t *testing.T) {
	d := drugs(t)
	graphs := d.Graphs[100:140]
	values := targeted(d.Graphs[:100], func(i int) string { return fmt.Sprint(d.Graphs[i].N()) })
	o := DefaultLearnOptions()
	o.Task = choose.Regression
	m, _, err := Learn(t.Context(), values, choose.Each(small()), o)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Kernel.Transform(t.Context(), graphs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Posterior(t.Context(), graphs, a)
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.Predict(t.Context(), graphs, DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	measured := p.Measured()
	for i, s := range said {
		if p.Mean[i] != s.Value || math.Abs(measured.At(i, i)/(*s.Deviation**s.Deviation)-1) > 1e-12 || p.Covariance.At(i, i) != *s.True**s.True {
			t.Errorf("graph %d: %v ± %v (true value %v), want %v ± %v (%v)", i, p.Mean[i], math.Sqrt(measured.At(i, i)),
				math.Sqrt(p.Covariance.At(i, i)), s.Value, *s.Deviation, *s.True)
		}
	}
	var file bytes.Buffer
	if err := Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	read, err := Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if a, err = read.Kernel.Transform(t.Context(), graphs); err != nil {
		t.Fatal(err)
	}
	q, err := read.Posterior(t.Context(), graphs, a)
	if err != nil || !slices.Equal(q.Covariance.Data, p.Covariance.Data) {
		t.Errorf("another posterior from a file, error %v", err)
	}
	none, err := New(t.Context(), d.Graphs[:5], kernel.Kernel(small()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Posterior(t.Context(), graphs, a); !errors.Is(err, learn.ErrNoProcess) {
		t.Errorf("error %v", err)
	}
}
