package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// val is a vector variable of straight-line code.
type val struct {
	uses []int // the instructions that read it and are not yet emitted
	reg  int   // its register, or −1
	mem  *Mem  // memory that has its present value, or nil
	own  bool  // and is one of the code's slots
}

// instr reads src and writes dst, which it also reads if update. All are in registers, but the last
// of two or more sources may be in memory.
type instr struct {
	dst    *val
	update bool
	src    []*val
	emit   func(d Op, s []Op)
}

// straight is straight-line code over more variables than there are registers. It is recorded first
// and emitted in the same order, every variable in a register or in memory: when a register is
// wanted, the variable whose next use is farthest away leaves.
type straight struct {
	v     isa
	code  []instr
	work  reg.Register // of the memory for variables
	slots int          // used there
	free  []*Mem       // of them, not in use any more
	regs  []*val       // what is in each register
}

// do records an instruction. If dst is nil, its result is new.
func (s *straight) do(dst *val, emit func(d Op, s []Op), src ...*val) *val {
	update := dst != nil
	if !update {
		dst = &val{reg: -1}
	}
	s.code = append(s.code, instr{dst, update, src, emit})
	return dst
}

// op is f(x, y).
func (s *straight) op(f func(...Op), x, y *val) *val {
	return s.do(nil, func(d Op, s []Op) { f(s[1], s[0], d) }, x, y)
}

// update sets d to f(d, x, y).
func (s *straight) update(f func(...Op), d, x, y *val) {
	s.do(d, func(d Op, s []Op) { f(s[1], s[0], d) }, x, y)
}

// constant is a value in memory.
func (s *straight) constant(name string) *val {
	m := constant(name)
	return &val{reg: -1, mem: &m}
}

// shift is x shifted to the right, as a natural number.
func (s *straight) shift(n uint64, x *val) *val {
	return s.do(nil, func(d Op, s []Op) { VPSRLQ(Imm(n), s[0], d) }, x)
}

// store writes x to memory.
func (s *straight) store(to reg.Register, x *val) {
	s.do(x, func(d Op, _ []Op) { VMOVUPD(d, Mem{Base: to}) })
}

// emit writes the code.
func (s *straight) emit() {
	for i, in := range s.code {
		for _, x := range in.reads() {
			x.uses = append(x.uses, i)
		}
	}
	for i, in := range s.code {
		busy := append(in.src[:len(in.src):len(in.src)], in.dst)
		ops := make([]Op, len(in.src))
		for n, x := range in.src {
			if x.reg < 0 && (n == 0 || n < len(in.src)-1 || s.worth(x, i, busy)) {
				s.fetch(x, busy)
			}
			if x.reg >= 0 {
				ops[n] = s.v.register(x.reg)
			} else {
				ops[n] = *x.mem
			}
		}
		if in.update && in.dst.reg < 0 {
			s.fetch(in.dst, busy)
		}
		for _, x := range in.reads() {
			for len(x.uses) > 0 && x.uses[0] == i {
				x.uses = x.uses[1:]
			}
			if len(x.uses) == 0 && x != in.dst {
				s.leave(x)
			}
		}
		if in.dst.reg < 0 {
			s.place(in.dst, busy)
		}
		s.forget(in.dst)
		in.emit(s.v.register(in.dst.reg), ops)
		for _, x := range busy {
			if len(x.uses) == 0 {
				s.leave(x)
				s.forget(x)
			}
		}
	}
	s.code = nil
}

func (in *instr) reads() []*val {
	if in.update {
		return append(in.src[:len(in.src):len(in.src)], in.dst)
	}
	return in.src
}

// leave frees the register of a variable.
func (s *straight) leave(x *val) {
	if x.reg >= 0 {
		s.regs[x.reg], x.reg = nil, -1
	}
}

// forget frees the memory of a variable.
func (s *straight) forget(x *val) {
	if x.own {
		s.free = append(s.free, x.mem)
		x.mem, x.own = nil, false
	}
}

// worth tells whether a variable in memory should come into a register to be used by instruction i.
func (s *straight) worth(x *val, i int, busy []*val) bool {
	uses := x.uses
	for len(uses) > 0 && uses[0] == i {
		uses = uses[1:]
	}
	if len(uses) == 0 {
		return false
	}
	r := s.farthest(busy)
	return s.regs[r] == nil || s.regs[r].uses[0] > uses[0]
}

// fetch loads a variable into a register.
func (s *straight) fetch(x *val, busy []*val) {
	s.place(x, busy)
	VMOVUPD(*x.mem, s.v.register(x.reg))
}

// place gives a variable a register.
func (s *straight) place(x *val, busy []*val) {
	r := s.farthest(busy)
	if y := s.regs[r]; y != nil {
		if y.mem == nil {
			y.mem, y.own = s.slot(), true
			VMOVUPD(s.v.register(r), *y.mem)
		}
		y.reg = -1
	}
	s.regs[r], x.reg = x, r
}

// farthest is a free register, or the one whose variable is needed last, but for those that are
// busy.
func (s *straight) farthest(busy []*val) int {
	best := -1
	for i, y := range s.regs {
		if y == nil {
			return i
		}
		if !slices.Contains(busy, y) && (best < 0 || y.uses[0] > s.regs[best].uses[0]) {
			best = i
		}
	}
	return best
}

// slot returns memory for a vector.
func (s *straight) slot() *Mem {
	if n := len(s.free); n > 0 {
		m := s.free[n-1]
		s.free = s.free[:n-1]
		return m
	}
	s.slots++
	return &Mem{Base: s.work, Disp: (s.slots - 1) * s.v.bytes}
}
