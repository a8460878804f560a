package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// passed is what goes from one round of the loop to the next: from the factorisation of a tile to its
// roots and from there to its values.
type passed struct {
	m     variable // the determinant over a power of 4
	e     variable // product of the fourth roots, scaled by the root of that power if early
	c     variable // sum of the corrections
	power variable // that root, if not early
	seed  []*val   // 1/√m, if resident
	at    Mem      // or its place, in single precision
	bytes int      // of the variables of a tile in memory
}

// variable is a vector variable of three tiles: the one that is being factored, the one before it, and the
// one before that. In registers it moves from one to the next. In memory there are two places in turn, and
// the first takes the place of the last.
type variable struct{ young, middle, old []*val }

// newPassed gives what is passed a place.
func (k *kernel) newPassed() *passed {
	s := &passed{}
	n := 3
	if !k.early {
		n = 4
	}
	s.bytes = n * 64
	base := k.slots * k.v.bytes
	if !k.resident {
		for range 2 * n * k.vectors {
			k.slot()
		}
		s.at = k.slot()
	}
	one := func() variable {
		if k.resident {
			young, old := k.each(func(int) *val { return k.resident1() }), k.each(func(int) *val { return k.resident1() })
			return variable{young, young, old}
		}
		at := base
		base += 64
		young := k.each(func(g int) *val {
			return k.constant(Mem{Base: k.r.work, Index: k.r.even, Scale: 1, Disp: at + k.v.bytes*g})
		})
		middle := k.each(func(g int) *val {
			return k.constant(Mem{Base: k.r.work, Index: k.r.odd, Scale: 1, Disp: at + k.v.bytes*g})
		})
		return variable{young, middle, young}
	}
	s.m, s.e, s.c = one(), one(), one()
	if !k.early {
		s.power = one()
	}
	if k.resident {
		s.seed = k.each(func(int) *val { return k.resident1() })
	}
	return s
}

// resident1 is a variable with a register of its own.
func (k *kernel) resident1() *val {
	x := &val{}
	if !k.reserve(x, 1) {
		panic("no register is left")
	}
	return x
}

// put sets what is passed to x, the result of the last instruction, which nothing else needs.
func (k *kernel) put(to, x *val) {
	if to.pin {
		k.code[len(k.code)-1].dst = to
	} else {
		k.store(to.home, x)
	}
}

// pass leaves the results of the factorisations to the next round.
func (k *kernel) pass(s *passed, fs []*factor, ae *val) {
	for g, f := range fs {
		k.put(s.c.young[g], k.plus(Mem{Base: k.r.ac}, Mem{Base: k.r.c, Disp: k.v.bytes * g}))
		h := k.exponent(f)
		bias := k.c(fmt.Sprint("bias", f.splits+1))
		e := k.mul(k.load(Mem{Base: k.r.e, Disp: k.v.bytes * g}), ae)
		switch {
		case k.folded:
			e = k.op2(VPSUBQ, e, h)
		case k.early:
			e = k.op2(VPADDQ, k.op2(VPSUBQ, e, h), bias)
		}
		k.put(s.e.young[g], e)
		if !k.early {
			k.put(s.power.young[g], k.op2(VPADDQ, k.op2(VPSUBQ, k.copy(k.c("one")), h), bias))
		}
		k.put(s.m.young[g], k.mantissa(f))
	}
}

// roots computes the roots of the middle tile.
func (k *kernel) roots(s *passed) {
	y := k.root(s.m.middle)
	if !k.resident {
		k.storeSingle(s.at, k.inverse(y))
		return
	}
	k.put(s.seed[0], k.double(k.inverse(y)))
	for _, v := range []variable{s.m, s.e, s.c} {
		k.move(v.old[0], v.young[0])
	}
}

// value computes the values of the oldest tile; see value in the library.
func (k *kernel) value(s *passed) {
	seed := s.seed
	if !k.resident {
		seed = k.each(func(g int) *val { return k.loadSingle(s.at, g) })
	}
	y := k.series(s.m.old, s.e.old, seed, s.c.old)
	for g := range y {
		if !k.early {
			y[g] = k.mul(y[g], s.power.old[g])
		}
		k.store(Mem{Base: k.r.dst[2], Disp: k.v.bytes * g}, k.atMost1(y[g]))
	}
}
