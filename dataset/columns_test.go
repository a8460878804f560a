package dataset

import "testing"

// Values leaves alone what stands behind the values that are kept: many may read them at once.
func TestValuesShareNothing(t *testing.T) {
	c := &Columns{}
	for i := range 7 {
		f := Fields{Names: []string{"a", "b"}, Values: []string{"x", "1"}, SMILES: -1}
		if i >= 5 {
			f.Names, f.Values = f.Names[:1], f.Values[:1]
		}
		if err := c.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	n := len(c.values[1])
	kept := c.values[1][:cap(c.values[1])]
	if n != 5 || len(kept) < 7 {
		t.Fatalf("%d values in %d places, want room behind them", n, len(kept))
	}
	kept[n] = "behind"
	got := c.Values("b")
	if len(got) != 7 || got[0] != "1" || got[5] != "" || kept[n] != "behind" {
		t.Errorf("%q, and behind the values %q", got, kept[n])
	}
}
