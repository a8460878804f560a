package explorer

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/kernel"
)

// Colours say what cross-validation says, and of the rest what a learner says that has not seen it.
func TestColors(t *testing.T) {
	src := drugs(t)
	s := newTester(t, readSpec(t), src, nil)
	var e evaluation
	s.get("/api/v1/evaluate", &e)
	var target, predicted, wrong, size coloring
	s.get("/api/v1/colors?by=target", &target)
	s.get("/api/v1/colors?by=prediction", &predicted)
	s.get("/api/v1/colors?by=error", &wrong)
	s.get("/api/v1/colors?by=size", &size)
	right := 0
	for k, i := range e.Index {
		if target.Classes[target.Class[i]].Name != src.Targets[i] || predicted.Classes[predicted.Class[i]].Name != e.Predicted[k] {
			t.Fatalf("graph %d is %s, taken for %s", i, target.Classes[target.Class[i]].Name, e.Predicted[k])
		}
		if ok := e.Predicted[k] == src.Targets[i]; ok != (wrong.Class[i] == 0) {
			t.Fatalf("graph %d is %s, taken for %s, and its error is %d", i, src.Targets[i], e.Predicted[k], wrong.Class[i])
		} else if ok {
			right++
		}
		if *size.Values[i] != float64(src.Graphs[i].N()) {
			t.Fatalf("size of graph %d: %v", i, *size.Values[i])
		}
	}
	if wrong.Classes[0].Count != right || wrong.Classes[1].Count != 234-right || *e.Accuracy != float64(right)/234 {
		t.Errorf("%d right, %+v, accuracy %v", right, wrong.Classes, *e.Accuracy)
	}
	// So it is where the matrix of all graphs is not kept.
	few := newTester(t, s.spec, src, func(o *Options) { o.Whole, o.Core = 100, 90 })
	few.get("/api/v1/colors?by=prediction", &predicted)
	if slices.Contains(predicted.Class, -1) || predicted.Note != "" {
		t.Errorf("without a matrix: %v, %q", predicted.Class, predicted.Note)
	}
}

// Values have predictions beside what was measured, and errors with a middle.
func TestMeasuredValues(t *testing.T) {
	src := numbers(t)
	s := newTester(t, readSpec(t), src, nil)
	var e evaluation
	s.get("/api/v1/evaluate", &e)
	sum := 0.0
	for k, i := range e.Index {
		if e.Measured[k] != src.value[i] {
			t.Fatalf("graph %d has %v, want %v", i, e.Measured[k], src.value[i])
		}
		sum += (e.Values[k] - e.Measured[k]) * (e.Values[k] - e.Measured[k])
	}
	if rmse := math.Sqrt(sum / 80); len(e.Index) != 80 || math.Abs(rmse-*e.RMSE) > 1e-9 || e.Confusion != nil || e.Accuracy != nil {
		t.Errorf("%d graphs, error %v, want %v", len(e.Index), *e.RMSE, rmse)
	}
	var c coloring
	s.get("/api/v1/colors?by=error", &c)
	if c.Kind != "value" || c.Center == nil || *c.Center != 0 || c.Name != "predicted − measured target" || math.Abs(*c.Values[e.Index[3]]-(e.Values[3]-e.Measured[3])) > 1e-12 {
		t.Errorf("errors %+v", c)
	}
	if slices.Min(e.Values) > slices.Max(e.Measured) || c.Range[0] > 0 || c.Range[1] < 0 {
		t.Errorf("range %v", c.Range)
	}
	for _, color := range []string{"error", "prediction", "target", "size"} {
		if _, data := s.do("GET", "/api/v1/download/map.svg?color="+color, "", ""); !bytes.HasPrefix(data, []byte("<svg")) {
			t.Errorf("map by %s: %.100s", color, data)
		}
	}
}

