package explorer

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/explain"
)

const rowsTable = `solute,solvent,T,y
CC,O,300,1.5
CCC,O,310,2.5
CCCC,CO,300,3.1
CCCCC,CO,320,4.2
CC,CCN,300,1.8
CCC,,310,2.9
CCCC,O,320,3.3
CCCCC,CO,310,4.4
CC(C)C,O,300,2.7
CC(C)C,CO,320,3.9
CCCCCC,O,300,4.1
CCCCCC,CO,310,4.9
`

// Rows of several structures and values are compared by all of them, also new ones, which are typed.
func TestRows(t *testing.T) {
	o := dataset.DefaultOptions()
	o.Format, o.Structure, o.With, o.TargetColumn = dataset.CSV, "solute,solvent", "T", "y"
	ds, err := dataset.ReadFrom(t.Context(), strings.NewReader(rowsTable), "rows.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	o.Rows = ds.Columns.Roles.Row()
	d, err := fromDataset(ds, o, regression)
	if err != nil {
		t.Fatal(err)
	}
	s := newTester(t, readSpec(t), d, nil)
	var info infoAnswer
	if s.get("/api/v1/info", &info); strings.Join(info.Parts, ";") != "solute;solvent;T" {
		t.Errorf("parts %q", info.Parts)
	}
	if info.Thing != "row" {
		t.Errorf("they are called %q", info.Thing)
	}
	if code, report := s.do("POST", "/api/v1/report", `{}`, ""); code != 200 || !strings.Contains(string(report), "12 rows, 12 of them with target") {
		t.Errorf("report %d %.300s", code, report)
	}
	var said predictAnswer
	s.post("/api/v1/predict", `{"graphs":[{"smiles":"CCCCC; O; 305"},{"smiles":"CC; O; 300"}]}`, &said)
	if p := said.Predictions; len(p) != 2 || p[0].Known != nil || p[1].Known == nil || p[1].Known.Index != 0 || *p[0].Value < 2 || *p[0].Value > 5 {
		t.Errorf("predictions %+v", p)
	}
	var e explain.Explanation
	s.post("/api/v1/explain", `{"graph":{"index":3}}`, &e)
	if len(e.Parts) != 2 || e.Parts[1].Name != "solvent" {
		t.Errorf("parts %+v", e.Parts)
	}
	if code, got := s.do("POST", "/api/v1/predict", `{"graphs":[{"smiles":"CC"}]}`, ""); code != 400 || !strings.Contains(string(got), "1 part, want 3 with semicolons between them: solute; solvent; T") {
		t.Errorf("error %s", got)
	}
}
