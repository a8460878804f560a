package dataset

import (
	"strings"

	"github.com/mlgkernel/mlg/dataset/chem"
	"github.com/mlgkernel/mlg/graph"
)

// ParseSMILES returns the graph of a molecule. Vertices are labelled by element and, as
// the options say, charge, aromaticity and hydrogens; edges by bond symbol (- = # $ : ~). With Options.Rows it is
// a row, whose parts have semicolons between them, as in "CCO; O; 298".
func ParseSMILES(smiles string, opts Options) (*graph.Graph, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Rows != nil {
		return opts.parseRow(smiles)
	}
	if err := opts.noRows(SMILES); err != nil {
		return nil, err
	}
	m, err := chem.ParseSMILES(smiles, opts.Limits.Vertices)
	if err != nil {
		return nil, err
	}
	g, err := (&stream{opts: opts, warn: &warnings{}}).moleculeGraph(m, "", "")
	if err != nil {
		return nil, err
	}
	return opts.EdgeWeight.apply(g)
}

// smiles returns the graph of a molecule in a line, without edge weights. An error is a
// *lineError.
func (s *stream) smiles(smiles, id, target string, line int) (*graph.Graph, error) {
	if err := s.broken[smiles]; err != nil {
		return nil, &lineError{line, err}
	}
	m, err := chem.ParseSMILES(smiles, s.opts.Limits.Vertices)
	if err == nil {
		var g *graph.Graph
		if g, err = s.moleculeGraph(m, id, target); err == nil {
			return g, nil
		}
	}
	if len(s.broken) < maxBroken {
		if s.broken == nil {
			s.broken = map[string]error{}
		}
		s.broken[strings.Clone(smiles)] = err
	}
	return nil, &lineError{line, err}
}

// moleculeGraph makes vertices of atoms and edges of bonds.
func (s *stream) moleculeGraph(m *chem.Molecule, id, target string) (*graph.Graph, error) {
	opts := s.opts
	if opts.LargestFragment {
		if part := m.LargestFragment(); part != m {
			m = part
			s.warn.add(1, "molecule with several fragments: only the largest is kept",
				"molecules with several fragments: only the largest is kept")
		}
	}
	switch opts.Hydrogens {
	case HydrogensExplicit:
		m = m.WithHydrogens()
	case HydrogensImplicit:
		m = m.WithoutHydrogens()
	}
	b := graph.NewBuilder(len(m.Atoms))
	usual := m.Usual()
	atoms, bonds := usual.Aromaticity()
	charges := usual.Charges()
	for i, a := range usual.Atoms {
		a.Aromatic, a.Charge = atoms[i], charges[i]
		b.SetLabel(i, atomLabel(a, opts))
		if m.HasCoordinates {
			b.SetCoordinates(i, a.X, a.Y)
		}
	}
	for i, e := range usual.Bonds {
		if bonds[i] {
			e.Order = chem.Aromatic
		}
		b.AddLabeledEdge(int(e.A), int(e.B), 1, e.Order.String())
	}
	b.SetID(id)
	b.SetTarget(target)
	b.SetMolecule(m)
	return b.Build()
}

func atomLabel(a chem.Atom, opts Options) string {
	s := chem.Symbol(a.Element)
	if opts.AtomAromatic && a.Aromatic {
		s = strings.ToLower(s)
	}
	if opts.AtomHydrogens {
		s += a.HydrogenText()
	}
	if opts.AtomCharge {
		s += a.ChargeText()
	}
	return s
}
