package paper

import (
	"slices"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func TestCandidates(t *testing.T) {
	list := Candidates(nil)
	names := map[string]bool{}
	for _, s := range list[0].Settings {
		names[s.Parameters] = true
	}
	if len(names) != 144 {
		t.Errorf("%d settings of %s, want 144", len(names), list[0].Name)
	}
	for _, c := range list {
		for _, name := range Datasets() {
			missing := c.Name == "p-random walk" && (name == "NCI1" || name == "NCI109")
			if f := Published(c.Name, name); (f == nil) != missing || f != nil && !(f.Mean > 0) {
				t.Errorf("%s on %s: %v", c.Name, name, f)
			}
		}
	}
	if f := Published("mlg", "MUTAG"); f.Mean != 87.94 || f.Deviation != 1.61 {
		t.Errorf("mlg on MUTAG: %v", f)
	}
	if Published("mlg", "other") != nil || Seconds("other") != 0 {
		t.Error("a published figure for an unknown dataset")
	}
}

// TestDescribe: the datasets have the figures that the paper's Table 2 prints, to its last digit, but for
// those that are named.
func TestDescribe(t *testing.T) {
	graphtest.Slow(t)
	for _, name := range Datasets() {
		ds, err := dataset.Read(t.Context(), graphtest.Dataset(t, name), dataset.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		got, want := Describe(ds.Graphs), Printed(name)
		if !slices.Equal(got.Cells(), want.Cells()) {
			t.Errorf("%s: %v, the paper has %v", name, got.Cells(), want.Cells())
		}
	}
	if Printed("other") != nil {
		t.Error("printed figures of an unknown dataset")
	}
}
