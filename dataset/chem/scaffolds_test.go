package chem_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

func TestScaffolds(t *testing.T) {
	var graphs []*graph.Graph
	for _, s := range []string{
		"CCO", "Cc1ccccc1", "c1ccccc1O", "C1=CC=CC=C1Cl", // benzene, also as it is written with alternating bonds
		"C1CCCCC1", "CC", "O=C1CCCCC1", "CC(=O)C1CCCCC1", // acyclic ones are alike; a ketone in the ring is another scaffold
		"Cn1ccc(C)n1", "Cn1nccc1C2CC2", "Cc1cc[nH]n1", "Cc1ccn[nH]1", // N-substituted and NH pyrazoles
		"C[n+]1ccccc1", "c1ccncc1",
	} {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	got, err := chem.Scaffolds(graphs)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 1, 1, 2, 0, 3, 2, 4, 5, 4, 4, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	b := graph.NewBuilder(2)
	b.SetID("x")
	b.SetLabel(0, "no atom")
	b.SetLabel(1, "C")
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	const want = "graph 0 (x) has no scaffold, because it is not a molecule: "
	if _, err := chem.Scaffolds([]*graph.Graph{g}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
