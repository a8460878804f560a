package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel generates the loop acc[i][v] += x[i]·y[4v…], rows of y being ystride bytes apart:
// x(i) is the address of the i-th factor, step moves on.
func panel(name string, h, nv int, n reg.Register, x func(i int) Mem, y reg.Register, step func(), acc [][]reg.VecVirtual) {
	Label(name)
	yv := make([]reg.VecVirtual, nv)
	for v := range nv {
		yv[v] = YMM()
		VMOVUPD(Mem{Base: y, Disp: 32 * v}, yv[v])
	}
	b := YMM()
	for i := range h {
		VBROADCASTSD(x(i), b)
		for v := range nv {
			VFMADD231PD(yv[v], b, acc[i][v])
		}
	}
	step()
	DECQ(n)
	JNZ(LabelRef(name))
}

func newAcc(h, nv int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, h)
	for i := range acc {
		acc[i] = make([]reg.VecVirtual, nv)
		for v := range acc[i] {
			acc[i][v] = YMM()
		}
	}
	return acc
}

// project generates dst = k·w for a strip of up to 12 columns of w, packed by the caller
// into rows of 4nv numbers. One function for each nv and number of rows.
func project() {
	for nv := 1; nv <= 3; nv++ {
		name := fmt.Sprintf("project%dAVX2", nv)
		TEXT(name, NOSPLIT, "func(dst *float64, dstStride int, k *float64, kStride int, w *float64, rows, n int, last *int64)")
		Pragma("noescape")
		Doc(fmt.Sprintf("%s multiplies rows×n by n×%d, rows and n positive; strides are in bytes;", name, 4*nv),
			"last masks the last four columns of dst.")
		dst, ds, k, ks, rows := GP64(), GP64(), GP64(), GP64(), GP64()
		Load(Param("dst"), dst)
		Load(Param("dstStride"), ds)
		Load(Param("k"), k)
		Load(Param("kStride"), ks)
		Load(Param("rows"), rows)
		for _, h := range []int{4, 1} {
			label := fmt.Sprintf("rows%d", h)
			next := fmt.Sprintf("end%d", h)
			Label(label)
			CMPQ(rows, num(h))
			JL(LabelRef(next))
			acc := newAcc(h, nv)
			for i := range acc {
				for _, a := range acc[i] {
					VXORPD(a, a, a)
				}
			}
			n, w, x, x3 := GP64(), GP64(), GP64(), GP64()
			Load(Param("n"), n)
			Load(Param("w"), w)
			MOVQ(k, x)
			LEAQ(Mem{Base: k, Index: ks, Scale: 1}, x3)
			at := func(b, b3, stride reg.Register, i, disp int) Mem {
				switch i {
				case 0:
					return Mem{Base: b, Disp: disp}
				case 3:
					return Mem{Base: b3, Index: stride, Scale: 2, Disp: disp}
				}
				return Mem{Base: b, Index: stride, Scale: uint8(i), Disp: disp}
			}
			panel(label+"loop", h, nv, n, func(i int) Mem { return at(x, x3, ks, i, 0) }, w, func() {
				ADDQ(Imm(8), x)
				if h > 3 {
					ADDQ(Imm(8), x3)
				}
				ADDQ(num(32*nv), w)
			}, acc)
			mask, mp, d3 := YMM(), GP64(), GP64()
			Load(Param("last"), mp)
			VMOVUPD(Mem{Base: mp}, mask)
			LEAQ(Mem{Base: dst, Index: ds, Scale: 1}, d3)
			for i := range h {
				for v := range nv {
					if v == nv-1 {
						VMASKMOVPD(acc[i][v], mask, at(dst, d3, ds, i, 32*v))
					} else {
						VMOVUPD(acc[i][v], at(dst, d3, ds, i, 32*v))
					}
				}
			}
			if h == 4 {
				LEAQ(Mem{Base: dst, Index: ds, Scale: 4}, dst)
				LEAQ(Mem{Base: k, Index: ks, Scale: 4}, k)
			} else {
				ADDQ(ds, dst)
				ADDQ(ks, k)
			}
			SUBQ(num(h), rows)
			JMP(LabelRef(label))
			Label(next)
		}
		VZEROUPPER()
		RET()
	}
}

// gram generates c[i…i+3][j…] += Σ_r y[r][i…i+3]·y[r][j…] for one block of c.
func gram() {
	for nv := 1; nv <= 3; nv++ {
		name := fmt.Sprintf("gram%dAVX2", nv)
		TEXT(name, NOSPLIT, "func(c *float64, cStride int, yi, yj *float64, yStride, rows int)")
		Pragma("noescape")
		Doc(fmt.Sprintf("%s adds the products of four columns at yi with %d columns at yj over the", name, 4*nv),
			"given positive number of rows to the block at c; strides are in bytes.")
		c, cs, yi, yj, ys, n := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
		Load(Param("c"), c)
		Load(Param("cStride"), cs)
		Load(Param("yi"), yi)
		Load(Param("yj"), yj)
		Load(Param("yStride"), ys)
		Load(Param("rows"), n)
		c3 := GP64()
		LEAQ(Mem{Base: c, Index: cs, Scale: 1}, c3)
		at := func(i, v int) Mem {
			m := Mem{Base: c, Disp: 32 * v}
			switch i {
			case 1, 2:
				m.Index, m.Scale = cs, uint8(i)
			case 3:
				m.Base, m.Index, m.Scale = c3, cs, 2
			}
			return m
		}
		acc := newAcc(4, nv)
		for i := range acc {
			for v := range acc[i] {
				VMOVUPD(at(i, v), acc[i][v])
			}
		}
		panel("loop", 4, nv, n, func(i int) Mem { return Mem{Base: yi, Disp: 8 * i} }, yj, func() {
			ADDQ(ys, yi)
			ADDQ(ys, yj)
		}, acc)
		for i := range acc {
			for v := range acc[i] {
				VMOVUPD(acc[i][v], at(i, v))
			}
		}
		VZEROUPPER()
		RET()
	}
}
