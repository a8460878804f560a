//go:build !noasm

package spd

// simd is the set of instructions in use.
type simd int

const (
	plain  simd = iota // Go only
	avx2               // AVX2 and FMA
	avx512             // and AVX-512 F and DQ
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
	const has2, has512f, has512dq = 1 << 5, 1 << 16, 1 << 17
	switch {
	case state&ymm != ymm || b&has2 == 0:
		return plain
	case state&zmm == zmm && b&has512f != 0 && b&has512dq != 0:
		return avx512
	}
	return avx2
}

// plan tells how to run through tiles of matrices of order p: by which instructions, and
// how many tiles to factor together. Many small matrices in flight hide the latency of
// their divisions; large ones must share the first-level cache.
func plan(p int) (wide bool, tiles int) {
	if vector == avx512 && p <= planWide {
		switch {
		case p <= 12:
			return true, 4
		case p <= 20:
			return true, 2
		}
		return true, 1
	}
	switch {
	case p <= 12:
		return false, 2
	case p <= 24:
		return false, 1
	}
	return false, 0 // half a tile
}

var planWide = 32

// groupBytes is the work space that the assembly needs for one group of lanes: header,
// inverse pivots, panel, and the rows of U (see internal/gen/ldl.go).
func groupBytes(p, vectorBytes int) int {
	p4 := (p + 3) &^ 3
	n := vectorBytes * (8 + p4 + 4*p4 + p*(p4+1))
	return (n + 63) &^ 63
}

// asmWork returns the number of float64s that factoring matrices of order p takes.
func asmWork(p int) int {
	if vector == plain {
		return 0
	}
	n := 0
	for _, v := range []int{32, 64} {
		groups := 4
		if p > 24 {
			groups = 1
		}
		n = max(n, groupBytes(p, v)*groups)
	}
	return n / 8
}

func (w *work) asmSumDets(a, tiles []float64, p int) bool {
	if vector == plain {
		return false
	}
	tile := Size(p) * lanes
	n := len(tiles) / tile
	wide, step := plan(p)
	for t := 0; t < n; t += max(step, 1) {
		src, mant, expo := &tiles[t*tile], &w.mant[t*lanes], &w.expo[t*lanes]
		k := min(step, n-t)
		switch {
		case wide:
			ldlSumAVX512(src, &a[0], p, k, 8*tile, &w.buf[0], groupBytes(p, 64), mant, expo)
		case step > 0:
			ldlSumAVX2(src, &a[0], p, 2*k, 8*tile, &w.buf[0], groupBytes(p, 32), mant, expo)
		default:
			for h := 0; h < lanes; h += 4 {
				ldlSumAVX2(&tiles[t*tile+h], &a[0], p, 1, 8*tile, &w.buf[0], groupBytes(p, 32), &w.mant[t*lanes+h], &w.expo[t*lanes+h])
			}
		}
	}
	return true
}

func (w *work) asmDets(tile []float64, p int) bool {
	if vector == plain {
		return false
	}
	wide, step := plan(p)
	switch {
	case wide:
		ldlAVX512(&tile[0], p, 1, 0, &w.buf[0], groupBytes(p, 64), &w.mant[0], &w.expo[0])
	case step > 0:
		ldlAVX2(&tile[0], p, 2, 0, &w.buf[0], groupBytes(p, 32), &w.mant[0], &w.expo[0])
	default:
		for h := 0; h < lanes; h += 4 {
			ldlAVX2(&tile[h], p, 1, 0, &w.buf[0], groupBytes(p, 32), &w.mant[h], &w.expo[h])
		}
	}
	return true
}

func asmRatio(dst, mant []float64, expo []int64, mb []float64, xb []int64, ma float64, xa int64) bool {
	if vector == plain || len(dst) == 0 {
		return false
	}
	ratioAVX2(&dst[0], &mant[0], &expo[0], &mb[0], &xb[0], ma, xa, len(dst))
	return true
}

func asmProject(dst, k, w []float64, rows, n, p int) bool { return false }

func asmGram(c, y []float64, rows, p int) bool { return false }
