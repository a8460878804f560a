package main

import "slices"

// needs returns, for every instruction, those before it that it has to follow.
func (s *straight) needs() [][]int {
	type access struct {
		write int // the last instruction that writes, or −1
		reads []int
	}
	seen := map[any]*access{} // of variables, and of memory by its name
	at := func(key any) *access {
		if seen[key] == nil {
			seen[key] = &access{write: -1}
		}
		return seen[key]
	}
	deps := make([][]int, len(s.code))
	for i, in := range s.code {
		var reads, writes []any
		for _, x := range in.src {
			reads = append(reads, x)
			if x.has && !x.own {
				reads = append(reads, x.home.Asm())
			}
		}
		if in.from != "" {
			reads = append(reads, in.from)
		}
		if in.update {
			reads = append(reads, in.dst)
		}
		if in.to != "" {
			writes = append(writes, in.to)
		}
		if in.dst.reg != noReg {
			writes = append(writes, in.dst)
		}
		for _, key := range reads {
			deps[i] = append(deps[i], at(key).write)
		}
		for _, key := range writes {
			deps[i] = append(append(deps[i], at(key).write), at(key).reads...)
		}
		if in.last {
			for j := range i {
				deps[i] = append(deps[i], j)
			}
		}
		for _, key := range reads {
			at(key).reads = append(at(key).reads, i)
		}
		for _, key := range writes {
			seen[key] = &access{write: i}
		}
		deps[i] = slices.DeleteFunc(deps[i], func(j int) bool { return j < 0 || j == i })
		slices.Sort(deps[i])
		deps[i] = slices.Compact(deps[i])
	}
	return deps
}

// schedule puts the code in the order in which a processor would start it that starts up to four
// instructions in a cycle, those first that the longest chain depends on. What depends on
// nothing waits until slack cycles before it is needed, so that it does not occupy a register.
// Processors find an order themselves, but only among the next few dozen instructions.
func (s *straight) schedule() {
	const width, slack = 4, 8
	code, deps := s.code, s.needs()
	height := make([]int, len(code)) // cycles from the start of an instruction to the end
	longest := 0
	for i := len(code) - 1; i >= 0; i-- {
		height[i] += code[i].cycles
		longest = max(longest, height[i])
		for _, j := range deps[i] {
			height[j] = max(height[j], height[i])
		}
	}
	start := make([]int, len(code)) // plus 1; 0 if not started
	ready := func(i int) (cycle int, ok bool) {
		if len(deps[i]) == 0 && !code[i].ordered {
			cycle = longest - height[i] - slack
		}
		for _, j := range deps[i] {
			if start[j] == 0 {
				return 0, false
			}
			cycle = max(cycle, start[j]-1+code[j].cycles)
		}
		return cycle, true
	}
	var ordered []int
	for i := range code {
		if code[i].ordered {
			ordered = append(ordered, i)
		}
	}
	s.code = nil
	busy := 0 // until when the pipes of the multiplications are
	for t := 0; len(s.code) < len(code); t++ {
		for range width {
			best := -1
			for i := range code {
				if start[i] > 0 || code[i].ordered && i != ordered[0] || code[i].pipe > 0 && busy > t {
					continue
				}
				if c, ok := ready(i); ok && c <= t && (best < 0 || height[i] > height[best]) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			start[best] = t + 1
			busy = max(busy, t) + code[best].pipe*s.v.bytes/64
			if code[best].ordered {
				ordered = ordered[1:]
			}
			s.code = append(s.code, code[best])
		}
	}
}
