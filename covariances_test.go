package mlg

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mlgkernel/mlg/internal/graphtest"
	"github.com/mlgkernel/mlg/kernel"
)

// Covariances that were selected, joined, encoded and decoded, in whatever pieces, give the bits of the
// Gram matrix.
func TestCovariances(t *testing.T) {
	graphs := graphtest.Suite(1)
	n := len(graphs)
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
		data, err := m.train.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.DecodeFeatures(data)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, stride int, b kernel.Block, rows, cols []int) {
			t.Helper()
			dst := make([]float64, n*(n+3))
			if err := m.Fill(t.Context(), dst, stride, b); err != nil {
				t.Fatal(err)
			}
			for i, r := range rows {
				for j, c := range cols {
					if x := dst[i*stride+j]; math.Float64bits(x) != math.Float64bits(want.At(r, c)) {
						t.Fatalf("%v, %s: value %d, %d is %v, want %v", combine, what, r, c, x, want.At(r, c))
					}
				}
			}
		}
		all := positions(0, n)
		some := []int{7, 2, 3, 3}
		part := m.train.Select(some)
		joined := m.Join(c.Select(positions(0, 5)), m.train.Select(nil), c.Select(positions(5, n)))
		check("square", n+3, kernel.Block{A: c, I0: 0, I1: n, B: c, J0: 0, J1: n}, all, all)
		check("square inside", n, kernel.Block{A: c, I0: 2, I1: 7, B: c, J0: 2, J1: 7}, all[2:7], all[2:7])
		check("rectangle", n, kernel.Block{A: c, I0: 1, I1: 4, B: c, J0: 3, J1: n}, all[1:4], all[3:])
		check("selected", n, kernel.Block{A: part, I0: 0, I1: 4, B: m.train, J0: 0, J1: n}, some, all)
		check("joined", n, kernel.Block{A: joined, I0: 0, I1: n, B: part, J0: 1, J1: 4}, all, some[1:])

		nan := slices.Clone(data)
		binary.LittleEndian.PutUint64(nan[8:], math.Float64bits(math.NaN()))
		for what, data := range map[string][]byte{
			"want a multiple of 8":       data[1:],
			"numbers for the matrices":   data[:len(data)-8],
			"is not positive definite":   append(binary.LittleEndian.AppendUint64(nil, uint64(n)), make([]byte, len(data)-8)...),
			"not positive definite":      nan,
			"for the matrices of 429496": append(binary.LittleEndian.AppendUint64(nil, 1<<32), data[8:]...),
		} {
			if _, err := m.DecodeFeatures(data); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%v: error %v, want %q in it", combine, err, what)
			}
		}
	}
}

// positions returns lo … hi-1.
func positions(lo, hi int) []int {
	var out []int
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}
