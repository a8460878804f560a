package paper

import (
	"math"
	"testing"

	"github.com/mlgkernel/mlg/dataset"
	"github.com/mlgkernel/mlg/internal/graphtest"
)

func TestCandidates(t *testing.T) {
	list := Candidates()
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

// TestDescribe: MUTAG as the paper's Table 2 has it.
func TestDescribe(t *testing.T) {
	ds, err := dataset.Read(t.Context(), graphtest.Dataset(t, "MUTAG"), dataset.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := Describe(ds.Graphs)
	if s.Graphs != 188 || math.Abs(s.MeanEdges-39.59) > 0.01 || math.Abs(s.MeanVertices-17.93) > 0.01 {
		t.Errorf("%+v", s)
	}
}
