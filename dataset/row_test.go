package dataset_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
)

const couplings = `ligand,base,T,assay,yield
CP(C)C,CN,25.0,A,10
CP(C)C,,60,B,20.5
C1CC1P,CC(=O)O~CC(=O)O~[Pd],NA,,30
CP(C)C,CC#N.O,25,A,40.5
,,25,A,50
CP(C)C,C1,25,A,60
`

func readRows(t *testing.T, text string, set func(o *dataset.Options)) *dataset.Dataset {
	t.Helper()
	d, err := tryRows(text, set)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tryRows(text string, set func(o *dataset.Options)) (*dataset.Dataset, error) {
	o := dataset.DefaultOptions()
	o.Format = dataset.CSV
	set(&o)
	return dataset.ReadFrom(context.Background(), strings.NewReader(text), "couplings.csv", o)
}

// rowText writes what the parts of a row are.
func rowText(g *graph.Graph) string {
	var out []string
	for _, p := range g.Parts() {
		switch {
		case p.Graph.N() == 0:
			out = append(out, p.Name+" –")
		case p.Value:
			out = append(out, p.Name+" "+p.Graph.Label(0))
		default:
			out = append(out, p.Name+" "+p.Graph.SMILES())
		}
	}
	return strings.Join(out, ", ")
}

func rowTexts(d *dataset.Dataset) (out []string) {
	for _, g := range d.Graphs {
		out = append(out, rowText(g))
	}
	return out
}

// Rows have all structures and values that are asked for; what is missing is a part without vertices.
func TestRows(t *testing.T) {
	d := readRows(t, couplings, func(o *dataset.Options) { o.Structure, o.With = "ligand,base", "T, assay" })
	want := []string{
		"ligand CP(C)C, base CN, T 25, assay A", "ligand CP(C)C, base –, T 60, assay B",
		"ligand C1CC1P, base CC(=O)O~CC(=O)O~[Pd], T –, assay –", "ligand CP(C)C, base CC#N.O, T 25, assay A",
	}
	if got := rowTexts(d); !slices.Equal(got, want) {
		t.Errorf("rows %q\nwant %q", got, want)
	}
	if d.Skipped.Count != 2 || d.Skipped.First[0].Reason != `no structure in the columns "ligand", "base"` || !strings.HasPrefix(d.Skipped.First[1].Reason, "base: ") {
		t.Errorf("left out %v", d.Skipped)
	}
	roles := d.Columns.Roles
	if row, want := roles.Row(), (&dataset.RowOptions{Structures: []string{"ligand", "base"}, Numbers: []string{"T"}, Categories: []string{"assay"}}); !reflect.DeepEqual(row, want) {
		t.Errorf("row %v, want %v", row, want)
	}
	if roles.Target() != "yield" {
		t.Errorf("target %q", roles.Target())
	}
	if row := dataset.RowOf(d.Graphs); !reflect.DeepEqual(row, roles.Row()) {
		t.Errorf("row of the graphs %v, want %v", row, roles.Row())
	}
	if a, b := d.Graphs[0].Part("ligand"), d.Graphs[1].Part("ligand"); a != b {
		t.Error("equal structures are made twice")
	}
}

// New data have the parts of the model, from columns of the same names or from those that are named in their order.
func TestRowsLike(t *testing.T) {
	model := dataset.DefaultOptions()
	model.Rows = &dataset.RowOptions{Structures: []string{"ligand", "base"}, Numbers: []string{"T"}, Categories: []string{"assay"}}
	like := func(structure string) func(o *dataset.Options) {
		return func(o *dataset.Options) { o.Structure = structure; *o = o.Like(&model) }
	}
	want := "ligand CO, base C, T 7, assay 1"
	if got := rowTexts(readRows(t, "T,Assay,base,x,LIGAND\n7.0,1,C,9,CO\n", like(""))); !slices.Equal(got, []string{want}) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if got := rowTexts(readRows(t, "T,assay,b,x,l\n7,1,C,9,CO\n", like("l,b"))); !slices.Equal(got, []string{want}) {
		t.Errorf("rows %q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"T,base,ligand\n7,C,CO\n": `no column "assay" among "T", "base", "ligand", which the model compares`,
		"assay,ligand,T\n1,C,7\n": `no column "base" among`,
	} {
		if _, err := tryRows(text, like("")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if d := readRows(t, "T,assay,base,ligand\nhot,1,C,CO\n1,1,C,CO\n", like("")); d.Skipped.Count != 1 || d.Skipped.First[0].Reason != `"hot", want a number in the column "T"` {
		t.Errorf("left out %v", d.Skipped)
	}
	o := dataset.DefaultOptions()
	if _, err := dataset.ParseSMILES("CO", o.Like(&model)); err == nil || err.Error() != "1 part, want 4 with semicolons between them: ligand; base; T; assay" {
		t.Errorf("error %v", err)
	}
	if _, err := dataset.ParseSMILES("CO; C; hot; 1", o.Like(&model)); err == nil || err.Error() != `"hot", want a number in the column "T"` {
		t.Errorf("error %v", err)
	}
	if g, err := dataset.ParseSMILES("CO; ;7; 1", o.Like(&model)); err != nil || rowText(g) != "ligand CO, base –, T 7, assay 1" {
		t.Errorf("row %v, error %v", g, err)
	}
	o.Format = dataset.SMILES
	if _, err := dataset.ReadFrom(t.Context(), strings.NewReader("CO\n"), "x.smi", o.Like(&model)); err == nil || !strings.Contains(err.Error(), `the model compares rows of a table; want one with the columns "ligand", "base", "T", "assay"`) {
		t.Errorf("error %v", err)
	}
}

// A reaction has three structures, and values may stand beside a molecule of any table.
func TestReactions(t *testing.T) {
	d := readRows(t, "rxn_smiles,y\nCC.O>[Pd]>CO,1.5\nC>>O,2.5\n[C->]>>C name,3.5\n", func(*dataset.Options) {})
	want := []string{"reactants CC.O, agents [Pd], products CO", "reactants C, agents –, products O"}
	if got := rowTexts(d); len(got) < 2 || !slices.Equal(got[:2], want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if row := dataset.RowOf(d.Graphs); row != nil {
		t.Errorf("row of reactions %v, whose columns are not known", row)
	}
	d = readRows(t, "smiles,pH,batch,y\nCC,7,1,1.5\nCO,5,2,2.5\n", func(o *dataset.Options) { o.With = "pH:category,batch" })
	if row := d.Columns.Roles.Row(); !slices.Equal(row.Categories, []string{"pH", "batch"}) || row.Numbers != nil {
		t.Errorf("row %v", row)
	}
	if _, err := tryRows("smiles,pH\nCC,7\n", func(o *dataset.Options) { o.With = "smiles" }); err == nil || !strings.Contains(err.Error(), `the column "smiles" is the structure`) {
		t.Errorf("error %v", err)
	}
}

// Rows are the same where all their parts are.
func TestRowsSame(t *testing.T) {
	d := readRows(t, `a,b,T,y
CCO,CN,1,1.5
OCC,NC,1.0,2.5
CN,CCO,1,3.5
CCO,CN,2,4.5
C[C@H](F)O,CN,1,5.5
C[C@@H](F)O,CN,1,6.5
`, func(o *dataset.Options) { o.Structure, o.With = "a,b", "T" })
	r := d.Repeats()
	if r.Molecules != 1 || r.Graphs != 2 || r.Different != 1 || r.Stereoisomers != 1 || r.StereoGraphs != 2 {
		t.Errorf("%+v", r)
	}
	x := dataset.NewIndex(d.Graphs)
	for i, want := range []int{0, 0, 2, 3, 4, 5} {
		if at, same := x.Find(d.Graphs[i]); at != want || same != dataset.SameMolecule {
			t.Errorf("row %d is found as %d, %s", i, at, same)
		}
	}
}
