package dataset

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// madeUp returns a table with a header whose cells are made by rules on the row: "s" a structure, "i" a counter, "n" a name, "0" 0 or 1,
// "f" a fraction, "w" a whole number, "t" a class of texts, "d" a date.
func madeUp(header, kinds string) string {
	structures := []string{"CCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "C1CCCCC1", "CC#N", "CCOC"}
	var b strings.Builder
	b.WriteString(header + "\n")
	for row := range 24 {
		var cells []string
		for k, kind := range kinds {
			cell := map[rune]string{
				's': strings.Repeat("C", row/len(structures)) + structures[row%len(structures)],
				'i': fmt.Sprint(row + 1), 'n': fmt.Sprintf("M-%d", 7*row), '0': fmt.Sprint((row + k) % 2), 'f': fmt.Sprintf("%.2f", float64(row*row%17)/3-2),
				'w': fmt.Sprint(row % 5), 't': []string{"CI", "CM", "CA"}[row%3], 'd': fmt.Sprintf("2024-01-%02d", row+1),
			}[kind]
			if kind == '0' && (row+k)%6 == 5 {
				cell = ""
			}
			cells = append(cells, cell)
		}
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.String()
}

// TestRoles: the headers of published tables are read right. The rows are made up.
func TestRoles(t *testing.T) {
	tox := "NR-AR,NR-AR-LBD,NR-AhR,NR-Aromatase,NR-ER,NR-ER-LBD,NR-PPAR-gamma,SR-ARE,SR-ATAD5,SR-HSE,SR-MMP,SR-p53"
	sider := `Hepatobiliary disorders,Metabolism and nutrition disorders,Product issues,"Neoplasms benign, malignant and unspecified (incl cysts and polyps)",Investigations`
	for _, c := range []struct {
		name, header, kinds    string
		structure, id, targets string
	}{
		{"ESOL", "Compound ID,ESOL predicted log solubility in mols per litre,Minimum Degree,Molecular Weight,Number of H-Bond Donors," +
			"Number of Rings,Number of Rotatable Bonds,Polar Surface Area,measured log solubility in mols per litre,smiles", "nfwfwwwffs",
			"smiles", "Compound ID", "measured log solubility in mols per litre"},
		{"FreeSolv", "iupac,smiles,expt,calc", "nsff", "smiles", "iupac", "expt"},
		{"lipophilicity", "CMPD_CHEMBLID,exp,smiles", "nfs", "smiles", "CMPD_CHEMBLID", "exp"},
		{"Tox21", tox + ",mol_id,smiles", "000000000000ns", "smiles", "mol_id", strings.ReplaceAll(tox, ",", "|")},
		{"SIDER", "smiles," + sider, "s00000", "smiles", "", "Hepatobiliary disorders|Metabolism and nutrition disorders|Product issues|" +
			"Neoplasms benign, malignant and unspecified (incl cysts and polyps)|Investigations"},
		{"ClinTox", "smiles,FDA_APPROVED,CT_TOX", "s00", "smiles", "", "FDA_APPROVED|CT_TOX"},
		{"HIV", "smiles,activity,HIV_active", "st0", "smiles", "", "HIV_active"},
		{"MUV", "MUV-466,MUV-548,MUV-600,mol_id,smiles", "000ns", "smiles", "mol_id", "MUV-466|MUV-548|MUV-600"},
		{"BACE", "mol,CID,Class,Model,pIC50,MW,AlogP", "sn0tfff", "mol", "CID", "Class"},
		{"BBBP", "num,name,p_np,smiles", "in0s", "smiles", "name", "p_np"},
		{"one of many numbers", "smiles,A,B", "sff", "smiles", "", ""},
		{"ChEMBL", "Molecule ChEMBL ID,Smiles,Standard Type,pChEMBL Value,Target Name,Assay Date", "nstftd", "Smiles", "Molecule ChEMBL ID", "pChEMBL Value"},
		{"an index without a name", ",SMILES (canonical),logP", "isf", "SMILES (canonical)", "", "logP"},
		{"an assay", "Target Name,Assay ID,smiles,value", "tnsf", "smiles", "", "value"},
		{"names twice", "smiles,y,y,smiles", "sffs", "smiles", "", "y"},
		{"a split", "id,smiles,split,set,y_true", "nst0f", "smiles", "id", "y_true"},
	} {
		d := mustReadText(t, CSV, madeUp(c.header, c.kinds))
		r := d.Columns.Roles
		if got := strings.Join(roleNames(r.Targets), "|"); r.Structure.Column != c.structure || r.ID.Column != c.id || got != c.targets {
			t.Errorf("%s: structure %+v, id %+v, targets %q, open %q; want %q, %q, %q", c.name, r.Structure, r.ID, got, r.Open, c.structure, c.id, c.targets)
		}
		if len(d.Graphs) != 24 || d.Skipped.Count > 0 {
			t.Errorf("%s: %d graphs, %+v", c.name, len(d.Graphs), d.Skipped)
		}
	}
	if open := mustReadText(t, CSV, madeUp("smiles,A,B", "sff")).Columns.Roles.Open; !slices.Equal(open, []string{"A", "B"}) {
		t.Errorf("open %q", open)
	}
}

// Targets are named one by one, several with commas, or all; a name may have a comma itself.
func TestTargetColumns(t *testing.T) {
	text := madeUp(`smiles,"a, b",c,d`, "s0fw")
	for given, want := range map[string]string{"c": "c", "a, b": "a, b", "C,a, b": "c|a, b", "d,c": "d|c", "all": "a, b|c|d"} {
		d, err := readText(CSV, text, func(o *Options) { o.TargetColumn = given })
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(roleNames(d.Columns.Roles.Targets), "|"); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
	for given, want := range map[string]string{"e": `f:1: no column "e" among "smiles", "a, b", "c", "d"`, "c,e": `no column "e"`, "c,c": `column "c" is asked for twice`} {
		if _, err := readText(CSV, text, func(o *Options) { o.TargetColumn = given }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want …%s", given, err, want)
		}
	}
}

// New data have the target of the model, if they have such a column, and no other column by guess.
func TestRolesLike(t *testing.T) {
	trained := DefaultOptions()
	trained.TargetColumn = "SR-p53"
	for header, want := range map[string]string{"NR-AR,SR-p53,smiles": "SR-p53", "NR-AR,other,smiles": "", "NR-AR,y,smiles": ""} {
		d, err := readText(CSV, madeUp(header, "00s"), func(o *Options) { *o = o.Like(&trained) })
		if err != nil || d.Columns.Roles.Target() != want {
			t.Errorf("%s: %q, %v, want %q", header, d.Columns.Roles.Target(), err, want)
		}
	}
}

const excel = "Name;SMILES;Löslichkeit (mg/l);calc\r\n\"a;1\";CCO;1,25;2,0\r\n\"b\nx\";CCN;-2,5e1;2,0\r\n;;;\r\nc;CCC;NA;2,0\r\nd;c1ccccc1;1.234,5;1,0\r\n"

// Excel's tables: semicolons, decimal commas, marks of the byte order, UTF-16, Latin-1, quoted line breaks, a line "sep=;".
func TestExcel(t *testing.T) {
	half := func(order binary.AppendByteOrder, text string) string {
		var b []byte
		for _, x := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, x)
		}
		return string(b)
	}
	for name, text := range map[string]string{
		"UTF-8": excel, "marked": "\ufeff" + excel, "UTF-16LE": half(binary.LittleEndian, excel), "UTF-16BE": half(binary.BigEndian, excel),
		"Latin-1": strings.ReplaceAll(excel, "ö", "\xf6"), "sep": "sep=;\r\n" + excel, "tabs": strings.NewReplacer(";", "\t").Replace(excel), "bars": strings.ReplaceAll(excel, ";", "|"),
	} {
		d := mustReadText(t, CSV, text)
		if got := strings.Join(d.Targets(), " "); got != "1.25 -2.5e1  1234.5" {
			t.Errorf("%s: targets %q", name, got)
		}
		if got := d.Columns.Roles.Target(); got != "Löslichkeit (mg/l)" {
			t.Errorf("%s: target %q", name, got)
		}
		if id := d.IDs()[1]; id != "b\nx" {
			t.Errorf("%s: id %q", name, id)
		}
	}
	// A comma in numbers with points in others is no decimal comma.
	d := mustReadText(t, CSV, "smiles;y;n\nCC;1.5;1,000\nCCC;2.5;2,000\nCCCC;2.5;3.0\n")
	if v := d.Columns.Values("n"); v[0] != "1,000" {
		t.Errorf("%q", v)
	}
	odd := half(binary.LittleEndian, "smiles\nCC \U0001F600\n")
	if d := mustReadText(t, SMILES, odd); d.IDs()[0] != "\U0001F600" {
		t.Errorf("%q", d.IDs())
	}
	wantErrors(t, SMILES, []errorCase{{odd[:len(odd)-1], "the input ends too early"}})
}

// Rows that cannot be read are left out and told, or refused.
func TestUnreadableRows(t *testing.T) {
	text := "id,smiles,y\na,CC,1.5\nb,C(,2.5\nc,,3.5\nd,NA,1\ne,CO\nf,c1ccccc1,0.5,,\ng\"h,CC,1\n,,\ni,CN(C)(C)C,1\nj,CCC,?\n"
	d := mustReadText(t, CSV, text)
	var got []string
	for _, s := range d.Skipped.First {
		got = append(got, fmt.Sprintf("%d %s", s.Line, s.Reason))
	}
	want := []string{"3 SMILES position 2: branch is not closed", `4 no structure in the column "smiles"`, `5 no structure in the column "smiles"`,
		"6 2 columns, want 3 as in the header", `8 column 2: bare " in non-quoted-field`, "10 atom 2 (N) has a valence of 4, want at most 3; with a charge, write [N+]"}
	if !slices.Equal(got, want) || d.Skipped.Count != len(want) {
		t.Errorf("left out\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if ids := d.IDs(); !slices.Equal(ids, []string{"a", "f", "j"}) {
		t.Errorf("%q", ids)
	}
	wantErrors(t, CSV, []errorCase{{text, "f:3: SMILES position 2: branch is not closed"}})
	wantErrors(t, CSV, []errorCase{
		{"CC,1.5\nCCC,2\n", `f:1: no SMILES column among "CC", "1.5"; the first line looks like data, want a line with the names of the columns`},
		{"name,y\nq,1\n", `f:1: no SMILES column among "name", "y"`},
		{"smiles,y\nCC,\"1\nCCC,2\n", `f:2: a quote opens in this row and takes those up to line 3 with it: it is not closed, or text stands beside it`},
	})
	if d := mustReadText(t, CSV, "smiles,y\n"); len(d.Graphs) != 0 || d.Columns.Roles.Structure.Column != "smiles" {
		t.Errorf("%+v", d)
	}
}

// Columns are told by kind.
func TestKinds(t *testing.T) {
	d := mustReadText(t, CSV, madeUp("a,b,c,d,e,f,g,h", "sin0fwtd"))
	want := "a structure, b identifier, c identifier, d class, e number, f class, g class, h date"
	var got []string
	for _, c := range d.Columns.Describe() {
		got = append(got, c.Name+" "+string(c.Kind))
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]Kind{
		"2024-01-31 2023/2/1 01.02.2020": DateKind, "2024-01-31T10:00:00Z 2024-01-31T10:01:00.5+02:00": DateKind, "1 2 3 4": IdentifierKind,
		"1 1 2 2": ClassKind, "0.5 NaN null": NumberKind, "none - ?": EmptyKind, "a b a b": ClassKind, "a b c d": IdentifierKind, "CCO CCN CCCC": StructureKind,
	} {
		var c Columns
		for v := range strings.FieldsSeq(text) {
			if err := c.Add(Fields{[]string{"x"}, []string{v}, -1, 0}); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.describe("x"); got.Kind != want {
			t.Errorf("%s: %+v, want %s", text, got, want)
		}
	}
	for _, v := range []string{"", "NA", "n/a", "#N/A", "NaN", "None", "NULL", "-", "?", " "} {
		if !Missing(v) {
			t.Errorf("%q is not missing", v)
		}
	}
	for _, v := range []string{"0", "no", "--", "nanometre", "C"} {
		if Missing(v) {
			t.Errorf("%q is missing", v)
		}
	}
}

// Labelled makes a column the target and leaves out rows without a value.
// Numbers whose powers are too large are refused, and classes may have any name.
func TestLargeTargets(t *testing.T) {
	lines := "smiles,y\nCCO,1e60\nCCC,-0.5\nCCN,1.5\nCCF,-1e308\n"
	d := mustReadText(t, CSV, lines)
	for _, kind := range []Kind{"", NumberKind} {
		if _, _, err := d.Labelled("y", kind); err == nil || err.Error() != `f: line 5: "-1e308" in the column "y", want a number from -1e+60 to 1e+60` {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if set, _, err := d.Labelled("y", ClassKind); err != nil || len(set.Graphs) != 4 {
		t.Errorf("classes: %v", err)
	}
	if _, _, err := mustReadText(t, CSV, strings.ReplaceAll(lines, "e308", "e60")).Labelled("y", ""); err != nil {
		t.Error(err)
	}
}

func TestLabelled(t *testing.T) {
	d := mustReadText(t, CSV, "smiles,a,b\nCC,0,1.5\nCCC,,2\nCCCC,1,NaN\nCCCCC,None,-\n")
	for _, c := range []struct {
		column, targets, left string
	}{{"a", "0 1", "3 5"}, {"B", "1.5 2", "4 5"}} {
		got, left, err := d.Labelled(c.column, "")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, s := range left.First {
			lines = append(lines, fmt.Sprint(s.Line))
		}
		if strings.Join(got.Targets(), " ") != c.targets || strings.Join(lines, " ") != c.left {
			t.Errorf("%s: %q, left out %q", c.column, got.Targets(), lines)
		}
		if v, err := got.Column("smiles"); err != nil || len(v) != len(got.Graphs) {
			t.Errorf("%q, %v", v, err)
		}
	}
	if _, _, err := d.Labelled("q", ""); err == nil || err.Error() != `f has no column "q", want one of "smiles", "a", "b"` {
		t.Error(err)
	}
	if _, err := (&Dataset{Name: "x"}).Column("q"); err == nil || err.Error() != `x has no columns, want one named "q"` {
		t.Error(err)
	}
}

// Texts among numbers are no values, and are told.
func TestOddValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("smiles;y\n")
	for i := range 20 {
		fmt.Fprintf(&b, "%s;%d,5\n", strings.Repeat("C", i+1), i)
	}
	d := mustReadText(t, CSV, b.String()+"CO;>10\nCN;n.d.\nCF;-\n")
	if s := Survey(d); s.TargetRange == nil || s.Targets != 20 || s.Columns[1].Kind != NumberKind || s.Columns[1].Odd != 2 || s.Columns[1].Missing != 1 {
		t.Errorf("%+v", s)
	}
	set, left, err := d.Labelled("y", "")
	if err != nil || len(set.Graphs) != 20 || left.Count != 3 || left.First[0] != (Skipped{22, `">10", want a number in the column "y"`}) {
		t.Errorf("%d graphs, %+v, %v", len(set.Graphs), left, err)
	}
	// Whoever asks for values gets them, and classes may be any text.
	d = mustReadText(t, CSV, "smiles,y\nC,>100\nCC,5\nCCC,<5\nCCCC,\nCO,n.d.\n")
	for kind, want := range map[Kind]string{NumberKind: `1: 2 (">100"), 4 ("<5"), 5, 6 ("n.d.")`, ClassKind: "4: 5", "": "4: 5"} {
		set, left, err := d.Labelled("y", kind)
		if got := fmt.Sprintf("%d: %s", len(set.Graphs), left.Lines(10)); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", kind, got, err, want)
		}
	}
	if _, left, _ := d.Labelled("y", NumberKind); left.Lines(2) != `2 (">100"), 4 ("<5"), …` {
		t.Error(left.Lines(2))
	}
	// Semicolons mean decimal commas where the first rows do not tell.
	b.Reset()
	b.WriteString("smiles;y\n")
	for i := range sampleRecords + 1 {
		fmt.Fprintf(&b, "C;%d\n", i)
	}
	if got := mustReadText(t, CSV, b.String()+"C;1,5\n").Targets(); got[len(got)-1] != "1.5" {
		t.Errorf("%q", got[len(got)-1])
	}
}

// Of a wide table the columns are read that are named, or have a usual name, and others up to a number.
func TestWideTable(t *testing.T) {
	names, cells := make([]string, 5000), make([]string, 5000)
	for i := range names {
		names[i], cells[i] = fmt.Sprint("d", i), fmt.Sprint(i)
	}
	names[4000], cells[4000] = "smiles", "CCO"
	names[4500], cells[4500] = "logS", "1.5"
	for _, f := range []struct {
		format Format
		sep    string
	}{{CSV, ","}, {TSV, "\t"}} {
		text := strings.Join(names, f.sep) + "\n" + strings.Join(cells, f.sep) + "\n" + strings.Join(cells[:3000], f.sep) + "\n"
		o := DefaultOptions()
		o.Format, o.TargetColumn, o.IDColumn = f.format, "d4999,logS", "d4001"
		d, err := ReadFrom(t.Context(), strings.NewReader(text), "wide", o)
		if err != nil {
			t.Fatal(err)
		}
		logS, err := d.Column("logS")
		if err != nil || len(d.Graphs) != 1 || d.Graphs[0].ID() != "4001" || d.Graphs[0].Target() != "4999" || logS[0] != "1.5" || len(d.Columns.Names) != maxColumns {
			t.Errorf("%s: %v, %q, %d columns, %v", f.format, d.Graphs, logS, len(d.Columns.Names), err)
		}
		if want := "3000 columns, want 5000 as in the header"; d.Skipped.Count != 1 || d.Skipped.First[0].Reason != want {
			t.Errorf("%+v", d.Skipped)
		}
		if want := "3000 columns not read: at most 2000 are read, named ones first"; !slices.Contains(d.Warnings, want) {
			t.Errorf("%q, want %s", d.Warnings, want)
		}
	}
}

// A SMILES that cannot be read is parsed once, however often it stands there.
func TestRepeatedMistake(t *testing.T) {
	s := &stream{opts: DefaultOptions()}
	for i := range 2 * maxBroken {
		for line := range 3 {
			_, err := s.smiles(fmt.Sprint("C1", strings.Repeat("C", i)), "", "", line)
			if e, ok := err.(*lineError); !ok || e.line != line {
				t.Errorf("%v", err)
			}
		}
	}
	if len(s.broken) != maxBroken {
		t.Errorf("%d remembered, want %d", len(s.broken), maxBroken)
	}
	s.broken["CCO"] = errors.New("as before")
	if _, err := s.smiles("CCO", "", "", 7); err == nil || err.Error() != "line 7: as before" {
		t.Errorf("%v", err)
	}
}

// Hydrogens that are written as atoms make no other molecule, whatever of atoms the labels tell; isotopes do.
func TestRepeatedHydrogens(t *testing.T) {
	for _, o := range []Options{{}, {AtomHydrogens: true, AtomCharge: true, AtomAromatic: true}, {Hydrogens: HydrogensExplicit}, {Hydrogens: HydrogensImplicit}} {
		opts := DefaultOptions()
		opts.AtomHydrogens, opts.AtomCharge, opts.AtomAromatic = o.AtomHydrogens, o.AtomCharge, o.AtomAromatic
		opts.Hydrogens = cmp.Or(o.Hydrogens, opts.Hydrogens)
		text := "CCO\n[H]OCC\n[2H]OCC\nc1ccccc1[H]\nC1=CC=CC=C1\n[H][H]\n[H+]\nClC\n[H]C([H])([H])Cl\n"
		d, err := ReadFrom(t.Context(), strings.NewReader(text), "x.smi", opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.Repeats().groups); got != "[[0 1] [3 4] [7 8]]" {
			t.Errorf("%+v: %s", o, got)
		}
	}
}

// Molecules that stand several times are found however they are written; means of values and agreeing classes remain.
func TestRepeats(t *testing.T) {
	text := "smiles,y\nc1ccccc1C,1.5\nCC1=CC=CC=C1,2.5\nCCO,1.25\nOCC,1.250\nCC(=O)O,3.5\nCC(=O)[O-],3\nCN(=O)=O,5\nC[N+](=O)[O-],6\nF/C=C/F,1\nF/C=C\\F,2\n"
	d := mustReadText(t, CSV, text)
	r := d.Repeats()
	if r.Molecules != 3 || r.Graphs != 6 || r.Different != 2 || len(r.Examples) != 2 || fmt.Sprint(r.Examples[0]) != "{[2 3] [1.5 2.5]}" {
		t.Errorf("%+v", r)
	}
	if r.Stereoisomers != 1 || r.StereoGraphs != 2 || r.StereoApart != 1 || fmt.Sprint(r.StereoSome) != "[{[10 11] [1 2]}]" {
		t.Errorf("%+v", r)
	}
	merged, left := d.Merged(r, true)
	if got := strings.Join(merged.Targets(), " "); got != "2 1.25 3.5 3 5.5 1 2" || left.Count != 0 {
		t.Errorf("%q, %+v", got, left)
	}
	classes := mustReadText(t, CSV, "smiles,class\nCC,a\nCCC,b\nC-C,b\nC(C)C,b\n")
	merged, left = classes.Merged(classes.Repeats(), false)
	if got := strings.Join(merged.Targets(), " "); got != "b" || left.Count != 2 || left.First[0] != (Skipped{2, "the same molecule as in line 4, in another class"}) {
		t.Errorf("%q, %+v", got, left)
	}
}

// Survey counts salts and mixtures, and the largest fragment is kept on request.
func TestFragmentsOfTables(t *testing.T) {
	text := "smiles,y\nCCN.Cl,1\n[Na+].CC(=O)[O-],2\nCCCC.CCO,3\nCC,4\n"
	s := Survey(mustReadText(t, CSV, text))
	if s.Salts != 2 || s.Mixtures != 1 {
		t.Errorf("%d salts, %d mixtures", s.Salts, s.Mixtures)
	}
	d, err := readText(CSV, text, func(o *Options) { o.LargestFragment = true })
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, d, "3 molecules with several fragments: only the largest is kept")
	if s := Survey(d); s.Connected != 4 || s.Vertices != 3+4+4+2 {
		t.Errorf("%+v", s)
	}
}

// Fields of an SDF are columns: a record without a field has no value, and a field that no record has is an error.
func TestSDFColumns(t *testing.T) {
	text := ethanolMol + "> <logS>\n1.5\n\n> <Split>\ntrain\n\n$$$$\n" + ethanolMol + "> <logS>\nNA\n\n$$$$\n" + ethanolMol + "$$$$\n" + ethanolMol + "> <note>\n7\n\n$$$$\n"
	d := mustReadText(t, SDF, text)
	if got := strings.Join(d.Targets(), ","); got != "1.5,,," || d.Columns.Roles.Target() != "logS" {
		t.Errorf("%q, %+v", got, d.Columns.Roles)
	}
	d, err := readText(SDF, text, func(o *Options) { o.TargetColumn = "NOTE" })
	if err != nil || strings.Join(d.Targets(), ",") != ",,,7" {
		t.Error(d, err)
	}
	if _, err := readText(SDF, text, func(o *Options) { o.TargetColumn = "never" }); err == nil || !strings.Contains(err.Error(), `no data field "never" among "logS", "Split", "note"`) {
		t.Error(err)
	}
}

// A Parquet file is a table like others, from a file, a stream, and recognised without a name.
func TestParquet(t *testing.T) {
	const path = "parquet/testdata/zstd-2-plain.parquet"
	o := DefaultOptions()
	o.TargetColumn = "double"
	fromFile, err := Read(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fromStream, err := ReadFrom(context.Background(), f, "unnamed", o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Dataset{fromFile, fromStream} {
		if len(d.Graphs) != 40 || d.Columns.Roles.Structure.Column != "smiles" || !slices.Equal(d.Targets(), fromFile.Targets()) {
			t.Errorf("%d graphs, %+v", len(d.Graphs), d.Columns.Roles)
		}
		wantWarnings(t, d, "1 nested column ignored")
		if s := Survey(d); s.Targets == 0 || s.Targets == 40 || s.TargetRange == nil {
			t.Errorf("%+v", s)
		}
	}
	o.Limits.Bytes = 1000
	if _, err := ReadFrom(context.Background(), strings.NewReader("PAR1"+strings.Repeat("x", 2000)), "x.parquet", o); err == nil ||
		!strings.Contains(err.Error(), "x.parquet: more than 1000 bytes, which is the limit") {
		t.Error(err)
	}
}

// Texts beside graphs are not kept without bound.
func TestColumnBytes(t *testing.T) {
	c := Columns{bytes: maxColumnsBytes - 40}
	f := Fields{[]string{"smiles", "y"}, []string{"C", "1"}, 0, 2}
	if err := c.Add(f); err != nil {
		t.Error(err)
	}
	if err := c.Add(f); err == nil || !strings.Contains(err.Error(), "columns have more than 512 MB of text") {
		t.Error(err)
	}
}

// A workbook is refused with what to do.
func TestWorkbook(t *testing.T) {
	if _, err := NewZipReader(strings.NewReader("PK"), 2, "x.xlsx", DefaultOptions()); err == nil || !strings.Contains(err.Error(), "save the sheet as CSV") {
		t.Error(err)
	}
}

// Wavelengths are values though many stand several times; an index that is mostly missing names no rows.
func TestWholeValuesAndSparseIndex(t *testing.T) {
	var b strings.Builder
	b.WriteString("smiles,wavelength,some index,batches\n")
	for i := range 120 {
		index := ""
		if i%10 == 0 {
			index = strconv.Itoa(i)
		}
		fmt.Fprintf(&b, "%s,%d.0,%s,%d\n", strings.Repeat("C", i%7+1), 300+i%50, index, i%24)
	}
	d, err := ReadFrom(t.Context(), strings.NewReader(b.String()), "t.csv", DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Columns.Describe() {
		if want := map[string]Kind{"wavelength": NumberKind, "batches": ClassKind}[c.Name]; want != "" && c.Kind != want {
			t.Errorf("%s: %s, want %s", c.Name, c.Kind, want)
		}
	}
	if id := d.Columns.Roles.ID.Column; id != "" {
		t.Errorf("column %q is the id, want none", id)
	}
}

// Commas in a table whose cells they separate are no decimal commas.
func TestThousands(t *testing.T) {
	for text, want := range map[string]string{
		"smiles,y\nC,\"1,234\"\nCC,980.5\n": "1,234",
		"smiles,y\nC,\"1,200\"\nCC,950\n":   "1,200",
		"smiles;y\nC;1,25\nCC;950,5\n":      "1.25",
	} {
		d, err := readText(CSV, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Columns.Values("y")[0]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
