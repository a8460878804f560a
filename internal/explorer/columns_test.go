package explorer

import (
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

// The columns of a file are there, but for those that have another use; gaps are no numbers.
func TestColumns(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	a := s.upload("name=solubility.csv&target=measured+logS", solubility+"gap,rings,1,C1CC1,NA\n")
	var info infoAnswer
	s.get("/api/v1/info?source="+a.Source, &info)
	if want := []columnInfo{{"Series", false}, {"weight", true}}; !slices.Equal(info.Columns, want) || !slices.Contains(info.ColorBy, "column") {
		t.Fatalf("columns %v, colours by %v, want %v", info.Columns, info.ColorBy, want)
	}
	var all, one columnsAnswer
	s.get("/api/v1/columns?source="+a.Source, &all)
	s.get("/api/v1/columns?column=weight&source="+a.Source, &one)
	if len(all.Columns) != 2 || all.Columns[0].Texts[0] != "alcohols" || len(all.Columns[0].Numbers) != 0 {
		t.Errorf("columns %+v", all.Columns)
	}
	if w := one.Columns[0]; len(one.Columns) != 1 || *w.Numbers[5] != 78 || w.Numbers[6] != nil || len(w.Numbers) != 7 {
		t.Errorf("weights %+v", w)
	}
	s.get("/api/v1/columns", &all)
	if len(all.Columns) != 0 {
		t.Errorf("the drugs have columns: %+v", all.Columns)
	}
	// Texts that are too long are left out, with a word about it.
	l := &loader{}
	d := &Data{}
	long := strings.Repeat("y", 100)
	if err := l.columns.Add(dataset.Fields{Names: []string{"a", "b"}, Values: []string{"x", long}, SMILES: -1}); err != nil {
		t.Fatal(err)
	}
	if d.columns = l.others(d, d.read, Choices{}, 120); len(d.columns) != 1 || len(d.info.Warnings) != 1 {
		t.Errorf("%d columns, warnings %q", len(d.columns), d.info.Warnings)
	}
}
