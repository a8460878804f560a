package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Straight-line code over more vectors than there are registers. The code is first recorded, then
// emitted with every value in a register or in its place in memory: when a register is wanted, the
// value whose next use is farthest away leaves.

// val is a vector variable.
type val struct {
	uses []int // the instructions that read it, not yet emitted
	reg  int   // its register, or −1
	home Mem   // its place in memory, if it has one
	kept bool  // that place has its present value
	has  bool  // that place exists
	own  bool  // and is one of the code's slots
	pin  bool  // it is always in its register
}

// instr is an instruction. It reads src and writes dst, which it also reads if update. All are in
// registers, but for the last of src if memory allows it.
type instr struct {
	dst      *val
	update   bool
	src      []*val
	memory   bool
	emit     func(d Op, s []Op)
	from, to string // other memory that it reads or writes

	// for the scheduler
	cycles  int  // until the result is there
	pipe    int  // how long it occupies the pipes of the multiplications
	ordered bool // it stays in order with others that are ordered
	last    bool // it follows all others
}

// all returns the values of an instruction.
func (in *instr) all() []*val { return append(in.src[:len(in.src):len(in.src)], in.dst) }

// straight is recorded code.
type straight struct {
	v     isa
	code  []instr
	base  reg.Register // of the memory for values
	slots int          // used there
	free  []Mem        // of them, not in use any more
	regs  []*val       // what is in each register
}

func newStraight(v isa, base reg.Register) *straight {
	return &straight{v: v, base: base, regs: make([]*val, v.regs)}
}

// constant is a value that memory holds.
func (s *straight) constant(m Mem) *val { return &val{reg: -1, home: m, kept: true, has: true} }

// reserve gives a constant a register for good, if more than spare registers are free.
func (s *straight) reserve(x *val, spare int) bool {
	for i, y := range s.regs[:len(s.regs)-spare] {
		if y == nil {
			s.regs[i], x.reg, x.pin = x, i, true
			return true
		}
	}
	return false
}

// copy makes a variable of a constant.
func (s *straight) copy(x *val) *val {
	return s.do(nil, false, true, func(d Op, s []Op) { VMOVUPD(s[0], d) }, x)
}

// do records an instruction. If dst is nil, its result is new.
func (s *straight) do(dst *val, update bool, memory bool, emit func(d Op, s []Op), src ...*val) *val {
	if dst == nil {
		dst = &val{reg: -1}
	}
	s.code = append(s.code, instr{dst: dst, update: update, src: src, memory: memory, emit: emit, cycles: 4})
	return dst
}

// op2 is an instruction of two sources, the second of which may be in memory; dst = f(x, y).
func (s *straight) op2(f func(...Op), x, y *val) *val {
	return s.do(nil, false, true, func(d Op, s []Op) { f(s[1], s[0], d) }, x, y)
}

// mul is a product.
func (s *straight) mul(x, y *val) *val {
	r := s.op2(VMULPD, x, y)
	s.code[len(s.code)-1].pipe = 1
	return r
}

// move copies x to a variable.
func (s *straight) move(to, x *val) {
	s.do(to, false, false, func(d Op, s []Op) { VMOVUPD(s[0], d) }, x)
}

// op1 is an instruction of one source in a register.
func (s *straight) op1(f func(...Op), x *val) *val {
	return s.do(nil, false, false, func(d Op, s []Op) { f(s[0], d) }, x)
}

// imm is an instruction of one source and a number.
func (s *straight) imm(f func(...Op), n int, x *val) *val {
	r := s.do(nil, false, false, func(d Op, s []Op) { f(Imm(uint64(n)), s[0], d) }, x)
	s.code[len(s.code)-1].cycles = 1
	return r
}

// slow sets the latency of the last instruction, a division or root, and returns its result x.
func (s *straight) slow(cycles int, x *val) *val {
	last := &s.code[len(s.code)-1]
	last.cycles, last.pipe = cycles, 1
	return x
}

// update3 changes d to f(d, x, y).
func (s *straight) update3(f func(...Op), d, x, y *val) {
	s.do(d, true, true, func(d Op, s []Op) { f(s[1], s[0], d) }, x, y)
	s.code[len(s.code)-1].pipe = 1
}

