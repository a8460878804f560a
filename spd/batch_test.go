package spd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func TestSetErrors(t *testing.T) {
	for _, c := range []struct {
		s    []float64
		want string
	}{
		{[]float64{1, 0}, "matrix 1 has 2 entries, want 3 for order 2"},
		{[]float64{1, 2, 1}, "matrix 1 is not positive definite: pivot 1 is -3"},
		{[]float64{1, 1, 1}, "matrix 1 is not positive definite: pivot 1 is 0"},
		{[]float64{0, 0, 1}, "diagonal entry 0 is 0, want it in"},
		{[]float64{-1, 0, 1}, "diagonal entry 0 is -1, want it in"},
		{[]float64{1, 0, math.NaN()}, "diagonal entry 1 is NaN, want it in"},
		{[]float64{1, 0, math.Inf(1)}, "diagonal entry 1 is +Inf, want it in"},
		{[]float64{1, math.NaN(), 1}, "not positive definite: pivot 1 is NaN"},
		{[]float64{1, math.Inf(1), 1}, "not positive definite: pivot 1 is"},
		{[]float64{0x1p-126, 0, 1}, "want it in"},
		{[]float64{0x1p126, 0, 1}, "want it in"},
		{[]float64{1, 1, 1 + 0x1p-52}, "matrix 1 is singular to working precision: pivot 1 is 2.2"},
	} {
		b := NewBatch(2, 2)
		err := b.Set(1, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Set(%v): error %v, want %q", c.s, err, c.want)
		}
		if err := b.Set(0, []float64{1, 0, 1}); err != nil {
			t.Fatal(err)
		}
		k := []float64{0}
		Cross(k, 1, b, 0, 1, b, 1, 2)
		if !math.IsNaN(k[0]) {
			t.Errorf("kernel with a matrix that was not set is %g", k[0])
		}
	}
}

func TestMisusePanics(t *testing.T) {
	a, b := NewBatch(2, 2), NewBatch(2, 3)
	for name, f := range map[string]func(){
		"orders":  func() { Cross(make([]float64, 4), 2, a, 0, 2, b, 0, 2) },
		"rows":    func() { Cross(make([]float64, 9), 3, a, 0, 3, a, 0, 2) },
		"columns": func() { Cross(make([]float64, 9), 3, a, 0, 2, a, -1, 2) },
		"short":   func() { Cross(make([]float64, 3), 2, a, 0, 2, a, 0, 2) },
		"stride":  func() { Cross(make([]float64, 9), 1, a, 0, 2, a, 0, 2) },
		"set":     func() { _ = a.Set(2, make([]float64, 3)) },
		"at":      func() { a.At(-1, nil) },
		"tiles":   func() { Dets(make([]float64, 8), make([]int64, 8), make([]float64, 23), 2) },
		"Lanes":   func() { Dets(make([]float64, 7), make([]int64, 8), make([]float64, 24), 2) },
		"gram":    func() { AddGram(make([]float64, 2), make([]float64, 4), 2, 2) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "spd: ") {
					t.Errorf("%s: recovered %v, want a panic of spd", name, r)
				}
			}()
			f()
		}()
	}
}

func TestBatchKeepsMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, p := range []int{1, 3, 10} {
		const n = 29
		want := make([][]float64, n)
		b := NewBatch(n, p)
		var wg sync.WaitGroup
		for i := range n {
			want[i] = randomSPD(rng, p, p, 0.1, 1)
			wg.Go(func() {
				if err := b.Set(i, want[i]); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i := range n {
			same(t, "At", b.At(i, nil), want[i])
		}
		if b.Len() != n || b.Order() != p {
			t.Errorf("batch of %d of order %d, want %d of %d", b.Len(), b.Order(), n, p)
		}
	}
}

// tilesOf interleaves matrices of order p, a multiple of Lanes in number.
func tilesOf(ms [][]float64, p int) []float64 {
	tiles := make([]float64, len(ms)*Size(p))
	for i, m := range ms {
		for e, v := range m {
			tiles[(i/Lanes*Size(p)+e)*Lanes+i%Lanes] = v
		}
	}
	return tiles
}

func TestDetsBits(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		for _, p := range orders() {
			rng := rand.New(rand.NewPCG(9, uint64(p)))
			n := Lanes * (2 + max(0, 20-p)/3)
			ms := make([][]float64, n)
			want := make([]float64, n)
			for i := range ms {
				ms[i] = randomSPD(rng, p, 1+rng.IntN(2*p), 0.1, 1)
				last := Index(p-1, p-1)
				switch i % 16 {
				case 3: // indefinite
					ms[i][last] = -1
				case 5: // pivots outside the assembly's range
					for e := range ms[i] {
						ms[i][e] *= 0x1p-130
					}
				case 6:
					for e := range ms[i] {
						ms[i][e] *= 0x1p+300
					}
				case 8: // not finite in the last pivot, then in the first
					ms[i][last] = math.Inf(1)
				case 9:
					ms[i][0] = math.NaN()
				case 10:
					ms[i][0] = math.Inf(1)
				case 11: // not a number, or infinite, before the last pivot
					ms[i][Index(p-1, 0)] = math.NaN()
				case 13:
					ms[i][Index(p-1, p/2)] = math.Inf(-1)
				case 14: // one large pivot
					ms[i][Index(p/2, p/2)] = 0x1p+900
				case 12: // an even number of negative pivots
					for e := range ms[i] {
						ms[i][e] = -ms[i][e]
					}
				}
				want[i], _ = logDet(ms[i], p)
			}
			tiles := tilesOf(ms, p)
			got := make([]float64, n)
			logDets(got, tiles, p)
			for i := range got {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
					t.Fatalf("p=%d matrix %d: %.17g, want %.17g", p, i, got[i], want[i])
				}
			}
			same(t, "tiles after Dets", finite(tiles), finite(tilesOf(ms, p)))
		}
	})
}

// finite replaces NaN, for comparing bits.
func finite(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		if y[i] = v; math.IsNaN(v) {
			y[i] = -12345
		}
	}
	return y
}

func TestAddGramBits(t *testing.T) {
	eachSIMD(t, func(t *testing.T) {
		for p := 1; p <= 70; p++ {
			rng := rand.New(rand.NewPCG(10, uint64(p)))
			for _, rows := range []int{0, 1, 2, 3, 4, 5, 11} {
				y := normals(rng, rows*p)
				if rows == 11 {
					y[rng.IntN(len(y))], y[rng.IntN(len(y))] = math.NaN(), math.Inf(1)
					y[rng.IntN(len(y))], y[rng.IntN(len(y))] = 0x1p-1074, -math.MaxFloat64
				}
				g := normals(rng, Size(p))
				want := append([]float64(nil), g...)
				for i := range p {
					for j := range i + 1 {
						s := 0.0
						for r := range rows {
							s = math.FMA(y[r*p+i], y[r*p+j], s)
						}
						want[Index(i, j)] += s
					}
				}
				AddGram(g, y, rows, p)
				same(t, fmt.Sprintf("AddGram %d×%d", rows, p), finite(g), finite(want))
			}
		}
	})
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}
