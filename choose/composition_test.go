package choose

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
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
		if strings.Contains(s.Candidate, "composition") {
			weight += s.Weight
		}
	}
	if weight < 0.9 {
		t.Errorf("sums with counts have the weight %v in %s", weight, p.Kernel())
	}
	sizes := []int{15, 20, 30, 50}
	table := "smiles\n" + strings.Repeat("C", 11) + "CN\n"
	for _, n := range sizes {
		table += strings.Repeat("C", n) + "O\n"
	}
	fresh := read(table).Graphs
	values, deviations := predictLarger(t, p, d, &dataset.Dataset{Graphs: fresh})
	for i, n := range sizes { // the largest in training has 12 carbons
		want := 10*float64(n) + 7
		if got, d := values[1+i], deviations[1+i]; math.Abs(got-want) > 0.03*want || math.Abs(got-want) > 3*d {
			t.Errorf("an alcohol of %d carbons: %v ± %v, want about %v", n, got, d, want)
		}
	}
	for i := range deviations[1:] {
		if !(deviations[i+1] > deviations[i]) {
			t.Errorf("deviations %v do not grow with the size", deviations)
		}
	}
}
