package chem

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// One molecule has one chirality, in whatever order it is written. The pairs are from the OpenSMILES
// specification, or follow from its rule: exchanging two neighbours exchanges @ and @@.
func TestChirality(t *testing.T) {
	for _, c := range []struct {
		smiles string
		atom   int
		want   Chirality
	}{
		{"N[C@](C)(F)Br", 1, Anticlockwise}, {"N[C@@](C)(F)Br", 1, Clockwise},
		{"N[C@](F)(C)Br", 1, Anticlockwise},   // numbers follow the string
		{"[C@](N)(C)(F)Br", 0, Anticlockwise}, // from N the rest
		{"N[C@H](C)F", 1, Clockwise},          // from N: H, C, F anticlockwise, so from H: N, C, F clockwise
		{"[C@H](N)(C)F", 0, Anticlockwise},
		{"C[S@](=O)N", 1, Clockwise}, {"[S@](=O)(C)N", 0, Anticlockwise}, // the lone pair is where the hydrogen would be
		{"F[C@TH1](C)(N)Br", 1, Anticlockwise}, {"F[C@TH2](C)(N)Br", 1, Clockwise},
		{"F[C@]1(N)CO1", 1, Anticlockwise}, {"F[C@]1(N)OC1", 1, Anticlockwise}, // F, O (ring), N, C, and by number F, N, C, O: two exchanges
		{"F[C@](N)1CO1", 1, Clockwise},
		{"NC(Br)=[C@]=C(O)C", 3, Anticlockwise}, {"NC(Br)=[C@@]=C(C)O", 3, Clockwise}, {"BrC(N)=[C@]=C(O)C", 3, Anticlockwise}, {"NC(Br)=[C@AL2]=C(O)C", 3, Clockwise},
		{"CC=[C@]=CF", 2, Clockwise}, {"[CH](C)=[C@]=CF", 2, Anticlockwise}, // C, H, H, F, and by number H, C, H, F
		{"CC=C=[C@]=C=CF", 3, Clockwise}, {"CC=[C@]=C=CF", 2, Achiral},
		{"[C@H2](N)F", 0, Achiral}, {"N[P@](C)(F)(Cl)Br", 1, Achiral}, {"NC(=[C@]=C)C", 2, Achiral}, {"F[C@AL1](C)(N)Br", 1, Achiral},
	} {
		m, err := ParseSMILES(c.smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Atoms[c.atom].Chirality; got != c.want {
			t.Errorf("%s: chirality %d, want %d", c.smiles, got, c.want)
		}
	}
}

func TestSides(t *testing.T) {
	for smiles, want := range map[string]Sides{
		"F/C=C/F": OppositeSides, `F\C=C\F`: OppositeSides, `F/C=C\F`: SameSide, `C(\F)=C/F`: OppositeSides, "FC=CF": AnySide, "F/C=CF": AnySide,
		`F/C(Cl)=C/F`: OppositeSides, `FC(/Cl)=C/F`: OppositeSides, `F/C(/Cl)=C/F`: OppositeSides, // chlorine is above, so fluorine below
		`C/1=C/F.F1`: SameSide, `C1=C/F.F\1`: SameSide, `F\C(/Cl)=C/F`: AnySide, // the last contradicts itself
	} {
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(m.Bonds, func(b Bond) bool { return b.Order == Double })
		if got := m.Bonds[k].Sides; got != want {
			t.Errorf("%s: sides %d, want %d", smiles, got, want)
		}
	}
}

// renumbered returns a molecule with its atoms in another order: at[i] is the new number of atom i.
func renumbered(m *Molecule, at []int32) *Molecule {
	h := &Molecule{Atoms: make([]Atom, len(m.Atoms))}
	near := m.adjacency()
	for i, a := range m.Atoms {
		h.Atoms[at[i]] = a
	}
	for i, b := range m.Bonds {
		mirror := false
		for _, end := range []int32{b.A, b.B} {
			var others []int32
			for _, w := range m.neighbours(near, end) {
				if w != m.Bonds[i].other(end) {
					others = append(others, at[w])
				}
			}
			mirror = mirror != odd(others)
		}
		if b.Sides != AnySide && mirror {
			b.Sides = SameSide + OppositeSides - b.Sides
		}
		h.Bonds = append(h.Bonds, Bond{at[b.A], at[b.B], b.Order, b.Sides})
	}
	after := h.adjacency()
	for i, a := range m.Atoms {
		if a.Chirality == Achiral {
			continue
		}
		before, now := m.ligands(near, int32(i)), h.ligands(after, at[i])
		middle, ends := m.cumulated(near, int32(i))
		for k, w := range before {
			if w >= 0 {
				before[k] = at[w]
			} else if middle && at[ends[0]] > at[ends[1]] { // the ends change places
				before[k] = 2*unwritten - 1 - w
			}
		}
		h.Atoms[at[i]].Chirality = a.Chirality.flip(reordered(before, now))
	}
	return h
}

// plain returns the bonds with the lower atom first, in order.
func plain(m *Molecule) []Bond {
	bonds := slices.Clone(m.Bonds)
	for i, b := range bonds {
		bonds[i].A, bonds[i].B = min(b.A, b.B), max(b.A, b.B)
	}
	slices.SortFunc(bonds, func(a, b Bond) int { return int(a.A-b.A)*1000 + int(a.B-b.B) })
	return bonds
}

var stereo = []string{
	"CC(=O)Oc1ccccc1C(=O)O", "C[C@H](N)C(=O)O", "C[C@@]12CC[C@H]3[C@@H](CC[C@@H]4C[C@@H](O)CC[C@]34C)[C@@H]1CC[C@@H]2O", `F/C=C/C=C\C=C(F)Cl`,
	`C/C=C\[C@H](O)/C(F)=C(/Cl)Br`, "[13CH3:4][N+](C)(C)[O-].[Na+].[Cl-]", "c1cc[nH]c1-c1ccc[n-]1", "[CH3].[2H]O[2H].[Fe+2].*", "C1CC12CC2", "C[S@@](=O)c1ccccc1",
	`C1CCCC/C=C/CCCC1`, "N1([C@@H]2C[C@H]1CO2)[H]", "c1ccc2ccccc2c1", "OC(=O)/C=C/C(/O)=C/N(/C)[H]", `CC(/C=C/C=C(C)/C=C)=C\C`, "", "C", "CC=[C@]=CF", "C/C=C/C(N)=[C@@]=C1CC(O)CCO1", "CC(F)=C=[C@]=C=C([H])Br", "OC=[C@]=C=C(N)C",
}

// A molecule in any order of its atoms comes back from its SMILES string.
func TestWriteSMILES(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range stereo {
		m, err := ParseSMILES(s, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			text := m.SMILES()
			got, err := ParseSMILES(text, noLimit)
			if err != nil {
				t.Fatalf("%s written as %s: %v", s, text, err)
			}
			if !slices.Equal(got.Atoms, m.Atoms) || !slices.Equal(plain(got), plain(m)) {
				t.Fatalf("%s written as %s:\n%v\n%v, want\n%v\n%v", s, text, got.Atoms, plain(got), m.Atoms, plain(m))
			}
			at := make([]int32, len(m.Atoms))
			for i, k := range rng.Perm(len(at)) {
				at[i] = int32(k)
			}
			m = renumbered(m, at)
		}
	}
}

// Hydrogens that become atoms, and back, leave stereochemistry as it is.
func TestHydrogensKeepStereo(t *testing.T) {
	for _, s := range stereo {
		m, err := ParseSMILES(s, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		m = m.WithoutHydrogens()
		explicit := m.WithHydrogens()
		if again := explicit.WithoutHydrogens(); !slices.Equal(again.Atoms, m.Atoms) || !slices.Equal(plain(again), plain(m)) {
			t.Errorf("%s: %v\n%v, want\n%v\n%v", s, again.Atoms, again.Bonds, m.Atoms, m.Bonds)
		}
	}
}
