package chem_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// stereo returns the graph of a molecule with descriptors.
func stereo(t *testing.T, smiles string) *graph.Graph {
	t.Helper()
	g, err := dataset.ParseSMILES(smiles, dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return chem.Stereo()(g)
}

// Atoms and bonds have their descriptors behind their labels, and everything else stays.
func TestStereo(t *testing.T) {
	for smiles, want := range map[string]string{
		"C[C@H](N)O": "C,C R,N,O -,-,-", "C[C@@H](N)O": "C,C S,N,O -,-,-", "CC(N)O": "C,C ?,N,O -,-,-",
		"C/C=C/C": "C,C,C,C -,= E,-", "C/C=C\\C": "C,C,C,C -,= Z,-", "CC=CC": "C,C,C,C -,= ?,-", "C=CC": "C,C,C =,-",
		"CC": "C,C -", "C[C@H](C)O": "C,C,C,O -,-,-", "c1ccccc1": "C,C,C,C,C,C :,:,:,:,:,:",
		"C[C@]([H])(N)O": "C,C R,H,N,O -,-,-,-",
	} {
		g := stereo(t, smiles)
		var edges []string
		for e := range g.Edges() {
			edges = append(edges, e.Label)
		}
		if got := strings.Join(g.Labels(), ",") + " " + strings.Join(edges, ","); got != want {
			t.Errorf("%s: %s, want %s", smiles, got, want)
		}
		if _, err := chem.Of(g); err != nil {
			t.Errorf("%s: %v", smiles, err)
		}
	}
}

// wedged is alanine as a connection table whose bond to nitrogen is a wedge: 1 towards the reader, 6 away.
const wedged = "x\n\n\n  6  5  0  0  0  0            999 V2000\n" +
	"    0.0000    0.0000    0.0000 C   0  0\n    0.0000    1.0000    0.0000 N   0  0\n" +
	"   -0.8660   -0.5000    0.0000 C   0  0\n    0.8660   -0.5000    0.0000 C   0  0\n" +
	"    1.7320    0.0000    0.0000 O   0  0\n    0.8660   -1.5000    0.0000 O   0  0\n" +
	"  1  2  1  %d\n  1  3  1  0\n  1  4  1  0\n  4  5  2  0\n  4  6  1  0\nM  END"

// The graphs of one stereoisomer are isomorphic however it is written, by SMILES or by wedges, and those of two are not.
func TestStereoIsomorphic(t *testing.T) {
	alanine := func(wedge int) string {
		m, _, err := chem.ParseMol(strings.Split(fmt.Sprintf(wedged, wedge), "\n"), 10)
		if err != nil {
			t.Fatal(err)
		}
		return m.SMILES()
	}
	var before []*graph.Graph // one of each set
	for _, set := range [][]string{
		{"C[C@H](N)C(=O)O", "N[C@@H](C)C(=O)O", "OC(=O)[C@@H](N)C", "C[C@]([H])(N)C(=O)O", alanine(6)},
		{"C[C@@H](N)C(=O)O", "N[C@H](C)C(=O)O", alanine(1)}, {"CC(N)C(=O)O", alanine(0)},
		{"C/C=C/C", "C\\C=C\\C", "C(/C)=C\\C"}, {"C/C=C\\C", "C(/C)=C/C"}, {"CC=CC"},
		{"C[C@H](O)[C@@H](C)O", "C[C@@H](O)[C@H](C)O", "O[C@@H](C)[C@H](O)C"}, // meso
		{"C[C@H](O)[C@H](C)O", "O[C@@H](C)[C@@H](O)C"}, {"C[C@@H](O)[C@@H](C)O"},
		{"C[C@H]1CC[C@@H](C)CC1", "C[C@@H]1CC[C@H](C)CC1"}, {"C[C@H]1CC[C@H](C)CC1", "C[C@@H]1CC[C@@H](C)CC1"},
		{"CC=[C@]=CF", "FC=[C@]=CC"}, {"CC=[C@@]=CF"},
	} {
		o := dataset.DefaultOptions()
		o.Hydrogens = dataset.HydrogensImplicit
		var graphs []*graph.Graph
		for _, s := range set {
			g, err := dataset.ParseSMILES(s, o)
			if err != nil {
				t.Fatal(err)
			}
			if g = chem.Stereo()(g); len(graphs) > 0 && !graph.Isomorphic(graphs[0], g) {
				t.Errorf("%s and %s are one molecule", set[0], s)
			}
			graphs = append(graphs, g)
		}
		for _, g := range before {
			if graph.Isomorphic(g, graphs[0]) {
				t.Errorf("%s and %s are two molecules", g.SMILES(), set[0])
			}
		}
		before = append(before, graphs[0])
	}
}