// load reads a vector.
func (s *straight) load(m Mem) *val {
	return s.do(nil, false, false, func(d Op, _ []Op) { VMOVUPD(m, d) })
}

func (s *straight) store(m Mem, x *val) {
	s.do(nil, false, false, func(_ Op, s []Op) { VMOVUPD(s[0], m) }, x).reg = noReg
	s.code[len(s.code)-1].to = m.Asm()
}

// noReg marks the result of an instruction without one.
const noReg = -2

func (s *straight) name(i int) reg.VecPhysical {
	if s.v.bytes == 64 {
		return zmm[i]
	}
	return ymm[i]
}

// emit writes the code.
func (s *straight) emit() {
	for i, in := range s.code {
		for _, x := range in.src {
			x.uses = append(x.uses, i)
		}
		if in.update {
			in.dst.uses = append(in.dst.uses, i)
		}
	}
	for i, in := range s.code {
		busy := map[*val]bool{}
		for _, x := range in.src {
			busy[x] = true
		}
		busy[in.dst] = true
		ops := make([]Op, len(in.src))
		for n, x := range in.src {
			if x.reg < 0 && !(in.memory && n == len(in.src)-1 && !s.worth(x, i, busy)) {
				s.fetch(x, busy)
			}
			if x.reg >= 0 {
				ops[n] = s.name(x.reg)
			} else {
				ops[n] = x.home
			}
		}
		if in.update && in.dst.reg < 0 {
			s.fetch(in.dst, busy)
		}
		for _, x := range in.all() {
			for len(x.uses) > 0 && x.uses[0] == i {
				x.uses = x.uses[1:]
			}
			if len(x.uses) == 0 && x.reg >= 0 && !x.pin && !(x == in.dst && in.update) {
				s.regs[x.reg] = nil
				x.reg = -1
			}
		}
		var d Op
		if in.dst.reg != noReg {
			if in.dst.reg < 0 {
				s.place(in.dst, busy)
			}
			in.dst.kept = false
			d = s.name(in.dst.reg)
		}
		in.emit(d, ops)
		for _, x := range in.all() {
			if len(x.uses) == 0 && x.own {
				s.free = append(s.free, x.home)
				x.own, x.has, x.kept = false, false, false
			}
		}
	}
	s.code = nil
}

// next returns the next use of a value after instruction i.
func next(x *val, i int) int {
	for _, u := range x.uses {
		if u > i {
			return u
		}
	}
	return 1 << 30
}

// worth tells whether a value in memory should come into a register to be used by instruction i.
func (s *straight) worth(x *val, i int, busy map[*val]bool) bool {
	n := next(x, i)
	if n == 1<<30 {
		return false
	}
	for _, y := range s.regs {
		if y == nil || !y.pin && !busy[y] && y.uses[0] > n {
			return true
		}
	}
	return false
}

// fetch loads a value into a register.
func (s *straight) fetch(x *val, busy map[*val]bool) {
	if !x.kept {
		panic("value without a place")
	}
	s.place(x, busy)
	VMOVUPD(x.home, s.name(x.reg))
}

// place gives a value a register.
func (s *straight) place(x *val, busy map[*val]bool) {
	best := -1
	for i, y := range s.regs {
		if y == nil {
			best = i
			break
		}
		if !y.pin && !busy[y] && (best < 0 || y.uses[0] > s.regs[best].uses[0]) {
			best = i
		}
	}
	if y := s.regs[best]; y != nil {
		if !y.kept {
			if !y.has {
				y.home, y.has, y.own = s.slot(), true, true
			}
			VMOVUPD(s.name(best), y.home)
			y.kept = true
		}
		y.reg = -1
	}
	s.regs[best], x.reg = x, best
}

// slot returns memory for a vector.
func (s *straight) slot() Mem {
	if n := len(s.free); n > 0 {
		m := s.free[n-1]
		s.free = s.free[:n-1]
		return m
	}
	s.slots++
	return Mem{Base: s.base, Disp: (s.slots - 1) * s.v.bytes}
}

var (
	ymm = []reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}
	zmm = []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}
)
