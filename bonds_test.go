package mlg_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/kernel"
)

// molecular is the kernel of molecules by default.
func molecular(exact bool) mlg.Kernel {
	k := mlg.Default()
	k.Bonds, k.Exact = mlg.WithBonds, exact
	return k
}

// With bonds the kernel is the mean of that of graphs as they are and of that of graphs whose edges are vertices.
func TestBonds(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	train, fresh := ds.Graphs[:20], ds.Graphs[20:30]
	subdivided := func(graphs []*graph.Graph) (out []*graph.Graph) {
		for _, g := range graphs {
			out = append(out, g.Subdivide())
		}
		return out
	}
	matrices := func(k kernel.Kernel, train, fresh []*graph.Graph) []float64 {
		f, err := k.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		gram, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cross, err := f.Cross(t.Context(), fresh)
		if err != nil {
			t.Fatal(err)
		}
		return append(gram.Data, cross.Data...)
	}
	for _, exact := range []bool{false, true} {
		k := molecular(exact)
		got := matrices(k, train, fresh)
		k.Bonds = mlg.WithoutBonds
		plain, edges := matrices(k, train, fresh), matrices(k, subdivided(train), subdivided(fresh))
		for i, v := range got {
			if want := 0.5*plain[i] + 0.5*edges[i]; v != want {
				t.Fatalf("exact %v: value %d is %v, want %v", exact, i, v, want)
			}
		}
	}
	// It is a sum wherever kernels are combined.
	sum, err := kernel.NewCollection(train).Sum(kernel.Product(molecular(false), molecular(true)))
	if err != nil || len(sum.Sum.Terms) != 4 || len(sum.Factors) != 4 {
		t.Errorf("a product of two kernels with bonds: %v, %v", sum, err)
	}
	if _, err := mlg.Fit(t.Context(), train, molecular(false)); err == nil || !strings.Contains(err.Error(), `bonds = "true"`) {
		t.Errorf("Fit with bonds: %v", err)
	}
}

// pairSimilarity is the exact similarity of two molecules.
func pairSimilarity(t *testing.T, k mlg.Kernel, smiles ...string) float64 {
	t.Helper()
	var two []*graph.Graph
	for _, s := range smiles {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		two = append(two, g)
	}
	f, err := k.Fit(t.Context(), two)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m.At(0, 1)
}

const (
	morphine      = "CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35"
	hydromorphone = "CN1CCC23C4Oc5c(O)ccc(CC1C2CCC4=O)c35"
	cortisone     = "CC12CCC(=O)C=C1CCC1C2C(=O)CC2(C)C1CCC2(O)C(=O)CO"
	prednisone    = "CC12CC(=O)C3C(CCC4=CC(=O)C=CC34C)C1CCC2(O)C(=O)CO"
)

// Molecules that differ in the orders of their bonds alone are the same without bonds, and differ with them.
func TestBondsTellApart(t *testing.T) {
	plain := molecular(true)
	plain.Bonds = mlg.WithoutBonds
	for name, pair := range map[string][2]string{
		"morphine and hydromorphone": {morphine, hydromorphone}, "cortisone and prednisone": {cortisone, prednisone},
		"cyclohexane and benzene": {"C1CCCCC1", "c1ccccc1"}, "ethane and ethene": {"CC", "C=C"}, "ethene and ethyne": {"C=C", "C#C"},
		"piperidine and pyridine": {"C1CCNCC1", "c1ccncc1"}, "ethanol and acetaldehyde": {"CCO", "CC=O"},
	} {
		if k := pairSimilarity(t, plain, pair[:]...); k < 1-1e-9 {
			t.Errorf("%s: %v without bonds, want 1", name, k)
		}
		if k := pairSimilarity(t, molecular(true), pair[:]...); !(k > 0.4 && k < 0.99) {
			t.Errorf("%s: %v, want less than 1, and half for the same skeleton", name, k)
		}
	}
}

// Different writings of a molecule are the same, and so are, by default, charges and stereochemistry.
func TestBondsSame(t *testing.T) {
	for name, pair := range map[string][2]string{
		"benzene with alternating bonds": {"c1ccccc1", "C1=CC=CC=C1"}, "indole": {"c1ccc2[nH]ccc2c1", "C1=CC=C2C(=C1)C=CN2"},
		"o-xylene, both ways": {"CC1=CC=CC=C1C", "CC1=C(C)C=CC=C1"}, "another order of atoms": {"OCC", "CCO"},
		"cis and trans": {"C/C=C\\C", "C/C=C/C"}, "mirror images": {"C[C@H](N)O", "C[C@@H](N)O"},
		"acid and anion": {"CC(=O)O", "CC(=O)[O-]"}, "hydrogens as atoms of a bracket": {"[CH3][CH3]", "CC"},
	} {
		if k := pairSimilarity(t, molecular(true), pair[:]...); k < 1-1e-9 {
			t.Errorf("%s: %v, want 1", name, k)
		}
	}
}

// The nearest drugs are those that a chemist would name, in an order that one would accept.
func TestNearestDrugs(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	f, err := molecular(false).Fit(t.Context(), ds.Graphs)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := ds.IDs()
	for _, chain := range [][]string{ // each nearer to the first than the next
		{"morphine", "codeine", "naloxone", "methadone", "cortisone"},
		{"morphine", "hydromorphone", "hydrocodone", "fentanyl", "diazepam"},
		{"cortisone", "prednisone", "dexamethasone", "estradiol", "morphine"},
		{"diazepam", "nordazepam", "tetrazepam", "testosterone"},
	} {
		from, last := slices.Index(ids, chain[0]), 1.0
		for _, id := range chain[1:] {
			to := slices.Index(ids, id)
			if to < 0 {
				t.Fatalf("no drug %s", id)
			}
			if x := k.At(from, to); !(x < last) {
				t.Errorf("%s and %s: %v, want less than %v", chain[0], id, x, last)
			} else {
				last = x
			}
		}
	}
}
