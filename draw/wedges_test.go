package draw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

// The wedges of a picture say the chirality of the input: seen with their ends out of the page, the
// neighbours of each chiral atom follow each other as it was read.
func TestWedges(t *testing.T) {
	graphtest.Slow(t)
	rng := rand.New(rand.NewPCG(5, 6))
	atoms := 0
	for _, g := range append(drugs(t), structures(t)...) {
		m, adj, pos := layout(t, g)
		systems, _ := adj.ringSystems()
		for v := range m.atoms { // any atom with four neighbours, or three and a hydrogen, is made chiral at random
			if n := len(m.at[v]); n == 4 || n == 3 && m.atoms[v].hydrogens == 1 {
				m.atoms[v].chirality = chem.Chirality(1 + rng.IntN(2))
			}
		}
		got := map[int]chem.Chirality{}
		for _, w := range m.wedges(systems, pos) {
			near := slices.Clone(m.at[w.atom])
			slices.SortFunc(near, func(a, b int) int { return m.bonds[a].other(w.atom) - m.bonds[b].other(w.atom) })
			z := -1.0
			if w.up {
				z = 1
			}
			var directions [][3]float64
			if w.bond < 0 {
				directions = append(directions, [3]float64{w.to.x, w.to.y, z})
			}
			for _, k := range near {
				d := pos[m.bonds[k].other(w.atom)].sub(pos[w.atom]).direction()
				directions = append(directions, [3]float64{d.x, d.y, 0})
				if k == w.bond {
					directions[len(directions)-1][2] = z
				}
			}
			got[w.atom] = chem.Sense(directions)
		}
		for v, a := range m.atoms {
			if a.chirality != got[v] {
				t.Errorf("%s: atom %d is drawn with chirality %d, want %d", g.ID(), v, got[v], a.chirality)
			}
			if a.chirality != chem.Achiral {
				atoms++
			}
		}
	}
	if atoms < 700 {
		t.Errorf("%d chiral atoms, want at least 700", atoms)
	}
}

// A wedge is a filled polygon, one away from the reader lines across it. L-alanine has one of either,
// its mirror image the other.
func TestWedgeShapes(t *testing.T) {
	shapes := func(smiles string) (filledShapes, lines int) {
		g, err := dataset.ParseSMILES(smiles, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		p, err := Graph(g, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, p)
		for _, s := range p.shapes[1:] { // after the page
			switch x := s.(type) {
			case *filled:
				filledShapes++
			case *strokes:
				lines += len(x.lines)
			}
		}
		return filledShapes, lines
	}
	plain, lines := shapes("CC(N)C(=O)O")
	up, under := shapes("C[C@H](N)C(=O)O")
	down, over := shapes("C[C@@H](N)C(=O)O")
	if plain != 0 || up+down != 1 || min(under, over) != lines-1 || max(under, over) < lines+2 {
		t.Errorf("%d, %d and %d wedges, %d, %d and %d lines", plain, up, down, lines, under, over)
	}
}

// Hydrogens of aromatic rings are drawn where the input has them.
func TestHydrogensStay(t *testing.T) {
	for _, c := range []struct {
		smiles string
		with   []int // nitrogens with a hydrogen
	}{
		{"Cc1c[nH]cn1", []int{3}}, {"Cc1cnc[nH]1", []int{5}},
		{"Cn1c(=O)c2[nH]cnc2n(C)c1=O", []int{5}}, {"Cn1c(=O)c2nc[nH]c2n(C)c1=O", []int{7}}, // 7H- and 9H-theophylline
		{"c1cc2cc3ccc([nH]3)cc3ccc(cc4ccc(cc1n2)[nH]4)n3", []int{8, 22}},
		{"Oc1cccc[nH+]1", []int{6}}, {"c1nnn[nH]1", []int{4}}, {"c1nn[nH]n1", []int{3}},
	} {
		for _, hydrogens := range []dataset.Hydrogens{dataset.HydrogensAsWritten, dataset.HydrogensImplicit} {
			o := dataset.DefaultOptions()
			o.Hydrogens = hydrogens
			g, err := dataset.ParseSMILES(c.smiles, o)
			if err != nil {
				t.Fatal(err)
			}
			m := readMolecule(g)
			if m == nil {
				t.Fatalf("%s is no molecule", c.smiles)
			}
			var with []int
			for v, a := range m.atoms {
				sum := float64(a.hydrogens)
				for _, k := range m.at[v] {
					sum += float64(m.bonds[k].order)
				}
				if want := map[string]float64{"C": 4, "N": 3, "O": 2}[a.symbol]; sum != want && a.charge == "" {
					t.Errorf("%s: atom %d has valence %v, want %v", c.smiles, v, sum, want)
				}
				if a.symbol == "N" && a.hydrogens > 0 {
					with = append(with, v)
				}
			}
			if !slices.Equal(with, c.with) {
				t.Errorf("%s: hydrogens on %v, want %v", c.smiles, with, c.with)
			}
		}
	}
}

// A double bond in a chain is drawn with the sides of the input, and turns where the input does.
func TestSides(t *testing.T) {
	for smiles, opposite := range map[string]bool{`C/C=C/C`: true, `C/C=C\C`: false, `OC/C(C)=C/CN`: true, `OC/C(C)=C\CN`: false, `C1CCCC/C=C/CCCCC1`: true, `C1CCCC/C=C\CCCCC1`: false} {
		m, _, pos := layout(t, parse(t, smiles))
		k := slices.IndexFunc(m.bonds, func(b bond) bool { return b.order == 2 })
		b := m.bonds[k]
		axis := pos[b.v].sub(pos[b.u])
		side := func(end int) float64 {
			near := slices.DeleteFunc(slices.Clone(m.at[end]), func(j int) bool { return j == k })
			w := m.bonds[slices.MinFunc(near, func(i, j int) int { return m.bonds[i].other(end) - m.bonds[j].other(end) })].other(end)
			return axis.cross(pos[w].sub(pos[end]))
		}
		if product := side(b.u) * side(b.v); math.Abs(product) < 0.1 || (product < 0) != opposite {
			t.Errorf("%s: sides %v and %v", smiles, side(b.u), side(b.v))
		}
	}
}
