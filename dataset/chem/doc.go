// Package chem reads molecules as chemists write them: SMILES and MDL connection tables
// (V2000 and V3000).
//
// A [Molecule] is what was written: atoms, bonds with their orders, the number of
// hydrogens that each atom has besides those that are atoms of the molecule, the chirality of
// tetrahedral atoms and the sides of double bonds. Aromaticity is taken as written; for SMILES it is
// checked that an alternation of single and double bonds exists, which [Molecule.Kekule] returns.
//
// A graph that was made of a molecule has it as a SMILES string ([Molecule.SMILES]), with the vertices as
// atoms in their order. [Of] reads it again, or else what the labels of a graph say.
package chem
