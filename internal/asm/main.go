// Command asm writes the assembly of a package, spd, internal/dense or learn, for amd64 or arm64.
//
// The code is described once, by instructions of amd64 on vectors of any length. For arm64 it is
// written with vectors of 128 bits and then translated (arm64.go).
//
// It is a module of its own, so that the generator's dependency stays out of the library's
// go.mod. Run it with make generate.
package main

import (
	"flag"
	"log"

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
	half   func() reg.VecVirtual // one that holds as many numbers of single precision
	single func(...Op)           // conversion to single precision, from vec to half
	rows   [2]int                // of a small and of a large matrix that are reduced at a time
	spread bool                  // filling a register takes more than a load
}

var (
	avx2   = isa{"AVX2", 32, 16, YMM, XMM, VCVTPD2PSY, [2]int{2, 2}, false}
	avx512 = isa{"AVX512", 64, 32, ZMM, YMM, VCVTPD2PS, [2]int{2, 4}, false}
	neon   = isa{"NEON", 16, vectors, XMM, XMM, func(ops ...Op) { VCVTPD2PSX(ops[0], ops[1]) }, [2]int{4, 4}, true}
)

// register returns register i.
func (v isa) register(i int) reg.Register {
	spec := map[int]reg.Spec{16: reg.S128, 32: reg.S256, 64: reg.S512}[v.bytes]
	return reg.LookupPhysical(reg.KindVector, reg.Index(i), spec)
}

// fill writes a number to all lanes of a register.
func (v isa) fill(from Mem, to Op) {
	if v.bytes == 16 {
		VMOVDDUP(from, to)
		return
	}
	VBROADCASTSD(from, to)
}

// filled returns a register with a number in all lanes.
func (v isa) filled(m Mem) reg.VecVirtual {
	r := v.vec()
	v.fill(m, r)
	return r
}

// loaded returns a register with numbers from memory.
func (v isa) loaded(m Mem) reg.VecVirtual {
	r := v.vec()
	VMOVUPD(m, r)
	return r
}

// parts is the number of registers that hold n numbers.
func (v isa) parts(n int) int { return 8 * n / v.bytes }

func main() {
	arch := flag.String("arch", "amd64", "the processor: amd64 or arm64")
	flag.Parse()
	out := flag.Lookup("out").Value.String()
	isas := []isa{avx2, avx512}
	if *arch == "arm64" {
		isas = []isa{neon}
	}
	ConstraintExpr("!noasm")
	switch flag.Lookup("pkg").Value.String() {
	case "spd":
		for _, v := range isas {
			dets(v)
			values(v)
			less(v)
			gather(v)
		}
		gram(isas[0])
	case "dense":
		multiply(isas[0])
		sweep(isas[0])
	case "learn":
		step(isas[0])
		partner(isas[0])
	}
	Generate()
	if *arch == "arm64" {
		if err := translateFile(out); err != nil {
			log.Fatal(err)
		}
	}
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
