package chem

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
)

// described returns the descriptors of a molecule by atom and by bond, in order, as in "1S 4E".
func described(m *Molecule) string {
	atoms, bonds := m.Descriptors()
	var out []string
	for i, d := range atoms {
		if d != "" {
			out = append(out, fmt.Sprint(i, d))
		}
	}
	for i, d := range bonds {
		if d != "" {
			out = append(out, fmt.Sprint(m.Bonds[i].A, "-", m.Bonds[i].B, d))
		}
	}
	return strings.Join(out, " ")
}

// Descriptors of molecules whose names have them, and of cases that the rules are made for.
func TestDescriptors(t *testing.T) {
	for smiles, want := range map[string]string{
		"C[C@H](N)C(=O)O": "1S", "C[C@@H](N)C(=O)O": "1R", "CC(N)C(=O)O": "1?", "NCC(=O)O": "", // alanine and glycine
		"N[C@@H](CS)C(=O)O": "1R", "N[C@@H](CO)C(=O)O": "1S", // L-cysteine and L-serine
		"CC(C)Cc1ccc(cc1)[C@H](C)C(=O)O": "10S", "O=C[C@H](O)CO": "2R",
		"OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O": "2R 4? 6R 8S 10S", // D-glucose
		"O[C@@H](C(=O)O)[C@@H](O)C(=O)O":         "1R 5R",           // natural tartaric acid
		"O[C@H](C(=O)O)[C@@H](O)C(=O)O":          "1S 5R",           // meso
		"C[C@H](O)C[C@@H](C)O":                   "1S 4R",
		"C[C@H](O)[C@H](O)[C@@H](C)O":            "1S 3s 5R", // rule 5
		"C[C@H](O)[C@@H](O)[C@@H](C)O":           "1S 3r 5R",
		"C[C@H](O)[C@H](O)[C@H](C)O":             "1S 5S",           // the middle has two equal neighbours
		"C[C@H]1CC[C@@H](C)CC1":                  "1s 4s",           // cis
		"C[C@H]1CC[C@H](C)CC1":                   "1r 4r",           // trans
		"[2H][C@](C)(F)[H]":                      "1R",              // rule 2
		"C[C@@H](C[13CH3])CC":                    "1R",              // rule 2, one sphere on
		"OC([C@H](O)/C=C/C)/C=C\\C":              "1? 2R 4-5E 7-8Z", // carbon 1 has four different neighbours
		"C/C=C\\[C@H](O)/C=C/C":                  "3R 1-2Z 5-6E",    // rule 3
		"C[S@@](=O)c1ccccc1":                     "1R", "C[S@](=O)c1ccccc1": "1S",
		"C[P@](=O)(O)CC": "1S",                            // P=O has no duplicates
		"C[N@](CC)CCC":   "", "C[N@+](CC)(CCC)[O-]": "1S", // an amine turns over
		"F/C=C/F": "1-2E", "F/C=C\\F": "1-2Z", "FC=CF": "1-2?", "FC=C": "", "FC(F)=CF": "",
		"C/C(F)=C(/Cl)C": "1-3Z", "C1CCCCC/C=C/1": "6-7E", "C/1=C/CCCC1": "",
		"CC=[C@]=CF": "2M", "CC=[C@@]=CF": "2P", "CC=C=CF": "2?", "CC=[C@]=C(F)F": "",
		"C/C=N/O": "1-2E", "CC(=N)N": "", "[H]/N=C(/C)N": "",
	} {
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		if got := described(m); got != want {
			t.Errorf("%s: %s, want %s", smiles, got, want)
		}
	}
}

// mirrored returns the mirror image of a molecule.
func mirrored(m *Molecule) *Molecule {
	out := *m
	out.Atoms = slices.Clone(m.Atoms)
	for i := range out.Atoms {
		out.Atoms[i].Chirality = out.Atoms[i].Chirality.flip(true)
	}
	return &out
}

// The order of the atoms, and hydrogens that are atoms, change no descriptor. A mirror exchanges R and S, and M and P, and
// no others.
func TestDescriptorsOfRelabelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	mirror := map[Descriptor]Descriptor{"R": "S", "S": "R", "M": "P", "P": "M"}
	seen := map[Descriptor]int{}
	for _, s := range append(slices.Clone(stereo), "C[C@H](O)[C@H](O)[C@@H](C)O", "C[C@H]1CC[C@H](C)CC1", "O[C@H]1[C@H](O)[C@@H](O)[C@H](O)[C@H](O)[C@@H]1O",
		"C[C@H](O)[C@@H]([C@H](C)[C@@H](C)O)[C@@H](C)[C@H](C)O", "C/C=C\\[C@H](O)/C=C/C", "OC[C@H]1O[C@@H](O[C@H]2[C@H](O)[C@@H](O)C(O)O[C@@H]2CO)[C@H](O)[C@@H](O)[C@H]1O",
		"CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5", "CC=[C@]=CF", "C[C@@H]1CC[C@H]2[C@H](C1)OC(=O)[C@@]21CC1", "C[P@](=O)(OC)N[C@@H](C)c1ccnc(F)c1") {
		m, err := ParseSMILES(s, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := m.Descriptors()
		_, bonds := m.Descriptors()
		for i, got := range fst(mirrored(m).Descriptors()) {
			if got != cmp.Or(mirror[want[i]], want[i]) {
				t.Errorf("%s: atom %d is %q, and %q in the mirror", s, i, want[i], got)
			}
		}
		explicit := m.WithHydrogens()
		for _, x := range []*Molecule{m, explicit} {
			for range 10 {
				at := make([]int32, len(x.Atoms))
				for i, k := range rng.Perm(len(at)) {
					at[i] = int32(k)
				}
				atoms, again := renumbered(x, at).Descriptors()
				for i, d := range want {
					if seen[d]++; atoms[at[i]] != d {
						t.Fatalf("%s: atom %d is %q, and %q in another order", s, i, d, atoms[at[i]])
					}
				}
				for i, d := range bonds {
					if seen[d]++; again[i] != d {
						t.Fatalf("%s: bond %d is %q, and %q in another order", s, i, d, again[i])
					}
				}
			}
		}
	}
	for _, d := range []Descriptor{"R", "S", "r", "s", "M", "E", "Z", "?"} {
		if seen[d] == 0 && seen[mirror[d]] == 0 {
			t.Errorf("no molecule has %s: %v", d, slices.Collect(maps.Keys(seen)))
		}
	}
}

func fst(atoms, _ []Descriptor) []Descriptor { return atoms }

// A digraph that grows without end is given up, and costs no more than its bound.
func TestDescriptorsOfCages(t *testing.T) {
	graphtest.Slow(t)
	// The cube of 4 × 4 × 4 atoms has a great many paths.
	m := &Molecule{}
	for i := range 64 {
		x, y, z := i%4, i/4%4, i/16
		m.Atoms = append(m.Atoms, Atom{Element: 14, Chirality: Clockwise})
		for k, bound := range []bool{x > 0, y > 0, z > 0} {
			if bound {
				m.Bonds = append(m.Bonds, Bond{A: int32(i - []int{1, 4, 16}[k]), B: int32(i), Order: Single})
			}
		}
	}
	m.Descriptors()
}
