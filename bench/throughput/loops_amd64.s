//go:build amd64

#include "textflag.h"

// func hasAVX512() bool
TEXT ·hasAVX512(SB), NOSPLIT, $0-1
	MOVL $7, AX
	XORL CX, CX
	CPUID
	SHRL $16, BX
	ANDL $1, BX
	MOVB BX, ret+0(FP)
	RET

DATA ones<>+0(SB)/8, $1.0
DATA ones<>+8(SB)/8, $1.0
DATA ones<>+16(SB)/8, $1.0
DATA ones<>+24(SB)/8, $1.0
DATA ones<>+32(SB)/8, $1.0
DATA ones<>+40(SB)/8, $1.0
DATA ones<>+48(SB)/8, $1.0
DATA ones<>+56(SB)/8, $1.0
GLOBL ones<>(SB), RODATA|NOPTR, $64

// Sixteen fused multiply-adds that do not depend on one another.
#define FMA16 \
	VFMADD231PD Z0, Z1, Z2; \
	VFMADD231PD Z0, Z1, Z3; \
	VFMADD231PD Z0, Z1, Z4; \
	VFMADD231PD Z0, Z1, Z5; \
	VFMADD231PD Z0, Z1, Z6; \
	VFMADD231PD Z0, Z1, Z7; \
	VFMADD231PD Z0, Z1, Z8; \
	VFMADD231PD Z0, Z1, Z9; \
	VFMADD231PD Z0, Z1, Z10; \
	VFMADD231PD Z0, Z1, Z11; \
	VFMADD231PD Z0, Z1, Z12; \
	VFMADD231PD Z0, Z1, Z13; \
	VFMADD231PD Z0, Z1, Z14; \
	VFMADD231PD Z0, Z1, Z15; \
	VFMADD231PD Z0, Z1, Z16; \
	VFMADD231PD Z0, Z1, Z17

// Sixteen multiplications.
#define MUL16 \
	VMULPD Z0, Z1, Z2; \
	VMULPD Z0, Z1, Z3; \
	VMULPD Z0, Z1, Z4; \
	VMULPD Z0, Z1, Z5; \
	VMULPD Z0, Z1, Z6; \
	VMULPD Z0, Z1, Z7; \
	VMULPD Z0, Z1, Z8; \
	VMULPD Z0, Z1, Z9; \
	VMULPD Z0, Z1, Z10; \
	VMULPD Z0, Z1, Z11; \
	VMULPD Z0, Z1, Z12; \
	VMULPD Z0, Z1, Z13; \
	VMULPD Z0, Z1, Z14; \
	VMULPD Z0, Z1, Z15; \
	VMULPD Z0, Z1, Z16; \
	VMULPD Z0, Z1, Z17

#define START \
	MOVQ n+0(FP), CX; \
	VMOVUPD ones<>(SB), Z0; \
	VMOVUPD ones<>(SB), Z1; \
	VCVTPD2PS Z0, Y31; \
	LEAQ ·buffer(SB), AX; \
	ADDQ $63, AX; \
	ANDQ $~63, AX

// func multiply(n int)
TEXT ·multiply(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func divide(n int)
TEXT ·divide(SB), NOSPLIT, $0-8
	START
loop:
	VDIVPD Z0, Z1, Z20
	VDIVPD Z0, Z1, Z21
	VDIVPD Z0, Z1, Z22
	VDIVPD Z0, Z1, Z23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func root(n int)
TEXT ·root(SB), NOSPLIT, $0-8
	START
loop:
	VSQRTPD Z0, Z20
	VSQRTPD Z0, Z21
	VSQRTPD Z0, Z22
	VSQRTPD Z0, Z23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func divideSingle(n int)
TEXT ·divideSingle(SB), NOSPLIT, $0-8
	START
loop:
	VDIVPS Y31, Y31, Y20
	VDIVPS Y31, Y31, Y21
	VDIVPS Y31, Y31, Y22
	VDIVPS Y31, Y31, Y23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func rootSingle(n int)
TEXT ·rootSingle(SB), NOSPLIT, $0-8
	START
loop:
	VSQRTPS Y31, Y20
	VSQRTPS Y31, Y21
	VSQRTPS Y31, Y22
	VSQRTPS Y31, Y23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyDivide(n int)
TEXT ·multiplyDivide(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VDIVPD Z0, Z1, Z20
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyDivideSingle(n int)
TEXT ·multiplyDivideSingle(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VDIVPS Y31, Y31, Y20
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyRootSingle(n int)
TEXT ·multiplyRootSingle(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VSQRTPS Y31, Y20
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyAdd(n int)
TEXT ·multiplyAdd(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VADDPD Z0, Z1, Z20
	VADDPD Z0, Z1, Z21
	VADDPD Z0, Z1, Z22
	VADDPD Z0, Z1, Z23
	VADDPD Z0, Z1, Z20
	VADDPD Z0, Z1, Z21
	VADDPD Z0, Z1, Z22
	VADDPD Z0, Z1, Z23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyMinimum(n int)
TEXT ·multiplyMinimum(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VMINPD Z0, Z1, Z20
	VMINPD Z0, Z1, Z21
	VMINPD Z0, Z1, Z22
	VMINPD Z0, Z1, Z23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyCompare(n int)
TEXT ·multiplyCompare(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VCMPPD $0, Z0, Z1, K1
	VCMPPD $0, Z0, Z1, K2
	VCMPPD $0, Z0, Z1, K3
	VCMPPD $0, Z0, Z1, K4
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyLoad(n int)
TEXT ·multiplyLoad(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VMOVUPD 0(AX), Z20
	VMOVUPD 64(AX), Z21
	VMOVUPD 128(AX), Z22
	VMOVUPD 192(AX), Z23
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func multiplyStore(n int)
TEXT ·multiplyStore(SB), NOSPLIT, $0-8
	START
loop:
	FMA16
	VMOVUPD Z0, 0(AX)
	VMOVUPD Z0, 64(AX)
	VMOVUPD Z0, 128(AX)
	VMOVUPD Z0, 192(AX)
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func product(n int)
TEXT ·product(SB), NOSPLIT, $0-8
	START
loop:
	MUL16
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func productStore(n int)
TEXT ·productStore(SB), NOSPLIT, $0-8
	START
loop:
	MUL16
	VMOVUPD Z0, 0(AX)
	VMOVUPD Z0, 64(AX)
	VMOVUPD Z0, 128(AX)
	VMOVUPD Z0, 192(AX)
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func loadVector(n int)
TEXT ·loadVector(SB), NOSPLIT, $0-8
	START
loop:
	VMOVUPD 0(AX), Z20
	VMOVUPD 64(AX), Z21
	VMOVUPD 128(AX), Z22
	VMOVUPD 192(AX), Z23
	VMOVUPD 256(AX), Z24
	VMOVUPD 320(AX), Z25
	VMOVUPD 384(AX), Z26
	VMOVUPD 448(AX), Z27
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET

// func storeVector(n int)
TEXT ·storeVector(SB), NOSPLIT, $0-8
	START
loop:
	VMOVUPD Z0, 0(AX)
	VMOVUPD Z0, 64(AX)
	VMOVUPD Z0, 128(AX)
	VMOVUPD Z0, 192(AX)
	VMOVUPD Z0, 256(AX)
	VMOVUPD Z0, 320(AX)
	VMOVUPD Z0, 384(AX)
	VMOVUPD Z0, 448(AX)
	DECQ CX
	JNZ loop
	VZEROUPPER
	RET
