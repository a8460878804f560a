package graph

import "sync"

// origin is the molecule that a graph was made of: a SMILES string, and what package chem makes of it. Each
// is made of the other when it is first asked for. Copies of a graph share it.
type origin struct {
	write func() string // nil for a string that is known
	text  sync.Once
	read  sync.Once

	smiles   string
	molecule any
	err      error
}

// SMILES returns the molecule that the graph was made of, as a SMILES string with the vertices as
// its atoms in their order, "" when absent. It holds what labels do not: hydrogens, charges,
// isotopes, stereochemistry. It is for pictures; kernels do not read it, and graphs with other
// vertices do not have it.
func (g *Graph) SMILES() string {
	o := g.origin
	if o == nil {
		return ""
	}
	o.text.Do(func() {
		if o.write != nil {
			o.smiles = o.write()
		}
	})
	return o.smiles
}

// Molecule returns the molecule that the graph was made of, nil when absent: that of SetMolecule, or
// what parse made of the SMILES string at the first call. It must not be changed.
func (g *Graph) Molecule(parse func(smiles string) (any, error)) (any, error) {
	o := g.origin
	if o == nil {
		return nil, nil
	}
	o.read.Do(func() {
		if o.molecule == nil {
			o.molecule, o.err = parse(g.SMILES())
		}
	})
	return o.molecule, o.err
}

// SetSMILES sets the molecule that the graph is, as a SMILES string with the vertices as its atoms in
// their order. Nothing is checked: package chem, which reads it, looks whether it fits.
func (b *Builder) SetSMILES(smiles string) {
	if b.origin = nil; smiles != "" {
		b.origin = &origin{smiles: smiles}
	}
}

// SetMolecule sets the molecule that the graph is, with the vertices as its atoms in their order. It must
// not be changed any more.
func (b *Builder) SetMolecule(m interface{ SMILES() string }) {
	b.origin = &origin{write: m.SMILES, molecule: m}
}
