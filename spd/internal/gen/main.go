// Command gen writes the amd64 assembly of package spd.
//
// It is a module of its own, so that the generator's dependency stays out of the
// library's go.mod. Run it with make generate.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a vector width: the number of bytes in a register, and how to get one.
type isa struct {
	suffix string
	bytes  int
	vec    func() reg.VecVirtual
	regs   int  // number of registers
	rows   int  // rows of a block below the diagonal
	fused  bool // reduce and factor a diagonal block in one go
}

var (
	avx2   = isa{suffix: "AVX2", bytes: 32, vec: YMM, regs: 16, rows: 3}
	avx512 = isa{suffix: "AVX512", bytes: 64, vec: ZMM, regs: 32, rows: 6, fused: true}
)

func main() {
	ConstraintExpr("!noasm")
	cpu()
	for _, v := range []isa{avx2, avx512} {
		ldl(v, true)
		ldl(v, false)
	}
	for _, v := range []isa{avx2, avx512} {
		cross(v)
	}
	ratio()
	project()
	gram()
	for _, v := range []isa{avx2, avx512} {
		less(v)
	}
	sweep()
	descent()
	Generate()
}

// vectors returns a read-only constant repeated over the widest register.
func vectors(name string, v Constant) Mem {
	m := GLOBL(name, 8|16) // RODATA|NOPTR
	for i := range 8 {
		DATA(8*i, v)
	}
	return m
}

// cpu generates the two instructions that tell what the processor and the system support.
func cpu() {
	TEXT("cpuid", NOSPLIT, "func(eaxIn, ecxIn uint32) (eax, ebx, ecx, edx uint32)")
	Doc("cpuid executes the CPUID instruction.")
	Load(Param("eaxIn"), reg.EAX)
	Load(Param("ecxIn"), reg.ECX)
	CPUID()
	Store(reg.EAX, Return("eax"))
	Store(reg.EBX, Return("ebx"))
	Store(reg.ECX, Return("ecx"))
	Store(reg.EDX, Return("edx"))
	RET()

	TEXT("xgetbv", NOSPLIT, "func() (eax, edx uint32)")
	Doc("xgetbv reads extended control register 0.")
	XORL(reg.ECX, reg.ECX)
	XGETBV()
	Store(reg.EAX, Return("eax"))
	Store(reg.EDX, Return("edx"))
	RET()
}

// num is the shortest signed immediate that holds x.
func num(x int) Constant {
	if x >= 0 && x < 128 {
		return U8(x)
	}
	return U32(x)
}
