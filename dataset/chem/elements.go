package chem

import "strings"

// symbols are the element symbols by atomic number; number 0 is an unknown atom.
var symbols = strings.Fields(`*
	H He
	Li Be B C N O F Ne
	Na Mg Al Si P S Cl Ar
	K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr
	Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe
	Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu
	Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn
	Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr
	Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og`)

var numbers = func() map[string]uint8 {
	m := map[string]uint8{}
	for z, s := range symbols {
		m[s] = uint8(z)
	}
	return m
}()

const ( // atomic numbers
	hydrogen, boron, carbon, nitrogen, oxygen = 1, 5, 6, 7, 8
	phosphorus, sulfur, chlorine              = 15, 16, 17
	bromine, iodine                           = 35, 53
)

// Symbol returns the symbol of the element with atomic number z, "*" for 0.
func Symbol(z uint8) string { return symbols[z] }

// known reports whether a text is the symbol of an element, or "*".
func known(symbol string) bool { return numbers[symbol] > 0 || symbol == symbols[0] }

// organic are the elements that SMILES writes without brackets, with the valences by
// which their implicit hydrogens are counted (OpenSMILES, section 3.1.5, but for nitrogen, which has no valence of 5, and iodine).
var organic = map[uint8][]int{
	5: {3}, 6: {4}, 7: {3}, 8: {2}, 15: {3, 5}, 16: {2, 4, 6},
	9: {1}, 17: {1}, 35: {1}, 53: {1, 3, 5},
}

// nonMetals are the elements whose valences are counted. Bonds of others are too often ionic
// or dative.
var nonMetals = map[uint8]bool{5: true, 6: true, 7: true, 8: true, 9: true, 14: true, 15: true, 16: true, 17: true,
	33: true, 34: true, 35: true, 52: true, 53: true}

// mainGroup are the usual valences of the main-group elements.
var mainGroup = map[int][]int{
	1: {1}, 2: {0},
	3: {1}, 4: {2}, 5: {3}, 6: {4}, 7: {3}, 8: {2}, 9: {1}, 10: {0},
	11: {1}, 12: {2}, 13: {3, 6}, 14: {4, 6}, 15: {3, 5, 7}, 16: {2, 4, 6}, 17: {1}, 18: {0},
	19: {1}, 20: {2}, 31: {3}, 32: {4}, 33: {3, 5, 7}, 34: {2, 4, 6}, 35: {1}, 36: {0},
	37: {1}, 38: {2}, 49: {3}, 50: {2, 4}, 51: {3, 5, 7}, 52: {2, 4, 6}, 53: {1, 3, 5}, 54: {0, 2, 4, 6},
	55: {1}, 56: {2},
}

// valences returns the usual valences of an atom of a non-metal: those of the element with as
// many electrons (N⁺ is bound like C, O⁻ like F). Nil means any.
func valences(a Atom) []int {
	if !nonMetals[a.Element] {
		return nil
	}
	return mainGroup[int(a.Element)-int(a.Charge)]
}
