// Command asm writes the amd64 assembly of a package, spd, internal/dense or svm.
//
// It is a module of its own, so that the generator's dependency stays out of the library's
// go.mod. Run it with make generate.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a set of vector instructions.
type isa struct {
	suffix string
	bytes  int                   // of a register
	regs   int                   // number of registers
	vec    func() reg.VecVirtual // a new register
	half   func() reg.VecVirtual // one of half the size
	single func(...Op)           // conversion to single precision, from vec to half
	rows   int                   // rows of a block of large matrices
}

var (
	avx2   = isa{"AVX2", 32, 16, YMM, XMM, VCVTPD2PSY, 2}
	avx512 = isa{"AVX512", 64, 32, ZMM, YMM, VCVTPD2PS, 4}
)

// register returns register i.
func (v isa) register(i int) reg.Register {
	spec := reg.S256
	if v.bytes == 64 {
		spec = reg.S512
	}
	return reg.LookupPhysical(reg.KindVector, reg.Index(i), spec)
}

func main() {
	flag.Parse()
	ConstraintExpr("!noasm")
	switch flag.Lookup("pkg").Value.String() {
	case "spd":
		for _, v := range []isa{avx2, avx512} {
			dets(v)
			values(v)
			less(v)
		}
		gram()
	case "dense":
		multiply()
		sweep()
	case "svm":
		step()
		partner()
	}
	Generate()
}

// function begins a function.
func function(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(doc...)
}

// leave returns from a function.
func leave() {
	VZEROUPPER()
	RET()
}

// pointers loads arguments into registers.
func pointers(names ...string) []reg.GPVirtual {
	r := make([]reg.GPVirtual, len(names))
	for i, name := range names {
		r[i] = GP64()
		Load(Param(name), r[i])
	}
	return r
}

// param is an argument as a memory operand.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// num is the shortest signed immediate that holds x.
func num(x int) Constant {
	if x >= 0 && x < 128 {
		return U8(x)
	}
	return U32(x)
}
