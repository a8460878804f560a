package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
)

func TestCompare(t *testing.T) {
	var out bytes.Buffer
	c := command{cause: "amide", kernel: "wl", n: 2}
	if err := c.run(t.Context(), &out, "builtin:drugs"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"of 234 have it", "contributions                 1.000", "Shapley", "slopes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	c.groups = true
	out.Reset()
	if err := c.run(t.Context(), &out, "builtin:drugs"); err != nil || !strings.Contains(out.String(), "amide") {
		t.Errorf("%v\n%s", err, &out)
	}
	if err := (&command{cause: "x"}).run(t.Context(), &out, "builtin:drugs"); err == nil {
		t.Error("a structure that is not known")
	}
}

func TestMeasures(t *testing.T) {
	x := []float64{3, 1, 2, 2}
	if got := ranks(x); !slices.Equal(got, []float64{3.5, 0.5, 2, 2}) {
		t.Errorf("ranks %v", got)
	}
	// Of the three pairs with the last vertex, it has more than one, as much as one, less than one.
	if got := auroc(x, []bool{false, false, false, true}); got != 0.5 {
		t.Errorf("AUROC %v", got)
	}
	if got := auroc(x, []bool{true, false, false, true}); math.Abs(got-3.5/4) > 1e-15 {
		t.Errorf("AUROC %v", got)
	}
	if got := spearman(x, []float64{9, 0, 5, 5}); math.Abs(got-1) > 1e-15 {
		t.Errorf("rank correlation %v", got)
	}
}

func TestStructures(t *testing.T) {
	for _, c := range []struct {
		smiles, name string
		want         []int
	}{
		{"c1ccccc1[N+](=O)[O-]", "nitro", []int{6, 7, 8}},
		{"OC(=O)CO", "hydroxyl", []int{0, 4}},
		{"NC(=O)CCl", "amide", []int{0, 1, 2}},
		{"NC(=O)CCl", "halogen", []int{4}},
		{"C1CCCC1C", "ring of 5", []int{0, 1, 2, 3, 4}},
		{"c1ccc2ccccc2c1", "fusion", []int{3, 8}},
	} {
		g, err := dataset.ParseSMILES(c.smiles, dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for v, yes := range structures[c.name](g) {
			if yes {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: %v, want %v", c.name, c.smiles, got, c.want)
		}
	}
}
