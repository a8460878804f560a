// Package chem reads molecules as chemists write them: SMILES and MDL connection tables
// (V2000 and V3000).
//
// A [Molecule] is what was written: atoms, bonds with their orders, and the number of
// hydrogens that each atom has besides those that are atoms of the molecule. Chirality is
// read and dropped. Aromaticity is taken as written; for SMILES it is checked that an
// alternation of single and double bonds exists.
package chem
