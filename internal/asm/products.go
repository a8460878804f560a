package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// block is h rows of nv vectors of sums.
type block [][]reg.VecVirtual

func newBlock(h, nv int) block {
	b := make(block, h)
	for i := range b {
		for range nv {
			b[i] = append(b[i], YMM())
		}
	}
	return b
}

// each runs f for every vector.
func (b block) each(f func(i, v int, sum reg.VecVirtual)) {
	for i, row := range b {
		for v, sum := range row {
			f(i, v, sum)
		}
	}
}

// add generates the loop sums[i][v] += x(i)·y[4v…], n times; step moves on.
func (b block) add(label string, n reg.Register, x func(i int) Mem, y reg.Register, step func()) {
	Label(label)
	ys, xi := make([]reg.VecVirtual, len(b[0])), YMM()
	for v := range ys {
		ys[v] = YMM()
		VMOVUPD(Mem{Base: y, Disp: 32 * v}, ys[v])
	}
	for i, row := range b {
		VBROADCASTSD(x(i), xi)
		for v, sum := range row {
			VFMADD231PD(ys[v], xi, sum)
		}
	}
	step()
	DECQ(n)
	JNZ(LabelRef(label))
}

// fourRows are rows that are stride bytes apart; second is the address of the second one.
type fourRows struct{ first, second, stride reg.Register }

func newFourRows(first, stride reg.Register) fourRows {
	r := fourRows{first, GP64(), stride}
	LEAQ(Mem{Base: first, Index: stride, Scale: 1}, r.second)
	return r
}

// at is disp bytes behind the start of row i.
func (r fourRows) at(i, disp int) Mem {
	switch i {
	case 0:
		return Mem{Base: r.first, Disp: disp}
	case 3:
		return Mem{Base: r.second, Index: r.stride, Scale: 2, Disp: disp}
	}
	return Mem{Base: r.first, Index: r.stride, Scale: uint8(i), Disp: disp}
}

// multiply generates dst = a·b for a panel b of up to 12 columns, packed by the caller
// into rows of 4nv numbers.
func multiply() {
	for nv := 1; nv <= 3; nv++ {
		name := fmt.Sprintf("multiply%dAVX2", nv)
		function(name, "func(dst *float64, dstStride int, a *float64, stride int, b *float64, rows, n int, last *int64)",
			fmt.Sprintf("%s multiplies rows×n by n×%d, rows and n positive; strides are in bytes;", name, 4*nv),
			"last masks the last four columns of dst.")
		p := pointers("dst", "dstStride", "a", "stride", "rows")
		dst, ds, a, stride, rows := p[0], p[1], p[2], p[3], p[4]
		for _, h := range []int{4, 1} {
			label := fmt.Sprint("rows", h)
			Label(label)
			CMPQ(rows, num(h))
			JL(LabelRef(label + "End"))
			sums := newBlock(h, nv)
			sums.each(func(_, _ int, sum reg.VecVirtual) { VXORPD(sum, sum, sum) })
			x, to, in := GP64(), newFourRows(dst, ds), pointers("b", "n", "last")
			MOVQ(a, x)
			from := newFourRows(x, stride)
			sums.add(label+"Loop", in[1], func(i int) Mem { return from.at(i, 0) }, in[0], func() {
				ADDQ(Imm(8), x)
				ADDQ(Imm(8), from.second)
				ADDQ(num(32*nv), in[0])
			})
			mask := YMM()
			VMOVUPD(Mem{Base: in[2]}, mask)
			sums.each(func(i, v int, sum reg.VecVirtual) {
				if v == nv-1 {
					VMASKMOVPD(sum, mask, to.at(i, 32*v))
				} else {
					VMOVUPD(sum, to.at(i, 32*v))
				}
			})
			for range h {
				ADDQ(ds, dst)
				ADDQ(stride, a)
			}
			SUBQ(num(h), rows)
			JMP(LabelRef(label))
			Label(label + "End")
		}
		leave()
	}
}

// gram generates c[i…i+3][j…] += Σ_r y[r][i…i+3]·y[r][j…] for one block of c.
func gram() {
	for nv := 1; nv <= 3; nv++ {
		name := fmt.Sprintf("gram%dAVX2", nv)
		function(name, "func(c *float64, cStride int, yi, yj *float64, yStride, rows int)",
			fmt.Sprintf("%s adds the products of four columns at yi with %d columns at yj over the", name, 4*nv),
			"given positive number of rows to the block at c; strides are in bytes.")
		p := pointers("c", "cStride", "yi", "yj", "yStride", "rows")
		c, yi, yj, stride := newFourRows(p[0], p[1]), p[2], p[3], p[4]
		sums := newBlock(4, nv)
		sums.each(func(i, v int, sum reg.VecVirtual) { VMOVUPD(c.at(i, 32*v), sum) })
		sums.add("loop", p[5], func(i int) Mem { return Mem{Base: yi, Disp: 8 * i} }, yj, func() {
			ADDQ(stride, yi)
			ADDQ(stride, yj)
		})
		sums.each(func(i, v int, sum reg.VecVirtual) { VMOVUPD(sum, c.at(i, 32*v)) })
		leave()
	}
}
