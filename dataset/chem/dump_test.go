package chem

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// formula returns the molecular formula in Hill's order: carbon, hydrogen, then the other
// elements by alphabet; by alphabet throughout when there is no carbon. The net charge
// stands at the end, as in "C4H12N+" and "O4S-2". Isotopes are not told apart.
func formula(m *Molecule) string {
	count := map[string]int{}
	var all Atom
	for _, a := range m.Atoms {
		count[symbols[a.Element]]++
		count["H"] += a.Hydrogens
		all.Charge += a.Charge
	}
	rank := func(s string) string {
		if count["C"] > 0 && (s == "C" || s == "H") {
			return "\x00" + s
		}
		return s
	}
	var b strings.Builder
	for _, s := range slices.SortedFunc(maps.Keys(count), func(a, b string) int { return strings.Compare(rank(a), rank(b)) }) {
		if count[s] > 0 {
			b.WriteString(s)
		}
		if count[s] > 1 {
			b.WriteString(strconv.Itoa(count[s]))
		}
	}
	return b.String() + all.ChargeText()
}

// TestDrugFormulas compares the formulas in the table of drugs with those of the molecules.
func TestDrugFormulas(t *testing.T) {
	f, err := os.Open("../builtin/drugs.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names, classes := map[string]bool{}, map[string]bool{}
	for _, row := range rows[1:] {
		name, class, want, smiles := row[0], row[1], row[2], row[3]
		m, err := ParseSMILES(smiles, noLimit)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := formula(m); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if names[name] {
			t.Errorf("%s stands twice", name)
		}
		names[name], classes[class] = true, true
	}
	if len(names) < 160 || len(classes) < 8 {
		t.Errorf("%d drugs in %d classes, want at least 160 in 8", len(names), len(classes))
	}
}

// TestDump reads the SMILES strings of the file $MLG_DUMP, one a line, or, when its name ends
// with .sdf, molecules, and writes what becomes of each into the file $MLG_DUMP.json, a line of
// JSON each: for the comparisons with RDKit in dataset/checks.
func TestDump(t *testing.T) {
	name := os.Getenv("MLG_DUMP")
	if name == "" {
		name = filepath.Join(t.TempDir(), "example.smi")
		if err := os.WriteFile(name, []byte("C[C@H](N)C(=O)O\nc1cc[nH]c1\nC(\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(out)
	dump := func(m *Molecule, err error) {
		r := map[string]any{}
		if err != nil {
			r["error"] = err.Error()
		} else {
			r["formula"], r["atoms"], r["bonds"], r["smiles"] = formula(m), m.Atoms, slices.Clone(m.Bonds), m.SMILES()
			r["aromatic_atoms"], r["aromatic_bonds"] = m.Aromaticity()
			r["atom_descriptors"], r["bond_descriptors"] = m.Descriptors()
			if orders, err := m.Kekule(); err == nil { // a connection table may be aromatic without one
				r["unpaired"] = m.Unpaired(orders)
				for i := range m.Bonds {
					m.Bonds[i].Order = orders[i]
				}
				r["kekule"] = m.Bonds
			}
		}
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var text []string
	for lines.Scan() {
		switch {
		case !strings.HasSuffix(name, ".sdf"):
			dump(ParseSMILES(lines.Text(), noLimit))
		case lines.Text() == "$$$$":
			m, _, err := ParseMol(text, noLimit)
			dump(m, err)
			text = nil
		default:
			text = append(text, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
