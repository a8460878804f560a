package graph_test

import (
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/graph"
)

// labelledPath returns a path with these labels.
func labelledPath(t *testing.T, smiles string, labels ...string) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(len(labels))
	for v, l := range labels {
		b.SetLabel(v, l)
		if v > 0 {
			b.AddLabeledEdge(v-1, v, 1, "-")
		}
	}
	b.SetSMILES(smiles)
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func testRow(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := graph.Row("r1", "0.5", []graph.Part{
		{"solute", labelledPath(t, "CO", "C", "O"), false}, {"T", graph.Number(296.950), true}, {"base", labelledPath(t, ""), false},
		{"assay", graph.Category("A"), true}, {"solvent", labelledPath(t, "CCN", "C", "C", "N"), false}, {"p", graph.Absent(), true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A row is the union of its structures, and knows each of them, and its values.
func TestRow(t *testing.T) {
	g := testRow(t)
	if g.ID() != "r1" || g.Target() != "0.5" || g.SMILES() != "CO.CCN" {
		t.Errorf("identifier %q, target %q, SMILES %q", g.ID(), g.Target(), g.SMILES())
	}
	if want := []string{"C", "O", "C", "C", "N"}; !slices.Equal(g.Labels(), want) || g.M() != 3 || g.HasEdge(1, 2) {
		t.Errorf("labels %q and %d edges", g.Labels(), g.M())
	}
	if at := g.PartAt("solvent"); at != 2 {
		t.Errorf("the solvent begins at vertex %d, want 2", at)
	}
	if s := g.Part("solvent"); s.N() != 3 || s.SMILES() != "CCN" {
		t.Errorf("solvent %v", s)
	}
	if x := g.Part("T"); x.N() != 1 || x.Label(0) != "296.95" || x.Attributes(0)[0] != 296.95 {
		t.Errorf("T = %q", x.Labels())
	}
	if x := g.Part("assay"); x.Label(0) != "A" || x.AttributeDim() != 0 {
		t.Errorf("assay = %q", x.Labels())
	}
	if g.Part("p").N() != 0 || g.Part("base").N() != 0 || g.Part("other") != nil {
		t.Error("parts that are missing have vertices")
	}
	if h := g.With("", ""); h.Part("solvent") == nil {
		t.Error("With loses the parts")
	}
	if h := g.Relabel(make([]string, 5)); h.Parts() != nil {
		t.Error("parts with the labels that the row had")
	}
	if _, err := graph.Row("", "", []graph.Part{{"a", graph.Number(1), true}, {"a", graph.Number(2), true}}); err == nil {
		t.Error("two parts of one name")
	}
}

// The part of a row that vertices induce has the parts that they induce.
func TestRowInduced(t *testing.T) {
	h := testRow(t).Induced([]int32{1, 2, 4})
	if s := h.Part("solute"); s.N() != 1 || s.Label(0) != "O" {
		t.Errorf("solute %q", s.Labels())
	}
	if s := h.Part("solvent"); !slices.Equal(s.Labels(), []string{"C", "N"}) || s.M() != 0 {
		t.Errorf("solvent %q", s.Labels())
	}
	if h.Part("T").N() != 1 || h.SMILES() != "" {
		t.Errorf("a value is lost, or the SMILES %q is not", h.SMILES())
	}
	if all := testRow(t).Induced([]int32{0, 1, 2, 3, 4}); all.SMILES() != "CO.CCN" {
		t.Errorf("all vertices have the SMILES %q", all.SMILES())
	}
}

// Rows come back from a batch, beside other graphs.
func TestRowBatch(t *testing.T) {
	want := []*graph.Graph{testRow(t), labelledPath(t, "CC", "C", "C"), testRow(t).With("r2", "")}
	data := graph.Encode(want)
	got, err := decodeAll(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range want {
		if !got[i].Equal(g) {
			t.Errorf("graph %d comes back as another", i)
		}
	}
	for i := range data { // nothing panics
		changed := slices.Clone(data)
		changed[i] ^= 0x81
		decodeAll(changed)
		decodeAll(data[:i])
	}
}
