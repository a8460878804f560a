//go:build !noasm

package spd

// simd is the set of instructions in use.
type simd int

const (
	plain  simd = iota // Go only
	avx2               // AVX2 and FMA
	avx512             // and AVX-512 F, DQ and VL
)

var vector = detect()

// detect asks the processor which instructions it has, and the system whether it saves the
// registers that they use.
func detect() simd {
	top, _, _, _ := cpuid(0, 0)
	if top < 7 {
		return plain
	}
	const fma, osxsave, avx = 1 << 12, 1 << 27, 1 << 28
	_, _, c, _ := cpuid(1, 0)
	if c&fma == 0 || c&osxsave == 0 || c&avx == 0 {
		return plain
	}
	const ymm, zmm = 0x06, 0xe6 // state components in XCR0
	state, _ := xgetbv()
	_, b, _, _ := cpuid(7, 0)
	const has2, has512 = 1 << 5, 1<<16 | 1<<17 | 1<<31 // F, DQ and VL
	switch {
	case state&ymm != ymm || b&has2 == 0:
		return plain
	case state&zmm == zmm && b&has512 == has512:
		return avx512
	}
	return avx2
}

// groupBytes is the work space that the assembly needs for one vector of matrices: header,
// pivots, panel, and the rows of U (see internal/gen/ldl.go).
func groupBytes(p, vectorBytes int) int {
	p4 := (p + 3) &^ 3
	n := vectorBytes * (12 + 2*p4 + 4*p4 + p*(p4+1))
	return (n + 63) &^ 63
}

// asmWork returns the number of float64s that factoring matrices of order p takes.
func asmWork(p int) int {
	switch {
	case vector == plain:
		return 0
	case p <= direct:
		return crossWork
	}
	return max(groupBytes(p, 64), 2*groupBytes(p, 32)) / 8
}

func (w *work) asmSumDets(a, tiles []float64, p int) bool {
	if vector == plain {
		return false
	}
	tile := Size(p) * lanes
	n := len(tiles) / tile
	if p <= direct {
		w.small(p, &w.mant[0], &w.expo[0], &a[0], tiles)
		return true
	}
	for e := range w.a[:Size(p)] {
		w.a[e] = a[e*lanes]
	}
	for t := range n {
		src, mant, expo := &tiles[t*tile], &w.mant[t*lanes], &w.expo[t*lanes]
		if vector == avx512 {
			ldlSumAVX512(src, &w.a[0], p, 1, 8*tile, &w.buf[0], groupBytes(p, 64), mant, expo)
		} else {
			ldlSumAVX2(src, &w.a[0], p, 2, 8*tile, &w.buf[0], groupBytes(p, 32), mant, expo)
		}
	}
	return true
}

func (w *work) asmDets(mant []float64, expo []int64, tiles []float64, p int) bool {
	if vector == plain {
		return false
	}
	tile := Size(p) * lanes
	n := len(tiles) / tile
	if p <= direct {
		w.small(p, &mant[0], &expo[0], &zeros[0], tiles)
		return true
	}
	for t := range n {
		src, m, x := &tiles[t*tile], &mant[t*lanes], &expo[t*lanes]
		if vector == avx512 {
			ldlAVX512(src, p, 1, 8*tile, &w.buf[0], groupBytes(p, 64), m, x)
		} else {
			ldlAVX2(src, p, 2, 8*tile, &w.buf[0], groupBytes(p, 32), m, x)
		}
	}
	return true
}

// small is sumDets for p ≤ direct.
func (w *work) small(p int, mant *float64, expo *int64, a *float64, tiles []float64) {
	n := len(tiles) / (Size(p) * lanes)
	if vector == avx512 {
		crossAVX512(p, nil, 0, mant, expo, 1, a, nil, nil, n, &tiles[0], nil, nil, &w.buf[0])
	} else {
		crossAVX2(p, nil, 0, mant, expo, 1, a, nil, nil, n, &tiles[0], nil, nil, &w.buf[0])
	}
}

func (w *work) asmCross(dst []float64, stride, rows int, a []float64, qa quarters, tiles []float64, qb quarters, p int) bool {
	if vector == plain || p > direct {
		return false
	}
	n := len(tiles) / (Size(p) * lanes)
	if vector == avx512 {
		crossAVX512(p, &dst[0], 8*stride, nil, nil, rows, &a[0], &qa.e[0], &qa.c[0], n, &tiles[0], &qb.e[0], &qb.c[0], &w.buf[0])
	} else {
		crossAVX2(p, &dst[0], 8*stride, nil, nil, rows, &a[0], &qa.e[0], &qa.c[0], n, &tiles[0], &qb.e[0], &qb.c[0], &w.buf[0])
	}
	return true
}

func (w *work) asmRatio(dst, mant []float64, expo []int64, b *quarters, a quarter) bool {
	if vector == plain || len(dst) == 0 {
		return false
	}
	ratioAVX2(&dst[0], &mant[0], &expo[0], len(dst), &b.e[0], &b.c[0], &b.x[0], a.e, a.c, a.x, &w.buf[0])
	return true
}

// zeros stands for the other matrix where there is none.
var zeros [direct * (direct + 1) / 2 * lanes]float64

// crossWork is the number of float64s of work space of crossAVX2 and crossAVX512.
const crossWork = 6144 / 8
