package model_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/choose"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/model"
)

// mixtures is a table of solutes in solvents at temperatures; the value falls with the carbons of the solute, rises with
// the oxygens of the solvent, and with the temperature.
func mixtures(t *testing.T) (*dataset.Dataset, dataset.Options) {
	t.Helper()
	var b strings.Builder
	b.WriteString("solute,solvent,T,assay,logS\n")
	for i, solute := range []string{"CC", "CCC", "CCCC", "CCCCC", "CCCCCC", "CC(C)C"} {
		for j, solvent := range []string{"O", "CO", "OCCO", "CC#N.O", ""} {
			temperature := 280 + 10*((i+2*j)%5)
			y := -0.5*float64(i) + 0.4*float64(strings.Count(solvent, "O")) + 0.02*float64(temperature)
			fmt.Fprintf(&b, "%s,%s,%d,%s,%.3f\n", solute, solvent, temperature, []string{"A", "B"}[(i+j)%2], y)
		}
	}
	o := dataset.DefaultOptions()
	o.Format, o.Structure, o.With, o.TargetColumn = dataset.CSV, "solute,solvent", "T,assay", "logS"
	d, err := dataset.ReadFrom(t.Context(), strings.NewReader(b.String()), "mixtures.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	o.Rows = d.Columns.Roles.Row()
	return d, o
}

// A model of rows learns from all parts, and keeps them: what was read predicts the bits of what was written.
func TestRows(t *testing.T) {
	d, reader := mixtures(t)
	o := model.DefaultLearnOptions()
	o.ForCandidates()
	o.Reader = &reader
	m, plan, err := model.Learn(t.Context(), d, choose.DefaultCandidates(dataset.Info(d)), o)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Estimate.Value > 0.3 {
		t.Errorf("error %v, though solute, solvent and T make the values", plan.Estimate)
	}
	if got, want := m.Compared(), "solute and solvent: atoms by element, bonds by order; "; !strings.HasPrefix(got, want) {
		t.Errorf("compared: %s, want %s", got, want)
	}
	var file bytes.Buffer
	if err := model.Encode(&file, m); err != nil {
		t.Fatal(err)
	}
	back, err := model.Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range back.Graphs {
		if !g.Equal(m.Graphs[i]) {
			t.Fatalf("row %d comes back as another", i)
		}
	}
	as := dataset.DefaultOptions()
	as.Format = dataset.CSV
	fresh, err := dataset.ReadFrom(t.Context(), strings.NewReader("assay,T,solvent,solute,x\nA,295,OCCO,CCCCCCC,1\nB,,CO,CCC,2\nA,280,O,CC,3\n"), "new.csv", back.Like(as))
	if err != nil {
		t.Fatal(err)
	}
	said, err := m.Predict(t.Context(), fresh.Graphs, model.DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Predict(t.Context(), fresh.Graphs, model.DefaultPredictOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i := range said {
		if math.Float64bits(said[i].Value) != math.Float64bits(again[i].Value) || math.Float64bits(*said[i].Deviation) != math.Float64bits(*again[i].Deviation) {
			t.Errorf("row %d: %v before, %v after reading", i, said[i].Value, again[i].Value)
		}
	}
	if said[0].Known != nil || said[2].Known == nil || said[2].Known.Same != dataset.SameMolecule {
		t.Errorf("known: %+v and %+v", said[0].Known, said[2].Known)
	}
}

// What the vertices of a row contribute adds up over its structures, and slopes are those of the function.
func TestRowsExplained(t *testing.T) {
	d, reader := mixtures(t)
	o := model.DefaultLearnOptions()
	o.Reader, o.Ridge = &reader, []float64{0.01}
	k, err := kernel.Parse("0.5 wl(solute) h=1 * gaussian(T) + 0.5 wl(solvent) h=1 * wl(solute) * gaussian(T) width=2")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := model.Learn(t.Context(), d, choose.Each(k), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, slopes := range []bool{false, true} {
		e, err := explain.Prediction(t.Context(), m, d.Graphs[12], explain.Options{Slopes: slopes, Predict: model.DefaultPredictOptions()})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, p := range e.Parts {
			sum += p.Sum
		}
		if len(e.Parts) != 2 || e.Parts[1].Name != "solvent" || e.Parts[1].First != 4 || math.Abs(sum-e.Sum) > 1e-9 {
			t.Errorf("parts %+v, sum %v", e.Parts, e.Sum)
		}
		if !slopes && math.Abs(e.Sum-(e.Value-e.Baseline)) > 1e-9 {
			t.Errorf("contributions add up to %v, want %v", e.Sum, e.Value-e.Baseline)
		}
	}
}
