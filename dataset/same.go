package dataset

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// Sameness says what two graphs have to do with each other.
type Sameness string

// The samenesses.
const (
	Different    Sameness = ""
	SameMolecule Sameness = "same molecule"
	OtherStereo  Sameness = "same molecule, other stereochemistry"
)

// Same compares two molecules: however they are read and written, whether they are the same but for identifier and target, or
// but for their stereochemistry. Graphs that are no molecules are Different unless they are isomorphic. Rows of a table are
// compared part by part.
func Same(g, h *graph.Graph) Sameness {
	switch {
	case g.Parts() != nil || h.Parts() != nil:
		return sameRow(g, h)
	case g == h, g.SMILES() != "" && g.SMILES() == h.SMILES():
		return SameMolecule
	case sketch(g) != sketch(h) || !graph.Isomorphic(constitution(g), constitution(h)):
		return Different
	case graph.Isomorphic(Identity(g), Identity(h)):
		return SameMolecule
	}
	return OtherStereo
}

// sameRow is Same for rows.
func sameRow(g, h *graph.Graph) Sameness {
	if len(g.Parts()) != len(h.Parts()) {
		return Different
	}
	out := SameMolecule
	for _, p := range g.Parts() {
		q := h.Part(p.Name)
		switch {
		case q == nil || p.Graph.N() != q.N() && p.Value:
			return Different
		case p.Value && !slices.Equal(p.Graph.Labels(), q.Labels()):
			return Different
		case p.Value:
			continue
		}
		switch Same(p.Graph, q) {
		case Different:
			return Different
		case OtherStereo:
			out = OtherStereo
		}
	}
	return out
}

// Index finds a molecule among others. Its methods may be called concurrently.
type Index struct {
	graphs []*graph.Graph
	at     map[uint64][]int // by sketch
}

// NewIndex returns an index of molecules.
func NewIndex(graphs []*graph.Graph) *Index {
	x := &Index{graphs, map[uint64][]int{}}
	for i, g := range graphs {
		key := sketch(g)
		x.at[key] = append(x.at[key], i)
	}
	return x
}

// Find returns the first graph that is the same molecule, or else the first with other stereochemistry; Different if there is
// none.
func (x *Index) Find(g *graph.Graph) (at int, same Sameness) {
	all, same := x.FindAll(g)
	if same == Different {
		return 0, same
	}
	return all[0], same
}

// FindAll returns all graphs that are the same molecule, or else all with other stereochemistry, ascending.
func (x *Index) FindAll(g *graph.Graph) (at []int, same Sameness) {
	for _, i := range x.at[sketch(g)] {
		s := Same(g, x.graphs[i])
		if s == Different || s == OtherStereo && same == SameMolecule {
			continue
		}
		if s != same {
			at, same = nil, s
		}
		at = append(at, i)
	}
	return at, same
}

// sketch returns a number that is the same for isomorphic graphs, and for molecules however their hydrogens are written, and
// mostly another for others.
func sketch(g *graph.Graph) uint64 {
	at, next := make([]uint64, g.N()), make([]uint64, g.N())
	hydrogen := make([]bool, g.N())
	for v := range at {
		label := g.Label(v)
		if g.SMILES() != "" {
			label = element(label)
			hydrogen[v] = label == "H"
		}
		at[v] = maphash.String(sketchSeed, label)
	}
	for range 3 {
		for v := range at {
			next[v] = at[v] * 0x9e3779b97f4a7c15
			for i, u := range g.Neighbors(v) {
				if !hydrogen[u] {
					next[v] += mixed(at[u] ^ maphash.String(sketchSeed, g.EdgeLabel(v, i)))
				}
			}
		}
		at, next = next, at
	}
	sum := uint64(0)
	for v, x := range at {
		if !hydrogen[v] {
			sum += mixed(x)
		}
	}
	for _, p := range g.Parts() {
		if p.Value && p.Graph.N() > 0 {
			sum += mixed(maphash.String(sketchSeed, p.Name+"\n"+p.Graph.Label(0)))
		} else if !p.Value {
			sum += mixed(maphash.String(sketchSeed, p.Name) * sketch(p.Graph))
		}
	}
	return sum
}

// element returns the element of an atom label, which may go on with charge and hydrogens.
func element(label string) string {
	for i, c := range label {
		if i > 0 && (c < 'a' || c > 'z') {
			return label[:i]
		}
	}
	return label
}

var sketchSeed = maphash.MakeSeed()

func mixed(x uint64) uint64 {
	x = (x ^ x>>31) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// Identity returns the graph that is isomorphic for equal molecules only, however they are read and written. Of a
// graph that is no molecule it is the graph itself.
func Identity(g *graph.Graph) *graph.Graph { return written(g, true) }

// constitution is Identity without stereochemistry.
func constitution(g *graph.Graph) *graph.Graph { return written(g, false) }

func written(g *graph.Graph, stereo bool) *graph.Graph {
	if g.Parts() != nil {
		return writtenRow(g, stereo)
	}
	if g.SMILES() == "" {
		return g
	}
	if m, err := chem.Of(g); err == nil {
		if full, err := identityGraph(m, stereo); err == nil {
			return full
		}
	}
	return g
}

// writtenRow returns the union of what the parts of a row are, with their names in the labels.
func writtenRow(g *graph.Graph, stereo bool) *graph.Graph {
	var parts []graph.Part
	for _, p := range g.Parts() {
		h := p.Graph
		if !p.Value {
			h = written(h, stereo)
		}
		labels := make([]string, h.N())
		for v := range labels {
			labels[v] = p.Name + "\n" + h.Label(v)
		}
		parts = append(parts, graph.Part{Name: p.Name, Graph: h.PickAttributes(nil).Relabel(labels)})
	}
	row, err := graph.Row("", "", parts)
	if err != nil {
		panic("dataset: " + err.Error()) // the parts of a row are valid
	}
	return row
}

// identityGraph has everything that tells molecules apart in its labels.
func identityGraph(m *chem.Molecule, stereo bool) (*graph.Graph, error) {
	m = m.WithoutHydrogens().Usual()
	atoms, bonds := m.Aromaticity()
	ofAtoms, ofBonds := make([]chem.Descriptor, len(m.Atoms)), make([]chem.Descriptor, len(m.Bonds))
	if stereo && m.Marked() { // without marks all that is stereogenic is unspecified
		ofAtoms, ofBonds = m.Descriptors()
		for _, list := range [][]chem.Descriptor{ofAtoms, ofBonds} {
			for i, d := range list {
				if d == chem.Unspecified {
					list[i] = ""
				}
			}
		}
	}
	b := graph.NewBuilder(len(m.Atoms))
	for i, a := range m.Atoms {
		b.SetLabel(i, fmt.Sprint(a.Element, a.Charge, a.Hydrogens, a.Isotope, atoms[i], ofAtoms[i]))
	}
	for i, e := range m.Bonds {
		if bonds[i] {
			e.Order = chem.Aromatic
		}
		b.AddLabeledEdge(int(e.A), int(e.B), float64(e.Order), e.Order.String()+string(ofBonds[i]))
	}
	return b.Build()
}
