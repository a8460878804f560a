package explorer

import (
	"fmt"
	"reflect"
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
	if want := []columnInfo{{"Series", false, nil}, {"weight", true, nil}}; !reflect.DeepEqual(unranged(info.Columns), want) || !slices.Contains(info.ColorBy, "column") {
		t.Fatalf("columns %v, colours by %v, want %v", info.Columns, info.ColorBy, want)
	}
	if r := info.Columns[1].Range; len(r) != 2 || r[0] > r[1] || len(info.Columns[0].Range) != 0 {
		t.Errorf("ranges %+v", info.Columns)
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

// A column becomes the targets; those that there were become a column. Texts among numbers are counted, and no values.
func TestTarget(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var b strings.Builder
	b.WriteString("smiles,logS,series\n")
	for i := range 40 {
		value := fmt.Sprintf("%d.5", i)
		if i == 3 || i == 11 {
			value = ">10"
		}
		fmt.Fprintf(&b, "%sO,%s,%c\n", strings.Repeat("C", i+1), value, 'A'+i%2)
	}
	a := s.upload("name=several.csv&target=", b.String())
	at := "?source=" + a.Source
	var info infoAnswer
	s.get("/api/v1/info"+at, &info)
	if want := []columnInfo{{"logS", true, nil}, {"series", false, nil}}; info.Task != noTask || !reflect.DeepEqual(unranged(info.Columns), want) {
		t.Fatalf("%s, columns %v", info.Task, info.Columns)
	}
	if w := info.Warnings; len(w) != 1 || !strings.Contains(w[0], `logS counts as numbers: 2 of its values are not, such as ">10"`) {
		t.Errorf("remarks %q", w)
	}
	var out targetAnswer
	s.post("/api/v1/target"+at, `{"column":"logS","check":true}`, &out)
	if out.Source != "" || out.Task != regression || out.Graphs != 38 || out.Unmeasured.Count != 2 || out.Unmeasured.First[0].Line != 5 {
		t.Errorf("a check: %+v", out)
	}
	s.post("/api/v1/target"+at, `{"column":"logS","name":"log S in mol/L"}`, &out)
	s.get("/api/v1/info?source="+out.Source, &info)
	if info.Task != regression || info.TargetName != "log S in mol/L" || info.Name != "several: log S in mol/L" || info.Range[1] != 39.5 || len(info.Columns) != 1 {
		t.Errorf("%+v", info)
	}
	s.post("/api/v1/target?source="+out.Source, `{"column":"series"}`, &out)
	s.get("/api/v1/info?source="+out.Source, &info)
	if want := []columnInfo{{"log S in mol/L", true, nil}}; info.Task != classification || info.Name != "several: series" || !reflect.DeepEqual(unranged(info.Columns), want) {
		t.Errorf("%s %s, columns %v", info.Task, info.Name, info.Columns)
	}
	var columns columnsAnswer
	s.get("/api/v1/columns?source="+out.Source, &columns)
	if n := columns.Columns[0].Numbers; *n[0] != 0.5 || n[3] != nil {
		t.Errorf("the former targets: %v", n[:4])
	}
	s.post("/api/v1/target?source="+out.Source, `{"column":"log S in mol/L","task":"classification"}`, &out)
	if out.Task != classification || len(out.Classes) != 39 {
		t.Errorf("numbers as classes: %+v", out)
	}
	s.post("/api/v1/target?source="+a.Source, `{"column":"logS"}`, &out)
	s.post("/api/v1/target?source="+out.Source, `{"name":"log S"}`, &out) // another name alone
	s.get("/api/v1/info?source="+out.Source, &info)
	if want := []columnInfo{{"series", false, nil}}; info.TargetName != "log S" || info.Name != "several: log S" || !reflect.DeepEqual(unranged(info.Columns), want) {
		t.Errorf("%s %s, columns %v", info.Name, info.TargetName, info.Columns)
	}
	s.server.o.ReadOnly = true
	if code, body := s.do("POST", "/api/v1/target?source="+out.Source, `{"column":"series"}`, ""); code != 403 {
		t.Errorf("read-only: %d %s", code, body)
	}
}

// unranged returns columns without their ranges.
func unranged(columns []columnInfo) []columnInfo {
	out := slices.Clone(columns)
	for i := range out {
		out[i].Range = nil
	}
	return out
}
