// Command dump reads SMILES strings, one a line, or with -sdf the molecules of an SDF, and
// writes what package chem makes of each as a line of JSON, for the comparisons with RDKit
// in this folder.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/mlgkernel/mlg/dataset/chem"
)

type result struct {
	Error   string      `json:"error,omitempty"`   // no molecule
	Valence string      `json:"valence,omitempty"` // a molecule with an impossible valence
	Formula string      `json:"formula"`
	Atoms   []chem.Atom `json:"atoms"`
	Bonds   []chem.Bond `json:"bonds"`
	Kekule  string      `json:"kekule"` // symbols of the bonds
}

func dump(m *chem.Molecule, err error) (r result) {
	var orders []chem.Order
	if err == nil {
		orders, err = m.Kekule()
	}
	if err != nil {
		return result{Error: err.Error()}
	}
	for _, o := range orders {
		r.Kekule += o.String()
	}
	r.Formula, r.Atoms, r.Bonds = m.Formula(), m.Atoms, m.Bonds
	if err := m.CheckValence(); err != nil {
		r.Valence = err.Error()
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
	var text []string
	for in.Scan() {
		switch {
		case !*sdf:
			e.Encode(dump(chem.ParseSMILES(in.Text(), 1<<20)))
		case in.Text() == "$$$$":
			m, _, err := chem.ParseMol(text, 1<<20)
			e.Encode(dump(m, err))
			text = nil
		default:
			text = append(text, in.Text())
		}
	}
	if err := errors.Join(in.Err(), out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
