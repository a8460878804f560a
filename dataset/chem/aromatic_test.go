package chem

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// aromatic returns the numbers of atoms and bonds of a molecule that are aromatic.
func aromatic(t *testing.T, smiles string) (atoms, bonds int) {
	t.Helper()
	m, err := ParseSMILES(smiles, 1000)
	if err != nil {
		t.Fatal(err)
	}
	a, b := m.Aromaticity()
	count := func(x []bool) (n int) {
		for _, yes := range x {
			if yes {
				n++
			}
		}
		return n
	}
	return count(a), count(b)
}

// TestAromaticity: rings are aromatic by Hückel's rule, whether they are written so or with alternating bonds.
func TestAromaticity(t *testing.T) {
	for _, c := range []struct {
		name         string
		atoms, bonds int
		written      []string
	}{
		{"benzene", 6, 6, []string{"c1ccccc1", "C1=CC=CC=C1", "C=1C=CC=CC1"}},
		{"naphthalene", 10, 11, []string{"c1ccc2ccccc2c1", "C1=CC=C2C=CC=CC2=C1", "C1=CC2=CC=CC=C2C=C1"}},
		{"azulene", 10, 10, []string{"c1ccc2cccc2cc1", "C1=CC=C2C=CC=C2C=C1"}},
		{"indole", 9, 10, []string{"c1ccc2[nH]ccc2c1", "C1=CC=C2C(=C1)C=CN2", "c1ccc2C=CNc2c1"}},
		{"indolizine", 9, 10, []string{"c1ccn2cccc2c1", "C1=CC2=CC=CN2C=C1"}},
		{"pyridine", 6, 6, []string{"c1ccncc1", "C1=CC=NC=C1"}},
		{"pyridinium", 6, 6, []string{"C[n+]1ccccc1", "C[N+]1=CC=CC=C1"}},
		{"pyridone", 6, 6, []string{"O=c1cccc[nH]1", "O=C1C=CC=CN1"}},
		{"caffeine", 9, 10, []string{"Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CN1C=NC2=C1C(=O)N(C)C(=O)N2C"}},
		{"coumarin", 10, 11, []string{"O=c1ccc2ccccc2o1", "O=C1C=CC2=CC=CC=C2O1", "O=C1C=Cc2ccccc2O1"}},
		{"furan", 5, 5, []string{"c1ccoc1", "C1=COC=C1"}},
		{"cyclopentadienyl", 5, 5, []string{"c1cc[cH-]c1", "C1=C[CH-]C=C1"}},
		{"tropylium", 7, 7, []string{"[CH+]1C=CC=CC=C1"}},
		{"biphenyl", 12, 12, []string{"c1ccccc1-c1ccccc1", "C1=CC=CC=C1C1=CC=CC=C1"}},
		{"porphin", 20, 22, []string{"c1cc2cc3ccc([nH]3)cc3ccc(n3)cc3ccc([nH]3)cc1n2", "C1=CC2=CC3=CC=C(N3)C=C3C=CC(=N3)C=C3C=CC(=CC1=N2)N3"}},
		{"xylylene", 6, 6, []string{"C=C1C=CC(=C)C=C1"}},
		{"phosphole", 5, 5, []string{"Cp1cccc1", "CP1C=CC=C1"}},
		{"an unknown atom", 6, 6, []string{"*1ccccc1", "*1=CC=CC=C1"}},
		{"boroxine", 0, 0, []string{"B1OBOBO1"}},
		{"a sulfoxide", 12, 12, []string{"O=S1c2ccccc2Nc2ccccc21", "O=S1C2=CC=CC=C2NC2=CC=CC=C21"}},
		{"a vinyl cation", 0, 0, []string{"[C+]1=CC=CC=C1"}},
		{"pyridine oxide", 6, 6, []string{"O=n1ccccc1", "[O-][n+]1ccccc1", "O=N1=CC=CC=C1", "[O-][N+]1=CC=CC=C1"}},
		{"cyclohexadiene", 0, 0, []string{"C1=CC=CCC1"}},
		{"quinone", 0, 0, []string{"O=C1C=CC(=O)C=C1"}},
		{"cyclobutadiene", 0, 0, []string{"C1=CC=C1"}},
		{"cyclooctatetraene", 0, 0, []string{"C1=CC=CC=CC=C1"}},
		{"fulvene", 0, 0, []string{"C=C1C=CC=C1"}},
		{"maleimide", 0, 0, []string{"O=C1C=CC(=O)N1"}},
		{"thiophene dioxide", 0, 0, []string{"O=S1(=O)C=CC=C1"}},
		{"butadiene", 0, 0, []string{"C=CC=C"}},
		{"anthraquinone", 12, 12, []string{"O=C1C2=CC=CC=C2C(=O)C2=CC=CC=C12", "O=C1c2ccccc2C(=O)c2ccccc12"}},
	} {
		for _, smiles := range c.written {
			if atoms, bonds := aromatic(t, smiles); atoms != c.atoms || bonds != c.bonds {
				t.Errorf("%s %s: %d atoms and %d bonds are aromatic, want %d and %d", c.name, smiles, atoms, bonds, c.atoms, c.bonds)
			}
		}
	}
}

