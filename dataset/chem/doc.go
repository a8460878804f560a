// Package chem reads molecules as chemists write them: SMILES and MDL connection tables
// (V2000 and V3000).
//
// A [Molecule] is what was written: atoms, bonds with their orders, the chirality of tetrahedral
// atoms and the sides of double bonds. For each atom it has the number of hydrogens that are not
// atoms of the molecule. For SMILES it is checked that an alternation of single and double bonds
// exists, which [Molecule.Kekule] returns. [Molecule.Aromaticity] finds aromatic atoms and bonds
// anew, however the molecule was written.
//
// A graph that was made of a molecule keeps it as a SMILES string ([Molecule.SMILES]), with the
// vertices as atoms in their order. [Of] reads this string again, or else what the labels of a graph
// say.
package chem
