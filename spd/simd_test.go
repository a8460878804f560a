package spd

import "testing"

// eachSIMD runs f with every set of instructions that this processor has.
func eachSIMD(t *testing.T, f func(t *testing.T)) {
	best := vector
	defer func() { vector = best }()
	for v, name := range instructions {
		if simd(v) > best {
			t.Logf("%s: not on this processor", name)
			continue
		}
		vector = simd(v)
		t.Run(name, f)
	}
}

// setPlain turns the assembly off until the returned function is called.
func setPlain() (restore func()) {
	v := vector
	vector = plain
	return func() { vector = v }
}

// limitSIMD lets benchmarks choose instructions: 0 plain Go, 1 AVX2 or NEON, 2 AVX-512.
func limitSIMD(v int) { vector = min(vector, simd(v)) }
