package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// product multiplies the pivots of each group and writes the determinants.
func (k *machine) product() {
	v, V := k.v, k.v.bytes
	mant, expo, d, n, count := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("work"), k.work)
	Load(Param("groups"), count)
	Load(Param("mant"), mant)
	Load(Param("expo"), expo)
	one, mask, bias, least := v.vec(), v.vec(), v.vec(), v.vec()
	VMOVUPD(consts["one"], one)
	VMOVUPD(consts["mant"], mask)
	VMOVUPD(consts["bias"], bias)
	VMOVUPD(consts["least"], least)
	Label("product")
	m, x, bad := v.vec(), v.vec(), v.vec()
	VMOVAPD(one, m)
	VXORPD(x, x, x)
	VXORPD(bad, bad, bad)
	LEAQ(Mem{Base: k.work, Disp: V * hdrSize}, d)
	Load(Param("p"), n)
	// take multiplies by up to four pivots and splits the exponent off. Subtracting the bits
	// of 2^−128 leaves one of the first four bits set unless a pivot is in [2^−128, 2^128).
	take := func(n int) {
		y := make([]reg.VecVirtual, n)
		for i := range y {
			y[i] = v.vec()
			z := v.vec()
			VMOVUPD(Mem{Base: d, Disp: 2 * V * i}, y[i])
			VPSUBQ(least, y[i], z)
			VORPD(z, bad, bad)
		}
		if n > 1 {
			VMULPD(y[1], y[0], y[0])
		}
		switch n {
		case 3:
			VMULPD(y[2], y[0], y[0])
		case 4:
			VMULPD(y[3], y[2], y[2])
			VMULPD(y[2], y[0], y[0])
		}
		VMULPD(y[0], m, m)
		e := v.vec()
		VPSRLQ(Imm(52), m, e)
		VANDPD(mask, m, m)
		VORPD(one, m, m)
		VPSUBQ(bias, e, e)
		VPADDQ(e, x, x)
	}
	SUBQ(Imm(4), n)
	JL(LabelRef("rest"))
	Label("four")
	take(4)
	ADDQ(num(8*V), d)
	SUBQ(Imm(4), n)
	JGE(LabelRef("four"))
	Label("rest")
	for i := 1; i < 4; i++ {
		next := fmt.Sprint("not", i)
		CMPQ(n, I8(i-4))
		JNE(LabelRef(next))
		take(i)
		JMP(LabelRef("range"))
		Label(next)
	}
	Label("range")
	if V == 64 {
		out, nan := K(), v.vec()
		VMOVUPD(consts["nan"], nan)
		VPTESTMQ(consts["top"], bad, out)
		VMOVAPD(nan, out, m)
	} else {
		zero := v.vec()
		VXORPD(zero, zero, zero)
		VPSRLQ(Imm(60), bad, bad)
		VPCMPEQQ(zero, bad, bad)
		VMOVUPD(consts["nan"], zero)
		VBLENDVPD(bad, m, zero, m)
	}
	VMOVUPD(m, Mem{Base: mant})
	VMOVUPD(x, Mem{Base: expo})
	ADDQ(num(V), mant)
	ADDQ(num(V), expo)
	ADDQ(param("stride"), k.work)
	DECQ(count)
	JNZ(LabelRef("product"))
}
