package mlg

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/spd"
)

// Covariances that were taken apart and put together again, in whatever pieces, give the bits
// of the Gram matrix.
func TestPackedCovariances(t *testing.T) {
	graphs := graphtest.Suite(1)
	for i, combine := range []Combine{Top, Sum, Product} {
		o := Default()
		o.Combine, o.Rank, o.Samples, o.Base, o.Power = combine, 4, 30, "labels", 1+i
		m, err := Fit(t.Context(), graphs, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n := len(graphs)
		var packed []float64
		size := 0
		for _, p := range m.Orders() {
			size += spd.Size(p)
		}
		for i := range n {
			row := make([]float64, size)
			m.training.covariances.Packed(i, row)
			packed = append(packed, row...)
		}
		c, err := m.Covariances(packed)
		if err != nil {
			t.Fatal(err)
		}
		some := []int{7, 2, 3}
		selected, err := m.Between(t.Context(), m.training.covariances.Select(some), m.training.covariances)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range some {
			if !slices.Equal(selected.Row(k), want.Row(i)) {
				t.Fatalf("%v: the kernel of graph %d differs after it was selected", combine, i)
			}
		}
		third := make([]float64, size)
		if c.Packed(3, third); c.Len() != n || !slices.Equal(third, packed[3*size:4*size]) {
			t.Fatalf("%v: the covariances differ", combine)
		}
		part, err := m.Covariances(packed[5*size : 9*size])
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, got []float64, stride, i0, i1, j0, j1 int) {
			t.Helper()
			for i := i0; i < i1; i++ {
				for j := j0; j < j1; j++ {
					if x := got[(i-i0)*stride+j-j0]; math.Float64bits(x) != math.Float64bits(want.At(i, j)) {
						t.Fatalf("%v, %s: value %d, %d is %v, want %v", combine, what, i, j, x, want.At(i, j))
					}
				}
			}
		}
		dst := make([]float64, n*(n+3))
		m.Rectangle(t.Context(), dst, n+3, c, 0, n, c, 0, n)
		check("square", dst, n+3, 0, n, 0, n)
		m.Rectangle(t.Context(), dst, n, c, 2, 7, c, 2, 7)
		check("square inside", dst, n, 2, 7, 2, 7)
		m.Rectangle(t.Context(), dst, n, c, 1, 4, c, 3, n)
		check("rectangle", dst, n, 1, 4, 3, n)
		m.Rectangle(t.Context(), dst, n, part, 0, 4, c, 0, n)
		check("part", dst, n, 5, 9, 0, n)
		m.Rectangle(t.Context(), dst, n, CovariancesOf(c.levels), 0, n, part, 0, 4)
		check("batches", dst, n, 0, n, 5, 9)

		for what, call := range map[string]func() error{
			"want a multiple of": func() error { _, err := m.Covariances(packed[1:]); return err },
			"pivot 1 is NaN": func() error {
				_, err := m.Covariances(slices.Concat(packed[:1], []float64{math.NaN()}, packed[2:]))
				return err
			},
			"diagonal entry 0 is 0": func() error { _, err := m.Covariances(make([]float64, size)); return err },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%v: error %v, want %q in it", combine, err, what)
			}
		}
	}
}
