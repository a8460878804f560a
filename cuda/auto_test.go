package cuda

import (
	"context"
	"errors"
	"slices"
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

// broken is a GPU that fails.
type broken struct{ spd.CPU }

var errBroken = errors.New("broken")

func (broken) Cross(context.Context, []float64, int, *spd.Batch, int, int, *spd.Batch, int, int) error {
	return errBroken
}

func (broken) CrossFactors(context.Context, []float64, int, *spd.Factors, []float64, []spd.Thin) error {
	return errBroken
}

// Auto goes on with the processor when the GPU fails, and says so once.
func TestAutoFails(t *testing.T) {
	b := spd.NewBatch(3, 2)
	for i := range 3 {
		if err := b.Set(i, []float64{1, 0.1 * float64(i), 2}); err != nil {
			t.Fatal(err)
		}
	}
	f := spd.Factor(b, 0.5)
	q, low := []float64{1, 2}, []spd.Thin{{Rows: []int32{0}, X: []float64{3}}}
	for name, compute := range map[string]func(d spd.Device, dst []float64) error{
		"Cross":        func(d spd.Device, dst []float64) error { return d.Cross(t.Context(), dst, 3, b, 0, 1, b, 0, 3) },
		"CrossFactors": func(d spd.Device, dst []float64) error { return d.CrossFactors(t.Context(), dst, 3, f, q, low) },
	} {
		var said []string
		a := &auto{note: func(text string) { said = append(said, text) }, tried: true, device: broken{}}
		got, want := make([]float64, 3), make([]float64, 3)
		if err := compute(spd.CPU{}, want); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := compute(a, got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", name, got, err, want)
			}
		}
		if len(said) != 1 || said[0] != "going on with the processor: broken" {
			t.Errorf("%s: said %q", name, said)
		}
	}
}
