// Command dump reads SMILES strings, one a line, or with -sdf the molecules of an SDF, and
// writes what package chem makes of each as a line of JSON, for the comparisons with RDKit
// in this folder.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/mlgkernel/mlg/dataset/chem"
)

type atom struct {
	Element   string `json:"element"`
	Charge    int8   `json:"charge"`
	Hydrogens int    `json:"hydrogens"`
	Aromatic  bool   `json:"aromatic"`
	Isotope   uint16 `json:"isotope"`
}

type bond struct {
	A      int32  `json:"a"`
	B      int32  `json:"b"`
	Order  string `json:"order"`
	Kekule string `json:"kekule"`
}

type result struct {
	Error   string `json:"error,omitempty"`   // no molecule
	Valence string `json:"valence,omitempty"` // a molecule with an impossible valence
	Formula string `json:"formula"`
	Rings   int    `json:"rings"`
	Atoms   []atom `json:"atoms"`
	Bonds   []bond `json:"bonds"`
}

func dump(m *chem.Molecule, err error) result {
	if err != nil {
		return result{Error: err.Error()}
	}
	r := result{Formula: m.Formula(), Rings: m.Rings()}
	if err := m.CheckValence(); err != nil {
		r.Valence = err.Error()
	}
	for _, a := range m.Atoms {
		r.Atoms = append(r.Atoms, atom{chem.Symbol(a.Element), a.Charge, a.Hydrogens, a.Aromatic, a.Isotope})
	}
	orders, err := m.Kekule()
	if err != nil {
		return result{Error: err.Error()}
	}
	for i, b := range m.Bonds {
		r.Bonds = append(r.Bonds, bond{b.A, b.B, b.Order.String(), orders[i].String()})
	}
	return r
}

func main() {
	sdf := flag.Bool("sdf", false, "read an SDF")
	flag.Parse()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	e := json.NewEncoder(out)
	var record []string
	for in.Scan() {
		var r result
		switch {
		case !*sdf:
			r = dump(chem.ParseSMILES(in.Text(), 1<<20))
		case in.Text() == "$$$$":
			m, _, err := chem.ParseMol(record, 1<<20)
			r = dump(m, err)
			record = nil
		default:
			record = append(record, in.Text())
			continue
		}
		if err := e.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
