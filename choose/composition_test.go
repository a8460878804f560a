package choose

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/learn"
)

// What adds up over the atoms of molecules is learned by a sum with counts, which the data choose. It is right for molecules
// larger than all that were seen, where other kernels go back to the mean, and the deviations grow with the size.
func TestComposition(t *testing.T) {
	read := func(smiles string) *dataset.Dataset {
		d, err := dataset.ReadFrom(t.Context(), strings.NewReader(smiles), "x.csv", dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	molecule := func(i int) (smiles string, value float64) {
		carbons, end := 1+i%12, []string{"", "O", "N", "C=O", "OC"}[i/12]
		return strings.Repeat("C", carbons) + end, 10*float64(carbons) + []float64{0, 7, -4, 12, 17}[i/12] + 0.25*math.Sin(float64(i))
	}
	rows := "smiles,y\n"
	for i := range 60 {
		s, y := molecule(i)
		rows += fmt.Sprintf("%s,%v\n", s, y)
	}
	d := read(rows)
	o := DefaultOptions()
	o.ForCandidates()
	p, err := Choose(t.Context(), d, DefaultCandidates(dataset.Info(d)), o)
	if err != nil {
		t.Fatal(err)
	}
	weight := 0.0
	for _, s := range p.Settings {
		if strings.HasPrefix(s.Candidate, "composition") {
			weight += s.Weight
		}
	}
	if weight < 0.9 {
		t.Errorf("sums with counts have the weight %v in %s", weight, p.Kernel())
	}
	sum, err := kernel.NewCollection(d.Graphs).Fit(t.Context(), p.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	gram, err := sum.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := p.Learn(t.Context(), learn.Full(gram))
	if err != nil {
		t.Fatal(err)
	}
	fresh := read("smiles\n" + strings.Repeat("C", 11) + "CN\n" + strings.Repeat("C", 15) + "O\n" + strings.Repeat("C", 20) + "O\n" + strings.Repeat("C", 30) + "O\n").Graphs
	features, err := sum.Transform(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	train, err := sum.Train(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross, err := kernel.Between(t.Context(), sum, features, train)
	if err != nil {
		t.Fatal(err)
	}
	values, err := l.Values(learn.Full(cross))
	if err != nil {
		t.Fatal(err)
	}
	if got := values.At(2, 0); math.Abs(got-207) > 20 { // the largest in training has 137
		t.Errorf("an alcohol of 20 carbons: %v, want about 207", got)
	}
	self, err := kernel.Self(t.Context(), sum, features)
	if err != nil {
		t.Fatal(err)
	}
	deviations, err := deviations(t.Context(), l, learn.Full(gram), learn.Full(cross), self, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range deviations[1:] {
		if !(deviations[i+1] > deviations[i]) {
			t.Errorf("deviations %v do not grow with the size", deviations)
		}
	}
}
