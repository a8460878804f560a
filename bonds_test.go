package mlg_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg"
	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// molecular is the kernel of molecules by default.
func molecular(exact bool) mlg.Kernel {
	k := mlg.Default()
	k.Bonds, k.Exact = mlg.Yes, exact
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
		k.Bonds = mlg.No
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
	two := readMolecules(t, smiles...)
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

func readMolecules(t *testing.T, smiles ...string) (out []*graph.Graph) {
	t.Helper()
	for _, s := range smiles {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
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
	plain.Bonds = mlg.No
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

// Different writings of a molecule are the same, and so are marks that say nothing.
func TestBondsSame(t *testing.T) {
	for name, pair := range map[string][2]string{
		"benzene with alternating bonds": {"c1ccccc1", "C1=CC=CC=C1"}, "indole": {"c1ccc2[nH]ccc2c1", "C1=CC=C2C(=C1)C=CN2"},
		"o-xylene, both ways": {"CC1=CC=CC=C1C", "CC1=C(C)C=CC=C1"}, "another order of atoms": {"OCC", "CCO"},
		"marks on what is not stereogenic": {"C[C@H](C)O", "CC(C)O"}, "the same side, both ways": {"C/C=C\\C", "C\\C=C/C"},
		"meso forms": {"C[C@H](O)[C@@H](C)O", "C[C@@H](O)[C@H](C)O"}, "a centre, both ways": {"C[C@H](N)O", "N[C@@H](C)O"},
		"hydrogens as atoms of a bracket": {"[CH3][CH3]", "CC"},
	} {
		if k := pairSimilarity(t, molecular(true), pair[:]...); k < 1-1e-9 {
			t.Errorf("%s: %v, want 1", name, k)
		}
	}
}

// Stereoisomers are alike, nearer to each other than to molecules that differ in a bond or an atom, and not equal. What is
// not specified is a third.
func TestStereoTellsApart(t *testing.T) {
	without, only := molecular(true), molecular(true)
	without.Stereo = mlg.No
	only.Bonds, only.Stereo = mlg.No, mlg.Yes
	for name, set := range map[string][3]string{ // the last is no stereoisomer
		"cis and trans":             {"C/C=C\\C", "C/C=C/C", "CCCC"},
		"cis and unspecified":       {"C/C=C\\C", "CC=CC", "CCCC"},
		"enantiomers":               {"C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "C[C@H](N)C(O)O"},
		"specified and unspecified": {"C[C@H](N)C(=O)O", "CC(N)C(=O)O", "C[C@H](N)C(O)O"},
		"meso and chiral":           {"C[C@H](O)[C@@H](C)O", "C[C@H](O)[C@H](C)O", "C[C@H](O)[C@@H](C)F"},
		"cis and trans in a ring":   {"C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1", "C[C@H]1CC[C@@H](O)CC1"},
		"allenes":                   {"CC=[C@]=CF", "CC=[C@@]=CF", "CCC=CF"},
		"thalidomide": {"O=C1CC[C@H](N2C(=O)c3ccccc3C2=O)C(=O)N1", "O=C1CC[C@@H](N2C(=O)c3ccccc3C2=O)C(=O)N1",
			"O=C1CC[C@H](N2C(=O)c3ccccc3C2)C(=O)N1"},
	} {
		k, other := pairSimilarity(t, molecular(true), set[0], set[1]), pairSimilarity(t, molecular(true), set[0], set[2])
		if !(k > 0.7 && k < 0.99 && k > other) {
			t.Errorf("%s: %v, and %v for another molecule", name, k, other)
		}
		if k := pairSimilarity(t, without, set[0], set[1]); k < 1-1e-9 {
			t.Errorf("%s: %v without stereo, want 1", name, k)
		}
		if k := pairSimilarity(t, only, set[0], set[1]); strings.Contains(set[0], "@") && k > 0.99 {
			t.Errorf("%s: %v with stereo and without bonds, want less than 1", name, k)
		}
	}
}

// Data without marks have the same values with and without stereo, to the bit. With marks the kernel is ½ elements + ¼ bonds
// + ¼ bonds · stereo.
func TestStereoByGraphs(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	gram := func(k kernel.Kernel, graphs []*graph.Graph) []float64 {
		f, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}
	k, without := mlg.Default(), mlg.Default()
	without.Stereo = mlg.No
	graphs := ds.Graphs[:30]
	if !slices.Equal(gram(k, graphs), gram(without, graphs)) {
		t.Error("stereo changes data without marks")
	}
	for _, s := range []string{"C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"} {
		g, err := dataset.ParseSMILES(s, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(slices.Clip(graphs), g)
	}
	marked := make([]*graph.Graph, len(graphs))
	for i, g := range graphs {
		marked[i] = chem.Stereo()(g)
	}
	got, plain := gram(k, graphs), without
	plain.Bonds = mlg.No
	whole := plain
	whole.Radii, whole.Base = nil, "configuration"
	a, b, c := gram(plain, graphs), gram(kernel.Subdivided(plain), graphs), gram(kernel.Subdivided(whole), marked)
	for i, v := range got {
		if want := 0.5*a[i] + 0.25*b[i] + 0.25*(b[i]*c[i]); v != want {
			t.Fatalf("value %d is %v, want %v", i, v, want)
		}
	}
}

// No descriptor is too rare: stereoisomers differ among any other molecules, also where these have no such descriptor, and
// where the kernel is fitted to molecules without any.
func TestRareStereo(t *testing.T) {
	ds, err := dataset.Read(t.Context(), "builtin:drugs", dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	set := readMolecules(t, "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "CC(N)C(=O)O", "CC=[C@]=CF", "CC=[C@@]=CF", "CC=C=CF",
		"C[C@H]1CC[C@@H](O)CC1", "C[C@H]1CC[C@H](O)CC1", "CC1CCC(O)CC1", "C/C=C\\C", "C/C=C/C", "CC=CC")
	k := mlg.Default()
	k.Stereo = mlg.Yes
	for _, train := range [][]*graph.Graph{ds.Graphs, slices.Concat(ds.Graphs, set), slices.Concat(ds.Graphs[:20], set[3:4])} {
		f, err := k.Fit(t.Context(), train)
		if err != nil {
			t.Fatal(err)
		}
		x, err := f.Transform(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		m, err := kernel.Between(t.Context(), f.Map, x, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(set); i += 3 {
			first, second, apart := m.At(i, i+2), m.At(i+1, i+2), m.At(i, i+1)
			if !(apart < 0.99 && first < 0.99 && second < 0.99 && apart > 0.75) {
				t.Errorf("%s: %v to its isomer, %v and %v to the unspecified one", set[i].SMILES(), apart, first, second)
			}
			if math.Abs(first-second) > 1e-12 && i < 6 { // mirror images
				t.Errorf("%s: %v, its mirror image %v from the racemate", set[i].SMILES(), first, second)
			}
		}
	}
}

// All stereoisomers of two tables differ by more than search prints.
func TestStereoOfTables(t *testing.T) {
	graphtest.Slow(t)
	for name, want := range map[string]int{"lipo": 73, "bace": 24} {
		ds, err := dataset.Read(t.Context(), graphtest.Table(t, name+".csv"), dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		f, err := mlg.Default().Fit(t.Context(), ds.Graphs)
		if err != nil {
			t.Fatal(err)
		}
		pairs := 0
		for _, some := range byFormula(ds.Graphs) {
			for a := range some {
				for b := range a {
					i, j := some[a], some[b]
					if dataset.Same(ds.Graphs[i], ds.Graphs[j]) != dataset.OtherStereo {
						continue
					}
					pairs++
					k, err := kernel.Between(t.Context(), f.Map, f.Train.Select([]int{i}), f.Train.Select([]int{j}))
					if err != nil {
						t.Fatal(err)
					}
					if x := k.At(0, 0); !(x < 1-1e-3 && x > 0.75) {
						t.Errorf("%s: %v for %s and %s", name, x, ds.Graphs[i].SMILES(), ds.Graphs[j].SMILES())
					}
				}
			}
		}
		if pairs != want {
			t.Errorf("%s: %d pairs of isomers, want %d", name, pairs, want)
		}
	}
}

// byFormula returns the positions of graphs with the same labels and as many edges, of each such group.
func byFormula(graphs []*graph.Graph) map[string][]int {
	out := map[string][]int{}
	for i, g := range graphs {
		labels := slices.Sorted(slices.Values(g.Labels()))
		key := fmt.Sprint(labels, g.M())
		out[key] = append(out[key], i)
	}
	return out
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

// Where vertices have labels and attributes, half of the kernel compares both, the attributes standardised. It is so by the
// definition and by the low-rank kernel, with the labels of edges, and for directed graphs.
func TestLabelsAndAttributes(t *testing.T) {
	build := func(directed, edgeLabels bool) (graphs []*graph.Graph) {
		for i := range 12 {
			b := graph.NewBuilder(5)
			if directed {
				b.SetDirected()
			}
			for v := range 5 {
				b.SetLabel(v, string("ab"[(i+v)%2]))
				b.SetAttributes(v, []float64{float64(i * v), 100 * float64(v-i%3)})
				label := ""
				if edgeLabels {
					label = string("xy"[(i*v)%2])
				}
				b.AddLabeledEdge(v, (v+1+i%2)%5, 1, label)
			}
			g, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			graphs = append(graphs, g)
		}
		return graphs
	}
	values := func(text string, graphs []*graph.Graph) []float64 {
		t.Helper()
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.Fit(t.Context(), graphs[:8])
		if err != nil {
			t.Fatal(err)
		}
		gram, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cross, err := f.Cross(t.Context(), graphs[8:])
		if err != nil {
			t.Fatal(err)
		}
		return append(gram.Data, cross.Data...)
	}
	const both = "0.5 mlg%s base=(labels * gaussian sigma=1.4142135623730951) standardize + "
	for _, method := range []string{"", " exact"} {
		for _, c := range []struct {
			directed, edgeLabels bool
			labels               string
		}{
			{false, false, "0.5 mlg%s base=labels"},
			{false, true, "0.25 mlg%s base=labels bonds=false + 0.25 mlg%[1]s base=labels bonds=false subdivide"},
			{true, true, "0.5 mlg%s base=labels"},
		} {
			graphs := build(c.directed, c.edgeLabels)
			want := values(fmt.Sprintf(both, method)+fmt.Sprintf(c.labels, method), graphs)
			for i, v := range values("mlg"+method, graphs) {
				if math.Abs(v-want[i]) > 1e-15 {
					t.Errorf("%v, mlg%s: value %d is %v, want %v", c, method, i, v, want[i])
					break
				}
			}
		}
	}
	// In every form the factors are kernels of their own, which a model can keep.
	for _, form := range []string{"subdivide", "incident", "undirected", "directed", "standardize"} {
		for _, labels := range []bool{true, false} {
			graphs := build(form == "undirected", true)
			for i, g := range graphs {
				if !labels {
					graphs[i] = g.WithoutLabels()
				}
			}
			k, err := kernel.Parse("mlg " + form)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := kernel.NewCollection(graphs).Fit(t.Context(), k)
			if err != nil {
				t.Fatal(form, err)
			}
			for _, f := range sum.Factors {
				fitted, err := f.Fitted(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := fitted.Map.(*mlg.LowRank); !ok {
					t.Errorf("%s, labels %v: %s is fitted as %T", form, labels, f, fitted.Map)
				}
			}
		}
	}
	mixed := build(false, false)
	mixed[3] = readMolecules(t, "CC")[0]
	if sum, ok := mlg.Default().AsSum(mixed[:3], kernel.Form{}); !ok || len(sum.Terms) != 2 {
		t.Errorf("labels and attributes everywhere: %v", sum)
	}
	k := mlg.Default()
	k.Bonds = mlg.No
	if sum, ok := k.AsSum(mixed, kernel.Form{}); ok {
		t.Errorf("a graph without attributes: %v", sum)
	}
}