// Where one class is almost all, the accuracy says little, and the answer says so.
func TestUnevenClasses(t *testing.T) {
	ds := &dataset.Dataset{Name: "uneven"}
	for i, g := range drugs(t).Graphs[:100] {
		ds.Graphs = append(ds.Graphs, g.With(g.ID(), fmt.Sprint(i%20 == 0)))
	}
	src, err := fromDataset(ds, dataset.DefaultOptions(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), src, nil)
	var e evaluation
	s.get("/api/v1/evaluate", &e)
	if !e.Uneven || *e.Majority != 0.95 || e.AUC == nil || *e.Balanced > 0.8 {
		t.Errorf("uneven %v, majority %v, balanced %v", e.Uneven, *e.Majority, *e.Balanced)
	}
	c := e.Confusion
	if !slices.Equal(c.Classes, []string{"false", "true"}) || c.Counts[0][0]+c.Counts[0][1] != 95 || c.Counts[1][0]+c.Counts[1][1] != 5 {
		t.Errorf("confusion %+v", c)
	}
	s = newTester(t, s.spec, someDrugs(t), nil)
	if s.get("/api/v1/evaluate", &e); e.Uneven {
		t.Errorf("the drugs are uneven, majority %v", *e.Majority)
	}
}

// Graphs are found by what they are called, what they are and what is in them, and can be taken away.
func TestFindAndExport(t *testing.T) {
	s := newTester(t, readSpec(t), drugs(t), nil)
	var f findAnswer
	s.get("/api/v1/find?text=AZEPAM&class=benzodiazepine&smiles=Clc1ccccc1", &f)
	src := s.server.given().data
	if f.Total == 0 || len(f.Index) != f.Total || len(f.Matched) != f.Total {
		t.Fatalf("found %+v", f)
	}
	for k, i := range f.Index {
		if !strings.Contains(src.IDs[i], "azepam") || src.Graphs[i].Label(f.Matched[k][0]) != "Cl" || len(f.Matched[k]) != 7 {
			t.Errorf("found %s at %v", src.IDs[i], f.Matched[k])
		}
	}
	if s.get("/api/v1/find?class=steroid&limit=2", &f); len(f.Index) != 2 || f.Total <= 2 {
		t.Errorf("two of %d steroids: %v", f.Total, f.Index)
	}
	numbers := newTester(t, s.spec, scales(t), nil)
	if code, out := numbers.do("GET", "/api/v1/find?smiles=C", "", ""); code != 422 {
		t.Errorf("fragments of graphs that are no molecules: %d %s", code, out)
	}

	a := s.upload("name=solubility.csv&target=measured+logS&color=Series", solubility)
	_, data := s.do("POST", "/api/v1/export?source="+a.Source, `{"graphs":[5,0],"format":"csv"}`, "")
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][1] != "benzene" || rows[2][1] != "ethanol" {
		t.Fatalf("table %s, %v", data, err)
	}
	for name, want := range map[string]string{"index": "5", "target": "-1.64", "vertices": "6", "edges": "6", "Series": "rings", "smiles": "c1ccccc1"} {
		if at := slices.Index(rows[0], name); at < 0 || rows[1][at] != want {
			t.Errorf("column %s of %v, want %s", name, rows[:2], want)
		}
	}
	if _, data = s.do("POST", "/api/v1/export?source="+a.Source, `{"graphs":[5,0],"format":"smi"}`, ""); string(data) != "c1ccccc1\tbenzene\nCCO\tethanol\n" {
		t.Errorf("SMILES %q", data)
	}
	_, data = s.do("POST", "/api/v1/export?source="+a.Source, `{"graphs":[5,0],"format":"jsonl"}`, "")
	ds, err := dataset.ReadFrom(t.Context(), bytes.NewReader(data), "x.jsonl", dataset.DefaultOptions())
	if err != nil || len(ds.Graphs) != 2 || ds.Graphs[0].ID() != "benzene" || ds.Graphs[0].Target() != "-1.64" {
		t.Errorf("graphs %s, %v", data, err)
	}
	// The map by a column of the file, and by one of many texts.
	var c coloring
	if s.get("/api/v1/colors?by=column&source="+a.Source, &c); c.Name != "Series" || len(c.Classes) != 3 || c.Classes[c.Class[5]].Name != "rings" {
		t.Errorf("colours %+v", c)
	}
	if s.get("/api/v1/colors?by=column&column=weight&source="+a.Source, &c); c.Name != "weight" || c.Kind != "value" || *c.Values[5] != 78 {
		t.Errorf("colours %+v", c)
	}
	many := "smiles,what\n"
	for i := range 50 {
		many += fmt.Sprintf("%s,text%d\n", strings.Repeat("C", 1+i%5), i%40)
	}
	b := s.upload("name=many.csv&target=&color=what", many)
	if s.get("/api/v1/colors?by=column&source="+b.Source, &c); len(c.Classes) != maxColors || c.Note != "values without a colour: 10 more" {
		t.Errorf("%d colours, %q", len(c.Classes), c.Note)
	}
	if _, data := s.do("GET", "/api/v1/download/map.png?color=column&source="+b.Source, "", ""); !bytes.HasPrefix(data, []byte("\x89PNG")) {
		t.Errorf("map by a column: %.100s", data)
	}
}

