package draw

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

// TestDump draws the SMILES strings of the file $MLG_DUMP, one a line, and writes what the pictures show
// into the file $MLG_DUMP.json, a line of JSON each: for the comparisons with RDKit in dataset/checks.
// With $MLG_PICTURES, a folder, the pictures are written there too.
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
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if err := e.Encode(dump(t, lines.Text(), n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// dump returns atoms with place, text and dots, bonds with order, and wedges of a molecule.
func dump(t *testing.T, smiles string, n int) map[string]any {
	g, err := dataset.ParseSMILES(smiles, dataset.DefaultOptions())
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	m, adj, pos := layout(t, g)
	systems, _ := adj.ringSystems()
	var atoms, bonds, wedges []map[string]any
	for v, a := range m.atoms {
		atoms = append(atoms, map[string]any{"x": pos[v].x, "y": pos[v].y, "symbol": a.symbol, "isotope": a.isotope,
			"hydrogens": a.hydrogens, "charge": a.charge, "unpaired": a.unpaired})
	}
	for _, b := range m.bonds {
		bonds = append(bonds, map[string]any{"a": b.u, "b": b.v, "order": b.order, "aromatic": b.aromatic})
	}
	for _, w := range m.wedges(systems, pos) {
		r := map[string]any{"atom": w.atom, "up": w.up, "x": w.to.x, "y": w.to.y, "to": -1}
		if w.bond >= 0 {
			r["to"] = m.bonds[w.bond].other(w.atom)
		}
		wedges = append(wedges, r)
	}
	if folder := os.Getenv("MLG_PICTURES"); folder != "" {
		p, err := Graph(g, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(folder+"/"+strconv.Itoa(n)+".svg", p.SVG(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	q := measure(adj, pos)
	return map[string]any{"atoms": atoms, "bonds": bonds, "wedges": wedges, "crossings": q.crossings,
		"shortest": q.shortest, "longest": q.longest, "nearest": q.nearest}
}
