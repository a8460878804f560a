package mlg_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mlgkernel/mlg"
	_ "github.com/mlgkernel/mlg/classic"
	"github.com/mlgkernel/mlg/graph"
	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/internal/kerneltest"
	"github.com/mlgkernel/mlg/kernel"
	"github.com/mlgkernel/mlg/matrixfile"
	"github.com/mlgkernel/mlg/spd"
	"github.com/mlgkernel/mlg/work"
)

// A Gram matrix that is computed and written block by block has the bits of Gram.
func TestBlocks(t *testing.T) {
	r := graphtest.Rand(11)
	var graphs []*graph.Graph
	ids := make([]string, 530) // three parts along a side
	for range ids {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 2 + r.IntN(5), Edge: 0.5, Labels: 3}))
	}
	single, mixed := mlg.Default(), mlg.Default()
	mixed.Combine, mixed.Power = mlg.Mixed, 2
	for _, k := range []kernel.Kernel{single, mixed, molecular(false)} {
		f, err := k.Fit(t.Context(), graphs)
		if err != nil {
			t.Fatal(err)
		}
		want, err := f.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.npy")
		write := func(ctx context.Context) error {
			return matrixfile.WriteBlocks(ctx, path, matrixfile.Axis{IDs: ids}, f.Map, f.Train)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if err := write(done); err != context.Canceled {
			t.Errorf("%s: %v, want that the context is done", k, err)
		}
		if files, _ := os.ReadDir(filepath.Dir(path)); len(files) > 0 {
			t.Errorf("%s: %v is left", k, files)
		}
		if err := write(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := kerneltest.ReadNPY(path)
		if err != nil || !slices.EqualFunc(got.Data, want.Data, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Errorf("%s: other values, %v", k, err)
		}
	}
}

// device is the processor with blocks of other sizes, which fails in the end.
type device struct {
	spd.CPU
	height, width int
	calls, left   atomic.Int64
}

var errBroken = errors.New("broken")

func (d *device) Block(_, _ int, same bool, _ int) (int, int) {
	if same {
		return d.height, d.height
	}
	return d.height, d.width
}

func (d *device) Cross(ctx context.Context, dst []float64, stride int, a *spd.Batch, i0, i1 int, b *spd.Batch, j0, j1 int) error {
	d.calls.Add(1)
	if d.left.Add(-1) < 0 {
		return errBroken
	}
	return d.CPU.Cross(ctx, dst, stride, a, i0, i1, b, j0, j1)
}

func (d *device) CrossFactors(ctx context.Context, dst []float64, stride int, f *spd.Factors, q []float64, a []spd.Thin) error {
	d.calls.Add(1)
	if d.left.Add(-1) < 0 {
		return errBroken
	}
	return d.CPU.CrossFactors(ctx, dst, stride, f, q, a)
}

// Blocks of any size give the same bits. What goes wrong on a device is an error, wherever it happens.
func TestDevice(t *testing.T) {
	r := graphtest.Rand(12)
	var graphs []*graph.Graph
	for range 90 {
		graphs = append(graphs, graphtest.Random(r, graphtest.Options{N: 12, Edge: 0.3, Labels: 3}))
	}
	k := mlg.Default()
	k.Combine = mlg.Sum
	compute := func(d spd.Device) ([]float64, error) {
		ctx := work.With(t.Context(), work.Options{Workers: 3, Device: d})
		f, err := k.Fit(ctx, graphs[:70])
		if err != nil {
			return nil, err
		}
		gram, err := f.Gram(ctx)
		if err != nil {
			return nil, err
		}
		cross, err := f.Cross(ctx, graphs[70:])
		if err != nil {
			return nil, err
		}
		return append(gram.Data, cross.Data...), nil
	}
	want, err := compute(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{1, 1}, {7, 11}, {64, 3}, {4096, 4096}} {
		d := &device{height: size[0], width: size[1]}
		d.left.Store(math.MaxInt64)
		got, err := compute(d)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("blocks of %v: other values, %v", size, err)
		}
		calls := d.calls.Load()
		for _, n := range []int64{0, calls / 3, calls - 1} {
			d.left.Store(n)
			if _, err := compute(d); !errors.Is(err, errBroken) {
				t.Errorf("blocks of %v, %d of %d calls: %v", size, n, calls, err)
			}
		}
	}
}