// scales are graphs that are no molecules.
func scales(t *testing.T) *Data {
	t.Helper()
	d, err := fromDataset(dataset.Scales(20, 1), dataset.DefaultOptions(), "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A table that nobody waits for is not written to its end.
func TestTableCancelled(t *testing.T) {
	s := New(someDrugs(t), DefaultOptions())
	defer s.end()
	x, err := s.given().session("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.placed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := x.table(ctx, p, kernel.UpTo(len(x.s.data.IDs)), "table.csv"); !errors.Is(err, context.Canceled) || f != nil {
		t.Errorf("%v, error %v", f, err)
	}
}

// Right and wrong have the colours of no class, in the answer and in the picture; points without classes have a colour of
// their own.
func TestMapPictureColors(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	var c coloring
	s.get("/api/v1/colors?by=error", &c)
	_, svg := s.do("GET", "/api/v1/download/map.svg?color=error", "", "")
	var i infoAnswer
	s.get("/api/v1/info", &i)
	dark := map[string]string{}
	for _, pair := range i.Palette.Dark {
		dark[pair[0]] = pair[1]
	}
	if dark[i.Palette.Unknown] != "#5b636b" {
		t.Errorf("palette %v", i.Palette)
	}
	for k, want := range []string{"#c4c4c4", "#1a1a1a"} {
		if dark[want] == "" {
			t.Errorf("%s has no colour on a dark ground", want)
		}
		if c.Classes[k].Color != want {
			t.Errorf("%s has the colour %s, want %s", c.Classes[k].Name, c.Classes[k].Color, want)
		}
		marks := regexp.MustCompile(`<(circle|path)[^>]* fill="`+want+`"`).FindAll(svg, -1)
		if len(marks) != c.Classes[k].Count+1 { // and one in the legend
			t.Errorf("%s: %d marks, want %d", c.Classes[k].Name, len(marks)-1, c.Classes[k].Count)
		}
	}
	plain := s.upload("name=x.smi", "C\nCC\nCCC\n")
	_, svg = s.do("GET", "/api/v1/download/map.svg?source="+plain.Source, "", "")
	if n := strings.Count(string(svg), `fill="#c9c9c9"`); n != 3 {
		t.Errorf("%d points without a class, want 3", n)
	}
}

// The map says what scales leave out, while edges count.
func TestUnseen(t *testing.T) {
	s := newTester(t, readSpec(t), someDrugs(t), nil)
	for query, want := range map[string]string{"": "orders of bonds", "?kernel=mlg+bonds=false": "", "?kernel=wl": ""} {
		var m mapAnswer
		if s.get("/api/v1/map"+query, &m); (m.Scales == "") != (want == "") || !strings.Contains(m.Scales, want) {
			t.Errorf("map%s says of scales %q, want %q in it", query, m.Scales, want)
		}
	}
}