// A large sheet of fused rings takes no longer than its size.
func TestAromaticSheet(t *testing.T) {
	const n = 60 // rows and columns of a lattice of six-membered rings: a brick wall
	m := &Molecule{}
	at := func(i, j int) int32 { return int32(i*2*n + j) }
	for range n * 2 * n {
		m.Atoms = append(m.Atoms, Atom{Element: boron}) // not aromatic by itself, so that systems of several rings are tried
	}
	for i := range n {
		for j := range 2 * n {
			if j+1 < 2*n {
				m.Bonds = append(m.Bonds, Bond{A: at(i, j), B: at(i, j+1), Order: []Order{Double, Single}[j%2]})
			}
			if i+1 < n && (i+j)%2 == 0 {
				m.Bonds = append(m.Bonds, Bond{A: at(i, j), B: at(i+1, j), Order: Single})
			}
		}
	}
	if atoms, _ := m.Aromaticity(); len(atoms) != n*2*n {
		t.Error(len(atoms))
	}
}

// Kekulé structures of the drugs and of the heterocycles are aromatic where the strings are.
func TestAromaticityOfKekule(t *testing.T) {
	var all []string
	for _, line := range fileLines(t, "../builtin/drugs.csv") {
		all = append(all, line[strings.LastIndexByte(line, ',')+1:])
	}
	for _, line := range fileLines(t, "testdata/heterocycles.txt") {
		s, _, _ := strings.Cut(line, " ")
		all = append(all, s)
	}
	for _, s := range all {
		m, err := ParseSMILES(s, noLimit)
		if err != nil {
			t.Fatal(err)
		}
		orders, err := m.Kekule()
		if err != nil {
			t.Fatal(err)
		}
		k := &Molecule{Atoms: slices.Clone(m.Atoms), Bonds: slices.Clone(m.Bonds)}
		for i := range k.Atoms {
			k.Atoms[i].Aromatic = false
		}
		for i := range k.Bonds {
			k.Bonds[i].Order = orders[i]
		}
		again, err := ParseSMILES(k.SMILES(), noLimit)
		if err != nil {
			t.Fatal(err)
		}
		wantAtoms, wantBonds := m.Aromaticity()
		for _, x := range []*Molecule{k, again} {
			atoms, bonds := x.Aromaticity()
			if !slices.Equal(atoms, wantAtoms) || x == k && !slices.Equal(bonds, wantBonds) {
				t.Errorf("%s and %s: aromatic atoms %v, %v", s, k.SMILES(), wantAtoms, atoms)
			}
		}
	}
	if len(all) < 700 {
		t.Errorf("%d strings", len(all))
	}
}

// fileLines returns the lines of a file but for the first, which is a header.
func fileLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
}

// The search for rings looks at few bonds of an atom that has many.
func TestAromaticityOfHubs(t *testing.T) {
	const n = 5000
	hubs := func(n int32, bound bool) *Molecule { // unknown atoms, two of which are bound to all others
		m := &Molecule{Atoms: make([]Atom, n+2)}
		for i := range n {
			m.Bonds = append(m.Bonds, Bond{A: n, B: i, Order: Single}, Bond{A: n + 1, B: i, Order: Single})
		}
		if bound {
			m.Bonds = append(m.Bonds, Bond{A: n, B: n + 1, Order: Single})
		}
		return m
	}
	for _, c := range []struct {
		name   string
		smiles string
		m      *Molecule
		looked int // bonds, for each of the molecule
		rings  int
	}{
		{"an iron atom", "[Fe]" + strings.Repeat("(C=1)(C=1)", n) + "C", nil, 4, 0},
		{"an unknown atom", "*" + strings.Repeat("(C=1)(C=1)", n) + "C", nil, 4, n},
		{"two unknown atoms", "", hubs(n, false), maxLooked, 0},
		{"two that are bound", "", hubs(1000, true), maxLooked, 1000},
	} {
		m := c.m
		if m == nil {
			var err error
			if m, err = ParseSMILES(c.smiles, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		orders, err := m.Kekule()
		if err != nil {
			t.Fatal(c.name, err)
		}
		ring := m.ringBonds()
		s := newRingSearch(m, ring, m.piElectrons(orders, ring))
		rings := s.all()
		if most := c.looked * len(m.Bonds); len(rings) != c.rings || s.looked > most {
			t.Errorf("%s: %d rings, want %d; %d bonds looked at, want %d at most", c.name, len(rings), c.rings, s.looked, most)
		}
		fused := 0
		for _, near := range fusedRings(rings) {
			fused += len(near)
		}
		if fused > maxShared*len(rings) {
			t.Errorf("%s: %d rings, fused %d times", c.name, len(rings), fused)
		}
	}
}

// A ring through an atom that cannot be aromatic leaves no place for a longer one, as in 1,6-methano[10]annulene.
func TestAromaticityBridge(t *testing.T) {
	if atoms, bonds := aromatic(t, "C1C2=CC=CC=C1C=CC=C2"); atoms != 0 || bonds != 0 {
		t.Errorf("%d atoms and %d bonds are aromatic, want none", atoms, bonds)
	}
}
