package dataset

import (
	"strconv"
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// ParseSMILES returns the graph of a molecule. Vertices are labelled by element and, as
// the options say, charge, aromaticity and hydrogens; edges by bond symbol (- = # $ :).
func ParseSMILES(smiles string, opts Options) (*graph.Graph, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return fromSMILES(smiles, "", "", opts)
}

// fromSMILES makes a graph with identifier and target; the options are valid.
func fromSMILES(smiles, id, target string, opts Options) (*graph.Graph, error) {
	m, err := chem.ParseSMILES(smiles, opts.Limits.Vertices)
	if err != nil {
		return nil, err
	}
	b, err := moleculeBuilder(m, opts)
	if err != nil {
		return nil, err
	}
	b.SetID(id)
	b.SetTarget(target)
	return b.Build()
}

// Formula returns the molecular formula of a SMILES string in Hill's order, with all
// hydrogens.
func Formula(smiles string) (string, error) {
	m, err := chem.ParseSMILES(smiles, DefaultOptions().Limits.Vertices)
	if err != nil {
		return "", err
	}
	return m.Formula(), nil
}

// moleculeBuilder makes vertices of atoms and edges of bonds.
func moleculeBuilder(m *chem.Molecule, opts Options) (*graph.Builder, error) {
	if opts.Strict {
		if err := m.CheckValence(); err != nil {
			return nil, err
		}
	}
	switch opts.Hydrogens {
	case HydrogensExplicit:
		m = m.WithHydrogens()
	case HydrogensImplicit:
		m = m.WithoutHydrogens()
	}
	b := graph.NewBuilder(len(m.Atoms))
	for i, a := range m.Atoms {
		b.SetLabel(i, atomLabel(a, opts))
		if m.HasCoordinates {
			b.SetCoordinates(i, a.X, a.Y)
		}
	}
	for _, e := range m.Bonds {
		b.AddLabeledEdge(int(e.A), int(e.B), 1, e.Order.String())
	}
	return b, nil
}

func atomLabel(a chem.Atom, opts Options) string {
	s := chem.Symbol(a.Element)
	if opts.AtomAromatic && a.Aromatic {
		s = strings.ToLower(s)
	}
	if opts.AtomHydrogens && a.Hydrogens > 0 {
		s += "H"
		if a.Hydrogens > 1 {
			s += strconv.Itoa(a.Hydrogens)
		}
	}
	if opts.AtomCharge {
		s += a.ChargeText()
	}
	return s
}
