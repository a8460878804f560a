package cuda

import (
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/spd"
)

func TestChoose(t *testing.T) {
	if d, c, err := Choose("cpu", nil); d != (spd.CPU{}) || err != nil || c.Close() != nil {
		t.Errorf("cpu: %v, %v", d, err)
	}
	if _, _, err := Choose("tpu", nil); err == nil || !strings.Contains(err.Error(), `device "tpu"`) {
		t.Errorf("tpu: %v", err)
	}
}

// Auto opens a GPU for large work alone, says once where it computes, and computes in any case.
func TestAuto(t *testing.T) {
	var said []string
	d, c, err := Choose("auto", func(text string) { said = append(said, text) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if h, w := d.Block(100, 100, true, 10); len(said) > 0 || h != w {
		t.Errorf("small work: blocks of %d×%d, %q", h, w, said)
	}
	for range 2 {
		if h, w := d.Block(1<<20, 1<<20, false, 10); len(said) != 1 || h < 1 || w < 1 {
			t.Errorf("large work: blocks of %d×%d, %q", h, w, said)
		}
	}
	b := spd.NewBatch(2, 1)
	for i, x := range []float64{1, 3} {
		if err := b.Set(i, []float64{x}); err != nil {
			t.Fatal(err)
		}
	}
	// Work that comes in pieces is added up.
	pieces := &auto{note: func(text string) { said = append(said, text) }, done: 1e9}
	defer pieces.Close()
	if err := pieces.Cross(t.Context(), make([]float64, 1), 1, b, 0, 1, b, 0, 1); err != nil || len(said) != 2 {
		t.Errorf("after much work: %q, %v", said, err)
	}
	got, want := make([]float64, 4), make([]float64, 4)
	spd.Cross(want, 2, b, 0, 2, b, 0, 2)
	if err := d.Cross(t.Context(), got, 2, b, 0, 2, b, 0, 2); err != nil || got[1] != want[1] || got[0] != 1 {
		t.Errorf("%v, want %v, error %v", got, want, err)
	}
}
