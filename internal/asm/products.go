package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// block is rows of sums, in vectors.
type block [][]reg.VecVirtual

// newBlock returns rows of n numbers.
func newBlock(v isa, rows, n int) block {
	b := make(block, rows)
	for i := range b {
		for range v.parts(n) {
			b[i] = append(b[i], v.vec())
		}
	}
	return b
}

// each runs f for every vector.
func (b block) each(f func(i, k int, sum reg.VecVirtual)) {
	for i, row := range b {
		for k, sum := range row {
			f(i, k, sum)
		}
	}
}

// add generates the loop sums[i] += x(i)·y, n times; step moves on. What is fewer, numbers x or
// vectors of y, stays in registers meanwhile.
func (b block) add(v isa, label string, n reg.Register, x func(i int) Mem, y reg.Register, step func()) {
	Label(label)
	number := func(i int) reg.VecVirtual { return v.filled(x(i)) }
	vector := func(k int) reg.VecVirtual { return v.loaded(Mem{Base: y, Disp: k * v.bytes}) }
	outer, inner := len(b), len(b[0])
	first, second, sum := number, vector, func(i, k int) reg.VecVirtual { return b[i][k] }
	if inner < outer {
		outer, inner, first, second = inner, outer, vector, number
		sum = func(k, i int) reg.VecVirtual { return b[i][k] }
	}
	held := make([]reg.VecVirtual, outer)
	for i := range held {
		held[i] = first(i)
	}
	for k := range inner {
		r := second(k)
		for i := range held {
			VFMADD231PD(held[i], r, sum(i, k))
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

// multiply generates dst = a·b for a panel b of up to 12 columns.
func multiply(v isa) {
	for _, width := range []int{4, 8, 12} {
		name := fmt.Sprint("multiply", width)
		function(name, "func(dst *float64, dstStride int, a *float64, stride int, b *float64, rows, n int)",
			fmt.Sprintf("%s multiplies rows×n by n×%d, rows and n positive; strides are in bytes.", name, width))
		p := pointers("dst", "dstStride", "a", "stride", "rows")
		dst, ds, a, stride, rows := p[0], p[1], p[2], p[3], p[4]
		for _, h := range []int{4, 1} {
			label := fmt.Sprint("rows", h)
			Label(label)
			CMPQ(rows, num(h))
			JL(LabelRef(label + "End"))
			sums := newBlock(v, h, width)
			sums.each(func(_, _ int, sum reg.VecVirtual) { VXORPD(sum, sum, sum) })
			x, to, in := GP64(), newFourRows(dst, ds), pointers("b", "n")
			MOVQ(a, x)
			from := newFourRows(x, stride)
			sums.add(v, label+"Loop", in[1], func(i int) Mem { return from.at(i, 0) }, in[0], func() {
				ADDQ(Imm(8), x)
				ADDQ(Imm(8), from.second)
				ADDQ(num(8*width), in[0])
			})
			sums.each(func(i, k int, sum reg.VecVirtual) { VMOVUPD(sum, to.at(i, k*v.bytes)) })
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
func gram(v isa) {
	for _, width := range []int{4, 8, 12} {
		name := fmt.Sprint("gram", width)
		function(name, "func(c *float64, cStride int, yi, yj *float64, yStride, rows int)",
			fmt.Sprintf("%s adds the products of four columns at yi with %d columns at yj over the", name, width),
			"given positive number of rows to the block at c; strides are in bytes.")
		p := pointers("c", "cStride", "yi", "yj", "yStride", "rows")
		c, yi, yj, stride := newFourRows(p[0], p[1]), p[2], p[3], p[4]
		sums := newBlock(v, 4, width)
		sums.each(func(i, k int, sum reg.VecVirtual) { VMOVUPD(c.at(i, k*v.bytes), sum) })
		sums.add(v, "loop", p[5], func(i int) Mem { return Mem{Base: yi, Disp: 8 * i} }, yj, func() {
			ADDQ(stride, yi)
			ADDQ(stride, yj)
		})
		sums.each(func(i, k int, sum reg.VecVirtual) { VMOVUPD(sum, c.at(i, k*v.bytes)) })
		leave()
	}
}
